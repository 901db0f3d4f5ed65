import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { Secret } from "../../src/model/secret.ts";

const TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const secret = new Secret(TOKEN);

test("a token that is broken over lines, within the borders of a table or not, is hidden as a whole", () => {
  for (const at of [1, 5, 12, 13, 32, 52, 59, 63]) {
    for (const between of ["\n", "  │\n│  ", " \n      | "]) {
      const text = `a ${"x".repeat(20)}${TOKEN.slice(0, at)}${between}${TOKEN.slice(at)}yy\nb`;
      const hidden = secret.hide(text);
      expect([at, hidden.startsWith(`a ${"x".repeat(20)}`), hidden.endsWith("yy\nb")]).toEqual([at, true, true]);
      expect(hidden).toContain("[redacted]");
      for (let index = 0; index + 12 <= TOKEN.length; index += 1)
        expect(hidden.replace(/[\s│|]/g, "")).not.toContain(TOKEN.slice(index, index + 12));
    }
  }
});

test("the beginning or the end of a token is hidden, as an excerpt cuts it, and in lower case", () => {
  expect(secret.hide(`target: "${TOKEN.slice(0, 47)}…`)).toBe('target: "[redacted]…');
  expect(secret.hide(`…${TOKEN.slice(-30)}" }`)).toBe('…[redacted]" }');
  expect(secret.hide(TOKEN.slice(0, 11))).toBe(TOKEN.slice(0, 11));
  expect(new Secret("ABCdef123GHIjkl456").hide("name abcdef123ghijkl456.example")).toBe("name [redacted].example");
  expect(secret.hide(`${TOKEN}${TOKEN.slice(0, 20)} ${TOKEN.slice(-20)}`)).toMatch(/^(?:\[redacted\] ?)+$/);
});

test("a text of many pieces is searched in one pass", () => {
  const text = `${TOKEN.slice(-12)} `.repeat(200_000);
  expect(secret.hide(text)).toBe("[redacted] ".repeat(200_000));
});

test("texts without a trace of the token are searched once each, whatever spellings there are", () => {
  const replaceAll = vi.spyOn(String.prototype, "replaceAll");
  onTestFinished(() => replaceAll.mockRestore());
  const data = Array.from({ length: 100 }, (_, index) => ({ type: "A", name: `host-${index}`, note: "x".repeat(200) }));
  expect(secret.hideIn(data)).toBe(data);
  expect(replaceAll).not.toHaveBeenCalled();
});

test("a token of any characters is found in short and in long texts, in each spelling", () => {
  const token = fc
    .string({ unit: "grapheme-ascii", minLength: 6, maxLength: 64 })
    .filter((text) => text.trim().length >= 6);
  fc.assert(
    fc.property(token, fc.nat(20_000), (text, length) => {
      const plain = text.trim();
      const hiding = new Secret(plain);
      const spellings = [
        ...[plain, encodeURIComponent(plain), JSON.stringify(plain).slice(1, -1)],
        ...[Buffer.from(plain).toString("hex"), Buffer.from(plain).toString("hex").toUpperCase()],
      ];
      for (const spelling of spellings) {
        for (const filling of ["", " ".repeat(length)]) {
          const hidden = hiding.hide(`${filling}<${spelling}>`);
          expect(hidden).toContain("[redacted]");
        }
      }
    }),
    { numRuns: 100 },
  );
});
