/** What an import took and left out, in words. */

import { appendFile } from "node:fs/promises";
import type { ImportResult } from "../import/index.ts";
import {
  type Change,
  type Diagnostic,
  findUnreviewed,
  type Plan,
  type Report,
  Sources,
  type Span,
  summarise,
  systemClock,
} from "../index.ts";
import { jsonText } from "../model/text.ts";
import { isVerified } from "../model/verification.ts";
import {
  renderGuardsText,
  renderPlanMarkdown,
  renderPlanText,
  renderReportMarkdown,
  renderUnreviewedMarkdown,
} from "../render/index.ts";
import { renderPlanJsonParts } from "../render/plan-json.ts";
import { renderUnreviewedText } from "../render/plan-text.ts";
import {
  diagnosticsJson,
  renderErrorsJson,
  renderPlanEventJson,
  renderRefusalJson,
  renderReportJson,
} from "../render/report.ts";
import { escapeText, usableWidth, wrap } from "../render/terminal.ts";
import { renderVerificationText } from "../render/verification.ts";
import type { Verification, VerificationServers } from "../verify/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { FailOn, Format, VerifyFlags } from "./flags.ts";
import { asDiagnostic, type CommandError, Progress, sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

type Imported = Extract<ImportResult, { ok: true }>;
type SkippedRecord = Imported["skipped"][number];

/** Why nobody misses a record; null: it is a loss. */
type NotMissed = (record: SkippedRecord) => "service" | "signing" | null;

/** Signatures are many, and all of them go: so many groups of lines of a type are named. */
const MAX_SIGNING_RANGES = 10;
/** So many lines in a row are named by the first and the last. */
const MIN_RANGE_LINES = 3;
const INDENT_COLUMNS = 2;

/** What did not come along, with its places: what nobody misses by file, and then, one by one, what is lost. */
export function skippedLines(
  { skipped, remarks, sources }: Pick<Imported, "skipped" | "remarks" | "sources">,
  notMissed: NotMissed,
  width: number,
): string {
  const service = skipped.filter((one) => notMissed(one) === "service");
  const signing = skipped.filter((one) => notMissed(one) === "signing");
  const lost = skipped.filter((one) => notMissed(one) === null);
  const sentences = [
    ...remarkLines(remarks, sources),
    ...typeLines(service, sources, Number.POSITIVE_INFINITY, ["belongs", "belong", "to the old service"]),
    ...typeLines(signing, sources, MAX_SIGNING_RANGES, ["comes", "come", "from the old service's signing"]),
    ...lost.map((one) => lossLine(one, sources)),
  ];
  return sentences.map((text) => paragraph(text, width)).join("");
}

/** `FILE: SOA (line 4) and NS (lines 7, 8) belong to the old service and are left out` */
function typeLines(
  skipped: readonly SkippedRecord[],
  sources: Sources,
  most: number,
  [one, several, why]: readonly [string, string, string],
): string[] {
  const byFile = grouped(skipped, ({ span }) => span.file);
  return [...byFile].map(([file, list]) => {
    const byType = [...grouped(list, ({ type }) => type)];
    const types = byType.map(([type, those]) => {
      const count = those.length > most ? `${those.length} ` : "";
      return `${count}${type} (${linesOf(those, sources, most)})`;
    });
    const isOne = list.length === 1;
    return `${file}: ${joined(types)} ${isOne ? one : several} ${why} and ${isOne ? "is" : "are"} left out`;
  });
}

/** Alike ones of a file in one line. */
function remarkLines(remarks: Imported["remarks"], sources: Sources): string[] {
  const alike = grouped(remarks, ({ file, what, detail }) => JSON.stringify([file, what, detail]));
  return [...alike.values()].map((list) => {
    const { file = "", what = "", detail = "" } = list[0] ?? {};
    const placed = list.flatMap(({ span }) => (span === null || what === "" ? [] : [{ span }]));
    const place = placed.length === 0 ? "" : ` (${linesOf(placed, sources, Number.POSITIVE_INFINITY)})`;
    return what === "" ? `${file} ${detail}` : `${file}: ${what}${place}: ${detail}`;
  });
}

function lossLine({ type, name, detail, span }: SkippedRecord, sources: Sources): string {
  const { line } = sources.position(span.file, span.start);
  return `${span.file}:${line}: ${type} ${name === "" ? "@" : name}: not supported: ${detail}`;
}

/** `line 4`, `lines 7, 8, 10-20` */
function linesOf(placed: readonly { readonly span: Span }[], sources: Sources, most: number): string {
  const numbers = placed.map(({ span }) => sources.position(span.file, span.start).line);
  const lines = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges = rangesOf(lines);
  const more = ranges.length > most ? ", …" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${ranges.slice(0, most).join(", ")}${more}`;
}

/** @param lines ascending, each once */
function rangesOf(lines: readonly number[]): string[] {
  const ranges: string[] = [];
  let start = 0;
  for (let index = 1; index <= lines.length; index += 1) {
    if (lines[index] === (lines[index - 1] ?? 0) + 1) continue;
    const run = lines.slice(start, index);
    if (run.length >= MIN_RANGE_LINES) ranges.push(`${run[0]}-${run.at(-1)}`);
    else for (const line of run) ranges.push(String(line));
    start = index;
  }
  return ranges;
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** In the order in which keys are met first. */
function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** What follows the first line is indented. */
function paragraph(text: string, width: number): string {
  const lines = wrap(escapeText(text), usableWidth(width), INDENT_COLUMNS);
  return `${lines.join("\n").slice(INDENT_COLUMNS)}\n`;
}

/** The version of schemas/import.schema.json. */
const IMPORT_FORMAT_VERSION = 1;

/** The same for programs: one document, newline-terminated. */
export function importJson(imported: Imported, out: string, notMissed: NotMissed): string {
  const leftOut = imported.skipped.map((record) => {
    const { type, name, detail, span } = record;
    const { line } = imported.sources.position(span.file, span.start);
    return { file: span.file, line, type, name, reason: notMissed(record) ?? "unsupported", detail };
  });
  const json = {
    format_version: IMPORT_FORMAT_VERSION,
    out,
    files: imported.files.map(({ file }) => file),
    imported: Object.fromEntries(imported.counts.map(({ list, count }) => [list, count])),
    left_out: leftOut,
  };
  return `${jsonText(json, 2)}\n`;
}

export function importSummary(imported: Imported, out: string): string {
  const { skipped, files, counts } = imported;
  const parts = counts.flatMap(({ count, words: [one, many] }) => (count === 0 ? [] : [counted(count, one, many)]));
  const left =
    skipped.length === 0
      ? ""
      : ` ${counted(skipped.length, "record was", "records were")} left out; the messages say which.`;
  const place = escapeText(out);
  return [
    `Imported ${parts.join(", ")} into ${place} (${counted(files.length, "file", "files")}).${left}\n`,
    `Next: tenon plan ${place}\n`,
  ].join("");
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

// Shows a plan in the format that was asked for.

export function showPlan(terminal: Terminal, plan: Plan, format: Format): void {
  for (const text of planText(terminal, plan, format)) terminal.print(text);
}

function planText(terminal: Terminal, plan: Plan, format: Format): Iterable<string> {
  switch (format) {
    case "text":
      return [renderPlanText(plan, terminal.results)];
    case "json":
      return renderPlanJsonParts(plan);
    case "markdown":
      return [renderPlanMarkdown(plan)];
  }
}

// Decides whether a plan may be carried out, and prints why not: on stdout, on stderr and in the step's summary.

/**
 * - `unreviewed`: it is not within the reviewed plan; `extra` is what that does not show.
 * - `guarded`: consent is missing, or there can be none.
 * - `blocked`: something is, and was not to be.
 * - `idle`: nothing is to be done; something may be blocked.
 */
type Verdict =
  | { readonly type: "go" }
  | { readonly type: "unreviewed"; readonly extra: readonly Change[] }
  | { readonly type: "guarded" }
  | { readonly type: "blocked" }
  | { readonly type: "idle"; readonly blocked: number };

/** @param reviewed the plan that bounds this one; null: there is none */
export function judgeRun(plan: Plan, reviewed: Plan | null, failOn: readonly FailOn[]): Verdict {
  const extra = reviewed === null ? [] : findUnreviewed(plan, reviewed);
  if (extra.length > 0) return { type: "unreviewed", extra };
  if (plan.guards.some((guard) => guard.consent !== "given")) return { type: "guarded" };
  const { add, change, destroy, blocked } = summarise(plan.changes);
  if (blocked > 0 && failOn.includes("blocked")) return { type: "blocked" };
  return add + change + destroy > 0 ? { type: "go" } : { type: "idle", blocked };
}

/** Shows the plan. @returns the exit code if it ends here; null if it may be carried out */
export async function printRunVerdict(
  terminal: Terminal,
  plan: Plan,
  verdict: Verdict,
  { format, yes }: { readonly format: Format; readonly yes?: boolean },
): Promise<ExitCode | null> {
  if (format === "text") terminal.print(renderPlanText(plan, terminal.results));
  if (format === "json") terminal.print(renderPlanEventJson(plan, Date.now()));
  switch (verdict.type) {
    case "go":
      // Whoever is asked must have seen it; the report is what goes to stdout.
      if (format !== "text" && yes !== true) terminal.say(renderPlanText(plan, terminal.messages));
      return null;
    case "unreviewed":
      sayUnreviewed(terminal, verdict.extra);
      if (format === "json") terminal.print(renderRefusalJson(plan, "unreviewed", verdict.extra));
      await printMarkdown(terminal, format, () => renderUnreviewedMarkdown(verdict.extra));
      return EXIT.unreviewed;
    case "guarded":
      if (format === "json") terminal.say(renderGuardsText(plan, terminal.messages));
      sayRefused(terminal, "refused; nothing was done");
      if (format === "json") terminal.print(renderRefusalJson(plan, "consent"));
      await printMarkdown(terminal, format, () => renderPlanMarkdown(plan));
      return EXIT.refused;
    case "blocked":
      sayBlocked(terminal, plan);
      if (format === "json") terminal.print(renderRefusalJson(plan, "blocked"));
      await printMarkdown(terminal, format, () => renderPlanMarkdown(plan));
      return EXIT.refused;
    case "idle":
      // Only then is there a report without a run: so that what reads reports finds one.
      if (format === "json") terminal.print(renderReportJson(idleReport(plan), plan));
      await printMarkdown(terminal, format, () => renderReportMarkdown(idleReport(plan), plan, null));
      return verdict.blocked > 0 ? EXIT.partial : EXIT.done;
  }
}

/** Prints for people: programs read the last line of the stream. */
function sayRefused(terminal: Terminal, summary: string): void {
  terminal.say(`error: ${summary}\n`);
}

function sayUnreviewed(terminal: Terminal, changes: readonly Change[]): void {
  sayRefused(terminal, "this plan is not within the reviewed one; nothing was done. It does not show:");
  terminal.say(renderUnreviewedText(changes));
  terminal.say("  Review a new plan: tenon plan --out FILE\n");
}

function sayBlocked(terminal: Terminal, plan: Plan): void {
  sayRefused(terminal, "changes are blocked; nothing was done:");
  for (const { key, blocked } of plan.changes) if (blocked !== null) terminal.say(`  ${escapeText(key)}\n`);
}

function idleReport(plan: Plan): Report {
  const blocked = plan.changes.filter((change) => change.blocked !== null);
  return {
    steps: [],
    changes: blocked.map(({ key }) => ({ key, outcome: "blocked" })),
    added: 0,
    changed: 0,
    destroyed: 0,
    failed: 0,
    skipped: 0,
    unknown: 0,
    blocked: blocked.length,
    duplicates: 0,
    requestCount: 0,
    interrupted: false,
    notices: [],
  };
}

// The summary of a GitHub Actions step: markdown that a job shows on its page, appended to the file it names.

const VARIABLE = "GITHUB_STEP_SUMMARY";

/**
 * Does nothing where there is no such file. A failure is a warning: what was done is done.
 * @param markdown makes it, newline-terminated, if there is such a file; an empty line keeps it apart from what the step says before and after
 */
export async function writeGithubSummary({ environment, say }: Terminal, markdown: () => string): Promise<void> {
  const file = environment[VARIABLE] ?? "";
  if (file === "") return;
  try {
    await appendFile(file, `${markdown()}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(`warning: the summary of the step cannot be written: ${escapeText(why)}\n`);
  }
}

/** Prints to stdout if that is the format, and to the step summary if there is one. */
export async function printMarkdown(terminal: Terminal, format: Format, markdown: () => string): Promise<void> {
  if (format === "markdown") terminal.print(markdown());
  await writeGithubSummary(terminal, markdown);
}

// Asking real nameservers, as `apply --verify` and `zone check --live` share it: what is asked of whom, progress, what is said at the end.

/** The service takes up to about 100 s until what was changed is served (OBSERVED: Zone file). */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** A JSON event for every answer would be the loudest thing in the log. */
const EVENT_MILLISECONDS = 1_000;

type PreparedVerificationServers =
  | { readonly ok: true; readonly servers: VerificationServers | null }
  | { readonly ok: false; readonly code: ExitCode };

/**
 * Says what is wrong with the flags, before anything is done.
 * @param wanted the flag that asks for it, and whether it was given; without it there is nothing to prepare
 */
export async function prepareVerificationServers(
  terminal: Terminal,
  flags: VerifyFlags,
  wanted: { readonly flag: string; readonly given: boolean },
): Promise<PreparedVerificationServers> {
  const { nameserver: nameservers = [], delegation = false, parent: parents = [], verifyTimeout } = flags;
  if (!wanted.given) {
    const isIdle = nameservers.length + parents.length === 0 && !delegation && verifyTimeout === undefined;
    if (isIdle) return { ok: true, servers: null };
    const summary = `nameservers are asked only with ${wanted.flag}`;
    sayError(terminal, { code: "conflicting-options", summary, fix: `Give ${wanted.flag}, too.` });
    return { ok: false, code: EXIT.error };
  }
  if (parents.length > 0 && !delegation) {
    const fix = "Give --delegation, too.";
    sayError(terminal, { code: "conflicting-options", summary: "--parent is for --delegation", fix });
    return { ok: false, code: EXIT.error };
  }
  const tools = await import("../verify/index.ts");
  const found = await tools.findVerificationServers({ nameservers, delegation, parents });
  if (found.ok) return found;
  sayDiagnostics(terminal, [found.diagnostic]);
  return { ok: false, code: EXIT.error };
}

type Tools = typeof import("../verify/index.ts");
type Watch = Parameters<Tools["verifyDeclared"]>[2];

/**
 * Runs one verification with its progress: a line for people, and an event now and then for programs.
 * @param events whether what is printed is a stream of events
 */
export async function watched(
  terminal: Terminal,
  events: boolean,
  timeoutSeconds: number,
  verify: (tools: Tools, watch: Watch) => Promise<Verification>,
): Promise<Verification> {
  const progress = new Progress(terminal);
  progress.show("Asking nameservers");
  let reportedAt = 0;
  try {
    const tools = await import("../verify/index.ts");
    const watch: Watch = {
      clock: systemClock,
      timeoutSeconds,
      signal: terminal.interrupt.first,
      progress: ({ there, total }) => {
        progress.show(`Asking nameservers: ${there} of ${total} answers are there`);
        const now = systemClock.now();
        if (!events || now - reportedAt < EVENT_MILLISECONDS) return;
        reportedAt = now;
        const event = { type: "verify-progress", time: new Date(now).toISOString(), there, total };
        terminal.print(`${jsonText(event)}\n`);
      },
    };
    return await terminal.interrupt.heed(() => verify(tools, watch));
  } finally {
    progress.end();
  }
}

/** After an apply. */
export function timeoutOf({ verifyTimeout }: VerifyFlags): number {
  return verifyTimeout ?? DEFAULT_TIMEOUT_SECONDS;
}

export function printVerification(terminal: Terminal, verification: Verification): void {
  terminal.print(renderVerificationText(verification, terminal.results));
}

/** @param otherwise the code for what is not as it must be */
export function verifiedCode(terminal: Terminal, verification: Verification, otherwise: ExitCode): ExitCode {
  if (isVerified(verification)) return EXIT.done;
  return (verification.interrupted ? terminal.interrupt.code() : null) ?? otherwise;
}

// `--format json`: stdout holds JSON whatever happens, so that a program never has to read what is said on stderr.

type Problems = ReturnType<typeof diagnosticsJson>;

/** The last line of a stream: no line follows one of these. */
const LAST_LINE = /"type":"(?:report|refused)"/;

/** No other message reports an interrupt. */
const ENDED: Diagnostic = {
  code: "interrupted",
  severity: "error",
  summary: "the command ended before it had a result",
  detail: "It was interrupted, or stopped.",
};

/**
 * Runs a command. If it ends without the document that it prints (of a stream: without its last line), the errors that it has reported are
 * printed in its place, in the shape of `validate --format json`; of a stream as a last line of the type `error`.
 */
export async function withJsonErrors(
  terminal: Terminal,
  { format, stream }: { readonly format: Format; readonly stream: boolean },
  work: (terminal: Terminal) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (format !== "json") return work(terminal);
  const problems: Problems[number][] = [];
  let isComplete = false;
  const print = (diagnostics: readonly Problems[number][]): void =>
    terminal.print(renderErrorsJson(diagnostics, stream));
  const inner: Terminal = {
    ...terminal,
    print: (text) => {
      if (!stream || LAST_LINE.test(text)) isComplete = true;
      terminal.print(text);
    },
    record: (diagnostics, sources) => {
      for (const problem of diagnosticsJson(diagnostics, sources)) problems.push(problem);
    },
  };
  let code: ExitCode;
  try {
    code = await work(inner);
  } catch (error) {
    if (!isComplete) print([...problems, ...diagnosticsJson([bugOf(error)], new Sources())]);
    throw error;
  }
  if (isComplete || code === EXIT.done) return code;
  print(problems.some(isError) ? problems : [...problems, ...diagnosticsJson([ENDED], new Sources())]);
  return code;
}

/** Prints the error of a command that could not even begin. */
export function printError(terminal: Terminal, error: CommandError, stream: boolean): void {
  terminal.print(renderErrorsJson(diagnosticsJson([asDiagnostic(error)], new Sources()), stream));
}

/** It is thrown all the same: stderr says where it comes from. */
function bugOf(error: unknown): Diagnostic {
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return asDiagnostic({
    code: "internal-error",
    summary: `an error of Tenon: ${message}`,
    fix: "TENON_DEBUG=1 shows where it comes from: please report it.",
  });
}

function isError({ severity }: Problems[number]): boolean {
  return severity === "error";
}
