/** The state of all accounts: its tables, and the changes that are not yet written down. */

import type { WireDomain, WireImage, WireRecord, WireReply, WireTicket } from "../api/wire.ts";

/** One row put, or deleted when the row is null. Replaying changes in order gives the state; doing so twice does no harm. */
export type StoreChange = readonly [table: TableName, id: RowId, row: Identified | null];

export interface Tables {
  readonly settings: Table<SettingRow>;
  readonly tokens: Table<TokenRow>;
  readonly vpcs: Table<VpcRow, "account" | "label">;
  readonly subnets: Table<SubnetRow, "vpc">;
  readonly interfaces: Table<InterfaceRow, "subnet">;
  readonly domains: Table<DomainRow, "account" | "name">;
  readonly records: Table<RecordRow, "zone" | "name">;
  readonly disks: Table<DiskRow>;
  readonly images: Table<ImageRow, "status" | "type">;
  readonly tickets: Table<TicketRow, "account">;
  readonly replies: Table<ReplyRow, "ticket">;
}

export type TableName = keyof Tables;

/** The greatest id that a seed or a caller may choose: far from where numbers are no longer exact. */
export const MAX_CHOSEN_ID = 1_000_000_000;

/** Each kind's first id: far apart, so that an id used for the wrong kind is not found. */
const FIRST_IDS = {
  vpc: 101,
  subnet: 2_001,
  interface: 5_001,
  node: 7_001,
  config: 9_001,
  domain: 30_001,
  record: 400_001,
  image: 5_000_001,
  ticket: 20_000_001,
  reply: 80_000_001,
} as const;

export type Counted = keyof typeof FIRST_IDS;

export class Store {
  readonly tables: Tables;
  /** null: changes are not recorded, because nothing would ever take them. */
  #pending: StoreChange[] | null = null;

  constructor() {
    const listen =
      (table: TableName): ChangeListener =>
      (id, row) => {
        this.#pending?.push([table, id, row]);
      };
    this.tables = createTables(listen);
  }

  /** An id that was never given out before, not even to an object that was deleted since. */
  nextId(kind: Counted): number {
    const id = this.tables.settings.get(kind)?.value ?? FIRST_IDS[kind];
    this.tables.settings.put({ id: kind, value: id + 1 });
    return id;
  }

  /** Makes sure that `nextId` never gives an id which a seed or a caller chose. */
  reserveId(kind: Counted, id: number): void {
    const next = this.tables.settings.get(kind)?.value ?? FIRST_IDS[kind];
    if (id >= next) this.tables.settings.put({ id: kind, value: id + 1 });
  }

  /** Begins to keep changes for `takeChanges`, which must then be called. */
  keepChanges(): void {
    this.#pending ??= [];
  }

  /** The changes since the last call; none if they are not kept. */
  takeChanges(): readonly StoreChange[] {
    const changes = this.#pending ?? [];
    if (changes.length > 0) this.#pending = [];
    return changes;
  }

  /** Replays what `takeChanges` or `allRows` gave, before changes are kept. */
  apply(changes: readonly StoreChange[]): void {
    for (const [name, id, row] of changes) {
      const table = this.tables[name] as unknown as Table<Identified>;
      if (row === null) table.delete(id);
      else table.put(row);
    }
  }

  /** How many rows there are in all tables. */
  get size(): number {
    return Object.values(this.tables).reduce((sum, table) => sum + table.size, 0);
  }

  /** The whole state as changes that make it out of nothing. */
  *allRows(): Generator<StoreChange> {
    for (const name of Object.keys(this.tables) as TableName[]) {
      for (const row of this.tables[name].all()) yield [name, row.id, row];
    }
  }
}

function createTables(listen: (table: TableName) => ChangeListener): Tables {
  return {
    settings: new Table({}, listen("settings")),
    tokens: new Table({}, listen("tokens")),
    vpcs: new Table({ account: (vpc) => vpc.account, label: (vpc) => vpcLabelKey(vpc) }, listen("vpcs")),
    subnets: new Table({ vpc: (subnet) => subnet.vpc_id }, listen("subnets")),
    interfaces: new Table({ subnet: (row) => row.subnet_id }, listen("interfaces")),
    domains: new Table(
      { account: (domain) => domain.account, name: (domain) => domain.domain.toLowerCase() },
      listen("domains"),
    ),
    records: new Table(
      { zone: (record) => record.domain_id, name: (record) => recordNameKey(record.domain_id, record.name) },
      listen("records"),
    ),
    disks: new Table({}, listen("disks")),
    images: new Table({ status: (image) => image.status, type: (image) => image.type }, listen("images")),
    tickets: new Table({ account: (ticket) => ticket.account }, listen("tickets")),
    replies: new Table({ ticket: (reply) => reply.ticket_id }, listen("replies")),
  };
}

/** The key of the group of all VPCs of an account that share a label. */
export function vpcLabelKey({ account, label }: Pick<VpcRow, "account" | "label">): string {
  return JSON.stringify([account, label]);
}

/** The key of the group of all records that share a name; names compare without letter case (RFC 4343). */
export function recordNameKey(domainId: number, name: string): string {
  return `${domainId}/${name.toLowerCase()}`;
}

// A table: rows by id, and groups of rows by what they have in common.

type RowId = number | string;

export interface Identified {
  readonly id: RowId;
}

/** Called after each change; `row` is null when it was deleted. */
type ChangeListener = (id: RowId, row: Identified | null) => void;

/** Says which group of an index a row is in; null: none. */
type Grouping<Row> = (row: Row) => RowId | null;

/** A row that is alone is not worth a Map: most names have one record, and there may be a million of them. */
type Group<Row> = Row | Map<RowId, Row>;

class GroupIndex<Row extends Identified> {
  readonly keyOf: Grouping<Row>;
  readonly #groups = new Map<RowId, Group<Row>>();
  /** Groups that were listed and have not changed since. */
  readonly #lists = new Map<RowId, readonly Row[]>();

  constructor(keyOf: Grouping<Row>) {
    this.keyOf = keyOf;
  }

  rows(key: RowId): ReadonlyMap<RowId, Row> {
    const group = this.#groups.get(key);
    if (group instanceof Map) return group;
    return new Map(group === undefined ? [] : [[group.id, group]]);
  }

  list(key: RowId): readonly Row[] {
    const listed = this.#lists.get(key);
    if (listed !== undefined) return listed;
    const rows = [...this.rows(key).values()];
    if (rows.length > 0) this.#lists.set(key, rows);
    return rows;
  }

  enter(key: RowId, row: Row): void {
    this.#lists.delete(key);
    const group = this.#groups.get(key);
    if (group instanceof Map) group.set(row.id, row);
    else if (group === undefined || group.id === row.id) this.#groups.set(key, row);
    else this.#groups.set(key, new Map([group, row].map((each) => [each.id, each])));
  }

  leave(key: RowId, id: RowId): void {
    this.#lists.delete(key);
    const group = this.#groups.get(key);
    if (group instanceof Map) group.delete(id);
    if (!(group instanceof Map) || group.size === 0) this.#groups.delete(key);
  }
}

export class Table<Row extends Identified, Index extends string = never> {
  readonly #rows = new Map<RowId, Row>();
  readonly #indexes: ReadonlyMap<Index, GroupIndex<Row>>;
  readonly #changed: ChangeListener;

  constructor(groupings: Readonly<Record<Index, Grouping<Row>>>, changed: ChangeListener) {
    const entries = Object.entries(groupings) as [Index, Grouping<Row>][];
    this.#indexes = new Map(entries.map(([index, keyOf]) => [index, new GroupIndex(keyOf)]));
    this.#changed = changed;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: RowId): Row | undefined {
    return this.#rows.get(id);
  }

  /** In the order in which they came. */
  all(): IterableIterator<Row> {
    return this.#rows.values();
  }

  /** The rows of one group of an index, in the order in which they came into it. */
  group(index: Index, key: RowId): ReadonlyMap<RowId, Row> {
    return this.#index(index).rows(key);
  }

  /** The same as an array: the very same one each time, until the group changes. */
  list(index: Index, key: RowId): readonly Row[] {
    return this.#index(index).list(key);
  }

  put(row: Row): void {
    const before = this.#rows.get(row.id);
    this.#rows.set(row.id, row);
    for (const index of this.#indexes.values()) {
      const key = index.keyOf(row);
      const keyBefore = before === undefined ? null : index.keyOf(before);
      if (keyBefore !== null && keyBefore !== key) index.leave(keyBefore, row.id);
      if (key !== null) index.enter(key, row);
    }
    this.#changed(row.id, row);
  }

  delete(id: RowId): void {
    const before = this.#rows.get(id);
    if (before === undefined) return;
    this.#rows.delete(id);
    for (const index of this.#indexes.values()) {
      const key = index.keyOf(before);
      if (key !== null) index.leave(key, id);
    }
    this.#changed(id, null);
  }

  #index(name: Index): GroupIndex<Row> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`There is no index ${name}`);
    return index;
  }
}

// What the emulator keeps: one row type per table, plain JSON, replaced as a whole and never changed in place. `account` is whose it is.

/** Whose everything is unless a seed says otherwise. */
export const MAIN_ACCOUNT = "main";

export interface VpcRow {
  readonly id: number;
  readonly account: string;
  readonly label: string;
  readonly description: string;
  readonly region: string;
  readonly created: string;
  readonly updated: string;
}

export interface SubnetRow {
  readonly id: number;
  readonly vpc_id: number;
  readonly label: string;
  readonly ipv4: string;
  readonly created: string;
  readonly updated: string;
}

/** A configuration profile's VPC interface: made outside API.md, so through `/_emulator/attach` or a seed. */
export interface InterfaceRow {
  readonly id: number;
  readonly subnet_id: number;
  readonly node_id: number;
  readonly config_id: number;
  readonly active: boolean;
  readonly address: string | null;
  /** This and the ranges are absent where a data file is of an earlier version. */
  readonly nat_1_1?: string;
  readonly address_ranges?: readonly string[];
}

export interface DomainRow extends WireDomain {
  readonly account: string;
}

interface RecordTypeRules {
  readonly target: "ipv4" | "ipv6" | "name" | "text" | "value";
  /** The fields of the data before the target; `tag` with flags before it, which are 0. */
  readonly values: readonly ("priority" | "weight" | "port" | "tag")[];
  /** Fields that a create must send, beside the target. */
  readonly required: readonly ("service" | "priority" | "weight" | "port" | "tag")[];
  /** A lone dot as target says that there is no such service (RFC 7505; RFC 2782). */
  readonly takesRoot?: true;
}

/** API.md: Domain record, type. */
const TYPES = {
  A: { target: "ipv4", values: [], required: [] },
  AAAA: { target: "ipv6", values: [], required: [] },
  NS: { target: "name", values: [], required: [] },
  MX: { target: "name", values: ["priority"], required: [], takesRoot: true },
  CNAME: { target: "name", values: [], required: [] },
  TXT: { target: "text", values: [], required: [] },
  SRV: {
    target: "name",
    values: ["priority", "weight", "port"],
    required: ["service", "priority", "weight", "port"],
    takesRoot: true,
  },
  PTR: { target: "name", values: [], required: [] },
  CAA: { target: "value", values: ["tag"], required: ["tag"] },
} as const;

export type RecordType = keyof typeof TYPES;

export const RECORD_RULES: Readonly<Record<RecordType, RecordTypeRules>> = TYPES;

export const RECORD_TYPES: readonly RecordType[] = Object.keys(TYPES) as RecordType[];

export interface RecordRow extends WireRecord<RecordType> {
  readonly domain_id: number;
}

/** `id` is in API.md's words (`node/…`, `private/…`); the dialect's word is put in when it is shown. */
export interface ImageRow extends WireImage {
  /** null: the operator's, a public image. */
  readonly account: string | null;
  /** In MB, once it is available. */
  readonly final_size: number;
  /** `received_at`: when all of its data was there. */
  readonly upload: { readonly signature: string; readonly received_at: string | null } | null;
}

/** What a ticket is about, as `entity` has it, with its kind in API.md's word. */
export interface TicketEntity {
  readonly kind: EntityKind;
  readonly id: number;
  /** As it was when the ticket was opened. */
  readonly label: string;
}

export type EntityKind =
  | "database"
  | "domain"
  | "firewall"
  | "node"
  | "lkecluster"
  | "longviewclient"
  | "nodebalancer"
  | "volume"
  | "vpc";

export interface TicketRow extends Omit<WireTicket, "attachments" | "avatar_id" | "entity"> {
  readonly account: string;
  /** `size` in bytes; the data itself is nowhere shown and so not kept. */
  readonly attachments: readonly { readonly name: string; readonly size: number }[];
  readonly entity: TicketEntity | null;
}

export interface ReplyRow extends Omit<WireReply, "avatar_id"> {
  readonly ticket_id: number;
}

interface DiskRow {
  readonly id: number;
  readonly account: string;
  readonly label: string;
  /** In MB. */
  readonly size: number;
}

export type GrantLevel = "read_only" | "read_write";

/** What a restricted user may do (API.md, Authentication). Keys of `vpcs` and `images` are ids. */
export interface Grants {
  readonly add_vpc: boolean;
  readonly vpcs: Readonly<Record<string, GrantLevel>>;
  readonly images: Readonly<Record<string, GrantLevel>>;
}

/** `id` is the token itself. `grants` null: an unrestricted user. */
export interface TokenRow {
  readonly id: string;
  readonly account: string;
  readonly username: string;
  readonly scopes: readonly string[];
  readonly grants: Grants | null;
}

/** A counter of ids, or the clock's advance in seconds. */
interface SettingRow {
  readonly id: string;
  readonly value: number;
}

// The emulator's clock: real time plus what it was advanced by, kept with the account.

const ADVANCE_SETTING = "clock_advance_seconds";
const MILLISECONDS_PER_SECOND = 1000;

/** In all. 100 years: beyond that, times would no longer be written in four digits some day. */
export const MAX_ADVANCE_SECONDS = 3_155_760_000;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Now, as the service writes a date-time: UTC, to the second, without a zone. */
  timestamp(): string;
  /** Time only goes forward. @returns what is wrong with it, or null */
  advance(seconds: number): string | null;
}

export function createClock(store: Store, realNow: () => number): Clock {
  const advanced = (): number => store.tables.settings.get(ADVANCE_SETTING)?.value ?? 0;
  const now = (): number => realNow() + advanced() * MILLISECONDS_PER_SECOND;
  return {
    now,
    timestamp: () => new Date(now()).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length),
    advance: (seconds) => {
      const value = advanced() + seconds;
      if (!(seconds >= 0 && value <= MAX_ADVANCE_SECONDS)) return `Must be at most ${MAX_ADVANCE_SECONDS} in all`;
      store.tables.settings.put({ id: ADVANCE_SETTING, value });
      return null;
    },
  };
}

/** Milliseconds since the epoch of a `timestamp()`. */
export function parseTimestamp(timestamp: string): number {
  return Date.parse(`${timestamp}Z`);
}

// Events that operations trigger (API.md, Events): the latest ones, for `/_emulator/events`.

/** Older ones are forgotten. */
const MAX_EVENTS = 1_000;

type EventAction = "vpc_create" | "vpc_update" | "vpc_delete" | "subnet_create" | "subnet_update" | "subnet_delete";

interface AccountEvent {
  readonly id: number;
  readonly action: EventAction;
  readonly created: string;
  readonly entity: { readonly type: "vpc" | "subnet"; readonly id: number; readonly label: string };
}

export class EventLog {
  readonly #events: AccountEvent[] = [];
  readonly #timestamp: () => string;
  #count = 0;

  constructor(timestamp: () => string) {
    this.#timestamp = timestamp;
  }

  emit(action: EventAction, entity: { readonly id: number; readonly label: string }): void {
    this.#count += 1;
    const type = action.startsWith("vpc_") ? "vpc" : "subnet";
    this.#events.push({
      id: this.#count,
      action,
      created: this.#timestamp(),
      entity: { type, id: entity.id, label: entity.label },
    });
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
  }

  /** Oldest first. */
  all(): readonly AccountEvent[] {
    return this.#events;
  }
}
