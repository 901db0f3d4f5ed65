/** A seed → the accounts of a new emulator. */

import { domainContext, readDomain } from "./domains.ts";
import type { ApiError } from "./errors.ts";
import { PRIVATE_PREFIX, PUBLIC_PREFIX } from "./images.ts";
import {
  type AccountSeed,
  type Seed,
  type SeedDomain,
  SeedError,
  type SeedGrants,
  type SeedImage,
  type SeedInterface,
  type SeedNode,
  type SeedReply,
  type SeedTicket,
  type SeedToken,
  type SeedVpc,
} from "./options.ts";
import { readRecord } from "./record-rules.ts";
import { recordContext } from "./records.ts";
import type { Service } from "./route.ts";
import {
  type Counted,
  type DomainRow,
  type GrantLevel,
  type Grants,
  type ImageRow,
  MAIN_ACCOUNT,
  type ReplyRow,
  type TicketEntity,
  type TicketRow,
} from "./store.ts";
import { rangeProblem, SubnetNeighbours } from "./subnet-rules.ts";
import { labelOfEntity } from "./tickets.ts";
import { attach, subnetsOf } from "./vpcs.ts";

const DEFAULT_TOKEN = "emulator-token";

/** @throws SeedError, with the place in the seed */
export function applySeed(service: Service, seed: Seed): void {
  const others = Object.entries(seed.other_accounts ?? {});
  if (others.some(([name]) => name === MAIN_ACCOUNT)) {
    throw new SeedError(`other_accounts: ${MAIN_ACCOUNT} is the name of the account that the seed itself describes`);
  }
  for (const part of [seed, ...others.map(([, other]) => other)]) reserveIds(service, part);
  addAccount({ service, account: MAIN_ACCOUNT, place: "" }, { tokens: [{ token: DEFAULT_TOKEN }], ...seed });
  for (const [account, other] of others) addAccount({ service, account, place: `other_accounts.${account}.` }, other);
}

function addAccount(into: SeedTarget, seed: AccountSeed): void {
  addObjects(into, seed);
  addTickets(into, seed.tickets ?? []);
  addTokens(into, seed.tokens ?? []);
}

/** Before any id is given out, so that none given out is one that the seed names. */
function reserveIds(service: Service, seed: AccountSeed): void {
  const reserve = (kind: Counted, id: number | undefined): void => {
    if (id !== undefined) service.store.reserveId(kind, id);
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
  for (const ticket of seed.tickets ?? []) {
    reserve("ticket", ticket.id);
    for (const reply of ticket.replies ?? []) reserve("reply", reply.id);
  }
  for (const node of seed.nodes ?? []) {
    reserve("node", node.id);
    for (const { id, config_id } of node.interfaces ?? []) {
      reserve("interface", id);
      reserve("config", config_id);
    }
  }
}

// The support tickets of a seed and the replies to them.

/** The operator's author of replies, unless the seed names another. */
const OPERATOR_USERNAME = "support";

/** The octets of a file that a seed names; no answer shows them. */
const SEEDED_FILE_BYTES = 1;

/** After the account's other objects, which a ticket may be about. @throws SeedError, with the place in the seed */
function addTickets(into: SeedTarget, tickets: readonly SeedTicket[]): void {
  for (const [index, ticket] of tickets.entries()) addTicket(into, ticket, `${into.place}tickets[${index}]`);
}

function addTicket(into: SeedTarget, seed: SeedTicket, place: string): void {
  const { account, service } = into;
  const { store, clock } = service;
  const opened = clock.timestamp();
  const id = unused(seed.id ?? store.nextId("ticket"), store.tables.tickets, place);
  const replies = (seed.replies ?? []).map((reply, index) => addReply(into, id, reply, `${place}.replies[${index}]`));
  const status = seed.status ?? (replies.length > 0 ? "open" : "new");
  if (status === "new" && replies.length > 0) throw new SeedError(`${place}.status: a ticket with replies is not new`);
  const ticket: TicketRow = {
    id,
    account,
    summary: seed.summary,
    description: seed.description,
    status,
    closable: status !== "closed" && (seed.closable ?? true),
    opened,
    opened_by: seed.opened_by ?? DEFAULT_USERNAME,
    updated: opened,
    updated_by: replies.at(-1)?.created_by ?? null,
    closed: status === "closed" ? opened : null,
    attachments: (seed.attachments ?? []).map((name) => ({ name, size: SEEDED_FILE_BYTES })),
    entity: entityOf(into, seed),
  };
  store.tables.tickets.put(ticket);
}

function entityOf({ service, account }: SeedTarget, { entity }: SeedTicket): TicketEntity | null {
  if (entity === undefined) return null;
  const { type, id } = entity;
  return { kind: type, id, label: entity.label ?? labelOfEntity(service.store.tables, account, type, id) ?? "" };
}

function addReply({ service }: SeedTarget, ticket_id: number, seed: SeedReply, place: string): ReplyRow {
  const { store, clock } = service;
  const from_linode = seed.from_linode ?? false;
  const reply: ReplyRow = {
    id: unused(seed.id ?? store.nextId("reply"), store.tables.replies, place),
    ticket_id,
    created: clock.timestamp(),
    created_by: seed.created_by ?? (from_linode ? OPERATOR_USERNAME : DEFAULT_USERNAME),
    description: seed.description,
    from_linode,
  };
  store.tables.replies.put(reply);
  return reply;
}

// The tokens of a seed: scopes and grants, by the labels or ids of what the account holds.

/** @throws SeedError, with the place in the seed */
function addTokens({ service, account, place: where }: SeedTarget, tokens: readonly SeedToken[]): void {
  const word = service.settings.word;
  for (const [index, { token, username, scopes = ["*"], grants }] of tokens.entries()) {
    const place = `${where}tokens[${index}]`;
    service.store.tables.tokens.put({
      id: unused(token, service.store.tables.tokens, place),
      account,
      username: username ?? DEFAULT_USERNAME,
      // Scopes may be written in the operator's words; inside they are API.md's.
      scopes: scopes.map((scope) => (scope.startsWith(`${word}s:`) ? `nodes:${scope.slice(word.length + 2)}` : scope)),
      grants: grants === undefined ? null : resolveGrants(service, account, grants, place),
    });
  }
}

function resolveGrants(service: Service, account: string, grants: SeedGrants, place: string): Grants {
  const { vpcs, images } = service.store.tables;
  const own = [...images.all()].filter((image) => image.account === account);
  return {
    add_vpc: grants.add_vpc ?? false,
    vpcs: byId(grants.vpcs ?? {}, vpcs.group("account", account).values(), `${place}.grants.vpcs`),
    images: byId(grants.images ?? {}, own, `${place}.grants.images`),
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

// The seed of one account → its rows. Labels and regions are taken as they are, so that a strange account can be made.

const DEFAULT_USERNAME = "emulator";
const DEFAULT_SOA_EMAIL = "hostmaster@example.com";
const LOOPBACK = "127.0.0.1";

/** Where a part of a seed goes. */
interface SeedTarget {
  readonly service: Service;
  readonly account: string;
  /** Where the part is in the seed, for errors: `""`, or `other_accounts.NAME.`. */
  readonly place: string;
}

/** @throws SeedError, with the place in the seed */
function addObjects(into: SeedTarget, seed: AccountSeed): void {
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

function unused<Id extends number | string>(id: Id, table: { get(id: NoInfer<Id>): unknown }, place: string): Id {
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
