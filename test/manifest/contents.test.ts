import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contentsInside } from "../../src/index.ts";
import { folder } from "./support.ts";

test("a file that hundreds of links lead to is read once in a run, and what lies outside is not read", async () => {
  const root = folder({ "a.gz": "first" });
  for (const link of ["l1", "l2"]) symlinkSync("a.gz", join(root, link));
  symlinkSync("/etc/passwd", join(root, "out"));
  const contentOf = contentsInside(root);
  const first = await contentOf("l1");
  expect(first).toMatchObject({ bytes: 5 });
  // Whoever read it again would find another content.
  writeFileSync(join(root, "a.gz"), "second");
  expect(await contentOf("l2")).toEqual(first);
  expect(await contentOf("a.gz")).toEqual(first);
  expect(await contentOf("out")).toBeNull();
  expect(await contentsInside(root)("l1")).not.toEqual(first);
});
