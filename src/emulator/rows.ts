/** What the emulator keeps: one row type per table, plain JSON, replaced as a whole and never changed in place. `account` is whose it is. */

import type { WireDomain, WireImage, WireRecord, WireReply, WireTicket } from "../api/wire/index.ts";

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

export interface RecordRow extends WireRecord {
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

export interface DiskRow {
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
export interface SettingRow {
  readonly id: string;
  readonly value: number;
}
