import { expect, onTestFinished, test, vi } from "vitest";
import type { FleetStore } from "../../src/fleet/index.ts";
import { printable, Records } from "../../src/fleet/records.ts";

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
