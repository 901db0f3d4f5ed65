/** `tenon fmt`, its flags and its help. */

import type { Command } from "commander";
import type { Finish } from "../exit.ts";
import { addProjectFlags, DIRECTORY } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addFmt(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("fmt")
    .summary("bring the manifests into one form")
    .description(
      "Bring all manifests of a project into one form: sections, keys and records in\na fixed order, a record a line. No comment is lost, and what the manifests say\nstays the same.",
    )
    .argument("[dir]", DIRECTORY)
    .option("--check", "write nothing; name what differs, and exit 1 if something does")
    .addHelpText(
      "after",
      `
Records are sorted within sections: blank lines and comment lines divide a list.

Examples:
  tenon fmt
  tenon fmt infra --check`,
    )
    .action(async (directory, flags) => {
      const { fmt } = await import("../commands/fmt.ts");
      finish(await fmt(terminal, directory, flags));
    });
  addProjectFlags(command);
}
