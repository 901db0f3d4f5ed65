/** The seed: what a new account holds. */

import type { DomainStatus, DomainType, ImageStatus, RecordType, TicketStatus } from "../api/wire/index.ts";
import type { EntityKind, GrantLevel } from "./rows.ts";

export interface Seed extends AccountSeed {
  /** By name: accounts of others on the same platform. Without `tokens` nobody can reach what they hold. */
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
