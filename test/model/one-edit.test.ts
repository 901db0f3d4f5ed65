import fc from "fast-check";
import { expect, test } from "vitest";
import { isOneEdit } from "../../src/model/text.ts";

test.each([
  ["us-east", "us-esat", true],
  ["us-east", "us-eas", true],
  ["us-east", "s-east", true],
  ["us-east", "us-eastt", true],
  ["us-east", "us-eest", true],
  ["us-east", "us-east", false],
  ["us-east", "us-west", false],
  ["us-east", "su-esat", false],
  ["us-iad", "us-iad-2", false],
  ["", "", false],
  ["", "a", true],
  ["ab", "ba", true],
  ["abc", "cba", false],
])("%j and %j are one edit apart: %s", (one, other, apart) => {
  expect([isOneEdit(one, other), isOneEdit(other, one)]).toEqual([apart, apart]);
});

test("it finds just what an edit of every kind at every place makes", () => {
  const letters = ["a", "b", "c"];
  const word = fc.array(fc.constantFrom(...letters), { maxLength: 5 }).map((parts) => parts.join(""));
  const edits = (text: string): Set<string> => {
    const made = new Set<string>();
    for (let at = 0; at <= text.length; at += 1) {
      const [head, tail] = [text.slice(0, at), text.slice(at)];
      if (tail !== "") made.add(head + tail.slice(1));
      if (tail.length > 1) made.add(head + tail[1] + tail[0] + tail.slice(2));
      for (const letter of letters) made.add(head + letter + tail).add(head + letter + tail.slice(1));
    }
    made.delete(text);
    return made;
  };
  fc.assert(
    fc.property(word, word, (one, other) => {
      expect(isOneEdit(one, other)).toBe(edits(one).has(other));
    }),
  );
});
