/** A seed → rows of a new account. Labels and regions are taken as they are, so that a strange account can be had. */

import { attach } from "./attachments.ts";
import { readDomain } from "./domain-rules.ts";
import type { ApiError } from "./errors.ts";
import { readRecord } from "./record-rules.ts";
import type { Account } from "./route.ts";
import { domainContext } from "./routes/domains.ts";
import { PRIVATE_PREFIX, PUBLIC_PREFIX } from "./routes/images.ts";
import { recordContext } from "./routes/records.ts";
import type { DomainRow, GrantLevel, ImageRow } from "./rows.ts";
import type { Seed, SeedDomain, SeedGrants, SeedImage, SeedInterface, SeedVpc } from "./seed.ts";
import { SeedError } from "./seed.ts";
import type { Counted } from "./store.ts";
import { rangeProblem, rangesOverlap } from "./subnet-rules.ts";
import { subnetsOf } from "./vpc-view.ts";

export const DEFAULT_TOKEN = "emulator-token";
const DEFAULT_USERNAME = "emulator";
const DEFAULT_SOA_EMAIL = "hostmaster@example.com";
const LOOPBACK = "127.0.0.1";

/** @throws SeedError, with the place in the seed */
export function applySeed(account: Account, seed: Seed): void {
  reserveIds(account, seed);
  for (const [index, vpc] of (seed.vpcs ?? []).entries()) addVpc(account, vpc, `vpcs[${index}]`);
  for (const [index, domain] of (seed.domains ?? []).entries()) addDomain(account, domain, `domains[${index}]`);
  for (const disk of seed.disks ?? []) account.store.tables.disks.put(disk);
  for (const [index, image] of (seed.images ?? []).entries()) addImage(account, image, `images[${index}]`);
  addNodes(account, seed);
  addTokens(account, seed);
}

/** Before any id is given out, so that none given out is one that the seed names. */
function reserveIds(account: Account, seed: Seed): void {
  const reserve = (kind: Counted, id: number | undefined): void => {
    if (id !== undefined) account.store.reserveId(kind, id);
  };
  for (const vpc of seed.vpcs ?? []) {
    reserve("vpc", vpc.id);
    for (const subnet of vpc.subnets ?? []) reserve("subnet", subnet.id);
  }
  for (const domain of seed.domains ?? []) {
    reserve("domain", domain.id);
    for (const record of domain.records ?? []) reserve("record", record.id);
  }
  for (const image of seed.images ?? []) {
    const number = /^private\/(\d{1,9})$/.exec(image.id ?? "")?.[1];
    reserve("image", number === undefined ? undefined : Number(number));
  }
  for (const node of seed.nodes ?? []) {
    reserve("node", node.id);
    for (const { id, config_id } of node.interfaces ?? []) {
      reserve("interface", id);
      reserve("config", config_id);
    }
  }
}

function addVpc(account: Account, seed: SeedVpc, place: string): void {
  const { store, clock } = account;
  const created = clock.timestamp();
  const id = unused(seed.id ?? store.nextId("vpc"), store.tables.vpcs, place);
  const { label, region, description = "", subnets = [] } = seed;
  store.tables.vpcs.put({ id, label, description, region, created, updated: created });
  for (const [index, subnet] of subnets.entries()) {
    const where = `${place}.subnets[${index}]`;
    const problem = rangeProblem(subnet.ipv4);
    if (problem !== null) throw new SeedError(`${where}.ipv4: ${problem}`);
    if (subnetsOf(store.tables, id).some((other) => rangesOverlap(other.ipv4, subnet.ipv4))) {
      throw new SeedError(`${where}.ipv4: overlaps with another subnet of this VPC`);
    }
    const subnetId = unused(subnet.id ?? store.nextId("subnet"), store.tables.subnets, where);
    const { label: subnetLabel, ipv4 } = subnet;
    store.tables.subnets.put({ id: subnetId, vpc_id: id, label: subnetLabel, ipv4, created, updated: created });
  }
}

function unused<Id extends number | string>(id: Id, table: { get(id: NoInfer<Id>): unknown }, place: string): Id {
  if (table.get(id) !== undefined) throw new SeedError(`${place}.id: ${id} is there twice`);
  return id;
}

function addDomain(account: Account, seed: SeedDomain, place: string): void {
  const { store, clock } = account;
  const created = clock.timestamp();
  const { id: seedId, records = [], ...fields } = seed;
  const type = seed.type ?? "master";
  const body = { type, ...(type === "master" ? { soa_email: DEFAULT_SOA_EMAIL } : {}), ...fields };
  const { values, errors } = readDomain(body, null, domainContext(account));
  if (errors.length > 0) throw refused(place, errors);
  const id = unused(seedId ?? store.nextId("domain"), store.tables.domains, place);
  const domain: DomainRow = { id, ...values, created, updated: created };
  store.tables.domains.put(domain);
  for (const [index, { id: recordId, ...record }] of records.entries()) {
    const where = `${place}.records[${index}]`;
    const reading = readRecord(record, null, recordContext(account, domain, null, LOOPBACK));
    if (reading.values === null) throw refused(where, reading.errors);
    const newId = unused(recordId ?? store.nextId("record"), store.tables.records, where);
    store.tables.records.put({ id: newId, domain_id: id, ...reading.values, created, updated: created });
  }
}

function refused(place: string, errors: readonly ApiError[]): SeedError {
  return new SeedError(
    errors.map(({ field, reason }) => `${place}${field === undefined ? "" : `.${field}`}: ${reason}`).join("\n"),
  );
}

function addImage(account: Account, seed: SeedImage, place: string): void {
  const { store, clock } = account;
  const isPublic = seed.is_public ?? seed.id?.startsWith(PUBLIC_PREFIX) ?? false;
  const prefix = isPublic ? PUBLIC_PREFIX : PRIVATE_PREFIX;
  const id = unused(seed.id ?? prefix + store.nextId("image"), store.tables.images, place);
  if (!id.startsWith(prefix)) throw new SeedError(`${place}.id: must begin with ${prefix}`);
  const created = seed.created ?? clock.timestamp();
  const status = seed.status ?? "available";
  const size = seed.size ?? 1_024;
  const image: ImageRow = {
    id,
    label: seed.label,
    description: seed.description ?? null,
    status,
    type: seed.type ?? "manual",
    is_public: isPublic,
    created_by: isPublic ? "node" : DEFAULT_USERNAME,
    created,
    updated: created,
    expiry: seed.expiry ?? null,
    eol: seed.eol ?? null,
    deprecated: seed.deprecated ?? false,
    size: status === "pending_upload" ? 0 : size,
    vendor: seed.vendor ?? null,
    capabilities: seed.capabilities ?? [],
    final_size: size,
    upload: status === "pending_upload" ? { signature: `seed-${id}`, received: false } : null,
  };
  store.tables.images.put(image);
}

function addNodes(account: Account, seed: Seed): void {
  const { store } = account;
  for (const [index, node] of (seed.nodes ?? []).entries()) {
    const node_id = node.id ?? store.nextId("node");
    for (const [position, entry] of (node.interfaces ?? []).entries()) {
      const place = `nodes[${index}].interfaces[${position}]`;
      const subnet_id = findSubnet(account, entry, place);
      const interface_id = unused(entry.id ?? store.nextId("interface"), store.tables.interfaces, place);
      const config_id = entry.config_id ?? store.nextId("config");
      const attachment = { subnet_id, node_id, interface_id, active: entry.active ?? true, config_id };
      const { address } = entry;
      const problem = attach(store, address === undefined ? attachment : { ...attachment, address });
      if (problem !== null) throw new SeedError(`${place}: ${problem}`);
    }
  }
}

function findSubnet(account: Account, seed: SeedInterface, place: string): number {
  if (seed.subnet_id !== undefined) return seed.subnet_id;
  const { tables } = account.store;
  for (const subnet of tables.subnets.all()) {
    if (`${tables.vpcs.get(subnet.vpc_id)?.label}/${subnet.label}` === seed.subnet) return subnet.id;
  }
  throw new SeedError(`${place}: subnet must be VPC-LABEL/SUBNET-LABEL of this seed, or give subnet_id`);
}

function addTokens(account: Account, seed: Seed): void {
  const tokens = seed.tokens ?? [{ token: DEFAULT_TOKEN }];
  const word = account.settings.word;
  for (const [index, { token, username, scopes = ["*"], grants }] of tokens.entries()) {
    const place = `tokens[${index}]`;
    account.store.tables.tokens.put({
      id: unused(token, account.store.tables.tokens, place),
      username: username ?? DEFAULT_USERNAME,
      // Scopes may be written in the operator's words; inside they are API.md's.
      scopes: scopes.map((scope) => (scope.startsWith(`${word}s:`) ? `nodes:${scope.slice(word.length + 2)}` : scope)),
      grants: grants === undefined ? null : resolveGrants(account, grants, place),
    });
  }
}

function resolveGrants(account: Account, grants: SeedGrants, place: string) {
  const { vpcs, images } = account.store.tables;
  return {
    add_vpc: grants.add_vpc ?? false,
    vpcs: byId(grants.vpcs ?? {}, vpcs.all(), `${place}.grants.vpcs`),
    images: byId(grants.images ?? {}, images.all(), `${place}.grants.images`),
  };
}

/** A key is an id, or a label, which then stands for every object that has it. */
function byId(
  levels: Readonly<Record<string, GrantLevel>>,
  objects: Iterable<{ readonly id: number | string; readonly label: string }>,
  place: string,
): Record<string, GrantLevel> {
  const named = [...objects];
  const entries = Object.entries(levels).flatMap(([key, level]) => {
    const found = named.filter(({ id, label }) => String(id) === key || label === key);
    if (found.length === 0) throw new SeedError(`${place}: there is no ${key}`);
    return found.map(({ id }) => [String(id), level] as const);
  });
  return Object.fromEntries(entries);
}
