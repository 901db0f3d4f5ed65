import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { type Fault, failing, oddService, refusal } from "../cli/odd-service.ts";
import { emulator, ended, envOf, folder, PROJECT, run, start } from "../cli/run.ts";
import { report } from "./counts.ts";

const MIN_DRAIN_MILLISECONDS = 6_000;
/** The drain, and what a busy machine needs beside it: the last line is on disk before a CI runner kills, ten seconds after its signal. */
const MAX_END_MILLISECONDS = 7_000 + 2_000;
/** Until the process itself is gone. */
const MAX_EXIT_MILLISECONDS = 7_000 + 5_000;
const WAIT_MILLISECONDS = 60_000;

const IMAGE = "tenon: 1\nimages:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n";
const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** What keeps an apply waiting for longer than the drain. A request that was clearly not carried out is not waited for. */
const WAITS: Readonly<Record<string, { readonly fault: () => Fault | "silence"; readonly drains: boolean }>> = {
  "a request without an answer": { fault: () => "silence", drains: true },
  "a rate limit that is used up": {
    fault: () => refusal(429, "Too many requests", { "retry-after": "60" }),
    drains: false,
  },
  "a service that is busy": { fault: () => refusal(400, "Zone is busy.", { "retry-after": "60" }), drains: false },
};

let tried = 0;
let survived = 0;

afterAll(() => report({ suite: "signals", tried, survived }));

async function interrupt(
  service: { readonly baseUrl: string },
  cwd: string,
  signal: keyof typeof CODES,
  isWaiting: () => boolean,
  drains: boolean,
): Promise<void> {
  tried += 1;
  const child = start(["apply", "--yes"], { cwd, env: envOf(service) });
  const ending = ended(child);
  await expect.poll(isWaiting, { timeout: WAIT_MILLISECONDS, interval: 20 }).toBe(true);
  const signalled = Date.now();
  child.kill(signal);
  const { code, stdout } = await ending;
  const took = Date.now() - signalled;
  expect(code).toBe(CODES[signal]);
  if (drains) expect(took).toBeGreaterThan(MIN_DRAIN_MILLISECONDS);
  else expect(took).toBeLessThan(MIN_DRAIN_MILLISECONDS);
  expect(took).toBeLessThan(MAX_EXIT_MILLISECONDS);
  expect(stdout).toContain("Apply interrupted: ");
  const [file] = await readdir(join(cwd, ".tenon/journal"));
  const lines = (await readFile(join(cwd, ".tenon/journal", file ?? ""), "utf8")).trimEnd().split("\n");
  const end = JSON.parse(lines.at(-1) ?? "") as { readonly time: string };
  expect(end).toMatchObject({ type: "end", interrupted: true });
  expect(Date.parse(end.time) - signalled).toBeLessThanOrEqual(MAX_END_MILLISECONDS);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  for (const [name, { fault, drains }] of Object.entries(WAITS)) {
    it(`${signal} gives up ${name} ${drains ? "after 7 s" : "at once"}, reports it, and the next run finishes`, async () => {
      const behind = await emulator();
      let waiting = 0;
      const service = await failing(behind, (request) => {
        if (request.startsWith("GET ")) return null;
        waiting += 1;
        return fault();
      });
      const cwd = await folder({ "tenon.yaml": PROJECT });
      await interrupt(service, cwd, signal, () => waiting > 0, drains);
      expect((await run(["apply", "--yes"], { cwd, env: envOf(behind) })).code).toBe(0);
      expect((await run(["plan", "--detailed-exitcode"], { cwd, env: envOf(behind) })).code).toBe(0);
      survived += 1;
    });
  }

  it(`${signal} gives up an upload that stands still after 7 s, and reports it`, async () => {
    const storage = await oddService((incoming) => void incoming.resume());
    const service = await failing(await emulator(), (request) => {
      if (request !== "POST /v4/images/upload") return null;
      const image = { id: "private/1", label: "golden", description: "", status: "pending_upload", type: "manual" };
      const upload_to = `${storage.baseUrl}/put?signature=abc`;
      return { status: 200, body: JSON.stringify({ upload_to, image: { ...image, region: "us-east", tags: [] } }) };
    });
    const cwd = await folder({ "tenon.yaml": IMAGE });
    await writeFile(join(cwd, "golden.img.gz"), gzipSync("disk"));
    await interrupt(service, cwd, signal, () => storage.requests.length > 0, true);
    survived += 1;
  });
}
