import { describe, expect, test } from "vitest";
import { toAscii, unicodeName } from "../../src/dns/unicode.ts";

function through(name: string): string | null {
  const ascii = toAscii(name);
  if (ascii === null) throw new Error(`${name} has no punycode`);
  return unicodeName(ascii);
}

describe("the Unicode form of a name", () => {
  test.each([
    "büro.example",
    "www.bücher.example",
    "пример.испытание",
    "例え.テスト",
    "한국.example",
    "παράδειγμα.example",
  ])("%s comes back as it was written", (name) => {
    expect(through(name)).toBe(name);
  });

  test("is not there for a name that has none", () => {
    expect(unicodeName("example.com")).toBeNull();
    expect(unicodeName("")).toBeNull();
    expect(unicodeName("axn--bro-hoa.example")).toBeNull();
  });

  test.each([
    ["Cyrillic letters among Latin ones", "pаypal.example"],
    ["Greek letters among Latin ones", "gοogle.example"],
    ["a label of Cyrillic letters that all look Latin", "аррӏе.example"],
    ["a label of Greek letters that all look Latin", "νικο.example"],
    ["a dotless i", "fılıp.example"],
    ["Hebrew, which runs from right to left", "דוגמה.example"],
    ["Arabic, which runs from right to left", "مثال.example"],
    ["an emoji", "i❤.example"],
    ["Latin letters beside Han", "abc例.example"],
    ["one bad label among good ones", "büro.pаypal.example"],
  ])("is not there for %s", (_, name) => {
    expect(toAscii(name)).toContain("xn--");
    expect(through(name)).toBeNull();
  });

  test.each([
    "xn--.example",
    "xn--a.example",
    "xn--zzzzzzzzzzz.example",
    "xn--example-.example",
    "xn--999999999.example",
  ])("is not there for %s, which is no punycode or does not come back to itself", (name) => {
    expect(unicodeName(name)).toBeNull();
  });
});
