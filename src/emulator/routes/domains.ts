/** The domains of API.md: list, create, view, update, delete, clone, zone file. */

import type { DomainContext } from "../domain-rules.ts";
import { readDomain, readDomainName } from "../domain-rules.ts";
import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty } from "../errors.ts";
import { BodyReader } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { listOrder } from "../list-order.ts";
import { listAnswer } from "../page.ts";
import type { Call, Route, Service } from "../route.ts";
import { accountOf, idParam } from "../route.ts";
import type { DomainRow } from "../rows.ts";
import { renderZone } from "../zone-render.ts";

const DOMAIN_FIELDS: FilterFields<DomainRow> = new Map([
  ["domain", { get: (domain) => domain.domain, foldCase: true }],
  ["group", { get: (domain) => domain.group }],
  ["tags", { get: (domain) => domain.tags, foldCase: true }],
  // To order by only.
  ["created", { get: (domain) => domain.created, filterable: false }],
  ["description", { get: (domain) => domain.description, filterable: false }],
  ["id", { get: (domain) => domain.id, filterable: false }],
  ["soa_email", { get: (domain) => domain.soa_email, filterable: false }],
  ["ttl_sec", { get: (domain) => domain.ttl_sec, filterable: false }],
  ["type", { get: (domain) => domain.type, filterable: false }],
  ["status", { get: (domain) => domain.status, filterable: false }],
  ["updated", { get: (domain) => domain.updated, filterable: false }],
]);

const READ = ["domains:read_only"];
const WRITE = ["domains:read_write"];
const ONE = "/domains/:domainId";

export const DOMAIN_ROUTES: readonly Route[] = [
  { operation: "Domains List", method: "GET", path: "/domains", scopes: READ, handle: listDomains },
  { operation: "Domain Create", method: "POST", path: "/domains", scopes: WRITE, handle: createDomain },
  { operation: "Domain View", method: "GET", path: ONE, scopes: READ, handle: viewDomain },
  { operation: "Domain Update", method: "PUT", path: ONE, scopes: WRITE, handle: updateDomain },
  { operation: "Domain Delete", method: "DELETE", path: ONE, scopes: WRITE, handle: deleteDomain },
  { operation: "Domain Clone", method: "POST", path: `${ONE}/clone`, scopes: WRITE, handle: cloneDomain },
  { operation: "Domain Zone File View", method: "GET", path: `${ONE}/zone-file`, scopes: READ, handle: viewZoneFile },
];

export function findDomain(service: Service, call: Call): DomainRow | undefined {
  const id = idParam(call, "domainId");
  const domain = id === null ? undefined : service.store.tables.domains.get(id);
  return domain?.account === accountOf(call) ? domain : undefined;
}

/** A name is taken on the whole platform, not only in one account (API.md, Domain). */
export function domainContext(service: Service): DomainContext {
  return {
    roundSeconds: service.settings.roundSeconds,
    isTaken: (domain) => service.store.tables.domains.group("name", domain.toLowerCase()).size > 0,
  };
}

/** The running service sends `errors` as well. */
export function domainView({ account: _, ...domain }: DomainRow): object {
  // A spread of what was just taken apart is several times slower, which a page of 500 shows.
  return Object.assign(domain, { errors: "" });
}

/** The service promises no order: nobody can come to rely on that of the ids. */
const byName = listOrder((a: DomainRow, b: DomainRow) => (a.domain < b.domain ? -1 : 1));

function listDomains(service: Service, call: Call): Answer {
  const rows = byName(service.store.tables.domains.list("account", accountOf(call)));
  return listAnswer(call, { rows, fields: DOMAIN_FIELDS, toWire: domainView });
}

function viewDomain(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  return domain === undefined ? NOT_FOUND : succeed(domainView(domain));
}

function createDomain(service: Service, call: Call): Answer {
  const { values, errors } = readDomain(call.body, null, domainContext(service));
  if (errors.length > 0) return badRequest(...errors);
  const created = service.clock.timestamp();
  const id = service.store.nextId("domain");
  const domain: DomainRow = { id, account: accountOf(call), ...values, created, updated: created };
  service.store.tables.domains.put(domain);
  service.zones.created(domain);
  return succeed(domainView(domain));
}

function updateDomain(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const { values, errors } = readDomain(call.body, domain, domainContext(service));
  if (errors.length > 0) return badRequest(...errors);
  const { id, account, created } = domain;
  const updated: DomainRow = { id, account, ...values, created, updated: service.clock.timestamp() };
  service.zones.changing(domain);
  service.store.tables.domains.put(updated);
  return succeed(domainView(updated));
}

function deleteDomain(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const { domains, records } = service.store.tables;
  for (const id of [...records.group("zone", domain.id).keys()]) records.delete(id);
  domains.delete(domain.id);
  service.zones.deleted(domain);
  return succeedEmpty();
}

function cloneDomain(service: Service, call: Call): Answer {
  const source = findDomain(service, call);
  if (source === undefined) return NOT_FOUND;
  const reader = new BodyReader(call.body);
  const name = readDomainName(reader, null, domainContext(service));
  if (name === undefined) return badRequest(...reader.errors);
  const { store, clock } = service;
  const created = clock.timestamp();
  const domain: DomainRow = { ...source, id: store.nextId("domain"), domain: name, created, updated: created };
  store.tables.domains.put(domain);
  for (const record of [...store.tables.records.group("zone", source.id).values()]) {
    store.tables.records.put({
      ...record,
      id: store.nextId("record"),
      domain_id: domain.id,
      created,
      updated: created,
    });
  }
  service.zones.created(domain);
  return succeed(domainView(domain));
}

function viewZoneFile(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const content = service.zones.shown(domain);
  return succeed({ zone_file: content === null ? [] : renderZone(content, service.settings.word) });
}
