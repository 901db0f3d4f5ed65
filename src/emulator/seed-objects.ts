/** What a seed says of one account → its rows. Labels and regions are taken as they are, so that a strange account can be had. */

import { attach } from "./attachments.ts";
import { readDomain } from "./domain-rules.ts";
import type { ApiError } from "./errors.ts";
import { readRecord } from "./record-rules.ts";
import type { Service } from "./route.ts";
import { domainContext } from "./routes/domains.ts";
import { PRIVATE_PREFIX, PUBLIC_PREFIX } from "./routes/images.ts";
import { recordContext } from "./routes/records.ts";
import type { DomainRow, ImageRow } from "./rows.ts";
import type { AccountSeed, SeedDomain, SeedImage, SeedInterface, SeedNode, SeedVpc } from "./seed.ts";
import { SeedError } from "./seed.ts";
import { SubnetNeighbours } from "./subnet-neighbours.ts";
import { rangeProblem } from "./subnet-rules.ts";
import { subnetsOf } from "./vpc-view.ts";

export const DEFAULT_USERNAME = "emulator";
const DEFAULT_SOA_EMAIL = "hostmaster@example.com";
const LOOPBACK = "127.0.0.1";

/** Where a part of a seed goes. */
export interface SeedTarget {
  readonly service: Service;
  readonly account: string;
  /** Where the part is in the seed, for errors: `""`, or `other_accounts.NAME.`. */
  readonly place: string;
}

/** @throws SeedError, with the place in the seed */
export function addObjects(into: SeedTarget, seed: AccountSeed): void {
  const { tables } = into.service.store;
  for (const [index, vpc] of (seed.vpcs ?? []).entries()) addVpc(into, vpc, `${into.place}vpcs[${index}]`);
  for (const [index, domain] of (seed.domains ?? []).entries())
    addDomain(into, domain, `${into.place}domains[${index}]`);
  for (const [index, disk] of (seed.disks ?? []).entries()) {
    unused(disk.id, tables.disks, `${into.place}disks[${index}]`);
    tables.disks.put({ ...disk, account: into.account });
  }
  for (const [index, image] of (seed.images ?? []).entries()) addImage(into, image, `${into.place}images[${index}]`);
  addNodes(into, seed.nodes ?? []);
}

function addVpc(into: SeedTarget, seed: SeedVpc, place: string): void {
  const { account, service } = into;
  const { store, clock } = service;
  const created = clock.timestamp();
  const id = unused(seed.id ?? store.nextId("vpc"), store.tables.vpcs, place);
  const { label, region, description = "", subnets = [] } = seed;
  store.tables.vpcs.put({ id, account, label, description, region, created, updated: created });
  const neighbours = new SubnetNeighbours();
  for (const [index, subnet] of subnets.entries()) {
    const where = `${place}.subnets[${index}]`;
    const problem = rangeProblem(subnet.ipv4);
    if (problem !== null) throw new SeedError(`${where}.ipv4: ${problem}`);
    if (neighbours.overlaps(subnet.ipv4)) {
      throw new SeedError(`${where}.ipv4: overlaps with another subnet of this VPC`);
    }
    neighbours.add(subnet);
    const subnetId = unused(subnet.id ?? store.nextId("subnet"), store.tables.subnets, where);
    const { label: subnetLabel, ipv4 } = subnet;
    store.tables.subnets.put({ id: subnetId, vpc_id: id, label: subnetLabel, ipv4, created, updated: created });
  }
}

export function unused<Id extends number | string>(
  id: Id,
  table: { get(id: NoInfer<Id>): unknown },
  place: string,
): Id {
  if (table.get(id) !== undefined) throw new SeedError(`${place}.id: ${id} is there twice`);
  return id;
}

function addDomain(into: SeedTarget, seed: SeedDomain, place: string): void {
  const { account, service } = into;
  const { store, clock } = service;
  const created = clock.timestamp();
  const { id: seedId, records = [], ...fields } = seed;
  const type = seed.type ?? "master";
  const body = { type, ...(type === "master" ? { soa_email: DEFAULT_SOA_EMAIL } : {}), ...fields };
  const { values, errors } = readDomain(body, null, domainContext(service));
  if (errors.length > 0) throw refused(place, errors);
  const id = unused(seedId ?? store.nextId("domain"), store.tables.domains, place);
  const domain: DomainRow = { id, account, ...values, created, updated: created };
  store.tables.domains.put(domain);
  for (const [index, { id: recordId, ...record }] of records.entries()) {
    const where = `${place}.records[${index}]`;
    const reading = readRecord(record, null, recordContext(service, domain, null, LOOPBACK));
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

function addImage(into: SeedTarget, seed: SeedImage, place: string): void {
  const { account, service } = into;
  const { store, clock } = service;
  const isPublic = seed.is_public ?? seed.id?.startsWith(PUBLIC_PREFIX) ?? false;
  const prefix = isPublic ? PUBLIC_PREFIX : PRIVATE_PREFIX;
  const id = unused(seed.id ?? prefix + store.nextId("image"), store.tables.images, place);
  if (!id.startsWith(prefix)) throw new SeedError(`${place}.id: must begin with ${prefix}`);
  const created = seed.created ?? clock.timestamp();
  const status = seed.status ?? "available";
  const size = seed.size ?? 1_024;
  const image: ImageRow = {
    id,
    account: isPublic ? null : account,
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
    upload: status === "pending_upload" ? { signature: `seed-${id}`, received_at: null } : null,
  };
  store.tables.images.put(image);
}

function addNodes(into: SeedTarget, nodes: readonly SeedNode[]): void {
  const { store } = into.service;
  for (const [index, node] of nodes.entries()) {
    const node_id = node.id ?? store.nextId("node");
    for (const [position, entry] of (node.interfaces ?? []).entries()) {
      const place = `${into.place}nodes[${index}].interfaces[${position}]`;
      const subnet_id = findSubnet(into, entry, place);
      const interface_id = unused(entry.id ?? store.nextId("interface"), store.tables.interfaces, place);
      const config_id = entry.config_id ?? store.nextId("config");
      const { address, nat_1_1 = "", address_ranges = [], active = true } = entry;
      const attachment = { subnet_id, node_id, interface_id, active, config_id, nat_1_1, address_ranges };
      const problem = attach(store, address === undefined ? attachment : { ...attachment, address });
      if (problem !== null) throw refused(place, [problem]);
    }
  }
}

function findSubnet(into: SeedTarget, seed: SeedInterface, place: string): number {
  if (seed.subnet_id !== undefined) return seed.subnet_id;
  const { tables } = into.service.store;
  for (const vpc of tables.vpcs.group("account", into.account).values()) {
    for (const subnet of subnetsOf(tables, vpc.id)) {
      if (`${vpc.label}/${subnet.label}` === seed.subnet) return subnet.id;
    }
  }
  throw new SeedError(`${place}: subnet must be VPC-LABEL/SUBNET-LABEL of this seed, or give subnet_id`);
}
