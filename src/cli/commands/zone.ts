/** `tenon zone check`: checks the declared zones by the lint rules, or against the answers of real nameservers; `tenon zone export`. */

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Command } from "commander";
import { writeProblem, writeWhole } from "../../files/files.ts";
import type { ZoneExport } from "../../format/index.ts";
import { type Diagnostic, hasErrors, type LoadResult, lintProject } from "../../index.ts";
import { renderValidationJson } from "../../render/report.ts";
import { escapeText } from "../../render/terminal.ts";
import { renderVerificationJson } from "../../render/verification.ts";
import type { Verification } from "../../verify/index.ts";
import { needDialect, resolveDialect, withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  addConnectionFlags,
  addDialectFlags,
  addProjectFlags,
  addVerifyFlags,
  type ConnectionFlags,
  collect,
  DIRECTORY,
  formatFlag,
  type ProjectFlags,
  parseSerial,
  STDOUT,
  type VerifyFlags,
} from "../flags.ts";
import { type CommandError, sayDiagnostics, sayError, sayFailure, sayLoaded, sayStrict } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import { exitOf, load, openProject } from "../project.ts";
import type { Terminal } from "../terminal.ts";
import { prepareVerificationServers, printVerification, verifiedCode, watched } from "../verification.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command.description("Write a DNS zone as a zone file, or check what nameservers answer.");
  addExport(command, terminal, finish);
  addCheck(command, terminal, finish);
}

function addExport(zone: Command, terminal: Terminal, finish: Finish): void {
  const command = zone
    .command("export")
    .summary("write a zone as a master file")
    .description(
      "Write a zone of the account as a master file (RFC 1035), which BIND, NSD and\nKnot read. Nothing is changed.",
    )
    .argument("[name]", "the domain, in Unicode or punycode")
    .usage("[options] <name>")
    .option("--from-manifest [dir]", "the declared zone, without a connection")
    .option("--out <file>", "the file to write; - is stdout", STDOUT)
    .option("--force", "overwrite an existing file")
    .option("--nameserver <name>", "NS and SOA name this server; repeatable", collect)
    .option("--serial <number>", "serial of the SOA", parseSerial)
    .addHelpText(
      "after",
      `
Values that the record list does not contain:
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
      finish(await zoneCheck(terminal, directory, flags));
    });
  addVerifyFlags(addDialectFlags(addProjectFlags(command)), "default: 0");
}

interface ZoneCheckFlags extends ProjectFlags, VerifyFlags {
  readonly domain?: readonly string[];
  readonly live?: boolean;
  readonly strict?: boolean;
  readonly format: "text" | "json";
  readonly dialect?: string;
}

function zoneCheck(terminal: Terminal, directory: string | undefined, flags: ZoneCheckFlags): Promise<ExitCode> {
  const { format } = flags;
  return withJsonErrors(terminal, { format, stream: false }, (inner) => check(inner, directory, flags));
}

async function check(terminal: Terminal, directory: string | undefined, flags: ZoneCheckFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  if (flags.live === true && flags.strict === true) {
    const summary = "--strict is for the lint, and --live does not lint";
    sayError(terminal, { code: "conflicting-options", summary, fix: "Leave one of the two out." });
    return EXIT.error;
  }
  const prepared = await prepareVerificationServers(terminal, flags, { flag: "--live", given: flags.live === true });
  if (!prepared.ok) return prepared.code;
  const { project, fault, diagnostics, sources } = await load(directory, flags, dialect);
  if (project === null) {
    if (flags.format === "json" && flags.live !== true) terminal.print(renderValidationJson(diagnostics, sources));
    else sayDiagnostics(terminal, diagnostics, sources);
    return exitOf(fault);
  }
  const { selectZones } = await import("../../verify/index.ts");
  const selected = selectZones(project.desired, flags.domain ?? []);
  if (!selected.ok) {
    sayDiagnostics(terminal, [selected.diagnostic]);
    return EXIT.error;
  }
  const { zones } = selected;
  const { servers } = prepared;
  if (servers === null) {
    const linted = await lintProject(project, diagnostics);
    return sayLinted(terminal, linted, sources, zones, flags);
  }
  sayLoaded(terminal, diagnostics, sources);
  const verification = await watched(terminal, false, flags.verifyTimeout ?? 0, (tools, watch) =>
    tools.verifyDeclared(zones, servers, watch),
  );
  if (flags.format === "json") terminal.print(renderVerificationJson(verification));
  else printVerification(terminal, verification);
  return verifiedCode(terminal, verification, hasSeen(verification) ? EXIT.pending : EXIT.error);
}

/** Whether the verification has a result: false if no server was found, or none answers. */
function hasSeen({ there, problems, delegation }: Verification): boolean {
  const isSilent = problems.every(({ state }) => state === "not-answering");
  return there > 0 || !isSilent || delegation.some(({ code }) => code !== "unanswered" && code !== "lame");
}

function sayLinted(
  terminal: Terminal,
  linted: readonly Diagnostic[],
  sources: LoadResult["sources"],
  zones: readonly { readonly address: string }[],
  flags: ZoneCheckFlags,
): ExitCode {
  const addresses = new Set(zones.map(({ address }) => address));
  const found = flags.domain === undefined ? linted : linted.filter((one) => isAbout(one, addresses));
  const fails = hasErrors(found) || (flags.strict === true && found.length > 0);
  if (flags.format === "json") terminal.print(renderValidationJson(found, sources));
  else {
    sayDiagnostics(terminal, found, sources);
    if (fails && !hasErrors(found)) sayStrict(terminal);
    if (found.length === 0)
      terminal.print(`Checked ${zones.length} ${zones.length === 1 ? "zone" : "zones"}: no problems.\n`);
  }
  return fails ? EXIT.invalid : EXIT.done;
}

function isAbout({ address }: Diagnostic, addresses: ReadonlySet<string>): boolean {
  return address !== undefined && addresses.has(address);
}

// `tenon zone export`: writes a zone of the account, or of the manifests, as a master file.

interface ZoneExportFlags extends ProjectFlags, ConnectionFlags {
  /** true: the project in the working folder. */
  readonly fromManifest?: string | true;
  readonly out: string;
  readonly force?: boolean;
  readonly nameserver?: readonly string[];
  readonly serial?: number;
}

/** The content of a zone is public. */
const ZONE_FILE_MODE = 0o644;

async function zoneExport(terminal: Terminal, name: string | undefined, flags: ZoneExportFlags): Promise<ExitCode> {
  if (name === undefined) {
    const fix = adviceForName(flags);
    sayError(terminal, { code: "missing-argument", summary: "no zone is given", fix });
    return EXIT.error;
  }
  const obstacle = flags.out === STDOUT ? null : await obstacleOf(flags.out, flags.force === true);
  if (obstacle !== null) {
    sayError(terminal, obstacle);
    return obstacle.code === "file-exists" ? EXIT.refused : EXIT.error;
  }
  const { readNameservers } = await import("../../format/index.ts");
  const named = readNameservers(flags.nameserver ?? []);
  if (!named.ok) {
    sayDiagnostics(terminal, [named.diagnostic]);
    return EXIT.error;
  }
  const options = { nameservers: named.names, serial: flags.serial ?? null, nowMilliseconds: Date.now() };
  const found =
    flags.fromManifest === undefined
      ? await exportAccount(terminal, name, flags, options)
      : await exportManifest(terminal, name, flags, options);
  if (typeof found === "number") return found;
  if (!found.ok) {
    if ("failure" in found) sayFailure(terminal, `cannot read ${found.what}`, found.failure);
    else sayDiagnostics(terminal, [found.diagnostic]);
    return terminal.interrupt.code() ?? EXIT.error;
  }
  sayDiagnostics(terminal, found.exported.notes);
  return writeOut(terminal, found.exported.text, flags.out);
}

/** `--from-manifest` may have taken the name as its optional value. */
function adviceForName({ fromManifest }: ZoneExportFlags): string {
  if (typeof fromManifest !== "string") return "Name it: tenon zone export NAME";
  return `\`${escapeText(fromManifest)}\` was taken for the folder: put the name first, or write --from-manifest=DIR.`;
}

/** Why the file cannot be written, as far as that can be seen beforehand. A pipe or a device is written to directly. */
async function obstacleOf(file: string, force: boolean): Promise<CommandError | null> {
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory() === true)
    return { code: "file-unwritable", summary: `${file} is a folder`, fix: "Name a file with --out." };
  if (found?.isFile() === true && !force)
    return { code: "file-exists", summary: `${file} is there already`, fix: "Give --force to overwrite it." };
  const parent = dirname(file);
  const isThere = found !== null || (await stat(parent).catch(() => null))?.isDirectory() === true;
  if (isThere) return null;
  const fix = "Make it first, or name another file.";
  return { code: "file-unwritable", summary: `there is no folder ${parent}`, fix };
}

type Options = Parameters<typeof import("../../format/index.ts")["exportLive"]>[2];

function exportAccount(
  terminal: Terminal,
  name: string,
  flags: ZoneExportFlags,
  options: Options,
): Promise<ZoneExport | ExitCode> {
  return withReader(terminal, flags, async (api) => {
    const { exportLive } = await import("../../format/index.ts");
    return exportLive(api, name, options, terminal.interrupt.first);
  });
}

async function exportManifest(
  terminal: Terminal,
  name: string,
  flags: ZoneExportFlags,
  options: Options,
): Promise<ZoneExport | ExitCode> {
  const directory = flags.fromManifest === true ? undefined : flags.fromManifest;
  const opened = await openProject(terminal, directory, flags, resolveDialect(flags) ?? undefined);
  if (!opened.ok) return opened.code;
  const { exportDeclared } = await import("../../format/index.ts");
  return exportDeclared(opened.project.desired, name, options);
}

async function writeOut(terminal: Terminal, text: string, file: string): Promise<ExitCode> {
  if (file === STDOUT) {
    terminal.print(text);
    return EXIT.done;
  }
  try {
    await writeWhole(file, text, ZONE_FILE_MODE);
    return EXIT.done;
  } catch (error) {
    const summary = `the zone file cannot be written: ${writeProblem(error, file)}`;
    sayError(terminal, { code: "file-unwritable", summary });
    return EXIT.error;
  }
}
