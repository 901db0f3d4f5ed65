/** That docs/terminal.svg, the picture in the README, is what docs/terminal.mjs makes today of what the built program prints. */

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PICTURE = new URL("../../docs/terminal.svg", import.meta.url);
const SCRIPT = fileURLToPath(new URL("../../docs/terminal.mjs", import.meta.url));

test("the picture of the terminal shows what the commands print", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, "--print"]);
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(PICTURE, stdout);
  else expect(stdout).toBe(await readFile(PICTURE, "utf8"));
});

test("the picture can be read in the dark and in the light, and says to those who cannot see it what it shows", async () => {
  const picture = await readFile(PICTURE, "utf8");
  expect(picture).toContain("@media (prefers-color-scheme: dark)");
  expect(picture).toMatch(/<title>tenon validate .+; tenon plan .+<\/title>/);
  // A class without a colour would be shown like all other text.
  const used = new Set([...picture.matchAll(/class="([^"]+)"/g)].flatMap(([, names = ""]) => names.split(" ")));
  for (const name of used) expect(picture).toContain(`.${name} {`);
});
