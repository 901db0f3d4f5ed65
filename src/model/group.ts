/** Grouping by a key, in the order of first appearance; and the orders in which texts and ids are shown. */

export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** By the number at their end, so that `private/9` comes before `private/10`: lower ids are older. */
export function compareIds(a: string | number, b: string | number): number {
  return numberOf(a) - numberOf(b) || compareText(String(a), String(b));
}

function numberOf(id: string | number): number {
  return typeof id === "number" ? id : Number(/(?<!\d)\d+$/.exec(id)?.[0] ?? 0);
}

/** Compares by UTF-16 code units: the same order on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
