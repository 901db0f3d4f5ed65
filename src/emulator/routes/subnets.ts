/** The subnets of a VPC of API.md: list, create, view, update, delete. */

import { mayChange } from "../auth.ts";
import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "../errors.ts";
import { BodyReader } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { listAnswer } from "../page.ts";
import type { Call, Route, Service } from "../route.ts";
import { idParam } from "../route.ts";
import type { SubnetRow } from "../rows.ts";
import { SubnetNeighbours } from "../subnet-neighbours.ts";
import { readLabel } from "../subnet-rules.ts";
import { subnetsOf, subnetView } from "../vpc-view.ts";
import { findVpc, putSubnet, readSubnet } from "./vpcs.ts";

const SUBNET_FIELDS: FilterFields<SubnetRow> = new Map([
  ["id", { get: (subnet) => subnet.id }],
  ["label", { get: (subnet) => subnet.label }],
  ["created", { get: (subnet) => subnet.created }],
  ["updated", { get: (subnet) => subnet.updated }],
]);

const READ = ["vpc:read_only"];
const WRITE = ["vpc:read_write"];
const LIST = "/vpcs/:vpcId/subnets";
const ONE = `${LIST}/:vpcSubnetId`;

export const SUBNET_ROUTES: readonly Route[] = [
  { operation: "VPC Subnets List", method: "GET", path: LIST, scopes: READ, handle: listSubnets },
  { operation: "VPC Subnet Create", method: "POST", path: LIST, scopes: WRITE, handle: createSubnet },
  { operation: "VPC Subnet View", method: "GET", path: ONE, scopes: READ, handle: viewSubnet },
  { operation: "VPC Subnet Update", method: "PUT", path: ONE, scopes: WRITE, handle: updateSubnet },
  { operation: "VPC Subnet Delete", method: "DELETE", path: ONE, scopes: WRITE, handle: deleteSubnet },
];

function view(service: Service, subnet: SubnetRow): object {
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
  return listAnswer(call, { rows, fields: SUBNET_FIELDS, toWire: (subnet) => view(service, subnet) });
}

function viewSubnet(service: Service, call: Call): Answer {
  const subnet = findSubnet(service, call);
  return subnet === undefined ? NOT_FOUND : succeed(view(service, subnet));
}

function createSubnet(service: Service, call: Call): Answer {
  const vpc = findVpc(service, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const neighbours = new SubnetNeighbours(subnetsOf(service.store.tables, vpc.id));
  const { subnet, errors } = readSubnet(service, call.body, neighbours, "");
  if (subnet === null) return badRequest(...errors);
  return succeed(view(service, putSubnet(service, vpc.id, subnet)));
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
  return succeed(view(service, updated));
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
