/** The program: its commands, its help, and errors in its arguments. */

import { Command, CommanderError, Help } from "commander";
import type { ClientApi } from "../index.ts";
import type { WithClient } from "./connection.ts";
import { EXIT, EXIT_CODES_HELP, type ExitCode, type Finish } from "./exit.ts";
import { CONFLICT, refuseOneFileTwice } from "./flags.ts";
import { ADVICE, EVERYWHERE_HELP, obeyEverywhere } from "./known-flags.ts";
import type { ErrorCode } from "./messages.ts";
import { readVersion, type Terminal } from "./terminal.ts";

const HELP_WIDTH_COLUMNS = 80;

/** A file under commands/: describes its command, and runs it. */
type Define = (command: Command, terminal: Terminal, finish: Finish) => void;

/** The same for a command that writes: `connect` opens its client. No other code of the command line can. */
type DefineWriting = (command: Command, terminal: Terminal, finish: Finish, connect: WithClient<ClientApi>) => void;

/**
 * What a command does to the account. An entry declared as `reads` whose file needs a client that writes does not compile.
 * - `nothing`: it does not connect.
 * - `reads`: it sends GET requests only.
 * - `writes`: it may send any request.
 */
type Access =
  | { readonly access: "nothing" | "reads"; load(): Promise<Define> }
  | { readonly access: "writes"; load(): Promise<DefineWriting> };

type CommandEntry = Access & {
  readonly name: string;
  /** Follows the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
};

/** In the order of the help. A command's file is loaded only if it is named. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "init",
    usage: "[options] [dir]",
    summary: "begin a project",
    access: "nothing",
    load: async () => (await import("./commands/init.ts")).define,
  },
  {
    name: "validate",
    usage: "[options] [dir]",
    summary: "check the manifests, without a connection",
    access: "nothing",
    load: async () => (await import("./commands/validate.ts")).define,
  },
  {
    name: "plan",
    usage: "[options] [dir]",
    summary: "show what apply would do",
    access: "reads",
    load: async () => (await import("./commands/plan.ts")).define,
  },
  {
    name: "apply",
    usage: "[options] [dir]",
    summary: "make the account fit the manifests",
    access: "writes",
    load: async () => (await import("./commands/apply.ts")).defineApply,
  },
  {
    name: "destroy",
    usage: "[options] [dir]",
    summary: "delete what is declared",
    access: "writes",
    load: async () => (await import("./commands/apply.ts")).defineDestroy,
  },
  {
    name: "undo",
    usage: "[options] <journal> [dir]",
    summary: "show what would take back what an apply did",
    access: "reads",
    load: async () => (await import("./commands/undo.ts")).define,
  },
  {
    name: "drift",
    usage: "[options] [dir]",
    summary: "say what differs from the manifests",
    access: "reads",
    load: async () => (await import("./commands/drift.ts")).define,
  },
  {
    name: "list",
    usage: "[options] [kind]",
    summary: "list what is in the account, and whose it is",
    access: "reads",
    load: async () => (await import("./commands/list.ts")).define,
  },
  {
    name: "live",
    usage: "[options] [dir]",
    summary: "write the account to a file, for plan --live",
    access: "reads",
    load: async () => (await import("./commands/live.ts")).define,
  },
  {
    name: "show",
    usage: "[options] [what]",
    summary: "show an object, a saved plan, or the expanded manifests",
    access: "reads",
    load: async () => (await import("./commands/show.ts")).define,
  },
  {
    name: "output",
    usage: "[options] [address]",
    summary: "print the ids of what is declared, for other tools",
    access: "reads",
    load: async () => (await import("./commands/output.ts")).define,
  },
  {
    name: "zone",
    usage: "",
    summary: "export a DNS zone, check what is served",
    access: "reads",
    load: async () => (await import("./commands/zone.ts")).define,
  },
  {
    name: "import",
    usage: "[options] [path...]",
    summary: "write a project from an account or another tool's files",
    access: "reads",
    load: async () => (await import("./commands/import.ts")).define,
  },
  {
    name: "export",
    usage: "[options] [dir]",
    summary: "write the project for Terraform, octoDNS and others",
    access: "reads",
    load: async () => (await import("./commands/export.ts")).define,
  },
  {
    name: "fmt",
    usage: "[options] [dir]",
    summary: "bring the manifests into one form",
    access: "nothing",
    load: async () => (await import("./commands/fmt.ts")).define,
  },
  {
    name: "lsp",
    usage: "[options]",
    summary: "serve an editor: errors, completion, quick fixes",
    access: "nothing",
    load: async () => (await import("./commands/lsp.ts")).define,
  },
  {
    name: "explain",
    usage: "[options] [what]",
    summary: "explain a field of a manifest, or a code",
    access: "nothing",
    load: async () => (await import("./commands/explain.ts")).define,
  },
  {
    name: "fleet",
    usage: "",
    summary: "plan, apply and compare many accounts",
    access: "writes",
    load: async () => (await import("./commands/fleet.ts")).define,
  },
  {
    name: "ticket",
    usage: "",
    summary: "read and write support tickets",
    access: "writes",
    load: async () => (await import("./commands/ticket.ts")).define,
  },
  {
    name: "emulate",
    usage: "[options]",
    summary: "serve the whole API on this machine",
    access: "nothing",
    load: async () => (await import("./commands/emulate.ts")).define,
  },
  {
    name: "demo",
    usage: "",
    summary: "plan and apply an example, without an account",
    access: "nothing",
    load: async () => (await import("./commands/demo.ts")).define,
  },
  {
    name: "completion",
    usage: "[options] [shell]",
    summary: "print what makes a shell complete tenon's words",
    access: "nothing",
    load: async () => (await import("./commands/completion.ts")).define,
  },
  {
    name: "version",
    usage: "[options]",
    summary: "show the version, and what it runs on",
    access: "nothing",
    load: async () => (await import("./commands/version.ts")).define,
  },
];

/** Runs the command that the arguments name. @param args without the program's own name */
export async function runCommand(asked: Terminal, words: readonly string[]): Promise<ExitCode> {
  const { terminal, args: given } = obeyEverywhere(asked, words);
  const args = helpAsFlag(given);
  let code: ExitCode = EXIT.done;
  const finish: Finish = (ended) => {
    code = ended;
  };
  let misuse: Misuse | null = null;
  const program = await buildProgram(terminal, finish, {
    named: args.filter((word) => !word.startsWith("-")),
    misused: (problem) => {
      misuse = problem;
    },
  });
  // Without a command the help is printed.
  if (args.length === 0) {
    program.outputHelp({ error: true });
    return EXIT.error;
  }
  if (await isOfOtherTool(terminal, args)) return EXIT.error;
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are no errors.
    if (error.exitCode === 0) return EXIT.done;
    if (misuse !== null) await sayMisuse(terminal, misuse, wantsJson(args));
    return EXIT.error;
  }
  return code;
}

/** `help fleet plan` as `fleet plan --help`: commander's own looks one word deep, and would show the help of `fleet`. */
function helpAsFlag(args: readonly string[]): readonly string[] {
  const [first, ...named] = args;
  const isNamed = named.length > 1 && COMMANDS.some(({ name }) => name === named[0]);
  return first === "help" && isNamed && !named.some((word) => word.startsWith("-")) ? [...named, "--help"] : args;
}

/** Says what to use instead of a command that people know from another tool. */
async function isOfOtherTool(terminal: Terminal, args: readonly string[]): Promise<boolean> {
  const words = args.filter((word) => !word.startsWith("-"));
  const [name] = words;
  // What stands before a command is an option of the program, which is told what is wrong with it.
  if (name === undefined || args[0] !== name || COMMANDS.some((entry) => entry.name === name)) return false;
  const { adviceInstead } = await import("./other-tools.ts");
  const fix = adviceInstead(words);
  if (fix === null) return false;
  const [{ sayError }, { printError }] = await Promise.all([import("./messages.ts"), import("./output.ts")]);
  const problem = { code: "unknown-command", summary: `tenon has no command '${name}'`, fix } as const;
  sayError(terminal, problem);
  if (wantsJson(args)) printError(terminal, problem, false);
  return true;
}

/** An error in the arguments of a command. */
interface Misuse {
  readonly error: CommanderError;
  readonly command: string;
  /** A sentence. */
  readonly advice: string;
  /** Lines about it for people; empty if they are shown the help instead. */
  readonly text: string;
}

interface ProgramOptions {
  /** Words that may name the command to run, so that no other is loaded; null: load all commands. */
  readonly named: readonly string[] | null;
  /** Called with an error in the arguments, before the error is thrown. */
  misused?(misuse: Misuse): void;
}

/** @param finish called with the command's exit code */
export async function buildProgram(
  terminal: Terminal,
  finish: Finish,
  { named, misused = () => {} }: ProgramOptions,
): Promise<Command> {
  const program = new Command("tenon")
    .description("Keep a cloud account's VPCs, subnets, DNS zones and machine images\nas YAML in git.")
    .version(readVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .configureHelp({ helpWidth: HELP_WIDTH_COLUMNS, subcommandTerm: listed })
    .configureOutput({ writeOut: (text) => terminal.print(text), writeErr: (text) => terminal.say(text) })
    .addHelpText("after", `\n${EVERYWHERE_HELP}\n\n${PROGRAM_EXAMPLES}\n\n${EXIT_CODES_HELP}`)
    .hook("preAction", (_, action) => refuseOneFileTwice(action));
  for (const entry of COMMANDS) {
    const { name, summary } = entry;
    const command = program.command(name).summary(summary);
    if (named !== null && !named.includes(name)) continue;
    if (entry.access === "writes") (await entry.load())(command, terminal, finish, connectToWrite);
    else (await entry.load())(command, terminal, finish);
  }
  explainErrors(program, "tenon", misused);
  return program;
}

/** The module is imported when it is called: the help needs no client. */
const connectToWrite: WithClient<ClientApi> = async (terminal, flags, work) => {
  const { withWriter } = await import("./writer.ts");
  return withWriter(terminal, flags, work);
};

/** A command's term in a list of commands. The program's own commands may not be loaded, so COMMANDS has their usage. */
function listed(this: Help, command: Command): string {
  const entry = command.parent?.parent === null ? COMMANDS.find(({ name }) => name === command.name()) : undefined;
  if (entry === undefined) return Help.prototype.subcommandTerm.call(this, command);
  return entry.usage === "" ? entry.name : `${entry.name} ${entry.usage}`;
}

/** Commands whose `--format json` is a stream of events. */
const STREAMS: ReadonlySet<string> = new Set(["apply", "destroy"]);

/** The last --format counts, as in commander. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  const formats = options.flatMap((word, index) => {
    if (word === "--format") return [options[index + 1]];
    return word.startsWith("--format=") ? [word.slice("--format=".length)] : [];
  });
  return formats.at(-1) === "json";
}

const MISUSES: Readonly<Record<string, ErrorCode>> = {
  "commander.unknownOption": "unknown-option",
  "commander.unknownCommand": "unknown-command",
  "commander.excessArguments": "unexpected-argument",
  "commander.missingArgument": "missing-argument",
  "commander.missingMandatoryOptionValue": "missing-option",
  "commander.optionMissingArgument": "missing-value",
  "commander.conflictingOption": "conflicting-options",
  [CONFLICT]: "conflicting-options",
};

/** Commander's message is `error: …`, and a suggestion in brackets may follow on a line of its own. */
async function sayMisuse(terminal: Terminal, { error, command, advice, text }: Misuse, isJson: boolean): Promise<void> {
  const { escapeText } = await import("../render/terminal.ts");
  // It repeats an argument, which a script may have from somewhere else.
  terminal.say(text.split("\n").map(escapeText).join("\n"));
  if (!isJson) return;
  const { printError } = await import("./output.ts");
  const { code, message } = error;
  const [, said = message, suggestion = advice] = /^error: (.*?)(?:\n\((.*)\))?$/s.exec(message) ?? [];
  const summary = refusalOf(message)?.summary ?? said;
  const problem = { code: MISUSES[code] ?? "invalid-argument", summary, fix: suggestion } as const;
  printError(terminal, problem, STREAMS.has(command));
}

/** Command → flags that people know from other tools → the advice instead. */
const HABITS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apply: { "--auto-approve": "use --yes", "-auto-approve": "use --yes", "-y": "use --yes" },
  destroy: { "--auto-approve": "use --yes", "-auto-approve": "use --yes", "-y": "use --yes" },
  drift: { "--detailed-exitcode": "drift always exits with 2 when there is drift" },
};

const NO_JOURNAL =
  "name one of the files in .tenon/journal, where each apply keeps its own; ls -t shows the newest first";

/** Makes errors in the arguments of a command refer to that command's own help. */
function explainErrors(command: Command, called: string, misused: (misuse: Misuse) => void): void {
  const name = command.name();
  const habitOf = (message: string): string | undefined => {
    if (name === "undo" && message.startsWith("error: missing required argument 'journal'")) return NO_JOURNAL;
    const flag = /^error: unknown option '([^'=]+)/.exec(message)?.[1] ?? "";
    const habits = { ...ADVICE, ...HABITS[name] };
    if (Object.hasOwn(habits, flag)) return habits[flag];
    const has = (long: string): boolean => command.options.some((option) => option.long === long);
    if (/^--?json$/.test(flag) && has("--format")) return "write --format json";
    // Terraform's flags have one dash.
    const isLong = /^-[a-z][a-z-]+$/.test(flag) && (has(`-${flag}`) || flag === "-no-color");
    return isLong ? `write -${flag}, with two dashes` : chosenNearly(message);
  };
  let said = "";
  command.configureOutput({
    outputError: (text) => {
      const habit = habitOf(text);
      const refusal = refusalOf(text.trimEnd());
      const plain = refusal === null ? text : refusalText(refusal);
      const line = plain.trimEnd().split("\n")[0] ?? "";
      const shown =
        habit === undefined ? plain : line.endsWith(".") ? `${line}\n${asSentence(habit)}\n` : `${line}: ${habit}\n`;
      said = `${shown}(${called} --help shows what there is)\n`;
    },
  });
  command.exitOverride((error) => {
    const habit = habitOf(error.message);
    const general = refusalOf(error.message)?.advice ?? `${called} --help shows what there is.`;
    const advice = habit === undefined ? general : asSentence(habit).replace(/[^.?]$/, "$&.");
    if (error.exitCode !== 0) misused({ error, command: name, advice, text: said });
    throw error;
  });
  for (const inner of command.commands) explainErrors(inner, `${called} ${inner.name()}`, misused);
}

interface Refusal {
  /** `<id> does not take 'x'` */
  readonly summary: string;
  /** A sentence. */
  readonly advice: string;
}

/** What commander says of a value, `command-argument value 'x' is invalid for argument 'id'. Write a number.`, in parts; null: it says something else. */
function refusalOf(message: string): Refusal | null {
  const [, option, value, ofOption] = /^error: option '(.*?)' argument '(.*)' is invalid\. (.*)$/s.exec(message) ?? [];
  if (option !== undefined) return { summary: `option '${option}' does not take '${value}'`, advice: ofOption ?? "" };
  const [, given, name, ofArgument] =
    /^error: command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)$/s.exec(message) ?? [];
  return given === undefined ? null : { summary: `<${name}> does not take '${given}'`, advice: ofArgument ?? "" };
}

/** Lines that fit a terminal of 80 columns. */
function refusalText({ summary, advice }: Refusal): string {
  const lines = new Help().boxWrap(advice, HELP_WIDTH_COLUMNS - 2).split("\n");
  return `error: ${summary}\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

/** `record` for `records`. */
function chosenNearly(message: string): string | undefined {
  const [, value = "", choices = ""] = /value '([^']*)' is invalid.* Allowed choices are (.*)\./.exec(message) ?? [];
  const meant = choices
    .split(", ")
    .find((choice) => value.length > 2 && choice !== "" && choice.startsWith(value.toLowerCase()));
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

function asSentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

const PROGRAM_EXAMPLES = `Examples:
  tenon validate                         check the manifests, all errors at once
  tenon plan                             show what would change
  tenon apply                            show it, ask, and do it
  tenon drift                            say what differs from the manifests
  tenon list addresses --format csv      which node has which address
  tenon import --out infra               write the manifests of what is there
  tenon demo                             see all of it, without an account
  tenon emulate --port 8080              a service to try it on

Environment:
  TENON_BASE_URL   the service's address, with /v4 (or --base-url)
  TENON_TOKEN      the access token (or --token-file)
  TENON_ACCOUNT    must equal the project's account, if it names one
  TENON_SERVICE    a known service, by name: linode (or --service); LINODE_TOKEN
                   is then the token where TENON_TOKEN is not set
  TENON_DIALECT    the service's word for node (or --dialect)
  TENON_QUEUE      where the workers of a fleet are asked (or fleet --queue)
  TENON_WEBHOOK    where drift --watch posts news (or --webhook)
  OTEL_EXPORTER_OTLP_ENDPOINT
                   the collector that fleet commands and workers send traces to
  TENON_DEBUG      not empty: unexpected errors show where they come from`;
