/** The subnets of a VPC of API.md: list, create, view, update, delete. */

import { mayChange } from "../auth.ts";
import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "../errors.ts";
import { BodyReader } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { listAnswer } from "../page.ts";
import type { Account, Call, Route } from "../route.ts";
import { idParam } from "../route.ts";
import type { SubnetRow } from "../rows.ts";
import { readLabel } from "../subnet-rules.ts";
import { subnetsOf, subnetView } from "../vpc-view.ts";
import { findVpc, putSubnet, readSubnet } from "./vpcs.ts";

const SUBNET_FIELDS: FilterFields<SubnetRow> = new Map([
  ["id", { get: (subnet) => subnet.id }],
  ["label", { get: (subnet) => subnet.label }],
  ["created", { get: (subnet) => subnet.created }],
  ["updated", { get: (subnet) => subnet.updated }],
]);

export function subnetRoutes(account: Account): Route[] {
  const read = ["vpc:read_only"];
  const write = ["vpc:read_write"];
  const list = "/vpcs/:vpcId/subnets";
  const one = `${list}/:subnetId`;
  return [
    { method: "GET", path: list, scopes: read, handle: (call) => listSubnets(account, call) },
    { method: "POST", path: list, scopes: write, handle: (call) => createSubnet(account, call) },
    { method: "GET", path: one, scopes: read, handle: (call) => viewSubnet(account, call) },
    { method: "PUT", path: one, scopes: write, handle: (call) => updateSubnet(account, call) },
    { method: "DELETE", path: one, scopes: write, handle: (call) => deleteSubnet(account, call) },
  ];
}

function view(account: Account, subnet: SubnetRow): object {
  return subnetView(account.store.tables, subnet, account.settings.word);
}

/** A subnet is found in its own VPC only. */
function findSubnet(account: Account, call: Call): SubnetRow | undefined {
  const id = idParam(call, "subnetId");
  const subnet = id === null ? undefined : account.store.tables.subnets.get(id);
  return subnet?.vpc_id === idParam(call, "vpcId") ? subnet : undefined;
}

function listSubnets(account: Account, call: Call): Answer {
  const vpc = findVpc(account, call);
  if (vpc === undefined) return NOT_FOUND;
  const rows = subnetsOf(account.store.tables, vpc.id);
  return listAnswer(call, { rows, fields: SUBNET_FIELDS, toWire: (subnet) => view(account, subnet) });
}

function viewSubnet(account: Account, call: Call): Answer {
  const subnet = findSubnet(account, call);
  return subnet === undefined ? NOT_FOUND : succeed(view(account, subnet));
}

function createSubnet(account: Account, call: Call): Answer {
  const vpc = findVpc(account, call);
  if (vpc === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", vpc.id)) return UNAUTHORIZED;
  const { subnet, errors } = readSubnet(account, call.body, subnetsOf(account.store.tables, vpc.id), "");
  if (subnet === null) return badRequest(...errors);
  return succeed(view(account, putSubnet(account, vpc.id, subnet)));
}

function updateSubnet(account: Account, call: Call): Answer {
  const subnet = findSubnet(account, call);
  if (subnet === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", subnet.vpc_id)) return UNAUTHORIZED;
  const reader = new BodyReader(call.body);
  const label = readLabel(reader, false) ?? subnet.label;
  if (reader.has("ipv4") && reader.raw("ipv4") !== subnet.ipv4) reader.fail("ipv4", "ipv4 cannot be changed");
  if (account.settings.uniqueLabels) {
    const siblings = subnetsOf(account.store.tables, subnet.vpc_id).filter((sibling) => sibling.id !== subnet.id);
    if (siblings.some((sibling) => sibling.label === label)) {
      reader.fail("label", "Label must be unique among the subnets of this VPC");
    }
  }
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const updated: SubnetRow = { ...subnet, label, updated: account.clock.timestamp() };
  account.store.tables.subnets.put(updated);
  account.events.emit("subnet_update", updated);
  return succeed(view(account, updated));
}

function deleteSubnet(account: Account, call: Call): Answer {
  const subnet = findSubnet(account, call);
  if (subnet === undefined) return NOT_FOUND;
  if (!mayChange(call.caller, "vpcs", subnet.vpc_id)) return UNAUTHORIZED;
  if (account.store.tables.interfaces.group("subnet", subnet.id).size > 0) {
    return badRequest({ reason: "Cannot delete a subnet that has interfaces attached" });
  }
  account.store.tables.subnets.delete(subnet.id);
  account.events.emit("subnet_delete", subnet);
  return succeedEmpty();
}
