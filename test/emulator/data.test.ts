/** The data file: what was answered is there after a restart, a kill, or damage; who may use it; what its journal promises. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Journal } from "../../src/emulator/data-file.ts";
import { type EmulatorOptions, type Seed, startEmulator } from "../../src/emulator/index.ts";
import { Store } from "../../src/emulator/store.ts";
import type { Tested } from "../support/emulator.ts";
import { startTested, tested } from "../support/emulator.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts, runs, and closes: what remains is in the file. */
async function during<Result>(options: EmulatorOptions, run: (tested: Tested) => Promise<Result>): Promise<Result> {
  const emulator = await startEmulator(options);
  try {
    return await run(tested(emulator));
  } finally {
    await emulator.close();
  }
}

const SEED: Seed = {
  vpcs: [{ id: 1, label: "prod", region: "us-east", subnets: [{ id: 2, label: "a", ipv4: "10.0.0.0/24" }] }],
  domains: [{ id: 3, domain: "example.com" }],
  disks: [{ id: 4, label: "boot", size: 100 }],
};

test("an account survives a restart, and no id is given twice", async () => {
  const data = join(temporaryFolder(), "account.log");
  const lists = ["/vpcs", "/vpcs/ips", "/domains", "/domains/3/records", "/images"];
  const read = async ({ send }: Tested): Promise<unknown[]> =>
    Promise.all(lists.map(async (path) => (await send("GET", path)).body));
  const [before, lastId] = await during({ data, seed: SEED }, async (run) => {
    const { send, emulator } = run;
    const record = { type: "TXT", name: "t", target: 'line\nbreak \u2028 \ud83d\ude00 é \\ "' };
    await send("POST", "/domains/3/records", record);
    const { body: gone } = await send("POST", "/domains/3/records", { type: "A", target: "192.0.2.1" });
    await send("DELETE", `/domains/3/records/${gone.id}`);
    await send("PUT", "/vpcs/1", { label: "next" });
    await send("POST", "/images", { disk_id: 4 });
    await send("GET", "/images");
    await emulator.attach({ subnet_id: 2, node_id: 5, interface_id: 6, active: true, config_id: 7 });
    await emulator.advanceClock(3600);
    return [await read(run), gone.id as number] as const;
  });
  const seed: Seed = { vpcs: [{ label: "ignored", region: "us-east" }] };
  await during({ data, seed }, async (run) => {
    expect(run.emulator.notices).toEqual([`The seed was not used: ${data} holds an account already.`]);
    expect(await read(run)).toEqual(before);
    const { body } = await run.send("POST", "/domains/3/records", { type: "A", target: "192.0.2.1" });
    expect(body.id).toBe(lastId + 1);
    expect(Date.parse(`${body.created}Z`) - Date.now()).toBeGreaterThan(3_500_000);
    expect((await run.send("DELETE", "/vpcs/1")).status).toBe(400);
  });
});

test("what was answered before a kill is there, and what is there is whole", async () => {
  const data = join(temporaryFolder(), "account.log");
  const module = pathToFileURL("dist/emulator/index.js").href;
  const script = `
    const { startEmulator } = await import(${JSON.stringify(module)});
    const emulator = await startEmulator(${JSON.stringify({ data, seed: SEED })});
    console.log(emulator.baseUrl);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [baseUrl] = (await once(createInterface(child.stdout), "line")) as [string];
  const answered: string[] = [];
  const add = async (name: string): Promise<void> => {
    const response = await fetch(`${baseUrl}/domains/3/records`, {
      method: "POST",
      headers: { authorization: "Bearer emulator-token", "content-type": "application/json" },
      body: JSON.stringify({ type: "A", name, target: "192.0.2.1" }),
    });
    if (response.ok) answered.push(name);
    if (answered.length === 150) child.kill("SIGKILL");
  };
  const worker = async (number: number): Promise<void> => {
    for (let index = 0; ; index += 1) await add(`w${number}-${index}`);
  };
  await Promise.allSettled([1, 2, 3, 4].map(worker));
  expect(answered.length).toBeGreaterThanOrEqual(150);
  await during({ data }, async ({ send }) => {
    const { body } = await send("GET", "/domains/3/records?page_size=500");
    const names = body.data.map(({ name }: { name: string }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(answered.filter((name) => !names.includes(name))).toEqual([]);
    expect(names.length - answered.length).toBeLessThanOrEqual(4);
  });
});

test("a torn last line is dropped and said so", async () => {
  const data = join(temporaryFolder(), "account.log");
  await during({ data, seed: SEED }, async ({ send }) => {
    await send("PUT", "/vpcs/1", { label: "first" });
    await send("PUT", "/vpcs/1", { label: "second" });
  });
  const text = readFileSync(data, "utf8");
  writeFileSync(data, text.slice(0, -20));
  const { emulator, send } = await startTested({ data });
  expect(emulator.notices).toHaveLength(1);
  expect(emulator.notices[0]).toContain("The last line");
  expect((await send("GET", "/vpcs/1")).body.label).toBe("first");
  await emulator.close();
  await during({ data }, async ({ emulator: again }) => expect(again.notices).toEqual([]));
});

const DAMAGES: [string, (text: string) => string | Buffer, string][] = [
  ["a letter changed in the middle", (text) => text.replace('"prod"', '"prop"'), "line 2 is damaged"],
  ["a line changed to other JSON", (text) => text.replace(/\n.*\n/, '\n{"a":1}\n'), "line 2 is damaged"],
  ["a whole line that is no JSON at the end", (text) => `${text}nonsense\n`, "is damaged"],
  ["an empty line", (text) => text.replace("\n", "\n\n"), "line 2 is damaged"],
];

test.each(DAMAGES)("a file with %s is set aside whole, and said so", async (_name, damage, problem) => {
  const folder = temporaryFolder();
  const data = join(folder, "account.log");
  await during({ data, seed: SEED }, async () => {});
  const damaged = damage(readFileSync(data, "utf8"));
  writeFileSync(data, damaged);
  writeFileSync(`${data}.damaged-1`, "an earlier one");
  await during({ data }, async ({ emulator, send }) => {
    expect(emulator.notices).toHaveLength(1);
    expect(emulator.notices[0]).toContain(problem);
    expect(emulator.notices[0]).toContain(`${data}.damaged-2`);
    expect((await send("GET", "/vpcs")).body.results).toBe(0);
  });
  expect(readFileSync(`${data}.damaged-2`).equals(Buffer.from(damaged))).toBe(true);
  expect(readFileSync(`${data}.damaged-1`, "utf8")).toBe("an earlier one");
});

const FOREIGN: [string, (text: string) => string | Buffer][] = [
  ["no header", (text) => text.slice(text.indexOf("\n") + 1)],
  ["a version of the future", (text) => text.replace('"version":2', '"version":3')],
  ["something else in it", () => "my notes\n"],
  ["a text without a line's end", () => "my notes"],
  ["binary data in it", () => Buffer.from([0, 255, 254, 10, 13, 0])],
];

test.each(FOREIGN)("a file with %s is refused, and stays as it is", async (_name, foreign) => {
  const folder = temporaryFolder();
  const data = join(folder, "account.log");
  await during({ data, seed: SEED }, async () => {});
  const bytes = Buffer.from(foreign(readFileSync(data, "utf8")));
  writeFileSync(data, bytes);
  await expect(startEmulator({ data })).rejects.toThrow(
    /account\.log cannot be used: it does not begin .* left as it is/,
  );
  expect(readdirSync(folder)).toEqual(["account.log"]);
  expect(readFileSync(data).equals(bytes)).toBe(true);
});

test("the file does not grow without end", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "account.log");
  const records = Array.from({ length: 4_000 }, (_, index) => ({
    type: "A" as const,
    name: `h${index}`,
    target: "192.0.2.1",
  }));
  const seed: Seed = { domains: [{ id: 3, domain: "example.com", records }] };
  await during({ data, seed }, async ({ send }) => {
    const first = statSync(data).size;
    for (let round = 0; round < 8; round += 1) {
      const { body } = await send("POST", "/domains/3/clone", { domain: "clone.test" });
      expect((await send("DELETE", `/domains/${body.id}`)).status).toBe(200);
    }
    // 64,000 rows were written and as many deleted.
    expect(statSync(data).size).toBeLessThan(6 * first);
  });
  await during({ data }, async ({ send }) =>
    expect((await send("GET", "/domains/3/records")).body.results).toBe(4_000),
  );
  expect(readdirSync(folder)).toEqual(["account.log"]);
});

test("when the file can no longer be written, nothing is answered as if it were", async () => {
  const folder = temporaryFolder();
  const records = Array.from({ length: 10_000 }, (_, index) => ({
    type: "A" as const,
    name: `h${index}`,
    target: "192.0.2.1",
  }));
  const { send } = await startTested({
    data: join(folder, "a.log"),
    seed: { domains: [{ id: 3, domain: "a.test", records }] },
  });
  rmSync(folder, { recursive: true });
  const { body } = await send("POST", "/domains/3/clone", { domain: "clone.test" });
  // More than twice of what is live was appended now: the file is rewritten, where there is no folder any more.
  expect((await send("DELETE", `/domains/${body.id}`)).status).toBe(500);
  const answer = await send("GET", "/domains");
  expect([answer.status, answer.body]).toEqual([500, { errors: [{ reason: "Internal server error" }] }]);
});

// The lock: two emulators on one file would lose what one of them has answered.

/** In a process of its own, which the caller kills. */
async function startElsewhere(data: string): Promise<{ readonly pid: number; kill(): Promise<void> }> {
  const module = pathToFileURL("dist/emulator/index.js").href;
  const script = `
    const { startEmulator } = await import(${JSON.stringify(module)});
    console.log((await startEmulator(${JSON.stringify({ data })})).baseUrl);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(createInterface(child.stdout), "line");
  const kill = async (): Promise<void> => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  return { pid: child.pid ?? 0, kill };
}

test("a file that another process uses is refused by that process's number, and free once it was killed", async () => {
  const data = join(temporaryFolder(), "account.log");
  const other = await startElsewhere(data);
  const before = readFileSync(data, "utf8");
  await expect(startEmulator({ data })).rejects.toThrow(`${data} is in use by process ${other.pid}`);
  expect(readFileSync(data, "utf8")).toBe(before);
  await other.kill();
  expect(existsSync(`${data}.lock`)).toBe(true);
  const emulator = await startEmulator({ data });
  await expect(startEmulator({ data })).rejects.toThrow(`is in use by process ${process.pid}`);
  await emulator.close();
  expect(readdirSync(join(data, ".."))).toEqual(["account.log"]);
});

test.each([
  ["cut off", ""],
  ["of something else", "my lock\n"],
  ["of a process that is gone", JSON.stringify({ pid: 2 ** 31 - 1, start: "1" })],
])("a lock that is %s is taken over", async (_, text) => {
  const data = join(temporaryFolder(), "account.log");
  writeFileSync(`${data}.lock`, text);
  const emulator = await startEmulator({ data });
  expect(JSON.parse(readFileSync(`${data}.lock`, "utf8"))).toMatchObject({ pid: process.pid });
  await emulator.close();
});

test("of several that start at once, over a stale lock too, one gets the file", async () => {
  for (const stale of [false, true]) {
    const data = join(temporaryFolder(), "account.log");
    if (stale) writeFileSync(`${data}.lock`, JSON.stringify({ pid: 2 ** 31 - 1, start: "1" }));
    const started = await Promise.allSettled(Array.from({ length: 8 }, () => startEmulator({ data })));
    const running = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    await Promise.all(running.map((emulator) => emulator.close()));
    expect(running).toHaveLength(1);
    expect(readdirSync(join(data, ".."))).toEqual(["account.log"]);
  }
});

test("a start that fails lets go of the file", async () => {
  const data = join(temporaryFolder(), "account.log");
  const seed = { domains: [{ domain: "not a name" }] };
  await expect(startEmulator({ data, seed })).rejects.toThrow("domains[0]");
  const busy = await startEmulator();
  onTestFinished(() => busy.close());
  await expect(startEmulator({ data, port: busy.port })).rejects.toThrow("EADDRINUSE");
  await (await startEmulator({ data })).close();
});

// The journal, and whoever waits for it.

async function journal(): Promise<{ store: Store; journal: Journal; path: string }> {
  const store = new Store();
  store.keepChanges();
  const path = join(temporaryFolder(), "account.log");
  return { store, journal: await Journal.create(path, store), path };
}

test("what is appended in the moment in which the last change is on the disk is written, too", async () => {
  const { store, journal: kept, path } = await journal();
  for (let count = 1; count <= 3; count += 1) {
    store.nextId("record");
    await kept.append(store.takeChanges());
  }
  await kept.close();
  expect(
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.includes("record")),
  ).toHaveLength(3);
});

test("after a failure each further change is refused, and nobody waits for ever", async () => {
  const { store, journal: kept } = await journal();
  await kept.close();
  for (let count = 1; count <= 3; count += 1) {
    store.nextId("record");
    await expect(kept.append(store.takeChanges())).rejects.toThrow();
  }
  expect(kept.failed).toBe(true);
});
