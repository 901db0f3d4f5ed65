/** `tenon list [KIND]`: what is in the account and whose it is, as a table, JSON, CSV or a page. */

import { Argument, type Command, Option } from "commander";
import type { Desired } from "../../index.ts";
import { isDenied, type ReadApi } from "../../model/api.ts";
import { suggestion } from "../../model/text.ts";
import type { Column } from "../../render/listing.ts";
import { withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  addConnectionFlags,
  addPresentProjectFlags,
  type ConnectionFlags,
  type PresentProjectFlags,
} from "../flags.ts";
import {
  ADDRESS_COLUMNS,
  COLUMNS,
  type ListedKind,
  SUMMARY_COLUMNS,
  type SummaryRow,
  TICKET_COLUMNS,
  tableColumns,
} from "../list-columns.ts";
import { type CommandError, sayError, sayFailure } from "../messages.ts";
import { givePage, withJsonErrors, withPage } from "../output.ts";
import { Progress } from "../progress.ts";
import { openPresentProject } from "../project.ts";
import { accountRefused } from "../session.ts";
import type { Terminal } from "../terminal.ts";

const FORMATS = ["table", "json", "csv", "html"] as const;

/** The flags that narrow a list. */
const FILTERS = ["name", "whose", "vpc", "domain", "type"] as const;

type Filter = (typeof FILTERS)[number];

interface ListFlags extends ConnectionFlags, PresentProjectFlags, Partial<Readonly<Record<Filter, string>>> {
  readonly format: (typeof FORMATS)[number];
}

interface Listing {
  readonly rows: readonly unknown[];
  readonly columns: readonly Column<never>[];
  /** What text says if there is nothing. */
  readonly none: string;
  /** What text says below a table. */
  readonly note?: string;
}

interface ListKind {
  readonly filters: readonly Filter[];
  /** @param desired null: there is no project. @returns null if it could not be listed, which is reported */
  list(terminal: Terminal, api: ReadApi, flags: ListFlags, desired: Desired | null): Promise<Listing | null>;
  /** Whose its objects are is said, so that a project matters. */
  readonly isOwned: boolean;
}

/** What can be listed → how. */
const KINDS: Readonly<Record<string, ListKind>> = {
  vpcs: { filters: ["name", "whose"], isOwned: true, list: objects("vpcs") },
  subnets: { filters: ["name", "whose", "vpc"], isOwned: true, list: objects("subnets") },
  addresses: { filters: ["vpc"], isOwned: false, list: addresses },
  domains: { filters: ["name", "whose", "type"], isOwned: true, list: objects("domains") },
  records: { filters: ["name", "whose", "domain", "type"], isOwned: true, list: objects("records") },
  images: { filters: ["name", "whose"], isOwned: true, list: objects("images") },
  tickets: { filters: [], isOwned: false, list: tickets },
};

/** Without a KIND. */
const SUMMARY: ListKind = { filters: [], isOwned: true, list: summary };

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("List what is in the account, and whose it is. Nothing is changed.")
    .addArgument(new Argument("[kind]", "what to list (default: a summary)").choices(Object.keys(KINDS)))
    .option("--name <glob>", "only of such a name or label, for example 'prod-*'")
    .option("--whose <glob>", "only here, nobody, or an owner's")
    .option("--vpc <glob>", "subnets and addresses: only of such VPCs")
    .option("--domain <glob>", "records: only of such domains; no others are read")
    .option("--type <glob>", "records and domains: only of such a type")
    .addOption(new Option("--format <format>", "how to show it").choices(FORMATS).default("table"))
    .addHelpText(
      "after",
      `
Kinds:
  vpcs, subnets  networks, with their regions and ranges
  addresses      the addresses and ranges that interfaces of nodes have in VPCs,
                 with node, interface, configuration profile and 1:1 NAT; needs
                 the scope ips:read_only
  domains        DNS zones
  records        DNS records: one list for each domain that --domain fits
  images         private machine images that somebody made
  tickets        support tickets: tenon ticket shows them

Whose it is:
  here           the project declares it: that of --project, else of the folder
                 where you are, if it holds a tenon.yaml
  owner NAME     it carries the tag of this owner, and is not declared here
  nobody         neither

As html a list is a page to search; without a KIND it is the whole account, with
its records, networks and zones as pictures.

In CSV, a text that a spreadsheet would take for a formula has an apostrophe
before it.

Examples:
  tenon list
  tenon list domains --whose nobody
  tenon list records --domain 'shop*' --type MX
  tenon list addresses --vpc prod --format csv > addresses.csv
  tenon list --format html > account.html
  tenon list vpcs --format json | jq '.vpcs[] | select(.owner == "edge").id'`,
    )
    .action(async (kind, flags) => {
      const format = flags.format === "json" ? "json" : "text";
      finish(
        await withJsonErrors(terminal, { format, stream: false }, (inner) =>
          withPage(inner, flags, (paged) => list(paged, kind, flags)),
        ),
      );
    });
  addConnectionFlags(addPresentProjectFlags(command));
}

async function list(terminal: Terminal, name: string | undefined, flags: ListFlags): Promise<ExitCode> {
  const kind = name === undefined ? SUMMARY : (KINDS[name] as ListKind);
  const misplaced = FILTERS.find((filter) => flags[filter] !== undefined && !kind.filters.includes(filter));
  if (misplaced !== undefined) {
    sayError(terminal, misplacedFilter(misplaced, name));
    return EXIT.error;
  }
  const opened = kind.isOwned ? await openPresentProject(terminal, flags) : { ok: true as const, project: null };
  if (!opened.ok) return opened.code;
  const { project } = opened;
  const refusal = project === null ? null : accountRefused(terminal, project);
  if (refusal !== null) return refusal;
  const desired = project?.desired ?? null;
  const code = await withReader(terminal, flags, async (api, { token }) => {
    if (flags.format === "html") return giveList(terminal, api, kind, { name, flags, desired, token });
    const listing = await kind.list(terminal, api, flags, desired);
    if (listing === null) return null;
    await print(terminal, name ?? "kinds", listing, flags.format);
    return EXIT.done;
  });
  // A signal that came with the last answer must not be taken for an end in order.
  return terminal.interrupt.code() ?? code ?? EXIT.error;
}

interface Asked {
  readonly name: string | undefined;
  readonly flags: ListFlags;
  readonly desired: Desired | null;
  /** That must not be in the page. */
  readonly token: string;
}

/** As a page. @returns null if it could not be listed, which is reported */
async function giveList(
  terminal: Terminal,
  api: ReadApi,
  kind: ListKind,
  { name, flags, desired, token }: Asked,
): Promise<ExitCode | null> {
  const { pageOfList, readAccountPage } = await import("../list-page.ts");
  const { renderListHtml } = await import("../../render/html/list-page.ts");
  if (name === undefined) {
    const account = await readAccountPage(terminal, api, desired);
    if (account === null) return null;
    await givePage(terminal, async () => renderListHtml(account), token);
    return EXIT.done;
  }
  const listing = await kind.list(terminal, api, flags, desired);
  if (listing === null) return null;
  const narrowed = FILTERS.flatMap((filter) => {
    const value = flags[filter];
    return value === undefined ? [] : [[`--${filter}`, value] as const];
  });
  await givePage(terminal, async () => renderListHtml(pageOfList({ kind: name, ...listing, narrowed })), token);
  return EXIT.done;
}

function misplacedFilter(filter: Filter, name: string | undefined): CommandError {
  const taking = Object.keys(KINDS).filter((kind) => KINDS[kind]?.filters.includes(filter));
  const what = name === undefined ? "the summary" : `a list of ${name}`;
  return {
    code: "conflicting-options",
    summary: `--${filter} does not narrow ${what}`,
    fix: `It is for lists of ${taking.join(", ").replace(/, ([^,]*)$/, " and $1")}.`,
  };
}

async function print(
  terminal: Terminal,
  name: string,
  { rows, columns: own, none, note = "" }: Listing,
  format: Exclude<ListFlags["format"], "html">,
): Promise<void> {
  const { renderCsv, renderListJson, renderTable } = await import("../../render/listing.ts");
  const columns = own as readonly Column<unknown>[];
  const { isTerminal, width } = terminal.results;
  switch (format) {
    case "table":
      terminal.print(
        rows.length === 0 ? `${none}\n` : `${renderTable(rows, columns, isTerminal ? width : null)}${note}`,
      );
      break;
    case "json":
      terminal.print(renderListJson(name, rows, columns));
      break;
    case "csv":
      terminal.print(renderCsv(rows, columns));
  }
}

// VPCs, subnets, domains, records and images, which somebody declares and owns.

function objects(name: ListedKind): ListKind["list"] {
  const { kind, one, many, columns, filterOfRoot } = COLUMNS[name];
  return async (terminal, api, flags, desired) => {
    const { takeInventory } = await import("../../index.ts");
    const root = filterOfRoot === null ? undefined : flags[filterOfRoot];
    const progress = new Progress(terminal);
    progress.show("Reading the account");
    const taken = await takeInventory({
      ...{ api, desired, kinds: [kind], nowMilliseconds: Date.now() },
      filter: {
        ...(flags.name === undefined ? {} : { name: flags.name }),
        ...(flags.whose === undefined ? {} : { whose: flags.whose }),
        ...(flags.type === undefined ? {} : { type: flags.type }),
        ...(root === undefined ? {} : { root }),
      },
      watch: {
        signal: terminal.interrupt.first,
        progress: (done, total) => progress.show(`Reading the account: ${done} of ${total} lists`),
      },
    }).finally(() => progress.end());
    if (!taken.ok) {
      sayFailure(terminal, `cannot read ${taken.what}`, taken.failure);
      return null;
    }
    if (root !== undefined && filterOfRoot !== null && !taken.hasRoot) {
      sayError(terminal, noRoot(filterOfRoot, root, taken.roots));
      return null;
    }
    const isNarrowed = FILTERS.some((filter) => flags[filter] !== undefined);
    const none = isNarrowed ? `No ${one} fits.` : `No ${many}.`;
    return { rows: taken.items, columns: tableColumns(columns, taken.items), none };
  };
}

function noRoot(filter: "vpc" | "domain", glob: string, roots: readonly string[]): CommandError {
  const word = filter === "vpc" ? "VPC" : "domain";
  return {
    code: "invalid-argument",
    summary: `no ${word} of the account fits --${filter} '${glob}'`,
    fix: suggestion(glob, roots) || `The account has no ${word}.`,
  };
}

/** Kinds that one list shows with all their objects. */
const COUNTED = ["vpcs", "subnets", "domains", "images"] as const satisfies readonly ListedKind[];

const MORE = `
tenon list KIND lists them; and records, addresses, tickets.
`;

/** A list that the token may not read is no reason to show nothing of the others. */
async function summary(
  terminal: Terminal,
  api: ReadApi,
  _: ListFlags,
  desired: Desired | null,
): Promise<Listing | null> {
  const { DECLARED_HERE, NOBODY, takeInventory } = await import("../../index.ts");
  const lists = [["vpcs", "subnets"], ["domains"], ["images"]] as const satisfies readonly (readonly ListedKind[])[];
  const taken = await Promise.all(
    lists.map((names) =>
      takeInventory({
        ...{ api, desired, kinds: names.map((name) => COLUMNS[name].kind), nowMilliseconds: Date.now() },
        watch: { signal: terminal.interrupt.first },
      }),
    ),
  );
  const failures = taken.filter((one) => !one.ok);
  const fatal = failures.find(({ failure }) => !isDenied(failure)) ?? (failures.length === 3 ? failures[0] : undefined);
  if (fatal !== undefined) {
    sayFailure(terminal, `cannot read ${fatal.what}`, fatal.failure);
    return null;
  }
  for (const { what } of failures) terminal.say(`warning: the token may not read ${what}\n`);
  const rows = COUNTED.map((name): SummaryRow => {
    const result = taken[lists.findIndex((names) => (names as readonly string[]).includes(name))];
    if (result?.ok !== true) return { kind: name, count: null, here: null, owned: null, nobody: null };
    const own = result.items.filter(({ kind }) => kind === COLUMNS[name].kind);
    const here = own.filter(({ whose }) => whose === DECLARED_HERE).length;
    const nobody = own.filter(({ whose }) => whose === NOBODY).length;
    const owned = own.length - here - nobody;
    return { kind: name, count: own.length, here: desired === null ? null : here, owned, nobody };
  });
  return { rows, columns: SUMMARY_COLUMNS, none: "", note: MORE };
}

// Addresses and tickets, which nobody declares.

async function addresses(terminal: Terminal, api: ReadApi, { vpc }: ListFlags): Promise<Listing | null> {
  const { globMatches } = await import("../../model/text.ts");
  const { listAddresses } = await import("../../live/index.ts");
  const read = await listAddresses({ api, signal: terminal.interrupt.first, ...(vpc === undefined ? {} : { vpc }) });
  if (!read.ok) {
    sayFailure(terminal, `cannot read ${read.what}`, read.failure);
    return null;
  }
  if (vpc !== undefined && !read.vpcs.some((label) => globMatches(vpc, label))) {
    sayError(terminal, noRoot("vpc", vpc, read.vpcs));
    return null;
  }
  return { rows: read.rows, columns: ADDRESS_COLUMNS, none: "No addresses." };
}

async function tickets(terminal: Terminal, api: ReadApi): Promise<Listing | null> {
  const { listTickets } = await import("../../tickets/index.ts");
  const found = await listTickets(api, { open: false }, terminal.interrupt.first);
  if (found.ok) return { rows: found.value, columns: TICKET_COLUMNS, none: "No tickets." };
  sayFailure(terminal, `cannot read ${found.what}`, found.failure);
  return null;
}
