/** Entries of a fleet with one token: they take turns, and share what is known of the limits. */

import { expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { Records, stateKey } from "../../src/fleet/records.ts";
import { emulator, ended, folder, type RunOptions, run, start } from "../cli/run.ts";
import { fleetOf } from "../support/fleet.ts";
import { startedWorker, stopped } from "../support/fleet-worker.ts";
import { eachEngine, openedStore } from "../support/stores.ts";

/** With the list of domains all that a window lets through: the second finds nothing left. */
const ZONES = 99;
const ENTRIES = ["one", "two"] as const;

interface SharedToken extends RunOptions {
  readonly service: Emulator;
}

function zonesOf(entry: string): string[] {
  return Array.from({ length: ZONES }, (_, index) => `z${index}.${entry}.example`);
}

/** Two projects of one account, each with zones of its own, at 100 requests per 10 s. */
async function sharedToken(): Promise<SharedToken> {
  const domains = ENTRIES.flatMap((entry, number) =>
    zonesOf(entry).map((domain, index) => {
      return { id: (number + 1) * 1_000 + index, domain, type: "master" as const, soa_email: "a@a.example" };
    }),
  );
  const service = await emulator({ seed: { domains }, rateLimit: { requests: 100, seconds: 10 } });
  const projects = ENTRIES.map((entry) => {
    const text = `tenon: 1\ndomains:\n  - { domain: [${zonesOf(entry).join(", ")}], type: master, soa_email: a@a.example, records: [] }\n`;
    return [`${entry}/tenon.yaml`, text];
  });
  const accounts = ENTRIES.map((name) => `  - { name: ${name}, project: ./${name}, token: { env: TOKEN } }\n`);
  const defaults = `defaults: { base_url: "${service.baseUrl}" }`;
  const files = Object.fromEntries([
    ...projects,
    ["fleet.yaml", `fleet: 1\n${defaults}\naccounts:\n${accounts.join("")}`],
  ]);
  return { service, cwd: await folder(files), env: { TOKEN: "emulator-token" } };
}

/** Whose zones were read, in turn: `one two` where no request of one lies between those of the other. */
function turnsOf({ requests }: Emulator): string {
  const read = requests.flatMap(({ path }) => /^\/v4\/domains\/(\d)\d+\/records$/.exec(path)?.[1] ?? []);
  expect(read.length).toBe(ENTRIES.length * ZONES);
  const turns = read.filter((entry, index) => entry !== read[index - 1]);
  return turns.map((entry) => ENTRIES[Number(entry) - 1]).join(" ");
}

function refused({ requests }: Emulator): number {
  return requests.filter(({ status }) => status === 429).length;
}

test("in one process their requests do not interleave, and none is refused for its number", async () => {
  const { service, ...options } = await sharedToken();
  const planned = await run(["fleet", "plan", "--workers", "2"], options);
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining("2 accounts: 2 done")]);
  expect(refused(service)).toBe(0);
  expect(turnsOf(service)).toBe("one two");
});

eachEngine((serverOf) => {
  test("two workers at once do not let their requests interleave, and none is refused for its number", async () => {
    const { service, ...options } = await sharedToken();
    const queueArgs = ["--queue", serverOf().url];
    const workers = [await startedWorker(options, queueArgs), await startedWorker(options, queueArgs)];
    const planned = await run(["fleet", "plan", ...queueArgs], options);
    expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining("2 accounts: 2 done")]);
    expect(refused(service)).toBe(0);
    expect(["one two", "two one"]).toContain(turnsOf(service));
    for (const worker of workers) expect((await stopped(worker)).code).toBe(143);
  });

  test("an account whose service asks for a long wait takes no slot from the next", async () => {
    const fleet = await fleetOf(2);
    const effect = { type: "status" as const, status: 429, retryAfterSeconds: 1_800 };
    fleet.accounts[0]?.service.setFaults([{ effect }]);
    const queueArgs = ["--queue", serverOf().url, "--prefix", "waits"];
    const worker = await startedWorker(fleet, ["--workers", "1", ...queueArgs]);
    const planning = start(["fleet", "plan", ...queueArgs], fleet);
    const planned = ended(planning);
    await worker.untilSaid("a1: put back for 1800 s");
    await worker.untilSaid("a2: plan: ");
    // It waits, and does not run.
    const status = async () =>
      JSON.parse((await run(["fleet", "status", "--format", "json", ...queueArgs], fleet)).stdout);
    await expect.poll(status).toMatchObject({ accounts: [{ state: "waiting", running: null }, { state: "done" }] });
    // What is asked for now does not wait until then.
    const validated = await run(["fleet", "validate", "--select", "name=a1", ...queueArgs], fleet);
    expect([validated.code, validated.stderr]).toEqual([0, ""]);
    // What was put back has not begun, and can be taken back.
    planning.kill("SIGINT");
    const { code, stdout } = await planned;
    expect([code, stdout]).toEqual([130, expect.stringMatching(/^a1 +not run/m)]);
    // Nothing was asked for twice.
    const paths = fleet.accounts[0]?.service.requests.map(({ path }) => path) ?? [];
    expect(paths.length).toBe(new Set(paths).size);
    await stopped(worker);
  });

  test("a worker that is killed while it holds a token's turn gives it up after its lease, and both entries are read", async () => {
    const { service, ...options } = await sharedToken();
    const queueArgs = ["--queue", serverOf().url, "--prefix", "killed"];
    const first = await startedWorker(options, queueArgs);
    const planned = run(["fleet", "plan", ...queueArgs], options);
    const isReading = (): boolean => service.requests.some(({ path }) => path.endsWith("/records"));
    await expect.poll(isReading, { interval: 5, timeout: 60_000 }).toBe(true);
    first.child.kill("SIGKILL");
    await first.end;
    const second = await startedWorker(options, queueArgs);
    const { code, stdout } = await planned;
    expect([code, stdout]).toEqual([0, expect.stringContaining("2 accounts: 2 done")]);
    await stopped(second);
  });

  test("a run that was put back is taken again when its time has come", async () => {
    const fleet = await fleetOf(1);
    const effect = { type: "status" as const, status: 429, retryAfterSeconds: 1_800 };
    fleet.accounts[0]?.service.setFaults([{ effect }]);
    const queueArgs = ["--queue", serverOf().url, "--prefix", "again"];
    const worker = await startedWorker(fleet, queueArgs);
    const planned = run(["fleet", "plan", ...queueArgs], fleet);
    await worker.untilSaid("a1: put back for 1800 s");
    fleet.accounts[0]?.service.setFaults([]);
    // The time comes at once.
    const store = await openedStore(serverOf().url, "again", 60_000);
    // A wake-up before that would be one of the turn that is still under way.
    await expect.poll(() => store.queue.counts(), { timeout: 60_000 }).toMatchObject({ active: 0, delayed: 1 });
    const records = new Records(store);
    const { value: pending } = await records.read("pending", "pending/a1");
    const key = stateKey(pending?.runs[0]?.run ?? "", "a1");
    const { value: state, version } = await records.read("state", key);
    if (state?.state !== "postponed") throw new Error(`it is ${state?.state}`);
    expect(await records.write("state", key, { ...state, until: Date.now() }, version)).toBe(true);
    await store.queue.wakeUp("a1");
    const { code, stdout } = await planned;
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 account: 1 pending")]);
    await stopped(worker);
  });
});
