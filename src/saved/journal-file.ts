/** Reads a journal back, for an undo: checked line by line, as it may be cut, or anybody's. Nothing of it is trusted beyond what a plan then shows. */

import type { Diagnostic, Span } from "../model/diagnostic.ts";
import {
  JOURNAL_FORMAT_VERSION,
  type JournalEntry,
  type JournalledChange,
  type JournalledRun,
  type Youngest,
} from "../model/journal.ts";
import type { Kinds } from "../model/kind.ts";
import type { Kind, ObjectId, Values } from "../model/resource.ts";
import { groupBy, shellWord, shortened } from "../model/text.ts";
import { escapeText } from "../render/terminal.ts";
import { validatorOf } from "./read-json.ts";

const SCHEMA = "schemas/journal.schema.json";
/** A VPC of thousands of subnets is one request, which names them all. */
const MAX_LINE_CHARACTERS: number = 4 * 1024 * 1024;
const MAX_LINES = 4_000_000;
/** Segments of a path to a part of an object: kind, id, part. */
const MIN_NESTED_SEGMENTS = 3;
/** Lines of one run about a change, or about what went with one: to plan that so many domains come back takes almost a gigabyte. */
const MAX_RUN_CHANGES = 100_000;
/** Of the runs of a file, so many are listed. */
const MAX_LISTED_RUNS = 5;

export type JournalResult =
  | { readonly ok: true; readonly run: JournalledRun }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/**
 * @param file as it was given
 * @param started which run of the file: when it began, or its `run` where others began in the same millisecond; null: the only one
 * @returns the run, or a diagnostic at its line: `journal-cut`, `-damaged`, `-too-large`, `-foreign`, `-version` or `-several`
 * @throws if the schema that is shipped with the package cannot be read
 */
export async function parseJournal(
  text: string,
  kinds: Kinds,
  { file, started }: { readonly file: string; readonly started: string | null },
): Promise<JournalResult> {
  try {
    const validate = await validatorOf(SCHEMA);
    const runs: RunLines[] = [];
    const byId = new Map<string, RunLines>();
    for (const line of linesOf(text, file)) {
      const value = parseLine(line);
      const { run: id } = value;
      if (value.type === "run") {
        const begun = { id: id ?? null, lines: [], changes: 0 };
        runs.push(begun);
        if (id !== undefined && byId.has(id)) throw damaged(line.span, "another run in the file has the same `run`");
        if (id !== undefined) byId.set(id, begun);
      }
      const run = id === undefined ? runs.at(-1) : byId.get(id);
      if (run === undefined) throw foreign(line.span);
      if (value.type === "change" || value.type === "content") run.changes += 1;
      if (run.changes > MAX_RUN_CHANGES) throw tooManyChanges(line.span);
      if (value.type === "run" && value.format_version !== JOURNAL_FORMAT_VERSION) throw otherVersion(line.span, value);
      if (!validate(value)) {
        const [error] = validate.errors ?? [];
        throw damaged(line.span, `${error?.instancePath || "/"} ${error?.message ?? "is not valid"}`);
      }
      run.lines.push({ entry: value, span: line.span });
    }
    if (runs.length === 0) throw empty(file);
    return { ok: true, run: readRun(chooseRun(runs, started).lines, file, kinds) };
  } catch (error) {
    if (error instanceof Objection) return { ok: false, diagnostic: error.diagnostic };
    throw error;
  }
}

/** The same from the entries of a run that this process has written. @param file for messages */
export function runOfEntries(entries: readonly JournalEntry[], file: string, kinds: Kinds): JournalResult {
  try {
    const span = { file, start: 0, end: 0 };
    return {
      ok: true,
      run: readRun(
        entries.map((entry) => ({ entry, span })),
        file,
        kinds,
      ),
    };
  } catch (error) {
    if (error instanceof Objection) return { ok: false, diagnostic: error.diagnostic };
    throw error;
  }
}

interface Line {
  readonly entry: JournalEntry;
  readonly span: Span;
}

/** Of a run, also where those of others stand between them. */
interface RunLines {
  readonly id: string | null;
  readonly lines: Line[];
  changes: number;
}

interface RawLine {
  readonly text: string;
  readonly span: Span;
  /** Nothing ends it: it is the last, and was not written or copied whole. */
  readonly isCut: boolean;
}

function* linesOf(text: string, file: string): Generator<RawLine> {
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const span = { file, start, end };
    count += 1;
    if (end - start > MAX_LINE_CHARACTERS) throw damaged(span, `it has ${end - start} characters`);
    if (count > MAX_LINES) throw damaged(span, `there are more than ${MAX_LINES} lines`);
    yield { text: text.slice(start, end), span, isCut: newline === -1 };
    start = end + 1;
  }
}

function parseLine({ text, span, isCut }: RawLine): JournalEntry & { readonly run?: string } {
  if (isCut) throw cut(span);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "type" in value) return value as ReturnType<typeof parseLine>;
  } catch {
    throw damaged(span, "it is no JSON");
  }
  throw damaged(span, "it has no `type`");
}

function chooseRun(runs: readonly RunLines[], wanted: string | null): RunLines {
  const [only, second] = runs;
  if (wanted === null && only !== undefined && second === undefined) return only;
  if (wanted === null) throw several("the journal holds several runs", "It has those that began at", runs, startOf);
  const fitting = runs.filter((run) => run.id === wanted || startOf(run) === wanted);
  const [found, other] = fitting;
  if (found === undefined) throw several("the journal has no such run", "It has those that began at", runs, startOf);
  if (other === undefined) return found;
  throw several("the journal holds several runs", `Several began at ${wanted}:`, fitting, ({ id }) => id ?? wanted);
}

function startOf({ lines: [first] }: RunLines): string {
  return first?.entry.type === "run" ? first.entry.started : "";
}

// One run, from its lines: what was begun, what came of it, and what it made.

interface StepState {
  readonly changes: readonly string[];
  /** A request of it that writes was sent, or about to be. */
  isBegun: boolean;
  makes: boolean;
  isFromAnother: boolean;
  /** The body of its POST or PUT. */
  sent: Values | null;
  outcome: "done" | "failed" | "skipped" | "unknown" | null;
  id: ObjectId | null;
  gaveWay: boolean;
  parts: Readonly<Record<string, ObjectId>>;
}

interface Known {
  readonly line: Extract<JournalEntry, { type: "change" }>;
  readonly span: Span;
  readonly contents: JournalledChange["contents"][number][];
}

function readRun(lines: readonly Line[], file: string, kinds: Kinds): JournalledRun {
  const [first] = lines;
  if (first?.entry.type !== "run") throw empty(file);
  const known = new Map<string, Known>();
  const steps = new Map<string, StepState>();
  const stepOf = (name: string, changes: readonly string[]): StepState => {
    const state = steps.get(name) ?? {
      ...{ changes, isBegun: false, makes: false, isFromAnother: false, sent: null },
      ...{ outcome: null, id: null, gaveWay: false, parts: {} },
    };
    steps.set(name, state);
    return state;
  };
  let [hasBegun, isEnded] = [false, false];
  let contents = 0;
  let youngest: Youngest = {};
  for (const { entry, span } of lines.slice(1)) {
    if (isEnded) throw damaged(span, "the run has ended before it");
    switch (entry.type) {
      case "run":
        break;
      case "change":
        if (hasBegun) throw damaged(span, "it stands after `begin`");
        checkChange(entry, known, span);
        for (const values of [entry.before, entry.after]) checkType(entry.kind, values, kinds, span);
        known.set(entry.key, { line: entry, span, contents: [] });
        break;
      case "content": {
        const whole = known.get(entry.of);
        if (hasBegun || whole?.line.action !== "delete")
          throw damaged(span, `no line before it deletes ${quoted(entry.of)}`);
        checkType(entry.kind, entry.before, kinds, span);
        whole.contents.push(entry.before);
        contents += 1;
        break;
      }
      case "begin":
        if (hasBegun || entry.changes !== known.size || entry.contents !== contents)
          throw damaged(span, "lines before it are missing, or are too many");
        checkRoots(known, kinds);
        youngest = entry.youngest ?? {};
        hasBegun = true;
        break;
      case "intent": {
        if (!hasBegun) throw damaged(span, "it stands before `begin`");
        const state = stepOf(entry.step, entry.changes);
        const isOwn = entry.reason === "step" || entry.reason === "repeat";
        if (!isOwn || entry.method === "GET" || entry.method === "wait") break;
        // What is only waited for may stay as it is, and then no line tells of it.
        const unknown = entry.changes.find((key) => !known.has(key));
        if (unknown !== undefined) throw damaged(span, `it names ${quoted(unknown)}, of which no line tells`);
        state.isBegun = true;
        state.makes ||= entry.method === "POST";
        state.isFromAnother ||= entry.method === "POST" && entry.path.length >= MIN_NESTED_SEGMENTS;
        if (entry.method === "POST" || entry.method === "PUT") state.sent = entry.body;
        break;
      }
      case "outcome": {
        if (!hasBegun) throw damaged(span, "it stands before `begin`");
        const state = stepOf(entry.step, entry.changes);
        // Only a run that gives way names a second object for what it has made.
        state.gaveWay ||= state.id !== null && entry.id !== state.id;
        state.outcome = entry.outcome;
        state.id = entry.id;
        state.parts = entry.parts ?? {};
        break;
      }
      case "end":
        isEnded = true;
        break;
    }
  }
  const { started, host, account, environment, owner, goal } = first.entry;
  const about = { file, span: first.span, started, host, account, environment, owner, goal };
  return { ...about, isEnded, youngest, changes: changesOf(known, steps, isEnded) };
}

function checkChange(
  { key, action, before, after }: Known["line"],
  known: ReadonlyMap<string, Known>,
  span: Span,
): void {
  if (known.has(key)) throw damaged(span, `${quoted(key)} is there twice`);
  const needs = { create: [false, true], delete: [true, false], update: [true, true], replace: [true, true] } as const;
  const [hasBefore, hasAfter] = action === "no-op" ? [true, true] : needs[action];
  if ((before !== null) !== hasBefore || (after !== null) !== hasAfter)
    throw damaged(span, `its values do not fit the action \`${action}\``);
}

function checkType(kind: Kind, values: Values | null, kinds: Kinds, span: Span): void {
  const facts = kinds.of(kind);
  if (values === null || facts.isKnown?.(values) !== false) return;
  throw damaged(span, `this version of tenon knows no ${facts.words[0]} of such a type`);
}

/** What is within an object, and of a kind that is, stands beside one line of the object itself. */
function checkRoots(known: ReadonlyMap<string, Known>, kinds: Kinds): void {
  const roots = new Set<string>();
  for (const { line, span } of known.values()) {
    if (!kinds.isRoot(line.kind)) continue;
    if (kinds.rootAt(line.root)?.kind !== line.kind) throw damaged(span, `${quoted(line.root)} is no ${line.kind}`);
    if (roots.has(line.root)) throw damaged(span, `${quoted(line.root)} is there twice`);
    roots.add(line.root);
  }
  for (const { line, span } of known.values()) {
    if (!roots.has(line.root)) throw damaged(span, `no line tells of ${quoted(line.root)}, which it is in`);
    if (!kinds.isRoot(line.kind) && kinds.contentsAt(line.root)?.kind !== line.kind)
      throw damaged(span, `a ${line.kind} is not in ${quoted(line.root)}`);
  }
}

function changesOf(
  known: ReadonlyMap<string, Known>,
  steps: ReadonlyMap<string, StepState>,
  isEnded: boolean,
): JournalledChange[] {
  const begun = new Set<string>();
  const undone = new Set<string>();
  const made = new Map<string, ObjectId>();
  const unseen = new Set<string>();
  const yielded = new Set<string>();
  const requests = groupBy(
    [...steps.values()].filter(({ sent, changes }) => sent !== null && changes.length === 1),
    ({ changes }) => changes[0],
  );
  const copies = new Set<string>();
  for (const { changes, isBegun, makes, isFromAnother, outcome, id, gaveWay, parts } of steps.values()) {
    for (const key of changes) {
      if (isBegun && outcome !== "failed" && outcome !== "skipped") {
        begun.add(key);
        if (makes && !gaveWay) unseen.add(key);
      }
      if (outcome !== "done") undone.add(key);
      if (gaveWay) yielded.add(key);
    }
    const [first] = changes;
    if (isFromAnother && first !== undefined) copies.add(first);
    if (gaveWay) continue;
    if (makes && id !== null && first !== undefined) made.set(first, id);
    for (const [key, part] of Object.entries(parts)) made.set(key, part);
  }
  return [...known.values()].map(({ line, span, contents }) => {
    const { key, kind, root, action, id, before, after } = line;
    const madeId = made.get(key) ?? null;
    const seen = { isDone: isEnded && !undone.has(key), madeId, mayBeMade: madeId === null && unseen.has(key) };
    const sent = (requests.get(key) ?? []).flatMap(({ sent: body }) => (body === null ? [] : [body]));
    const state = { isBegun: begun.has(key), ...seen, gaveWay: yielded.has(key), isFromAnother: copies.has(key), sent };
    return { key, kind, root, action, id, before, after, contents, span, ...state };
  });
}

// What is wrong with a journal.

class Objection extends Error {
  readonly diagnostic: Diagnostic;

  constructor(diagnostic: Omit<Diagnostic, "severity">) {
    super(diagnostic.summary);
    this.diagnostic = { ...diagnostic, severity: "error" };
  }
}

/** Of a text that stands in a message. */
const MAX_QUOTED_CHARACTERS = 200;

function quoted(text: string): string {
  return escapeText(shortened(text, MAX_QUOTED_CHARACTERS));
}

function cut(span: Span): Objection {
  return new Objection({
    code: "journal-cut",
    summary: "the journal is cut: its last line is not whole",
    detail: "It was not written or copied to the end, so lines after this one may be missing, too. Nothing was done.",
    fix: "Get the whole file. If the run was killed as it wrote this line, its request was not sent: remove the line.",
    span,
  });
}

/** @param what a clause about the line */
function damaged(span: Span, what: string): Objection {
  return new Objection({
    code: "journal-damaged",
    summary: "the journal is damaged: the line is not what tenon apply writes there",
    detail: `Of this line: ${what}. Nothing was done.`,
    fix: "Get the journal as the apply wrote it.",
    span,
  });
}

function tooManyChanges(span: Span): Objection {
  return new Objection({
    code: "journal-too-large",
    summary: `the journal holds more than ${MAX_RUN_CHANGES} changes of one run`,
    detail: `Tenon undoes runs of at most ${MAX_RUN_CHANGES}. Nothing was done.`,
    fix: "Change the manifests back, and apply that.",
    span,
  });
}

function empty(file: string): Objection {
  return new Objection({
    code: "journal-foreign",
    summary: `the file is no journal: ${escapeText(file)} has no line of a run`,
    detail: "A journal begins with a line of the type `run`.",
    fix: "Name a file below .tenon/journal, or the one of `tenon apply --journal FILE`.",
  });
}

function foreign(span: Span): Objection {
  return new Objection({
    code: "journal-foreign",
    summary: "the file is no journal, or its beginning is missing",
    detail: "A journal begins with a line of the type `run`.",
    fix: "Name a file below .tenon/journal, or the one of `tenon apply --journal FILE`.",
    span,
  });
}

function otherVersion(span: Span, { format_version, version }: Extract<JournalEntry, { type: "run" }>): Objection {
  const which = format_version === undefined ? "no format version" : `format version ${JSON.stringify(format_version)}`;
  return new Objection({
    code: "journal-version",
    summary: `the journal has ${quoted(which)}; this version of tenon reads ${JOURNAL_FORMAT_VERSION}`,
    detail: `It was written by tenon ${quoted(String(version))}, and may not say all that an undo needs to know.`,
    fix: "Undo it with the version that wrote it, if that one has tenon undo; or change the manifest back and apply it.",
    span,
  });
}

function several(
  summary: string,
  lead: string,
  runs: readonly RunLines[],
  nameOf: (run: RunLines) => string,
): Objection {
  const shown = runs.slice(-MAX_LISTED_RUNS).map(nameOf);
  const more = runs.length > shown.length ? `, and ${runs.length - shown.length} before them` : "";
  const span = runs.at(-1)?.lines[0]?.span;
  return new Objection({
    code: "journal-several",
    summary,
    detail: `${lead} ${shown.join(", ")}${more}.`,
    fix: `Say which is meant: --run ${shellWord(shown.at(-1) ?? "")}.`,
    ...(span === undefined ? {} : { span }),
  });
}
