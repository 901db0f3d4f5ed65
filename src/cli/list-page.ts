/** `tenon list --format html`: a list as a page, and without a kind the whole account. */

import type { Desired } from "../index.ts";
import { isDenied, type ReadApi } from "../model/api.ts";
import type { InventoryItem } from "../model/inventory.ts";
import type { ListPage, ListTable } from "../render/html/list-page.ts";
import { count } from "../render/view.ts";
import { COLUMNS, type ListedKind } from "./list-columns.ts";
import { sayFailure } from "./messages.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** What of a list becomes its page. */
interface PageOf {
  readonly kind: string;
  readonly rows: readonly unknown[];
  readonly columns: ListTable["columns"];
  readonly none: string;
  /** Flags that narrowed it, and their values. */
  readonly narrowed: ListPage["narrowed"];
}

const WORDS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  ...Object.fromEntries(Object.entries(COLUMNS).map(([kind, { one, many }]) => [kind, [one, many] as const])),
  addresses: ["address", "addresses"],
  tickets: ["ticket", "tickets"],
};

export function pageOfList({ kind, rows, columns, none, narrowed }: PageOf): ListPage {
  const [one, many] = WORDS[kind] ?? [kind, kind];
  const where = narrowed.length === 0 ? "in the account" : rows.length === 1 ? "fits" : "fit";
  const title = `${count(rows.length, one, many)} ${where}`;
  const items = kind in COLUMNS ? (rows as readonly InventoryItem[]) : [];
  return { title, narrowed, tables: [{ kind, heading: capital(many), rows, columns, none }], items, attached: [] };
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** What one read of the account brings. */
const READS = [["vpcs", "subnets"], ["domains", "records"], ["images"]] as const satisfies readonly ListedKind[][];

/**
 * All lists but the tickets, and the pictures of what is in them. What the token may not read is left out, which is said.
 * @returns null if the account could not be read, which is reported
 */
export async function readAccountPage(
  terminal: Terminal,
  api: ReadApi,
  desired: Desired | null,
): Promise<ListPage | null> {
  const { takeInventory } = await import("../index.ts");
  const { listAddresses } = await import("../live/index.ts");
  const progress = new Progress(terminal);
  progress.show("Reading the account");
  const signal = terminal.interrupt.first;
  const reads = READS.map((names) =>
    takeInventory({
      ...{ api, desired, kinds: names.map((name) => COLUMNS[name].kind), nowMilliseconds: Date.now() },
      watch: { signal },
    }),
  );
  const [taken, addresses] = await Promise.all([Promise.all(reads), listAddresses({ api, signal })]).finally(() =>
    progress.end(),
  );
  const failures = [...taken, addresses].filter((one) => !one.ok);
  const fatal = failures.find(({ failure }) => !isDenied(failure));
  if (fatal !== undefined || taken.every(({ ok }) => !ok)) {
    const failed = fatal ?? failures[0];
    if (failed !== undefined) sayFailure(terminal, `cannot read ${failed.what}`, failed.failure);
    return null;
  }
  for (const { what } of failures) terminal.say(`warning: the token may not read ${what}\n`);
  const items = taken.flatMap((one) => (one.ok ? one.items : []));
  const tables = READS.flatMap((names, index) =>
    taken[index]?.ok === true ? names.map((name) => tableOf(name, items)) : [],
  );
  const counts = tables.map(({ kind, rows }) => {
    const [one, many] = WORDS[kind] ?? [kind, kind];
    return count(rows.length, one, many);
  });
  const title = `The account: ${counts.join(", ")}`;
  return { title, narrowed: [], tables, items, attached: addresses.ok ? addresses.rows : [] };
}

function tableOf(name: ListedKind, items: readonly InventoryItem[]): ListTable {
  const { kind, many, columns } = COLUMNS[name];
  return {
    ...{ kind: name, heading: capital(many), none: `No ${many}.`, columns },
    rows: items.filter((item) => item.kind === kind),
  };
}
