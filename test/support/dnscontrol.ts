/** The intermediate JSON as DNSControl 4.40 writes it, and what its provider LINODE (providers/linode) makes of it in an account. */

import type { Seed } from "../../src/emulator/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";

type SeedRecord = NonNullable<NonNullable<Seed["domains"]>[number]["records"]>[number];

export interface IrDomain extends JsonObject {
  readonly name: string;
  readonly records: readonly JsonObject[];
}

export function domainOf(name: string, records: readonly JsonObject[], more: JsonObject = {}): IrDomain {
  const base = name.split("!")[0] ?? name;
  return {
    name: base,
    uniquename: name,
    registrar: "none",
    dnsProviders: { linode: -1 },
    meta: { dnscontrol_nameraw: name, dnscontrol_nameunicode: base, dnscontrol_uniquename: name },
    records: records.map((record) => ({ ttl: 300, filepos: "[line:3:5]", ...record })),
    ...more,
  };
}

export function irOf(domains: readonly JsonObject[]): string {
  const [registrars, dns_providers] = [[{ name: "none", type: "-" }], [{ name: "linode", type: "-" }]];
  return JSON.stringify({ registrars, dns_providers, domains });
}

/** The service keeps these; DNSControl rounds up to one of them. */
const TTLS = [0, 300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200];

/** An account after `dnscontrol push`: DNSControl makes no zones, so these were there, with the address. */
export function pushed(ir: string, soa_email: string): Seed {
  const { domains } = JSON.parse(ir) as { domains: readonly IrDomain[] };
  return {
    domains: domains.map(({ name, records }) => ({
      ...{ domain: name, type: "master" as const, soa_email },
      records: records.flatMap((record): SeedRecord[] => {
        const { type, name: label, target, ttl } = record as Record<string, string> & { ttl: number };
        const ttl_sec = TTLS.find((allowed) => allowed >= ttl) ?? 2419200;
        const base = { type: type as SeedRecord["type"], name: label === "@" ? "" : punycode(String(label)), ttl_sec };
        switch (type) {
          case "MX":
            return [{ ...base, target: host(target), priority: Number(record["mxpreference"] ?? 0) }];
          case "SRV": {
            const [, service = "", protocol = ""] = /^_(\w+)\._(\w+)$/.exec(String(label)) ?? [];
            const [priority, weight, port] = ["srvpriority", "srvweight", "srvport"].map((key) =>
              Number(record[key] ?? 0),
            );
            const numbers = { priority: priority ?? 0, weight: weight ?? 0, port: port ?? 0 };
            return [{ ...base, name: "", service, protocol, target: host(target), ...numbers }];
          }
          case "CAA":
            return [{ ...base, target: String(target), tag: String(record["caatag"]) }];
          case "CNAME":
          case "NS":
          case "PTR":
            return [{ ...base, target: host(target) }];
          case "A":
          case "AAAA":
          case "TXT":
            return [{ ...base, target: String(target) }];
          default:
            return [];
        }
      }),
    })),
  };
}

function host(target: string | undefined): string {
  return punycode(String(target).replace(/(.)\.$/, "$1"));
}

function punycode(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : new URL(`http://${name}`).hostname;
}
