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
