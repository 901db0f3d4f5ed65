/** `tenon import`, its flags and its help. */

import { type Command, Option } from "commander";
import type { Finish } from "../exit.ts";
import { addConnectionFlags, collect, formatFlag } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addImport(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("import")
    .summary("write a project from an account, zone files or octoDNS")
    .description(
      "Write a project from what is there: the live account, zone files, or a folder\nof octoDNS. Of a live account the project plans empty.",
    )
    .argument("[path...]", "zone files, or octoDNS: its folder or configuration")
    .addOption(new Option("--from <source>", "what to read").choices(["live", "zone", "octodns"]).default("live"))
    .requiredOption("--out <dir>", "the folder to write the project to; - is stdout")
    .addOption(formatFlag("how to say what was imported"))
    .option("--domain <name>", "only this domain, * globs; repeatable", collect)
    .option("--vpc <label>", "only this VPC, * globs; repeatable", collect)
    .option("--images", "the private images")
    .option("--owner <name>", "what carries this owner's tag; the project's owner")
    .option("--split", "a file for each domain, in zones/")
    .option("--soa-email <address>", "for zones whose source names no address")
    .option("--skip-unsupported", "leave out records that the service cannot hold")
    .option("--force", "overwrite existing files; none is removed")
    .addHelpText(
      "after",
      `
Without --domain, --vpc and --images all of the account is taken. With --from
zone --domain is the name of the one zone.

Examples:
  tenon import --out infra
  tenon import --domain example.com --out - | less
  tenon import --domain '*.example' --split --out infra
  tenon import --from zone zones/*.zone --out infra
  tenon import --from octodns config/production.yaml --split --out infra`,
    )
    .action(async (paths, flags) => {
      const { importInto } = await import("../commands/import.ts");
      finish(await importInto(terminal, paths, flags));
    });
  addConnectionFlags(command);
}
