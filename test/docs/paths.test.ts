/** ARCHITECTURE.md and CONTRIBUTING.md name places: each must be there. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** What stands between backticks and looks like a place: `plan/order`, `src/units`, `api/wire.ts`, `cli/`. */
const PLACE = /`((?:[\w.-]+\/)+[\w.-]*|[\w-]+\.ts)`/g;

const exists = (place: string): boolean =>
  ["", "src/", "test/"].some((folder) => ["", ".ts"].some((ending) => existsSync(join(ROOT, folder, place + ending))));

test.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])("every place that %s names is there", (page) => {
  const places = [...readFileSync(join(ROOT, page), "utf8").matchAll(PLACE)].flatMap(([, place]) => place ?? []);
  expect(places.length).toBeGreaterThan(5);
  expect(places.filter((place) => !exists(place))).toEqual([]);
});

test("every folder of src is in the code map", () => {
  const map = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => !map.includes(`| \`${name}/\` |`))).toEqual([]);
});
