import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { here } from "./here.ts";
import { emulator, ended, envOf, expectPlain, folder, run, start } from "./run.ts";
import { faults } from "./stage.ts";

const MANIFEST = `tenon: 1
owner: edge
vpcs: [{ label: prod, region: us-east }]
`;
const LIVE = { id: 1, label: "prod", region: "us-east", description: "[tenon:edge]" };
/** Of a name that a chat and a terminal would read as more than text. */
const HOSTILE = { id: 2, label: "old-<!channel>-\u001b[2J", region: "us-east", description: "[tenon:edge]" };

interface Chat {
  readonly url: string;
  readonly messages: string[];
}

async function chat(): Promise<Chat> {
  const messages: string[] = [];
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    messages.push((JSON.parse(body) as { text: string }).text);
    response.end("ok");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/secret-path`, messages };
}

function collected(child: ChildProcessWithoutNullStreams): { stdout: string; stderr: string } {
  const texts = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    texts.stderr += text;
  });
  return texts;
}

async function schemaOf(name: string) {
  return JSON.parse(await readFile(join(import.meta.dirname, `../../schemas/${name}.schema.json`), "utf8"));
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/gm;

describe("tenon drift --watch", () => {
  it("prints and posts what is new, answers for itself, lives through an outage, and ends with 0 at a signal", async () => {
    const service = await emulator({ seed: { vpcs: [LIVE] } });
    const hook = await chat();
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const args = ["drift", "--watch", "--every", "5s", "--serve", "0", "--retry-for", "0s"];
    const child = start(args, { cwd, env: { ...envOf(service), TENON_WEBHOOK: hook.url } });
    const said = collected(child);
    await expect.poll(() => said.stdout, { timeout: 30_000 }).toContain("No drift.");
    const [address = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(said.stderr) ?? [];
    expect(await (await fetch(`${address}/healthz`)).text()).toBe("ok\n");
    expect(await (await fetch(`${address}/metrics`)).text()).toContain('tenon_drift_objects{status="missing"} 0\n');
    expect((await fetch(`${address}/metrics`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${address}/`)).status).toBe(404);
    expect(hook.messages).toEqual([]);

    const headers = { authorization: "Bearer emulator-token" };
    const gone = await fetch(`${service.baseUrl}/vpcs/1`, { method: "DELETE", headers });
    expect(gone.status).toBe(200);
    await expect.poll(() => said.stdout, { timeout: 30_000 }).toContain("0 changed, 1 missing, 0 unexpected.");
    await expect.poll(() => hook.messages.length).toBe(1);
    await service.close();
    await expect.poll(() => said.stderr, { timeout: 30_000 }).toContain("refuses connections");
    await expect.poll(() => hook.messages.length).toBe(2);
    child.kill("SIGTERM");
    const { code } = await ended(child);
    expect(code).toBe(0);
    expect(said.stdout.replaceAll(TIME, "TIME")).toBe(
      "TIME\nNo drift. The account is as the manifests declare.\nTIME\n  missing     vpc/prod\nDrift: 0 changed, 1 missing, 0 unexpected.\n",
    );
    expect(hook.messages[0]).toBe(
      "Tenon (edge): Drift: 0 changed, 1 missing, 0 unexpected.\n```\nmissing     vpc/prod\n```",
    );
    expect(hook.messages[1]).toMatch(
      /^Tenon cannot compare the account with the manifests:\n```\nerror: cannot read the list of VPCs/,
    );
    expect(said.stdout + said.stderr + hook.messages.join("")).not.toMatch(/emulator-token|secret-path/);
  });

  it("refuses a port that is taken, and looks at nothing", async () => {
    const service = await emulator();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const ran = await here(["drift", "--watch", "--serve", `${port}`], { cwd, env: envOf(service) });
    expectPlain(ran, 1, [`--serve 127.0.0.1:${port} cannot be listened on`, "or 0 for any that is free"]);
    expect(service.requests).toEqual([]);
  });

  it("tells an outage once when it begins and once when it ends, however it fails meanwhile", async () => {
    const failures = [503, 500, 502].map((status, index) => `status=${status},path=/vpcs,nth=${index + 2}`);
    const service = await emulator({ seed: { vpcs: [LIVE] }, ...faults(...failures) });
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const args = ["drift", "--watch", "--every", "5s", "--retry-for", "0s"];
    const child = start(args, { cwd, env: envOf(service) });
    const said = collected(child);
    await expect.poll(() => said.stdout, { timeout: 60_000 }).toContain("The account can be read again.");
    child.kill("SIGTERM");
    expect((await ended(child)).code).toBe(0);
    expect(service.requests.flatMap(({ status }) => (status === 200 ? [] : [status]))).toEqual([503, 500, 502]);
    expect(said.stderr.match(/^error: cannot read/gm)).toHaveLength(1);
    expect(said.stderr.match(TIME)).toHaveLength(1);
    expect(said.stdout.match(TIME)).toHaveLength(2);
  });

  it("prints JSON lines for a program, and posts what a chat cannot misread", async () => {
    const service = await emulator({ seed: { vpcs: [LIVE, HOSTILE] } });
    const hook = await chat();
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const args = ["drift", "--watch", "--webhook", hook.url, "--format", "json"];
    const child = start(args, { cwd, env: envOf(service) });
    const said = collected(child);
    await expect.poll(() => hook.messages.length, { timeout: 30_000 }).toBe(1);
    child.kill("SIGINT");
    expect((await ended(child)).code).toBe(0);
    const lines = said.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const [schema, drift] = await Promise.all(["drift-news", "drift"].map(schemaOf));
    const validate = new Ajv2020({ strict: false }).addSchema(drift).compile(schema);
    expect(lines.flatMap((line) => (validate(line) ? [] : validate.errors))).toEqual([]);
    expect(lines).toMatchObject([
      { format_version: 1, type: "drift", drift: true, summary: { unexpected: 1 }, resolved: [] },
    ]);
    expect(lines[0].appeared).toMatchObject([{ status: "unexpected", id: 2 }]);
    expect(hook.messages[0]).toContain("unexpected  vpc/old-&lt;!channel&gt;-%1B[2J");
  });

  it("ends as drift does where the first look fails", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod }]\n" });
    expectPlain(await run(["drift", "--watch"], { cwd, env: envOf(service) }), 3, ["error[missing-key]"]);
    const { code, stdout } = await here(["drift", "--watch", "--format", "json"], { cwd, env: envOf(service) });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ diagnostics: [{ code: "missing-key" }] });
  });

  it("refuses what makes no sense, before anything is looked at", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": MANIFEST }), env: envOf(service) };
    for (const [args, words] of [
      [["--every", "5m"], "--every cannot be used without --watch"],
      [["--watch", "--live", "live.json"], "--watch and --live conflict"],
      [["--watch", "--json-into", "drift.json"], "--watch and --json-into conflict"],
      [["--watch", "--format", "markdown"], "--watch and --format markdown conflict"],
      [["--watch", "--every", "1s"], "Write a time from 5s to 24h."],
      [["--watch", "--serve", "nowhere:99999"], "Write a port"],
      [["--watch", "--webhook", "http://hooks.example.com/secret"], "it is not https: http://hooks.example.com"],
    ] as const) {
      expectPlain(await here(["drift", ...args], options), 1, [words]);
    }
    expect(service.requests).toEqual([]);
  });
});
