/** Manifests of the pairs, as the objects that their YAML is, and the seeds that hold the same. */

import type { SeedRecord } from "../../src/emulator/index.ts";

export interface RecordEntry {
  readonly type: string;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
}

export interface DomainEntry {
  readonly domain: string;
  readonly type: "master";
  readonly soa_email: string;
  readonly records: readonly RecordEntry[];
  readonly ignore?: readonly { readonly name: string; readonly type: string }[];
}

export interface VpcEntry {
  readonly label: string;
  readonly region: string;
  readonly id?: number;
  readonly description?: string;
  readonly subnets: readonly { readonly label: string; readonly ipv4: string }[];
}

export interface ImageEntry {
  readonly label: string;
  readonly id?: string;
  readonly family?: string;
  readonly keep?: number;
  readonly capture?: { readonly disk_id: number };
  readonly upload?: { readonly file: string; readonly region: string };
}

/** A manifest, as the object that its YAML is. */
export interface Manifest {
  readonly tenon: 1;
  readonly owner: string;
  readonly vpcs?: readonly VpcEntry[];
  readonly domains?: readonly DomainEntry[];
  readonly images?: readonly ImageEntry[];
  readonly removed?: readonly { readonly domain: string }[];
}

/** What is kept in a managed domain by others. */
const IGNORE = [{ name: "_acme-challenge*", type: "TXT" }] as const;

export function record(name: string, type: string, target: string, ttl_sec = 300): RecordEntry {
  return { type, name: name === "" ? "@" : name, target, ttl_sec };
}

export function domain(name: string, records: readonly RecordEntry[], ignored = false): DomainEntry {
  const ignore = ignored ? { ignore: IGNORE } : {};
  return { domain: name, type: "master", soa_email: "hostmaster@example.com", records, ...ignore };
}

export function seeded(firstId: number, records: readonly RecordEntry[]): SeedRecord[] {
  return records.map(({ name, type, ...rest }, index) => ({
    id: firstId + index,
    type: type as SeedRecord["type"],
    name: name === "@" ? "" : name,
    ...rest,
  }));
}
