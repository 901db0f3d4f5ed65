import { expect, test } from "vitest";
import { buildCaa } from "../../src/dns/builders.ts";
import { reformat } from "../../src/format/reformat.ts";
import { extractRecordSets } from "../../src/import/record-sets.ts";
import { lintProject, type Project } from "../../src/index.ts";
import {
  MAX_CONSENTS,
  MAX_DIRECTORY_ENTRIES,
  MAX_FILE_PATTERNS,
  MAX_IGNORE_COMPARISONS,
  MAX_IGNORE_PATTERNS,
  MAX_REPORTED_REFERENCES,
} from "../../src/manifest/limits.ts";
import type { Block, Change } from "../../src/model/change.ts";
import type { Guard, Plan } from "../../src/model/plan.ts";
import { compareIds, globMatches } from "../../src/model/text.ts";
import { MAX_LOOKED_AT_ENVIRONMENTS } from "../../src/pipeline.ts";
import { consentsOf } from "../../src/render/consent.ts";
import { renderPlanMarkdown } from "../../src/render/index.ts";
import { codeSpan } from "../../src/render/markdown/parts.ts";
import { units } from "../../src/units/index.ts";
import { misspeltRegions } from "../../src/units/network/regions.ts";
import { splitDescription } from "../../src/units/owner-tag.ts";
import { ignoring, isIgnored } from "../../src/units/zone/ignore.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf } from "../cli/run.ts";
import { codes, folder, load, loadText } from "../manifest/support.ts";
import { change, plan } from "../render/plans.ts";
import { codesOf, importFiles } from "../support/imports.ts";
import { growth, operationsOf } from "../support/operations.ts";

// Each of these is a manifest of a megabyte or two at most, and is refused within the process. What takes gigabytes, or a process of its own, is in threats-size.test.ts.

const MASTER = "type: master\n    soa_email: a@a.example";

function list(count: number, item: (index: number) => string, separator = ", "): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(separator);
}

/** One entry for so many domains. */
function domains(count: number, rest: string): string {
  return `domains:\n  - domain: [${list(count, (index) => `d${index}.example`)}]\n    ${MASTER}\n    ${rest}\n`;
}

function sets(records: string): string {
  return `record_sets:\n  s: [${records}]\n`;
}

test("a variable that is put in many times, as text or as a list, is refused before it is put in", async () => {
  const long = `variables: { x: { default: "${"v".repeat(1024 * 1024)}" } }\n`;
  const short = `variables: { x: { default: "${"v".repeat(10_000)}" } }\n`;
  const values = `variables: { x: { default: [${list(1_000, () => "tag")}] } }\n`;
  const vpc = (region: string) => `{ label: a, region: "${region}" }`;
  for (const text of [
    `${long}vpcs: [${list(100, () => vpc("a${var.x}"))}]\n`,
    `${long}vpcs: [${list(100, () => vpc("${var.x}"))}]\n`,
    // Longer than the longest text that there can be: no error of ours, then.
    `${long}vpcs: [${vpc("${var.x}".repeat(1_000))}]\n`,
    `${short}vpcs: [${vpc("${var.x}".repeat(10_000))}]\n`,
    `${values}domains: [${list(1_000, (index) => `{ domain: d${index}.example, type: master, tags: "\${var.x}" }`)}]\n`,
  ]) {
    expect(codes(await loadText(text))).toContain("expands-too-far");
  }
});

test("aliases of a long text, or of many values in each of many files, are refused before they are all put in", async () => {
  const long = `x-a: [&a "${"v".repeat(1024 * 1024)}", ${list(1_000, () => "*a")}]\n`;
  expect(codes(await loadText(long))).toEqual(["expands-too-far"]);
  const step = (name: string, of: string): string => `  ${name}: &${name} [${list(10, () => of)}]\n`;
  const bomb = `tenon: 1\nx-a:\n${step("a", "v")}${step("b", "*a")}${step("c", "*b")}${step("d", "*c")}${step("e", "*d")}`;
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}.yaml`, bomb]));
  const result = await load(folder({ "tenon.yaml": 'tenon: 1\nfiles: ["f*.yaml"]\n', ...files }));
  expect(codes(result)).toContain("expands-too-far");
});

test("a long text for many domains, of a record set, of defaults or with the zone's name in it, is refused before it is made", async () => {
  const record = (target: string) => `{ type: TXT, target: "${target}" }`;
  for (const text of [
    sets(record("x".repeat(60_000))) + domains(2_000, "use: [s]"),
    sets(record("${zone}".repeat(4_000))) + domains(2_000, "use: [s]"),
    // 36 million characters, of which a plan and its comment would make more than a gigabyte.
    sets(list(90, (index) => `{ type: TXT, name: n${index}, target: "\${zone} ${"x".repeat(480)}" }`)) +
      domains(780, "use: [s]"),
    `defaults: { domain: { tags: [${list(3_000, (index) => `tag${index}`)}] } }\n${domains(2_000, "")}`,
    sets(list(100, (index) => `{ type: A, name: n${index}, target: 192.0.2.1, note: "${"x".repeat(1_000)}" }`)) +
      domains(1_000, "use: [s]"),
  ]) {
    expect(codes(await loadText(text))).toEqual(["expands-too-far"]);
  }
});

test("record sets and patterns by the thousand, for thousands of domains or records, are refused before they are looked through", async () => {
  const empty = `record_sets: { ${list(1_500, (index) => `records-of-all-domains-${index}: []`)} }\n`;
  const use = `use: [${list(1_500, (index) => `records-of-all-domains-${index}`)}]`;
  expect(codes(await loadText(empty + domains(1_500, use)))).toEqual(["expands-too-far"]);
  const many = list(1_500, (index) => `{ domain: d${index}.example, type: master, soa_email: a@a.example }`);
  const shared = `${empty}defaults: { domain: { ${use} } }\ndomains: [${many}]\n`;
  expect(codes(await loadText(shared))).toEqual(["expands-too-far"]);
  const patterns = `ignore: [${list(MAX_IGNORE_PATTERNS, (index) => `{ name: "*a*b${index}" }`)}]`;
  const records = list(300, (index) => `{ type: TXT, name: ab${index}x, target: "${"x".repeat(4_000)}" }`);
  expect(codes(await loadText(domains(1, `${patterns}\n    records: [${records}]`)))).toEqual(["too-many-patterns"]);
  expect(MAX_IGNORE_COMPARISONS).toBeGreaterThan(200_000 * 60 * 50);
});

test("a zone file for thousands of domains is read no more often than there is room for, whatever it generates", async () => {
  const manifest = `tenon: 1\n${domains(1_000, "zone_file: z.zone")}`;
  for (const [zone, code] of [
    [`; ${"x".repeat(97)}\n`.repeat(1_500), "project-too-large"],
    ["$GENERATE 1-400 a A 192.0.2.1\n", "too-many-records"],
    [`$GENERATE 1-400 a TXT ( ${"${0,250} ".repeat(10)})\n`, "too-many-records"],
  ] as const) {
    const text = `$TTL 300\n@ A 192.0.2.1\n${zone}`;
    expect(codes(await load(folder({ "tenon.yaml": manifest, "z.zone": text })))).toEqual([code]);
  }
  // One small file for as many is what parked domains have.
  const parked = await load(folder({ "tenon.yaml": manifest, "z.zone": "$TTL 300\n@ A 192.0.2.1\nwww CNAME @\n" }));
  expect(parked.project?.desired.declared).toHaveLength(1_000);
});

test("a few lines make no more records, and a file has no more values, than a plan or a layout of a gigabyte", async () => {
  const records = sets(
    list(90, (index) => `{ type: TXT, name: n${index}, target: x, note: "${"\u202e".repeat(100)}" }`),
  );
  expect(codes(await loadText(records + domains(1_400, "use: [s]")))).toEqual(["too-many-records"]);
  expect(codes(await loadText(`x-a: [${"[0],".repeat(250_000)}]\n`))).toEqual(["too-many-values"]);
});

test("names of many labels are counted: a plan holds each name between a record and its domain", async () => {
  const deep = (count: number, labels: number) =>
    `$TTL 300\n$GENERATE 1-${count} $${".x".repeat(labels)} A 192.0.2.1\n`;
  const manifest = `tenon: 1\n${domains(4, "zone_file: z.zone")}`;
  const codesOf = async (zone: string) => codes(await load(folder({ "tenon.yaml": manifest, "z.zone": zone })));
  expect(await codesOf(deep(5_000, 41))).toEqual(["too-many-labels"]);
  expect(await codesOf(deep(5_000, 39))).toEqual([]);
  expect(await codesOf(deep(12_000, 2))).toEqual([]);
});

test("an escaped character counts with the length of its escape, wherever defaults, sets and lists put it", async () => {
  const tags = (character: string) => list(25, (index) => `"${character.repeat(40)}${index}"`);
  const text = (character: string) => domains(10_000, `tags: [${tags(character)}]`);
  expect(codes(await loadText(text("\u202e")))).toEqual(["expands-too-far"]);
  expect(codes(await loadText(text("\u00e9")))).toEqual([]);
});

test("the work for a comment is bounded by its room, however much there is to show", () => {
  const rendered: string[] = [];
  const created = (index: number): Change => {
    const value = {};
    Object.defineProperty(value, "text", {
      enumerable: true,
      get: () => {
        rendered.push(`d${index}`);
        return `${index} `.repeat(2_000);
      },
    });
    const after = { domain: `d${index}.example`, type: "master", create_from: value };
    return change(`domain/d${index}.example`, "domain", { action: "create", after });
  };
  const many = plan(Array.from({ length: 20_000 }, (_, index) => created(index)));
  rendered.length = 0;
  expect(renderPlanMarkdown(many).length).toBeLessThanOrEqual(65_536);
  // A line of each takes forty characters of the comment.
  expect(new Set(rendered).size).toBeLessThan(2_000);
});

test("invalid references are reported twenty at a time, and mismatched brackets end the reading", async () => {
  const text = `vpcs: [{ label: a, region: "${list(5_000, (index) => `\${var.v${index}}`, "")}" }]\n`;
  expect(codes(await loadText(text))).toEqual(
    Array.from({ length: MAX_REPORTED_REFERENCES }, () => "unknown-variable"),
  );
  expect(codes(await loadText(`x-a: ${"[}".repeat(20_000)}\n`))).toEqual(["yaml-syntax"]);
  // Each is an error that the library keeps: of a megabyte of them it would make more than a gigabyte.
  for (const piece of ["\n*", "\n&", "*,", ","]) {
    const text = `tenon: 1\nx-b: [${piece.repeat(500_000)}\n`;
    const found = await loadText(text);
    expect([piece, new Set(codes(found)), found.diagnostics.length <= 1_001]).toEqual([
      piece,
      new Set(["yaml-syntax"]),
      true,
    ]);
  }
});

test("a variable of megabytes is looked at no further by thousands of calls, whichever argument it is", async () => {
  const text = `"${"1".repeat(2_000_000)}"`;
  const values = `[${"1,".repeat(40_000)}1]`;
  for (const [value, call, code] of [
    [text, "cidrsubnet(var.x,8,1)", "bad-argument"],
    [text, "cidrsubnet('10.0.0.0/8',var.x,1)", "bad-argument"],
    [values, "cidrsubnet(var.x,8,1)", "bad-argument"],
    [values, "cidrsubnet('10.0.0.0/8',8,var.x)", "bad-argument"],
  ] as const) {
    const vpcs = list(30, (index) => `{ label: v${index}, region: "${`\${${call}}`.repeat(2_000)}" }`);
    const found = codes(await loadText(`variables: { x: { default: ${value} } }\nvpcs: [${vpcs}]\n`));
    expect([call, new Set(found)]).toEqual([call, new Set([code])]);
  }
});

test("VPCs in thousands of regions are each compared with the most used ones alone", async () => {
  const making = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const declared = {
        address: `vpc/n${index}`,
        span: { file: "tenon.yaml", start: 0, end: 0 },
        spec: { region: `r${index}` },
      };
      return { intent: "create", live: null, declared } as unknown as Parameters<typeof misspeltRegions>[0][number];
    });
  expect(await growth(400, 4, async (count) => misspeltRegions(making(count), []))).toBeLessThan(6);
});

test("a mistake in a record that thousands of domains share is kept once, and counted", async () => {
  const text = sets("{ type: MX, target: a.b, priority: 10 }") + domains(2_000, "use: [s]");
  const result = await loadText(text);
  expect(codes(result)).toEqual(["ambiguous-target"]);
  expect(result.diagnostics[0]?.detail).toContain("1999 more places");
});

test("no expression that reads input backtracks over a million equal characters", async () => {
  const million = 1_000_000;
  expect(compareIds(`private/${"0".repeat(million)}x`, "private/1")).toBeLessThan(0);
  expect(splitDescription(`${"[tenon:a]".repeat(100_000)}x`).owner).toBeNull();
  expect(splitDescription(`a${" ".repeat(million)}[tenon:b] [TENON:a]  `)).toEqual({
    text: `a${" ".repeat(million - 1)}`,
    owner: "a,b",
    sha256: null,
  });
  expect(codeSpan(` ${"`x".repeat(million)}y`)).toContain("y");
  expect(codeSpan(` ${" ".repeat(million)}y\t`)).toContain("y");
  expect(buildCaa({ iodef: `http://a${":".repeat(million)}\t` }, "").problems).toHaveLength(1);
  expect(globMatches(`${"*a".repeat(100_000)}*${"b".repeat(1_000)}*`, "a".repeat(million))).toBe(false);
  const caa = `variables: { x: { default: "${".".repeat(65_000)}x." } }\n${domains(40, 'records: [{ type: CAA, name: "@", tag: issue, target: "${var.x}" }]')}`;
  expect(new Set(codes(await loadText(caa)))).toEqual(new Set(["bad-target"]));
  const blank = `tenon: 1\n${"\n".repeat(million)}# here\n\nvpcs: []\n`;
  expect((await reformat(blank, units)).ok).toBe(true);
});

test("half a million digits in a zone of octoDNS are no number, repeated by aliases, or as a key", async () => {
  const digits = "1".repeat(500_000);
  const values = list(100, (index) => `{ exchange: mx${index}.example.com., preference: *a }`);
  const exchanges = (preference: string) =>
    `a: { type: MX, ttl: 300, values: [{ exchange: mx.example.com., preference: &a ${preference} }, ${values}] }\n`;
  for (const [text, code] of [
    [exchanges(digits), "bad-octodns"],
    [exchanges(`"${digits}"`), "bad-octodns"],
    [`? ${digits.slice(0, 16_000)}\n: { type: A, ttl: 300, value: 192.0.2.1 }\n`, "unsupported-records"],
    [`? ${digits}\n: { type: A, ttl: 300, value: 192.0.2.1 }\n`, "bad-octodns"],
  ] as const) {
    const result = await importFiles("octodns", [folder({ "example.com.yaml": text })], { soaEmail: "a@a.example" });
    expect(new Set(codesOf(result))).toEqual(new Set([code]));
  }
});

test("a text of half a million letters in a zone of octoDNS is refused once its aliases expand to 64 million letters", async () => {
  const values = list(2_000, () => "*a");
  const text = `x: { type: TXT, value: &a "${"a".repeat(500_000)}" }\ny: { type: PTR, values: [${values}] }\n`;
  const result = await importFiles("octodns", [folder({ "example.com.yaml": text })], { soaEmail: "a@a.example" });
  const { diagnostics } = result.ok || result.imported === null ? { diagnostics: [] } : result.imported;
  expect(diagnostics.map(({ summary }) => summary)).toEqual(["the file has too long texts behind its aliases"]);
});

test("a search for thousands of patterns of files stops at a limit, which is reported once", async () => {
  const empty = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`x/f${index}.yaml`, ""]));
  const patterns = (count: number, of: (index: number) => string) =>
    `tenon: 1\nfiles: [${list(count, (index) => `"${of(index)}"`)}]\n`;
  const many = await load(folder({ ...empty, "tenon.yaml": patterns(9_000, (index) => `x/a${index}*`) }));
  const [last, ...others] = many.diagnostics.filter(({ severity }) => severity === "error");
  expect([last?.code, last?.summary, others]).toEqual(["too-many-files", "too many files", []]);
  expect(codes(many).filter((code) => code === "no-match").length).toBeLessThan(MAX_DIRECTORY_ENTRIES / 2_000);
  const written = await loadText(`files: [${list(MAX_FILE_PATTERNS + 1_000, () => "tenon.yaml")}]\n`);
  expect(written.diagnostics.map(({ summary }) => summary)).toEqual(["too many patterns under `files`"]);
  expect(codes(await loadText(`files: ["${"**/".repeat(300_000)}*.yaml"]\n`))).toEqual([]);
});

test("patterns under ignore are counted for a domain without records and for one that is removed, too", async () => {
  const ignore = (count: number) => `ignore: [${list(count, (index) => `{ name: "t*${index}*b" }`)}]`;
  for (const text of [
    domains(1, `records: []\n    ${ignore(5_000)}`),
    domains(1, ignore(5_000)),
    `defaults: { domain: { ${ignore(5_000)} } }\n${domains(3, "records: []")}`,
    `removed: [{ domain: a.example, ${ignore(5_000)} }]\n`,
  ]) {
    expect(codes(await loadText(text))).toEqual(["too-many-patterns"]);
  }
  for (const text of [domains(1, ignore(MAX_IGNORE_PATTERNS)), `removed: [{ domain: a.example, ${ignore(100)} }]\n`]) {
    expect(codes(await loadText(text))).toEqual([]);
  }
});

test("stars of patterns under ignore are counted: each is one more search in each live record", async () => {
  const patterns = (stars: number) => list(500, () => `{ name: "${"*t".repeat(stars)}" }`);
  const text = (stars: number) =>
    `domains: [{ domain: a.example, type: master, soa_email: a@a.example, ignore: [${patterns(stars)}], records: [] }]\n`;
  expect(codes(await loadText(text(20)))).toEqual([]);
  expect(codes(await loadText(text(21)))).toEqual(["too-many-patterns"]);
});

test("registries of external-dns under ignore are counted: the names of each are held for all live records", async () => {
  const text = (count: number, repeated: number) => {
    const patterns = list(
      count * repeated,
      (index) => `{ preset: external-dns, txt_prefix: ${"a".repeat(1 + (index % count))}, name: "w${index}" }`,
    );
    return domains(1, `ignore: [${patterns}]\n    records: []`);
  };
  expect(codes(await loadText(text(20, 10)))).toEqual([]);
  expect(codes(await loadText(text(21, 1)))).toEqual(["too-many-patterns"]);
});

test("of megabytes of live texts none is touched where a thousand patterns would be compared with them, and the plan is refused", async () => {
  const live = Array.from({ length: 700 }, (_, index) => ({
    type: "TXT" as const,
    name: `t${index}`,
    target: "a".repeat(3_000),
  }));
  const seed = {
    domains: [1, 2].map((id) => ({ id, domain: `d${id - 1}.example`, type: "master" as const, records: live })),
  };
  const env = envOf(await emulator({ seed }));
  const planned = async (patterns: number) => {
    // Of another type: what is counted takes no time here.
    const ignore = list(patterns, (index) => `{ type: AAAA, target: "*${"a".repeat(20)}b${index}*" }`);
    const cwd = folder({ "tenon.yaml": `tenon: 1\n${domains(2, `ignore: [${ignore}]\n    records: []`)}` });
    const { stdout } = await here(["plan", cwd, "--format", "json", "--allow", "bulk=*"], { env });
    const { resource_changes: all, tenon } = JSON.parse(stdout);
    return {
      refused: (tenon as Plan).refusals.map(({ code, address }) => [code, address]),
      deleted: all.filter(({ change }: { change: { actions: string[] } }) => change.actions[0] === "delete").length,
    };
  };
  expect(await planned(10)).toEqual({ refused: [], deleted: 1_400 });
  expect(await planned(900)).toEqual({ refused: [["live-not-compared", "domain/d1.example"]], deleted: 700 });
  // Records of no characters, and names that are compared with a long zone.
  const [short, label] = ["s.example", "a".repeat(60)];
  const long = `${label}.${label}.${label}.example`;
  for (const [domain, count, pattern, refused] of [
    [short, 12_000, "x*y", 0],
    [short, 21_000, "x*y", 1],
    [long, 8_000, "x*y.", 1],
  ] as const) {
    const records = Array.from({ length: count }, () => ({ type: "TXT" as const, name: "", target: "" }));
    const own = await emulator({ seed: { domains: [{ id: 1, domain, type: "master", records }] } });
    const ignore = list(1_000, (index) => `{ type: AAAA, name: "${index}${pattern}" }`);
    const zone = `domains: [{ domain: ${domain}, ${MASTER.replace("\n   ", ",")}, ignore: [${ignore}], records: [] }]\n`;
    const cwd = folder({ "tenon.yaml": `tenon: 1\n${zone}` });
    const { stdout } = await here(["plan", cwd, "--format", "json"], { env: envOf(own) });
    expect([domain, count, (JSON.parse(stdout).tenon as Plan).refusals.length]).toEqual([domain, count, refused]);
  }
}, 120_000);

test("a name in punycode is decoded once for all patterns, and not if it is too long for a name", async () => {
  const patterns = Array.from({ length: 1_000 }, (_, index) => ({ target: `*${index}ü.z*` }));
  const comparing = (target: string) => () => isIgnored({ name: "www", type: "CNAME", target }, patterns, "a.example");
  expect(comparing(`${"xn--tda.".repeat(20)}9xn--tda.z`)()).toBe(false);
  expect(comparing(`${"xn--tda.".repeat(20)}xn--9-eha.z`)()).toBe(true);
  expect(await operationsOf(comparing(`${"xn--tda.".repeat(29)}z`))).toBeLessThan(20_000);
  expect(await operationsOf(comparing(`${"xn--tda.".repeat(10_000)}z`))).toBeLessThan(20_000);
});

test("shared names with hundreds of stars are read once for each domain, and not once for each other name", async () => {
  const stars = `${"*a".repeat(28)}.`.repeat(4);
  const shares = list(100, (index) => `{ owner: o${index}, names: ["${stars}x${index}y"] }`);
  const text = domains(1_000, `shared_with: [${shares}]\n    records: []`);
  expect(codes(await loadText(`owner: edge\n${text}`))).toEqual([]);
}, 90_000);

test("the live records of a zone are read once, however many registries its patterns name", () => {
  const target = "heritage=external-dns,external-dns/owner=a";
  const live = Array.from({ length: 12_000 }, (_, index) => ({ type: "TXT", name: `a-n${index}`, target }));
  const patterns = Array.from({ length: 20 }, (_, index) => ({
    preset: "external-dns" as const,
    txt_prefix: `p${index}-%{record_type}-`,
    name: "n*7",
  }));
  let looks = 0;
  const ignored = ignoring(patterns, "a.example", live, (record) => {
    looks += 1;
    return record;
  });
  expect(looks).toBe(live.length);
  expect(
    live.filter(({ name }) => ignored.ignores({ type: "A", name: name.slice(2), target: "192.0.2.1" })),
  ).toHaveLength(1_200);
});

test("of thousands of registry records that claim a name, three are listed in part for each record declared there, and the rest are counted", async () => {
  const plans = async (declared: number) => {
    const live = Array.from({ length: 2_000 }, (_, index) => ({
      id: 2_000 - index,
      type: "TXT" as const,
      name: "www",
      target: `heritage=external-dns,external-dns/owner=o${index}${index < 1_980 ? "" : `,${"\u00ad".repeat(60_000)}`}`,
    }));
    const targets = list(declared, (index) => `10.0.${index >> 8}.${index & 255}`);
    const patterns = list(20, (index) => `{ preset: external-dns, txt_prefix: p${index}. }`);
    const text = `domains:\n  - domain: a.example\n    ${MASTER}\n    ignore: [${patterns}]\n    records: [{ type: A, name: www, targets: [${targets}] }]\n`;
    const path = folder({ "tenon.yaml": `tenon: 1\n${text}` });
    const service = await emulator({
      seed: { domains: [{ id: 1, domain: "a.example", type: "master", records: live }] },
    });
    const { stdout } = await here(["plan", path, "--format", "json"], { env: envOf(service) });
    return Object.values(
      JSON.parse(stdout).tenon.changes as Readonly<Record<string, { readonly blocked: Block | null }>>,
    );
  };
  const blocks = (await plans(30)).flatMap(({ blocked }) => (blocked?.type === "kept-records" ? [blocked] : []));
  expect(blocks).toHaveLength(30);
  for (const { records, more, claimed } of blocks) {
    expect({ ids: records.map(({ id }) => id), more, claimed }).toEqual({
      ids: [1, 2, 3],
      more: 1_997,
      claimed: true,
    });
    for (const { target } of records) expect(target).toHaveLength(81);
  }
});

test("of many objects of one label twenty are listed for each that is blocked, and an id that is gone is compared with no more of them", async () => {
  const blocksOf = async (manifest: string, count: number): Promise<(Block | null)[]> => {
    const vpcs = Array.from({ length: count }, (_, index) => ({
      id: index + 1,
      label: "v",
      region: index === 0 ? "us-east" : "eu-west",
      description: index === 0 ? "[tenon:edge]" : "",
    }));
    const service = await emulator({ seed: { vpcs } });
    const path = folder({ "tenon.yaml": `tenon: 1\nowner: edge\n${manifest}` });
    const { stdout } = await here(["plan", path, "--format", "json"], { env: envOf(service) });
    const changes = JSON.parse(stdout).tenon.changes as Readonly<Record<string, { readonly blocked: Block | null }>>;
    return Object.values(changes).map(({ blocked }) => blocked);
  };
  const removed = await blocksOf("removed: [{ vpc: v, destroy: true }]\n", 30);
  expect(removed).toHaveLength(30);
  for (const block of removed) {
    expect(block?.type === "ambiguous" ? [block.candidates.length, block.more] : block).toEqual([20, 10]);
  }
  // One of them is as declared: of twenty it is found, of thirty it is not looked for.
  const declared = "vpcs: [{ label: v, id: 999, region: us-east }]\n";
  const isAmbiguous = async (count: number) =>
    (await blocksOf(declared, count)).some((block) => block?.type === "ambiguous");
  expect([await isAmbiguous(20), await isAmbiguous(30)]).toEqual([false, true]);
});

test("consents by the ten thousand are refused", async () => {
  const allow = (count: number) => `allow: [${list(count, (index) => `{ delete: "vpc/*${index}*" }`)}]\n`;
  expect(codes(await loadText(allow(MAX_CONSENTS)))).toEqual([]);
  expect(codes(await loadText(allow(10_000)))).toEqual(["too-many-patterns"]);
});

test("unknown lint codes that a record set gives to many domains are reported once, twenty for a record", async () => {
  const off = list(30, (index) => `c${index}`);
  const records = list(5, (index) => `{ type: A, name: n${index}, target: 9.9.9.9, lint: { off: [${off}] } }`);
  const { project } = await loadText(sets(records) + domains(50, "use: [s]"));
  const found = await lintProject(project as Project);
  expect(found.filter(({ code }) => code === "unknown-lint-code")).toHaveLength(5 * 20);
});

test("patterns under ignore are compiled once for lint, however many names are looked up", async () => {
  const work = async (length: number) => {
    const patterns = list(50, (index) => `{ name: "${"x".repeat(length)}${index}*" }`);
    const records = list(100, (index) => `{ type: NS, name: d${index}, target: n.o.test. }`);
    const text = domains(1, `ignore: [${patterns}]\n    records: [${records}]`);
    const { project } = await loadText(text);
    return operationsOf(() => lintProject(project as Project));
  };
  await work(1);
  expect((await work(200)) / (await work(1))).toBeLessThan(2);
});

test("a text that a list of targets or a builder gives to many records counts for each of them, and parameters of CAA are short", async () => {
  const addresses = list(1_000, (index) => `10.0.${index >> 8}.${index & 255}`);
  const names = (of: string) => list(1_000, (index) => `"192.0.${index >> 8}.${index & 255}": ${of}`);
  const authorities = list(1_000, (index) => `ca${index}.example`);
  const zone = (record: string) =>
    `domains: [{ domain: 192.in-addr.arpa, type: master, soa_email: a@a.example, records: [${record}] }]\n`;
  const note = "x".repeat(50_000);
  for (const record of [
    `{ type: A, name: n, note: "${note}", targets: [${addresses}] }`,
    `{ ptr: { ${names("www.example.com.")} }, note: "${note}" }`,
    `{ caa: { issue: [${authorities}] }, note: "${note}" }`,
  ]) {
    expect(codes(await loadText(zone(record)))).toEqual(["expands-too-far"]);
    expect(codes(await loadText(zone(record.replace(note, "short"))))).toEqual([]);
  }
  const methods = (length: number) =>
    `{ caa: { issue: [${authorities}], validation_methods: ["${"m".repeat(length)}"] } }`;
  expect(codes(await loadText(zone(methods(50_000))))).toEqual(["bad-part"]);
  expect(codes(await loadText(zone(methods(100))))).toEqual([]);
});

test("unknown variables that many environments set through an alias are compared once with those that are declared", async () => {
  const work = (environments: number) => {
    const known = list(100, (index) => `known${index}: {}`);
    const unknown = list(100, (index) => `unknown${index}: a`);
    const others = list(environments, (index) => `e${index}: { variables: *a }`);
    return operationsOf(() =>
      loadText(`variables: { ${known} }\nenvironments: { first: { variables: &a { ${unknown} } }, ${others} }\n`),
    );
  };
  await work(1);
  expect((await work(20)) / (await work(1))).toBeLessThan(3);
});

test("keys of the author's own in defaults are put under no entry", async () => {
  const work = async (keys: number) => {
    const own = list(keys, (index) => `x-${index}: 1`);
    const defaults = `defaults: { record: { ${own} }, domain: { type: master, soa_email: a@a.example, ${own} } }\n`;
    const records = list(200, (index) => `{ type: A, name: n${index}, target: 9.9.9.9 }`);
    const text = `${defaults}${sets(records)}domains: [${list(200, (index) => `{ domain: d${index}.example }`)}]\n`;
    return operationsOf(() => loadText(text));
  };
  await work(1);
  expect((await work(200)) / (await work(1))).toBeLessThan(2);
});

test("unknown record sets that many domains name by default are looked for once", async () => {
  const text = (entries: number) => {
    const known = list(100, (index) => `set${index}: []`);
    const unknown = list(100, (index) => `unknown${index}`);
    const entry = (index: number) => `{ domain: d${index}.example }`;
    return `record_sets: { ${known} }\ndefaults: { domain: { type: master, soa_email: a@a.example, use: [${unknown}] } }\ndomains: [${list(entries, entry)}]\n`;
  };
  const work = (entries: number) => operationsOf(() => loadText(text(entries)));
  await work(1);
  expect((await work(20)) / (await work(1))).toBeLessThan(2);
});

test("deletions that are declared under thousands of different sets of environments are compared with the plan once", async () => {
  const records = Array.from({ length: 4_000 }, (_, index) =>
    change(`domain/z.example/n${index}/A`, "domain_record", {}),
  );
  const work = (groups: number) => {
    const guards = Array.from({ length: 4 * groups }, (_, index): Guard => {
      const declaredUnder = [`e${index % groups}`];
      const rest = { count: null, of: null, origin: null, uncheckedEnvironments: 0 };
      return { rule: "delete", address: `domain/d${index}.test`, consent: "missing", declaredUnder, ...rest };
    });
    const gone = guards.map(({ address }) => change(address, "domain", { before: {} }));
    const { changes, inputs } = plan([...records, ...gone]);
    return operationsOf(() => expect(consentsOf(guards, { changes, inputs }).length).toBeGreaterThanOrEqual(groups));
  };
  await work(1);
  expect((await work(100)) / (await work(1))).toBeLessThan(3);
});

test("of a thousand environments the nearest ones are loaded, up to a limit, and the rest are counted", async () => {
  const environments = list(1_000, (index) => `e${index}: { variables: { env: e${index} } }`);
  const head = `owner: edge\nvariables: { env: { default: none } }\nenvironments: { ${environments} }\n`;
  const manifest = `tenon: 1\n${head}images: [{ label: "golden-\${var.env}" }]\n`;
  const labels = ["golden-e500", "golden-e501", "golden-e503", "golden-e999"];
  const images = labels.map((label, index) => ({ id: `private/${index + 1}`, label, description: "x [tenon:edge]" }));
  const service = await emulator({ seed: { images } });
  const guards = async (text: string) => {
    const { stdout } = await here(["plan", folder({ "tenon.yaml": text }), "--env", "e500", "--format", "json"], {
      env: envOf(service),
    });
    const told = JSON.parse(stdout).tenon.guards as Guard[];
    return told.map(({ declaredUnder = [], uncheckedEnvironments }) => [...declaredUnder, uncheckedEnvironments]);
  };
  // A run without an environment counts as one.
  const unchecked = 1_000 - MAX_LOOKED_AT_ENVIRONMENTS;
  expect(await guards(manifest)).toEqual([["e501", unchecked], ["e503", unchecked], [unchecked]]);
  // Three of these come to more than all may.
  const long = `x-a: [&a "${"v".repeat(500 * 1024)}", ${list(30, () => "*a")}]\n`;
  expect(await guards(manifest + long)).toEqual([["e501", 997], [997], [997]]);
});

test("patterns that are compared with thousands of records in each environment count for all environments together", async () => {
  const patterns = list(800, (index) => `{ type: TXT, target: "*z${index}*" }`);
  const records = list(3_200, (index) => `{ type: TXT, name: n${index}, target: ${"a".repeat(60)} }`);
  const zone = `domain: a.example, type: master, soa_email: h@a.example, ignore: [${patterns}], records: [${records}]`;
  const environments = `environments: { ${list(100, (index) => `e${index}: {}`)} }\n`;
  const text = `tenon: 1\n${environments}domains: [{ ${zone} }]\n`;
  const { code, stderr, stdout } = await here(["validate", folder({ "tenon.yaml": text })]);
  const [, unchecked] = /(\d+) more environments were not checked/.exec(stdout + stderr) ?? [];
  expect([code, Number(unchecked) > 85]).toEqual([1, true]);
});

test("variables without a value, beside as many environments, are looked at once each", async () => {
  const text = (count: number) =>
    `variables: { ${list(count, (index) => `v${index}: {}`)} }\nenvironments: { ${list(count, (index) => `e${index}: {}`)} }\n`;
  expect(await growth(250, 4, (count) => loadText(text(count)))).toBeLessThan(6);
});

test("thousands of record sets of a project are looked through once, however many domains are added to it", async () => {
  const record = (index: number) => ({ type: "A", name: `n${index}`, target: "192.0.2.1" });
  const sets = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `s${index}`, records: [record(1), record(index)] }));
  const added = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `d${index}.example`, entry: {}, records: [record(index)] }));
  expect(await growth(500, 4, async (count) => extractRecordSets(added(count), sets(count)))).toBeLessThan(6);
  const [first] = extractRecordSets(
    [{ name: "a.example", entry: {}, records: [record(1), record(2)] }],
    sets(4),
  ).domains;
  expect(first).toMatchObject({ use: ["s2"], records: [] });
});
