/** The two VPC address lists of API.md: of the whole account and of one VPC. */

import type { Answer } from "../errors.ts";
import { NOT_FOUND } from "../errors.ts";
import type { FilterFields } from "../filter.ts";
import { byId } from "../list-order.ts";
import { listAnswer } from "../page.ts";
import type { Call, Route, Service } from "../route.ts";
import { accountOf } from "../route.ts";
import type { AddressRow } from "../vpc-view.ts";
import { addressesOf, addressView } from "../vpc-view.ts";
import { findVpc } from "./vpcs.ts";

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
