/** `apply --verify --undo-on-failure`: what nameservers do not serve is taken back by itself, and the run is still a failure. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { carryOutPlan } from "../../src/cli/carry-out.ts";
import { EXIT } from "../../src/cli/exit.ts";
import { inSession, planIn } from "../../src/cli/session.ts";
import { undoUnverified } from "../../src/cli/undo-on-failure.ts";
import { withWriter } from "../../src/cli/writer.ts";
import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { tested } from "../support/emulator.ts";
import { writeInto } from "../support/files.ts";
import { type AskedNameserver, startAsked } from "../support/scripted-asked.ts";
import { address, soa } from "../support/scripted-nameserver.ts";
import { terminalOf } from "./here.ts";
import { type Ended, emulator, ended, envOf, folder, run, start } from "./run.ts";

function manifest(target: string, more = ""): string {
  return `tenon: 1
owner: edge
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records:
      - { type: A, name: www, target: ${target}, ttl_sec: 300 }
${more}`;
}

/** Serves www as it was, whatever the account says; of nothing else it knows more than that it is not there. */
function stuckNameserver(): Promise<AskedNameserver> {
  return startAsked(({ text, send, reply }) => {
    if (text === "www.example.com A") send(reply({ answers: [address("www.example.com")] }));
    else if (text === "example.com SOA") send(reply({ answers: [soa()] }));
    else send(reply({ rcode: 3, authorities: [soa()] }));
  });
}

interface Staged {
  readonly service: Emulator;
  readonly cwd: string;
  readonly args: readonly string[];
  apply(...more: string[]): Promise<Ended>;
}

async function staged(changed: string, options: EmulatorOptions = {}): Promise<Staged> {
  const service = await emulator(options);
  const server = await stuckNameserver();
  const cwd = await folder({ "tenon.yaml": manifest("192.0.2.1") });
  expect(await run(["apply", "--yes"], { cwd, env: envOf(service) })).toMatchObject({ code: 0 });
  await writeFile(join(cwd, "tenon.yaml"), changed);
  service.clearRequests();
  const asks = ["--verify", "--nameserver", `${server.host}:${server.port}`, "--verify-timeout", "1s"];
  const args = ["apply", "--yes", ...asks];
  return { service, cwd, args, apply: (...more) => run([...args, ...more], { cwd, env: envOf(service) }) };
}

async function targets(service: Emulator): Promise<string[]> {
  const { send } = tested(service);
  const { body } = await send("GET", "/domains");
  const lists = await Promise.all(
    body.data.map(async ({ id, domain }: { id: number; domain: string }) => {
      const records = (await send("GET", `/domains/${id}/records`)).body.data;
      return records.map(({ name, target }: Record<string, string>) => `${name}.${domain} ${target}`);
    }),
  );
  return lists.flat().sort();
}

const MADE = `      - { type: A, name: new, target: 192.0.2.9, ttl_sec: 300 }
  - domain: made.example
    type: master
    soa_email: a@example.com
    records: [{ type: A, name: a, target: 192.0.2.1, ttl_sec: 300 }]
`;

describe("an apply that nameservers do not confirm", () => {
  it("is undone with what it made, is verified again, and ends with 6", async () => {
    const { service, apply } = await staged(manifest("192.0.2.2", MADE));
    const { code, stdout, stderr } = await apply("--undo-on-failure");
    expect(code).toBe(6);
    expect(stderr).toContain("The nameservers do not answer as declared. What this run did is to be undone.\n");
    expect(stderr).toContain("\nWhat this run did is undone.\n");
    expect(stdout).toContain("~ www A 192.0.2.2 → 192.0.2.1 ttl 300");
    expect(stdout).toContain("Undo complete!");
    expect(stdout.lastIndexOf("Verified: ")).toBeGreaterThan(stdout.indexOf("Undo complete!"));
    expect(await targets(service)).toEqual(["www.example.com 192.0.2.1"]);
  });

  it("says both in its report as JSON and in markdown", async () => {
    const { apply } = await staged(manifest("192.0.2.2"));
    const { code, stdout } = await apply("--undo-on-failure", "--format", "json");
    const report = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(code).toBe(6);
    expect(report).toMatchObject({
      ...{ type: "report", goal: "apply", verification: { verified: false } },
      undo: { complete: true, problems: [], report: { goal: "undo", failed: 0 }, verification: { verified: true } },
    });
    const markdown = await staged(manifest("192.0.2.2"));
    const told = (await markdown.apply("--undo-on-failure", "--format", "markdown")).stdout;
    expect(told).toContain("Undone, as nameservers did not answer as declared:");
    expect(told).toContain("All of it is as it was before, and is served so.");
    expect(told).toContain("Asked of nameservers after the undo:");
  });

  it("stays without the flag; the flag alone is refused, and does nothing where all is served", async () => {
    const { service, apply } = await staged(manifest("192.0.2.2"));
    expect(await apply()).toMatchObject({ code: 6 });
    expect(await targets(service)).toEqual(["www.example.com 192.0.2.2"]);
    const cwd = await folder({ "tenon.yaml": manifest("192.0.2.1") });
    const alone = await run(["apply", "--yes", "--undo-on-failure"], { cwd, env: envOf(service) });
    expect(alone).toMatchObject({ code: 1, stdout: "" });
    expect(alone.stderr).toContain("--undo-on-failure is for --verify");
    const served = await staged(manifest("192.0.2.1").replace("a@example.com", "b@example.com"));
    const { code, stdout } = await served.apply("--undo-on-failure");
    expect(code).toBe(0);
    expect(stdout).not.toContain("Undo");
  });

  it("does not say that what it made is undone where it may not delete", async () => {
    const { apply } = await staged(manifest("192.0.2.2", MADE));
    const { code, stdout, stderr } = await apply("--undo-on-failure", "--never-destroy", "--format", "json");
    expect([code, stderr]).toEqual([6, expect.not.stringContaining("is undone")]);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      undo: {
        complete: false,
        problems: expect.arrayContaining(["domain/made.example stays: --never-destroy leaves out deletions"]),
      },
    });
  });

  it("leaves what needs another consent, and says so", async () => {
    const changed = `${manifest("192.0.2.2", MADE)}    protect: true\n`;
    const { service, apply } = await staged(changed);
    const { code, stderr } = await apply("--undo-on-failure");
    expect(code).toBe(6);
    expect(stderr).toContain("error: not undone: domain/made.example stays as it is: it is protected");
    expect(stderr).not.toContain("is undone");
    expect(await targets(service)).toEqual(["a.made.example 192.0.2.1", "www.example.com 192.0.2.1"]);
  });

  it.each([
    ["changed a record", "192.0.2.2", ""],
    ["made a record", "192.0.2.1", "      - { type: A, name: new, target: 192.0.2.9, ttl_sec: 300 }\n"],
  ])(
    "leaves a domain shared, as nobody has agreed to lose what others have made in it since: it also %s",
    async (_, target, more) => {
      const shared = manifest(target, more).replace(
        "    records:",
        "    shared_with: [{ owner: shop, names: [shop] }]\n    records:",
      );
      const { service, apply } = await staged(shared);
      const { code, stderr } = await apply("--undo-on-failure");
      expect([code, stderr]).toEqual([
        6,
        expect.stringContaining(
          "not undone: domain/example.com stays as it is: it needs the consent bulk=domain/example.com",
        ),
      ]);
      const { body } = await tested(service).send("GET", "/domains");
      expect(body.data[0].tags).toContain("tenon-part:shop");
    },
  );

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "is stopped in its undo by %s: it ends with %i, and names the command that undoes the rest",
    async (signal, expected) => {
      const { parseFault } = await import("../../src/emulator/index.ts");
      const fault = parseFault("slow-headers=500,method=DELETE,path=/domains/*/records/*");
      if (!fault.ok) throw new Error(fault.problem);
      const many = Array.from({ length: 30 }, (_, index) => {
        return `      - { type: A, name: h${index}, target: 192.0.2.9, ttl_sec: 300 }\n`;
      });
      const changed = manifest("192.0.2.1", many.join(""));
      const { service, args, cwd } = await staged(changed, { faults: [fault.fault] });
      const more = ["--undo-on-failure", "--journal", "a run.jsonl", "--concurrency", "1"];
      const child = start([...args, ...more], { cwd, env: envOf(service) });
      const end = ended(child);
      const deleted = () => service.requests.filter(({ method }) => method === "DELETE").length;
      await expect.poll(deleted, { timeout: 60_000 }).toBeGreaterThan(0);
      child.kill(signal);
      const { code, stderr } = await end;
      expect(code).toBe(expected);
      expect(stderr).toMatch(
        /error: not undone: \d+ of its changes failed, or were not begun\. Go on with: tenon apply --undo '.*a run\.jsonl' --run \S+\n/,
      );
      expect((await targets(service)).length).toBeGreaterThan(1);
      const [, journal = "", started = ""] = /--undo '(.*)' --run (\S+)/.exec(stderr) ?? [];
      const rest = await run(
        ["apply", "--undo", journal, "--run", started, "--yes", "--allow", "delete=*", "--allow", "bulk=*"],
        {
          ...{ cwd, env: envOf(service) },
        },
      );
      expect(rest).toMatchObject({ code: 0 });
      expect(await targets(service)).toEqual(["www.example.com 192.0.2.1"]);
    },
  );

  it("fails in its undo, too: it says what was not undone, and how to go on", async () => {
    const { parseFault } = await import("../../src/emulator/index.ts");
    const fault = parseFault("status=400,method=PUT,path=/domains/*/records/*,nth=2");
    if (!fault.ok) throw new Error(fault.problem);
    const { service, apply, cwd } = await staged(manifest("192.0.2.2"), { faults: [fault.fault] });
    const { code, stdout, stderr } = await apply("--undo-on-failure", "--journal", "run.jsonl");
    expect(code).toBe(6);
    expect(stdout).toContain("Undo incomplete:");
    expect(stderr).not.toContain("is undone");
    expect(stderr).toMatch(
      /not undone: 1 of its changes failed, or were not begun\. Go on with: tenon apply --undo .*run\.jsonl --run \S+\n/,
    );
    expect(await targets(service)).toEqual(["www.example.com 192.0.2.2"]);
    // The undo has written its own run into the same file.
    expect((await run(["undo", "run.jsonl"], { cwd, env: envOf(service) })).stderr).toContain("holds several runs");
  });

  it("is not undone when a signal ends the asking", async () => {
    const { service, cwd, args } = await staged(manifest("192.0.2.2"));
    const child = start([...args, "--undo-on-failure", "--verify-timeout", "10m"], { cwd, env: envOf(service) });
    const end = ended(child);
    await expect.poll(() => targets(service), { timeout: 30_000 }).toEqual(["www.example.com 192.0.2.2"]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    child.kill("SIGINT");
    const { code, stdout } = await end;
    expect(code).toBe(130);
    expect(stdout).not.toContain("Undo");
    expect(await targets(service)).toEqual(["www.example.com 192.0.2.2"]);
  });

  it("names what an undo gives up, and does not say that all is as it was before", async () => {
    const image = (file: string) =>
      `images: [{ label: golden, track: content, upload: { file: ${file}, region: us-east } }]\n`;
    const { cwd, args, service } = await staged(manifest("192.0.2.1"));
    await writeInto(cwd, {
      "tenon.yaml": manifest("192.0.2.1", image("a.gz")),
      "a.gz": gzipSync("a"),
      "b.gz": gzipSync("b"),
    });
    expect(await run(["apply", "--yes"], { cwd, env: envOf(service) })).toMatchObject({ code: 0 });
    await writeFile(join(cwd, "tenon.yaml"), manifest("192.0.2.2", image("b.gz")));
    const more = ["--undo-on-failure", "--format", "json", "--allow", "replace=image/golden"];
    const { code, stdout } = await run([...args, ...more], { cwd, env: envOf(service) });
    expect(code).toBe(6);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      undo: { complete: false, problems: ["image/golden does not come back"] },
    });
    expect(await targets(service)).toEqual(["www.example.com 192.0.2.1"]);
  });

  it("says that nothing is undone, and how to go on, where the undo itself fails unexpectedly", async () => {
    const said: string[] = [];
    const terminal = { say: (text: string) => said.push(text), messages: { isTerminal: false } };
    const carried = { entries: [null], journal: "run.jsonl" };
    const undone = await undoUnverified({ terminal } as never, carried as never, {} as never, async () => null);
    expect(undone).toMatchObject({ isComplete: false, done: null });
    expect(said.join("").replace(/\s+/g, " ")).toMatch(
      /to be undone\. error: not undone: an error of Tenon, please report it: .*\. Look at: tenon undo run\.jsonl $/,
    );
  });

  it("says what is undone where the look at the nameservers after it fails unexpectedly", async () => {
    const { service, cwd } = await staged(manifest("192.0.2.2"));
    const terminal = terminalOf(envOf(service), () => {});
    const flags = { clone: true, format: "json", baseUrl: service.baseUrl, journal: join(cwd, "run.jsonl") } as const;
    let undone: unknown = null;
    const code = await inSession(terminal, cwd, flags, "apply", withWriter, async (session) => {
      const made = await planIn(session);
      const carried = made.ok
        ? await carryOutPlan(session, made, flags, { isReviewed: false, keepsEntries: true })
        : null;
      if (carried === null) return EXIT.error;
      undone = await undoUnverified(session, carried, flags, () => Promise.reject(new Error("a bug")));
      return EXIT.done;
    });
    expect({ code, undone }).toMatchObject({
      code: 0,
      undone: {
        ...{ isComplete: false, problems: ["an error of Tenon, please report it: a bug"], verification: null },
        ...{ done: { plan: { goal: "undo" }, report: { failed: 0 } } },
      },
    });
    expect(await targets(service)).toEqual(["www.example.com 192.0.2.1"]);
  });
});
