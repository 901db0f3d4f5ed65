/** Hand-built plans: changes with only what matters to a test spelt out. */

import type { Change } from "../../src/model/change.ts";
import type { Plan, PlanInputs } from "../../src/model/plan.ts";
import type { Kind, UnitName } from "../../src/model/resource.ts";
import { units } from "../../src/units/index.ts";

function unitOf(kind: Kind): UnitName {
  return units.find(({ kinds }) => kinds.some((facts) => facts.kind === kind))?.name ?? "";
}

export const NO_INPUTS: PlanInputs = {
  environment: null,
  variables: {},
  targets: [],
  excludes: [],
  skipUnsupported: false,
  takeOwnershipFrom: [],
  clone: true,
  changedSince: null,
  neverDestroy: false,
};

export function change(address: string, kind: Kind, rest: Partial<Change>): Change {
  const before = rest.before ?? null;
  const after = rest.after ?? null;
  return {
    key: address,
    address,
    previousAddress: null,
    unit: unitOf(kind),
    root: address.split("/").slice(0, 2).join("/"),
    kind,
    action: before === null ? "create" : after === null ? "delete" : "update",
    labels: [],
    id: before === null ? null : 7,
    before,
    after,
    replaceFields: [],
    blocked: null,
    note: null,
    span: null,
    origin: null,
    ...rest,
  };
}

export function plan(changes: readonly Change[], rest: Partial<Plan> = {}): Plan {
  return {
    goal: "apply",
    owner: "edge",
    inputs: NO_INPUTS,
    changes,
    steps: [],
    barriers: [],
    guards: [],
    refusals: [],
    gaps: [],
    strategies: [],
    warnings: [],
    freeSpace: [],
    leftAlone: [],
    families: [],
    requestCount: changes.filter(({ action }) => action !== "no-op").length,
    pace: null,
    base: null,
    withheld: [],
    ...rest,
  };
}

export function record(
  name: string,
  type: string,
  target: string,
  ttl_sec = 0,
  rest: Record<string, number | string> = {},
) {
  return { type, name, target, ttl_sec, ...rest };
}

/** A 2048-bit DKIM key, as TXT records carry it. */
export const DKIM = `v=DKIM1; k=rsa; p=${"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A".repeat(12)}IDAQAB`;

/** Every action, label, block and kind of guard there is. */
export function everything(): Plan {
  return plan([...zoneChanges(), ...imageChanges(), ...networkChanges()], {
    steps: [
      {
        type: "request",
        id: "create domain/new.example",
        unit: "zone",
        root: "domain/new.example",
        changes: ["domain/new.example"],
        after: [],
        method: "POST",
        path: ["domains"],
        body: { type: "master", domain: "new.example" },
        produces: { ref: "domain/new.example", fields: { id: "id" } },
        lookup: null,
        expect: null,
      },
      {
        type: "request",
        id: "create domain/new.example/@/MX",
        unit: "zone",
        root: "domain/new.example",
        changes: ["domain/new.example/@/MX"],
        after: ["create domain/new.example"],
        method: "POST",
        path: ["domains", { ref: "domain/new.example", field: "id" }, "records"],
        body: { type: "MX", target: "mx.example.net." },
        produces: null,
        lookup: null,
        expect: null,
      },
    ],
    barriers: [{ id: "activate", after: ["create domain/new.example/@/MX"] }],
    guards: [
      { rule: "bulk", address: "domain/example.com", consent: "missing", count: 40, of: 100, origin: null },
      { rule: "ns", address: "domain/*.odd", consent: "missing", count: null, of: null, origin: null },
      { rule: "protect", address: "vpc/prod", consent: "impossible", count: null, of: null, origin: null },
      { rule: "max-changes", address: "", consent: "impossible", count: 31, of: 10, origin: null },
      { rule: "delete", address: "vpc/legacy", consent: "given", count: null, of: null, origin: null },
    ],
    gaps: [
      {
        what: "alias.example.com CNAME",
        wanted: "create domain/example.com/alias/CNAME",
        before: "delete domain/example.com/alias/A",
        root: "domain/example.com",
      },
    ],
    freeSpace: [
      {
        root: "vpc/prod",
        within: "10.0.0.0/22",
        addresses: 1024,
        free: 512,
        largest: "10.0.0.0/24",
        next: [{ prefix: 24, ranges: ["10.0.4.0/24", "10.0.5.0/24"] }],
      },
    ],
    strategies: [
      {
        type: "clone",
        source: "domain/parked-1.example",
        copies: ["domain/parked-2.example", "domain/parked-3.example"],
        requests: 18,
        requestsWithout: 42,
      },
    ],
    warnings: [
      {
        code: "consent-expired",
        severity: "warning",
        summary: "a consent has expired",
        detail: "replace: vpc/prod held until 2026-10-31.",
        fix: "Remove it, or renew it.",
      },
    ],
    leftAlone: [
      { kind: "domain", count: 1, reason: "undeclared" },
      { kind: "domain_record", count: 2, reason: "ignored" },
      { kind: "vpc_subnet", count: 3, reason: "unmanaged" },
    ],
    requestCount: 14,
  });
}

/** Much that goes as a whole, and what must not be lost to sight among it. */
export function going(): Plan {
  const parked = Array.from({ length: 39 }, (_, index) => zoneThatGoes(`parked-${index + 1}.example`, 12));
  const images = ["base-1", "base-2", "base 3, of old", "base-4"].map((label) => {
    return change(`image/${label}`, "image", { before: { label, owner: "edge" }, labels: ["prune"] });
  });
  const networks = ["a", "b", "c", "d"].flatMap((label, index) => [
    change(`vpc/${label}`, "vpc", { before: { label, region: "us-east", owner: "edge" }, labels: ["prune"] }),
    ...["db", "web"].slice(0, index % 3).map((subnet, at) => {
      return change(`vpc/${label}/subnet/${subnet}`, "vpc_subnet", {
        before: { label: subnet, ipv4: `10.${index}.${at}.0/24` },
      });
    }),
  ]);
  const changes = [
    change("domain/e1.test", "domain", {
      ...zoneThatGoes("e1.test", 37, 4),
      labels: [],
      note: "moved to the shop team",
    }),
    change("domain/held.example", "domain", {
      ...zoneThatGoes("held.example", 3, 1),
      blocked: { type: "kept-records", records: [{ id: 4, ...record("_acme", "TXT", "x") }] },
    }),
    ...parked.map((one, index) => (index === 6 ? { ...one, holds: { records: 14, ignored: 2 } } : one)),
    zoneThatGoes("xn--bcher-kva.example", 1),
    ...images,
    ...networks,
  ].sort((a, b) => (a.key < b.key ? -1 : 1));
  const pruned = changes.filter(({ labels, blocked }) => labels.includes("prune") && blocked === null);
  return plan(changes, {
    guards: pruned.map(({ address }) => ({
      rule: "delete",
      address,
      consent: "missing",
      count: null,
      of: null,
      origin: null,
    })),
  });
}

function zoneThatGoes(domain: string, records: number, ignored: number | null = null): Change {
  const before = { domain, type: "master", status: "active", owner: "edge" };
  return change(`domain/${domain}`, "domain", { before, labels: ["prune"], holds: { records, ignored } });
}

function zoneChanges(): Change[] {
  const zone = { type: "master", domain: "example.com", soa_email: "hostmaster@example.com", owner: "edge" };
  return [
    change("domain/example.com", "domain", {
      before: { ...zone, description: "", tags: [], owner: null },
      after: { ...zone, description: "Main zone", tags: ["a", "b"] },
      labels: ["adopt"],
      note: "owned by the web team, ticket 4711",
    }),
    change("domain/example.com/@/TXT", "domain_record", {
      before: record("", "TXT", DKIM, 300),
      after: record("", "TXT", DKIM.replace("IDAQAB", "IDAQAC"), 300),
    }),
    change("domain/example.com/_sip._tcp/SRV", "domain_record", {
      before: record("_sip._tcp", "SRV", "sip.example.com", 0, { priority: 10, weight: 5, port: 5060 }),
      after: record("_sip._tcp", "SRV", "sip.example.com", 3600, { priority: 10, weight: 5, port: 5061 }),
    }),
    change("domain/example.com/caa/CAA", "domain_record", {
      after: record("caa", "CAA", "letsencrypt.org", 0, { tag: "issue" }),
    }),
    change("domain/example.com/gone/A", "domain_record", { before: record("gone", "A", "192.0.2.99", 300) }),
    change("domain/example.com/kept/CNAME", "domain_record", {
      after: record("kept", "CNAME", "www.example.com"),
      blocked: { type: "kept-records", records: [record("kept", "A", "192.0.2.4")] },
    }),
    change("domain/example.com/new/A", "domain_record", {
      before: record("old", "A", "192.0.2.5", 300),
      after: record("new", "A", "192.0.2.5", 300),
      previousAddress: "domain/example.com/old/A",
      labels: ["rename"],
    }),
    change("domain/example.com/same/A", "domain_record", {
      before: record("same", "A", "192.0.2.6"),
      after: record("same", "A", "192.0.2.6"),
      action: "no-op",
    }),
    change("domain/example.com/www/A", "domain_record", {
      before: record("www", "A", "192.0.2.10", 300),
      after: record("www", "A", "192.0.2.11", 300),
      key: "domain/example.com/www/A[1]",
    }),
    change("domain/example.com/www/A", "domain_record", {
      after: record("www", "A", "192.0.2.12", 300),
      key: "domain/example.com/www/A[2]",
    }),
    change("domain/new.example", "domain", { after: { ...zone, domain: "new.example", status: "active" } }),
    change("domain/new.example/@/MX", "domain_record", {
      after: record("", "MX", "mx.example.net", 0, { priority: 10 }),
    }),
    change("domain/taken.example", "domain", {
      before: { ...zone, domain: "taken.example", owner: "other" },
      after: { ...zone, domain: "taken.example" },
      labels: ["take-over"],
    }),
  ];
}

function imageChanges(): Change[] {
  return [
    change("image/golden", "image", {
      before: { label: "golden", description: "Base image" },
      after: { label: "golden", description: "Base image" },
      labels: ["unfinished"],
      action: "replace",
      blocked: {
        ...{ type: "upload-in-progress", id: "private/12" },
        ...{ until: "2026-11-21T10:35:00Z", address: "image/golden" },
      },
    }),
    change("image/mine", "image", {
      after: { label: "mine" },
      blocked: { type: "upload-of-others", id: "private/13", address: null },
    }),
    change("image/old", "image", { before: { label: "old", owner: "edge" }, labels: ["prune"] }),
  ];
}

function networkChanges(): Change[] {
  return [
    change("vpc/legacy", "vpc", {
      before: { label: "legacy", region: "us-east", description: "", owner: "edge" },
      after: { label: "legacy", region: "us-east", description: "", owner: null },
      labels: ["release"],
    }),
    change("vpc/prod", "vpc", {
      before: { label: "stage", region: "us-east", description: "Production network" },
      after: { label: "prod", region: "us-west", description: "Production network" },
      action: "replace",
      replaceFields: ["region"],
      previousAddress: "vpc/stage",
      labels: ["rename"],
      blocked: { type: "depends", on: ["vpc/prod/subnet/web"] },
    }),
    change("vpc/prod/subnet/db", "vpc_subnet", {
      before: { label: "db", ipv4: "10.0.2.0/24" },
      after: { label: "db", ipv4: "10.0.3.0/24" },
      action: "replace",
      replaceFields: ["ipv4"],
      range: { becomes: "moves", attached: 0 },
    }),
    change("vpc/prod/subnet/web", "vpc_subnet", {
      before: { label: "web", ipv4: "10.0.1.0/24" },
      blocked: {
        type: "interfaces",
        interfaces: [
          {
            subnet: "vpc/prod/subnet/web",
            subnet_id: 5,
            node_id: 123,
            interface_id: 456,
            active: true,
            config_id: 789,
            address: "10.0.1.2",
          },
          {
            subnet: "vpc/prod/subnet/web",
            subnet_id: 5,
            node_id: 124,
            interface_id: 457,
            active: false,
            config_id: null,
            address: null,
          },
        ],
      },
    }),
  ];
}
