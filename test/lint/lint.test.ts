/** What holds for all rules: unknown codes, hostile names, and time that grows with the records only. */

import { expect, test } from "vitest";
import { lintZones } from "../../src/lint/lint.ts";
import type { LintRecord, LintZone } from "../../src/lint/rule.ts";
import { growth } from "../support/operations.ts";
import { linesOf, lint, project, withRecords, withZones } from "./projects.ts";

const SPAN = { file: "zones.txt", start: 0, end: 0 };

test("a code that no rule has is named with its place, and the code that was meant", () => {
  const one = project("zone example.com\n! www A 192.0.2.1\n! web A 192.0.2.1");
  const given = withRecords(
    withZones(one, (zone) => ({ ...zone, off: ["mixed-ttls", "cname-loop"] })),
    (record) => ({ ...record, lintOff: ["zzzzzzzzzzzzzzzzzzz"] }),
  );
  const found = lint(given, ["mx-without-spf", "mx_without_spf"]);
  expect(found.map(({ code, severity, summary, fix }) => ({ code, severity, summary, fix }))).toEqual(
    [
      ["mx_without_spf", "Did you mean `mx-without-spf`?"],
      ["mixed-ttls", "Did you mean `mixed-ttl`?"],
      ["zzzzzzzzzzzzzzzzzzz", "Use a code of the table in docs/reference/lint-codes.md, or remove it."],
      ["zzzzzzzzzzzzzzzzzzz", "Use a code of the table in docs/reference/lint-codes.md, or remove it."],
    ].map(([code, fix]) => ({
      code: "unknown-lint-code",
      severity: "warning",
      summary: `unknown lint code \`${code}\``,
      fix,
    })),
  );
  expect(found[0]).not.toHaveProperty("span");
  expect(linesOf("unknown-lint-code", found.slice(1), given)).toEqual(["zone example.com", ...one.marked]);
});

test("an unknown code is silent where unknown codes are switched off, and a known one that suppresses nothing is, too", () => {
  const one = project("zone example.com\nwww A 192.0.2.1");
  const off = (...codes: string[]) => withZones(one, (zone) => ({ ...zone, off: codes }));
  expect(lint(off("nonsense", "unknown-lint-code"))).toEqual([]);
  expect(lint(off("nonsense"), ["unknown-lint-code"])).toEqual([]);
  expect(lint(off("cname-loop", "cached-target"))).toEqual([]);
});

test("records that point at one name that is missing are told together, but for those that switch it off", () => {
  const lines = ["zone example.com", "a CNAME gone", "b CNAME gone", "c MX 1 gone", "d CNAME gone"];
  const one = project(lines.join("\n"));
  const found = (given: typeof one) => lint(given).filter(({ code }) => code === "missing-target");
  expect(linesOf("missing-target", found(one), one)).toEqual(["a CNAME gone", "c MX 1 gone"]);
  expect(found(one)[0]?.detail).toContain(
    "the CNAME record at `a`, and of 2 more records, has no records in example.com.",
  );
  expect(found(one)[0]?.related).toHaveLength(2);
  const off = withRecords(one, (record) => (record.name === "a" ? { ...record, lintOff: ["missing-target"] } : record));
  expect(linesOf("missing-target", found(off), off)).toEqual(["b CNAME gone", "c MX 1 gone"]);
});

test("names as deep and as long as names can be are looked at without trouble", () => {
  const zone = `${Array.from({ length: 60 }, () => "z").join(".")}.example`;
  const deep = Array.from({ length: 50 }, () => "a").join(".");
  const text = [`zone ${zone}`, `${deep} CNAME b.${deep}`, `*.${deep} CNAME c.${deep}`, `@ MX 10 ${deep}`];
  const codes = lint(project(text.join("\n"))).map(({ code }) => code);
  expect(codes).toContain("cname-loop");
  const odd = project(
    "zone constructor.example\n__proto__ CNAME tostring\nhasownproperty A 192.0.2.1\n_dmarc TXT v=DMARC1; constructor=1",
  );
  expect(lint(odd).map(({ code }) => code)).toEqual(["missing-target", "dmarc-syntax"]);
});

test("texts that are made to be slow to read are read in one pass: squares of their length would take minutes", () => {
  const long = 400_000;
  const texts = [
    `v=spf1 ${"a:".repeat(long / 2)}`,
    `v=spf1 ${"include:a.example ".repeat(long / 18)}`,
    `v=spf1 ${"a".repeat(long)}`,
    `v=spf1 ${"a-".repeat(long / 2)}!`,
    `v=DMARC1; ${"a".repeat(long)}`,
    `v=spf1 exists:${"%{i}".repeat(long / 4)}`,
    `v=spf1 exists:${"a-".repeat(long / 2)}!`,
    `v=DMARC1; p=none; rua=${"a:b,".repeat(long / 4)}`,
    `v=DMARC1; p=none; fo=${"1:".repeat(long / 2)}`,
    `v=DMARC1;${" ;".repeat(long / 2)}`,
    `v=DKIM1; p=${"A".repeat(long)}`,
    `v=DKIM1; p=${" ".repeat(long)}=`,
    `"${"\\\\".repeat(long / 2)}`,
    `${" ".repeat(long)}v=spf`,
    `letsencrypt.org; ${"a=".repeat(long / 2)}`,
    `${"a-".repeat(long / 2)}_`,
    `a;${"a=b ".repeat(long / 4)}`,
    ` ${"a.".repeat(long / 2)};`,
    `a;a=b${" ".repeat(long)}_`,
    `a;a${" ".repeat(long)}_`,
    `v=spf1 exists:${".a".repeat(long / 2)}!`,
    `v=DMARC1; p=none; rf=${"a-".repeat(long / 2)}!`,
  ];
  const records = texts.flatMap((target): LintRecord[] => [
    { type: "TXT", name: "_dmarc", target, ttl_sec: 0, span: SPAN, lintOff: [] },
    { type: "TXT", name: "a._domainkey", target, ttl_sec: 0, span: SPAN, lintOff: [] },
    { type: "CAA", name: "", target, tag: "issue", ttl_sec: 0, span: SPAN, lintOff: [] },
    { type: "CAA", name: "", target, tag: "iodef", ttl_sec: 0, span: SPAN, lintOff: [] },
  ]);
  expect(lintZones([zone("example.com", records)], [], null).length).toBeGreaterThan(0);
});

test("a zone of eight times the records is read eight times as often, not sixty-four", () => {
  const few = readsOf([zone("few.example", everything(1_500))]);
  const many = readsOf([zone("many.example", everything(12_000))]);
  expect(few).toBeGreaterThan(1_500 * 10);
  expect(many).toBeLessThan(few * 8 * 1.1);
});

test("a chain of six thousand aliases, or includes, is followed to its end, and one four times as long with four times the work", async () => {
  const chain = (count: number) => [
    zone(
      "chain.example",
      Array.from({ length: count }, (_, n) => record(n, "CNAME", `n${n}`, `n${n + 1}.chain.example`)),
    ),
    zone(
      "spf.example",
      Array.from({ length: count }, (_, n) =>
        record(n, "TXT", `n${n}`, `v=spf1 include:n${n + 1}.spf.example include:n${n + 2}.spf.example -all`),
      ),
    ),
    zone(
      "loop.example",
      Array.from({ length: count }, (_, n) => record(n, "CNAME", `n${n}`, `n${(n + 1) % count}.loop.example`)),
    ),
    zone(
      "ring.example",
      Array.from({ length: count }, (_, n) =>
        record(n, "TXT", `n${n}`, `v=spf1 include:n${(n + 1) % count}.ring.example -all`),
      ),
    ),
  ];
  const follow = (count: number) => lintZones(chain(count), [], null);
  follow(6_000);
  expect(await growth(300, 4, follow)).toBeLessThan(5);
});

test("eight times the zones that point at each other are read eight times as often", () => {
  const fleet = (count: number): LintZone[] =>
    Array.from({ length: count }, (_, n) =>
      zone(`zone-${n}.example`, [
        record(0, "CNAME", "www", `www.zone-${n + 1}.example`),
        record(1, "MX", "", `mx.zone-${n + 1}.example`),
        record(2, "A", "mx", "192.0.2.1"),
        record(3, "TXT", "", `v=spf1 include:zone-${n + 1}.example -all`),
        record(4, "NS", "sub", `ns.zone-${n + 1}.example`),
      ]),
    );
  const few = readsOf(fleet(125));
  expect(readsOf(fleet(1_000))).toBeLessThan(few * 8 * 1.1);
});

function zone(name: string, records: readonly LintRecord[]): LintZone {
  return {
    ...{ zone: name, address: `domain/${name}`, span: SPAN, type: "master", status: "active", ttl_sec: null },
    ...{ records, policy: "authoritative", ignore: [], off: [] },
  };
}

function record(at: number, type: LintRecord["type"], name: string, target: string): LintRecord {
  return { type, name, target, ttl_sec: at % 2, span: { ...SPAN, start: at }, lintOff: [] };
}

/** Something for every rule. */
function everything(count: number): LintRecord[] {
  return Array.from({ length: count }, (_, n): LintRecord => {
    switch (n % 6) {
      case 0:
        return record(n, "A", `host-${n}`, "10.0.0.1");
      case 1:
        return record(n, "CNAME", `www-${n}`, `host-${n + 2}.many.example`);
      case 2:
        return record(n, "MX", `host-${n - 2}`, `mx-${n}.many.example`);
      case 3:
        return record(n, "NS", `sub-${n}`, `ns.sub-${n}.many.example`);
      case 4:
        return record(n, "TXT", `www.sub-${n - 1}`, '"v=spf1 include:many.example +all"');
      default:
        return record(n, "TXT", `k${n}._domainkey`, "v=DKIM1; p=AAAA");
    }
  });
}

/** How often anything of a record is read: the same on every machine. */
function readsOf(zones: readonly LintZone[]): number {
  let reads = 0;
  const counted = (record: LintRecord): LintRecord =>
    new Proxy(record, {
      get: (target, key, receiver) => {
        reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
  lintZones(
    zones.map((each) => ({ ...each, records: each.records?.map(counted) ?? null })),
    [],
    null,
  );
  return reads;
}
