/** The list of commands is known before their files are loaded; it must say what they say. */

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
