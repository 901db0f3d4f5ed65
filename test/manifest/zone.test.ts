import { describe, expect, test } from "vitest";
import { codes, declaredZone, domain, loadText, places, records, zone } from "./support.ts";

async function problems(...lines: string[]): Promise<string[]> {
  return codes(await loadText(zone(...lines)));
}

describe("what the service would refuse", () => {
  test.each([
    ["type: A, target: 192.0.2.01", "bad-address"],
    ["type: A, target: 2001:db8::1", "bad-address"],
    ['type: A, target: "[remote_addr]"', "bad-address"],
    ["type: AAAA, target: 192.0.2.1", "bad-address"],
    ['type: AAAA, target: "fe80::1%eth0"', "bad-address"],
    ["type: CNAME, target: shop", "cname-at-apex"],
    ["type: CNAME, name: a, target: mx.example.net", "ambiguous-target"],
    ["type: CNAME, name: a, target: .", "bad-target"],
    ["type: MX, target: 192.0.2.1", "bad-target"],
    ['type: NS, name: "*.sub", target: ns', "wildcard-ns"],
    ["type: A, name: www.example.com, target: 192.0.2.1", "repeated-zone"],
    ["type: A, name: www.example.org., target: 192.0.2.1", "outside-zone"],
    ['type: A, name: "a b", target: 192.0.2.1', "bad-name"],
    ["type: A, name: a..b, target: 192.0.2.1", "bad-name"],
    ['type: A, name: "a.*", target: 192.0.2.1', "bad-name"],
    ["type: A, name: www/ü, target: 192.0.2.1", "bad-name"],
    ["type: A, name: b%41ü, target: 192.0.2.1", "bad-name"],
    ['type: A, name: "www/canary\\u00ad", target: 192.0.2.1', "bad-name"],
    ["type: CNAME, name: a, target: shop?ü.partner.example.", "bad-target"],
    [`type: A, name: ${"a".repeat(64)}, target: 192.0.2.1`, "bad-name"],
    [`type: A, name: ${"a.".repeat(50)}bc, target: 192.0.2.1`, "too-long"],
    ["type: SRV, name: _sip._tcp, target: sip, priority: 1", "missing-field"],
    ["type: SRV, target: sip, priority: 1, weight: 1, port: 1", "bad-service"],
    ["type: SRV, name: sub, service: sip, target: sip, priority: 1, weight: 1, port: 1", "bad-service"],
    [
      "type: SRV, name: _sip._udp, service: sip, protocol: tcp, target: sip, priority: 1, weight: 1, port: 1",
      "bad-service",
    ],
    ["type: CAA, target: letsencrypt.org", "missing-field"],
    ["type: CAA, tag: issue, target: letsencrypt.org.", "bad-target"],
    ['type: CAA, tag: iodef, target: "mailto:a@b.example."', "bad-target"],
    ['type: CAA, tag: issue, target: "ca.example; policy=ev."', "bad-target"],
    ["type: SRV, service: foo_, protocol: tcp, target: sip, priority: 1, weight: 1, port: 1", "bad-service"],
    ["type: SRV, name: _a/b._tcp, target: sip, priority: 1, weight: 1, port: 1", "bad-service"],
    ["type: SRV, name: _sip-._tcp, target: sip, priority: 1, weight: 1, port: 1", "bad-service"],
    ['type: CAA, tag: issue, target: "0 issue letsencrypt.org"', "bad-target"],
    ["type: CAA, tag: isue, target: letsencrypt.org", "unknown-value"],
    ["type: A, target: 192.0.2.1, priority: 1", "wrong-field"],
    ["type: MX, target: mx, priority: 256", "out-of-range"],
    ["type: a, target: 192.0.2.1", "unknown-value"],
    ["type: A", "missing-field"],
    ["type: A, target: 192.0.2.1, targets: [192.0.2.2]", "conflicting-keys"],
    ["type: A, targets: []", "too-short"],
    ['type: TXT, target: "a\\nb"', "control-character"],
    [`type: TXT, target: ${"a".repeat(65_536)}`, "too-long"],
    ["type: A, name: , target: 192.0.2.1", "empty-value"],
  ])("%.90s → %s", async (line, code) => {
    expect(await problems(line)).toEqual([code]);
  });

  test.each([
    ["*/münchen", ["bad-name"]],
    ["log*/münchen", ["bad-name"]],
    ["log*.mün?chen", ["bad-name"]],
    // As `import` writes what the service holds, and as letters with a star.
    ["www/münchen", []],
    ["\\*/münchen", []],
    ["mün*", []],
    ["*.münchen", []],
  ])("an ignored name %s is reported as %j", async (name, expected) => {
    const text = `domains: [{ domain: example.com, type: master, soa_email: h@example.com, ignore: [{ name: ${JSON.stringify(name)} }], records: [] }]\n`;
    expect(codes(await loadText(text))).toEqual(expected);
  });

  test("records that forbid each other are reported with both positions", async () => {
    const result = await loadText(
      zone(
        "type: CNAME, name: a, target: b",
        "type: CNAME, name: a, target: c",
        "type: TXT, name: a, target: d",
        "type: MX, target: .",
        "type: MX, target: mx",
        "type: TXT, name: t, target: same, ttl_sec: 300",
        "type: TXT, name: T, target: same",
      ),
    );
    expect(places(result)).toEqual([
      "cname-conflict tenon.yaml:7:9",
      "second-cname tenon.yaml:8:9",
      "null-mx-conflict tenon.yaml:10:9",
      "duplicate-record tenon.yaml:13:9",
    ]);
    expect(result.diagnostics.every(({ related }) => related?.length === 1)).toBe(true);
  });

  test("a record both declared and ignored is an error, case aside", async () => {
    const result = await loadText(
      domain(
        'ignore: [{ name: "_ACME*" }, { type: NS, name: "@" }]\nrecords:\n  - { type: TXT, name: _acme-challenge.www, target: x }\n  - { type: TXT, name: other, target: x }\n',
      ),
    );
    expect(places(result)).toEqual(["declared-and-ignored tenon.yaml:8:9"]);
    expect(codes(await loadText(domain("ignore: [{}]\n")))).toEqual(["bad-format"]);
  });

  test("a slave has no records of its own", async () => {
    const result = await loadText(
      "domains:\n  - { domain: s.example, type: slave, master_ips: [192.0.2.1], records: [{ type: A, target: 192.0.2.1 }] }\n",
    );
    expect(codes(result)).toEqual(["records-on-slave"]);
  });

  test.each([
    ["https://example.com", "bad-domain"],
    ['"*.example.com"', "bad-domain"],
    ["-a.example", "bad-domain"],
    [`${"a".repeat(64)}.example`, "bad-domain"],
    [`${"abc.".repeat(64)}example`, "bad-domain"],
    ["a..example", "bad-domain"],
    ["a_b.example", "bad-domain"],
  ])("the domain name %.40s is refused", async (name, code) => {
    expect(codes(await loadText(domain("", name)))).toEqual([code]);
  });

  test("fields of a domain keep their limits", async () => {
    const many = Array.from(
      { length: 60 },
      (_, index) => `"2001:db8:1111:2222:${(index + 4096).toString(16)}::1"`,
    ).join(", ");
    const result = await loadText(
      domain(
        `description: ${"d".repeat(254)}\ngroup: ${"g".repeat(51)}\naxfr_ips: [${many}]\nmaster_ips: [10.0.0.1, 10.0.0.1, nope]\ntags: [abc, Abc, "tenon:edge", ab, ${"t".repeat(51)}]\nttl_sec: -1\nstatus: activ\n`,
      ),
    );
    expect(codes(result).sort()).toEqual(
      [
        "too-long",
        "too-long",
        "too-long",
        "too-long",
        "too-short",
        "duplicate-address",
        "bad-address",
        "duplicate-tag",
        "reserved-tag",
        "out-of-range",
        "unknown-value",
      ].sort(),
    );
  });
});

describe("canonical forms", () => {
  test("names and targets become lower-case ASCII, addresses canonical", async () => {
    const result = await loadText(
      zone(
        'type: CNAME, name: "Bücher", target: "Straße.Example.NET."',
        'type: AAAA, target: "2001:DB8:0:0:0:0:0:1"',
        "type: MX, target: '@'",
        "type: MX, name: none, target: .",
        'type: TXT, name: "*.Dev", target: "Raw \\"Text\\""',
        "type: PTR, name: 10, target: host",
        "type: SRV, name: _sip._tcp.sub, target: ., priority: 0, weight: 0, port: 0",
        "type: SRV, name: sub2.example.com., service: _SIP, protocol: UDP, target: sip, priority: 0, weight: 0, port: 0",
      ),
    );
    expect(result.diagnostics).toEqual([]);
    expect(records(result).map(({ name, target }) => [name, target])).toEqual([
      ["xn--bcher-kva", "xn--strae-oqa.example.net"],
      ["", "2001:db8::1"],
      ["", "example.com"],
      ["none", ""],
      ["*.dev", 'Raw "Text"'],
      ["10", "host.example.com"],
      ["_sip._tcp.sub", ""],
      ["_sip._udp.sub2", "sip.example.com"],
    ]);
  });

  test("a domain's key is punycode without a final dot", async () => {
    const result = await loadText(
      domain("protect: true\nid: 7\nnote: n\nrecords_policy: additive\n", "Bücher.Example."),
    );
    expect(declaredZone(result)).toMatchObject({
      key: "xn--bcher-kva.example",
      address: "domain/xn--bcher-kva.example",
      protect: true,
      id: 7,
      note: "n",
      spec: { policy: "additive", domain: "xn--bcher-kva.example" },
    });
  });

  test("spans point at the record, and at the element of targets", async () => {
    const result = await loadText(zone("type: A, targets: [192.0.2.1, 192.0.2.2]", "type: TXT, target: x"));
    const at = declaredZone(result).spec.records?.map(
      ({ span }) => result.sources.position(span.file, span.start).column,
    );
    expect(at).toEqual([30, 41, 9]);
  });
});

test("a tag that is too short or too long is refused at its place, also where the zone's name made it so", async () => {
  const long = "t".repeat(46);
  const result = await loadText(domain(`tags: [abc, ab, "\${zone}-x", "${long}\${zone}"]\n`));
  expect(places(result)).toEqual(["too-short tenon.yaml:6:17", "too-long tenon.yaml:6:34"]);
  const expanded = await loadText(domain(`tags: [abc, "${"t".repeat(43)}\${zone}"]\n`));
  expect(places(expanded)).toEqual(["tag-length tenon.yaml:6:17"]);
});
