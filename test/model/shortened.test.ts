import { expect, test } from "vitest";
import { shortened } from "../../src/model/text.ts";

test("a longer text is cut, and no character of two units is divided", () => {
  expect(shortened("abc", 3)).toBe("abc");
  expect(shortened("abcd", 3)).toBe("abc…");
  expect(shortened("ab\u{1f600}d", 3)).toBe("ab…");
  expect(shortened("a\u{1f600}d", 3)).toBe("a\u{1f600}…");
});
