/** The state of all accounts: its tables, and the changes that are not yet written down. */

import type {
  DiskRow,
  DomainRow,
  ImageRow,
  InterfaceRow,
  RecordRow,
  ReplyRow,
  SettingRow,
  SubnetRow,
  TicketRow,
  TokenRow,
  VpcRow,
} from "./rows.ts";
import type { ChangeListener, Identified, RowId } from "./table.ts";
import { Table } from "./table.ts";

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
  /** null: nobody asked for them, and nothing would ever take them. */
  #pending: StoreChange[] | null = null;

  constructor() {
    const listen =
      (table: TableName): ChangeListener =>
      (id, row) => {
        this.#pending?.push([table, id, row]);
      };
    this.tables = createTables(listen);
  }

  /** An id that was never given out before, also if its object is gone since. */
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

  /** From now on changes are kept for `takeChanges`, which has to be called. */
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
