/** The domains of API.md: list, create, view, update, delete, clone, zone file. */

import type { DomainContext } from "../domain-rules.ts";
import { readDomain, readDomainName } from "../domain-rules.ts";
import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty } from "../errors.ts";
import { BodyReader } from "../fields.ts";
import type { FilterFields } from "../filter.ts";
import { listAnswer } from "../page.ts";
import type { Account, Call, Route } from "../route.ts";
import { idParam } from "../route.ts";
import type { DomainRow } from "../rows.ts";
import { renderZone } from "../zone-render.ts";

const DOMAIN_FIELDS: FilterFields<DomainRow> = new Map([
  ["domain", { get: (domain) => domain.domain, foldCase: true }],
  ["group", { get: (domain) => domain.group }],
  ["tags", { get: (domain) => domain.tags, foldCase: true }],
]);

export function domainRoutes(account: Account): Route[] {
  const read = ["domains:read_only"];
  const write = ["domains:read_write"];
  const one = "/domains/:domainId";
  return [
    { method: "GET", path: "/domains", scopes: read, handle: (call) => listDomains(account, call) },
    { method: "POST", path: "/domains", scopes: write, handle: (call) => createDomain(account, call) },
    { method: "GET", path: one, scopes: read, handle: (call) => viewDomain(account, call) },
    { method: "PUT", path: one, scopes: write, handle: (call) => updateDomain(account, call) },
    { method: "DELETE", path: one, scopes: write, handle: (call) => deleteDomain(account, call) },
    { method: "POST", path: `${one}/clone`, scopes: write, handle: (call) => cloneDomain(account, call) },
    { method: "GET", path: `${one}/zone-file`, scopes: read, handle: (call) => viewZoneFile(account, call) },
  ];
}

export function findDomain(account: Account, call: Call): DomainRow | undefined {
  const id = idParam(call, "domainId");
  return id === null ? undefined : account.store.tables.domains.get(id);
}

export function domainContext(account: Account): DomainContext {
  return {
    roundSeconds: account.settings.roundSeconds,
    isTaken: (domain) => account.store.tables.domains.group("name", domain.toLowerCase()).size > 0,
  };
}

/** The running service sends `errors` as well. */
function view(domain: DomainRow): object {
  return { ...domain, errors: [] };
}

/** By name: the service promises no order, so that nobody can come to rely on that of the ids. */
function listDomains(account: Account, call: Call): Answer {
  const rows = [...account.store.tables.domains.all()].sort((a, b) => (a.domain < b.domain ? -1 : 1));
  return listAnswer(call, { rows, fields: DOMAIN_FIELDS, toWire: view });
}

function viewDomain(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  return domain === undefined ? NOT_FOUND : succeed(view(domain));
}

function createDomain(account: Account, call: Call): Answer {
  const { values, errors } = readDomain(call.body, null, domainContext(account));
  if (errors.length > 0) return badRequest(...errors);
  const created = account.clock.timestamp();
  const domain: DomainRow = { id: account.store.nextId("domain"), ...values, created, updated: created };
  account.store.tables.domains.put(domain);
  return succeed(view(domain));
}

function updateDomain(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  if (domain === undefined) return NOT_FOUND;
  const { values, errors } = readDomain(call.body, domain, domainContext(account));
  if (errors.length > 0) return badRequest(...errors);
  const { id, created } = domain;
  const updated: DomainRow = { id, ...values, created, updated: account.clock.timestamp() };
  account.store.tables.domains.put(updated);
  return succeed(view(updated));
}

function deleteDomain(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  if (domain === undefined) return NOT_FOUND;
  const { domains, records } = account.store.tables;
  for (const id of [...records.group("zone", domain.id).keys()]) records.delete(id);
  domains.delete(domain.id);
  return succeedEmpty();
}

function cloneDomain(account: Account, call: Call): Answer {
  const source = findDomain(account, call);
  if (source === undefined) return NOT_FOUND;
  const reader = new BodyReader(call.body);
  const name = readDomainName(reader, null, domainContext(account));
  if (name === undefined) return badRequest(...reader.errors);
  const { store, clock } = account;
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
  return succeed(view(domain));
}

function viewZoneFile(account: Account, call: Call): Answer {
  const domain = findDomain(account, call);
  if (domain === undefined) return NOT_FOUND;
  const records = [...account.store.tables.records.group("zone", domain.id).values()];
  return succeed({ zone_file: renderZone(domain, records, account.settings.word) });
}
