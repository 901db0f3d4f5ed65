import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ended, folder, run, start } from "./run.ts";

interface Served {
  readonly url: string;
  stop(signal?: NodeJS.Signals): ReturnType<typeof ended>;
}

async function serve(args: readonly string[], cwd?: string): Promise<Served> {
  const child = start(["emulate", ...args], cwd === undefined ? {} : { cwd });
  const end = ended(child);
  const first = await new Promise<string>((resolve) => child.stdout.once("data", (text: string) => resolve(text)));
  const url = /^listening on (http:\/\/127\.0\.0\.1:\d+\/v4)\n$/.exec(first)?.[1];
  if (url === undefined) throw new Error(`unexpected first line: ${first}`);
  return {
    url,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return end;
    },
  };
}

async function get(url: string): Promise<{ status: number; body: { data?: { label: string }[]; results?: number } }> {
  const response = await fetch(url, { headers: { authorization: "Bearer emulator-token" } });
  return { status: response.status, body: (await response.json()) as { results?: number } };
}

describe("tenon emulate", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("says only where it listens, and ends well on %s", async (signal) => {
    const served = await serve([]);
    expect(await get(`${served.url}/vpcs`)).toMatchObject({ status: 200, body: { results: 0 } });
    expect(await served.stop(signal)).toEqual({ code: 0, stdout: `listening on ${served.url}\n`, stderr: "" });
  });

  it("starts from a seed, logs requests, and keeps the account in a file", async () => {
    const cwd = await folder({ "seed.yaml": "vpcs: [{ label: seeded, region: us-east }]\n" });
    const args = ["--seed", "seed.yaml", "--request-log", "requests.jsonl", "--data", "account.json"];
    const served = await serve(args, cwd);
    const { body } = await get(`${served.url}/vpcs?page=1`);
    expect(body.data?.map(({ label }) => label)).toEqual(["seeded"]);
    await served.stop();
    const logged = JSON.parse((await readFile(join(cwd, "requests.jsonl"), "utf8")).trim());
    expect(logged).toMatchObject({ method: "GET", path: "/v4/vpcs", query: "page=1", status: 200 });
    const again = await serve(["--data", "account.json"], cwd);
    expect((await get(`${again.url}/vpcs`)).body.results).toBe(1);
    await again.stop();
  });

  it("refuses more requests than its rate limit", async () => {
    const served = await serve(["--rate-limit", "1/60"]);
    const statuses = [(await get(`${served.url}/vpcs`)).status, (await get(`${served.url}/vpcs`)).status];
    expect(statuses).toEqual([200, 429]);
    await served.stop();
  });

  it("shows a zone file as it was, for as long as it is told", async () => {
    const cwd = await folder({ "seed.yaml": "domains: [{ id: 9, domain: example.com }]\n" });
    const served = await serve(["--seed", "seed.yaml", "--zone-render", "1000"], cwd);
    const zoneFile = async (): Promise<unknown> => (await get(`${served.url}/domains/9/zone-file`)).body;
    const before = await zoneFile();
    expect(before).toMatchObject({
      zone_file: ["; example.com [9]", "$TTL 86400"].concat(Array(6).fill(expect.anything())),
    });
    const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
    const body = JSON.stringify({ type: "A", target: "192.0.2.1" });
    const made = await fetch(`${served.url}/domains/9/records`, { method: "POST", headers, body });
    expect([made.status, await zoneFile()]).toEqual([200, before]);
    const clock = served.url.replace("/v4", "/_emulator/clock");
    const advance = JSON.stringify({ advance_seconds: 1000 });
    const control = { "content-type": "application/json", "x-tenon-emulator": "yes" };
    await fetch(clock, { method: "POST", headers: control, body: advance });
    expect(JSON.stringify(await zoneFile())).toContain("192.0.2.1");
    await served.stop();
    expect((await run(["emulate", "--zone-render", "soon"])).code).toBe(1);
  });

  it("names the seed's file with each problem, a line each", async () => {
    const bad = "vpcs: [{ lable: x }]\n";
    const cwd = await folder({ "seed.yaml": bad, "range.yaml": "domains: [{ domain: x y }]\n" });
    const parsed = await run(["emulate", "--seed", "seed.yaml"], { cwd });
    expect(parsed).toMatchObject({ code: 1, stdout: "" });
    const lines = parsed.stderr.trimEnd().split("\n");
    expect(lines[0]).toBe("error: the emulator cannot start: the seed cannot be used");
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}seed\.yaml: line 1: /);
    expect(parsed.stderr).not.toContain("\\n");
    const applied = await run(["emulate", "--seed", "range.yaml"], { cwd });
    expect(applied.stderr).toContain("\n  range.yaml: domains[0]");
  });

  it("says that a seed was not used, and refuses a file in use and one that is not its own", async () => {
    const cwd = await folder({ "seed.yaml": "vpcs: []\n", notes: "my notes\n" });
    const args = ["--seed", "seed.yaml", "--data", "account.log"];
    await (await serve(args, cwd)).stop();
    const again = await serve(args, cwd);
    const second = await run(["emulate", "--data", "account.log"], { cwd });
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toMatch(/^error: the emulator cannot start: account\.log is in use by process \d+\n$/);
    expect((await again.stop()).stderr).toBe("The seed was not used: account.log holds an account already.\n");
    expect((await run(["emulate", "--data", "notes"], { cwd })).code).toBe(1);
    expect(await readFile(join(cwd, "notes"), "utf8")).toBe("my notes\n");
  });

  it("logs requests into no file that holds something else, and goes on with its own log", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\n" });
    const refused = await run(["emulate", "--request-log", "tenon.yaml"], { cwd });
    expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("holds something else") });
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toBe("tenon: 1\n");
    for (const expected of [1, 2]) {
      const served = await serve(["--request-log", "requests.jsonl"], cwd);
      await fetch(`${served.url}/domains`);
      await served.stop();
      expect((await readFile(join(cwd, "requests.jsonl"), "utf8")).match(/"\/domains"|\/domains/g)).toHaveLength(
        expected,
      );
    }
  });

  it("says what is wrong with a seed, or a port in use, without a stack", async () => {
    const cwd = await folder({ "seed.yaml": "vpcs: [{ lable: x }]\n" });
    const served = await serve([]);
    const port = new URL(served.url).port;
    for (const args of [
      ["--seed", "seed.yaml"],
      ["--seed", "missing.yaml"],
      ["--port", port],
    ]) {
      const { code, stdout, stderr } = await run(["emulate", ...args], { cwd });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^error: the emulator cannot start: /);
      expect(stderr).not.toContain("    at ");
    }
    await served.stop();
  });
});
