import { join } from "node:path";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const ROOT = "tenon: 1\nowner: edge\nfiles: [zones/*.yaml]\n";
const SETS = `record_sets:
  first:
    - { type: A, name: login, target: 203.0.113.66 }
    - { type: MX, target: mx.evil.example., priority: 10 }
    - { type: TXT, name: long, target: ${"x".repeat(200)} }
  second:
    - { type: A, name: login, target: 192.0.2.1, override: true }
    - { type: A, name: shop, target: 192.0.2.7 }
`;

function zones(records: string, more = "", sets = SETS): string {
  const zone = `type: master, soa_email: a@example.com${more}, records: [${records}]`;
  return `tenon: 1\n${sets}domains: [{ domain: bank.example, ${zone} }]\n`;
}

const FLAGS = [[], ["--base", "../main"], ["--changed-since", "../main"], ["--format", "markdown"]];
const LOGIN = "{ type: A, name: login, target: 192.0.2.1";
const MAIL = "{ type: MX, target: mail.bank.example., priority: 10";
const BEFORE = zones(`${LOGIN} }, ${MAIL} }`, "", "");

async function plansOf(after: string, root = ROOT, flags = FLAGS): Promise<string[]> {
  const place = await folder({
    ...{ "main/tenon.yaml": ROOT, "main/zones/a.yaml": BEFORE },
    ...{ "head/tenon.yaml": root, "head/zones/a.yaml": after },
  });
  const options = { cwd: join(place, "head"), env: envOf(await emulator()) };
  expect((await here(["apply", "--yes"], { ...options, cwd: join(place, "main") })).code).toBe(0);
  const plans: string[] = [];
  for (const more of flags) {
    const { code, stdout } = await here(["plan", ...more], options);
    expect(code).toBe(0);
    plans.push(stdout.replace(/\n +/g, " "));
  }
  return plans;
}

const SWAPS = [comesBack("login/A", "203.0.113.66"), comesBack("@/MX", "10 mx.evil.example")];

function comesBack(record: string, value: string, day = "2099-01-31"): string {
  return `domain/bank.example/${record} comes back after ${day} as "${value}"`;
}

test("what comes back as the entry that overrides it expires stands in the plan of the change that brings it", async () => {
  const dated = "override: true, expires: 2099-01-31, lint: { off: [comes-back, expired-entry] }";
  const hidden = ", use: [first], lint: { off: [comes-back, cached-target] }";
  for (const plan of await plansOf(zones(`${LOGIN}, ${dated} }, ${MAIL}, ${dated} }`, hidden)))
    for (const swap of SWAPS) expect(plan).toContain(swap);
  // The record of a set that overrides another one may be what expires.
  const sets = SETS.replace("192.0.2.1, override: true", "192.0.2.1, override: true, expires: 2099-01-31");
  for (const plan of await plansOf(zones(`${MAIL}, override: true }`, ", use: [first, second]", sets))) {
    expect(plan).toContain(SWAPS[0]);
    expect(plan).not.toContain(SWAPS[1]);
  }
  // Nobody looks for what stands behind an ellipsis.
  const long = `{ type: TXT, name: long, target: y, ${dated} }`;
  const entries = `${LOGIN}, override: true }, ${MAIL}, override: true }, ${long}`;
  for (const plan of await plansOf(zones(entries, ", use: [first]")))
    expect(plan).toContain(comesBack("long/TXT", "x".repeat(200)));
});

test("the text of a record that comes back does not go on the sentence that names it", async () => {
  const words = 'deleted for good". Nothing is there again';
  const sets = `record_sets: { first: [{ type: TXT, name: login, target: '${words}' }] }\n`;
  const dated = "override: true, expires: 2099-01-31";
  const entry = `{ type: TXT, name: login, target: x, ${dated} }`;
  for (const plan of await plansOf(zones(entry, ", use: [first]", sets)))
    expect(plan.replaceAll("\\\\", "\\")).toContain(comesBack("login/TXT", words.replace('"', '\\"')));
});

test("nothing is said of what stays overridden, nor where the root file switches the rule off", async () => {
  const dated = "override: true, expires: 2099-01-31";
  // The second set still overrides the first one, and the record of another name expires.
  const records = `${MAIL}, override: true }, { type: A, name: shop, target: 192.0.2.8, ${dated} }`;
  for (const plan of await plansOf(zones(records, ", use: [first, second]"))) {
    expect(plan).toContain(comesBack("shop/A", "192.0.2.7"));
    expect(plan).not.toContain('as "203.0.113.66"');
  }
  const off = `${ROOT}lint: { off: [comes-back] }\n`;
  for (const plan of await plansOf(zones(`${LOGIN}, ${dated} }, ${MAIL}, ${dated} }`, ", use: [first]"), off))
    expect(plan).not.toContain("comes back");
});

test("one of very many that come back does not hide behind others", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
  const of = (target: string, more = "") =>
    names.map((name) => `{ type: A, name: ${name}, target: ${target}${more} }`).join(", ");
  const sets = `record_sets: { first: [${of("203.0.113.66")}] }\n`;
  const after = zones(of("192.0.2.1", ", override: true, expires: 2099-01-31"), ", use: [first]", sets);
  for (const plan of await plansOf(after)) {
    for (const name of names) expect(plan).toContain(comesBack(`${name}/A`, "203.0.113.66"));
  }
});

test("the day that is said is the last one of all that overrides it, and nothing is said of what stays as it is", async () => {
  const dated = "override: true, expires: 2099-01-31";
  const domains = (records: string, sets: string) => zones(records, ", use: [first, second]", sets);
  // The second set overrides the first one for longer than the domain does.
  const longer = SETS.replace("192.0.2.1, override: true", "192.0.2.1, override: true, expires: 2100-01-31");
  for (const plan of await plansOf(domains(`${LOGIN}, ${dated} }, ${MAIL}, override: true }`, longer)))
    expect(plan).toContain(comesBack("login/A", "203.0.113.66", "2100-01-31"));
  // That record has expired by the day on which the one that overrides it does.
  const sooner = SETS.replace("target: 203.0.113.66", "target: 203.0.113.66, expires: 2099-01-30");
  const both = `${MAIL}, override: true }, { type: A, name: login, target: 192.0.2.5, ${dated} }`;
  for (const plan of await plansOf(zones(both, ", use: [first]", sooner))) expect(plan).not.toContain("comes back");
  // The record that comes back is the one that overrides it.
  const equal = `{ type: A, name: login, target: 203.0.113.66, ${dated} }, ${MAIL}, override: true }`;
  for (const plan of await plansOf(zones(equal, ", use: [first]"))) expect(plan).not.toContain("comes back");
  // Neither is it a matter of a plan that is about something else, or deletes the domain.
  const swapped = zones(`${LOGIN}, ${dated} }, ${MAIL}, ${dated} }`, ", use: [first]");
  const narrowed = [["--target", "vpc/v"], ["--destroy"]];
  const root = `${ROOT}vpcs: [{ label: v, region: us-east }]\n`;
  for (const plan of await plansOf(swapped, root, narrowed)) expect(plan).not.toContain("comes back");
});

test("what comes back on a later day, and would make the project invalid then, makes it invalid at once", async () => {
  const day = "2099-01-31";
  const dated = `override: true, expires: ${day}`;
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `{ type: A, name: n${index}, target: 192.0.2.1 }`);
  const cases: readonly (readonly [code: string, first: string, second: string, own: string, more?: string])[] = [
    [
      "duplicate-record",
      "{ type: A, name: www, target: 192.0.2.1, ttl_sec: 3600 }",
      `{ type: A, name: www, target: 192.0.2.9, ${dated} }`,
      "{ type: A, name: www, target: 192.0.2.1, override: false }",
    ],
    [
      "null-mx-conflict",
      '{ type: MX, target: ".", priority: 0 }',
      `{ type: MX, target: mx.example.net., priority: 10, ${dated} }`,
      "{ type: MX, target: mail.example.net., priority: 20, override: false }",
    ],
    [
      "second-cname",
      "{ type: CNAME, name: www, target: a.example.net. }, { type: CNAME, name: www, target: b.example.net. }",
      `{ type: CNAME, name: www, target: c.example.net., ${dated} }`,
      "{ type: A, name: x, target: 192.0.2.1 }",
    ],
    [
      "declared-and-ignored",
      "{ type: TXT, name: www, target: ignored }",
      `{ type: TXT, name: www, target: other, ${dated} }`,
      "{ type: A, name: x, target: 192.0.2.1 }",
      ", ignore: [{ type: TXT, target: ignored }]",
    ],
    [
      "too-many-records",
      "{ type: A, name: www, target: 192.0.2.1 }, { type: A, name: www, target: 192.0.2.2 }",
      `{ type: A, name: www, target: 192.0.2.9, ${dated} }`,
      many(11_999).join(", "),
    ],
  ];
  for (const [code, first, second, own, more = ""] of cases) {
    const sets = `record_sets: { first: [${first}], second: [${second}] }\n`;
    const manifest = zones(own, `, use: [first, second]${more}`, sets);
    const cwd = await folder({ "tenon.yaml": ROOT, "zones/a.yaml": manifest });
    const found = await here(["validate"], { cwd });
    expect([code, found.code]).toEqual([code, 3]);
    expect(found.stderr).toContain(`error[${code}]`);
    expect(found.stderr.replace(/\s+/g, " ")).toContain(`The record comes back after ${day}`);
    // Where what overrides it stays, or what it would meet is gone by then, nothing is wrong.
    const stays = manifest.replace(`, expires: ${day}`, "");
    const goes = manifest.replace(own, `{ type: A, name: x, target: 192.0.2.1, expires: ${day} }`);
    for (const fine of MEETS_OWN.has(code) ? [stays, goes] : [stays]) {
      const without = await folder({ "tenon.yaml": ROOT, "zones/a.yaml": fine });
      expect([code, (await here(["validate"], { cwd: without })).code]).toEqual([code, 0]);
    }
  }
});

/** What comes back meets a record that is there today. */
const MEETS_OWN: ReadonlySet<string> = new Set(["duplicate-record", "null-mx-conflict", "too-many-records"]);
