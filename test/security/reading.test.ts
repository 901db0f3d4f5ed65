/** A dry run cannot write: the commands that read hold a client without a method that writes, and send GET requests only. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { defineApply } from "../../src/cli/commands/apply.ts";
import { type WithClient, withReader } from "../../src/cli/connection.ts";
import type { Finish } from "../../src/cli/exit.ts";
import { COMMANDS } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { withWriter } from "../../src/cli/writer.ts";
import { type ClientApi, createApi, createReadApi, planProject, type ReadApi } from "../../src/index.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";
import { stage } from "../cli/stage.ts";
import { NOBODY } from "../support/snapshot.ts";

/** Changes of every action are pending, and there is drift. */
const SEED = {
  vpcs: [{ id: 1, label: "prod", region: "us-east", description: "[tenon:edge] other" }],
  domains: [
    { id: 5, domain: "example.com", soa_email: "other@example.com", tags: ["tenon:edge"] },
    { id: 6, domain: "gone.example", soa_email: "other@example.com", tags: ["tenon:edge"] },
  ],
};

/** By command: each way in which it connects, or could. */
const RUNS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  init: [["begun", "--yes"]],
  validate: [[]],
  plan: [["--out", "the.plan"], ["--destroy"], ["--target", "domain/*", "--format", "json"]],
  drift: [[], ["--format", "markdown"]],
  list: [[], ["addresses"], ["records"], ["addresses", "--format", "csv"]],
  output: [[], ["domain/example.com"]],
  explain: [["domains.records"]],
  completion: [["bash"], ["--complete", "--", "plan", "--target", "="]],
  version: [[]],
  live: [["--out", "the.live"]],
  show: [["the.plan"], ["--expanded"], ["domain/example.com"]],
  zone: [
    ["export", "example.com"],
    ["export", "example.com", "--from-manifest"],
    ["check"],
    ["check", "--live", "--nameserver", "127.0.0.1:9"],
  ],
  import: [
    ["--out", "-"],
    ["--into", ".", "--out", "-"],
  ],
  export: [
    ["--to", "terraform", "--out", "tf"],
    ["--to", "zone", "--out", "zones"],
    ["--to", "csv", "--from-manifest", "--out", "-"],
  ],
  fmt: [["--check"]],
  undo: [["run.jsonl"], ["run.jsonl", "--format", "json"]],
};
/** They serve, or play against, an account of their own; or they serve an editor over the stdin of their process, and open no connection. */
const APART: readonly string[] = ["emulate", "demo", "lsp"];

test("a command that reads sends GET requests only, whatever is pending, and a new command must be declared", async () => {
  const declared = COMMANDS.filter(({ access }) => access !== "writes").map(({ name }) => name);
  expect(declared.sort()).toEqual([...Object.keys(RUNS), ...APART].sort());
  const service = await emulator({ seed: SEED });
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const options = { cwd, env: envOf(service) };
  // What is to be undone.
  const run = ["--yes", "--target", "vpc/prod", "--journal", "run.jsonl"];
  expect((await here(["apply", ...run], options)).code).toBe(0);
  for (const { name, access } of COMMANDS) {
    const before = service.requests.length;
    for (const more of RUNS[name] ?? []) {
      const { code } = await here([name, ...more], options);
      expect([name, ...more, code]).toEqual([name, ...more, expect.toBeOneOf([0, 1, 2, 3])]);
    }
    const sent = new Set(service.requests.slice(before).map(({ method }) => method));
    expect([name, sent]).toEqual([name, new Set(access === "reads" ? ["GET"] : [])]);
  }
  // What was pending is written by the command that writes, and is in the same log.
  expect((await here(["apply", "--yes", "--allow", "delete=domain/gone.example"], options)).code).toBe(0);
  expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(["GET", "POST", "PUT", "DELETE"]));
});

test("the client of a command that reads has no method that writes, however it is inspected", async () => {
  const service = await emulator({ seed: SEED });
  const { terminal } = stage(envOf(service));
  const flags = { baseUrl: service.baseUrl };
  const methods = (api: object): string[] => [
    ...Object.getOwnPropertyNames(api),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(api)).filter((name) => !(name in Object.prototype)),
  ];
  const READING = ["close", "get", "limits", "list", "requestCount"];
  const WRITING = ["close", "get", "limits", "list", "requestCount", "send", "upload"];
  expect(await withReader(terminal, flags, async (api) => methods(api).sort())).toEqual(READING);
  expect(await withWriter(terminal, flags, async (api) => methods(api).sort())).toEqual(WRITING);
  expect(refusedByTheCompiler).toBeTypeOf("function");
  const connection = { baseUrl: service.baseUrl, token: "emulator-token" };
  const reading = await createReadApi(connection);
  expect(methods(reading).sort()).toEqual(READING);
  await reading.close();
  const writing = await createApi(connection);
  expect(methods(writing).sort()).toEqual(WRITING);
  await writing.close();
});

/** Never run: that each marked line does not compile is the test, which `npm run check` makes. */
async function refusedByTheCompiler(reading: ReadApi, writing: ClientApi, terminal: Terminal): Promise<void> {
  // @ts-expect-error What reads has no method that sends.
  await reading.send({ method: "POST", path: ["vpcs"] });
  // @ts-expect-error Nor one that uploads.
  await reading.upload({ url: "https://example.com", file: "/tmp/file" });
  // @ts-expect-error A GET has no body and no other method.
  await reading.get({ path: ["vpcs", "1"], method: "DELETE" });
  // @ts-expect-error What is handed a client that reads cannot ask for one that writes.
  await withReader(terminal, {}, async (api: ClientApi) => api.requestCount);
  // @ts-expect-error A client that reads carries no plan out.
  const connect: WithClient<ClientApi> = withReader;
  // @ts-expect-error A command that writes cannot be declared as one that reads: nobody would hand it its client.
  const define: (command: Command, terminal: Terminal, finish: Finish) => void = defineApply;
  // A plan takes either.
  const more = { desired: NOBODY, goal: "apply", nowMilliseconds: 0 } as const;
  await Promise.all([planProject({ ...more, api: reading }), planProject({ ...more, api: writing })]);
  void [connect, define];
}

test("one file of the command line opens a client that writes, and only the program passes it on", () => {
  const cli = join(import.meta.dirname, "../../src/cli");
  const files = readdirSync(cli, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const naming = (word: RegExp): string[] => files.filter((file) => word.test(readFileSync(join(cli, file), "utf8")));
  expect(naming(/\bcreateApi\b/)).toEqual(["writer.ts"]);
  expect(naming(/\bwithWriter\b/).sort()).toEqual(["program.ts", "writer.ts"]);
  expect(naming(/\bapplyPlan\b/)).toEqual(["carry-out.ts"]);
});
