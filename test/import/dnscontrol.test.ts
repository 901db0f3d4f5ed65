import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import type { ImportResult } from "../../src/import/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { folder } from "../manifest/support.ts";
import { Account, loadFolder } from "../support/account.ts";
import { domainOf, irOf, pushed } from "../support/dnscontrol.ts";
import { codesOf, fileOf, type IrImportOptions, importIr, written } from "../support/imports.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/dnscontrol/ir.json");
const EMAIL = "dns@example.com";

/** An import of one file with this text. */
function importedText(
  text: string | Buffer,
  options: IrImportOptions = { soaEmail: EMAIL, skipUnsupported: true },
  name = "ir.json",
): Promise<ImportResult> {
  return importIr([join(folder({ [name]: text }), name)], options);
}

interface Imported {
  readonly domain: JsonObject & { readonly records?: readonly JsonObject[] };
  readonly codes: readonly string[];
  readonly skipped: readonly string[];
  readonly remarks: readonly string[];
}

/** The one domain of a file, with record sets and defaults resolved by hand where a test needs it. */
async function imported(records: readonly JsonObject[], more: JsonObject = {}, name = "a.test"): Promise<Imported> {
  const result = await importedText(irOf([domainOf(name, records, more)]));
  const read = result.ok ? result : result.imported;
  return {
    domain: result.ok ? parse(fileOf(result)).domains[0] : {},
    codes: codesOf(result),
    skipped: (read?.skipped ?? []).map((one) => `${one.reason} ${one.type} ${one.name}: ${one.detail}`),
    remarks: (read?.remarks ?? []).map(({ what, detail }) => `${what}: ${detail}`),
  };
}

async function stepsOf(result: ImportResult, account: Account): Promise<readonly unknown[]> {
  const { desired, diagnostics } = await loadFolder(await written(result));
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  return (await account.plan(desired)).steps;
}

async function accountAfter(ir: string): Promise<Account> {
  const account = await Account.open({ seed: pushed(ir, EMAIL) });
  onTestFinished(() => account.close());
  return account;
}

describe("what DNSControl 4.40 wrote", () => {
  it("plans empty against an account that it was pushed to", async () => {
    const account = await accountAfter(readFileSync(FIXTURE, "utf8"));
    const result = await importIr([FIXTURE], { soaEmail: EMAIL, skipUnsupported: true });
    expect(await stepsOf(result, account)).toEqual([]);
    expect(result.ok && result.counts.map(({ list, count }) => `${count} ${list}`)).toContain("21 records");
    expect(codesOf(result)).toEqual([]);
  });

  it("is refused for what the service cannot hold, each with its place in the program", async () => {
    const result = await importIr([FIXTURE], { soaEmail: EMAIL });
    expect(codesOf(result)).toEqual(["unsupported-records"]);
    expect((result.ok ? null : result.imported)?.skipped.map(({ type, name, detail }) => [type, name, detail])).toEqual(
      [
        ["ALIAS", "two.example.", "The service has no ALIAS records. It stands in line 8 of dnsconfig.js."],
        ["TLSA", "_443._tcp.two.example.", "The service has no TLSA records. It stands in line 8 of dnsconfig.js."],
      ],
    );
  });

  it("keeps what DNSControl lets be: NO_PURGE and IGNORE", async () => {
    const result = await importIr([FIXTURE], { soaEmail: EMAIL, skipUnsupported: true });
    const [, one, two] = parse(fileOf(result)).domains;
    expect(one).toMatchObject({
      domain: "one.example",
      records_policy: "additive",
      ignore: [{ name: "_acme-challenge", type: "TXT" }],
    });
    expect(two).not.toHaveProperty("records_policy");
  });

  it("of a thousand records plans empty, too", async () => {
    const records = Array.from({ length: 1_000 }, (_, index) => ({
      ...{ type: "A", name: `host-${index}`, target: `198.51.100.${index % 250}`, ttl: 600 },
    }));
    const ir = irOf([domainOf("a.example", records)]);
    const result = await importedText(ir);
    expect(await stepsOf(result, await accountAfter(ir))).toEqual([]);
  });
});

describe("records of DNSControl", () => {
  it("have the values of each type", async () => {
    const { domain, codes } = await imported([
      { type: "MX", name: "@", target: "." },
      { type: "SRV", name: "_sip._tcp.b", srvport: 5060, target: "sip.a.test." },
      { type: "CAA", name: "caa", caatag: "iodef", target: "mailto:a@a.test" },
      { type: "TXT", name: "txt", target: 'a "b" \\ ; ${x}' },
      { type: "TXT", name: "old", target: "one two", txtstrings: ["one ", "two"] },
      { type: "AAAA", name: "*.w", target: "2001:DB8:0::1" },
      { type: "TXT", name: "first", target: "v=spf1 include:a.test ", txtstrings: ["v=spf1 include:a.test ", "-all"] },
      { type: "CNAME", name: "bücher", target: "www.Bücher.example." },
    ]);
    expect(codes).toEqual([]);
    expect(domain.records).toEqual([
      { type: "MX", target: ".", priority: 0 },
      { type: "SRV", name: "_sip._tcp.b", target: "sip", priority: 0, weight: 0, port: 5060 },
      { type: "CAA", name: "caa", tag: "iodef", target: "mailto:a@a.test" },
      { type: "TXT", name: "first", target: "v=spf1 include:a.test -all" },
      { type: "TXT", name: "old", target: "one two" },
      { type: "TXT", name: "txt", target: 'a "b" \\ ; $${x}' },
      { type: "AAAA", name: "*.w", target: "2001:db8::1" },
      { type: "CNAME", name: "xn--bcher-kva", target: "www.xn--bcher-kva.example." },
    ]);
  });

  it("have the TTL that DNSControl sends: rounded up, and its own default where there is none", async () => {
    const { domain, codes } = await imported(
      [1, 30, 301, 3600, 2_419_201, 0].map((ttl) => ({ type: "A", name: `t${ttl}`, target: "192.0.2.1", ttl })),
    );
    expect(domain.records?.map(({ name, ttl_sec }) => [name, ttl_sec])).toEqual([
      ["t0", undefined],
      ["t1", undefined],
      ["t2419201", 2_419_200],
      ["t30", undefined],
      ["t301", 3600],
      ["t3600", 3600],
    ]);
    expect(codes).toEqual(["rounded-seconds"]);
  });

  it("may be those of `--raw`, with targets that are relative to the zone or to the subdomain", async () => {
    const { domain, codes } = await imported([
      { type: "CNAME", name: "one", target: "www" },
      { type: "CNAME", name: "two.sub", subdomain: "sub", target: "www" },
      { type: "MX", name: "sub", subdomain: "sub", target: "@", mxpreference: 5 },
    ]);
    expect(codes).toEqual([]);
    expect(domain.records?.map(({ target }) => target)).toEqual(["www", "sub", "www.sub.a.test."]);
    const bad = await imported([{ type: "CNAME", name: "x", target: "www.b.test" }]);
    expect(bad.codes).toEqual(["bad-dnscontrol"]);
  });

  it("that the service would refuse are set aside, those beside them taken", async () => {
    const { domain, skipped } = await imported([
      { type: "CAA", name: "c", caatag: "issue", caaflag: 128, target: "ca.test" },
      { type: "CAA", name: "c", caatag: "contactemail", target: "a@a.test" },
      { type: "MX", name: "m", mxpreference: 256, target: "mx.a.test." },
      { type: "CNAME", name: "@", target: "www.a.test." },
      { type: "A", name: "www", target: "192.0.2.300" },
      { type: "A", name: "www", target: "192.0.2.3" },
      { type: "URL301", name: "go", target: "https://a.test/" },
      { type: "RP", name: "@", target: "", fields: { Mbox: "a.a.test." } },
    ]);
    expect(domain.records).toEqual([{ type: "A", name: "www", target: "192.0.2.3", ttl_sec: 300 }]);
    expect(skipped.map((line) => line.replace(/: .*/, "")).sort()).toEqual([
      "not-holdable A www.a.test.",
      "not-holdable CAA c.a.test.",
      "not-holdable CAA c.a.test.",
      "not-holdable CNAME a.test.",
      "not-holdable MX m.a.test.",
      "unsupported-type RP a.test.",
      "unsupported-type URL301 go.a.test.",
    ]);
    expect(skipped.join("\n")).toContain("no flags of CAA records. It stands in line 3 of dnsconfig.js.");
  });

  it("of the apex NS and the SOA belong to the service, and the address of the SOA is taken over", async () => {
    const soa = { type: "SOA", name: "@", target: "ns1.x.test.", soambox: "host.master.a.test." };
    const { domain, skipped, codes } = await imported([soa, { type: "NS", name: "@", target: "ns1.x.test." }], {
      nameservers: [{ name: "ns2.x.test" }],
    });
    expect(domain["soa_email"]).toBe("host@master.a.test");
    expect(skipped.map((line) => line.replace(/: .*/, ""))).toEqual([
      "soa SOA a.test.",
      "apex-ns NS a.test.",
      "apex-ns NS a.test.",
    ]);
    expect(codes).toEqual([]);
  });
});

describe("the options of a domain", () => {
  it("for what is left alone become `ignore`, at most wider than they were", async () => {
    const { domain, remarks } = await imported([{ type: "A", name: "www", target: "192.0.2.1" }], {
      unmanaged: [
        { label_pattern: "@", rType_pattern: "*", target_pattern: "*" },
        { label_pattern: "old-*", rType_pattern: "A, CNAME", target_pattern: "*" },
        { label_pattern: "*", rType_pattern: "CNAME", target_pattern: "*.acm-validations.aws." },
        { label_pattern: "node?.{a,b}[0-9]", rType_pattern: "*" },
        { label_pattern: "a\\*b" },
        { label_pattern: "", rType_pattern: "", target_pattern: "" },
        {},
      ],
      ignore_external_dns: true,
      external_dns_prefix: "extdns-",
    });
    expect(domain["ignore"]).toEqual([
      { name: "@" },
      { name: "old-*", type: "A" },
      { name: "old-*", type: "CNAME" },
      { type: "CNAME", target: "*.acm-validations.aws." },
      { name: "node*.*" },
      { name: "a\\*b" },
      { name: "*" },
      { name: "*" },
      { preset: "external-dns", txt_prefix: "extdns-" },
    ]);
    expect(remarks).toEqual(["`IGNORE`: `*` stands for what the pattern has beside stars, so that more is ignored"]);
  });

  it("keep a plan from touching what DNSControl ignored", async () => {
    const text = irOf([
      domainOf("a.test", [{ type: "A", name: "www", target: "192.0.2.1" }], {
        unmanaged: [{ label_pattern: "*", rType_pattern: "CNAME", target_pattern: "*.validations.example." }],
      }),
    ]);
    const seed = pushed(text, EMAIL);
    const own = { type: "CNAME", name: "x", target: "y.validations.example", ttl_sec: 300 };
    const [domain] = seed.domains ?? [];
    const account = await Account.open({
      seed: { domains: [{ ...domain, records: [...(domain?.records ?? []), own] }] } as typeof seed,
    });
    onTestFinished(() => account.close());
    expect(await stepsOf(await importedText(text), account)).toEqual([]);
  });

  it("that have no counterpart are said", async () => {
    const { remarks } = await imported(
      [{ type: "A", name: "www", target: "192.0.2.1", meta: { cloudflare_proxy: "on" } }],
      {
        registrar: "gandi",
        dnsProviders: { linode: -1, route53: -1 },
        auto_dnssec: "on",
        recordsabsent: [{ type: "A", name: "old", target: "192.0.2.9" }],
        some_new_key: true,
        meta: { dnscontrol_uniquename: "a.test", ns_ttl: "300" },
      },
    );
    expect(remarks).toEqual([
      "`cloudflare_proxy`: an option for DNSControl or one of its providers, which is left out",
      "the registrar `gandi`: Tenon sets no delegation; leave that to it or to DNSControl",
      "the providers linode, route53: the zone is at several services; Tenon manages it at one",
      "`ENSURE_ABSENT of A old`: what is not declared is deleted by itself, unless the policy is additive",
      "`auto_dnssec`: the service signs no zones",
      "`some_new_key`: an option for DNSControl or one of its providers, which is left out",
      "`ns_ttl`: an option for DNSControl or one of its providers, which is left out",
    ]);
  });
});

describe("views of a zone", () => {
  const view = (name: string, target: string) => domainOf(name, [{ type: "A", name: "www", target }]);
  const targets = (result: ImportResult) =>
    parse(fileOf(result)).domains.map(({ records: [one] }: { records: JsonObject[] }) => one?.["target"]);

  it("are left out but for the one without a tag", async () => {
    const result = await importedText(irOf([view("a.test!inside", "10.0.0.1"), view("a.test", "192.0.2.1")]));
    expect(targets(result)).toEqual(["192.0.2.1"]);
    expect(result).toMatchObject({ elsewhere: [{ type: "domain", address: "a.test!inside" }] });
  });

  it("that all have tags are an error, until one is named", async () => {
    const text = irOf([view("a.test!inside", "10.0.0.1"), view("a.test!outside", "192.0.2.1")]);
    const refused = await importedText(text);
    expect(codesOf(refused)).toEqual(["duplicate-entry"]);
    expect(targets(await importedText(text, { soaEmail: EMAIL, domains: ["a.test!outside"] }))).toEqual(["192.0.2.1"]);
    expect(targets(await importedText(irOf([view("a.test!", "192.0.2.7")])))).toEqual(["192.0.2.7"]);
    // As versions before 4.20 write it.
    const old = { ...view("a.test", "192.0.2.8"), name: "a.test!x", uniquename: "a.test!x" };
    expect(targets(await importedText(irOf([old])))).toEqual(["192.0.2.8"]);
  });

  it("and zones that no provider serves are left out", async () => {
    const result = await importedText(
      irOf([{ ...view("a.test", "192.0.2.1"), dnsProviders: {} }, view("b.test", "192.0.2.2")]),
    );
    expect(targets(result)).toEqual(["192.0.2.2"]);
    expect(result).toMatchObject({ elsewhere: [{ address: "a.test" }] });
  });

  it("are chosen by globs, and a glob that fits nothing is said", async () => {
    const text = irOf([view("a.test", "192.0.2.1"), view("b.example", "192.0.2.2")]);
    const result = await importedText(text, { soaEmail: EMAIL, domains: ["*.TEST", "c.*"] });
    expect(targets(result)).toEqual(["192.0.2.1"]);
    expect(codesOf(result)).toEqual(["no-match"]);
  });
});

describe("a file that is not the intermediate JSON", () => {
  it.each([
    ["the program", "dnsconfig.js", 'D("a.test", REG);', "wrong-file", /is a program$/],
    ["the credentials", "creds.json", '{"l":{"TYPE":"LINODE","token":"hunter2"}}', "wrong-file", /is a creds\.json$/],
    ["a state of Terraform", "a.json", '{"version":4,"terraform_version":"1"}', "no-dnscontrol", /not written by/],
    ["other JSON", "a.json", "[]", "no-dnscontrol", /is not what/],
    ["domains alone", "a.json", '{"domains":[]}', "no-dnscontrol", /is not what/],
    ["a cut file", "a.json", '{"domains":[', "bad-json", /cannot be read as JSON$/],
    ["nesting without end", "a.json", "[".repeat(200_000), "bad-json", /cannot be read as JSON$/],
    ["what is not UTF-8", "a.json", Buffer.from('{"a":"\xff"}', "latin1"), "not-utf8", /it is not UTF-8$/],
  ])("%s is an error", async (_, name, text, code, summary) => {
    const result = await importedText(text, {}, name);
    const found = (result.ok ? null : result.imported)?.diagnostics ?? [];
    expect(found).toMatchObject([{ code, severity: "error", summary: expect.stringMatching(summary) }]);
    expect(JSON.stringify([result, (result.ok ? null : result.imported)?.sources.text(name)])).not.toContain("hunter2");
  });

  it.each([
    ["domains that are no list", { domains: {} }, /`domains` is no list/],
    ["a domain without a name", { domains: [{ records: [] }] }, /a domain has no `name`/],
    ["a domain of a bad name", { domains: [domainOf("a b.test", [])] }, /takes no domain named a b\.test/],
    ["records that are no list", { domains: [{ name: "a.test", records: {} }] }, /`records` is no list/],
    ["a record without a type", { domains: [domainOf("a.test", [{ name: "x" }])] }, /a record has no `type`/],
    ["a record without a target", { domains: [domainOf("a.test", [{ type: "A", name: "x" }])] }, /has no `target`/],
    [
      "a record of a newer form",
      { domains: [domainOf("a.test", [{ type: "MX", name: "x", target: "", fields: { Mx: "a." } }])] },
      /the MX record at `x` has no `target`/,
    ],
    [
      "a text that is another text than its strings",
      { domains: [domainOf("a.test", [{ type: "TXT", name: "x", target: "a b", txtstrings: ["a ", "c"] }])] },
      /`txtstrings` and `target` of the TXT record at `x` are not the same text/,
    ],
    [
      "a text that is the last of its strings",
      { domains: [domainOf("a.test", [{ type: "TXT", name: "x", target: "a b", txtstrings: ["b", "a b"] }])] },
      /`txtstrings` and `target` of the TXT record at `x` are not the same text/,
    ],
    [
      "a text of strings that are none",
      { domains: [domainOf("a.test", [{ type: "TXT", name: "x", target: "a b", txtstrings: ["a ", 5] }])] },
      /`txtstrings` and `target` of the TXT record at `x` are not the same text/,
    ],
    [
      "a TTL that is a text",
      { domains: [domainOf("a.test", [{ type: "A", name: "x", target: "192.0.2.1", ttl: "1h" }])] },
      /`ttl` of the A record at `x` is no number/,
    ],
  ])("%s is an error at its place", async (_, content, summary) => {
    const result = await importedText(JSON.stringify({ dns_providers: [], registrars: [], ...content }));
    const found = (result.ok ? null : result.imported)?.diagnostics ?? [];
    expect(found[0]).toMatchObject({ code: "bad-dnscontrol", summary: expect.stringMatching(summary) });
    expect(found[0]?.span?.file).toMatch(/ir\.json$/);
  });

  it("with names that attack the reader stays data", async () => {
    const result = await importedText(
      `{"dns_providers":[],"__proto__":{"x":1},"domains":[${JSON.stringify(
        domainOf("a.test", [
          { type: "A", name: "a\nb", target: "192.0.2.1" },
          { type: "\u001b[2J", name: "x", target: "y", filepos: "[\u001b[2J:1:1]" },
          { type: "TXT", name: "t", target: "line\nbreak" },
          { type: "A", name: "ok", target: "192.0.2.1" },
        ]),
      )}]}`,
    );
    expect(parse(fileOf(result)).domains[0].records).toEqual([
      { type: "A", name: "ok", target: "192.0.2.1", ttl_sec: 300 },
    ]);
    expect(result.ok && result.skipped).toHaveLength(3);
    expect(JSON.stringify(result.ok && result.skipped.map(({ detail }) => detail))).not.toContain("stands in line 1");
  });
});
