/** `tenon live`, its flags and its help. */

import type { Command } from "commander";
import type { Finish } from "../exit.ts";
import { addConnectionFlags, addProjectFlags, DIRECTORY } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addLive(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("live")
    .summary("write the account to a file, for plan --live")
    .description(
      "Write the account as it is to a file, so that tenon plan --live can plan\nwithout a token. Nothing is changed.",
    )
    .argument("[dir]", DIRECTORY)
    .requiredOption("--out <file>", "required: the file to write; - is stdout")
    .addHelpText(
      "after",
      `
All of the account is read, as a pull request may declare what nobody declared
before: a list of VPCs, of images and of domains, one list for each domain, and
one for each VPC with interfaces in it. What the token may not read is left
out, unless the project needs it. The file holds record values and
descriptions, but neither the token nor a signed URL.

Examples:
  tenon live --out live.json
  tenon live infra --out live.json && tenon plan infra --live live.json`,
    )
    .action(async (directory, flags) => {
      const { live } = await import("../commands/live.ts");
      finish(await live(terminal, directory, flags));
    });
  addConnectionFlags(addProjectFlags(command));
}
