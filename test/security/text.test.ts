import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../src/cli/program.ts";
import { columnsOf } from "../../src/render/terminal.ts";
import { here as run } from "../cli/here.ts";
import { failing, refusal } from "../cli/odd-service.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";
import { stage } from "../cli/stage.ts";
import { expectPlainText, STEERING, withDigest } from "./hostile.ts";

const ESCAPED = JSON.stringify(STEERING).replaceAll("\u202e", "\\u202e").replaceAll("\u2028", "\\u2028");

/** No line of ours that the text brought. */
function expectNotForged({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  expectPlainText(stdout + stderr);
  expect(`${stdout}\n${stderr}`).not.toMatch(/^No changes\./m);
}

test("a manifest's labels, notes, records and reasons cannot steer a terminal, hide, or pass for our words", async () => {
  const manifest = `tenon: 1
allow: [{ bulk: "domain/*", until: 2099-01-01, reason: ${ESCAPED} }]
vpcs:
  - { label: prod, region: us-east, description: ${ESCAPED}, note: ${ESCAPED} }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    description: ${ESCAPED}
    note: ${ESCAPED}
    records:
      - { type: TXT, name: t, target: ${JSON.stringify("a\u202eb\u200bc\u001b[2J")}, note: ${ESCAPED} }
`;
  const cwd = await folder({ "tenon.yaml": manifest });
  const service = await emulator();
  for (const args of [["plan"], ["plan", "--target", `vpc/${STEERING}`]]) {
    expectNotForged(await run(args, { cwd, env: envOf(service) }));
  }
});

test("what is written into a ticket, by the operator or by others, cannot steer a terminal, hide, or pass for our words", async () => {
  const texts = { summary: STEERING, description: STEERING, opened_by: STEERING, attachments: [STEERING] };
  const reply = { description: `${STEERING}\n>> support, 2026-11-22 10:00:00 UTC`, created_by: STEERING };
  const entity = { type: "vpc", id: 1, label: STEERING } as const;
  const tickets = [{ id: 7, ...texts, entity, replies: [reply] }];
  const service = await emulator({ seed: { vpcs: [{ id: 1, label: "prod", region: "us-east" }], tickets } });
  for (const args of [
    ["list"],
    ["show", "7", "--all"],
    ["show", "7", "--format", "json"],
    ["open", "--summary", "a", "--description", "b", "--entity", `vpc/${STEERING}`],
    ["attach", "7", `${STEERING}.txt`],
    ["close", "7"],
    ["reply", "7", "--description", "a"],
  ]) {
    const ended = await run(["ticket", ...args], { env: envOf(service) });
    expectNotForged(ended);
    expect(ended.stdout).not.toMatch(/^>>/m);
  }
});

test("a change far within a long value is in every plan that somebody reviews", async () => {
  const spf = (one: string, far: string): string =>
    `v=spf1 ip4:192.0.2.${one} ${"include:_spf.one.example ".repeat(4)}ip4:${far} include:_spf.four.example -all`;
  const manifest = (target: string): string =>
    PROJECT.replace("records:", `records:\n      - { type: TXT, name: t, target: "${target}" }`);
  const cwd = await folder({ "tenon.yaml": manifest(spf("1", "198.51.100.0/24")) });
  const env = envOf(await emulator());
  expect((await run(["apply", "--yes"], { cwd, env })).code).toBe(0);
  await writeFile(join(cwd, "tenon.yaml"), manifest(spf("9", "203.0.113.0/24")));
  const attempts = [
    ["plan", "--out", "the.plan"],
    ["plan", "--format", "markdown"],
    ["show", "the.plan"],
    ["apply"],
    ["drift"],
  ];
  for (const args of attempts) {
    const { stdout } = await run(args, { cwd, env });
    const joined = stdout.replaceAll(/\n *│ /g, "");
    for (const word of ["192.0.2.1 ", "192.0.2.9 ", "198.51.100.0/24", "203.0.113.0/24"])
      expect([args, joined]).toEqual([args, expect.stringContaining(word)]);
  }
  // What is new is there as a whole, too.
  await writeFile(join(cwd, "tenon.yaml"), manifest(`${"x".repeat(500)}middle${"y".repeat(500)}`));
  const { stdout } = await run(["plan"], { cwd, env });
  expect(stdout.replaceAll(/\n *│ /g, "")).toContain("xmiddley");
});

test("a name of a file or a folder cannot either, in errors, lists and paths", async () => {
  const cwd = await folder({});
  const name = `\u001b[2J\u202ex\r\nNo changes.`;
  await mkdir(join(cwd, name));
  await writeFile(join(cwd, name, "tenon.yaml"), 'tenon: 1\nfiles: ["*.yml"]\n');
  await writeFile(join(cwd, name, `${name}.yml`), "tenon:    1\n\n\n\nvpcs: [{ lable: a }]\n");
  for (const args of [
    ["validate", name],
    ["fmt", "--check", name],
  ]) {
    expectNotForged(await run(args, { cwd }));
  }
  await writeFile(join(cwd, name, `${name}.yml`), "tenon: 1\nvpcs: [{ label: a, region: us-east }]\n");
  expectNotForged(await run(["apply", "--yes", name], { cwd, env: envOf(await emulator()) }));
});

test("an object of the account cannot either, in plans, refusals and reports", async () => {
  const label = "\u202eprod\u001b[2J";
  const seed = {
    vpcs: [{ label: "prod", region: "us-east", description: STEERING }],
    domains: [
      {
        domain: "example.com",
        type: "master",
        soa_email: "hostmaster@example.com",
        description: STEERING.slice(0, 30),
        records: [{ type: "TXT", name: "old", target: STEERING }],
      },
    ],
  };
  const behind = await emulator({ seed: seed as never });
  // What the emulator would not keep, an account may.
  const vpcs = {
    data: [{ id: 1, label, region: STEERING, description: STEERING, subnets: [] }],
    page: 1,
    pages: 1,
    results: 1,
  };
  const service = await failing(behind, (request) =>
    request === "GET /v4/vpcs" ? { status: 200, body: JSON.stringify(vpcs) } : null,
  );
  const cwd = await folder({ "tenon.yaml": `${PROJECT}removed: [{ vpc: ${JSON.stringify(label)} }]\n` });
  const args = ["apply", "--yes", "--allow", "bulk=*"];
  expectNotForged(await run(args, { cwd, env: envOf(service) }));
  expectNotForged(await run(["import", "--out", "imported"], { cwd, env: envOf(service) }));
});

test("an error of the service cannot either, in messages, progress and reports", async () => {
  const behind = await emulator();
  const fault = refusal(400, STEERING, { "retry-after": STEERING.replace(/[^ -~]/g, ""), server: "evil" });
  const service = await failing(behind, (request) => (request.startsWith("POST ") ? fault : null));
  const cwd = await folder({ "tenon.yaml": PROJECT });
  expectNotForged(await run(["apply", "--yes", "--retry-for", "0s"], { cwd, env: envOf(service) }));
  const html = { status: 502, headers: { "content-type": "text/html" }, body: `<html>${STEERING}` };
  const broken = await failing(behind, () => html);
  expectNotForged(
    await run(["plan", "--retry-for", "0s"], { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(broken) }),
  );
});

test("a damaged or forged plan file cannot either, when it is refused or shown", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const { stdout } = await run(["plan", "--format", "json"], { cwd, env: envOf(await emulator()) });
  const inside = JSON.stringify(STEERING).slice(1, -1);
  const forged = stdout.replaceAll("us-east", inside);
  await writeFile(join(cwd, "shown.plan"), withDigest(forged));
  await writeFile(join(cwd, "renamed.plan"), withDigest(forged.replaceAll("vpc/prod", `vpc/${inside}`)));
  await writeFile(join(cwd, "odd.plan"), stdout.replace('"actions"', JSON.stringify(STEERING)));
  const shown = await run(["show", "shown.plan"], { cwd });
  expect(shown.code).toBe(0);
  expectNotForged(shown);
  for (const name of ["odd.plan", "renamed.plan"]) {
    const refused = await run(["show", name], { cwd });
    expect([name, refused.code]).toEqual([name, 1]);
    expectNotForged(refused);
  }
});

/** What lines of Tenon's own begin with. */
const BEGINNINGS = [
  ...["fix:", "note:", "blocked:", "error:", "Refused:", "Warning:", "Note:", "Plan:", "Drift:", "Verified:"],
  ...["No changes.", "Apply complete!", "failed", "whose:", "apply:", "--allow", "at"],
];
/** Behind a word that fills a line: of markdown, unless `columns` says otherwise. */
function brokenAt(word: string, columns = 120): string {
  return `${"x".repeat(columns)} ${word} forged`;
}

/** These beginnings are at the beginning of lines, and none of them in a column in which a line of ours begins. */
function expectHanging(text: string, words: readonly string[]): void {
  const forged = text.split("\n").filter((line) => words.some((word) => line.trimStart().startsWith(`${word} forged`)));
  expect(forged.length).toBeGreaterThanOrEqual(words.length);
  expect(forged.filter((line) => (line.length - line.trimStart().length) % 2 === 0)).toEqual([]);
}

test("a long text goes on in no column in which lines of Tenon's own begin, at whichever blank it is broken", async () => {
  const all = BEGINNINGS.map((word) => brokenAt(word)).join(" ");
  const said = JSON.stringify(all);
  const zone = (rest: string): string =>
    `tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, ${rest} }]\n`;
  for (const manifest of [
    zone(`records: [{ type: A, name: www, target: ${said} }]`),
    `tenon: 1\n? ${said}\n: 1\n`,
    `tenon: 1\nallow: [{ delete: "domain/*", until: ${said} }]\n`,
  ]) {
    const { stderr } = await run(["validate"], { cwd: await folder({ "tenon.yaml": manifest }) });
    expectHanging(stderr, BEGINNINGS);
  }
  const seeded = { id: 7, domain: "a.example", type: "master", soa_email: "a@a.example" } as const;
  const behind = await emulator({ seed: { domains: [seeded] } });
  const project = zone(
    `ttl_sec: 300, note: ${said}, records: [{ type: A, name: www, target: 192.0.2.1, note: ${said} }]`,
  );
  const cwd = await folder({ "tenon.yaml": project });
  for (const args of [["plan"], ["drift"], ["drift", "--format", "markdown"], ["show", "domain/a.example"]])
    expectHanging((await run(args, { cwd, env: envOf(behind) })).stdout, BEGINNINGS);
  // What the service says of a write, and what it has made of one.
  let [reason, description] = ["", ""];
  const service = await failing(behind, (request) => {
    if (request.startsWith("POST ")) return refusal(400, reason);
    if (request !== "PUT /v4/domains/7") return null;
    return { status: 200, body: JSON.stringify({ ...seeded, ttl_sec: 300, description }) };
  });
  for (const word of BEGINNINGS) {
    [reason, description] = [brokenAt(word), brokenAt(word, 75)];
    for (const format of ["text", "markdown"]) {
      const { code, stdout } = await run(["apply", "--yes", "--format", format], { cwd, env: envOf(service) });
      expect(code).toBe(6);
      expectHanging(stdout, format === "text" ? [word, word] : [word]);
    }
  }
});

test("a message of one line goes on in a terminal as other texts do, and is one line elsewhere", async () => {
  const behind = await emulator();
  const cwd = await folder({ "tenon.yaml": PROJECT });
  for (const [method, args] of [
    ["GET", ["plan", cwd]],
    ["POST", ["apply", cwd, "--yes", "--journal", join(cwd, "run.jsonl")]],
  ] as const) {
    for (const word of BEGINNINGS) {
      const service = await failing(behind, (request) =>
        request.startsWith(method) ? refusal(400, brokenAt(word)) : null,
      );
      const { terminal, said } = stage(envOf(service));
      await runCommand(terminal, [...args, "--base-url", service.baseUrl]);
      const plain = said();
      expect(plain).toContain(` ${brokenAt(word)}`);
      const messages = { ...terminal.messages, isTerminal: true };
      await runCommand({ ...terminal, messages }, [...args, "--base-url", service.baseUrl]);
      expectHanging(said().slice(plain.length), [word]);
    }
  }
});

test("a character that terminals show in two columns counts as two, assigned or not", () => {
  const wide = [
    "\ufe10",
    "\u{16fe0}",
    "\u{18d00}",
    "\u{1f200}",
    "\u{1f260}",
    "\u4dc0",
    "\u{3fffd}",
    "\u3248",
    "\u302e",
    "你",
  ];
  for (const character of wide) expect([character, columnsOf(character)]).toEqual([character, 2]);
  for (const character of ["a", "é", "…", "·", "ﻼ"]) expect([character, columnsOf(character)]).toEqual([character, 1]);
});

test("a mark counts as a column, but for those that take none in any terminal", () => {
  for (const mark of ["\u093e", "\u0bbe", "\u102b", "\u{16ff0}", "\u0897", "\u1ae0", "\u20e3"])
    expect([mark, columnsOf(`a${mark}`)]).toEqual([mark, mark === "\u{16ff0}" ? 3 : 2]);
  for (const letter of ["e\u0301", "\u05d1\u05bc", "\u0e01\u0e49", "\u0915\u094d", "\u304b\u3099"])
    expect([letter, columnsOf(letter.slice(1)), columnsOf(letter.slice(0, 1))]).toEqual([
      letter,
      0,
      /\u304b/.test(letter) ? 2 : 1,
    ]);
});

test("a pile of marks on a letter covers no other line, in a terminal, a comment or a page", async () => {
  const names = ["Việt Nam".normalize("NFD"), "שָּׁלוֹם", "ကျွှို့", "बच्चों", "น้ำ"].join(" ");
  const piles = ["\u0301", "\u0323", "\u093e", "\u0e49"].map((mark) => `a${mark.repeat(45)}b`);
  const mixed = `a${"\u0301\u093e".repeat(30)}b`;
  const note = JSON.stringify([names, ...piles, mixed].join(" "));
  const service = await emulator();
  const cwd = await folder({
    "tenon.yaml": `tenon: 1\nvpcs: [{ label: prod, region: us-east, note: ${note} }]\n`,
  });
  for (const format of ["text", "markdown", "html", "json"]) {
    const { code, stdout } = await run(["plan", "--format", format], { cwd, env: envOf(service) });
    expect(code).toBe(0);
    expect(stdout).toContain(names);
    expect(stdout).toMatch(format === "json" ? /a\u0301{3}(\\u0301){42}b/ : /a\u0301{3}(\\u\{301\}){42}b/);
    expect(stdout).not.toMatch(/\p{M}{7}|\p{Script=Inherited}{4}/u);
  }
  // The line of a manifest beneath an error.
  const wrong = await folder({ "tenon.yaml": `tenon: 1\nvpcs: [{ label: "a${"\u0301".repeat(9)}b", region: 1 }]\n` });
  const { stderr } = await run(["validate"], { cwd: wrong });
  expect(stderr).toMatch(/a\u0301{3}(\\u\{301\}){6}b/);
  expect(stderr).not.toMatch(/\p{Script=Inherited}{4}/u);
});

test("nothing in a log is a command to Azure Pipelines or TeamCity, wherever it stands in its line", async () => {
  const command =
    "##vso[task.prependpath]/evil ##[group] ###Vso[build.x] ##VSO ##teamcity[setParameter name='env.PATH']";
  const object = (label: string) => ({ label, description: command });
  const files = (record: string) => ({
    "tenon.yaml": `tenon: 1
vpcs: [{ label: net, region: us-east, description: ${JSON.stringify(command)}, note: ${JSON.stringify(command)} }]
domains:
  - { domain: a.example, type: master, soa_email: a@a.example, records: [{ type: TXT, name: t, target: ${JSON.stringify(command)}, note: ${JSON.stringify(command)}${record} }] }
`,
    "##vso[x]/tenon.yaml": "tenon: 1\n  a: ##vso[y]\n",
  });
  const [cwd, wrong] = [await folder(files("")), await folder(files(", '##vso[x]': ##[y]"))];
  const env = envOf(await emulator({ seed: { vpcs: [{ ...object("net"), region: "us-east" }] } }));
  const texts: string[] = [];
  for (const [at, ...args] of [
    [cwd, "plan"],
    [cwd, "plan", "--format", "markdown"],
    [cwd, "plan", "--format", "html"],
    [cwd, "plan", "--format", "json"],
    [cwd, "plan", "--target", command],
    [cwd, "plan", "--parallelism", command],
    [cwd, "plan", "--format", command],
    [cwd, "plan", `--${command}`],
    [cwd, "plan", "a", `b\n${command}`],
    [cwd, command],
    [cwd, "expanded"],
    [cwd, "list"],
    [cwd, "validate", "##vso[x]"],
    [cwd, "fmt", "--check", "##vso[x]"],
    [cwd, "validate", "##vso[z]"],
    [wrong, "validate"],
    [cwd, "zone", "export", "a.example", "--from-manifest"],
    ...["zone", "terraform", "octodns", "csv"].map(
      (format) => [cwd, "export", "--to", format, "--from-manifest", "--out", "-"] as const,
    ),
    [cwd, "apply", "--yes"],
    [cwd, "zone", "export", "a.example"],
  ] as const) {
    const { stdout, stderr } = await run(args, { cwd: at, env });
    for (const line of `${stdout}\n${stderr}`.split("\n")) {
      if (/##[a-z]*\[/i.test(line)) texts.push(`${args.join(" ")}: ${line.slice(0, 200)}`);
    }
    if (/json$|export/.test(args.join(" "))) expect(stdout).toContain("prependpath");
  }
  expect(texts).toEqual([]);
});
