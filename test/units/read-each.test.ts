import { expect, test } from "vitest";
import { readEach } from "../../src/units/common.ts";

test("a signal that outlives many reads is let go of when they are over, and ends them until then", async () => {
  const outer = new AbortController();
  const past: AbortSignal[] = [];
  await readEach([1, 2], outer.signal, async (item, signal) => {
    past.push(signal);
    return { item };
  });
  const ended = await readEach([1, 2], outer.signal, async (item, signal) => {
    outer.abort();
    return { item, isEnded: signal.aborted };
  });
  expect(ended).toMatchObject({ ok: true, parts: [{ isEnded: true }, { isEnded: true }] });
  expect(past.map(({ aborted }) => aborted)).toEqual([false, false]);
});
