/** `tenon init`: begins a project, with questions on a terminal and by flags elsewhere. */

import { lstat, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Command, Option } from "commander";
import { readRegular, writeProblem } from "../../files/files.ts";
import { readVersion } from "../../files/package-files.ts";
import { linkText, whereLinkLeads, whereUsedLinkLeads } from "../../files/paths.ts";
import { allowedSeconds, loadProject, NEUTRAL_DIALECT, SERVICES, serviceCalled } from "../../index.ts";
import { shellWord } from "../../model/text.ts";
import { escapeText } from "../../render/terminal.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { collect } from "../flags.ts";
import { type CommandError, sayDiagnostics, sayError } from "../messages.ts";
import { askOne, askText } from "../questions.ts";
import { GIT_IGNORE, IGNORED_LINES, type Pipeline, pipelineFiles, rootFileText } from "../skeleton.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Begin a project: a commented root file, .gitignore and, if wanted, a pipeline.\nWhat it declares changes no record in an account.",
    )
    .argument("[dir]", "the project's folder, made if it is not there (default: here)")
    .option("--domain <name>", "a domain to declare, its records left alone; repeatable", collect)
    .option("--soa-email <address>", "for the domains (default: hostmaster@ the first)")
    .option("--owner <name>", "tag what Tenon makes with this owner")
    .addOption(new Option("--pipeline <forge>", "files for a pipeline").choices(["github", "gitlab", "none"]))
    .addOption(
      new Option("--service <name>", "the service that the pipeline talks to")
        .choices(SERVICES.map(({ name }) => name))
        .env("TENON_SERVICE"),
    )
    .option("--yes", "ask nothing: what no flag says is left out")
    .option("--force", "overwrite existing files")
    .addHelpText(
      "after",
      `
On a terminal it asks for what no flag says. The pipeline goes to the root of
the git repository that the folder is in. The account is not asked. Of a domain
that it has already, a plan shows that it gets the SOA address and the owner's
tag: begin without --domain, and tenon import --into . --domain NAME keeps what
is there.

Examples:
  tenon init
  tenon init infra --domain example.com --owner edge --yes
  tenon init --pipeline github --service linode`,
    )
    .action(async (directory, flags) => {
      finish(await init(terminal, directory ?? ".", flags));
    });
}

interface InitFlags {
  readonly domain?: readonly string[];
  readonly soaEmail?: string;
  readonly owner?: string;
  readonly pipeline?: Pipeline | "none";
  readonly service?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

interface NewFile {
  /** From `base`, forward slashes. */
  readonly file: string;
  readonly text: string;
}

async function init(terminal: Terminal, directory: string, given: InitFlags): Promise<ExitCode> {
  const wrong = await noFolder(directory);
  if (wrong !== null) {
    sayError(terminal, wrong);
    return EXIT.error;
  }
  const flags = terminal.canAsk && given.yes !== true ? await askRest(terminal, given) : given;
  if (flags === null) {
    terminal.say("Nothing was written.\n");
    return terminal.interrupt.code() ?? EXIT.error;
  }
  const folder = resolve(directory);
  const text = rootFileText({
    domains: flags.domain ?? [],
    soaEmail: flags.soaEmail ?? null,
    owner: flags.owner ?? null,
    version: readVersion(),
  });
  const root = await checkedRoot(terminal, text);
  if (root === null) return EXIT.error;
  const pipeline = flags.pipeline === undefined || flags.pipeline === "none" ? null : flags.pipeline;
  const base = pipeline === null ? folder : ((await repositoryOf(folder)) ?? folder);
  const project = relative(base, folder).split(sep).join("/") || ".";
  if (pipeline !== null && project.includes("$")) {
    const summary = `a forge would put values into the path ${project}`;
    sayError(terminal, {
      code: "invalid-argument",
      summary,
      fix: "Name a folder whose path from the root of the repository has no $ in it.",
    });
    return EXIT.error;
  }
  const inProject = (file: string): string => (project === "." ? file : `${project}/${file}`);
  const ignored = await ignoredText(join(folder, ".gitignore"));
  const files: NewFile[] = [
    { file: inProject("tenon.yaml"), text: root },
    ...(ignored === null ? [{ file: inProject(".gitignore"), text: GIT_IGNORE }] : []),
    ...(pipeline === null
      ? []
      : pipelineFiles(pipeline, { project, service: serviceCalled(flags.service ?? "") ?? null })),
  ];
  const code = await write(terminal, { base, files, force: flags.force === true });
  if (code !== EXIT.done) return code;
  terminal.print(summary(terminal, { base, files, directory, pipeline, ignored, domains: flags.domain ?? [] }));
  return EXIT.done;
}

/** Other commands take the root file for the project; here it is to be made. */
async function noFolder(directory: string): Promise<CommandError | null> {
  const isFile = (await stat(directory).catch(() => null))?.isFile() === true;
  if (!isFile && basename(directory) !== "tenon.yaml") return null;
  const folder = dirname(directory);
  const summary = isFile ? `${directory} is a file` : `${directory} names a file, and init makes that itself`;
  const fix = `Name the project's folder: tenon init${folder === "." ? "" : ` ${shellWord(folder)}`}.`;
  return { code: "invalid-argument", summary, fix };
}

// The questions: one for each flag that was not given.

async function askRest(terminal: Terminal, given: InitFlags): Promise<InitFlags | null> {
  const domain = given.domain ?? (await askDomain(terminal));
  if (domain === null) return null;
  const [first] = domain;
  const soaEmail = given.soaEmail ?? (first === undefined ? "" : await askEmail(terminal, first));
  if (soaEmail === null) return null;
  const owner = given.owner ?? (await askOwner(terminal));
  if (owner === null) return null;
  const pipeline = given.pipeline ?? (await askOne(terminal, "A pipeline that plans pull requests?", PIPELINES));
  if (pipeline === null) return null;
  return {
    ...given,
    domain,
    pipeline: pipeline as Pipeline | "none",
    ...(soaEmail === "" ? {} : { soaEmail }),
    ...(owner === "" ? {} : { owner }),
  };
}

const PIPELINES = [
  { value: "none", label: "none" },
  { value: "github", label: "GitHub", hint: ".github/workflows and ci/tenon" },
  { value: "gitlab", label: "GitLab", hint: ".gitlab-ci.yml and ci/tenon" },
] as const;

async function askDomain(terminal: Terminal): Promise<string[] | null> {
  const message =
    "The first domain? Empty: none yet, and best for one that the account has: tenon import --into adds that.";
  const check = (text: string): string | null => (/[\s/:@]/.test(text) ? "A name such as example.com." : null);
  const name = await askText(terminal, message, { initial: "", check });
  if (name === null) return null;
  return name === "" ? [] : [name];
}

function askEmail(terminal: Terminal, domain: string): Promise<string | null> {
  const check = (text: string): string | null =>
    /^[^\s@]+@[^\s@]+$/.test(text) ? null : "An address such as hostmaster@example.com.";
  return askText(terminal, "The e-mail address for its SOA record?", { initial: `hostmaster@${domain}`, check });
}

const OWNER = /^[a-z0-9-]{1,32}$/;

function askOwner(terminal: Terminal): Promise<string | null> {
  const check = (text: string): string | null =>
    text === "" || OWNER.test(text) ? null : "Lower-case letters, digits and hyphens, at most 32.";
  const message = "An owner, with whose tag it marks what it makes? Empty: none.";
  return askText(terminal, message, { initial: "", check });
}

// What is written is valid, and in the one form.

/** @returns the text as `tenon fmt` has it; null: it is not valid, which is reported */
async function checkedRoot(terminal: Terminal, text: string): Promise<string | null> {
  const [{ writeProject }, { formatProject }] = await Promise.all([
    import("../../import/index.ts"),
    import("../../format/index.ts"),
  ]);
  const folder = await mkdtemp(join(tmpdir(), "tenon-init-"));
  try {
    const directory = join(folder, "project");
    await writeProject({ out: directory, files: [{ file: "tenon.yaml", text }], force: false });
    const options = { directory, allowedSeconds: allowedSeconds(NEUTRAL_DIALECT) };
    const { project, diagnostics, sources } = await loadProject(options);
    if (project === null) {
      sayDiagnostics(terminal, diagnostics, sources);
      terminal.say("Nothing was written.\n");
      return null;
    }
    const { differing } = await formatProject(options);
    return differing?.find(({ file }) => file === "tenon.yaml")?.text ?? text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The root of the git repository that holds the folder, which need not be there yet; null: none does. */
async function repositoryOf(folder: string): Promise<string | null> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await lstat(join(at, ".git")).catch(() => null)) !== null) return at;
    if (dirname(at) === at) return null;
  }
}

/** A longer one is not looked through. */
const MAX_IGNORED_BYTES: number = 1024 * 1024;

/** The lines that a `.gitignore` that is there lacks; null: there is none. */
async function ignoredText(path: string): Promise<readonly string[] | null> {
  const text = await readRegular(path, MAX_IGNORED_BYTES).catch(() => null);
  if (text === null) return null;
  const lines = new Set(text.split(/\r?\n/).map((line) => line.trim().replace(/^\//, "")));
  return IGNORED_LINES.filter((line) => !lines.has(line));
}

interface WriteRequest {
  readonly base: string;
  readonly files: readonly NewFile[];
  readonly force: boolean;
}

/** All of the files or none. */
async function write(terminal: Terminal, { base, files, force }: WriteRequest): Promise<ExitCode> {
  const elsewhere = await whereUsedLinkLeads(base);
  if (elsewhere !== null) {
    const fix = "Name the place itself.";
    sayError(terminal, { code: "file-unwritable", summary: linkText(relative(".", base), elsewhere), fix });
    return EXIT.refused;
  }
  const existing: string[] = [];
  const isThere = (await stat(base).catch(() => null)) !== null;
  for (const { file } of files) {
    const path = join(base, file);
    const found = await lstat(path).catch(() => null);
    const led = isThere ? await whereLinkLeads(path, base) : null;
    if (led !== null || (found !== null && !found.isFile())) {
      const summary = `${file} is no regular file of this folder`;
      sayError(terminal, { code: "file-unwritable", summary, fix: "Remove what is there, or name another folder." });
      return EXIT.refused;
    }
    if (found !== null) existing.push(file);
  }
  if (existing.length > 0 && !force) {
    const summary = `${existing.length === 1 ? "this file is" : "these files are"} there already: ${existing.join(", ")}`;
    const fix = "Nothing was written. Name another folder, or give --force to overwrite.";
    sayError(terminal, { code: "file-exists", summary, fix });
    return EXIT.refused;
  }
  const { writeProject } = await import("../../import/index.ts");
  try {
    await writeProject({ out: base, files, force });
    return EXIT.done;
  } catch (error) {
    sayError(terminal, { code: "file-unwritable", summary: `cannot write: ${writeProblem(error, base)}` });
    return EXIT.error;
  }
}

interface Written {
  readonly base: string;
  readonly files: readonly NewFile[];
  /** As it was given. */
  readonly directory: string;
  readonly pipeline: Pipeline | null;
  readonly ignored: readonly string[] | null;
  readonly domains: readonly string[];
}

function summary(terminal: Terminal, { base, files, directory, pipeline, ignored, domains }: Written): string {
  const { environment } = terminal;
  const here = directory === "." ? "" : ` ${shellWord(escapeText(directory))}`;
  const hasService = [environment["TENON_SERVICE"], environment["TENON_BASE_URL"]].some(
    (value) => (value ?? "") !== "",
  );
  const scripts = files.filter(({ file }) => file.startsWith("ci/tenon/")).length;
  const named = files.filter(({ file }) => !file.startsWith("ci/tenon/")).map(({ file }) => `  ${escapeText(file)}`);
  return [
    `Written to ${escapeText(base)}:`,
    ...named,
    ...(scripts === 0 ? [] : [`  ci/tenon/ (${scripts} scripts)`]),
    ...(ignored === null || ignored.length === 0
      ? []
      : [`.gitignore was there and is left as it is; it lacks: ${ignored.join(", ")}`]),
    "",
    "Next:",
    ...(hasService ? [] : ["  export TENON_SERVICE=linode LINODE_TOKEN=…   or, without an account, tenon emulate"]),
    `  tenon validate${here}`,
    `  tenon import --into ${here.trim() || "."}   adds what the account has`,
    `  tenon plan${here}`,
    ...(domains.length === 0
      ? []
      : [
          "A domain that the account has already has its own SOA address: take its entry out",
          `of the root file, and tenon import --into ${here.trim() || "."} --domain NAME writes it as it is there.`,
        ]),
    ...(pipeline === null
      ? []
      : ["  docs/how-to/pipeline.md says what the pipeline needs: ci/tool, two tokens, protection"]),
    "",
  ].join("\n");
}
