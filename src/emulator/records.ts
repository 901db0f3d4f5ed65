/** The records of a domain of API.md: list, create, view, update, delete. */

import { findDomain } from "./domains.ts";
import { type Answer, badRequest, NOT_FOUND, succeed, succeedEmpty } from "./errors.ts";
import { byId, type FilterFields, listAnswer } from "./lists.ts";
import { MAX_RECORDS_PER_DOMAIN, type RecordContext, readRecord } from "./record-rules.ts";
import { type Call, idParam, type Route, type Service } from "./route.ts";
import { type DomainRow, type RecordRow, recordNameKey } from "./store.ts";

const RECORD_FIELDS: FilterFields<RecordRow> = new Map([
  ["type", { get: (record) => record.type }],
  ["name", { get: (record) => record.name, unfindable: "*" }],
  ["target", { get: (record) => record.target }],
  ["tag", { get: (record) => record.tag }],
]);

const READ = ["domains:read_only"];
const WRITE = ["domains:read_write"];
const LIST = "/domains/:domainId/records";
const ONE = `${LIST}/:recordId`;

export const RECORD_ROUTES: readonly Route[] = [
  { operation: "Domain Records List", method: "GET", path: LIST, scopes: READ, handle: listRecords },
  { operation: "Domain Record Create", method: "POST", path: LIST, scopes: WRITE, handle: createRecord },
  { operation: "Domain Record View", method: "GET", path: ONE, scopes: READ, handle: viewRecord },
  { operation: "Domain Record Update", method: "PUT", path: ONE, scopes: WRITE, handle: updateRecord },
  { operation: "Domain Record Delete", method: "DELETE", path: ONE, scopes: WRITE, handle: deleteRecord },
];

function view({ domain_id: _, ...record }: RecordRow): object {
  return record;
}

interface Found {
  readonly domain: DomainRow;
  readonly record: RecordRow;
}

/** A record is found in its own domain only. */
function findRecord(service: Service, call: Call): Found | undefined {
  const domain = findDomain(service, call);
  const id = idParam(call, "recordId");
  const record = id === null ? undefined : service.store.tables.records.get(id);
  return domain !== undefined && record?.domain_id === domain.id ? { domain, record } : undefined;
}

/** @param self the record that is being changed, which is no neighbour of its own */
export function recordContext(
  service: Service,
  domain: DomainRow,
  self: number | null,
  remoteAddress: string,
): RecordContext {
  const { records } = service.store.tables;
  return {
    domain: domain.domain,
    remoteAddress,
    roundSeconds: service.settings.roundSeconds,
    *othersNamed(name) {
      for (const record of records.group("name", recordNameKey(domain.id, name)).values()) {
        if (record.id !== self) yield record;
      }
    },
  };
}

function listRecords(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const rows = byId(service.store.tables.records.list("zone", domain.id));
  return listAnswer(call, { rows, fields: RECORD_FIELDS, toWire: view });
}

function viewRecord(service: Service, call: Call): Answer {
  const found = findRecord(service, call);
  return found === undefined ? NOT_FOUND : succeed(view(found.record));
}

function createRecord(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const { records } = service.store.tables;
  if (records.group("zone", domain.id).size >= MAX_RECORDS_PER_DOMAIN) {
    return badRequest({ reason: `A domain can have at most ${MAX_RECORDS_PER_DOMAIN} records` });
  }
  const { values, errors } = readRecord(call.body, null, recordContext(service, domain, null, call.remoteAddress));
  if (values === null) return badRequest(...errors);
  const created = service.clock.timestamp();
  const id = service.store.nextId("record");
  const record: RecordRow = { id, domain_id: domain.id, ...values, created, updated: created };
  service.zones.changing(domain);
  records.put(record);
  return succeed(view(record));
}

function updateRecord(service: Service, call: Call): Answer {
  const found = findRecord(service, call);
  if (found === undefined) return NOT_FOUND;
  const { domain, record } = found;
  const context = recordContext(service, domain, record.id, call.remoteAddress);
  const { values, errors } = readRecord(call.body, record, context);
  if (values === null) return badRequest(...errors);
  const updated: RecordRow = { ...record, ...values, updated: service.clock.timestamp() };
  service.zones.changing(domain);
  service.store.tables.records.put(updated);
  return succeed(view(updated));
}

function deleteRecord(service: Service, call: Call): Answer {
  const found = findRecord(service, call);
  if (found === undefined) return NOT_FOUND;
  service.zones.changing(found.domain);
  service.store.tables.records.delete(found.record.id);
  return succeedEmpty();
}
