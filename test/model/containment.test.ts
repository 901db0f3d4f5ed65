/** Whether one path lies within another. */

import { expect, test } from "vitest";
import { isBelow, isWithin } from "../../src/files/paths.ts";

test.each([
  ["/a/b", "/a/b", true, false],
  ["/a/b/c", "/a/b", true, true],
  ["/a/b/..c", "/a/b", true, true],
  ["/a", "/a/b", false, false],
  ["/a/bc", "/a/b", false, false],
  ["/x", "/a/b", false, false],
  ["/a/b", "/", true, true],
])("%s in %s: within %s, below %s", (path, folder, within, below) => {
  expect([isWithin(path, folder), isBelow(path, folder)]).toEqual([within, below]);
});
