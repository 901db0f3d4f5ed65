/** Journals that somebody else wrote: what an undo of them may show, and may do. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { tested } from "../support/emulator.ts";
import { SECRET } from "./hostile.ts";

const MANIFEST = "tenon: 1\nowner: edge\n";
const SEED = {
  domains: [
    { id: 1, domain: "ours.example", soa_email: "a@a.example", tags: ["tenon:edge"] },
    { id: 2, domain: "bank.example", soa_email: "a@a.example", tags: ["tenon:bank"] },
    { id: 3, domain: "free.example", soa_email: "a@a.example" },
  ],
  vpcs: [{ id: 9, label: "prod", region: "us-east", description: "[tenon:edge]" }],
};

const OURS = { domain: "ours.example", soa_email: "a@a.example", owner: "edge" };

type Line = Record<string, unknown>;

const change = (values: Line): Line => ({
  ...{ type: "change", key: "domain/ours.example", kind: "domain", root: "domain/ours.example", action: "create" },
  ...{ id: null, before: null, after: { domain: "ours.example" } },
  ...values,
});

const A_RECORD = { type: "A", name: "w", target: "192.0.2.1", ttl_sec: 0 };

const record = (before: Line, after: Line): Line =>
  change({
    ...{ key: "domain/ours.example/w/A", kind: "domain_record", action: "update", id: 4 },
    ...{ before: { ...A_RECORD, ...before }, after: { ...A_RECORD, target: "192.0.2.2", ...after } },
  });

function journal(host: string, changes: readonly Line[], id: unknown): string {
  const time = "2026-11-22T10:00:00.000Z";
  const keys = changes.map(({ key }) => key);
  const step = { time, changes: keys, step: "s" };
  const lines = [
    {
      ...{ type: "run", format_version: 1, started: time, version: "0", actor: null, commit: null, host },
      ...{ account: null, environment: null, owner: "edge", goal: "apply" },
    },
    ...changes,
    { type: "begin", time, changes: changes.length, contents: 0 },
    { type: "intent", ...step, reason: "step", method: "POST", path: ["domains"], body: null },
    { type: "outcome", ...step, outcome: "done", id, recovered: false, failure: null, because: [] },
    { type: "end", time, requestCount: 1, interrupted: false, notices: [] },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

async function staged() {
  const service = await emulator({ seed: SEED });
  const cwd = await folder({ "tenon.yaml": MANIFEST });
  const { host } = new URL(service.baseUrl);
  const undo = async (text: string, ...args: string[]) => {
    await writeFile(join(cwd, "run.jsonl"), text);
    return run(["apply", "--undo", "run.jsonl", "--yes", ...args], { cwd, env: envOf(service) });
  };
  return { service, cwd, host, undo };
}

test("a forged journal changes nothing: a line that is none is refused, and of the rest no more is done than a plan shows", async () => {
  const { service, host, undo } = await staged();
  const all = ["delete", "replace", "bulk", "ns"].flatMap((rule) => ["--allow", `${rule}=*`]);
  const bank = { key: "domain/bank.example", root: "domain/bank.example", after: { domain: "bank.example" } };
  const refused: readonly (readonly [Line[], unknown])[] = [
    [[change({ after: { domain: "ours.example", colour: "red" } })], 1],
    [[change({ after: { domain: "ours.example", ttl_sec: "1h" } })], 1],
    [[change({ after: { domain: ["ours.example"] } })], 1],
    [[change({ kind: "node" })], 1],
    [[change({ root: "vpc/prod" })], 1],
    [[change({ key: "a" }), change({ key: "b" })], 1],
    [[change({ __proto__: null, extra: 1 })], 1],
    [[change({ id: { $ref: 1 } })], 1],
    [[change({})], [1]],
    [[change({ action: "no-op", before: OURS, after: OURS }), record({ type: "DELETE" }, { type: "DELETE" })], 1],
    [[change({ action: "no-op", before: OURS, after: OURS }), record({}, { type: "a" })], 1],
    [[change({ action: "no-op", before: OURS, after: OURS }), record({}, { type: "DNAME" })], 1],
  ];
  for (const [changes, id] of refused) {
    const { code, stderr } = await undo(journal(host, changes, id), ...all);
    expect(stderr).toMatch(/error\[journal-damaged\][\s\S]*--> run\.jsonl:\d+:1/);
    expect(code).toBe(1);
  }
  const gone = change({ action: "delete", id: 1, before: OURS, after: null });
  const content = { type: "content", of: gone["key"], kind: "domain_record", before: { ...A_RECORD, type: "DNAME" } };
  const typed = journal(host, [gone], 1)
    .replace(/(?=\{"type":"begin")/, `${JSON.stringify(content)}\n`)
    .replace('"contents":0', '"contents":1');
  const unknown = await undo(typed, ...all);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringMatching(/knows no record\s+of\s+such\s+a\s+type/) });
  // Another's object is another owner's; an id that leads to an object of another name, or kind, leads nowhere.
  expect((await undo(journal(host, [change(bank)], 2), ...all)).code).toBe(4);
  const free = change({ after: { domain: "free.example" } });
  expect((await undo(journal(host, [free], 2), ...all)).code).toBe(4);
  expect((await undo(journal(host, [free], 1), ...all)).stdout).toContain("somebody has changed it since");
  const unended = journal(host, [free], 1).replace(/.*"type":"end".*\n/, "");
  expect((await undo(unended, ...all)).stdout).toContain("somebody has changed it since");
  expect((await undo(journal(host, [free], 77), ...all)).stdout).toContain("Nothing that the run did is left to undo.");
  // The project's own, as it is: the plan shows it, and it does not go without consent.
  const own = await undo(journal(host, [change({ after: OURS })], 1));
  expect(own.code).toBe(4);
  expect(own.stdout).toContain("- domain ours.example");
  const hostile = "x\u001b]0;owned\u0007\u202e\n</script>";
  const shown = await undo(journal(host, [change({ key: hostile, after: OURS })], 1));
  for (const character of ["\u001b", "\u0007", "\u202e"]) expect(shown.stdout + shown.stderr).not.toContain(character);
  const deep = `${"[".repeat(1_000_000)}\n`;
  for (const text of [
    deep,
    `${"x".repeat(64 * 1024 ** 2)}\n`,
    `{"type":"run","a":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`,
  ]) {
    expect((await undo(text, ...all)).stderr).toMatch(/error\[journal-(damaged|version)\]/);
  }
  expect((await tested(service).send("GET", "/domains")).body.results).toBe(3);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("a journal that tells of more changes than an undo can plan is refused at the line that is one too many", async () => {
  const { service, host, undo } = await staged();
  const own = change({ action: "delete", id: 1, before: { domain: "ours.example" }, after: null });
  const record = { type: "A", name: "a", target: "192.0.2.1", ttl_sec: 0 };
  const content = `${JSON.stringify({ type: "content", of: own["key"], kind: "domain_record", before: record })}\n`;
  const forged = (count: number) =>
    journal(host, [own], null)
      .replace(/(?=\{"type":"begin")/, content.repeat(count))
      .replace('"contents":0', `"contents":${count}`);
  const { code, stderr } = await undo(forged(100_000));
  expect(stderr).toMatch(/error\[journal-too-large\][\s\S]*--> run\.jsonl:100002:1/);
  expect(code).toBe(1);
  // The same of changes, each of an object of its own.
  const many = Array.from({ length: 100_001 }, (_, index) => {
    const root = `domain/d${index}.example`;
    return change({
      key: root,
      root,
      action: "delete",
      id: index + 5,
      before: { domain: `d${index}.example` },
      after: null,
    });
  });
  expect((await undo(journal(host, many, null))).stderr).toContain("error[journal-too-large]");
  expect(service.requests).toEqual([]);
  expect((await undo(forged(2))).stderr).not.toContain("journal-too-large");
});

test("a plan file that names another file as its journal shows none of its lines", async () => {
  const { service, cwd, host, undo } = await staged();
  const options = { cwd, env: envOf(service) };
  await undo(journal(host, [change({})], 1));
  await run(["undo", "run.jsonl", "--out", "undo.plan"], options);
  await writeFile(join(cwd, "config"), `[http]\n  extraheader = ${SECRET}\n{"a":"${SECRET}"}\n`);
  await writeFile(join(cwd, "run.jsonl"), await readFile(join(cwd, "config"), "utf8"));
  const { code, stdout, stderr } = await run(["apply", "--plan", "undo.plan", "--yes"], options);
  expect(code).toBe(1);
  expect(stderr).toContain("error[journal-damaged]");
  expect(stdout + stderr).not.toContain(SECRET);
});

test("an object that an undo would make again with another project's tag is named with that project", async () => {
  const { service, cwd, host, undo } = await staged();
  const values = { domain: "gone.example", type: "master", status: "active", soa_email: "a@a.example" };
  const key = "domain/gone.example";
  const text = (owner: string) =>
    journal(
      host,
      [change({ key, root: key, action: "delete", id: 8, before: { ...values, owner }, after: null })],
      null,
    );
  const warning = `${key} gets the owner's tag of bank`;
  for (const [owner, args, shown] of [
    ["bank", [], true],
    ["bank", ["--format", "markdown"], true],
    ["bank", ["--format", "html"], true],
    ["bank", ["--format", "json"], true],
    ["edge", [], false],
  ] as const) {
    await writeFile(join(cwd, "run.jsonl"), text(owner));
    const { stdout, stderr } = await run(["undo", "run.jsonl", ...args], { cwd, env: envOf(service) });
    const said = (stdout + stderr).replaceAll("&#39;", "'").replaceAll("\\", "").replace(/\s+/g, " ");
    expect([owner, args, said.includes(warning)]).toEqual([owner, args, shown]);
  }
  const done = await undo(text("bank"));
  expect([done.code, (done.stdout + done.stderr).replace(/\s+/g, " ")]).toEqual([0, expect.stringContaining(warning)]);
});
