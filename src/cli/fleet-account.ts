/** Runs a command of the command line for one account of a fleet, in this process, with the account's own token and no other. */

import { stat } from "node:fs/promises";
import { readRegular } from "../files/files.ts";
import type { FleetAccount } from "../fleet/index.ts";
import { type ClientApi, SERVICES } from "../index.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type FleetCommand, type Ran, SHORTER_CHARACTERS } from "../model/fleet.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { Secret } from "../model/secret.ts";
import { codeBlock, codeBlockWithin } from "../render/markdown/parts.ts";
import { diagnosticsJson, renderErrorsJson } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import type { WithClient } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { FailOn, PlanFlags } from "./flags.ts";
import { sayDiagnostics } from "./messages.ts";
import { bugOf, showPlan } from "./output.ts";
import { readPlanFile } from "./reviewed-plan.ts";
import type { Terminal } from "./terminal.ts";

/** What the fleet's command was asked for, for every account. */
export interface AccountFlags
  extends Omit<PlanFlags, "env" | "var" | "varFile" | "baseUrl" | "service" | "dialect" | "fleet"> {
  readonly failOn?: readonly FailOn[];
  readonly strict?: boolean;
  readonly yes?: boolean;
  /** Of this account: its reviewed plan. */
  readonly plan?: string;
  /** Of this account: where its plan is saved. */
  readonly out?: string;
}

interface AccountRun {
  /** The variables that hold tokens of the fleet's accounts. */
  readonly hidden: ReadonlySet<string>;
  /** Opens a client that writes; null: the command only reads. */
  readonly connect: WithClient<ClientApi> | null;
  /** Whether somebody reads the JSON document: it may be long. */
  readonly keepsDocument: boolean;
}

export async function runAccount(
  outer: Terminal,
  command: FleetCommand,
  account: FleetAccount,
  flags: AccountFlags,
  { hidden, connect, keepsDocument }: AccountRun,
): Promise<Ran> {
  const environment = environmentOf(outer, account, hidden);
  // What `validate` prints is text whatever the format is.
  const markup = flags.format === "markdown" && command !== "validate" ? "markdown" : "plain";
  const captured = new Capture(outer, {
    environment,
    markup,
    handlesSignals: command === "apply",
    tokenPlace: "env" in account.token ? account.token.env : account.token.file,
    token: await tokenTextOf(outer, account),
  });
  const { terminal } = captured;
  const problem = command === "validate" ? null : await tokenProblem(outer, account);
  let code: ExitCode = EXIT.error;
  if (problem !== null) sayDiagnostics(terminal, [problem]);
  else {
    try {
      code = await perform(terminal, command, account.project, flagsOf(account, flags), connect);
    } catch (error) {
      // What one account brings to light must not keep the others waiting.
      sayDiagnostics(terminal, [bugOf(error)]);
      if ((outer.environment["TENON_DEBUG"] ?? "") !== "" && error instanceof Error)
        for (const line of (error.stack ?? "").split("\n")) terminal.say(`${escapeText(line)}\n`);
    }
  }
  const outcome = captured.outcome(command, code);
  return keepsDocument ? outcome : { ...outcome, document: null };
}

/** What `fleet plan` comes to for an account, from the file of its saved plan. */
export async function showSavedPlan(
  { page: _, ...outer }: Terminal,
  account: FleetAccount,
  file: string,
  { format, failOn = [] }: Pick<AccountFlags, "format" | "failOn">,
): Promise<Ran> {
  const { environment } = outer;
  const markup = format === "markdown" ? "markdown" : "plain";
  const token = await tokenTextOf(outer, account);
  const captured = new Capture(outer, { environment, markup, handlesSignals: false, tokenPlace: "", token });
  const read = await readPlanFile(captured.terminal, file);
  if (!read.ok || read.plan === null) return captured.outcome("plan", EXIT.error);
  // The account that a plan is pinned to is in its file alone.
  const { fleet: _fleet, ...inputs } = read.plan.inputs;
  const shown = markup === "markdown" ? "markdown" : "text";
  await showPlan(captured.terminal, { ...read.plan, inputs }, shown, token === "" ? undefined : token);
  const { exitCode } = await import("./commands/plan.ts");
  return captured.outcome("plan", exitCode(read.plan, { failOn, detailedExitcode: true }));
}

/** A token file that is a pipe would keep the others waiting. */
async function tokenProblem({ environment }: Terminal, { token }: FleetAccount): Promise<Diagnostic | null> {
  if ("env" in token) {
    if (variableOf(environment, token.env).trim() !== "") return null;
    const summary = `no token is set: ${token.env} is empty`;
    const fix = `Set ${token.env} where this account is run.`;
    return { code: "token-missing", severity: "error", summary, detail: "", fix };
  }
  const found = await stat(token.file).catch(() => null);
  if (found?.isFile() !== false) return null;
  const summary = `the token file is not a regular file: ${token.file}`;
  const fix = "Name a file that holds the token and nothing else.";
  return { code: "token-file-unreadable", severity: "error", summary, detail: "", fix };
}

/** A fleet file may name any variable: `constructor` is none. */
function variableOf(environment: Terminal["environment"], name: string): string {
  return (Object.hasOwn(environment, name) ? environment[name] : undefined) ?? "";
}

/** A saved plan is pinned: a file in the folder of plans must not choose the goal, the environment, the variables or the account. */
function flagsOf(account: FleetAccount, flags: AccountFlags): AccountFlags & PlanFlags & { readonly pin: boolean } {
  return {
    ...flags,
    pin: flags.plan !== undefined,
    fleet: { name: account.name, service: account.baseUrl, account: account.account },
    ...(account.environment === null ? {} : { env: account.environment }),
    var: account.variables,
    baseUrl: account.baseUrl,
    dialect: account.dialect,
    ...("file" in account.token ? { tokenFile: account.token.file } : {}),
  };
}

async function perform(
  terminal: Terminal,
  command: FleetCommand,
  project: string,
  flags: AccountFlags & PlanFlags,
  connect: WithClient<ClientApi> | null,
): Promise<ExitCode> {
  switch (command) {
    case "validate":
      return (await import("./commands/validate.ts")).validate(terminal, project, { ...flags, format: "text" });
    case "plan":
      return (await import("./commands/plan.ts")).plan(terminal, project, { ...flags, detailedExitcode: true });
    case "drift":
      return (await import("./commands/drift.ts")).drift(terminal, project, flags);
    case "apply":
      if (connect === null) throw new Error("An apply needs a client that writes");
      return (await import("./commands/apply.ts")).apply(terminal, project, flags, connect);
  }
}

const MAX_TOKEN_FILE_BYTES: number = 1024 * 1024;

/** What the account's token is here; empty: there is none. */
export async function tokenTextOf({ environment }: Terminal, { token }: Pick<FleetAccount, "token">): Promise<string> {
  if ("env" in token) return variableOf(environment, token.env).trim();
  const text = await readRegular(token.file, MAX_TOKEN_FILE_BYTES).catch(() => "");
  return text.trim();
}

/** Tokens of other accounts, and what names another account, service or summary, are left out. */
function environmentOf(
  { environment }: Terminal,
  { token, account }: FleetAccount,
  hidden: ReadonlySet<string>,
): Terminal["environment"] {
  const own = Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !hidden.has(name) && !HIDDEN.test(name) && !SERVICE_TOKENS.has(name),
    ),
  );
  return {
    ...own,
    ...("env" in token ? { TENON_TOKEN: variableOf(environment, token.env) } : {}),
    ...(account === null ? {} : { TENON_ACCOUNT: account }),
  };
}

const HIDDEN = /^(?:OTEL_|TENON_(?!DEBUG$)|GITHUB_STEP_SUMMARY$)/;
const SERVICE_TOKENS: ReadonlySet<string> = new Set(SERVICES.map(({ tokenVariable }) => tokenVariable));

interface Piece {
  /** Whether it was printed, not said. */
  readonly isResult: boolean;
  text: string;
  /** Makes the same in fewer characters, if it is markdown; null: it is plain text. */
  readonly shorten: ((maxCharacters: number) => string) | null;
}

/** Of a shorter form, what was said has this part at most, where something was printed, too. */
const SAID_PART = 0.25;
/** The lines around a code block. */
const AROUND_BLOCK_CHARACTERS = 3;

/** Keeps what a command prints and says, and its JSON document. */
class Capture {
  readonly terminal: Terminal;
  readonly #markup: Ran["markup"];
  /** What was printed as results, and what was said: of markdown only the first is. */
  readonly #pieces: Piece[] = [];
  #document: string | null = null;
  #holdsToken = false;
  #token: string;
  readonly #problems: ReturnType<typeof diagnosticsJson>[number][] = [];

  constructor(
    outer: Terminal,
    about: {
      readonly environment: Terminal["environment"];
      readonly markup: Ran["markup"];
      readonly handlesSignals: boolean;
      readonly tokenPlace: string;
      readonly token: string;
    },
  ) {
    this.#markup = about.markup;
    const { interrupt } = outer;
    const whileHandlingSignals: typeof interrupt.whileHandlingSignals = (work) => work();
    this.#token = about.token;
    this.terminal = {
      ...outer,
      interrupt: about.handlesSignals ? interrupt : { ...interrupt, whileHandlingSignals },
      environment: about.environment,
      tokenPlace: escapeText(about.tokenPlace),
      isCaptured: true,
      canAsk: false,
      messages: { ...outer.messages, isTerminal: false },
      results: { ...outer.results, isTerminal: false },
      print: (text) => this.#keep(text, true),
      printMarkdown: (make) => void this.#pieces.push({ isResult: true, text: make(), shorten: make }),
      say: (text) => this.#keep(text, false),
      document: (parts, token) => {
        const text = [...parts].join("");
        this.#token = token ?? this.#token;
        if (token !== undefined && new Secret(token).isIn(text)) this.#holdsToken = true;
        else this.#document = text;
      },
      record: (diagnostics, sources) => {
        for (const problem of diagnosticsJson(diagnostics, sources)) this.#problems.push(problem);
      },
    };
  }

  #keep(text: string, isResult: boolean): void {
    const last = this.#pieces.at(-1);
    if (last?.isResult === isResult && last.shorten === null) last.text += text;
    else this.#pieces.push({ isResult, text, shorten: null });
  }

  /** Messages are plain text: in markdown they stand in code, as results do that quote others. */
  #text(): string {
    if (this.#markup === "plain") return this.#pieces.map(({ text }) => text).join("");
    return this.#pieces
      .map(({ isResult, text }) => (isResult ? text : `\n${codeBlock(text.trimEnd().split("\n"), "text")}\n\n`))
      .join("");
  }

  /** Forms of the text that have fewer characters, without the token: a part of it, that a cut leaves, would not be known for it. */
  #shorter(text: string, secret: Secret): string[] {
    if (this.#markup === "plain") return [];
    const pieces = this.#pieces.map((piece) => ({ ...piece, text: secret.hide(piece.text) }));
    return SHORTER_CHARACTERS.flatMap((most) => {
      const form = text.length <= most ? null : secret.hide(formWithin(pieces, most));
      return form === null || form.length > most ? [] : [form];
    });
  }

  outcome(command: FleetCommand, code: ExitCode): Ran {
    const parsed: Json = this.#document === null ? null : JSON.parse(this.#document);
    // A page, a document or a comment of many accounts is passed on to more people than an account's own output.
    const secret = new Secret(this.#token);
    const problems = secret.hideIn(this.#problems);
    const document = this.#document ?? (problems.length === 0 ? null : renderErrorsJson(problems, false));
    const [first, ...more] = problems.filter(({ severity }) => severity === "error");
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    const failed = first === undefined ? null : `error: ${first["summary"]}${others}`;
    const done = isJsonObject(parsed) ? HEADLINES[command](parsed) : null;
    const headline = (code === EXIT.done || code === EXIT.pending ? done : (failed ?? done)) ?? `ended with ${code}`;
    const whole = QUIET.has(headline) ? "" : this.#text();
    const text = secret.hide(whole);
    const [type, markup] = ["ran", this.#markup] as const;
    const forms = this.#shorter(whole, secret);
    const shorter = forms.length === 0 ? {} : { shorter: forms };
    if (!this.#holdsToken) return { type, code, headline, text, ...shorter, markup, document };
    // As with --json-into: what was found weighs less than that it cannot be kept.
    const worse = code === EXIT.done || code === EXIT.pending ? EXIT.error : code;
    return { type, code: worse, headline: TOKEN_IN_DOCUMENT, text, ...shorter, markup, document: null };
  }
}

/** What was printed is made anew in the room that is left; of what was said the first lines are shown. */
function formWithin(pieces: readonly Piece[], maxCharacters: number): string {
  const said = pieces.filter(({ isResult }) => !isResult);
  let results = pieces.length - said.length;
  const saidCharacters = Math.floor((maxCharacters * (results === 0 ? 1 : SAID_PART)) / Math.max(said.length, 1));
  const blocks = new Map(said.map((piece) => [piece, blockWithin(piece.text, saidCharacters)]));
  let left = [...blocks.values()].reduce((sum, block) => sum - block.length, maxCharacters);
  const texts = pieces.map((piece) => {
    const block = blocks.get(piece);
    if (block !== undefined) return block;
    const share = Math.floor(left / results);
    const isShort = piece.text.length <= share;
    const text = isShort ? piece.text : (piece.shorten?.(share) ?? blockWithin(piece.text, share));
    left -= text.length;
    results -= 1;
    return text;
  });
  return texts.join("");
}

function blockWithin(text: string, maxCharacters: number): string {
  return `\n${codeBlockWithin(text, maxCharacters - AROUND_BLOCK_CHARACTERS)}\n\n`;
}

const TOKEN_IN_DOCUMENT = "error: what was found holds the account's token: take it out, and revoke it";

/** Where the line says it all, the details are left out. */
const QUIET: ReadonlySet<string> = new Set(["no changes", "no drift", "valid"]);

type Headline = (document: JsonObject) => string | null;

const HEADLINES: Readonly<Record<FleetCommand, Headline>> = {
  validate: ({ valid }) => (valid === true ? "valid" : "invalid"),
  plan: ({ tenon }) => {
    if (!isJsonObject(tenon ?? null)) return null;
    const { summary, missing_consent: missing } = tenon as JsonObject;
    const counts = countsOf(summary, { add: "to add", change: "to change", destroy: "to destroy", blocked: "blocked" });
    const consents = Array.isArray(missing) && missing.length > 0 ? ["needs consent"] : [];
    return [...counts, ...consents].join(", ") || "no changes";
  },
  drift: ({ summary }) => {
    const words = { changed: "changed", missing: "missing", unexpected: "unexpected" };
    return countsOf(summary, words).join(", ") || "no drift";
  },
  apply: (document) => {
    const { resources, type } = document;
    if (type === "refused") return "refused";
    const done = countsOf(resources, { added: "added", changed: "changed", destroyed: "destroyed" });
    const words = { failed: "failed", skipped: "skipped", unknown: "unknown", blocked: "blocked" };
    return [...done, ...countsOf(document, words)].join(", ") || "no changes";
  },
};

/** `["2 to add", "1 blocked"]` */
function countsOf(counts: Json | undefined, words: Readonly<Record<string, string>>): string[] {
  if (!isJsonObject(counts ?? null)) return [];
  return Object.entries(words).flatMap(([name, word]) => {
    const count = (counts as JsonObject)[name];
    return typeof count === "number" && count > 0 ? [`${count} ${word}`] : [];
  });
}
