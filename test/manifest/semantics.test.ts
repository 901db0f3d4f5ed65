import { describe, expect, test } from "vitest";
import { codes, declaredZone, domain, loadText, places, records, zone } from "./support.ts";

describe("the example of the documentation", () => {
  const text = `owner: edge
account: \${var.env}
variables:
  env: {}
  protect: { default: true }
environments:
  staging: { variables: { env: staging, protect: false } }
  production: { variables: { env: production } }
defaults:
  domain: { type: master, soa_email: hostmaster@example.com }
  record: { ttl_sec: 3600 }
record_sets:
  mail:
    - { type: MX, target: mx.example.net., priority: 10 }
    - { type: TXT, name: _dmarc, target: "v=DMARC1; p=reject; rua=mailto:dmarc@\${zone}" }
vpcs:
  - label: \${var.env}
    region: us-east
    description: Production network
    protect: \${var.protect}
    note: owned by the platform team, ticket 4711
    subnets:
      - { label: web, ipv4: 10.0.1.0/24 }
domains:
  - domain: example.com
    use: [mail]
    ignore: [{ name: "_acme-challenge*", type: TXT }]
    records:
      - { type: A, name: www, targets: [192.0.2.10, 192.0.2.11] }
      - { type: CNAME, name: shop, target: stores.example.net. }
      - { type: SRV, service: sip, protocol: tcp, target: sip, port: 5060, priority: 10, weight: 5 }
      - { type: CAA, tag: issue, target: letsencrypt.org }
  - domain: [parked.example, parked.test]
    use: [mail]
    records: [{ type: A, target: 192.0.2.50 }]
removed:
  - domain: old.example
  - { vpc: legacy, destroy: false }
allow:
  - { replace: vpc/prod, until: 2026-12-31, reason: region move }
`;

  test("loads for an environment, with everything resolved", async () => {
    const result = await loadText(text, { environment: "staging" });
    expect(result.diagnostics).toEqual([]);
    const desired = result.project?.desired;
    expect(desired).toMatchObject({ owner: "edge", account: "staging" });
    expect(desired?.declared.map(({ address }) => address)).toEqual([
      "vpc/staging",
      "domain/example.com",
      "domain/parked.example",
      "domain/parked.test",
    ]);
    expect(desired?.declared[0]).toMatchObject({ protect: false, note: "owned by the platform team, ticket 4711" });
    expect(desired?.removed.map(({ address, destroy }) => [address, destroy])).toEqual([
      ["domain/old.example", true],
      ["vpc/legacy", false],
    ]);
    expect(desired?.allow[0]).toMatchObject({
      rule: "replace",
      address: "vpc/prod",
      until: "2026-12-31",
      reason: "region move",
    });
    expect(records(result)).toEqual([
      { type: "MX", name: "", target: "mx.example.net", ttl_sec: 3600, priority: 10 },
      { type: "TXT", name: "_dmarc", target: "v=DMARC1; p=reject; rua=mailto:dmarc@example.com", ttl_sec: 3600 },
      { type: "A", name: "www", target: "192.0.2.10", ttl_sec: 3600 },
      { type: "A", name: "www", target: "192.0.2.11", ttl_sec: 3600 },
      { type: "CNAME", name: "shop", target: "stores.example.net", ttl_sec: 3600 },
      { type: "SRV", name: "_sip._tcp", target: "sip.example.com", ttl_sec: 3600, priority: 10, weight: 5, port: 5060 },
      { type: "CAA", name: "", target: "letsencrypt.org", ttl_sec: 3600, tag: "issue" },
    ]);
    expect(records(result, 2).map(({ target }) => target)).toContain(
      "v=DMARC1; p=reject; rua=mailto:dmarc@parked.test",
    );
    expect(declaredZone(result).spec).toMatchObject({
      ignore: [{ name: "_acme-challenge*", type: "TXT" }],
      policy: "authoritative",
    });
  });

  test("without --env the required variable is the only complaint", async () => {
    const result = await loadText(text);
    expect(places(result)).toEqual(["missing-variable tenon.yaml:5:3"]);
    expect(result.diagnostics[0]?.detail).toContain("--env staging, --env production");
    const own = await loadText(text.replace(/^( *)staging:/m, "$1x-base: { variables: { env: x } }\n$1staging:"));
    expect(own.diagnostics[0]?.detail).not.toContain("x-base");
  });

  test("an unknown environment is answered with the known ones", async () => {
    const result = await loadText(text, { environment: "stagin", variables: { env: "x" } });
    expect(codes(result)).toEqual(["unknown-environment"]);
    expect(result.diagnostics[0]?.fix).toBe("Did you mean `staging`?");
    const other = await loadText(text, { environment: "nothing-like-it", variables: { env: "x" } });
    expect(other.diagnostics[0]).toMatchObject({
      detail: "The root file has: `staging`, `production`.",
      fix: "Name one of them, or leave --env out.",
    });
  });
});

describe("absent, empty and null", () => {
  test("absent fields are not managed, null becomes what resets them", async () => {
    const result = await loadText(domain("description: null\ntags: ~\nttl_sec:\naxfr_ips: []\ngroup: ''\n"));
    expect(declaredZone(result).spec).toMatchObject({
      fields: {
        type: "master",
        status: "active",
        soa_email: "hostmaster@example.com",
        description: "",
        tags: [],
        ttl_sec: 0,
        axfr_ips: [],
        group: "",
      },
      records: null,
    });
    expect(Object.keys(declaredZone(result).spec.fields)).toHaveLength(8);
  });

  test("records: [] manages none, an empty key is an error", async () => {
    expect(declaredZone(await loadText(zone())).spec.records).toEqual([]);
    const result = await loadText(`${domain("records:\n")}vpcs:\n  - { label: a, region: us-east, subnets: }\n`);
    expect(places(result)).toEqual(["empty-value tenon.yaml:6:5", "empty-value tenon.yaml:8:34"]);
    expect(result.diagnostics[0]?.fix).toBe("Write `records: []` for none, or leave the key out.");
  });

  test("a VPC's description is undefined, null or text, its subnets null or a list", async () => {
    const result = await loadText(
      "vpcs:\n  - { label: a, region: r }\n  - { label: b, region: r, description: null, subnets: [] }\n",
    );
    expect(result.project?.desired.declared.map(({ spec }) => spec)).toEqual([
      { label: "a", region: "r", description: undefined, subnets: null },
      { label: "b", region: "r", description: null, subnets: [] },
    ]);
  });

  test("type, and soa_email or master_ips, must be stated", async () => {
    const result = await loadText(
      "domains:\n  - domain: a.example\n  - { domain: b.example, type: master }\n  - { domain: c.example, type: slave }\n  - { domain: d.example, type: slave, master_ips: null }\n",
    );
    expect(result.diagnostics.map(({ summary }) => summary)).toEqual([
      "`type` is missing",
      "`soa_email` is missing",
      "`master_ips` is missing",
      "`master_ips` is missing",
    ]);
  });
});

describe("values", () => {
  test("a text field takes the scalar as it was written", async () => {
    const result = await loadText(
      `variables: { n: { default: 007 } }\nvpcs:\n  - { label: 1e3, region: us-east, note: true }\n${zone(
        "type: TXT, name: 010, target: 1.50",
        'type: TXT, name: "${var.n}", target: "x${var.n}"',
      )}`,
    );
    expect(result.diagnostics).toEqual([]);
    expect(result.project?.desired.declared[0]).toMatchObject({ key: "1e3", note: "true" });
    expect(records(result).map(({ name, target }) => [name, target])).toEqual([
      ["010", "1.50"],
      ["007", "x007"],
    ]);
  });

  test("defaults < environment < variable file < --var, and text of --var becomes a number where one is wanted", async () => {
    const text = `variables: { ttl: { default: 300 } }\nenvironments: { e: { variables: { ttl: 3600 } } }\n${zone(
      'type: A, target: 192.0.2.1, ttl_sec: "${var.ttl}"',
    )}`;
    expect(records(await loadText(text))[0]?.ttl_sec).toBe(300);
    expect(records(await loadText(text, { environment: "e" }))[0]?.ttl_sec).toBe(3600);
    expect(records(await loadText(text, { environment: "e", variables: { ttl: "7200" } }))[0]?.ttl_sec).toBe(7200);
    const bad = await loadText(text, { variables: { ttl: "soon", tlt: "1" } });
    expect(codes(bad)).toEqual(["unknown-variable", "wrong-type"]);
    expect(bad.diagnostics[1]?.detail).toContain("soon");
  });

  test("seconds are rounded to the nearest allowed value, never to 0, with a warning", async () => {
    const result = await loadText(
      zone(
        "type: A, name: a, target: 192.0.2.1, ttl_sec: 1",
        "type: A, name: b, target: 192.0.2.1, ttl_sec: 1950",
        "type: A, name: c, target: 192.0.2.1, ttl_sec: 1949",
        "type: A, name: d, target: 192.0.2.1, ttl_sec: 9999999",
        "type: A, name: e, target: 192.0.2.1, ttl_sec: 0",
      ),
    );
    expect(records(result).map(({ ttl_sec }) => ttl_sec)).toEqual([300, 3600, 300, 2419200, 0]);
    expect(codes(result)).toEqual(Array(4).fill("rounded-seconds"));
    expect(result.diagnostics.every(({ severity }) => severity === "warning")).toBe(true);
  });

  test("$${ writes ${, also where ${zone} is replaced, and variables are not looked into again", async () => {
    const result = await loadText(
      `variables: { v: { default: "$\${zone}" } }\n${zone('type: TXT, target: "$${zone} ${zone} ${var.v}"')}vpcs: [{ label: a, region: r, description: "$\${x}" }]\n`,
    );
    expect(result.diagnostics).toEqual([]);
    expect(records(result)[0]?.target).toBe("${zone} example.com ${zone}");
    expect(result.project?.desired.declared[0]?.spec).toMatchObject({ description: "${x}" });
  });

  test("a reference that is unknown, unclosed or out of place is pointed at", async () => {
    const result = await loadText(
      `variables: { region: {default: r} }\nvpcs: [{ label: a, region: r, description: "in \${var.regoin}", note: "\${zone}" }]\n${zone(
        'type: TXT, target: "${env.HOME}"',
        'type: TXT, name: b, target: "${var.x"',
      )}`,
    );
    expect(places(result)).toEqual([
      "unknown-variable tenon.yaml:3:48",
      "unknown-reference tenon.yaml:3:71",
      "unknown-reference tenon.yaml:9:31",
      "unknown-reference tenon.yaml:10:40",
    ]);
    expect(result.diagnostics[0]?.fix).toBe("Did you mean `region`?");
  });
});

describe("record sets", () => {
  test("a domain's own name and type replace the set's with `override`, however the name is written", async () => {
    const result = await loadText(
      `record_sets:\n  base:\n    - { type: A, name: www, target: 192.0.2.1 }\n    - { type: A, name: "@", target: 192.0.2.2 }\n    - { type: SRV, service: sip, protocol: tcp, target: sip, port: 1, priority: 1, weight: 1 }\n${domain(
        "use: [base]\nrecords:\n  - { type: A, name: WWW.example.com., target: 192.0.2.9, override: true }\n  - { type: SRV, name: _sip._tcp, target: other, port: 1, priority: 1, weight: 1, override: true }\n",
      )}`,
    );
    expect(records(result).map(({ type, name, target }) => `${type} ${name} ${target}`)).toEqual([
      "A  192.0.2.2",
      "A www 192.0.2.9",
      "SRV _sip._tcp other.example.com",
    ]);
  });

  test("an error in a set's line is said once for all the domains that take it over", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `d${index}.example`).join(", ");
    const result = await loadText(
      `defaults: { domain: { type: master, soa_email: a@b.example } }\nrecord_sets: { s: [{ type: A, target: nonsense }] }\ndomains: [{ domain: [${names}], use: [s] }]\n`,
    );
    expect(codes(result)).toEqual(["bad-address"]);
    expect(result.diagnostics[0]?.detail).toContain("49 more places");
  });
});
