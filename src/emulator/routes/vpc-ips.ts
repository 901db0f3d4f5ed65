/** The two VPC address lists of API.md: of the whole account and of one VPC. */

import type { Answer } from "../errors.ts";
import { NOT_FOUND } from "../errors.ts";
import type { FilterFields } from "../filter.ts";
import { listAnswer } from "../page.ts";
import type { Account, Call, Route } from "../route.ts";
import type { AddressRow } from "../vpc-view.ts";
import { addressesOf, addressView } from "../vpc-view.ts";
import { findVpc } from "./vpcs.ts";

export function vpcIpRoutes(account: Account): Route[] {
  const scopes = ["ips:read_only"];
  const all = (call: Call): Answer =>
    answer(
      account,
      call,
      [...account.store.tables.vpcs.all()].flatMap((vpc) => addressesOf(account.store.tables, vpc)),
    );
  const ofOne = (call: Call): Answer => {
    const vpc = findVpc(account, call);
    return vpc === undefined ? NOT_FOUND : answer(account, call, addressesOf(account.store.tables, vpc));
  };
  return [
    { method: "GET", path: "/networking/vpcs/ips", scopes, handle: all },
    // Where the running service has it.
    { method: "GET", path: "/vpcs/ips", scopes, handle: all },
    { method: "GET", path: "/vpcs/:vpcId/ips", scopes, handle: ofOne },
  ];
}

function answer(account: Account, call: Call, rows: readonly AddressRow[]): Answer {
  const { word } = account.settings;
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
