/** `tenon export`: writes what a project declares for Terraform, octoDNS, name servers or a spreadsheet, with the ids of the account. */

import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Command, Option } from "commander";
import type { ExportedProject, ExportFormat, ExportRequest } from "../../export/index.ts";
import type { Project } from "../../index.ts";
import { needDialect, withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { exportJson, exportSummary, leftOutLines } from "../export-summary.ts";
import {
  addConnectionFlags,
  addProjectFlags,
  type ConnectionFlags,
  collect,
  DIRECTORY,
  formatFlag,
  type ProjectFlags,
  STDOUT,
} from "../flags.ts";
import { type CommandError, sayDiagnostics, sayError, sayFailure } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import { openProject } from "../project.ts";
import { inSession, planIn } from "../session.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Write what the project declares in another tool's form, so that you can go on\nwith that tool. Nothing is changed, and the account is read for ids and for\nwhat the manifests leave to it.",
    )
    .argument("[dir]", DIRECTORY)
    .addOption(
      new Option("--to <format>", "terraform, octodns, zone (master files) or csv")
        .choices(["terraform", "octodns", "zone", "csv"] satisfies ExportFormat[])
        .makeOptionMandatory(),
    )
    .requiredOption("--out <path>", "required: a folder, for csv a file; - is stdout")
    .option("--from-manifest", "from the manifests alone, without a connection")
    .addOption(formatFlag("how to say what was exported"))
    .option("--force", "overwrite existing files; none is removed")
    .option("--nameserver <name>", "of zones, NS and SOA name this server; repeatable", collect)
    .addHelpText(
      "after",
      `
What is written is how tenon apply would leave the account:
  terraform  main.tf for the provider linode/linode, with an import block for
             each object that is there (of an image, a data source): a plan of
             Terraform changes nothing
  octodns    ZONE.yaml for each domain, for a YamlProvider
  zone       ZONE.zone for each domain (RFC 1035), as tenon zone export does
  csv        one table: a row for each VPC, subnet, domain, record and image
What a format cannot hold is listed with its address.

Examples:
  tenon export --to terraform --out ../infra-terraform
  tenon export --to octodns --out config infra
  tenon export --to zone --out zones --nameserver ns1.example.net
  tenon export --to csv --from-manifest --out - | less`,
    )
    .action(async (directory, flags) => {
      const { format } = flags as ExportFlags;
      finish(await withJsonErrors(terminal, { format, stream: false }, (inner) => run(inner, directory, flags)));
    });
  addConnectionFlags(addProjectFlags(command));
}

interface ExportFlags extends ProjectFlags, ConnectionFlags {
  readonly to: ExportFormat;
  readonly out: string;
  readonly fromManifest?: boolean;
  readonly format: "text" | "json";
  readonly force?: boolean;
  readonly nameserver?: readonly string[];
}

async function run(terminal: Terminal, directory: string | undefined, flags: ExportFlags): Promise<ExitCode> {
  const wrong = wrongUse(flags);
  if (wrong !== null) {
    sayError(terminal, wrong);
    return EXIT.error;
  }
  const { readNameservers } = await import("../../format/index.ts");
  const named = readNameservers(flags.nameserver ?? []);
  if (!named.ok) {
    sayDiagnostics(terminal, [named.diagnostic]);
    return EXIT.error;
  }
  const zones = { nameservers: named.names, serial: null, nowMilliseconds: Date.now() };
  if (flags.fromManifest === true) {
    const dialect = needDialect(terminal, flags);
    if (dialect === null) return EXIT.error;
    const opened = await openProject(terminal, directory, flags, dialect);
    return opened.ok ? exportFrom(terminal, opened.project, flags, zones, null) : opened.code;
  }
  const planFlags = { ...flags, clone: true };
  return inSession(terminal, directory, planFlags, "apply", withReader, async (session) => {
    const planned = await planIn({ ...session, sendsFiles: false });
    if (!planned.ok) return planned.code;
    const { plan, live } = planned;
    const account = { plan, live, api: session.api, signal: terminal.interrupt.first };
    return exportFrom(terminal, session.project, flags, zones, account);
  });
}

/** An error of flags that do not go together; null if there is none. */
function wrongUse({ to, out, format, nameserver }: ExportFlags): CommandError | null {
  if (out === STDOUT && format === "json") {
    const summary = "--out - prints what is exported, and --format json a summary of it";
    return { code: "conflicting-options", summary, fix: "Name a file or folder, or leave one of the two out." };
  }
  if (nameserver === undefined || to === "zone") return null;
  return { code: "conflicting-options", summary: "--nameserver is for --to zone", fix: "Leave it out." };
}

async function exportFrom(
  terminal: Terminal,
  project: Project,
  flags: ExportFlags,
  zones: ExportRequest["zones"],
  account: ExportRequest["account"],
): Promise<ExitCode> {
  const { exportProject } = await import("../../export/index.ts");
  const { desired } = project;
  const projectPath = await pathTo(project.root, flags.out);
  const result = await exportProject({ desired, format: flags.to, account, zones, projectPath });
  const interrupted = terminal.interrupt.code();
  if (interrupted !== null) return interrupted;
  if (!result.ok) {
    sayFailure(terminal, `cannot read ${result.what}`, result.failure);
    return EXIT.error;
  }
  terminal.say(leftOutLines(result, terminal.messages.width));
  sayNotes(terminal, result.notes);
  const counted = Object.values<number>({ ...result.counts }).reduce((sum, count) => sum + count, 0);
  if (counted === 0 || result.files.length === 0) {
    const fix = "tenon show --expanded prints what it declares.";
    sayError(terminal, { code: "nothing-to-export", summary: `there is nothing to export to ${flags.to}`, fix });
    return EXIT.error;
  }
  return write(terminal, result, flags);
}

/** From the folder of what is written to the project's, as a prefix for paths of its files. */
async function pathTo(root: string, out: string): Promise<string> {
  const from = await realPathOf(resolve(out === STDOUT ? "." : out));
  const path = relative(from, root).split(sep).join("/");
  return path === "" ? "" : `${path}/`;
}

/** Of a folder that need not be there yet. */
async function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    dirname(path) === path ? path : join(await realPathOf(dirname(path)), basename(path)),
  );
}

/** At most this many warnings of one code are printed; the rest is counted. */
const MAX_NOTES_OF_A_CODE = 3;

function sayNotes(terminal: Terminal, notes: ExportedProject["notes"]): void {
  const counts = new Map<string, number>();
  const first = notes.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= MAX_NOTES_OF_A_CODE;
  });
  sayDiagnostics(terminal, first);
  for (const [code, count] of counts) {
    const more = count - MAX_NOTES_OF_A_CODE;
    if (more > 0) terminal.say(`${more} more warning${more === 1 ? "" : "s"}: ${code}\n`);
  }
}

async function write(terminal: Terminal, result: ExportedProject, flags: ExportFlags): Promise<ExitCode> {
  const { out, to } = flags;
  if (out === STDOUT) {
    const [only, ...others] = result.files;
    if (only === undefined || others.length > 0) {
      const summary = `--out - prints one file, and there are ${result.files.length}`;
      sayError(terminal, { code: "conflicting-options", summary, fix: "Name a folder." });
      return EXIT.error;
    }
    terminal.print(only.text);
    return EXIT.done;
  }
  const { findInTheWay, writeFolder } = await import("../../files/folder.ts");
  const files = to === "csv" ? result.files.map((file) => ({ ...file, file: basename(out) })) : result.files;
  const request = { out: to === "csv" ? dirname(out) : out, files, force: flags.force === true };
  const inTheWay = await findInTheWay(request);
  if (inTheWay.length > 0) {
    sayDiagnostics(terminal, inTheWay);
    return EXIT.refused;
  }
  try {
    await writeFolder(request);
  } catch (error) {
    const summary = `cannot write to ${out}: ${(error as Error).message}`;
    const fix = "Look at what is there before you try again; files that --force has replaced already stay replaced.";
    sayError(terminal, { code: "file-unwritable", summary, fix });
    return EXIT.error;
  }
  const written = { ...result, files };
  terminal.print(flags.format === "json" ? exportJson(written, flags) : exportSummary(written, flags));
  return EXIT.done;
}
