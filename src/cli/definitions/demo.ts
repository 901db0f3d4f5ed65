/** `tenon demo` and its help. */

import type { Command } from "commander";
import type { Finish } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

export function addDemo(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("demo")
    .summary("plan and apply an example, without an account")
    .description(
      "Plan and apply an example project against an emulated account, with the\ncommands you would type. Nothing outside a temporary folder is touched.",
    )
    .addHelpText(
      "after",
      `
Examples:
  tenon demo`,
    )
    .action(async () => {
      const { demo } = await import("../commands/demo.ts");
      finish(await demo(terminal));
    });
}
