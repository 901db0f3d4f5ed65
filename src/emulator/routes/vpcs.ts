/** The VPCs of API.md: list, create, view, update, delete. */

import { dropGrants, grantCreated, mayAddVpc, mayChange } from "../auth.ts";
import type { Answer, ApiError } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "../errors.ts";
import { BodyReader, isJsonBody } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { byId } from "../list-order.ts";
import { listAnswer } from "../page.ts";
import type { Call, JsonBody, Route, Service } from "../route.ts";
import { accountOf, idParam } from "../route.ts";
import type { SubnetRow, VpcRow } from "../rows.ts";
import { vpcLabelKey } from "../store.ts";
import { SubnetNeighbours } from "../subnet-neighbours.ts";
import { readLabel, readRange } from "../subnet-rules.ts";
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

const READ = ["vpc:read_only"];
const WRITE = ["vpc:read_write"];
const ONE = "/vpcs/:vpcId";

export const VPC_ROUTES: readonly Route[] = [
  { operation: "VPCs List", method: "GET", path: "/vpcs", scopes: READ, handle: listVpcs },
  { operation: "VPC Create", method: "POST", path: "/vpcs", scopes: WRITE, handle: createVpc },
  { operation: "VPC View", method: "GET", path: ONE, scopes: READ, handle: viewVpc },
  { operation: "VPC Update", method: "PUT", path: ONE, scopes: WRITE, handle: updateVpc },
  { operation: "VPC Delete", method: "DELETE", path: ONE, scopes: WRITE, handle: deleteVpc },
];

export function findVpc(service: Service, call: Call): VpcRow | undefined {
  const id = idParam(call, "vpcId");
  const vpc = id === null ? undefined : service.store.tables.vpcs.get(id);
  return vpc?.account === accountOf(call) ? vpc : undefined;
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

function view(service: Service, vpc: VpcRow): object {
  return vpcView(service.store.tables, vpc, service.settings.word);
}

function listVpcs(service: Service, call: Call): Answer {
  const rows = byId(service.store.tables.vpcs.list("account", accountOf(call)));
  return listAnswer(call, { rows, fields: VPC_FIELDS, toWire: (vpc) => view(service, vpc) });
}

function viewVpc(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  return vpc === undefined ? NOT_FOUND : succeed(view(service, vpc));
}

function createVpc(service: Service, call: Call): Answer {
  if (!mayAddVpc(call.caller)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  const label = readLabel(reader, true);
  const region = readRegion(reader);
  const description = reader.text("description", { max: MAX_DESCRIPTION_LENGTH }) ?? "";
  const account = accountOf(call);
  checkUniqueLabel(service, reader, { account, label, self: null });
  const subnets = readSubnets(service, reader);
  if (label === undefined || region === undefined || reader.errors.length > 0) return badRequest(...reader.errors);
  const { store, clock, events } = service;
  const created = clock.timestamp();
  const vpc: VpcRow = { id: store.nextId("vpc"), account, label, description, region, created, updated: created };
  store.tables.vpcs.put(vpc);
  events.emit("vpc_create", vpc);
  for (const subnet of subnets) putSubnet(service, vpc.id, subnet);
  grantCreated(store, call.caller, "vpcs", vpc.id);
  return succeed(view(service, vpc));
}

export interface NewSubnet {
  readonly label: string;
  readonly ipv4: string;
}

export function putSubnet(service: Service, vpcId: number, { label, ipv4 }: NewSubnet): SubnetRow {
  const created = service.clock.timestamp();
  const id = service.store.nextId("subnet");
  const subnet: SubnetRow = { id, vpc_id: vpcId, label, ipv4, created, updated: created };
  service.store.tables.subnets.put(subnet);
  service.events.emit("subnet_create", subnet);
  return subnet;
}

function readSubnets(service: Service, reader: BodyReader): readonly NewSubnet[] {
  const value = reader.raw("subnets") ?? [];
  const subnets: NewSubnet[] = [];
  const neighbours = new SubnetNeighbours();
  if (!Array.isArray(value)) {
    reader.fail("subnets", "Must be an array");
    return subnets;
  }
  for (const [index, entry] of value.entries()) {
    if (reader.isFull) break;
    const field = `subnets[${index}]`;
    if (!isJsonBody(entry)) {
      reader.fail(field, "Must be an object");
      continue;
    }
    const read = readSubnet(service, entry, neighbours, `${field}.`);
    reader.take(read.errors);
    if (read.subnet === null) continue;
    subnets.push(read.subnet);
    neighbours.add(read.subnet);
  }
  return subnets;
}

/** Reads and judges a new subnet beside the others of its VPC. */
export function readSubnet(
  service: Service,
  body: JsonBody,
  neighbours: SubnetNeighbours,
  prefix: string,
): { readonly subnet: NewSubnet | null; readonly errors: readonly ApiError[] } {
  const reader = new BodyReader(body, prefix);
  const label = readLabel(reader, true);
  const ipv4 = readRange(reader);
  if (ipv4 !== undefined && neighbours.overlaps(ipv4)) {
    reader.fail("ipv4", "Subnet overlaps with another subnet of this VPC");
  }
  if (service.settings.uniqueLabels && label !== undefined && neighbours.hasLabel(label)) {
    reader.fail("label", "Label must be unique among the subnets of this VPC");
  }
  const complete = label !== undefined && ipv4 !== undefined && reader.errors.length === 0;
  return { subnet: complete ? { label, ipv4 } : null, errors: reader.errors };
}

interface LabelUse {
  readonly account: string;
  readonly label: string | undefined;
  /** The VPC that is to have it; null: a new one. */
  readonly self: number | null;
}

function checkUniqueLabel(service: Service, reader: BodyReader, { account, label, self }: LabelUse): void {
  if (!service.settings.uniqueLabels || label === undefined) return;
  const sharing = service.store.tables.vpcs.group("label", vpcLabelKey({ account, label }));
  const others = [...sharing.keys()].filter((id) => id !== self);
  if (others.length > 0) reader.fail("label", "Label must be unique among your VPCs");
}

function updateVpc(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  const label = readLabel(reader, false) ?? vpc.label;
  const description = reader.text("description", { max: MAX_DESCRIPTION_LENGTH });
  checkUniqueLabel(service, reader, { account: vpc.account, label, self: vpc.id });
  if (reader.has("region") && reader.raw("region") !== vpc.region) reader.fail("region", "region cannot be changed");
  if (reader.has("subnets")) reader.fail("subnets", "Subnets are changed one by one");
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const updated: VpcRow = {
    ...vpc,
    label,
    description: description === undefined ? vpc.description : (description ?? ""),
    updated: service.clock.timestamp(),
  };
  service.store.tables.vpcs.put(updated);
  service.events.emit("vpc_update", updated);
  return succeed(view(service, updated));
}

/** All or nothing: one attached interface keeps the VPC and every subnet (API.md, VPCs, rule 1). */
function deleteVpc(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const { tables } = service.store;
  const subnets = subnetsOf(tables, vpc.id);
  if (subnets.some((subnet) => tables.interfaces.group("subnet", subnet.id).size > 0)) {
    return badRequest({ reason: "Cannot delete a VPC whose subnets have interfaces attached" });
  }
  for (const subnet of subnets) {
    tables.subnets.delete(subnet.id);
    service.events.emit("subnet_delete", subnet);
  }
  tables.vpcs.delete(vpc.id);
  dropGrants(service.store, "vpcs", vpc.id);
  service.events.emit("vpc_delete", vpc);
  return succeedEmpty();
}
