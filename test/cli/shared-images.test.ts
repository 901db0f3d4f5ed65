/** An image that several environments of one owner have alike. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { writeInto } from "../support/files.ts";
import { here } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

test("an image of a file that all environments have alike is rolled from any of them, and a project that has no values without one does not count", async () => {
  const [old, changed] = [gzipSync("old"), gzipSync("new")];
  const hash = createHash("sha256").update(old).digest("hex").slice(0, 16);
  const description = `[tenon:me sha256:${hash}]`;
  const seed = { images: [{ id: "private/1", label: "golden-1", description, created: "2026-10-01T00:00:00" }] };
  const service = await emulator({ seed });
  const environments = "{ a: { variables: { x: 1 } }, b: { variables: { x: 2 } } }";
  const entry = "label: golden-1, family: golden, keep: 3, track: content, upload: { file: i.img.gz, region: us-east }";
  const root = `tenon: 1\nowner: me\nenvironments: ${environments}\nvariables: { x: {} }\nimages: [{ ${entry} }]\n`;
  const cwd = await folder({ "tenon.yaml": root });
  await writeInto(cwd, { "i.img.gz": changed });
  const { code, stdout } = await here(["plan", "--env", "a"], { cwd, env: envOf(service) });
  expect([code, stdout]).toEqual([0, expect.stringContaining("-/+ image golden-1 (retire")]);
});
