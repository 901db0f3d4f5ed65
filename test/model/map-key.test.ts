import { expect, test } from "vitest";
import { MAX_HASHED_CHARACTERS, mapKey } from "../../src/model/map-key.ts";

const LONG = "x".repeat(MAX_HASHED_CHARACTERS + 1);

test("a short text is its own key", () => {
  for (const text of ["", "a", "\u{1f600}", "\ud800", "x".repeat(MAX_HASHED_CHARACTERS)])
    expect(mapKey(text)).toBe(text);
});

test("a long text has a short key: the same for equal texts, another one for each other text", () => {
  const texts = [LONG, `${LONG}x`, `${LONG.slice(1)}y`, `y${LONG.slice(1)}`, `${LONG.slice(9)}y${LONG.slice(-8)}`];
  const keys = texts.map(mapKey);
  expect(new Set(keys).size).toBe(texts.length);
  for (const [index, key] of keys.entries()) {
    expect(key.length).toBeLessThan(100);
    expect(mapKey([...(texts[index] as string)].join(""))).toBe(key);
  }
});

test("texts of one length that differ in one lone surrogate, or in the letters that UTF-8 makes of them, have different keys", () => {
  const texts = ["\ud800", "\ud801", "\udfff", "\ufffd"].map((unit) => LONG + unit);
  expect(new Set(texts.map(mapKey)).size).toBe(texts.length);
});

test("the key of a long text begins as no text does that can be a key itself", () => {
  expect(mapKey(LONG)).toMatch(/^\0sha256 16384 [0-9a-f]{64}$/);
});
