/** The records of a domain of API.md: list, create, view, update, delete. */

import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty } from "../errors.ts";
import type { FilterFields } from "../filter.ts";
import { listAnswer } from "../page.ts";
import type { RecordContext } from "../record-rules.ts";
import { MAX_RECORDS_PER_DOMAIN, readRecord } from "../record-rules.ts";
import type { Account, Call, Route } from "../route.ts";
import { idParam } from "../route.ts";
import type { DomainRow, RecordRow } from "../rows.ts";
import { recordNameKey } from "../store.ts";
import { findDomain } from "./domains.ts";

const RECORD_FIELDS: FilterFields<RecordRow> = new Map([
  ["type", { get: (record) => record.type }],
  ["name", { get: (record) => record.name, unfindable: "*" }],
  ["target", { get: (record) => record.target }],
  ["tag", { get: (record) => record.tag }],
]);

export function recordRoutes(account: Account): Route[] {
  const read = ["domains:read_only"];
  const write = ["domains:read_write"];
  const list = "/domains/:domainId/records";
  const one = `${list}/:recordId`;
  return [
    { method: "GET", path: list, scopes: read, handle: (call) => listRecords(account, call) },
    { method: "POST", path: list, scopes: write, handle: (call) => createRecord(account, call) },
    { method: "GET", path: one, scopes: read, handle: (call) => viewRecord(account, call) },
    { method: "PUT", path: one, scopes: write, handle: (call) => updateRecord(account, call) },
    { method: "DELETE", path: one, scopes: write, handle: (call) => deleteRecord(account, call) },
  ];
}

function view({ domain_id: _, ...record }: RecordRow): object {
  return record;
}

/** A record is found in its own domain only. */
function findRecord(account: Account, call: Call): RecordRow | undefined {
  const id = idParam(call, "recordId");
  const record = id === null ? undefined : account.store.tables.records.get(id);
  return record?.domain_id === idParam(call, "domainId") ? record : undefined;
}

/** @param self the record that is being changed, which is no neighbour of its own */
export function recordContext(
  account: Account,
  domain: DomainRow,
  self: number | null,
  remoteAddress: string,
): RecordContext {
  const { records } = account.store.tables;
  return {
    domain: domain.domain,
    remoteAddress,
    roundSeconds: account.settings.roundSeconds,
    *othersNamed(name) {
      for (const record of records.group("name", recordNameKey(domain.id, name)).values()) {
        if (record.id !== self) yield record;
      }
    },
  };
}

function listRecords(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  if (domain === undefined) return NOT_FOUND;
  const rows = [...account.store.tables.records.group("zone", domain.id).values()];
  return listAnswer(call, { rows, fields: RECORD_FIELDS, toWire: view });
}

function viewRecord(account: Account, call: Call): Answer {
  const record = findRecord(account, call);
  return record === undefined ? NOT_FOUND : succeed(view(record));
}

function createRecord(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  if (domain === undefined) return NOT_FOUND;
  const { records } = account.store.tables;
  if (records.group("zone", domain.id).size >= MAX_RECORDS_PER_DOMAIN) {
    return badRequest({ reason: `A domain can have at most ${MAX_RECORDS_PER_DOMAIN} records` });
  }
  const { values, errors } = readRecord(call.body, null, recordContext(account, domain, null, call.remoteAddress));
  if (values === null) return badRequest(...errors);
  const created = account.clock.timestamp();
  const id = account.store.nextId("record");
  const record: RecordRow = { id, domain_id: domain.id, ...values, created, updated: created };
  records.put(record);
  return succeed(view(record));
}

function updateRecord(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  const record = findRecord(account, call);
  if (domain === undefined || record === undefined) return NOT_FOUND;
  const context = recordContext(account, domain, record.id, call.remoteAddress);
  const { values, errors } = readRecord(call.body, record, context);
  if (values === null) return badRequest(...errors);
  const updated: RecordRow = { ...record, ...values, updated: account.clock.timestamp() };
  account.store.tables.records.put(updated);
  return succeed(view(updated));
}

function deleteRecord(account: Account, call: Call): Answer {
  const record = findRecord(account, call);
  if (record === undefined) return NOT_FOUND;
  account.store.tables.records.delete(record.id);
  return succeedEmpty();
}
