/** Which live subnet is which declared one. */

import { expect, test } from "vitest";
import type { WireSubnet } from "../../../src/api/wire.ts";
import { matchSubnets } from "../../../src/units/network/diff.ts";

const span = { file: "tenon.yaml", start: 0, end: 0 };

/** `label range` each; matches as `desired < live`. */
function matched(desired: string[], live: string[]): string[] {
  const split = (text: string) => ({ label: text.split(" ")[0] as string, ipv4: text.split(" ")[1] as string });
  const wire = live.map(
    (text, index): WireSubnet => ({ id: index + 1, ...split(text), nodes: [], created: "", updated: null }),
  );
  const found = matchSubnets(
    desired.map((text) => ({ ...split(text), span, note: null, protect: null })),
    wire,
  );
  return found.map(
    ({ desired: ours, live: theirs }) =>
      `${ours === null ? "-" : `${ours.label} ${ours.ipv4}`} < ${theirs === null ? "-" : theirs.id}`,
  );
}

test("label and range, then range, then label", () => {
  expect(matched(["a 1"], ["a 2", "b 1", "a 1"])).toEqual(["a 1 < 3", "- < 1", "- < 2"]);
  expect(matched(["a 1"], ["a 2", "b 1"])).toEqual(["a 1 < 2", "- < 1"]);
  expect(matched(["a 1"], ["a 2", "b 3"])).toEqual(["a 1 < 1", "- < 2"]);
  expect(matched(["a 1"], ["b 2"])).toEqual(["a 1 < -", "- < 1"]);
});

test("a better match of another is not taken away", () => {
  expect(matched(["b 1", "a 1x"], ["a 1", "a 1x"])).toEqual(["b 1 < 1", "a 1x < 2"]);
  expect(matched(["a 2", "b 1"], ["a 1"])).toEqual(["a 2 < -", "b 1 < 1"]);
});

test("nothing on one side or the other", () => {
  expect(matched([], [])).toEqual([]);
  expect(matched(["a 1"], [])).toEqual(["a 1 < -"]);
  expect(matched([], ["a 1"])).toEqual(["- < 1"]);
});
