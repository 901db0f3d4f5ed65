/** `tenon import`: writes a project from an account, or from what another tool holds, and checks that it loads. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { ImportResult, ImportSource, Selection } from "../../import/index.ts";
import { allowedSeconds, hasErrors, lintProject, loadProject, NEUTRAL_DIALECT } from "../../index.ts";
import { needDialect, resolveDialect, withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  addConnectionFlags,
  type ConnectionFlags,
  collect,
  collectVariables,
  formatFlag,
  type ProjectFlags,
  STDOUT,
} from "../flags.ts";
import { add, type Opened, openInto, tick } from "../import-into.ts";
import { importJson, importSummary, refusedByValidate, skippedLines } from "../import-summary.ts";
import { type CommandError, sayDiagnostics, sayError, sayFailure } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import { Progress } from "../progress.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Write a project from the live account, from zone files (as BIND has them), or\nfrom what octoDNS, Terraform or DNSControl holds. A plan of a project imported\nfrom a live account is empty.",
    )
    .argument("[path...]", "the files of that tool; octoDNS: its folder or configuration")
    .addOption(new Option("--from <source>", "what to read").choices(SOURCES).default("live"))
    .option("--out <dir>", "the folder to write the project to; - is stdout")
    .option("--into <path>", "add to this project, or to this manifest of one,\nwhat it does not declare")
    .option("--env <name>", "environment of the project of --into")
    .option("--var <name=value>", "set a variable of that project; repeatable", collectVariables)
    .option("--var-file <file>", "variables as JSON or YAML; repeatable", collect)
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
Without --domain, --vpc and --images all of the account is taken; on a terminal,
--into offers a list to tick. With --from zone or octodns --domain is the name
of the one zone. Terraform's file is what terraform show -json or terraform
state pull prints, DNSControl's what dnscontrol print-ir does. --into extends
"files" of the root file, or adds entries to the one manifest that is named, by
its defaults; with --out - it prints instead.

Examples:
  tenon import --out infra
  tenon import --domain example.com --out - | less
  tenon import --domain '*.example' --split --out infra
  tenon import --into infra --domain example.com
  tenon import --into infra/network.yaml --vpc prod
  tenon import --from zone zones/*.zone --out infra
  tenon import --from octodns config/production.yaml --split --out infra
  tenon import --from terraform terraform.tfstate --out infra
  tenon import --from dnscontrol ir.json --split --out infra`,
    )
    .action(async (paths, flags) => {
      finish(await importInto(terminal, paths, flags));
    });
  addConnectionFlags(command);
}

const SOURCES = ["live", "zone", "octodns", "terraform", "dnscontrol"] as const;

interface ImportFlags extends ConnectionFlags, Pick<ProjectFlags, "env" | "var" | "varFile"> {
  readonly format: "text" | "json";
  readonly from: (typeof SOURCES)[number];
  readonly out?: string;
  readonly into?: string;
  readonly domain?: readonly string[];
  readonly vpc?: readonly string[];
  readonly images?: boolean;
  readonly owner?: string;
  readonly split?: boolean;
  readonly soaEmail?: string;
  readonly skipUnsupported?: boolean;
  readonly force?: boolean;
}

type ImportRead = Extract<ImportResult, { ok: true }>;

const OWNER = /^[a-z0-9-]{1,32}$/;

function importInto(terminal: Terminal, paths: readonly string[], flags: ImportFlags): Promise<ExitCode> {
  const { format } = flags;
  return withJsonErrors(terminal, { format, stream: false }, (inner) => run(inner, paths, flags));
}

async function run(terminal: Terminal, paths: readonly string[], flags: ImportFlags): Promise<ExitCode> {
  const wrong = wrongUse(paths, flags) ?? (await wrongEmail(flags));
  if (wrong !== null) {
    sayError(terminal, wrong);
    return EXIT.error;
  }
  const opened = flags.into === undefined ? null : await openInto(terminal, flags.into, flags);
  if (typeof opened === "number") return opened;
  const into: Opened | null = opened;
  const foreign = into === null ? null : (foreignOwner(flags, into) ?? splitManifest(flags, into));
  if (foreign !== null) {
    sayError(terminal, foreign);
    return EXIT.error;
  }
  const result = await (flags.from === "live"
    ? readLive(terminal, flags, into)
    : readPaths(terminal, paths, flags, into));
  if (typeof result === "number") return result;
  if (!result.ok && result.imported === null) {
    sayFailure(terminal, `cannot read ${result.what}`, result.failure);
    return EXIT.error;
  }
  const read = result.ok ? result : result.imported;
  const { notMissed } = await import("../../import/index.ts");
  terminal.say(skippedLines(read, notMissed, terminal.messages.width));
  sayDiagnostics(terminal, read.diagnostics, read.sources);
  if (!result.ok && read.diagnostics.some(({ code }) => code === "file-unwritable")) return EXIT.refused;
  if (!result.ok) return flags.from === "live" || isUnreadable(read.diagnostics) ? EXIT.error : EXIT.invalid;
  return into === null
    ? write(terminal, result, { ...flags, out: flags.out ?? "" })
    : add(terminal, result, into, flags);
}

/** An error of flags that do not go together, or of arguments; null if there is none. */
function wrongUse(paths: readonly string[], flags: ImportFlags): CommandError | null {
  const { from, owner, domain = [] } = flags;
  if (flags.out === undefined && flags.into === undefined) {
    const fix = "Name a folder for a new project with --out, or a project to add to with --into.";
    return { code: "missing-option", summary: "neither --out nor --into is given", fix };
  }
  const ofProject = (["env", "var", "varFile"] as const).find((name) => flags[name] !== undefined);
  if (flags.into === undefined && ofProject !== undefined) {
    const flag = ofProject === "varFile" ? "var-file" : ofProject;
    return conflict(`--${flag} is for the project that --into names`, "Leave it out: a new project has no variables.");
  }
  if (flags.into !== undefined && flags.out !== undefined && flags.out !== STDOUT) {
    return conflict("--into adds to one project, and --out names another", "Leave one of the two out; --out - prints.");
  }
  if (owner !== undefined && !OWNER.test(owner)) {
    const fix = "An owner has lower-case letters, digits and hyphens, at most 32.";
    return { code: "invalid-argument", summary: `--owner ${owner} is not a valid owner`, fix };
  }
  if (flags.out === STDOUT && flags.split === true) {
    return conflict("--out - prints one file, and --split makes several", "Name a folder, or leave --split out.");
  }
  if (flags.out === STDOUT && flags.format === "json") {
    const summary = "--out - prints the manifest, and --format json what was imported";
    return conflict(summary, "Name a folder, or leave one of the two out.");
  }
  if (from === "live") {
    const fix = "Say whose files they are, for example --from zone.";
    return paths.length === 0 ? null : { code: "unexpected-argument", summary: "--from live takes no files", fix };
  }
  if (paths.length === 0) {
    return { code: "missing-argument", summary: "no file is given", fix: `Name them after --from ${from}.` };
  }
  if (from === "terraform") return null;
  if (flags.vpc !== undefined || flags.images === true) {
    return conflict("--vpc and --images are for a live account or a state of Terraform");
  }
  if (from === "dnscontrol") return null;
  if (domain.length > 1 || (from === "zone" && domain.length === 1 && paths.length > 1)) {
    return conflict("--domain names the one zone of one file", "Import the files one by one, or leave it out.");
  }
  return null;
}

/** What another owner has would be refused by a plan of the project, and what nobody has becomes the project's in any case. */
function foreignOwner({ owner }: ImportFlags, into: Opened): CommandError | null {
  if (owner === undefined || owner === into.owner) return null;
  const whose = into.owner === null ? "has no owner" : `is of ${into.owner}`;
  const fix = `Leave --owner out, or set \`owner: ${owner}\` in the root file of the project first.`;
  return conflict(`--owner ${owner} was given, and the project of --into ${whose}`, fix);
}

function splitManifest({ split }: ImportFlags, { target }: Opened): CommandError | null {
  if (split !== true || target === undefined) return null;
  return conflict(
    "--split makes several files, and --into names one manifest",
    "Leave --split out, or give the folder.",
  );
}

function conflict(summary: string, fix = ""): CommandError {
  return { code: "conflicting-options", summary, fix };
}

async function wrongEmail({ soaEmail }: ImportFlags): Promise<CommandError | null> {
  const { isSoaEmail } = await import("../../import/index.ts");
  if (soaEmail === undefined || isSoaEmail(soaEmail)) return null;
  const summary = `--soa-email ${soaEmail} is no e-mail address`;
  return { code: "invalid-argument", summary, fix: "For example: hostmaster@example.com." };
}

/** Whether all errors are about files that could not be read, or that are not of the kind that was asked for. */
function isUnreadable(diagnostics: ImportRead["diagnostics"]): boolean {
  return diagnostics.every(({ severity, code }) => severity !== "error" || UNREADABLE.has(code));
}

const UNREADABLE: ReadonlySet<string> = new Set(["unreadable-file", "wrong-file", "no-terraform", "no-dnscontrol"]);

async function readPaths(
  terminal: Terminal,
  paths: readonly string[],
  flags: ImportFlags,
  into: Opened | null,
): Promise<ImportResult | ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const { importProject } = await import("../../import/index.ts");
  return importProject({
    source: sourceOf(paths, flags, into),
    allowedSeconds: allowedSeconds(dialect),
    split: flags.split === true,
    skipUnsupported: flags.skipUnsupported === true,
    ...(into === null ? {} : { into }),
  });
}

function sourceOf(
  paths: readonly string[],
  flags: ImportFlags,
  into: Opened | null,
): Exclude<ImportSource, { readonly from: "live" }> {
  const { from, domain = [], owner = into?.owner ?? null, soaEmail = null } = flags;
  if (from === "terraform") return { from, paths, selection: selectionOf(flags), owner };
  if (from === "dnscontrol") return { from, paths, domains: domain, soaEmail, owner };
  return { from: from === "zone" ? "zone" : "octodns", paths, domain: domain[0] ?? null, soaEmail, owner };
}

function selectionOf({ domain = [], vpc = [], images }: ImportFlags): Selection {
  return { domains: domain, vpcs: vpc, images: images === true };
}

function readLive(terminal: Terminal, flags: ImportFlags, into: Opened | null): Promise<ImportResult | ExitCode> {
  return withReader(terminal, flags, async (api, connection) => {
    const { importProject } = await import("../../import/index.ts");
    const owner = flags.owner ?? into?.owner ?? null;
    const isChosen = flags.domain !== undefined || flags.vpc !== undefined || flags.images === true;
    const ticked = into === null || isChosen ? {} : await tick(terminal, api, { owner, into });
    if (typeof ticked === "number") return ticked;
    const progress = new Progress(terminal);
    progress.show("Reading the account");
    const result = await importProject({
      source: {
        from: "live",
        api,
        owner,
        selection: { ...selectionOf(flags), ...ticked },
        watch: {
          signal: terminal.interrupt.first,
          progress: (done, total) => progress.show(`Reading the account: ${done} of ${total} lists`),
        },
      },
      allowedSeconds: allowedSeconds(connection.dialect ?? NEUTRAL_DIALECT),
      split: flags.split === true,
      skipUnsupported: flags.skipUnsupported === true,
      ...(into === null ? {} : { into }),
    }).finally(() => progress.end());
    return terminal.interrupt.code() ?? result;
  });
}

async function write(
  terminal: Terminal,
  result: ImportRead,
  flags: ImportFlags & { readonly out: string },
): Promise<ExitCode> {
  const { notMissed, obstacles, writeProject } = await import("../../import/index.ts");
  const request = { out: flags.out, files: result.files, force: flags.force === true };
  const inTheWay = flags.out === STDOUT ? [] : await obstacles(request);
  if (inTheWay.length > 0) {
    sayDiagnostics(terminal, inTheWay);
    return EXIT.refused;
  }
  if (!(await loads(terminal, result, flags))) return EXIT.error;
  if (flags.out === STDOUT) {
    for (const { text } of result.files) terminal.print(text);
    return EXIT.done;
  }
  try {
    await writeProject(request);
  } catch (error) {
    sayError(terminal, {
      code: "file-unwritable",
      summary: `cannot write to ${flags.out}: ${(error as Error).message}`,
      fix: "Look at what is there before you try again; files that --force has replaced already stay replaced.",
    });
    return EXIT.error;
  }
  terminal.print(flags.format === "json" ? importJson(result, flags.out, notMissed) : importSummary(result, flags.out));
  return EXIT.done;
}

/** Errors that say that a project, or a file of it, is too large. */
const LIMITS: ReadonlySet<string> = new Set([
  ...["too-many-records", "file-too-large", "project-too-large", "expands-too-far"],
]);

/**
 * Loads the project in a temporary folder, so that no project that does not load is left behind. Warns of errors that `validate` would
 * report.
 */
async function loads(terminal: Terminal, result: ImportRead, flags: ImportFlags): Promise<boolean> {
  const { writeProject } = await import("../../import/index.ts");
  const folder = await mkdtemp(join(tmpdir(), "tenon-import-"));
  try {
    const directory = join(folder, "project");
    await writeProject({ out: directory, files: result.files, force: false });
    const dialect = resolveDialect(flags) ?? NEUTRAL_DIALECT;
    const { project, diagnostics, sources } = await loadProject({ directory, allowedSeconds: allowedSeconds(dialect) });
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    if (project === null || hasErrors(errors)) {
      sayDiagnostics(terminal, errors, sources);
      if (errors.every(({ code }) => LIMITS.has(code))) {
        terminal.say("Nothing was written. Import in parts, or with --split.\n");
        return false;
      }
      sayError(terminal, {
        code: "internal-error",
        summary: "what was imported does not load, and nothing was written",
        fix: "This is an error of Tenon: please report it.",
      });
      return false;
    }
    const linted = (await lintProject(project)).filter(({ severity }) => severity === "error");
    if (linted.length > 0) sayDiagnostics(terminal, [refusedByValidate(linted)]);
    return true;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
