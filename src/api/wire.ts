/** The service's objects as they are on the wire, in API.md's vocabulary (API.md, Resources and their fields). */

export interface WireInterface {
  readonly id: number;
  readonly active: boolean;
}

export interface WireSubnetNode {
  readonly id: number;
  readonly interfaces: readonly WireInterface[];
}

export interface WireSubnet {
  readonly id: number;
  readonly label: string;
  readonly ipv4: string;
  readonly nodes: readonly WireSubnetNode[];
  readonly created: string;
  readonly updated: string | null;
}

export interface WireVpc {
  readonly id: number;
  readonly label: string;
  readonly description: string;
  readonly region: string;
  readonly subnets: readonly WireSubnet[];
  readonly created: string;
  readonly updated: string | null;
}

export interface WireVpcIp {
  readonly active: boolean;
  readonly address: string | null;
  readonly address_range: string | null;
  readonly config_id: number;
  readonly gateway: string | null;
  readonly interface_id: number;
  readonly node_id: number;
  readonly nat_1_1: string;
  readonly prefix: number | null;
  readonly region: string;
  readonly subnet_id: number;
  readonly subnet_mask: string;
  readonly vpc_id: number;
}

export type DomainType = "master" | "slave";
export type DomainStatus = "active" | "disabled";

export interface WireDomain {
  readonly id: number;
  readonly domain: string;
  readonly type: DomainType;
  readonly status: DomainStatus;
  readonly description: string;
  readonly group: string;
  readonly soa_email: string;
  readonly master_ips: readonly string[];
  readonly axfr_ips: readonly string[];
  readonly refresh_sec: number;
  readonly retry_sec: number;
  readonly expire_sec: number;
  readonly ttl_sec: number;
  readonly tags: readonly string[];
  readonly created: string;
  readonly updated: string;
}

/** @param Type API.md's types; the service may have more of them one day */
export interface WireRecord<Type extends string = string> {
  readonly id: number;
  readonly type: Type;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly protocol: string | null;
  readonly service: string | null;
  readonly tag: string | null;
  readonly created: string;
  readonly updated: string;
}

export type ImageStatus = "creating" | "pending_upload" | "available";

export interface WireImage {
  readonly id: string;
  readonly label: string;
  readonly description: string | null;
  readonly status: ImageStatus;
  readonly type: "manual" | "automatic";
  readonly is_public: boolean;
  readonly created_by: string;
  readonly created: string;
  readonly updated: string;
  readonly expiry: string | null;
  readonly eol: string | null;
  readonly deprecated: boolean;
  readonly size: number;
  readonly vendor: string | null;
  readonly capabilities: readonly string[];
}

export type TicketStatus = "new" | "open" | "closed";

export interface WireEntity {
  readonly id: number;
  readonly label: string;
  readonly type: string;
  readonly url: string;
}

export interface WireTicket {
  readonly id: number;
  readonly summary: string;
  readonly description: string;
  readonly status: TicketStatus;
  readonly closable: boolean;
  readonly opened: string;
  readonly opened_by: string;
  readonly updated: string;
  readonly updated_by: string | null;
  readonly closed: string | null;
  readonly attachments: readonly string[];
  readonly avatar_id: string;
  readonly entity: WireEntity | null;
}

export interface WireReply {
  readonly id: number;
  readonly created: string;
  readonly created_by: string;
  readonly description: string;
  readonly from_linode: boolean;
  readonly avatar_id: string;
}
