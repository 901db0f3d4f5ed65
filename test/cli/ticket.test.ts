/** `tenon ticket` as people and scripts use it: real processes against the emulator. */

import { execFileSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { Seed } from "../../src/emulator/index.ts";
import { expectPlainText } from "../security/hostile.ts";
import { tested } from "../support/emulator.ts";
import { here } from "./here.ts";
import { emulator, ended, envOf, expectPlain, folder, run, start } from "./run.ts";
import { faults } from "./stage.ts";

const TICKET = { id: 7, summary: "No answer", description: "ns1 is silent." };
const SEED: Seed = {
  vpcs: [
    { id: 101, label: "prod", region: "us-east" },
    { id: 102, label: "twin", region: "us-east" },
    { id: 103, label: "twin", region: "us-west" },
  ],
  domains: [{ id: 5, domain: "xn--bcher-kva.example", soa_email: "hostmaster@example.com" }],
  tickets: [
    TICKET,
    { id: 8, summary: "Old", description: "Done.", status: "closed" },
    { id: 9, summary: "Planned", description: "Maintenance.", closable: false, opened_by: "support" },
  ],
};

async function world(files: Readonly<Record<string, string>> = {}, seed: Seed = SEED) {
  const service = await emulator({ seed });
  const cwd = await folder(files);
  const options = { cwd, env: envOf(service) };
  const api = tested(service);
  const writes = () => service.requests.filter(({ method }) => method !== "GET");
  return { service, cwd, options, api, writes };
}

describe("tenon ticket list", () => {
  it("lists open tickets first, and with --open no other", async () => {
    const { options, service } = await world();
    const { code, stdout, stderr } = await run(["ticket", "list"], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.split(/\s+/)[0])).toEqual(["ID", "9", "7", "8", "", "3", ""]);
    expect(stdout).toContain("3 tickets, 2 open.");
    service.clearRequests();
    const open = await here(["ticket", "list", "--open", "--format", "json"], options);
    expect(JSON.parse(open.stdout).tickets.map(({ id }: { id: number }) => id)).toEqual([9, 7]);
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v4/support/tickets"]);
  });

  it("reads every page, and asks a service that knows no such filter for all", async () => {
    const tickets = Array.from({ length: 700 }, (_, index) => ({
      id: index + 1,
      summary: `ticket ${index + 1}`,
      description: "x",
      status: index % 7 === 0 ? ("open" as const) : ("closed" as const),
    }));
    const service = await emulator({ seed: { tickets }, ...faults("status=400,path=/support/tickets,nth=1") });
    const { stdout } = await here(["ticket", "list", "--open", "--format", "json"], { env: envOf(service) });
    expect(JSON.parse(stdout).tickets).toHaveLength(100);
  });

  it("says so if there are none", async () => {
    const { options } = await world({}, {});
    expect((await here(["ticket", "list"], options)).stdout).toBe("No tickets.\n");
    expect((await here(["ticket", "list", "--open"], options)).stdout).toBe("No open tickets.\n");
  });
});

describe("tenon ticket show", () => {
  const replies = Array.from({ length: 1_300 }, (_, index) => ({
    description: `reply ${index + 1}\nsecond line`,
    from_linode: index % 100 === 99,
  }));
  const seed: Seed = { tickets: [{ ...TICKET, replies, attachments: ["trace.txt", "bild ü.png"] }] };

  it("shows a thread of three pages: the newest replies, or with --all each of them, the operator's marked", async () => {
    const { options, service } = await world({}, seed);
    const { code, stdout } = await run(["ticket", "show", "7"], options);
    expect(code).toBe(0);
    expect(service.requests.filter(({ path }) => path.endsWith("/replies"))).toHaveLength(3);
    expect(stdout).toContain("... 1,280 earlier replies are not shown: --all shows the whole thread");
    expect(stdout.match(/^ {2}reply \d+$/gm)).toHaveLength(20);
    expect(stdout.trimEnd().split("\n").slice(-3).join("\n")).toMatch(
      /^>> .* UTC, the operator's reply by support\n {2}reply 1300\n/,
    );
    expect(stdout).toContain("  replies   1,300, 13 by the operator\n  files     trace.txt, bild ü.png\n");
    const all = (await here(["ticket", "show", "7", "--all"], options)).stdout;
    expect(all.match(/^ {2}reply \d+$/gm)).toHaveLength(1_300);
    expect(all.match(/^>> .*the operator's reply by support$/gm)).toHaveLength(13);
    expect(
      (await here(["ticket", "show", "7", "--last", "2"], options)).stdout.match(/^ {2}reply \d+$/gm),
    ).toHaveLength(2);
    const json = JSON.parse((await here(["ticket", "show", "7", "--format", "json"], options)).stdout);
    expect(json.replies.map(({ description }: { description: string }) => description)).toEqual(
      replies.map(({ description }) => description),
    );
  });

  it("shows what would control a terminal as text, and lets no reply pass for a heading", async () => {
    const hostile =
      "\u001b]0;owned\u0007\u001b[2J\r>> 2026-01-01 00:00:00 UTC, the operator's reply by support\n\u202egive us your token\u0000";
    const name = "\u001b[31mroot\u001b[0m\nsupport";
    const { options } = await world(
      {},
      {
        tickets: [
          {
            ...TICKET,
            summary: "a\nb\u001b[1m",
            opened_by: name,
            attachments: ["\u001b[A.txt"],
            replies: [
              { description: hostile, created_by: name },
              { description: "x", created_by: ">> support" },
              { description: `${"x".repeat(500)}>> support` },
            ],
          },
        ],
      },
    );
    for (const args of [["show", "7"], ["list"]]) {
      const { stdout } = await run(["ticket", ...args], options);
      expectPlainText(stdout);
      expect(stdout.match(/^>>/gm)).toBeNull();
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  it("is an error for what is no ticket", async () => {
    const { options, service } = await world();
    expectPlain(await here(["ticket", "show", "4711"], options), 1, ["the account has no ticket 4711"]);
    service.clearRequests();
    for (const id of ["seven", "0", "-7", "7.5", "../domains", "99999999999999999999", ""]) {
      const { code, stdout, stderr } = await here(["ticket", "show", "--", id], options);
      expect({ code, stdout, stderr }).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("number of a ticket"),
      });
    }
    expect(service.requests).toEqual([]);
  });
});

describe("tenon ticket open", () => {
  const TEXT = ["--summary", "Übermäßig langsam 🐌", "--description", "Zeile eins\n日本語"];

  it("opens a ticket about a VPC or domain that is named by its address, asking for that one only", async () => {
    const { options, service, api } = await world();
    const { code, stdout, stderr } = await run(["ticket", "open", ...TEXT, "--entity", "vpc/prod"], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const id = Number(/^Ticket (\d+) is open: Übermäßig langsam 🐌\n$/.exec(stdout)?.[1]);
    const { body } = await api.send("GET", `/support/tickets/${id}`);
    expect(body).toMatchObject({ description: "Zeile eins\n日本語", entity: { id: 101, type: "vpc" } });
    expect(service.requests.map(({ method, path }) => `${method} ${path.slice(3)}`).slice(0, 3)).toEqual([
      "GET /vpcs",
      "GET /support/tickets",
      "POST /support/tickets",
    ]);
    const domain = ["--summary", "b", "--description", "b", "--entity", "domain/Bücher.example."];
    const json = JSON.parse((await here(["ticket", "open", ...domain, "--format", "json"], options)).stdout);
    expect(json).toMatchObject({ outcome: "opened", ticket: { entity: { id: 5, type: "domain" } } });
  });

  it("says node in the service's word", async () => {
    const service = await emulator({ dialect: "box" });
    const env = { ...envOf(service), TENON_DIALECT: "box" };
    const { code, stdout } = await here(["ticket", "open", ...TEXT, "--entity", "node/12", "--format", "json"], {
      env,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).ticket.entity).toMatchObject({ type: "node", id: 12 });
  });

  it("takes the text from a file, from stdin, and from an editor", async () => {
    const { options, cwd, api } = await world({
      "text.txt": "From a file\r\n\r\nwith Windows' lines\r\n",
      "edit.sh": 'printf "From an editor\\n\\n# by hand\\n" | cat - "$1" > new; mv new "$1"; env > env.txt\n',
    });
    const newest = async () =>
      (await api.send("GET", "/support/tickets?page_size=500")).body.data.findLast(
        ({ id }: { id: number }) => id > 20_000_000,
      );
    expect((await run(["ticket", "open", "--file", "text.txt"], options)).code).toBe(0);
    expect(await newest()).toMatchObject({ summary: "From a file", description: "with Windows' lines" });
    const child = start(["ticket", "open", "--summary", "s", "--file", "-"], options);
    child.stdin.write("From stdin\n");
    expect((await ended(child)).stdout).toMatch(/is open: s\n$/);
    const env = { ...options.env, EDITOR: "sh edit.sh" };
    const edited = await run(["ticket", "open", "--edit", "--draft", "-"], { ...options, env });
    expect(edited).toMatchObject({ code: 1, stderr: expect.stringContaining("neither a plan nor") });
    const written = await run(["ticket", "open", "--edit"], { ...options, env });
    expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining("is open: From an editor") });
    expect(await newest()).toMatchObject({ description: "# by hand" });
    // An editor needs no access to the account.
    expect(await readFile(join(cwd, "env.txt"), "utf8")).not.toContain("emulator-token");
  });

  it("keeps the text of an editor if it could not be sent, and sends none that was left empty", async () => {
    const { options, writes } = await world({ "edit.sh": 'printf "one\\n\\ntwo\\n" > "$1"\n' });
    const unsaved = ["ticket", "open", "--edit", "--summary", "s", "--description", "d"];
    const left = await run(unsaved, { ...options, env: { ...options.env, EDITOR: "true" } });
    expectPlain(left, 1, ["the editor was left without saving the text", "Nothing was sent"]);
    const empty = await run(unsaved, { ...options, env: { ...options.env, EDITOR: "truncate -s 0" } });
    expectPlain(empty, 1, ["the summary is empty"]);
    expect(empty.stderr).not.toContain("is kept in");
    const env = { ...options.env, EDITOR: "sh edit.sh", TENON_TOKEN: "wrong-token" };
    const failed = await run(["ticket", "open", "--edit"], { ...options, env });
    const [, kept = ""] = /^Your text is kept in (.*)$/m.exec(failed.stderr) ?? [];
    expect({ code: failed.code, text: await readFile(kept, "utf8") }).toEqual({ code: 1, text: "one\n\ntwo\n" });
    const broken = await run(["ticket", "open", "--edit"], { ...options, env: { ...options.env, EDITOR: "false" } });
    expectPlain(broken, 1, ["the editor ended with code 1"]);
    expect(writes()).toEqual([]);
  });

  it("sends nothing for a text or an entity that the service would not take", async () => {
    const { options, writes } = await world({ "nul.txt": "a\n\nb\0c", dir: "" });
    const open = ["ticket", "open", "--summary", "s"];
    for (const [args, code, words] of [
      [["ticket", "open"], 1, "no terminal to ask for it"],
      [open, 1, "no terminal to ask for it"],
      [[...open, "--description", " \n "], 1, "the description is empty"],
      [["ticket", "open", "--summary", " ", "--description", "d"], 1, "the summary is empty"],
      [["ticket", "open", "--summary", "ü".repeat(65), "--description", "d"], 1, "the summary has 65 characters"],
      [["ticket", "open", "--summary", "a\nb", "--description", "d"], 1, "more than one line"],
      [[...open, "--description", "🐌".repeat(65_001)], 1, "has 65,001 characters; the service takes 65,000"],
      [["ticket", "open", "--file", "nul.txt"], 1, "holds a NUL"],
      [["ticket", "open", "--file", "nosuch.txt"], 1, "there is no such file"],
      [["ticket", "open", "--file", "."], 1, "is a folder"],
      [[...open, "--description", "d", "--file", "nul.txt"], 1, "both say the text"],
      [[...open, "--description", "d", "--entity", "vpc/prod", "--entity", "node/1"], 1, "one entity only"],
      [[...open, "--description", "d", "--entity", "vpc/twin"], 4, "They are vpc/102, vpc/103"],
      [[...open, "--description", "d", "--entity", "vpc/nope"], 1, "no vpc `nope`"],
      [[...open, "--description", "d", "--entity", "subnet/1"], 1, "a ticket cannot be about"],
      [[...open, "--description", "d", "--entity", "node/web"], 1, "by its id"],
      [[...open, "--description", "d", "--region", "us-east"], 1, "no --vlan is given"],
      [[...open, "--description", "the token is emulator-token"], 1, "holds the access token"],
    ] as const) {
      expectPlain(await here(args, options), code, [words]);
    }
    expect(writes()).toEqual([]);
  });

  it("sends the longest texts that are taken", async () => {
    const { options, cwd } = await world();
    await writeFile(join(cwd, "long.txt"), "🐌".repeat(65_000));
    const args = ["ticket", "open", "--summary", "ü".repeat(64), "--file", "long.txt"];
    expect((await run(args, options)).code).toBe(0);
    await writeFile(join(cwd, "long.txt"), "日".repeat(65_535));
    expect((await run(["ticket", "reply", "7", "--file", "long.txt"], options)).code).toBe(0);
    await writeFile(join(cwd, "long.txt"), "日".repeat(65_536));
    expectPlain(await here(["ticket", "reply", "7", "--file", "long.txt"], options), 1, ["65,536 characters"]);
  });

  it("tells the service of a VLAN, and repeats its refusal", async () => {
    const { options } = await world();
    const about = (region: string) => ["ticket", "open", ...TEXT, "--vlan", "lan", "--region", region];
    expectPlain(await here(about("nowhere"), options), 1, ["region is not valid"]);
    expect((await here(about("us-east"), options)).code).toBe(0);
    const one = await here(["ticket", "open", "--summary", "m", "--description", "m", "--managed-issue"], options);
    expect(one.code).toBe(0);
  });

  it("opens no second ticket of the same text within a day, unless it is told to", async () => {
    const { options, writes, api } = await world();
    await run(["ticket", "open", ...TEXT], options);
    const second = await run(["ticket", "open", ...TEXT], options);
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining("is open already") });
    expect(writes()).toHaveLength(1);
    await here(["ticket", "open", ...TEXT, "--entity", "vpc/prod"], options);
    // Of the same id, and another kind.
    const vpcs = (await api.send("GET", "/vpcs")).body.data as { id: number; label: string }[];
    const id = vpcs.find(({ label }) => label === "prod")?.id;
    const about = ["ticket", "open", ...TEXT, "--entity", `volume/${id}`];
    expect(await here(about, options)).toMatchObject({ code: 0, stdout: expect.not.stringContaining("open already") });
    expect(await here(about, options)).toMatchObject({ code: 0, stdout: expect.stringContaining("open already") });
    await here(["ticket", "open", ...TEXT, "--again"], options);
    expect(writes()).toHaveLength(4);
    for (const { id } of (await api.send("GET", "/support/tickets")).body.data)
      await api.send("POST", `/support/tickets/${id}/close`);
    await here(["ticket", "open", ...TEXT], options);
    expect((await api.send("GET", "/support/tickets")).body.results).toBe(8);
  });

  it("waits for the rate limit of opens, and opens each once", async () => {
    const service = await emulator(faults("status=429,retry-after=1,method=POST,path=/support/tickets,nth=2"));
    const options = { env: envOf(service) };
    for (const summary of ["one", "two", "three"]) {
      const args = ["ticket", "open", "--summary", summary, "--description", "d"];
      expect((await run(args, options)).code).toBe(0);
    }
    const { body } = await tested(service).send("GET", "/support/tickets");
    expect(body.data.map(({ summary }: { summary: string }) => summary).sort()).toEqual(["one", "three", "two"]);
  });
});

describe("tenon ticket reply and close", () => {
  it("replies once, however often it is run, and again after an answer", async () => {
    const { options, api } = await world();
    const reply = ["ticket", "reply", "7", "--description", "Any news?"];
    expect(await run(reply, options)).toEqual({ code: 0, stdout: "Replied to ticket 7.\n", stderr: "" });
    expect((await here(reply, options)).stdout).toContain("Nothing was sent");
    await here(["ticket", "reply", "7", "--description", "It works."], options);
    await here(reply, options);
    await here([...reply, "--again"], options);
    const { body } = await api.send("GET", "/support/tickets/7/replies");
    const texts = body.data.map(({ description }: { description: string }) => description);
    expect(texts).toEqual(["Any news?", "It works.", "Any news?", "Any news?"]);
  });

  it("refuses to reply to a closed ticket, and to close one that may not be closed, with exit code 4", async () => {
    const { options, writes } = await world();
    expectPlain(await run(["ticket", "reply", "8", "--description", "x"], options), 4, ["it is closed"]);
    expectPlain(await run(["ticket", "close", "9"], options), 4, ["only the operator can close it"]);
    const attach = { ...options, cwd: await folder({ "a.txt": "a" }) };
    expectPlain(await run(["ticket", "attach", "8", "a.txt"], attach), 4, ["it is closed"]);
    expect(writes()).toEqual([]);
  });

  it("closes a ticket, and has nothing to do for one that is closed", async () => {
    const { options, writes, api } = await world();
    expect(await run(["ticket", "close", "7"], options)).toEqual({
      code: 0,
      stdout: "Ticket 7 is closed.\n",
      stderr: "",
    });
    expect((await api.send("GET", "/support/tickets/7")).body.status).toBe("closed");
    expect((await here(["ticket", "close", "7"], options)).stdout).toBe("Ticket 7 is closed already.\n");
    expect(writes()).toHaveLength(1);
  });
});

describe("tenon ticket attach", () => {
  it("attaches each file under its name, and what is there already no second time", async () => {
    const { options, cwd, api, writes } = await world({ "trace.txt": "a".repeat(300_000), "bild ü 日本.PNG": "b" });
    const { code, stdout, stderr } = await run(["ticket", "attach", "7", "trace.txt", "./bild ü 日本.PNG"], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe("Attached trace.txt (300,000 bytes).\nAttached bild ü 日本.PNG (1 bytes).\n");
    await writeFile(join(cwd, "more.pdf"), "c");
    await run(["ticket", "attach", "7", "trace.txt", "more.pdf"], options);
    expect((await api.send("GET", "/support/tickets/7")).body.attachments).toEqual([
      "trace.txt",
      "bild ü 日本.PNG",
      "more.pdf",
    ]);
    expect(writes()).toHaveLength(3);
    await here(["ticket", "attach", "7", "more.pdf", "--again"], options);
    expect(writes()).toHaveLength(4);
  });

  it("checks all files before it sends the first", async () => {
    const { options, cwd, writes } = await world({
      "good.txt": "a",
      "empty.txt": "",
      "a.exe": "a",
      txt: "a",
      'quote".txt': "a",
      "sub/good.txt": "b",
    });
    await mkdir(join(cwd, "folder.txt"));
    await symlink("good.txt", join(cwd, "link.txt"));
    execFileSync("mkfifo", [join(cwd, "pipe.txt")]);
    await writeFile(join(cwd, "large.txt"), Buffer.alloc(5 * 1024 * 1024 + 1));
    await writeFile(join(cwd, "largest.txt"), Buffer.alloc(5 * 1024 * 1024));
    for (const [file, words] of [
      ["empty.txt", "it is empty"],
      ["a.exe", "no file of this extension"],
      ["txt", "no file of this extension"],
      ["folder.txt", "it is a folder"],
      ["link.txt", "it is a symbolic link"],
      ["pipe.txt", "it is not a regular file"],
      ["large.txt", "more than 5 MiB"],
      ["nosuch.txt", "there is no such file"],
      ['quote".txt', "a quote"],
      ["sub/good.txt", "two files are called good.txt"],
    ] as const) {
      expectPlain(await here(["ticket", "attach", "7", "good.txt", file], options), 1, [words]);
    }
    expect(writes()).toEqual([]);
    expect((await run(["ticket", "attach", "7", "largest.txt"], options)).code).toBe(0);
  });

  it("ends at the first file that the service refuses, says what was not sent, and exits with 6", async () => {
    const { options } = await world({ "a.txt": "a", "b.txt": "b", "c.txt": "c" });
    const service = await emulator({ seed: SEED, ...faults("status=400,method=POST,nth=2") });
    const ended = await run(["ticket", "attach", "7", "a.txt", "b.txt", "c.txt"], { ...options, env: envOf(service) });
    expect(ended).toMatchObject({ code: 6, stdout: "Attached a.txt (1 bytes).\n" });
    expect(ended.stderr).toMatch(/^error: b\.txt cannot be attached: .*\nwarning: c\.txt was not sent\n$/);
    const again = await run(["ticket", "attach", "7", "a.txt", "b.txt", "c.txt"], { ...options, env: envOf(service) });
    expect(again.code).toBe(0);
    expect((await tested(service).send("GET", "/support/tickets/7")).body.attachments).toEqual([
      "a.txt",
      "b.txt",
      "c.txt",
    ]);
  });
});

describe("tenon ticket --format json", () => {
  it("prints what the schema says, whatever was asked", async () => {
    const schema = JSON.parse(await readFile(new URL("../../schemas/ticket.schema.json", import.meta.url), "utf8"));
    const fits = new Ajv2020({ allowUnionTypes: true }).compile(schema);
    const failed = { type: "step-failed", step: "create vpc/prod", outcome: "failed", failure: { message: "no" } };
    const { options } = await world({ "a.txt": "trace", "events.jsonl": `${JSON.stringify(failed)}\n` });
    const text = ["--description", "It is back."];
    for (const args of [
      ["list"],
      ["show", "7"],
      ["open", "--summary", "One more", ...text, "--entity", "vpc/prod"],
      ["open", "--summary", "One more", ...text, "--entity", "vpc/prod"],
      ["reply", "7", ...text],
      ["attach", "7", "a.txt"],
      ["attach", "7", "a.txt"],
      ["draft", "events.jsonl"],
      ["close", "7"],
      ["close", "7"],
      ["show", "7"],
    ]) {
      const { code, stdout, stderr } = await here(["ticket", ...args, "--format", "json"], options);
      expect({ args, code, stderr: args[0] === "draft" ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
      expect([args, fits(JSON.parse(stdout)), fits.errors]).toEqual([args, true, null]);
    }
  });
});

it("a file that holds the token in UTF-16, as PowerShell writes it, is not attached", async () => {
  const service = await emulator({ seed: { tickets: [{ id: 7, summary: "s", description: "x" }] } });
  const cwd = await folder({});
  const little = Buffer.from("\ufeffauthorization: Bearer emulator-token\r\n", "utf16le");
  for (const [name, octets] of [
    ["little.txt", little],
    ["big.txt", Buffer.from(little).swap16()],
  ] as const) {
    await writeFile(join(cwd, name), octets);
    const { code, stderr } = await run(["ticket", "attach", "7", name], { cwd, env: envOf(service) });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${name} holds the access token, and nothing is sent`)]);
  }
  expect(service.requests).toEqual([]);
});

it("a file that holds the token is not attached, and none beside it", async () => {
  const service = await emulator({ seed: { tickets: [{ id: 7, summary: "s", description: "x" }] } });
  const cwd = await folder({ "a.txt": "a", "log.txt": "authorization: Bearer emulator-token\n" });
  const { code, stderr } = await run(["ticket", "attach", "7", "a.txt", "log.txt"], { cwd, env: envOf(service) });
  expect(code).toBe(1);
  expect(stderr).toContain("log.txt holds the access token, and nothing is sent");
  expect(stderr).not.toContain("emulator-token");
  expect(service.requests).toEqual([]);
});
