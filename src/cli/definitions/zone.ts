/** `tenon zone`, its commands, their flags and their help. */

import { type Command, Option } from "commander";
import type { Finish } from "../exit.ts";
import {
  addConnectionFlags,
  addProjectFlags,
  addVerifyFlags,
  collect,
  DIRECTORY,
  formatFlag,
  parseSerial,
} from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addZone(program: Command, terminal: Terminal, finish: Finish): void {
  const zone = program
    .command("zone")
    .summary("export a DNS zone, check what is served")
    .description("Write a DNS zone as a zone file, or check what nameservers answer.");
  addExport(zone, terminal, finish);
  addCheck(zone, terminal, finish);
}

function addExport(zone: Command, terminal: Terminal, finish: Finish): void {
  const command = zone
    .command("export")
    .summary("write a zone as a master file")
    .description("Write a zone of the account as a master file (RFC 1035).\nNothing is changed.")
    .argument("[name]", "the domain, in Unicode or punycode")
    .usage("[options] <name>")
    .option("--from-manifest [dir]", "the declared zone, without a connection")
    .option("--out <file>", "write to a file (default: stdout)")
    .option("--force", "overwrite an existing file")
    .option("--nameserver <name>", "NS and SOA name this server; repeatable", collect)
    .option("--serial <number>", "serial of the SOA", parseSerial)
    .addHelpText(
      "after",
      `
What the record list has not:
  NS and the SOA's server: --nameserver, else those of the zone file that the
    service renders, else the declared NS of the apex, else the placeholder
    nameserver.invalid, with a warning.
  Serial: --serial, else the rendered one, else the date as YYYYMMDD00.
  Times of 0: refresh and retry 14400, expire 1209600, TTL 86400.

Examples:
  tenon zone export example.com > example.com.zone
  tenon zone export example.com --from-manifest infra --serial 2026112101
  tenon zone export bücher.example --out zones/buecher.zone`,
    )
    .action(async (name, flags) => {
      const { zoneExport } = await import("../commands/zone.ts");
      finish(await zoneExport(terminal, name, flags));
    });
  addConnectionFlags(addProjectFlags(command));
}

function addCheck(zone: Command, terminal: Terminal, finish: Finish): void {
  const command = zone
    .command("check")
    .summary("lint the declared zones, or ask nameservers for them")
    .description(
      "Check the declared zones: by the lint rules, or with --live by asking real\nnameservers for every record, over UDP and TCP.",
    )
    .argument("[dir]", DIRECTORY)
    .option("--domain <name>", "only this domain; repeatable", collect)
    .option("--live", "ask nameservers; exit with 2 if something differs")
    .option("--strict", "of the lint, warnings are errors")
    .addOption(formatFlag("how to show what was found"))
    .addOption(new Option("--dialect <word>", "the service's word for node").env("TENON_DIALECT"))
    .addHelpText(
      "after",
      `
Exit codes:
  0  nothing is wrong
  1  an error; with --live, no name server was found, or none answered
  2  with --live, something differs
  3  the manifest is invalid, or the lint found errors (--strict: or warnings)

Examples:
  tenon zone check
  tenon zone check --strict
  tenon zone check --live
  tenon zone check infra --live --domain example.com --delegation
  tenon zone check --live --nameserver ns1.example.net --verify-timeout 2m`,
    )
    .action(async (directory, flags) => {
      const { zoneCheck } = await import("../commands/zone.ts");
      finish(await zoneCheck(terminal, directory, flags));
    });
  addVerifyFlags(addProjectFlags(command), "default: 0");
}
