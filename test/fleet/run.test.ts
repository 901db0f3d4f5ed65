/** What stops a fleet, and what becomes of the accounts whose turn never came. */

import { expect, test } from "vitest";
import { EmbeddedQueue, type FleetAccount, type FleetRun, runFleet } from "../../src/fleet/index.ts";

function account(name: string): FleetAccount {
  return {
    ...{ name, project: "/p", environment: null, variables: {}, baseUrl: "https://a.example/v4", dialect: "node" },
    ...{ account: null, token: { env: "T" }, labels: {} },
  };
}

/** @param codes of the accounts, in the order of the fleet; undefined: 0 */
async function run(codes: Readonly<Record<string, number>>, more: Partial<FleetRun> = {}): Promise<string> {
  const results = await runFleet({
    accounts: Object.keys(codes).map(account),
    ...{ queue: new EmbeddedQueue(), workers: 1, signal: new AbortController().signal },
    ...{ canary: null, maxFailures: null, stopOnGuard: false },
    runAccount: async ({ name }) => {
      return { type: "ran", code: codes[name] ?? 0, headline: "", text: "", markup: "plain", document: null };
    },
    ...more,
  });
  return results
    .map(({ name, outcome }) => `${name}:${outcome.type === "ran" ? outcome.code : outcome.reason}`)
    .join(" ");
}

test("without a limit every account is run, whatever becomes of the others", async () => {
  expect(await run({ c: 1, a: 6, b: 4, d: 0 })).toBe("a:6 b:4 c:1 d:0");
});

test("the canary goes first, and alone: if it fails nothing else is begun", async () => {
  expect(await run({ a: 0, b: 0, c: 1 }, { canary: "c", workers: 3 })).toBe("a:canary b:canary c:1");
  const begun: string[] = [];
  const observe: FleetRun["observe"] = ({ type, account: name }) => void begun.push(`${type} ${name}`);
  expect(await run({ a: 0, b: 0, c: 2 }, { canary: "c", workers: 3, observe })).toBe("a:0 b:0 c:2");
  expect(begun.slice(0, 2)).toEqual(["begun c", "done c"]);
});

test("more failures than allowed end the run, and what is allowed does not", async () => {
  expect(await run({ a: 1, b: 0, c: 3, d: 0 }, { maxFailures: 1 })).toBe("a:1 b:0 c:3 d:failures");
  expect(await run({ a: 1, b: 0, c: 3, d: 0 }, { maxFailures: 2 })).toBe("a:1 b:0 c:3 d:0");
  expect(await run({ a: 2, b: 0 }, { maxFailures: 0 })).toBe("a:2 b:0");
});

test("a guard ends the run only if that is asked for", async () => {
  expect(await run({ a: 4, b: 0 }, { stopOnGuard: true })).toBe("a:4 b:guard");
  expect(await run({ a: 1, b: 0 }, { stopOnGuard: true })).toBe("a:1 b:0");
});

test("after a signal what runs is awaited, and nothing is begun", async () => {
  const stop = new AbortController();
  const runAccount: FleetRun["runAccount"] = async ({ name }) => {
    if (name === "b") stop.abort();
    return { type: "ran", code: name === "b" ? 143 : 0, headline: "", text: "", markup: "plain", document: null };
  };
  expect(await run({ a: 0, b: 0, c: 0 }, { signal: stop.signal, runAccount })).toBe("a:0 b:143 c:interrupted");
  expect(await run({ a: 0 }, { signal: stop.signal })).toBe("a:interrupted");
});

test("a bug in one account ends the run, after what runs beside it", async () => {
  let isOtherDone = false;
  const runAccount: FleetRun["runAccount"] = async ({ name }) => {
    if (name === "a") throw new Error("a bug");
    await new Promise((resolve) => setTimeout(resolve, 20));
    isOtherDone = true;
    return { type: "ran", code: 0, headline: "", text: "", markup: "plain", document: null };
  };
  await expect(run({ a: 0, b: 0, c: 0 }, { workers: 2, runAccount })).rejects.toThrow("a bug");
  expect(isOtherDone).toBe(true);
});

test("a slow account does not hold up the others", async () => {
  const begun: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const runAccount: FleetRun["runAccount"] = async ({ name }) => {
    begun.push(name);
    if (name === "a") await held;
    if (name === "d") release();
    return { type: "ran", code: 0, headline: "", text: "", markup: "plain", document: null };
  };
  expect(await run({ a: 0, b: 0, c: 0, d: 0 }, { workers: 2, runAccount })).toBe("a:0 b:0 c:0 d:0");
  expect(begun).toEqual(["a", "b", "c", "d"]);
});

/** Accounts a1 to a500, with nothing in them. */
const MANY = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a${index + 1}`, 0]));

test("accounts that need the same run one at a time, in their order, and each asks twice at most", async () => {
  const begun: string[] = [];
  let [running, most, asked] = [0, 0, 0];
  const turnOf = async (): Promise<string> => {
    asked += 1;
    return "token";
  };
  const runAccount: FleetRun["runAccount"] = async ({ name }) => {
    begun.push(name);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return { type: "ran", code: 0, headline: "", text: "", markup: "plain", document: null };
  };
  const done = await run(MANY, { workers: 4, turnOf, runAccount });
  expect(done.match(/:0/g)).toHaveLength(500);
  expect([begun, most]).toEqual([Object.keys(MANY), 1]);
  expect(asked).toBeLessThanOrEqual(1_000);
});

test("an account whose token is another one by its turn gives the turn to the next", async () => {
  const looks = new Map<string, number>();
  const turnOf = async ({ name }: FleetAccount): Promise<string> => {
    const look = (looks.get(name) ?? 0) + 1;
    looks.set(name, look);
    return name === "b" && look > 1 ? "other" : "token";
  };
  expect(await run({ a: 0, b: 0, c: 0, d: 0 }, { workers: 3, turnOf })).toBe("a:0 b:0 c:0 d:0");
  expect(looks.get("b")).toBe(2);
});
