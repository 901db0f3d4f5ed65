import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { here } from "../cli/here.ts";
import { failing, oddService } from "../cli/odd-service.ts";
import { emulator, ended, envOf, folder, PROJECT, run, start } from "../cli/run.ts";
import { leaks } from "./leaks.ts";

/** Long enough to be cut, and with what URLs and JSON write otherwise. */
const TOKEN = 'tkn-7f3a9c/51e2+d8b0"4c6e91-Zq8Wm2';
const SIGNATURE = "sig-0123456789abcdef0123456789abcdef";

const IMAGE = `${PROJECT}images:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n`;

/** Command → runs of it. A command of the program that is not here fails the test. `PLAN`, `LIVE`: saved files. */
const RUNS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  init: [["begun", "--domain", "example.net", "--yes"]],
  validate: [["--format", "json"]],
  plan: [
    ["--out", "the.plan"],
    ["--format", "json", "--token-file", "token.txt"],
  ],
  explain: [["domains.records"]],
  completion: [["bash"], ["--complete", "--", "plan", "--target", "="]],
  version: [["--format", "json"]],
  list: [["addresses"], ["addresses", "--format", "json"], ["addresses", "--format", "csv"]],
  live: [["--out", "the.live"]],
  drift: [[], ["--format", "markdown"], ["--format", "json"]],
  apply: [
    ["--yes", "--format", "json", "--plan", "the.plan", "--journal", "own.jsonl"],
    ["--yes"],
    ["--yes", "--format", "markdown"],
  ],
  undo: [["own.jsonl", "--format", "json"]],
  output: [[], ["domain/example.com"]],
  show: [["the.plan", "--format", "json"], ["--expanded"], ["domain/example.com"]],
  "zone export": [["example.com", "--out", "example.zone"]],
  "zone check": [["--format", "json"]],
  import: [["--owner", "edge", "--out", "imported"]],
  export: [
    ["--to", "terraform", "--out", "tf"],
    ["--to", "csv", "--out", "all.csv", "--format", "json"],
  ],
  fmt: [["--check"]],
  // Ends with its input, which is empty.
  lsp: [[]],
  "ticket draft": [["own.jsonl"]],
  "ticket open": [
    ["--summary", "No answer", "--description", "ns1 is silent."],
    ["--description", `with ${TOKEN}`, "--summary", "a"],
  ],
  "ticket list": [["--format", "json"], ["--open"]],
  "ticket reply": [["20000001", "--description", "Any news?"]],
  "ticket attach": [["20000001", "trace.txt"]],
  "ticket show": [["20000001"], ["20000001", "--format", "json"]],
  "ticket close": [["20000001", "--format", "json"]],
  "fleet init": [["--from", "accounts.csv", "--project", ".", "--out", "listed.yaml"]],
  "fleet list": [[]],
  "fleet validate": [["--format", "json"]],
  "fleet plan": [["--out", "plans"]],
  "fleet drift": [["--format", "markdown"]],
  "fleet apply": [["--yes", "--json-into", "fleet.json"]],
  // Where nobody listens: what a queue holds is looked at in test/system.
  "fleet status": [
    ["--queue", "redis://127.0.0.1:9"],
    ["--queue", `redis://:${TOKEN}@127.0.0.1:9`],
  ],
  // Nobody listens there; what a worker keeps in a queue is looked at in test/system/threats-fleet.test.ts.
  "fleet worker": [["--queue", "redis://user:pass@127.0.0.1:1"]],
  "fleet prepare": [["--queue", "postgres://user:pass@127.0.0.1:1/none"]],
  "fleet schedule": [["drift", "--every", "1h", "--queue", "redis://user:pass@127.0.0.1:1"]],
  destroy: [["--yes", "--format", "json"]],
  // Own tokens and own output: what it logs is looked at below, where it serves.
  emulate: [["--port", "0", "--fault", "nonsense"]],
  // Starts everything it needs itself, with the emulator's own token.
  demo: [],
};

function commandsOf(command: Command, before: string): string[] {
  return command.commands.flatMap((inner) => {
    const name = `${before}${inner.name()}`;
    return inner.commands.length > 0 ? commandsOf(inner, `${name} `) : [name];
  });
}

test("every command of the program is run, so that a new one must show that it keeps the token", async () => {
  const program = await buildProgram({} as Terminal, () => {}, { named: null });
  expect(commandsOf(program, "").sort()).toEqual(Object.keys(RUNS).sort());
});

test("the token and signed URLs are in nothing that any command prints or writes, in no spelling", {
  timeout: 240_000,
}, async () => {
  const fleet = "fleet: 1\naccounts: [{ name: one, project: ., token: { env: FLEET_TOKEN } }]\n";
  const files = {
    "tenon.yaml": IMAGE,
    "fleet.yaml": fleet,
    "accounts.csv": "name,token_env\none,FLEET_TOKEN\n",
    "token.txt": `${TOKEN}\n`,
    "trace.txt": "a",
  };
  const cwd = await folder(files);
  await writeFile(join(cwd, "golden.img.gz"), gzipSync("disk"));
  const logs = await folder({ "seed.yaml": seed() });
  const args = ["--seed", join(logs, "seed.yaml"), "--data", join(logs, "data"), "--request-log", join(logs, "log")];
  const served = start(["emulate", "--image-delay", "0", ...args]);
  const serving = ended(served);
  const baseUrl = await listening(served.stdout);
  const env = {
    TENON_BASE_URL: baseUrl,
    TENON_TOKEN: TOKEN,
    FLEET_TOKEN: TOKEN,
    TENON_DEBUG: "1",
    GITHUB_STEP_SUMMARY: join(cwd, "summary.md"),
  };
  const codes: Record<string, (number | null)[]> = {};
  for (const [command, runs] of Object.entries(RUNS)) {
    for (const [index, more] of runs.entries()) {
      // The first as a process: what only a process writes is in it.
      const { code, stdout, stderr } = await (index === 0 ? run : here)([...command.split(" "), ...more], { cwd, env });
      expect([command, ...more, ...leaks(stdout + stderr, [TOKEN, SIGNATURE])]).toEqual([command, ...more]);
      expect([command, stdout + stderr]).toEqual([command, expect.not.stringContaining("signature=")]);
      codes[command] = [...(codes[command] ?? []), code];
    }
  }
  // The runs did what they are for.
  expect(codes).toMatchObject({
    plan: [0, 0],
    list: [0, 0, 0],
    live: [0],
    drift: [2, 2, 2],
    undo: [0],
    output: [0, 0],
    show: [0, 0, 0],
    import: [0],
    "zone export": [0],
    "fleet plan": [0],
    "fleet apply": [0],
    "ticket open": [0, 1],
    "ticket reply": [0],
    "ticket attach": [0],
    "ticket close": [0],
  });
  expect(codes["apply"]?.[0]).toBe(0);
  served.kill("SIGTERM");
  const { stdout, stderr } = await serving;
  expect(leaks(stdout + stderr + (await readFile(join(logs, "log"), "utf8")), [TOKEN])).toEqual([]);
  const written = await everyFile(cwd, ["token.txt"]);
  for (const name of ["the.plan", "own.jsonl", "the.live", "summary.md", "example.zone"]) {
    expect(Object.keys(written)).toContain(name);
  }
  for (const [name, text] of Object.entries(written)) {
    expect([name, ...leaks(text, [TOKEN, SIGNATURE])]).toEqual([name]);
    expect([name, text]).toEqual([name, expect.not.stringContaining("signature=")]);
  }
});

test("a service that repeats the token, in any spelling or cut in two, has it shown by no command", async () => {
  const spellings = [TOKEN, encodeURIComponent(TOKEN), Buffer.from(TOKEN).toString("base64"), JSON.stringify(TOKEN)];
  // Where a reason is cut, half a token must not be what is left.
  const reason = `${spellings.join(" ")} ${"x".repeat(1_000 - 20)} ${TOKEN}`;
  const cut = `${"x".repeat(1_000 - 20)}${TOKEN}`;
  for (const status of [401, 400, 500]) {
    const body = JSON.stringify({ errors: [{ reason }, { reason: cut, field: TOKEN }] });
    const service = await oddService((_, response) =>
      response.writeHead(status, { "content-type": "application/json" }).end(body),
    );
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = { ...envOf(service), TENON_TOKEN: TOKEN, TENON_DEBUG: "1" };
    const { stdout, stderr } = await run(["plan", "--retry-for", "0s"], { cwd, env });
    expect([status, ...leaks(stdout + stderr, [TOKEN])]).toEqual([status]);
  }
  const html = await oddService((_, response) =>
    response.writeHead(500, TOKEN.replaceAll('"', "")).end(`<html>${TOKEN}`),
  );
  const odd = await run(["plan", "--retry-for", "0s"], {
    cwd: await folder({ "tenon.yaml": PROJECT }),
    env: { ...envOf(html), TENON_TOKEN: TOKEN, TENON_DEBUG: "1" },
  });
  expect(leaks(odd.stdout + odd.stderr, [TOKEN])).toEqual([]);
});

test("nothing of an answer that holds the token is shown or saved, in whatever spelling the token is in it", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east, description: ours }]\n" });
  const octets = Buffer.from(TOKEN);
  const spellings = [
    ...[TOKEN, encodeURIComponent(TOKEN), encodeURIComponent(TOKEN).replace(/%../g, (octet) => octet.toLowerCase())],
    ...[octets.toString("hex"), octets.toString("hex").toUpperCase(), octets.toString("base64")],
    ...["x", "xy", "user:", "Bearer "].map((before) => Buffer.from(`${before}${TOKEN}yz`).toString("base64")),
    Buffer.from(`x${TOKEN}`).toString("base64url"),
  ];
  for (const [index, spelling] of spellings.entries()) {
    const vpc = { id: 3, label: "prod", region: "us-east", description: `see ${spelling} there`, subnets: [] };
    const service = await oddService((_, response) =>
      response.end(JSON.stringify({ data: [vpc], page: 1, pages: 1, results: 1 })),
    );
    const env = { ...envOf(service), TENON_TOKEN: TOKEN };
    for (const args of [
      ["plan", "--out", "x.plan"],
      ["plan", "--format", "json"],
      ["drift", "--format", "markdown"],
    ]) {
      const ended = await (index === 0 ? run : here)([...args, "--retry-for", "0s"], { cwd, env });
      expect([spelling, ended.code, ...leaks(ended.stdout + ended.stderr, [TOKEN])]).toEqual([spelling, 1]);
      expect(ended.stdout + ended.stderr).not.toContain(spelling);
      expect(ended.stdout + ended.stderr).toContain("contains the token");
    }
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  }
  // What a write has done is reported, without the token that its answer repeats.
  const writing = await oddService((incoming, response) => {
    const vpc = { id: 3, label: "prod", region: "us-east", description: "theirs", subnets: [] };
    const isWrite = incoming.method === "PUT";
    response.end(
      JSON.stringify(isWrite ? { ...vpc, label: `a ${TOKEN}` } : { data: [vpc], page: 1, pages: 1, results: 1 }),
    );
  });
  const applied = await run(["apply", "--yes", "--journal", "j.jsonl"], {
    cwd,
    env: { ...envOf(writing), TENON_TOKEN: TOKEN },
  });
  expect(applied.stdout).toContain("[redacted]");
  const journal = await readFile(join(cwd, "j.jsonl"), "utf8");
  expect(leaks(applied.stdout + applied.stderr + journal, [TOKEN])).toEqual([]);
  // JSON may spell any letter as an escape.
  const escaped = TOKEN.replace("f", "\\u0066").replaceAll('"', "\\u0022");
  const spelled = await oddService((_, response) =>
    response.end(
      `{"data":[{"id":3,"label":"prod","region":"us-east","description":"${escaped}","subnets":[]}],"page":1,"pages":1,"results":1}`,
    ),
  );
  const found = await run(["plan", "--retry-for", "0s"], { cwd, env: { ...envOf(spelled), TENON_TOKEN: TOKEN } });
  expect(found).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("contains the token") });
});

test("a write or an upload that fails leaves neither token nor signed URL in report and journal", async () => {
  const behind = await emulator();
  const storage = await oddService((incoming, response) => {
    incoming.resume();
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ errors: [{ reason: `no: ${storage.baseUrl}/put?signature=${SIGNATURE}` }] }));
  });
  const service = await failing(behind, (request) => {
    if (request === "POST /v4/vpcs")
      return { status: 400, body: JSON.stringify({ errors: [{ reason: `no: ${TOKEN}` }] }) };
    if (request !== "POST /v4/images/upload") return null;
    const image = { id: "private/1", label: "golden", description: "", status: "pending_upload", type: "manual" };
    const upload_to = `${storage.baseUrl}/put?signature=${SIGNATURE}`;
    return { status: 200, body: JSON.stringify({ upload_to, image: { ...image, region: "us-east", tags: [] } }) };
  });
  const cwd = await folder({ "tenon.yaml": IMAGE });
  await writeFile(join(cwd, "golden.img.gz"), gzipSync("disk"));
  // The front asks the emulator with its own token, so that only the client's side is looked at.
  const env = { ...envOf(service), TENON_DEBUG: "1" };
  const secrets = ["emulator-token", SIGNATURE];
  const { code, stdout, stderr } = await run(["apply", "--yes", "--format", "json", "--retry-for", "0s"], { cwd, env });
  expect(code).toBe(6);
  expect(storage.requests).toHaveLength(1);
  expect(leaks(stdout + stderr, secrets)).toEqual([]);
  for (const [name, text] of Object.entries(await everyFile(cwd, [])))
    expect([name, ...leaks(text, secrets)]).toEqual([name]);
});

test("an apply that is interrupted within an upload leaves neither token nor signed URL behind", async () => {
  const behind = await emulator();
  const storage = await oddService((incoming) => void incoming.resume());
  const service = await failing(behind, (request) => {
    if (request !== "POST /v4/images/upload") return null;
    const image = { id: "private/1", label: "golden", description: "", status: "pending_upload", type: "manual" };
    const upload_to = `${storage.baseUrl}/put?signature=${SIGNATURE}`;
    return { status: 200, body: JSON.stringify({ upload_to, image: { ...image, region: "us-east", tags: [] } }) };
  });
  const cwd = await folder({ "tenon.yaml": IMAGE });
  await writeFile(join(cwd, "golden.img.gz"), gzipSync("disk"));
  const env = { ...envOf(service), TENON_DEBUG: "1", GITHUB_STEP_SUMMARY: join(cwd, "summary.md") };
  const child = start(["apply", "--yes"], { cwd, env });
  let told = "";
  child.stderr.on("data", (text: Buffer) => {
    told += text.toString();
  });
  const end = ended(child);
  await expect.poll(() => storage.requests.length, { timeout: 30_000 }).toBe(1);
  child.kill("SIGINT");
  await expect.poll(() => told, { timeout: 30_000 }).toContain("Interrupt again");
  child.kill("SIGINT");
  const { code, stdout, stderr } = await end;
  expect(code).toBe(130);
  const secrets = ["emulator-token", SIGNATURE];
  expect(leaks(stdout + stderr, secrets)).toEqual([]);
  const written = await everyFile(cwd, []);
  expect(Object.values(written).some((text) => text.includes('"type":"intent'))).toBe(true);
  for (const [name, text] of Object.entries(written)) expect([name, ...leaks(text, secrets)]).toEqual([name]);
});

test("a token that cannot be sent is not shown: a line break within it, letters beyond ASCII, a file of it", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT, "token.txt": `${TOKEN}\n${TOKEN}\n` });
  const env = { TENON_BASE_URL: "http://127.0.0.1:9/v4", TENON_DEBUG: "1" };
  for (const [token, args] of [
    [`${TOKEN}\nmore`, ["plan"]],
    [`${TOKEN}\u00e9\u2603`, ["plan"]],
    ["", ["plan", "--token-file", "token.txt"]],
  ] as const) {
    const { code, stdout, stderr } = await run(args, { cwd, env: { ...env, TENON_TOKEN: token } });
    expect(code).toBe(1);
    expect(stderr).toContain("error[token-invalid]");
    expect(leaks(stdout + stderr, [TOKEN])).toEqual([]);
  }
});

function seed(): string {
  return `tokens: [{ token: ${JSON.stringify(TOKEN)}, scopes: ["*"] }]\n`;
}

function listening(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    stream.on("data", (part: string) => {
      text += part;
      const url = /listening on (\S+)\n/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

/** Name → text, of all files below the folder. */
async function everyFile(folder: string, but: readonly string[]): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !but.includes(entry.name));
  const texts = files.map(async ({ name, parentPath }) => [
    join(parentPath, name).slice(folder.length + 1),
    await readFile(join(parentPath, name), "latin1"),
  ]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}
