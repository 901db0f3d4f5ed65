/** `tenon list KIND`: what is in the account, as a table, JSON or CSV. */

import { Argument, type Command, Option } from "commander";
import type { ReadApi } from "../../model/api.ts";
import { suggestion } from "../../model/text.ts";
import type { Column } from "../../render/listing.ts";
import { withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { addConnectionFlags, type ConnectionFlags } from "../flags.ts";
import { sayError, sayFailure } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import type { Terminal } from "../terminal.ts";

const FORMATS = ["table", "json", "csv"] as const;

interface ListFlags extends ConnectionFlags {
  readonly vpc?: string;
  readonly format: (typeof FORMATS)[number];
}

/** Lists one kind. @returns null if it could not, which is reported */
type List = (terminal: Terminal, api: ReadApi, flags: ListFlags) => Promise<Listing | null>;

interface Listing {
  readonly rows: readonly unknown[];
  readonly columns: readonly Column<never>[];
  /** What text says if there is nothing. */
  readonly none: string;
}

/** What can be listed → how. */
const KINDS: Readonly<Record<string, List>> = { addresses };

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("List what is in the account. Nothing is changed, and no manifest is read.")
    .addArgument(new Argument("<kind>", "what to list").choices(Object.keys(KINDS)))
    .option("--vpc <glob>", "only of VPCs with such a label, for example 'prod-*'")
    .addOption(new Option("--format <format>", "how to show it").choices(FORMATS).default("table"))
    .addHelpText(
      "after",
      `
Kinds:
  addresses  the addresses and ranges that interfaces of nodes have in VPCs,
             with node, interface, configuration profile and 1:1 NAT; needs the
             scope ips:read_only

In CSV, a text that a spreadsheet would take for a formula has an apostrophe
before it.

Examples:
  tenon list addresses
  tenon list addresses --vpc prod --format csv > addresses.csv
  tenon list addresses --format json | jq '.addresses[] | select(.active)'`,
    )
    .action(async (kind, flags) => {
      const format = flags.format === "json" ? "json" : "text";
      finish(await withJsonErrors(terminal, { format, stream: false }, (inner) => list(inner, kind, flags)));
    });
  addConnectionFlags(command);
}

async function list(terminal: Terminal, kind: string, flags: ListFlags): Promise<ExitCode> {
  const listing = await withReader(terminal, flags, async (api) => KINDS[kind]?.(terminal, api, flags) ?? null);
  if (typeof listing === "number") return listing;
  if (listing === null) return terminal.interrupt.code() ?? EXIT.error;
  const { renderCsv, renderListJson, renderTable } = await import("../../render/listing.ts");
  const columns = listing.columns as readonly Column<unknown>[];
  switch (flags.format) {
    case "table":
      terminal.print(listing.rows.length === 0 ? `${listing.none}\n` : renderTable(listing.rows, columns));
      break;
    case "json":
      terminal.print(renderListJson(kind, listing.rows, columns));
      break;
    case "csv":
      terminal.print(renderCsv(listing.rows, columns));
  }
  return EXIT.done;
}

type AddressRow = import("../../live/index.ts").AddressRow;

const ADDRESS_COLUMNS: readonly Column<AddressRow>[] = [
  { field: "vpc", heading: "VPC", value: ({ vpc }) => vpc, shown: ({ vpc, vpc_id }) => vpc ?? `#${vpc_id}` },
  {
    field: "subnet",
    heading: "SUBNET",
    value: ({ subnet }) => subnet,
    shown: ({ subnet, subnet_id }) => subnet ?? `#${subnet_id}`,
  },
  {
    field: "address",
    heading: "ADDRESS",
    value: ({ address }) => address,
    shown: ({ address, address_range }) => address ?? address_range,
  },
  { field: "address_range", heading: null, value: (row) => row.address_range },
  { field: "nat_1_1", heading: "NAT 1:1", value: (row) => row.nat_1_1 },
  { field: "active", heading: "ACTIVE", value: ({ active }) => active },
  { field: "node_id", heading: "NODE", value: (row) => row.node_id },
  { field: "interface_id", heading: "INTERFACE", value: (row) => row.interface_id },
  { field: "config_id", heading: "CONFIG", value: (row) => row.config_id },
  { field: "region", heading: "REGION", value: ({ region }) => region },
  { field: "vpc_id", heading: null, value: (row) => row.vpc_id },
  { field: "subnet_id", heading: null, value: (row) => row.subnet_id },
];

async function addresses(terminal: Terminal, api: ReadApi, { vpc }: ListFlags): Promise<Listing | null> {
  const { globMatches } = await import("../../model/text.ts");
  const { listAddresses } = await import("../../live/index.ts");
  const read = await listAddresses({ api, signal: terminal.interrupt.first, ...(vpc === undefined ? {} : { vpc }) });
  if (!read.ok) {
    sayFailure(terminal, `cannot read ${read.what}`, read.failure);
    return null;
  }
  if (vpc !== undefined && !read.vpcs.some((label) => globMatches(vpc, label))) {
    const fix = suggestion(vpc, read.vpcs) || "The account has no VPC.";
    sayError(terminal, { code: "invalid-argument", summary: `no VPC of the account fits --vpc '${vpc}'`, fix });
    return null;
  }
  return { rows: read.rows, columns: ADDRESS_COLUMNS, none: "No addresses." };
}
