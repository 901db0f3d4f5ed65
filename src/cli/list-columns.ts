/** The columns of `tenon list`, kind by kind. */

import { unicodeName } from "../index.ts";
import type { AddressRow } from "../live/index.ts";
import { ANNOTATION_KEYS } from "../model/annotations.ts";
import type { InventoryItem } from "../model/inventory.ts";
import type { Json, Kind } from "../model/resource.ts";
import type { Column } from "../render/listing.ts";
import { escapeText, shorten } from "../render/terminal.ts";
import type { Ticket } from "../tickets/index.ts";

type Cell = ReturnType<Column<unknown>["value"]>;

export type ListedKind = "vpcs" | "subnets" | "domains" | "records" | "images";

interface ListedColumns {
  readonly kind: Kind;
  readonly one: string;
  readonly many: string;
  /** The flag that says what the objects are in; null: they are in nothing. */
  readonly filterOfRoot: "vpc" | "domain" | null;
  readonly columns: readonly Column<InventoryItem>[];
}

/** The service leaves a field out, or has another type for it: there is nothing to show. */
function cell(value: Json | undefined): Cell {
  return typeof value === "object" || value === undefined ? null : value;
}

/** @param heading null: it is not in the table */
function field(name: string, heading: string | null): Column<InventoryItem> {
  return { field: name, heading, value: ({ values }) => cell(values[name]) };
}

const WHOSE: readonly Column<InventoryItem>[] = [
  { field: "whose", heading: "WHOSE", value: ({ whose }) => whose },
  { field: "declared", heading: null, value: ({ declared }) => declared },
  { field: "owner", heading: null, value: ({ owner }) => owner },
  { field: "id", heading: "ID", value: ({ id }) => id },
];

/** What the entry says for people. `owner` is the owner's tag, so the entry's is `entry_owner`. */
const ENTRY: readonly Column<InventoryItem>[] = ANNOTATION_KEYS.map((key) => ({
  field: key === "owner" ? "entry_owner" : key,
  heading: null,
  value: ({ annotations }) => annotations?.[key] ?? null,
}));

const MAX_REASON_COLUMNS = 40;

/** The columns of a table: one of those of the entry for each that an entry fills, so that nobody else has less room. */
export function tableColumns(
  columns: readonly Column<InventoryItem>[],
  items: readonly InventoryItem[],
): readonly Column<InventoryItem>[] {
  return columns.map((column) => {
    if (!ENTRY.includes(column) || items.every((item) => column.value(item) === null)) return column;
    const heading = column.field.replace("_", " ").toUpperCase();
    if (column.field !== "reason") return { ...column, heading };
    const shown = ({ annotations }: InventoryItem): Cell => {
      const reason = annotations?.reason ?? null;
      return reason === null ? null : shorten(escapeText(reason), MAX_REASON_COLUMNS, Buffer.byteLength(reason));
    };
    return { ...column, heading, shown };
  });
}

const ADDRESS: Column<InventoryItem> = { field: "address", heading: null, value: ({ address }) => address };
const DATES: readonly Column<InventoryItem>[] = [field("created", null), field("updated", null)];

/** Of a record's target in the table. */
const MAX_TARGET_COLUMNS = 60;

/** As a zone file has it: what is beside the target comes first. */
function rdata({ values }: InventoryItem): string {
  const beside = ["priority", "weight", "port", "tag"].flatMap((name) => cell(values[name]) ?? []);
  const target = String(cell(values["target"]) ?? "");
  return [...beside, target === "" ? "." : target].join(" ");
}

function shortRdata(item: InventoryItem): string {
  const target = String(cell(item.values["target"]) ?? "");
  return shorten(escapeText(rdata(item)), MAX_TARGET_COLUMNS, Buffer.byteLength(target));
}

/** With its letters, where it is written in punycode. */
function readableName({ values }: InventoryItem): Cell {
  const name = cell(values["domain"]);
  const unicode = typeof name === "string" ? unicodeName(name) : null;
  return unicode === null ? name : `${name} (${unicode})`;
}

export const COLUMNS: Readonly<Record<ListedKind, ListedColumns>> = {
  vpcs: {
    ...{ kind: "vpc", one: "VPC", many: "VPCs", filterOfRoot: null },
    columns: [
      field("label", "LABEL"),
      field("region", "REGION"),
      field("subnets", "SUBNETS"),
      field("interfaces", "INTERFACES"),
      ...WHOSE,
      field("description", null),
      ADDRESS,
      ...ENTRY,
      ...DATES,
    ],
  },
  subnets: {
    ...{ kind: "vpc_subnet", one: "subnet", many: "subnets", filterOfRoot: "vpc" },
    columns: [
      field("vpc", "VPC"),
      field("label", "LABEL"),
      field("ipv4", "IPV4"),
      field("interfaces", "INTERFACES"),
      ...WHOSE,
      field("vpc_id", null),
      ADDRESS,
      ...ENTRY,
      ...DATES,
    ],
  },
  domains: {
    ...{ kind: "domain", one: "domain", many: "domains", filterOfRoot: null },
    columns: [
      { ...field("domain", "DOMAIN"), shown: readableName },
      field("type", "TYPE"),
      field("status", "STATUS"),
      ...WHOSE,
      field("description", null),
      field("group", null),
      field("soa_email", null),
      field("ttl_sec", null),
      ADDRESS,
      ...ENTRY,
      ...DATES,
    ],
  },
  records: {
    ...{ kind: "domain_record", one: "record", many: "records", filterOfRoot: "domain" },
    columns: [
      field("domain", "DOMAIN"),
      field("name", "NAME"),
      field("type", "TYPE"),
      field("ttl_sec", "TTL"),
      ...WHOSE,
      { ...field("target", "TARGET"), shown: shortRdata, whole: rdata },
      field("priority", null),
      field("weight", null),
      field("port", null),
      field("tag", null),
      field("domain_id", null),
      ADDRESS,
      ...ENTRY,
    ],
  },
  images: {
    ...{ kind: "image", one: "image", many: "images", filterOfRoot: null },
    columns: [
      field("label", "LABEL"),
      field("status", "STATUS"),
      { ...field("size", "SIZE"), shown: ({ values }) => `${String(cell(values["size"]) ?? "?")} MB` },
      ...WHOSE,
      field("created_by", "MADE BY"),
      field("description", null),
      ADDRESS,
      ...ENTRY,
      ...DATES,
    ],
  },
};

export interface SummaryRow {
  readonly kind: ListedKind;
  /** null: they could not be read, or without a project nobody knows. */
  readonly count: number | null;
  readonly here: number | null;
  readonly owned: number | null;
  readonly nobody: number | null;
}

export const SUMMARY_COLUMNS: readonly Column<SummaryRow>[] = [
  { field: "kind", heading: "KIND", value: ({ kind }) => kind },
  { field: "count", heading: "COUNT", value: ({ count }) => count },
  { field: "here", heading: "HERE", value: ({ here }) => here },
  { field: "owned", heading: "OWNED", value: ({ owned }) => owned },
  { field: "nobody", heading: "NOBODY", value: ({ nobody }) => nobody },
];

export const TICKET_COLUMNS: readonly Column<Ticket>[] = [
  { field: "id", heading: "ID", value: ({ id }) => id },
  { field: "status", heading: "STATUS", value: ({ status }) => status },
  { field: "updated", heading: "UPDATED", value: ({ updated }) => updated },
  { field: "opened", heading: null, value: ({ opened }) => opened },
  { field: "closed", heading: null, value: ({ closed }) => closed },
  { field: "opened_by", heading: null, value: (ticket) => ticket.opened_by },
  { field: "closable", heading: null, value: ({ closable }) => closable },
  {
    field: "summary",
    heading: "SUMMARY",
    value: ({ summary }) => summary,
    shown: ({ summary }) => shorten(escapeText(summary), MAX_TARGET_COLUMNS, Buffer.byteLength(summary)),
    whole: ({ summary }) => summary,
  },
];

export const ADDRESS_COLUMNS: readonly Column<AddressRow>[] = [
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
