/** The VPCs of API.md: list, create, view, update, delete. */

import { grantCreated, mayAddVpc, mayChange } from "../auth.ts";
import type { Answer, ApiError } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "../errors.ts";
import { BodyReader, isJsonBody } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { listAnswer } from "../page.ts";
import type { Account, Call, JsonBody, Route } from "../route.ts";
import { idParam } from "../route.ts";
import type { SubnetRow, VpcRow } from "../rows.ts";
import { rangesOverlap, readLabel, readRange } from "../subnet-rules.ts";
import { subnetsOf, vpcView } from "../vpc-view.ts";

const MAX_DESCRIPTION_LENGTH = 255;

/** Regions are no endpoint: any text of their form is one. */
const REGION = /^[a-z]{2}-[a-z0-9-]+$/;

const VPC_FIELDS: FilterFields<VpcRow> = new Map([
  ["id", { get: (vpc) => vpc.id }],
  ["label", { get: (vpc) => vpc.label }],
  ["region", { get: (vpc) => vpc.region }],
  ["created", { get: (vpc) => vpc.created }],
  ["updated", { get: (vpc) => vpc.updated }],
]);

export function vpcRoutes(account: Account): Route[] {
  const read = ["vpc:read_only"];
  const write = ["vpc:read_write"];
  return [
    { method: "GET", path: "/vpcs", scopes: read, handle: (call) => listVpcs(account, call) },
    { method: "POST", path: "/vpcs", scopes: write, handle: (call) => createVpc(account, call) },
    { method: "GET", path: "/vpcs/:vpcId", scopes: read, handle: (call) => viewVpc(account, call) },
    { method: "PUT", path: "/vpcs/:vpcId", scopes: write, handle: (call) => updateVpc(account, call) },
    { method: "DELETE", path: "/vpcs/:vpcId", scopes: write, handle: (call) => deleteVpc(account, call) },
  ];
}

export function findVpc(account: Account, call: Call): VpcRow | undefined {
  const id = idParam(call, "vpcId");
  return id === null ? undefined : account.store.tables.vpcs.get(id);
}

export function isRegion(text: string): boolean {
  return REGION.test(text);
}

export function readRegion(reader: BodyReader): string | undefined {
  if (!reader.require("region")) return undefined;
  const region = reader.raw("region");
  if (typeof region === "string" && isRegion(region)) return region;
  reader.fail("region", "region is not valid");
  return undefined;
}

function view(account: Account, vpc: VpcRow): object {
  return vpcView(account.store.tables, vpc, account.settings.word);
}

function listVpcs(account: Account, call: Call): Answer {
  const rows = [...account.store.tables.vpcs.all()];
  return listAnswer(call, { rows, fields: VPC_FIELDS, toWire: (vpc) => view(account, vpc) });
}

function viewVpc(account: Account, call: Call): Answer {
  const vpc = findVpc(account, call);
  return vpc === undefined ? NOT_FOUND : succeed(view(account, vpc));
}

function createVpc(account: Account, call: Call): Answer {
  if (!mayAddVpc(call.caller)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  const label = readLabel(reader, true);
  const region = readRegion(reader);
  const description = reader.text("description", { max: MAX_DESCRIPTION_LENGTH }) ?? "";
  checkUniqueLabel(account, reader, label, null);
  const subnets = readSubnets(account, reader);
  if (label === undefined || region === undefined || reader.errors.length > 0) return badRequest(...reader.errors);
  const { store, clock, events } = account;
  const created = clock.timestamp();
  const vpc: VpcRow = { id: store.nextId("vpc"), label, description, region, created, updated: created };
  store.tables.vpcs.put(vpc);
  events.emit("vpc_create", vpc);
  for (const subnet of subnets) putSubnet(account, vpc.id, subnet);
  grantCreated(store, call.caller, "vpcs", vpc.id);
  return succeed(view(account, vpc));
}

export interface NewSubnet {
  readonly label: string;
  readonly ipv4: string;
}

export function putSubnet(account: Account, vpcId: number, { label, ipv4 }: NewSubnet): SubnetRow {
  const created = account.clock.timestamp();
  const id = account.store.nextId("subnet");
  const subnet: SubnetRow = { id, vpc_id: vpcId, label, ipv4, created, updated: created };
  account.store.tables.subnets.put(subnet);
  account.events.emit("subnet_create", subnet);
  return subnet;
}

function readSubnets(account: Account, reader: BodyReader): readonly NewSubnet[] {
  const value = reader.raw("subnets") ?? [];
  const subnets: NewSubnet[] = [];
  if (!Array.isArray(value)) {
    reader.fail("subnets", "Must be an array");
    return subnets;
  }
  for (const [index, entry] of value.entries()) {
    const field = `subnets[${index}]`;
    if (!isJsonBody(entry)) {
      reader.fail(field, "Must be an object");
      continue;
    }
    const read = readSubnet(account, entry, subnets, `${field}.`);
    reader.errors.push(...read.errors);
    if (read.subnet !== null) subnets.push(read.subnet);
  }
  return subnets;
}

/** Reads and judges a new subnet beside `siblings`, the others of its VPC. */
export function readSubnet(
  account: Account,
  body: JsonBody,
  siblings: readonly NewSubnet[],
  prefix: string,
): { readonly subnet: NewSubnet | null; readonly errors: readonly ApiError[] } {
  const reader = new BodyReader(body, prefix);
  const label = readLabel(reader, true);
  const ipv4 = readRange(reader);
  if (ipv4 !== undefined && siblings.some((sibling) => rangesOverlap(sibling.ipv4, ipv4))) {
    reader.fail("ipv4", "Subnet overlaps with another subnet of this VPC");
  }
  if (account.settings.uniqueLabels && siblings.some((sibling) => sibling.label === label)) {
    reader.fail("label", "Label must be unique among the subnets of this VPC");
  }
  const complete = label !== undefined && ipv4 !== undefined && reader.errors.length === 0;
  return { subnet: complete ? { label, ipv4 } : null, errors: reader.errors };
}

function checkUniqueLabel(account: Account, reader: BodyReader, label: string | undefined, self: number | null): void {
  if (!account.settings.uniqueLabels || label === undefined) return;
  const others = [...account.store.tables.vpcs.group("label", label).keys()].filter((id) => id !== self);
  if (others.length > 0) reader.fail("label", "Label must be unique among your VPCs");
}

function updateVpc(account: Account, call: Call): Answer {
  const vpc = findVpc(account, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  const label = readLabel(reader, false) ?? vpc.label;
  const description = reader.text("description", { max: MAX_DESCRIPTION_LENGTH });
  checkUniqueLabel(account, reader, label, vpc.id);
  if (reader.has("region") && reader.raw("region") !== vpc.region) reader.fail("region", "region cannot be changed");
  if (reader.has("subnets")) reader.fail("subnets", "Subnets are changed one by one");
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const updated: VpcRow = {
    ...vpc,
    label,
    description: description === undefined ? vpc.description : (description ?? ""),
    updated: account.clock.timestamp(),
  };
  account.store.tables.vpcs.put(updated);
  account.events.emit("vpc_update", updated);
  return succeed(view(account, updated));
}

/** All or nothing: one attached interface keeps the VPC and every subnet (API.md, VPCs, rule 1). */
function deleteVpc(account: Account, call: Call): Answer {
  const vpc = findVpc(account, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const { tables } = account.store;
  const subnets = subnetsOf(tables, vpc.id);
  if (subnets.some((subnet) => tables.interfaces.group("subnet", subnet.id).size > 0)) {
    return badRequest({ reason: "Cannot delete a VPC whose subnets have interfaces attached" });
  }
  for (const subnet of subnets) {
    tables.subnets.delete(subnet.id);
    account.events.emit("subnet_delete", subnet);
  }
  tables.vpcs.delete(vpc.id);
  account.events.emit("vpc_delete", vpc);
  return succeedEmpty();
}
