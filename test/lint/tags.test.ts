/** Lists of tags with values, as DKIM and DMARC write them. */

import { expect, test } from "vitest";
import { readTags } from "../../src/lint/rules/mail.ts";

test("spaces around tags and values, and a last semicolon, say nothing", () => {
  expect(readTags(" v = DMARC1 ;p=none; \t")).toEqual({
    ok: true,
    tags: [
      { name: "v", value: "DMARC1" },
      { name: "p", value: "none" },
    ],
  });
});

test("what is no tag is shown as it stands between the semicolons, and cut if it is longer than 40 characters", () => {
  const problem = (part: string): string => {
    const read = readTags(`v=DKIM1;  ${part} ;p=`);
    return read.ok ? "none" : read.problem;
  };
  expect(problem("x")).toBe("`x` is no tag with a value.");
  expect(problem("x".repeat(40))).toBe(`\`${"x".repeat(40)}\` is no tag with a value.`);
  expect(problem("x".repeat(41))).toBe(`\`${"x".repeat(40)}…\` is no tag with a value.`);
  expect(problem("")).toBe("`` is no tag with a value.");
  expect(problem("v=DKIM1")).toBe("The tag `v` is there twice.");
});
