/** The commands of tenon in shell text (scripts, workflows, guides), held against what the program knows. */

import type { Command } from "commander";
import { buildProgram } from "../../../src/cli/program.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";

const PROGRAM = await buildProgram({} as Terminal, () => undefined, { named: null });

const COMMAND = /(?:^|[\s;&|("'/])tenon (?<words>[a-z][^\n;|&>)#]*)/g;

/** @returns each command that is called, and what is wrong with it */
export function checkTenonCommands(text: string): { readonly called: string[]; readonly problems: string[] } {
  const called: string[] = [];
  const problems: string[] = [];
  for (const { groups } of text
    .replaceAll(/^\s*#.*$/gm, "")
    .replaceAll(/\\\n\s*/g, " ")
    .matchAll(COMMAND)) {
    const words = (groups?.["words"] ?? "").trim().split(/\s+/);
    const command = findCommand(PROGRAM, words);
    if (command === PROGRAM) {
      problems.push(`tenon ${words[0]}: no such command`);
      continue;
    }
    called.push(nameOf(command));
    problems.push(...checkFlags(command, words));
  }
  return { called, problems };
}

/** Flags by themselves, as in a script that collects them first. */
export function checkFlagsOf(name: string, flags: readonly string[]): string[] {
  return checkFlags(findCommand(PROGRAM, [name]), flags);
}

function findCommand(program: Command, words: readonly string[]): Command {
  let found = program;
  for (const word of words) {
    const inner = found.commands.find((command) => command.name() === word);
    if (inner === undefined) return found;
    found = inner;
  }
  return found;
}

function checkFlags(command: Command, words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const flag = /^"?(--[a-z-]+)/.exec(word)?.[1];
    if (flag === undefined || flag === "--help") return [];
    const option = command.options.find((known) => known.long === flag);
    if (option === undefined) return [`tenon ${nameOf(command)} has no ${flag}`];
    const value = words[index + 1] ?? "";
    const isWrong = option.argChoices !== undefined && !option.argChoices.includes(value.replace(/\)$/, ""));
    return isWrong ? [`tenon ${nameOf(command)} ${flag} knows no ${value}`] : [];
  });
}

function nameOf(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${nameOf(parent)} ${command.name()}`;
}
