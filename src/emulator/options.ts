/** What `startEmulator` takes and gives. */

import type { DomainStatus, DomainType, ImageStatus, TicketStatus } from "../api/wire.ts";
import type { Fault, FaultEffect } from "./faults.ts";
import type { EntityKind, GrantLevel, RecordType } from "./store.ts";

export interface EmulatorOptions {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The address to listen on; default 127.0.0.1. Elsewhere, upload targets are where the client has called the emulator. */
  readonly host?: string;
  /** Names that clients call it by, besides loopback and the address that they reached. */
  readonly hostNames?: readonly string[];
  /** Path of the file that keeps the account. Absent: all is in memory. */
  readonly data?: string;
  /** What a new account holds; not used, with a notice, when `data` already holds one. */
  readonly seed?: Seed;
  /** The operator's word on the wire where API.md says `node`; default `node`. */
  readonly dialect?: string;
  /** Waited before each request below `/v4` is looked at. */
  readonly latencyMilliseconds?: number;
  /** Absent: requests are never refused for their number. */
  readonly rateLimit?: RateLimit;
  /** How a TTL that is not allowed is rounded; default `nearest` (API.md). */
  readonly ttlRounding?: "nearest" | "up";
  /** Refuse a label that another VPC, or another subnet of the same VPC, has. */
  readonly uniqueLabels?: boolean;
  /** Path of a file that gets a JSON line per request, written before its answer. */
  readonly requestLog?: string;
  /** How often an unfinished image is shown as such, once nothing but time is missing. */
  readonly readsUntilAvailable?: UntilAvailable;
  /** How long it is shown as such, by the emulator's clock; then reads do not count. */
  readonly secondsUntilAvailable?: UntilAvailable;
  /** How long after a change it is in the zone file, by the emulator's clock; default 0, at once. */
  readonly zoneRenderSeconds?: number;
  /** What goes wrong on purpose; default nothing. */
  readonly faults?: readonly Fault[];
  /** Seeds the faults that happen by chance; a whole number of 32 bits, default 1. */
  readonly faultSeed?: number;
  /** Milliseconds since the epoch; default the system's clock. */
  readonly now?: () => number;
}

/** Limits of a connection: how long requests may take to arrive. */
export interface Timeouts {
  /** From a connection's or a request's first moment to the end of its header. */
  readonly headersMilliseconds: number;
  /** From the end of the header to that of the body. */
  readonly bodyMilliseconds: number;
  /** How long nothing may come of a body that may take as long as it wants. */
  readonly idleMilliseconds: number;
  /** How often headers are looked at. */
  readonly checkMilliseconds: number;
}

export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface UntilAvailable {
  /** Reads: default 1. */
  readonly creating: number;
  /** Counted once the data was sent. Reads: default 2. */
  readonly pendingUpload: number;
}

export interface LoggedRequest {
  readonly method: string;
  /** As it was sent, percent-encoding and `/v4` included, without the query. */
  readonly path: string;
  /** As it was sent, without the question mark; `""` if there was none. */
  readonly query: string;
  /** What the client got to see; 0: nothing, the connection was reset. */
  readonly status: number;
  /** The fault that the request met, if any. */
  readonly fault?: FaultEffect["type"];
}

/** A node's interface in a subnet, as attached from outside API.md. */
export interface Attachment {
  readonly subnet_id: number;
  readonly node_id: number;
  readonly interface_id: number;
  readonly active: boolean;
  readonly config_id: number;
  /** null: none is assigned. Absent: the first free host address. */
  readonly address?: string | null;
  /** The public address that stands for the interface's own; absent, or `""`: none. */
  readonly nat_1_1?: string;
  /** Ranges of the subnet that are routed to the interface, in canonical CIDR form. */
  readonly address_ranges?: readonly string[];
}

export interface Emulator {
  /** `http://127.0.0.1:PORT/v4`, or where else it listens. */
  readonly baseUrl: string;
  readonly port: number;
  /** The latest requests below `/v4` and to upload targets, oldest first; bounded. */
  readonly requests: readonly LoggedRequest[];
  /** What was noticed about data file and seed on start, as sentences for a person. */
  readonly notices: readonly string[];
  clearRequests(): void;
  /** Throws if it does not fit, for example an unknown subnet. */
  attach(attachment: Attachment): Promise<void>;
  detach(interfaceId: number): Promise<void>;
  /** Throws if it is no step forward, or more than 100 years in all. */
  advanceClock(seconds: number): Promise<void>;
  /** Replaces the faults and counts requests anew; none: all goes well from now on. Throws if one cannot be used. */
  setFaults(faults: readonly Fault[], seed?: number): void;
  /** Waits for late work that a fault put off. */
  close(): Promise<void>;
}

// The seed: what a new account holds.

export interface Seed extends AccountSeed {
  /** Accounts of others on the same platform, by name. Without `tokens` nobody can reach their objects. */
  readonly other_accounts?: Readonly<Record<string, AccountSeed>>;
}

/** What one account holds. Every id is optional. */
export interface AccountSeed {
  /** Absent from the main account: `emulator-token` with every scope. */
  readonly tokens?: readonly SeedToken[];
  readonly vpcs?: readonly SeedVpc[];
  readonly domains?: readonly SeedDomain[];
  readonly images?: readonly SeedImage[];
  readonly nodes?: readonly SeedNode[];
  readonly disks?: readonly SeedDisk[];
  readonly tickets?: readonly SeedTicket[];
}

export interface SeedToken {
  readonly token: string;
  readonly username?: string;
  /** Default: every scope. */
  readonly scopes?: readonly string[];
  /** Absent: an unrestricted user. */
  readonly grants?: SeedGrants;
}

export interface SeedGrants {
  readonly add_vpc?: boolean;
  /** By label or id. */
  readonly vpcs?: Readonly<Record<string, GrantLevel>>;
  /** By label or id. */
  readonly images?: Readonly<Record<string, GrantLevel>>;
}

export interface SeedVpc {
  readonly id?: number;
  readonly label: string;
  readonly region: string;
  readonly description?: string;
  readonly subnets?: readonly SeedSubnet[];
}

export interface SeedSubnet {
  readonly id?: number;
  readonly label: string;
  readonly ipv4: string;
}

export interface SeedDomain {
  readonly id?: number;
  readonly domain: string;
  readonly type?: DomainType;
  readonly status?: DomainStatus;
  readonly description?: string;
  readonly group?: string;
  readonly soa_email?: string;
  readonly master_ips?: readonly string[];
  readonly axfr_ips?: readonly string[];
  readonly refresh_sec?: number;
  readonly retry_sec?: number;
  readonly expire_sec?: number;
  readonly ttl_sec?: number;
  readonly tags?: readonly string[];
  readonly records?: readonly SeedRecord[];
}

export interface SeedRecord {
  readonly id?: number;
  readonly type: RecordType;
  readonly name?: string;
  readonly target: string;
  readonly ttl_sec?: number;
  readonly priority?: number;
  readonly weight?: number;
  readonly port?: number;
  readonly service?: string;
  readonly protocol?: string;
  readonly tag?: string;
}

export interface SeedImage {
  /** `node/…` for public ones, `private/…` for others. */
  readonly id?: string;
  readonly label: string;
  readonly description?: string | null;
  readonly status?: ImageStatus;
  readonly type?: "manual" | "automatic";
  readonly is_public?: boolean;
  readonly created?: string;
  readonly expiry?: string;
  readonly eol?: string;
  readonly deprecated?: boolean;
  readonly size?: number;
  readonly vendor?: string;
  readonly capabilities?: readonly string[];
}

export interface SeedNode {
  readonly id?: number;
  readonly interfaces?: readonly SeedInterface[];
}

export interface SeedInterface {
  readonly id?: number;
  /** Either this or `subnet`. */
  readonly subnet_id?: number;
  /** `VPC-LABEL/SUBNET-LABEL` */
  readonly subnet?: string;
  readonly active?: boolean;
  readonly config_id?: number;
  readonly address?: string | null;
  readonly nat_1_1?: string;
  readonly address_ranges?: readonly string[];
}

export interface SeedDisk {
  readonly id: number;
  readonly label: string;
  /** In MB. */
  readonly size: number;
}

export interface SeedTicket {
  readonly id?: number;
  readonly summary: string;
  readonly description: string;
  /** Default: `open` if there are replies, else `new`. */
  readonly status?: TicketStatus;
  readonly closable?: boolean;
  readonly opened_by?: string;
  /** Also one that the account does not have; the label of one that it has is filled in. */
  readonly entity?: { readonly type: EntityKind; readonly id: number; readonly label?: string };
  readonly replies?: readonly SeedReply[];
  /** Names of files. */
  readonly attachments?: readonly string[];
}

export interface SeedReply {
  readonly id?: number;
  readonly description: string;
  /** Whether an employee of the operator wrote it. */
  readonly from_linode?: boolean;
  readonly created_by?: string;
}

/** A seed that cannot be used: the message says where and why, one problem a line. */
export class SeedError extends Error {
  override readonly name = "SeedError";
}
