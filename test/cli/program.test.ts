/** The list of commands is known before their files are loaded; it must say what they say. */

import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { Help } from "commander";
import { expect, test } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

const build = (named: readonly string[] | null) => buildProgram({} as Terminal, () => {}, { named });

test("the list of commands names each with the arguments that its file takes", async () => {
  const program = await build(null);
  const listed = program.createHelp().visibleCommands(program);
  const terms = listed.map((command) => program.createHelp().subcommandTerm(command));
  expect(terms).toEqual(listed.map((command) => Help.prototype.subcommandTerm.call(program.createHelp(), command)));
  expect(terms.length).toBeGreaterThan(12);
});

test("the file of the command that is named is loaded, and no other", async () => {
  const program = await build(["--env", "plan"]);
  const loaded = program.commands.filter(({ registeredArguments }) => registeredArguments.length > 0);
  expect(loaded.map((command) => command.name())).toEqual(["plan"]);
  const none = await build([]);
  expect(none.commands.every(({ registeredArguments }) => registeredArguments.length === 0)).toBe(true);
});

/** Files that are loaded with `file`, whatever is run: static imports of values. */
function loadedWith(file: string, loaded: Set<string> = new Set()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type)[^;]*?from "(\.[^"]+)";$/gm);
  for (const [, path] of imports) loadedWith(resolve(file, "..", path as string), loaded);
  return loaded;
}

test("the version and the list of commands need none of the product", () => {
  const src = join(import.meta.dirname, "../../src");
  const loaded = [...loadedWith(join(src, "cli/main.ts"))].map((file) => relative(src, file)).sort();
  const own = ["exit", "flags", "interrupt", "known-flags", "main", "program", "terminal"].map(
    (name) => `cli/${name}.ts`,
  );
  expect(loaded).toEqual([...own, "files/package-files.ts"]);
});
