import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Hover, MarkupContent } from "vscode-languageserver/node";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { editor } from "../lsp/editor.ts";
import { ACTIVE, acted } from "./active.ts";
import { expectPlainText } from "./hostile.ts";

test("text of a manifest or of the account is no markdown in a plan", async () => {
  const text = JSON.stringify(ACTIVE);
  const manifest = `tenon: 1
vpcs: [{ label: a, region: us-east, description: ${JSON.stringify(ACTIVE.slice(0, 200))}, note: ${text} }]
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    note: ${text}
    records: [{ type: TXT, name: t, target: ${JSON.stringify(ACTIVE.replaceAll("\n", " "))}, note: ${text} }]
`;
  const records = [{ type: "TXT", name: "old", target: ACTIVE.replaceAll("\n", " ") }];
  const zone = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com", records };
  const service = await emulator({ seed: { domains: [zone] } as never });
  const cwd = await folder({ "tenon.yaml": manifest });
  const { code, stdout, stderr } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(service) });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("evil");
  expectPlainText(stdout);
  const active = acted(stdout).replace(/\\([!-/:-@[-`{-~])/g, "");
  for (const sign of [
    /\]\(https:\/\/evil/,
    /<img/i,
    /<script/i,
    /evil5/,
    /@everyone/,
    /<!-- evil/,
    /^\s*#+ evil/m,
    /https:\/\/evil/,
  ]) {
    expect(active).not.toMatch(sign);
  }
});

test("a long note or text hides in a comment neither that a zone is given away, nor that a part is not shown", async () => {
  const domain = {
    id: 7,
    domain: "a.example",
    type: "master",
    soa_email: "a@a.example",
    tags: ["tenon:edge"],
  } as const;
  const service = await emulator({ seed: { domains: [domain] } });
  const given = "domain: a.example, type: slave, master_ips: [203.0.113.66]";
  for (const [long, hidden] of [
    [`note: "${"x".repeat(66_000)}"`, "xxx… (66000 characters)"],
    [
      `description: "${"x".repeat(253)}", group: "${"y".repeat(50)}", note: "${"\u202e".repeat(66_000)}"`,
      "… (66000 characters)",
    ],
  ] as const) {
    const cwd = await folder({ "tenon.yaml": `tenon: 1\nowner: edge\ndomains: [{ ${given}, ${long} }]\n` });
    const { code, stdout } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(service) });
    expect([code, stdout.length <= 65_536]).toEqual([0, true]);
    expect(stdout).toMatch(/type\s+"master" → "slave"/);
    expect(stdout).toContain("203.0.113.66");
    expect(stdout).toContain(hidden);
    expect(stdout).toContain("**Not everything is shown**");
  }
});

test("a thousand image families leave a comment its size, and are counted where there is no room", async () => {
  const records = [{ type: "MX", name: "", target: "mail.example.com", priority: 10 }];
  const domain = { domain: "a.example", type: "master", soa_email: "a@a.example", tags: ["tenon:edge"], records };
  const service = await emulator({ seed: { domains: [domain] } as never });
  const upload = "upload: { file: g.img.gz, region: us-east }";
  const image = (index: number) => `{ label: g${index}-1, family: g${index}, keep: 1, ${upload} }`;
  const images = Array.from({ length: 1_000 }, (_, index) => image(index)).join(", ");
  const moved = `{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: MX, name: "", target: evil.example.net., priority: 10 }] }`;
  const cwd = await folder({ "tenon.yaml": `tenon: 1\nowner: edge\ndomains: [${moved}]\nimages: [${images}]\n` });
  await writeFile(join(cwd, "g.img.gz"), gzipSync("x"));
  const { code, stdout } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(service) });
  expect([code, stdout.length <= 65_536]).toEqual([0, true]);
  expect(stdout).toContain("evil.example.net");
  expect(stdout).toContain("<b>Image families</b> (1000)");
  expect(stdout).toContain("Family g0: the newest one stays.");
  expect(stdout).toMatch(/And \d+ more, for which there is no room here\./);
});

test("a destroyed object is shown by its live name, whatever name an entry with its id has", async () => {
  const vpcs = [
    { id: 105, label: "w1", region: "us-east", subnets: [{ id: 1, label: "a", ipv4: "10.0.1.0/24" }] },
    { id: 106, label: "w2", region: "us-east" },
  ];
  const service = await emulator({ seed: { vpcs, images: [{ id: "private/1", label: "golden" }] } as never });
  const cwd = await folder({
    "tenon.yaml":
      "tenon: 1\nvpcs: [{ label: w2, id: 105, region: us-east }]\nimages: [{ label: other, id: private/1 }]\n",
  });
  const options = { cwd, env: envOf(service) };
  const text = await run(["plan", "--destroy"], options);
  expect(text.stdout).toContain("- vpc w1, declared as w2\n");
  expect(text.stdout).toContain("- image golden, declared as other\n");
  const comment = await run(["plan", "--destroy", "--format", "markdown"], options);
  expect(comment.stdout).toContain("- vpc w1, declared as w2\n");
  expect(text.stdout + comment.stdout).not.toMatch(/^- vpc w2/m);
});

test("of domains that change alike none is left out of a comment without a word, however little room there is", async () => {
  const parked = (word: string): string[] =>
    Array.from({ length: 50 }, (_, index) => `${word}-${index}.of-our-parked-names.example`);
  const zones = [...parked("brand"), "payments-bank.example", ...parked("shop")];
  const records = [{ type: "A", name: "www", target: "192.0.2.1" }];
  const seeded = zones.map((domain) => ({ domain, type: "master", soa_email: "a@a.example", records }));
  const service = await emulator({ seed: { domains: seeded } as never });
  const given = `{ domain: [${zones.join(", ")}], type: slave, master_ips: [203.0.113.66] }`;
  for (const fillers of [0, 830, 840, 900]) {
    const filler = Array.from(
      { length: fillers },
      (_, index) => `{ type: TXT, name: k${index}, target: ${"x".repeat(60)} }`,
    );
    const added = `{ domain: new.example, type: master, soa_email: a@a.example, records: [${filler.join(", ")}] }`;
    const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains: [${given}, ${added}]\n` });
    const { code, stdout } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(service) });
    expect([code, stdout.length <= 65_536]).toEqual([0, true]);
    expect(stdout).toContain("payments-bank.example");
    expect(stdout).toMatch(/type +"master" → "slave"/);
    expect(stdout).toContain("203.0.113.66");
  }
  // More names than a comment holds.
  const label = "long".repeat(15);
  const many = Array.from({ length: 400 }, (_, index) => `${label}.${label}.${label}.zone-${index}.example`);
  const crowd = await emulator({
    seed: { domains: many.map((domain) => ({ domain, type: "master", soa_email: "a@a.example" })) },
  });
  const moved = `{ domain: [${many.join(", ")}], type: master, soa_email: b@a.example }`;
  const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains: [${moved}]\n` });
  const { stdout } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(crowd) });
  const named = stdout.match(/^ {3}long\S+/gm)?.length ?? 0;
  expect(named).toBeGreaterThan(100);
  expect(stdout).toContain(`\n  ${many.length - named} names are not shown here\n`);
  expect(stdout).toContain("**Not everything is shown**");
});

test("the change of a record that is there has its line in a comment, however many records are added beside it", async () => {
  const record = (name: string, target: string) => `{ type: A, name: ${name}, target: ${target}, ttl_sec: 300 }`;
  const manifest = (login: string, more: readonly string[]) =>
    "tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [" +
    `${[record("login", login), ...more].join(", ")}] }]\n`;
  const cwd = await folder({ "tenon.yaml": manifest("192.0.2.1", []) });
  const options = { cwd, env: envOf(await emulator()) };
  expect((await run(["apply", "--yes"], options)).code).toBe(0);
  const added = Array.from({ length: 6_000 }, (_, index) => record(`n${index}`, "192.0.2.1"));
  await writeFile(join(cwd, "tenon.yaml"), manifest("203.0.113.66", added));
  const { code, stdout } = await run(["plan", "--format", "markdown"], options);
  expect(code).toBe(0);
  expect(stdout).toContain("\n! login A 192.0.2.1 → 203.0.113.66 ttl 300\n");
  expect(stdout).toMatch(/\n {2}and \d+ to add, not shown here\n/);
  expect(stdout).toMatch(/\*\*\d+ changes are shown as numbers only\*\*/);
});

test("a name in a manifest is no markdown in what an editor shows of it", async () => {
  const hostile = (mark: string) =>
    `${mark}\` ![a](https://evil.example/1) [**b**](https://evil.example/2) <img src=https://evil.example/3> \``;
  const [environment, set] = [hostile("x"), hostile("`y")];
  const manifest = `tenon: 1\nenvironments:\n  '${environment}': { variables: {} }\nrecord_sets:\n  '${set}': []\n`;
  const ed = await editor({ "tenon.yaml": manifest });
  await ed.open("tenon.yaml", manifest);
  for (const key of [environment, set, "environments"]) {
    const hover = (await ed.connection.sendRequest("textDocument/hover", ed.at("tenon.yaml", key, 1))) as Hover;
    const { value } = hover.contents as MarkupContent;
    expect(value).toContain(key);
    expect(acted(value)).not.toContain("evil");
  }
});
