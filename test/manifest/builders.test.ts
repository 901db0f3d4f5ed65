import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { LoadResult } from "../../src/manifest/load.ts";
import { codes, declaredZone, domain, loadText, places, records, zone } from "./support.ts";

const rsa = (bits: number) => generateKeyPairSync("rsa", { modulusLength: bits });
const pem = { type: "spki", format: "pem" } as const;
const der = { type: "spki", format: "der" } as const;

function texts(result: LoadResult): string[] {
  expect(result.diagnostics).toEqual([]);
  return records(result).map(({ type, name, tag, target }) =>
    [type, name || "@", tag, target].filter(Boolean).join(" "),
  );
}

async function built(...entries: string[]): Promise<string[]> {
  return texts(await loadText(zone(...entries)));
}

/** Codes with the text that each points at. */
async function faults(entry: string): Promise<string[]> {
  const { diagnostics, sources } = await loadText(zone(entry));
  return diagnostics.map(({ code, span }) => {
    const text = span === undefined ? "" : sources.text(span.file)?.slice(span.start, span.end);
    return `${code} ${text}`;
  });
}

describe("spf", () => {
  test("is put together so that what costs no lookup stands first and all last", async () => {
    expect(
      await built(
        "spf: { all: softfail, include: [_spf.example.net], mx: true, a: [b.example/28, '%{d}'], exists: ['%{i}._spf.%{d2}'], ip6: ['2001:DB8::/32'], ip4: [192.0.2.0/24, 192.0.2.1], mechanisms: ['?include:x.example'] }, ttl_sec: 300",
      ),
    ).toEqual([
      "TXT @ v=spf1 ip4:192.0.2.0/24 ip4:192.0.2.1 ip6:2001:db8::/32 a:b.example/28 a:%{d} mx include:_spf.example.net exists:%{i}._spf.%{d2} ?include:x.example ~all",
    ]);
    expect(await built("spf: { redirect: _spf.example.net, exp: why.example.net, a: false }, name: sub")).toEqual([
      "TXT sub v=spf1 redirect=_spf.example.net exp=why.example.net",
    ]);
  });

  test.each([
    ["ip4: [192.0.2.0/33], all: fail", "bad-part 192.0.2.0/33"],
    ["ip4: ['2001:db8::1'], all: fail", "bad-part '2001:db8::1'"],
    ["ip6: [192.0.2.1], all: fail", "bad-part 192.0.2.1"],
    ["mechanisms: ['include:localhost'], all: fail", "bad-part 'include:localhost'"],
    ["mx: [a_b., c], all: fail", "bad-part a_b."],
    ["include: ['a b.example'], all: fail", "bad-part 'a b.example'"],
    ["include: [bücher.example], all: fail", "bad-part bücher.example"],
    ["a: [x.example/99], all: fail", "bad-part x.example/99"],
    ["exists: ['%{q}.example'], all: fail", "bad-part '%{q}.example'"],
    ["mechanisms: [includ:x.example], all: fail", "bad-part includ:x.example"],
    ["mechanisms: ['a ip4:192.0.2.1'], all: fail", "bad-part 'a ip4:192.0.2.1'"],
    ["mechanisms: ['-all'], all: fail", "bad-part fail"],
    ["mechanisms: ['-all', '+all']", "bad-part '+all'"],
    ["mechanisms: ['-all']", "bad-part '-all'"],
    ["mx: true", "bad-part spf"],
    ["all: fail, redirect: x.example.net", "bad-part x.example.net"],
    ["all: hardfail", "unknown-value hardfail"],
    ["al: fail", "unknown-key al"],
  ])("%s is wrong at its own place", async (parts, expected) => {
    expect((await faults(`spf: { ${parts} }`))[0]).toBe(expected);
  });

  test("takes names of one label as relative to the zone, in whatever set they stand, and names with dots as absolute", async () => {
    const spf =
      "spf: { mx: [mx, mx.example.net, '%{d}'], a: [host/28, a.example./24//64], include: [_spf], all: fail }";
    const sets = `record_sets: { mail: [{ ${spf} }, { spf: { redirect: _x }, name: sub }] }\n`;
    const result = await loadText(sets + domain("use: [mail]\n"));
    expect(texts(result)).toEqual([
      "TXT @ v=spf1 a:host.example.com/28 a:a.example./24//64 mx:mx.example.com mx:mx.example.net mx:%{d} include:_spf.example.com -all",
      "TXT sub v=spf1 redirect=_x.example.com",
    ]);
  });

  test("is told of with the article that it is said with", async () => {
    const { diagnostics } = await loadText(zone("spf: { al: fail }"));
    expect(diagnostics[0]?.detail).toBe("`al` is not a key of an spf.");
  });

  test("of more than 512 bytes is warned about, and kept", async () => {
    const networks = Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`).join(", ");
    const long = await loadText(zone(`spf: { ip4: [${networks}], all: fail }`));
    expect(codes(long)).toEqual(["spf-long"]);
    expect(records(long)[0]?.target.length).toBeGreaterThan(512);
  });
});

describe("dmarc", () => {
  test("says what is stated, at _dmarc", async () => {
    expect(
      await built(
        "dmarc: { policy: reject, subdomain_policy: quarantine, nonexistent_policy: none, percent: 50, adkim: strict, aspf: relaxed, failure_options: ['1', d], report_interval_sec: 3600, rua: ['dmarc@${zone}', 'mailto:a@b.example!10m'], ruf: [x@y.example] }",
        "dmarc: { policy: none }, name: sub",
        "dmarc: { policy: none }, name: _dmarc.other",
      ),
    ).toEqual([
      "TXT _dmarc v=DMARC1; p=reject; sp=quarantine; np=none; adkim=s; aspf=r; pct=50; fo=1:d; ri=3600; rua=mailto:dmarc@example.com,mailto:a@b.example!10m; ruf=mailto:x@y.example",
      "TXT _dmarc.sub v=DMARC1; p=none",
      "TXT _dmarc.other v=DMARC1; p=none",
    ]);
  });

  test.each([
    ["policy: drop", "unknown-value drop"],
    ["percent: 50", "missing-key percent"],
    ["policy: none, percent: 101", "out-of-range 101"],
    ["policy: none, rua: ['a@b.example,c@d.example']", "bad-part 'a@b.example,c@d.example'"],
    ["policy: none, rua: ['a@b.example; p=none']", "bad-part 'a@b.example; p=none'"],
    ["policy: none, ruf: [nobody]", "bad-part nobody"],
    ["policy: none, failure_options: [2]", "unknown-value 2"],
  ])("%s is wrong at its own place", async (parts, expected) => {
    expect(await faults(`dmarc: { ${parts} }`)).toEqual([expected]);
  });
});

describe("dkim", () => {
  const key = rsa(1024).publicKey;
  const base64 = key.export(der).toString("base64");

  test("takes a key with or without PEM lines and white space, and none for a revoked one", async () => {
    const lines = key.export(pem).toString().trim().replace(/^/gm, "        ");
    const wrapped = base64.replace(/(.{40})/g, "$1 ");
    const result = await loadText(
      domain(
        `records:\n  - dkim:\n      selector: s1\n      key: |\n${lines}\n  - { dkim: { selector: s2, key: "${wrapped}", testing: true, same_domain: true } }\n  - { dkim: { selector: a.b, key: "" }, name: sub }\n`,
      ),
    );
    expect(texts(result)).toEqual([
      `TXT s1._domainkey v=DKIM1; k=rsa; p=${base64}`,
      `TXT s2._domainkey v=DKIM1; k=rsa; t=y:s; p=${base64}`,
      "TXT a.b._domainkey.sub v=DKIM1; k=rsa; p=",
    ]);
  });

  test("writes an RSA key that came bare, and an Ed25519 key that came wrapped, as verifiers read them", async () => {
    const bare = key.export({ type: "pkcs1", format: "pem" }).toString();
    const ed = generateKeyPairSync("ed25519").publicKey.export(der);
    const raw = ed.subarray(-32).toString("base64");
    expect(
      await built(
        `dkim: { selector: a, key: ${JSON.stringify(bare)} }`,
        `dkim: { selector: b, key: "${ed.toString("base64")}", type: ed25519 }`,
        `dkim: { selector: c, key: "${raw}", type: ed25519 }`,
      ),
    ).toEqual([
      `TXT a._domainkey v=DKIM1; k=rsa; p=${base64}`,
      `TXT b._domainkey v=DKIM1; k=ed25519; p=${raw}`,
      `TXT c._domainkey v=DKIM1; k=ed25519; p=${raw}`,
    ]);
  });

  test("refuses what is no key, too short, of the other type, or private", async () => {
    const { privateKey } = rsa(1024);
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["not base64!", /not base64/],
      ["QUJD", /no RSA public key/],
      [base64.slice(0, -8), /no RSA public key/],
      [rsa(512).publicKey.export(der).toString("base64"), /512 bits/],
      [generateKeyPairSync("ed25519").publicKey.export(der).toString("base64"), /ed25519, not RSA/],
      [privateKey.export({ type: "pkcs8", format: "pem" }).toString(), /private key/],
      [privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"), /private key/],
      ["-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----", /no key/],
    ];
    for (const [text, detail] of wrong) {
      const result = await loadText(zone(`dkim: { selector: s, key: ${JSON.stringify(text)} }`));
      expect(codes(result)).toEqual(["bad-part"]);
      expect(result.diagnostics[0]?.detail).toMatch(detail);
      expect(result.diagnostics[0]?.detail).not.toContain(text.slice(0, 40));
    }
    expect(await faults("dkim: { selector: 'a b', key: '' }")).toEqual(["bad-part 'a b'"]);
    expect(await faults(`dkim: { selector: s, key: "${base64}", type: ed25519 }`)).toEqual([`bad-part "${base64}"`]);
  });
});

describe("caa", () => {
  test("names authorities, or nobody, and where to report", async () => {
    expect(
      await built(
        "caa: { issue: [letsencrypt.org], issuewild: [], iodef: security@example.com, account_uri: 'https://a.example/1', validation_methods: [dns-01, http-01] }",
        "caa: { issue: [a.example, b.example], iodef: ['https://r.example/x'] }, name: sub",
      ),
    ).toEqual([
      "CAA @ issue letsencrypt.org; accounturi=https://a.example/1; validationmethods=dns-01,http-01",
      "CAA @ issuewild ;",
      "CAA @ iodef mailto:security@example.com",
      "CAA sub issue a.example",
      "CAA sub issue b.example",
      "CAA sub iodef https://r.example/x",
    ]);
  });

  test.each([
    ["", "bad-part caa"],
    ["issue: [';']", "bad-part ';'"],
    ["issue: ['a.example; x=y']", "bad-part 'a.example; x=y'"],
    ["issue: letsencrypt.org", "wrong-type letsencrypt.org"],
    ["issue: [], account_uri: 'https://a.example/1'", "bad-part 'https://a.example/1'"],
    ["issue: [a.example, b.example], account_uri: 'https://a.example/1'", "bad-part 'https://a.example/1'"],
    ["issue: [a.example], account_uri: 'https://a.example/;1'", "bad-part 'https://a.example/;1'"],
    ["issue: [a.example], validation_methods: ['dns 01']", "bad-part 'dns 01'"],
    ["iodef: 'tel:1'", "bad-part 'tel:1'"],
  ])("{ %s } is wrong at its own place", async (parts, expected) => {
    expect(await faults(`caa: { ${parts} }`)).toEqual([expected]);
  });
});

describe("a builder", () => {
  test("is one thing, with the keys that its records can have", async () => {
    expect(await faults("spf: { all: fail }, dmarc: { policy: none }")).toEqual(["conflicting-keys dmarc"]);
    expect(await faults("type: TXT, target: x, spf: { all: fail }")).toEqual(["conflicting-keys spf"]);
    expect(await faults("name: www")).toEqual(["missing-key name"]);
    expect(await faults("spf: { all: fail }, target: x")).toEqual(["wrong-field target"]);
    expect(await faults("ptr: {}, name: x")).toEqual(["wrong-field name"]);
    expect(await faults("spf: ~")).toEqual(["empty-value ~"]);
    expect(await faults("spf: [all]")).toEqual(["wrong-type [all]"]);
  });

  test("hands on TTL, note and lint, takes defaults and variables, and stands where it is written", async () => {
    const result = await loadText(
      `variables: { net: { default: [192.0.2.0/24] } }\ndefaults: { record: { ttl_sec: 3600 } }\n${zone(
        "spf: { x-why: y, ip4: '${var.net}', all: fail }, note: n, lint: { off: [a-b] }",
        "caa: { issue: [ca.example] }, ttl_sec: 300",
      )}`,
    );
    expect(texts(result)[0]).toBe("TXT @ v=spf1 ip4:192.0.2.0/24 -all");
    const [spf, caa] = declaredZone(result).spec.records ?? [];
    expect(spf).toMatchObject({ ttl_sec: 3600, note: "n", lintOff: ["a-b"] });
    expect(caa?.ttl_sec).toBe(300);
    expect(result.sources.position("tenon.yaml", spf?.span.start ?? 0).line).toBe(9);
  });

  test("of a record set is replaced by what a domain says itself", async () => {
    const sets = "record_sets: { mail: [{ spf: { mx: true, all: fail } }, { dmarc: { policy: none } }] }\n";
    const result = await loadText(sets + domain("use: [mail]\nrecords: [{ spf: { all: fail }, override: true }]\n"));
    expect(texts(result)).toEqual(["TXT _dmarc v=DMARC1; p=none", "TXT @ v=spf1 -all"]);
  });

  test("meets the checks of all records", async () => {
    const result = await loadText(
      zone("type: CNAME, name: a, target: x.example.", "spf: { all: fail }, name: a", "spf: { all: fail }, name: a"),
    );
    expect(places(result)).toEqual(["cname-conflict tenon.yaml:7:9", "duplicate-record tenon.yaml:9:9"]);
  });
});
