import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Emulator, parseFault } from "../../src/emulator/index.ts";
import { failing, refusal } from "./odd-service.ts";
import { type Ended, emulator, ended, envOf, folder, PROJECT, run, start } from "./run.ts";

const WAIT_MILLISECONDS = 30_000;

interface Watched {
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<Ended>;
  readonly cwd: string;
}

async function applying(service: { readonly baseUrl: string }, args: readonly string[] = []): Promise<Watched> {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const child = start(["apply", "--yes", "--concurrency", "1", ...args], { cwd, env: envOf(service) });
  return { child, end: ended(child), cwd };
}

async function started(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: WAIT_MILLISECONDS, interval: 20 }).toBe(true);
}

function wrote(service: Emulator): boolean {
  return service.requests.some(({ method }) => method !== "GET");
}

/** The journal's lines, every one of them whole. */
async function journalOf(cwd: string): Promise<{ type: string; outcome?: string; interrupted?: boolean }[]> {
  const [file] = await readdir(join(cwd, ".tenon/journal"));
  const text = await readFile(join(cwd, ".tenon/journal", file ?? ""), "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("a signal", () => {
  it("lets a slow request come to its end: it is reported done, and the rest skipped", async () => {
    const fault = parseFault("slow-headers=2000,method=POST,nth=1");
    if (!fault.ok) throw new Error(fault.problem);
    const service = await emulator({ faults: [fault.fault] });
    const { child, end, cwd } = await applying(service);
    await started(() => wrote(service));
    child.kill("SIGTERM");
    const { code, stdout } = await end;
    expect(code).toBe(143);
    expect(stdout).toContain("Apply interrupted: ");
    const outcomes = (await journalOf(cwd)).filter(({ type }) => type === "outcome").map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    expect((await journalOf(cwd)).at(-1)).toMatchObject({ type: "end", interrupted: true });
    expect(service.requests.filter(({ method }) => method !== "GET")).toHaveLength(1);
  });

  it("ends an export of a zone without a file, also while the service renders its own", async () => {
    const fault = parseFault("slow-headers=60000,path=/domains/*/zone-file");
    if (!fault.ok) throw new Error(fault.problem);
    const service = await emulator({
      faults: [fault.fault],
      seed: { domains: [{ domain: "a.example", soa_email: "a@a.example" }] },
    });
    const cwd = await folder({ "tenon.yaml": "tenon: 1\n" });
    for (const args of [
      ["zone", "export", "a.example", "--out", "a.zone"],
      ["export", "--to", "zone", "--out", "zones"],
    ]) {
      service.clearRequests();
      if (args[0] === "export")
        await writeFile(
          join(cwd, "tenon.yaml"),
          "tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [] }]\n",
        );
      const child = start(args, { cwd, env: envOf(service) });
      const end = ended(child);
      await started(() => service.requests.some(({ path }) => path.endsWith("/zone-file")));
      child.kill("SIGTERM");
      expect([args, (await end).code]).toEqual([args, 143]);
      expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
    }
  });

  it("ends a wait for a reading that is refused for now, with nothing done", async () => {
    const service = await failing(await emulator(), () => refusal(503, "Later", { "retry-after": "120" }));
    const { child, end } = await applying(service);
    await started(() => service.requests.length > 0);
    child.kill("SIGTERM");
    // Would it wait any longer, the test would not end in time.
    expect(await end).toMatchObject({ code: 143, stdout: "" });
  });

  it.each([
    ["a rate limit that is used up", refusal(429, "Too many requests", { "retry-after": "60" })],
    ["a service that is busy", refusal(400, "Zone is busy.", { "retry-after": "60" })],
  ])("ends the wait of an apply for %s: what was not carried out is not waited for", async (_, fault) => {
    const behind = await emulator();
    const service = await failing(behind, (request) => (request.startsWith("POST ") ? fault : null));
    const { child, end, cwd } = await applying(service);
    await started(() => service.requests.some((request) => request.startsWith("POST ")));
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await end;
    expect(code).toBe(143);
    expect(stdout).toContain("Apply interrupted: ");
    // Neither the time limit of requests under way nor a second signal has ended it.
    expect(stderr.match(/Stopping: .*/g)).toBeNull();
    expect((await journalOf(cwd)).at(-1)).toMatchObject({ type: "end", interrupted: true });
    expect((await run(["apply", "--yes"], { cwd, env: envOf(behind) })).code).toBe(0);
  });

  it.each([
    [["SIGINT", "SIGINT"], 130],
    [["SIGINT", "SIGTERM"], 130],
    [["SIGHUP", "SIGTERM"], 129],
  ] as const)("%s in a row end an apply at once, with the code of the first", async (signals, expected) => {
    const behind = await emulator();
    const service = await failing(behind, (request) => (request.startsWith("POST ") ? "silence" : null));
    const { child, end, cwd } = await applying(service);
    await started(() => service.requests.some((request) => request.startsWith("POST ")));
    let told = "";
    child.stderr.on("data", (text: string) => {
      told += text;
    });
    child.kill(signals[0]);
    // Two of a kind that come together are one to the system.
    await started(() => told.includes("Interrupt again"));
    child.kill(signals[1]);
    const { code, stderr } = await end;
    expect(code).toBe(expected);
    // And not because the limit of the drain was over.
    expect(stderr.match(/Stopping: .*/g)).toEqual(["Stopping: aborted."]);
    // Whether it has its end is for the half second that is left; what is there is whole.
    expect((await journalOf(cwd)).some(({ type }) => type === "intent")).toBe(true);
  });

  it("SIGHUP, as of a runner that goes away, ends an apply in order with 129, also when nobody reads any more", async () => {
    const service = await emulator({ latencyMilliseconds: 150 });
    const { child, end, cwd } = await applying(service);
    await started(() => wrote(service));
    child.stdout.destroy();
    child.stderr.destroy();
    child.kill("SIGHUP");
    expect((await end).code).toBe(129);
    expect((await journalOf(cwd)).at(-1)).toMatchObject({ type: "end", interrupted: true });
    expect((await run(["apply", "--yes"], { cwd, env: envOf(service) })).code).toBe(0);
  });
});

describe("an emulator", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "that gets %s ends with 0, and its data file is whole",
    async (signal) => {
      const cwd = await folder({ "tenon.yaml": PROJECT });
      const child = start(["emulate", "--data", "account.log"], { cwd });
      let told = "";
      child.stdout.on("data", (part: Buffer) => {
        told += part.toString();
      });
      const end = ended(child);
      await started(() => told.includes("\n"));
      const baseUrl = /listening on (\S+)/.exec(told)?.[1] ?? "";
      const answer = await fetch(`${baseUrl}/domains`, {
        method: "POST",
        headers: { authorization: "Bearer emulator-token", "content-type": "application/json" },
        body: JSON.stringify({ domain: "a.example", type: "master", soa_email: "a@a.example" }),
      });
      expect(answer.status).toBe(200);
      child.kill(signal);
      expect(await end).toMatchObject({ code: 0, stderr: "" });
      const again = await emulator({ data: join(cwd, "account.log") });
      expect(again.notices).toEqual([]);
      const list = await fetch(`${again.baseUrl}/domains`, { headers: { authorization: "Bearer emulator-token" } });
      expect(((await list.json()) as { results: number }).results).toBe(1);
    },
  );
});
