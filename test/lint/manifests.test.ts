/** From manifests to lint: who switches a rule off, what is said once, and what a plan says of caches. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lintProject } from "../../src/index.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import { loadFiles } from "../manifest/support.ts";
import { Account } from "../support/account.ts";

const HEAD = `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
`;

const NOW = Date.UTC(2026, 10, 21, 12);

async function linted(files: Readonly<Record<string, string>>): Promise<Diagnostic[]> {
  const { project, diagnostics } = await loadFiles(files);
  if (project === null) throw new Error(JSON.stringify(diagnostics, null, 2));
  return lintProject(project, diagnostics);
}

describe("lintProject", () => {
  it("lets any of three SPF records at a name switch the rule off that is about all of them", async () => {
    const texts = ["v=spf1 -all", "v=spf1 mx -all", "v=spf1 a -all"];
    const entry = (index: number, off: number) =>
      `      - { type: TXT, target: "${texts[index]}"${index === off ? ", lint: { off: [multiple-spf] }" : ""} }\n`;
    const manifest = (off: number) => `${HEAD}    records:\n${texts.map((_, index) => entry(index, off)).join("")}`;
    const found = async (off: number) =>
      (await linted({ "tenon.yaml": manifest(off) })).filter(({ code }) => code === "multiple-spf");
    const [told, ...more] = await found(-1);
    expect(more).toEqual([]);
    expect(told?.detail).toMatch(/^3 TXT records /);
    for (const off of texts.keys()) expect(await found(off)).toEqual([]);
  });

  it("is silent where a rule is off: for a record, a domain, the domains of a file, the project", async () => {
    const off = "lint: { off: [private-address] }";
    const record = (lint = "") => `    records: [{ type: A, target: 10.0.0.1${lint} }]\n`;
    expect(await linted({ "tenon.yaml": HEAD + record() })).toMatchObject([{ code: "private-address" }]);
    for (const text of [
      `${HEAD}${record(`, ${off}`)}`,
      `${HEAD}    ${off}\n${record()}`,
      `${HEAD}${record()}defaults: { domain: { ${off} } }\n`,
      `${HEAD}${record()}${off}\n`,
    ]) {
      expect(await linted({ "tenon.yaml": text })).toEqual([]);
    }
  });

  it("names a code that does not exist, and finds two spellings of a name", async () => {
    const records = `    records:
      - { type: A, name: www, target: 192.0.2.1 }
      - { type: AAAA, name: WWW, target: "2001:db8::1", lint: { off: [private-adress] } }
      - { type: TXT, name: www, target: "name: Www" }
`;
    const found = await linted({ "tenon.yaml": HEAD + records });
    const start = (HEAD + records).indexOf("{ type: AAAA");
    expect(found).toMatchObject([
      { code: "unknown-lint-code", fix: "Did you mean `private-address`?", span: { start } },
      { code: "mixed-case", span: { start } },
    ]);
  });

  it("says once what many domains take over from one record set", async () => {
    const text = `tenon: 1
defaults: { domain: { type: master, soa_email: hostmaster@example.com } }
record_sets: { inside: [{ type: A, target: 10.0.0.1 }] }
domains: [{ domain: [a.example, b.example, c.example], use: [inside] }]
`;
    const found = await linted({ "tenon.yaml": text });
    expect(found).toMatchObject([{ code: "private-address", detail: expect.stringContaining("2 more places") }]);
  });

  it("tells what it finds in several files in the order of the files, beside what loading found", async () => {
    const zone = (name: string, record: string) =>
      `tenon: 1\ndomains: [{ domain: ${name}, type: master, soa_email: a@b.example, records: [${record}] }]\n`;
    const found = await linted({
      "tenon.yaml": 'tenon: 1\nfiles: ["*.yaml"]\nlint: { off: [nonsense-code] }\n',
      "a.yaml": zone("b.example", "{ type: A, target: 10.0.0.1, ttl_sec: 301 }"),
      "b.yaml": zone("a.example", "{ type: CNAME, name: a, target: nothing.b.example. }"),
    });
    expect(found.map(({ code, span }) => `${code} ${span?.file}`)).toEqual([
      "unknown-lint-code tenon.yaml",
      "private-address a.yaml",
      expect.stringMatching(/ a\.yaml$/),
      "missing-target b.yaml",
    ]);
  });

  it("takes a domain without records, a slave and what is ignored for unknown", async () => {
    const text = `tenon: 1
defaults: { domain: { type: master, soa_email: hostmaster@example.com } }
domains:
  - domain: open.example
  - { domain: copied.example, type: slave, master_ips: [192.0.2.1] }
  - { domain: kept.example, ignore: [{ name: "*", type: A }], records: [] }
  - { domain: more.example, records_policy: additive, records: [] }
  - domain: from.example
    records:
      - { type: CNAME, name: a, target: a.open.example. }
      - { type: CNAME, name: b, target: a.copied.example. }
      - { type: CNAME, name: c, target: a.kept.example. }
      - { type: CNAME, name: d, target: a.more.example. }
      - { type: CNAME, name: e, target: nothing }
`;
    const found = await linted({ "tenon.yaml": text });
    expect(found.map(({ code }) => code)).toEqual(["missing-target"]);
  });

  it("takes the names of others for unknown on both sides of a shared zone, also beneath a wildcard", async () => {
    const record = (name: string, target: string): string => `{ type: CNAME, name: ${name}, target: ${target} }`;
    const domain = "domain: a.example, type: master, soa_email: hostmaster@example.com";
    const own = [record("a", "b.shop.a.example."), record("c", "missing.a.example.")].join(", ");
    const owner = (records: string): string =>
      `tenon: 1\ndomains: [{ ${domain}, shared_with: [{ owner: shop, names: ["*.shop"] }], records: [${records}] }]\n`;
    const unshared = (records: string): string => owner(records).replace(/shared_with.*?\], /, "");
    expect(await linted({ "tenon.yaml": owner(own) })).toMatchObject([{ code: "missing-target", detail: /missing/ }]);
    expect(await linted({ "tenon.yaml": unshared(own) })).toHaveLength(2);
    const beneath = `${record('"*"', "x.example.net.")}, { type: NS, name: sub, target: b.shop.a.example. }, { type: NS, name: sub, target: ns.example.net. }`;
    expect(await linted({ "tenon.yaml": owner(beneath) })).toEqual([]);
    expect(await linted({ "tenon.yaml": unshared(beneath) })).toMatchObject([{ code: "pointer-to-cname" }]);
    const teams = [record("a.shop", "www.a.example."), record("c.shop", "missing.shop.a.example.")].join(", ");
    const part = `tenon: 1\nowner: shop\ndomains: [{ domain: a.example, part: { names: ["*.shop"] }, records: [${teams}] }]\n`;
    expect(await linted({ "tenon.yaml": part })).toMatchObject([{ code: "missing-target", detail: /missing/ }]);
  });

  it("takes of a preset that is ignored what it can hold: challenges nowhere else, external-dns anything", async () => {
    const missing = (preset: string): string =>
      `${HEAD}    ignore: [{ preset: ${preset} }]\n    records: [{ type: CNAME, name: a, target: b }]\n`;
    expect(await linted({ "tenon.yaml": missing("acme") })).toMatchObject([{ code: "missing-target" }]);
    expect(await linted({ "tenon.yaml": missing("external-dns") })).toEqual([]);
  });

  it("knows the codes of what is told when a zone file is read", async () => {
    const files = {
      "tenon.yaml": `${HEAD}    zone_file: a.zone\n    lint: { off: [zone-file-soa, zone-file-apex-ns, zone-file-x] }\n`,
      "a.zone": "$TTL 300\n@ SOA ns.old.example. h.old.example. 1 2 3 4 5\n@ NS ns.old.example.\n",
    };
    expect(await linted(files)).toMatchObject([{ code: "unknown-lint-code" }]);
  });
});

describe("planProject", () => {
  let account: Account;
  const text = (target: string, lint = "") =>
    `${HEAD}    records: [{ type: A, name: www, target: ${target}${lint} }]\n`;
  beforeAll(async () => {
    account = await Account.open();
    await account.converge(text("192.0.2.1"));
  });
  afterAll(() => account.close());

  async function warnings(manifest: string, targets: readonly string[] = []): Promise<string[]> {
    const { desired, diagnostics } = await account.load(manifest);
    if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 2));
    const plan = await account.plan(desired, { nowMilliseconds: NOW, targets });
    expect(plan.changes.length).toBeGreaterThan(0);
    return plan.warnings.map(({ summary }) => summary);
  }

  const kept = ["caches keep the old domain/example.com/www/A until 2026-11-22 12:00 UTC (changed; TTL 86400 seconds)"];

  it("warns of what caches keep, with the day that is the service's default", async () => {
    expect(await warnings(text("192.0.2.2"))).toEqual(kept);
    expect(await warnings(text("192.0.2.2"), ["domain/example.com/www/A"])).toEqual(kept);
    expect(await warnings(text("192.0.2.1"))).toEqual([]);
    expect(await warnings(text("192.0.2.1", ", ttl_sec: 300"))).toEqual([]);
  });

  it("does not where that is off: for the record, the domain, the project", async () => {
    const off = "lint: { off: [cached-target] }";
    expect(await warnings(text("192.0.2.2", `, ${off}`))).toEqual([]);
    expect(await warnings(`${text("192.0.2.2")}    ${off}\n`)).toEqual([]);
    expect(await warnings(text("192.0.2.2") + off)).toEqual([]);
  });
});
