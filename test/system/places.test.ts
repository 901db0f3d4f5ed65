import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { folder } from "../cli/run.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What is compiled, in a folder of its own. */
async function copyOfTree(): Promise<string> {
  const copy = await folder({});
  for (const part of [
    "src",
    "schemas",
    "package.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ".dependency-cruiser.cjs",
  ])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  cpSync(join(ROOT, ".ci/imports.mjs"), join(copy, ".ci/imports.mjs"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const COMMAND = `/** \`tenon hello\`: greets. */

import type { Command } from "commander";
import { EXIT, type Finish } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Greet somebody.")
    .argument("<name>", "who")
    .action((name: string) => {
      terminal.print(\`hello \${name}\\n\`);
      finish(EXIT.done);
    });
}
`;

const ENTRY = `  {
    name: "hello",
    usage: "<name>",
    summary: "greet somebody",
    access: "nothing",
    load: async () => (await import("./commands/hello.ts")).define,
  },
`;

it("a new command is one file under src/cli/commands and one entry of the list in src/cli/program.ts", async () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  expect(contributing).toContain(
    "A new command: one file under `src/cli/commands`, one entry of the list in `src/cli/program.ts`",
  );
  const copy = await copyOfTree();
  writeFileSync(join(copy, "src/cli/commands/hello.ts"), COMMAND);
  const program = join(copy, "src/cli/program.ts");
  const text = readFileSync(program, "utf8");
  const first = "export const COMMANDS: readonly CommandEntry[] = [\n";
  expect(text).toContain(first);
  writeFileSync(program, text.replace(first, first + ENTRY));
  const node = (...args: readonly string[]): string =>
    execFileSync(process.execPath, args, { cwd: copy, encoding: "utf8", stdio: "pipe" });
  node("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json");
  expect(node(".ci/imports.mjs")).toMatch(/ 0 violations/);
  expect(node("dist/cli/main.js", "hello", "world")).toBe("hello world\n");
  expect(node("dist/cli/main.js", "--help")).toMatch(/^ {2}hello <name> +greet somebody$/m);
  expect(node("dist/cli/main.js", "help", "hello")).toContain("Greet somebody.");
});
