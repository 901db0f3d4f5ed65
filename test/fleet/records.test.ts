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
