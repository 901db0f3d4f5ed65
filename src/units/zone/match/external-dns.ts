/** The TXT registry of external-dns: which names its records stand for (its documentation, "The TXT registry"). */

/** What can stand in a registry name for the type of the record it is for. */
const TYPES = ["a", "aaaa", "cname", "mx", "naptr", "ns", "ptr", "srv", "txt"] as const;

const TYPE_TEMPLATE = "%{record_type}";
const TYPE_BEFORE_NAME: RegExp = new RegExp(`^(?:${TYPES.join("|")})-`);

/** It writes the text in quotes, which some services keep. */
export function isRegistryText(text: string): boolean {
  return /^"?heritage=external-dns([,"]|$)/.test(text);
}

/** What `--txt-prefix` and `--txt-suffix` put around names. */
export type Affixes = readonly (readonly [prefix: string, suffix: string])[];

/** None at all: a registry may be older than its options. */
export const NO_AFFIXES: Affixes = [["", ""]];

/**
 * With each type in place of the template, and without any.
 * @param prefix --txt-prefix, where `%{record_type}` stands for the type; may end in a dot
 * @param suffix --txt-suffix, at the end of the first label
 */
export function affixesOf(prefix: string, suffix: string): Affixes {
  const written = [prefix.toLowerCase(), suffix.toLowerCase()] as const;
  if (!written.some((text) => text.includes(TYPE_TEMPLATE))) return [written];
  const fill = (type: string): readonly [string, string] => [
    written[0].replaceAll(TYPE_TEMPLATE, type),
    written[1].replaceAll(TYPE_TEMPLATE, type),
  ];
  return [fill(""), ...TYPES.map(fill)];
}

/**
 * The names that a registry record at `name` may be for: its own (the format without a type), and what follows a type
 * (`a-www`, `cname-www`). Which of them it is cannot be told, so it is all of them: what is ignored too much stays as it is.
 * @param name relative, lower-case, `""` the apex
 */
export function registeredNames(name: string, affixes: Affixes): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [prefix, suffix] of affixes) {
    const bare = withoutAffixes(name, prefix, suffix);
    if (bare === null) continue;
    names.add(bare);
    names.add(withoutType(bare));
  }
  return names;
}

/** @returns null if the name does not have them */
function withoutAffixes(name: string, prefix: string, suffix: string): string | null {
  // At the apex the dot that the prefix ends in is the one before the zone.
  if (prefix.endsWith(".") && name === prefix.slice(0, -1)) return "";
  if (name.length < prefix.length + suffix.length || !name.startsWith(prefix)) return null;
  const rest = name.slice(prefix.length);
  if (suffix === "") return rest;
  const labels = rest.split(".");
  const length = suffix.split(".").length;
  const head = labels.slice(0, length).join(".");
  if (!head.endsWith(suffix)) return null;
  return [head.slice(0, -suffix.length), ...labels.slice(length)].join(".");
}

function withoutType(name: string): string {
  return name.replace(TYPE_BEFORE_NAME, "").replace(/^\./, "");
}
