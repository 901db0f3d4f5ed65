import { expect, onTestFinished, test, vi } from "vitest";
import type { FleetStore } from "../../src/fleet/index.ts";
import { printable, problemOfRecord, Records, workerKey } from "../../src/fleet/records.ts";

test("what has more values than any record or report is not parsed: it would take gigabytes, and hear no signal meanwhile", async () => {
  const forged = `{"state":"done","outcome":[${"{},".repeat(200_000)}{}]}`;
  const store = { read: async () => ({ version: 7, text: forged }) } as unknown as FleetStore;
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  expect(await new Records(store).read("state", "state/a/b")).toEqual({ version: 7, value: null });
  const line = { type: "ran", code: 0, headline: "", text: "", markup: "plain" } as const;
  expect(printable({ ...line, document: `[${"[],".repeat(8_000_000)}[]]` }).document).toBeNull();
  expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
});

test("what a status shows of each account is short, or is not read: a fleet has thousands", async () => {
  const last = {
    ...{ command: "plan", worker: "host:1", at: 0, milliseconds: 0, code: 0, headline: "a".repeat(500) },
    ...{ requests: 0, throttled: 0 },
  };
  const readOf = async (forged: object) => {
    const text = JSON.stringify({ running: null, last: { ...last, ...forged } });
    const store = { read: async () => ({ version: 1, text }) } as unknown as FleetStore;
    return (await new Records(store).read("activity", "activity/a")).value?.last ?? null;
  };
  expect(await readOf({})).toEqual(last);
  expect(await readOf({ headline: "a".repeat(501) })).toBeNull();
  expect(await readOf({ worker: "a".repeat(301) })).toBeNull();
});

test("of a record that is longer than its kind the store sends nothing, but for what a run came to: that one is read alone", async () => {
  const asked: (number | undefined)[] = [];
  const read = async (_: string, maxOctets?: number) => {
    asked.push(maxOctets);
    return { version: 3, text: null };
  };
  const records = new Records({ read } as unknown as FleetStore);
  for (const kind of ["activity", "worker", "pending", "scheduled", "pace", "names", "request", "state"] as const)
    expect(await records.read(kind, "k")).toEqual({ version: 3, value: null });
  const [short, list] = [64 * 1024, 1024 * 1024];
  expect(asked).toEqual([short, short, short, short, list, list, 8 * list, 64 * list]);
});

test("the fullest record of each kind is read", async () => {
  const uuid = "00000000-0000-4000-8000-000000000000";
  const digest = "0".repeat(64);
  const trace = `00-${"0".repeat(32)}-${"0".repeat(16)}-01`;
  const at = Number.MAX_SAFE_INTEGER;
  const counts = { requests: at, throttled: at };
  // The longest that a character is in JSON.
  const worker = "\u0001".repeat(300);
  const full = {
    pending: { runs: Array.from({ length: 100 }, () => ({ run: uuid, digest, plan: digest, at, trace })) },
    activity: {
      running: { command: "validate", worker, since: at, run: uuid },
      last: { command: "validate", worker, at, milliseconds: at, code: 0, headline: "\u0001".repeat(500), ...counts },
    },
    worker: { since: at, alive: at, hasEnded: false, done: at, failed: at, seconds: at, ...counts },
    names: { names: Array.from({ length: 10_000 }, () => "a".repeat(64)) },
    pace: {
      common: { limit: 1, remaining: 1, resetAt: at, isShared: false },
      endpoints: Array.from({ length: 200 }, () => ({
        ...{ limit: 1_000_000_000, remaining: 1_000_000_000, resetAt: Number.MAX_VALUE },
        endpoint: "\u0001".repeat(200),
      })),
    },
  };
  for (const [kind, value] of Object.entries(full)) {
    const text = JSON.stringify(value);
    const read = async (_: string, maxOctets: number) => ({
      version: 1,
      text: Buffer.byteLength(text) <= maxOctets ? text : null,
    });
    const found = await new Records({ read } as unknown as FleetStore).read(kind as keyof typeof full, "k");
    expect([kind, found.value === null]).toEqual([kind, false]);
  }
});

test("each text of a record that is shown is printable once it is read", async () => {
  const forged = "\u001b[2J\u009b1m\u202ea\r\n";
  const shown = "\\u{1b}[2J\\u{9b}1m\\u{202e}a\\r\\n";
  const readOf = async (kind: "state" | "activity", value: object) => {
    const store = { read: async () => ({ version: 1, text: JSON.stringify(value) }) } as unknown as FleetStore;
    return (await new Records(store).read(kind, "k")).value;
  };
  const running = { command: "plan", worker: forged, since: 0, run: null };
  const last = {
    ...{ command: "plan", worker: forged, at: 0, milliseconds: 0, code: 0, headline: forged },
    ...{ requests: 0, throttled: 0 },
  };
  expect(await readOf("activity", { running, last })).toEqual({
    running: { ...running, worker: shown },
    last: { ...last, worker: shown, headline: shown },
  });
  const states = [
    { state: "running", attempts: 1, worker: forged },
    { state: "refused", attempts: 1, since: 0, reason: forged },
  ];
  expect(await readOf("state", states[0] as object)).toEqual({ ...states[0], worker: shown });
  expect(await readOf("state", states[1] as object)).toEqual({ ...states[1], reason: shown });
  const outcome = { type: "ran", code: 0, headline: forged, text: "", markup: "plain", document: null } as const;
  expect(printable(outcome).headline).toBe(shown);
  // What is read of an account is written again beside what is new.
  const long = { ...last, worker: "\u0001".repeat(300), headline: "\u0001".repeat(500) };
  const read = await readOf("activity", { running: null, last: long });
  expect(await problemOfRecord("activity", read as never)).toBeNull();
  // The record of a worker is found by its name as it is, and as it is shown.
  expect(workerKey(forged)).toBe(workerKey(shown));
});

test("a time that no clock has is of no record of Tenon's", async () => {
  const pendingAt = async (at: number) => {
    const text = JSON.stringify({
      runs: [{ run: "00000000-0000-4000-8000-000000000000", digest: "0".repeat(64), plan: null, at }],
    });
    const store = { read: async () => ({ version: 1, text }) } as unknown as FleetStore;
    return (await new Records(store).read("pending", "pending/a")).value?.runs.length ?? null;
  };
  expect(await pendingAt(Date.now())).toBe(1);
  for (const at of [-1e308, -1, 1e308]) expect([at, await pendingAt(at)]).toEqual([at, null]);
});

test("a forged report hides nothing on a terminal, leaves no colour behind, and its document is plainly visible", () => {
  const line = { type: "ran", code: 0, headline: "", markup: "plain" } as const;
  const textOf = (text: string) => printable({ ...line, text, document: null }).text;
  const own = "\u001b[31m\u001b[1mError\u001b[22m\u001b[39m: \u001b[2mdim\u001b[22m\n";
  expect(textOf(own)).toBe(own);
  expect(textOf("\u001b[8mhidden\u001b[30;40m\u001b[7m")).toBe("\\u{1b}[8mhidden\\u{1b}[30;40m\\u{1b}[7m");
  expect(textOf("\u001b[32mgreen")).toBe("\u001b[32mgreen\u001b[0m");
  expect(textOf("\u001b[2mdim \u001b[31mred\u001b[39m")).toBe("\u001b[2mdim \u001b[31mred\u001b[39m\u001b[0m");
  const forged = '{"a":\t\r\n"\u009b31m\u202e\u007f"}';
  const { document } = printable({ ...line, text: "", document: forged });
  expect(document).not.toMatch(/[^\x20-\x7e\n]/);
  expect(JSON.parse(document ?? "")).toEqual(JSON.parse(forged));
});

test("shorter forms of a report are read, and as visible as the whole; a report of an older worker has none", async () => {
  const line = { type: "ran", code: 0, headline: "", markup: "markdown", text: "", document: null } as const;
  const readOf = async (outcome: object) => {
    const text = JSON.stringify({ state: "done", outcome, plan: null });
    const store = { read: async () => ({ version: 1, text }) } as unknown as FleetStore;
    return (await new Records(store).read("state", "state/a/b")).value;
  };
  expect(await readOf(line)).toMatchObject({ outcome: line });
  const short = { ...line, shorter: ["\u001b[8mhidden\u202e", "\u001b[32mgreen"] };
  expect(await readOf(short)).toMatchObject({ outcome: short });
  for (const shorter of [["a", "b", "c"], [1], "a"]) expect(await readOf({ ...line, shorter })).toBeNull();
  expect(printable(short).shorter).toEqual(["\\u{1b}[8mhidden\\u{202e}", "\u001b[32mgreen\u001b[0m"]);
  expect(Object.keys(printable(line))).not.toContain("shorter");
});
