/** The VPCs of API.md: list, create, view, update, delete. */

import { dropGrants, grantCreated, mayAddVpc, mayChange } from "./auth.ts";
import {
  type Answer,
  type ApiError,
  badRequest,
  fieldError,
  NOT_FOUND,
  succeed,
  succeedEmpty,
  UNAUTHORIZED,
} from "./errors.ts";
import { BodyReader, isJsonBody } from "./fields.ts";
import { byId, type FilterFields, listAnswer } from "./lists.ts";
import type { Attachment } from "./options.ts";
import { accountOf, type Call, idParam, type JsonBody, type Route, type Service } from "./route.ts";
import { type InterfaceRow, type Store, type SubnetRow, type Tables, type VpcRow, vpcLabelKey } from "./store.ts";
import {
  addressNumber,
  addressText,
  describeRange,
  isCanonicalRange,
  rangeNumbers,
  readLabel,
  readRange,
  SubnetNeighbours,
} from "./subnet-rules.ts";

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

function findVpc(service: Service, call: Call): VpcRow | undefined {
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

interface NewSubnet {
  readonly label: string;
  readonly ipv4: string;
}

function putSubnet(service: Service, vpcId: number, { label, ipv4 }: NewSubnet): SubnetRow {
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
function readSubnet(
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

// The subnets of a VPC of API.md: list, create, view, update, delete.

const SUBNET_FIELDS: FilterFields<SubnetRow> = new Map([
  ["id", { get: (subnet) => subnet.id }],
  ["label", { get: (subnet) => subnet.label }],
  ["created", { get: (subnet) => subnet.created }],
  ["updated", { get: (subnet) => subnet.updated }],
]);

const LIST = "/vpcs/:vpcId/subnets";
const ONE_SUBNET = `${LIST}/:vpcSubnetId`;

export const SUBNET_ROUTES: readonly Route[] = [
  { operation: "VPC Subnets List", method: "GET", path: LIST, scopes: READ, handle: listSubnets },
  { operation: "VPC Subnet Create", method: "POST", path: LIST, scopes: WRITE, handle: createSubnet },
  { operation: "VPC Subnet View", method: "GET", path: ONE_SUBNET, scopes: READ, handle: viewSubnet },
  { operation: "VPC Subnet Update", method: "PUT", path: ONE_SUBNET, scopes: WRITE, handle: updateSubnet },
  { operation: "VPC Subnet Delete", method: "DELETE", path: ONE_SUBNET, scopes: WRITE, handle: deleteSubnet },
];

function subnetAnswer(service: Service, subnet: SubnetRow): object {
  return subnetView(service.store.tables, subnet, service.settings.word);
}

/** A subnet is found in its own VPC only. */
function findSubnet(service: Service, call: Call): SubnetRow | undefined {
  const vpc = findVpc(service, call);
  const id = idParam(call, "vpcSubnetId");
  const subnet = id === null ? undefined : service.store.tables.subnets.get(id);
  return vpc !== undefined && subnet?.vpc_id === vpc.id ? subnet : undefined;
}

function listSubnets(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  if (vpc === undefined) return NOT_FOUND;
  const rows = subnetsOf(service.store.tables, vpc.id);
  return listAnswer(call, { rows, fields: SUBNET_FIELDS, toWire: (subnet) => subnetAnswer(service, subnet) });
}

function viewSubnet(service: Service, call: Call): Answer {
  const subnet = findSubnet(service, call);
  return subnet === undefined ? NOT_FOUND : succeed(subnetAnswer(service, subnet));
}

function createSubnet(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const neighbours = new SubnetNeighbours(subnetsOf(service.store.tables, vpc.id));
  const { subnet, errors } = readSubnet(service, call.body, neighbours, "");
  if (subnet === null) return badRequest(...errors);
  return succeed(subnetAnswer(service, putSubnet(service, vpc.id, subnet)));
}

function updateSubnet(service: Service, call: Call): Answer {
  const subnet = findSubnet(service, call);
  if (subnet === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", subnet.vpc_id)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  const label = readLabel(reader, false) ?? subnet.label;
  if (reader.has("ipv4") && reader.raw("ipv4") !== subnet.ipv4) reader.fail("ipv4", "ipv4 cannot be changed");
  if (service.settings.uniqueLabels) {
    const siblings = subnetsOf(service.store.tables, subnet.vpc_id).filter((sibling) => sibling.id !== subnet.id);
    if (siblings.some((sibling) => sibling.label === label)) {
      reader.fail("label", "Label must be unique among the subnets of this VPC");
    }
  }
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const updated: SubnetRow = { ...subnet, label, updated: service.clock.timestamp() };
  service.store.tables.subnets.put(updated);
  service.events.emit("subnet_update", updated);
  return succeed(subnetAnswer(service, updated));
}

function deleteSubnet(service: Service, call: Call): Answer {
  const subnet = findSubnet(service, call);
  if (subnet === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", subnet.vpc_id)) return UNAUTHORIZED;
  if (service.store.tables.interfaces.group("subnet", subnet.id).size > 0) {
    return badRequest({ reason: "Cannot delete a subnet that has interfaces attached" });
  }
  service.store.tables.subnets.delete(subnet.id);
  service.events.emit("subnet_delete", subnet);
  return succeedEmpty();
}

// The two VPC address lists of API.md: of the whole account and of one VPC.

const SCOPES = ["ips:read_only"];
const ALL = "VPC IP Addresses List";
const OF_ONE = "VPC IP Addresses View";

export const VPC_IP_ROUTES: readonly Route[] = [
  { operation: ALL, method: "GET", path: "/networking/vpcs/ips", scopes: SCOPES, handle: listAll },
  // Where the running service has it.
  { operation: ALL, method: "GET", path: "/vpcs/ips", scopes: SCOPES, handle: listAll },
  { operation: OF_ONE, method: "GET", path: "/vpcs/:vpcId/ips", scopes: SCOPES, handle: listOfOne },
];

function listAll(service: Service, call: Call): Answer {
  const { tables } = service.store;
  const vpcs = byId(tables.vpcs.list("account", accountOf(call)));
  return answer(
    service,
    call,
    vpcs.flatMap((vpc) => addressesOf(tables, vpc)),
  );
}

function listOfOne(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  return vpc === undefined ? NOT_FOUND : answer(service, call, addressesOf(service.store.tables, vpc));
}

function answer(service: Service, call: Call, rows: readonly AddressRow[]): Answer {
  const { word } = service.settings;
  return listAnswer(call, { rows, fields: addressFields(word), toWire: (row) => addressView(row, word) });
}

function addressFields(word: string): FilterFields<AddressRow> {
  return new Map([
    ["active", { get: (row) => row.interface.active }],
    ["config_id", { get: (row) => row.interface.config_id }],
    [`${word}_id`, { get: (row) => row.interface.node_id }],
    ["region", { get: (row) => row.vpc.region }],
    ["vpc_id", { get: (row) => row.vpc.id }],
  ]);
}

// VPCs, subnets and their addresses as they are sent, with the operator's word in their keys.

export function subnetsOf(tables: Tables, vpcId: number): readonly SubnetRow[] {
  return byId(tables.subnets.list("vpc", vpcId));
}

function vpcView(tables: Tables, vpc: VpcRow, word: string): object {
  const { id, label, description, region, created, updated } = vpc;
  const subnets = subnetsOf(tables, id).map((subnet) => subnetView(tables, subnet, word));
  return { id, label, description, region, subnets, created, updated };
}

/** `nodes` has one entry per node with all of its interfaces here. */
function subnetView(tables: Tables, subnet: SubnetRow, word: string): object {
  const nodes = new Map<number, { id: number; active: boolean }[]>();
  for (const { id, node_id, active } of tables.interfaces.group("subnet", subnet.id).values()) {
    const interfaces = nodes.get(node_id) ?? [];
    nodes.set(node_id, interfaces);
    interfaces.push({ id, active });
  }
  return {
    id: subnet.id,
    label: subnet.label,
    ipv4: subnet.ipv4,
    [`${word}s`]: [...nodes].map(([id, interfaces]) => ({ id, interfaces })),
    created: subnet.created,
    updated: subnet.updated,
  };
}

/** An entry of an address list: an interface with the subnet and the VPC that it is in, and its address or one of its ranges. */
interface AddressRow {
  readonly vpc: VpcRow;
  readonly subnet: SubnetRow;
  readonly interface: InterfaceRow;
  /** null: the entry is about the interface's address. */
  readonly range: string | null;
}

function addressesOf(tables: Tables, vpc: VpcRow): AddressRow[] {
  return subnetsOf(tables, vpc.id).flatMap((subnet) =>
    [...tables.interfaces.group("subnet", subnet.id).values()].flatMap((row) =>
      entriesOf(row).map((range) => ({ vpc, subnet, interface: row, range })),
    ),
  );
}

/** One for the address, one for each range; an interface that has neither is listed all the same. */
function entriesOf({ address, address_ranges = [] }: InterfaceRow): readonly (string | null)[] {
  return address === null && address_ranges.length > 0 ? address_ranges : [null, ...address_ranges];
}

function addressView(row: AddressRow, word: string): object {
  const range = describeRange(row.subnet.ipv4);
  return {
    active: row.interface.active,
    address: row.range === null ? row.interface.address : null,
    address_range: row.range,
    config_id: row.interface.config_id,
    gateway: range.gateway,
    interface_id: row.interface.id,
    [`${word}_id`]: row.interface.node_id,
    nat_1_1: row.range === null ? (row.interface.nat_1_1 ?? "") : "",
    prefix: range.prefix,
    region: row.vpc.region,
    subnet_id: row.subnet.id,
    subnet_mask: range.mask,
    vpc_id: row.vpc.id,
  };
}

// Attaching interfaces to subnets, which API.md leaves to the compute endpoints.

/** Why an interface cannot be attached; `field` is absent when it is not about one field. */
export type AttachProblem = ApiError;

/** @returns why it does not fit, or null when it is done; an interface that is already attached is moved or changed */
export function attach(store: Store, attachment: Attachment): AttachProblem | null {
  const { subnet_id, node_id, interface_id, active, config_id, nat_1_1 = "", address_ranges = [] } = attachment;
  const subnet = store.tables.subnets.get(subnet_id);
  if (subnet === undefined) return { reason: `There is no subnet ${subnet_id}` };
  if (nat_1_1 !== "" && addressNumber(nat_1_1) === null) return fieldError("nat_1_1", "Must be an IPv4 address");
  if (address_ranges.length > 0) {
    const all = [...store.tables.interfaces.group("subnet", subnet_id).values()];
    const others = all.filter(({ id }) => id !== interface_id);
    const problem = rangesProblem(subnet.ipv4, address_ranges, others);
    if (problem !== null) return problem;
  }
  const range = describeRange(subnet.ipv4);
  const taken = new Set<string>();
  for (const other of store.tables.interfaces.group("subnet", subnet_id).values()) {
    if (other.address !== null && other.id !== interface_id) taken.add(other.address);
  }
  let address = attachment.address;
  if (address === undefined) {
    address = firstFree(range.firstHost, range.last, taken);
    if (address === null) return { reason: `Subnet ${subnet_id} has no free address` };
  } else if (address !== null) {
    const number = addressNumber(address);
    if (number === null || number < range.firstHost - 2 || number > range.last) {
      return { reason: `The address is not in ${subnet.ipv4}` };
    }
    if (number < range.firstHost || number === range.last) {
      return { reason: `The address is the network, gateway or broadcast address of ${subnet.ipv4}` };
    }
  }
  store.tables.interfaces.put({
    id: interface_id,
    subnet_id,
    node_id,
    config_id,
    active,
    address,
    nat_1_1,
    address_ranges,
  });
  store.reserveId("interface", interface_id);
  store.reserveId("node", node_id);
  store.reserveId("config", config_id);
  return null;
}

/** @returns why it cannot be, or null when it is done */
export function detach(store: Store, interfaceId: number): AttachProblem | null {
  if (store.tables.interfaces.get(interfaceId) === undefined) {
    return { reason: `There is no interface ${interfaceId}` };
  }
  store.tables.interfaces.delete(interfaceId);
  return null;
}

/** Each lies in the subnet and overlaps none, its own or another interface's. */
function rangesProblem(
  subnet: string,
  ranges: readonly string[],
  others: readonly InterfaceRow[],
): AttachProblem | null {
  const taken = new SubnetNeighbours();
  for (const other of others) for (const ipv4 of other.address_ranges ?? []) taken.add({ label: "", ipv4 });
  const { base, prefix } = rangeNumbers(subnet);
  const last = base + 2 ** (32 - prefix) - 1;
  for (const [index, range] of ranges.entries()) {
    const field = `address_ranges[${index}]`;
    if (!isCanonicalRange(range)) return fieldError(field, "Must be an IPv4 network");
    const within = rangeNumbers(range);
    const rangeLast = within.base + 2 ** (32 - within.prefix) - 1;
    if (within.base < base || rangeLast > last) return fieldError(field, `Must be within ${subnet}`);
    if (taken.overlaps(range)) return fieldError(field, "Overlaps with another address range");
    taken.add({ label: "", ipv4: range });
  }
  return null;
}

function firstFree(first: number, last: number, taken: ReadonlySet<string>): string | null {
  for (let number = first; number < last; number += 1) {
    const address = addressText(number);
    if (!taken.has(address)) return address;
  }
  return null;
}
