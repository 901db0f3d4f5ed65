/**
 * Builds the desired state from validated, expanded entries, and makes the checks that need several entries: duplicates, moves, removals.
 */

import { isDate } from "../model/annotations.ts";
import type { Consent, ConsentRule, Declared, Desired, IgnorePattern, Removed } from "../model/desired.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { mapKey } from "../model/map-key.ts";
import { isJsonObject, type Json, type JsonObject, type ObjectId, type UnitName } from "../model/resource.ts";
import { isPlain, shortened } from "../model/text.ts";
import type { LoadContext, WithEntry } from "../model/unit.ts";
import { MAX_CONSENTS, tooLongIgnore } from "./limits.ts";
import type { Places } from "./positions.ts";
import type { UnitForm } from "./schema.ts";

interface AssembleInput {
  readonly root: JsonObject;
  readonly trees: readonly JsonObject[];
  /** Entries of a section, expanded. One may lose its records when the next is asked for. */
  entries(section: string): Iterable<JsonObject> | AsyncIterable<JsonObject>;
}

export async function assemble(
  input: AssembleInput,
  units: readonly UnitForm[],
  context: AssembleContext,
): Promise<{ desired: Desired; loaded: Loaded[] }> {
  const owner = textOrNull(input.root["owner"]);
  const loaded: Loaded[] = [];
  for (const unit of units) {
    for (const one of await loadUnit(unit, input.entries(unit.spec.section), owner, context)) loaded.push(one);
  }
  checkDuplicates(loaded, context);
  checkMoves(loaded, context);
  const removed = loadRemoved(input.trees, units, loaded, context);
  const declared = loaded.map((one) => one.declared);
  return {
    desired: {
      owner,
      account: textOrNull(input.root["account"]),
      declared,
      removed,
      allow: loadAllow(input.root, context),
      lintOff: lintOff(input.root),
      lintOffSpans: lintOffSpans(input.root, context),
    },
    loaded,
  };
}

async function loadUnit(
  unit: UnitForm,
  entries: Iterable<JsonObject> | AsyncIterable<JsonObject>,
  owner: string | null,
  context: AssembleContext,
): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  const unitContext: LoadContext = {
    owner,
    allowedSeconds: context.allowedSeconds,
    span: (object, key) => context.places.span(object, key),
    report: (diagnostic) => context.report(diagnostic),
  };
  for await (const entry of entries) {
    const lacks = context.incomplete.has(entry);
    const declared = unit.spec.load(entry, {
      ...unitContext,
      report: (diagnostic) => {
        if (!lacks || diagnostic.code !== "missing-key") context.report(diagnostic);
      },
    });
    if (declared !== null) loaded.push({ declared, entry });
  }
  unit.spec.check?.(loaded, unitContext);
  return loaded;
}

function checkDuplicates(loaded: readonly Loaded[], context: AssembleContext): void {
  const first = new Map<string, Declared>();
  for (const { declared, entry } of loaded) {
    const known = first.get(declared.address);
    if (known === undefined) {
      first.set(declared.address, declared);
      continue;
    }
    const differ = declared.id !== null && known.id !== null && declared.id !== known.id;
    const why = differ
      ? " Addresses are made of names and labels, not of ids, so of one label one object can be declared."
      : "";
    context.report({
      code: "duplicate-entry",
      severity: "error",
      summary: `\`${declared.key}\` is declared twice`,
      detail: `${declared.address} may have one entry in all files of the project.${why}`,
      fix: differ
        ? "Rename one of the two objects, and declare it under its new label."
        : `Join the two, or remove one.${recordSetAdvice(declared, known, entry)}`,
      span: declared.span,
      related: [{ message: "first here", span: known.span }],
      address: declared.address,
    });
  }
}

/** Several people put records into one domain, each in a file of their own. */
function recordSetAdvice({ span }: Declared, known: Declared, entry: JsonObject): string {
  if (!Object.hasOwn(entry, "domain") || span.file === known.span.file) return "";
  return " Records that several files bring to one domain can be record sets: `record_sets: { web: […] }` in each file, and `use: [web, mail]` in the one entry of the domain.";
}

/** `moved_from` must name an object that is no longer declared, and only one entry may name it: anything else is ambiguous. */
function checkMoves(loaded: readonly Loaded[], context: AssembleContext): void {
  const byKey = new Map<string, Declared>(loaded.map(({ declared }) => [keyOf(declared.unit, declared.key), declared]));
  const sources = new Map<string, Loaded>();
  for (const one of loaded) {
    const { declared, entry } = one;
    if (declared.movedFrom === null) continue;
    const from = keyOf(declared.unit, declared.movedFrom);
    const span = context.places.span(entry, "moved_from");
    const [present, claimed] = [byKey.get(from), sources.get(from)];
    sources.set(from, claimed ?? one);
    if (present !== undefined)
      context.report({ ...moveDiagnostic(declared, present), span, address: declared.address });
    else if (claimed !== undefined) {
      context.report({
        code: "bad-move",
        severity: "error",
        summary: `two entries are moved from \`${declared.movedFrom}\``,
        detail: "One object cannot become two.",
        fix: "Keep `moved_from` in one of the two.",
        span,
        related: [{ message: "the other one", span: context.places.span(claimed.entry, "moved_from") }],
        address: declared.address,
      });
    }
  }
}

function moveDiagnostic(declared: Declared, present: Declared): Diagnostic {
  const chain = present === declared || present.movedFrom !== null;
  const detail = chain
    ? "Moves that follow each other, or lead in a circle, cannot be told apart once some of them are done."
    : `\`${declared.movedFrom}\` is still declared, so which live object is meant is open.`;
  return {
    code: "bad-move",
    severity: "error",
    summary: chain ? "a chain of moves" : `\`${declared.movedFrom}\` is still declared`,
    detail,
    fix: "Name the live objects by `id:` instead of `moved_from`.",
    related: [{ message: "declared here", span: present.span }],
  };
}

function keyOf(unit: UnitName, key: string): string {
  return `${unit} ${key}`;
}

/** `lint: { off: [code] }` of the root file. */
export function lintOff(root: JsonObject): readonly string[] {
  const off = isJsonObject(root["lint"]) ? root["lint"]["off"] : undefined;
  return Array.isArray(off) ? (off as readonly Json[]).filter((code) => typeof code === "string") : [];
}

function lintOffSpans(root: JsonObject, { places }: AssembleContext): ReadonlyMap<string, Span> {
  const off = isJsonObject(root["lint"]) ? root["lint"]["off"] : undefined;
  if (!Array.isArray(off)) return new Map();
  const spans = off.flatMap((code: Json, index) =>
    typeof code === "string" ? [[code, places.span(off, index)] as const] : [],
  );
  return new Map(spans);
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

// Arranging diagnostics: in the order of the files, each problem once.

/** Of each text of a diagnostic: a name or a value may be of any length. */
const MAX_MESSAGE_CHARACTERS = 4_000;
/** Of the texts of all diagnostics, of which JSON escapes what is not ASCII. */
const MAX_LISTED_CHARACTERS: number = 8 * 1024 * 1024;
const ESCAPED_CHARACTERS = 6;

/**
 * Through a record set or a list of names, one place can be wrong for many domains. Only its first diagnostic is kept; the others are
 * counted. So are those for which there is no room.
 */
export class Findings {
  readonly #groups: Map<string, Group> = new Map();
  readonly #maxCharacters: number;
  #characters = 0;
  #unlisted = 0;
  #hasErrors = false;

  constructor(maxCharacters: number = MAX_LISTED_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  add(whole: Diagnostic): void {
    if (whole.severity === "error") this.#hasErrors = true;
    const diagnostic = bounded(whole);
    const { code, summary, detail, fix = "", span } = diagnostic;
    const key =
      span === undefined
        ? `${this.#groups.size}`
        : mapKey(JSON.stringify([code, summary, span.file, span.start, span.end]));
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.others += 1;
      return;
    }
    for (const text of [summary, detail, fix]) {
      this.#characters += text.length * (isPlain(text) ? 1 : ESCAPED_CHARACTERS);
    }
    if (this.#characters > this.#maxCharacters) this.#unlisted += 1;
    else this.#groups.set(key, { first: diagnostic, others: 0 });
  }

  get hasErrors(): boolean {
    return this.#hasErrors;
  }

  groups(): readonly Group[] {
    const groups = [...this.#groups.values()];
    if (this.#unlisted === 0) return groups;
    return [...groups, { first: notListed(this.#unlisted, this.#hasErrors ? "error" : "warning"), others: 0 }];
  }
}

/** A correction that is so long is left out. */
function bounded(diagnostic: Diagnostic): Diagnostic {
  const { summary, detail, fix = "", corrections: _, ...rest } = diagnostic;
  if ([summary, detail, fix].every((text) => text.length <= MAX_MESSAGE_CHARACTERS)) return diagnostic;
  const cut = (text: string) => shortened(text, MAX_MESSAGE_CHARACTERS);
  return { ...rest, summary: cut(summary), detail: cut(detail), ...(fix === "" ? {} : { fix: cut(fix) }) };
}

function notListed(count: number, severity: Diagnostic["severity"]): Diagnostic {
  return {
    code: "not-listed",
    severity,
    summary: `${count.toLocaleString("en")} more problems are not listed`,
    detail: `The others take ${MAX_LISTED_CHARACTERS / 1024 ** 2} MiB of text.`,
    fix: "Mend those first.",
  };
}

interface Group {
  readonly first: Diagnostic;
  others: number;
}

export function arrange(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const found = new Findings();
  for (const diagnostic of diagnostics) found.add(diagnostic);
  return arrangeGroups(found.groups(), files);
}

export function arrangeGroups(groups: readonly Group[], files: readonly string[]): Diagnostic[] {
  const order = new Map(files.map((file, index) => [file, index]));
  const rank = ({ span }: Diagnostic): number => (span === undefined ? -1 : (order.get(span.file) ?? files.length));
  return groups
    .map(({ first, others }) =>
      others === 0 ? first : { ...first, detail: `${first.detail} ${repeated(others)}`.trim() },
    )
    .sort((a, b) => rank(a) - rank(b) || (a.span?.start ?? 0) - (b.span?.start ?? 0));
}

function repeated(others: number): string {
  return others === 1
    ? "The same is wrong in one more place that shares this line or value."
    : `The same is wrong in ${others} more places that share this line or value.`;
}

// The `allow:` entries of the root file.

const RULES: readonly ConsentRule[] = ["delete", "replace", "bulk", "ns"];

function loadAllow(root: JsonObject, context: AssembleContext): Consent[] {
  const entries = sectionEntries([root], "allow");
  const excess = entries[MAX_CONSENTS];
  if (excess !== undefined) context.report(tooManyConsents(entries.length, context.places.firstKeySpan(excess)));
  return entries.slice(0, MAX_CONSENTS).flatMap((entry) => loadConsent(entry, context) ?? []);
}

function tooManyConsents(count: number, span: Span): Diagnostic {
  return {
    code: "too-many-patterns",
    severity: "error",
    summary: "too many entries under `allow`",
    detail: `Each is compared with each change that needs a consent. There may be ${MAX_CONSENTS.toLocaleString("en")}, and these are ${count.toLocaleString("en")}.`,
    fix: "Join entries with stars, and remove those whose changes are done.",
    span,
  };
}

function loadConsent(entry: JsonObject, context: AssembleContext): Consent | null {
  const named = RULES.filter((rule) => Object.hasOwn(entry, rule));
  const [rule] = named;
  const until = entry["until"];
  if (typeof until === "string" && !isDate(until)) {
    const detail = `\`${until}\` is not a date of the form YYYY-MM-DD.`;
    const span = context.places.span(entry, "until");
    context.report({
      code: "bad-date",
      severity: "error",
      summary: "bad date",
      detail,
      fix: "For example: 2026-12-31.",
      span,
    });
  }
  if (rule === undefined || named.length > 1) {
    if (rule === undefined && context.incomplete.has(entry)) return null;
    const summary =
      rule === undefined ? "the entry of `allow` names no rule" : "the entry of `allow` names more than one rule";
    const detail = "An entry of `allow` has exactly one of `delete`, `replace`, `bulk` and `ns`.";
    const span =
      rule === undefined ? context.places.firstKeySpan(entry) : context.places.keySpan(entry, named[1] ?? "");
    context.report({ code: "bad-consent", severity: "error", summary, detail, fix: "Give each its own entry.", span });
    return null;
  }
  const address = entry[rule];
  // The schema has said so.
  if (typeof address !== "string") return null;
  return {
    rule,
    address,
    until: typeof until === "string" ? until : null,
    reason: typeof entry["reason"] === "string" ? entry["reason"] : null,
    span: context.places.span(entry, rule),
  };
}

// The `removed:` entries of all files.

function loadRemoved(
  trees: readonly JsonObject[],
  units: readonly UnitForm[],
  loaded: readonly Loaded[],
  context: AssembleContext,
): Removed[] {
  const declared = new Map(loaded.map((one) => [one.declared.address, one.declared]));
  const moved = new Map(
    loaded
      .filter((one) => one.declared.movedFrom !== null)
      .map((one) => [`${one.declared.unit} ${one.declared.movedFrom}`, one.declared]),
  );
  const removed = new Map<string, Removed>();
  for (const entry of sectionEntries(trees, "removed")) {
    const one = loadEntry(entry, units, context);
    if (one === null) continue;
    const identity = `${one.address} ${one.id ?? ""}`;
    const first = removed.get(identity);
    if (first !== undefined) context.report(removedTwice(one, first));
    else removed.set(identity, one);
    const rival = declared.get(one.address) ?? moved.get(`${one.unit} ${one.key}`);
    if (rival !== undefined && !areDistinct(rival, one)) context.report(alsoDeclared(one, rival));
  }
  return [...removed.values()];
}

/** Labels may repeat: entries with different ids name different objects. */
function areDistinct(declared: Declared, removed: Removed): boolean {
  return declared.id !== null && removed.id !== null && declared.id !== removed.id;
}

function loadEntry(entry: JsonObject, units: readonly UnitForm[], context: AssembleContext): Removed | null {
  const named = units.filter(({ spec }) => Object.hasOwn(entry, spec.removedKey));
  const [unit] = named;
  const keys = units.map(({ spec }) => `\`${spec.removedKey}\``).join(", ");
  if (unit === undefined || named.length > 1) {
    if (unit === undefined && context.incomplete.has(entry)) return null;
    const summary =
      unit === undefined
        ? "the entry of `removed` names no object"
        : "the entry of `removed` names more than one object";
    const detail = `An entry of \`removed\` has exactly one of ${keys}.`;
    const span =
      unit === undefined
        ? context.places.firstKeySpan(entry)
        : context.places.keySpan(entry, named[1]?.spec.removedKey ?? "");
    context.report({ code: "bad-removed", severity: "error", summary, detail, fix: "Give each its own entry.", span });
    return null;
  }
  const name = entry[unit.spec.removedKey];
  if (typeof name !== "string") return null;
  checkKeys(entry, unit, context);
  const { address, key, problem } = unit.spec.removed(name);
  const span = context.places.span(entry, unit.spec.removedKey);
  if (problem !== null) {
    context.report({ ...problem, severity: "error", span });
    return null;
  }
  const ignore = entry["ignore"];
  return {
    unit: unit.name,
    address,
    key,
    id: idOf(entry["id"]),
    destroy: entry["destroy"] !== false,
    ignore: Array.isArray(ignore) ? ((ignore as readonly Json[]).filter(isJsonObject) as IgnorePattern[]) : [],
    span,
  };
}

function idOf(id: Json | undefined): ObjectId | null {
  return typeof id === "number" || typeof id === "string" ? id : null;
}

function checkKeys(entry: JsonObject, unit: UnitForm, context: AssembleContext): void {
  const { id, ignore } = entry as { id?: Json; ignore?: Json };
  const { removedKey, textId, ignores } = unit.spec;
  const wanted = textId === undefined ? "number" : "string";
  if (id !== undefined && typeof id !== wanted) {
    const isWhat = textId === undefined ? "a whole number" : `text, such as ${textId}`;
    const detail = `The id of ${/^[aeiou]/.test(removedKey) ? "an" : "a"} ${removedKey} is ${isWhat}.`;
    context.report({
      code: "wrong-type",
      severity: "error",
      summary: "bad `id`",
      detail,
      fix: "Correct the id.",
      span: context.places.span(entry, "id"),
    });
  }
  const tooLong = tooLongIgnore(ignore, context.places);
  if (tooLong !== null) context.report(tooLong);
  if (ignore !== undefined && ignores !== true) {
    const detail = "`ignore` names records, and only a domain has those.";
    context.report({
      code: "wrong-field",
      severity: "error",
      summary: "`ignore` has no meaning here",
      detail,
      fix: "Remove it.",
      span: context.places.keySpan(entry, "ignore"),
    });
  }
}

function removedTwice(one: Removed, first: Removed): Diagnostic {
  return {
    code: "duplicate-removed",
    severity: "error",
    summary: `\`${one.key}\` is removed twice`,
    detail: `${one.address} may be named once under \`removed\`.`,
    fix: "Remove one of the two.",
    span: one.span,
    related: [{ message: "first here", span: first.span }],
    address: one.address,
  };
}

function alsoDeclared(one: Removed, rival: Declared): Diagnostic {
  const how = rival.address === one.address ? "declared" : "named by `moved_from`";
  return {
    code: "declared-and-removed",
    severity: "error",
    summary: `\`${one.key}\` is both ${how} and removed`,
    detail: `${one.address} cannot be kept and deleted at once.`,
    fix: "Remove the entry under `removed`, or the declaration.",
    span: one.span,
    related: [{ message: `${how} here`, span: rival.span }],
    address: one.address,
  };
}

// Types and helpers that the checks above share.

interface AssembleContext {
  readonly places: Places;
  readonly allowedSeconds: readonly number[];
  /** Objects that lack a required key, or lost a key to validation: no `missing-key` is reported for them. */
  readonly incomplete: ReadonlySet<object>;
  report(diagnostic: Diagnostic): void;
}

export type Loaded = WithEntry;

/** The entries of a section in all files, unexpanded. */
export function sectionEntries(trees: readonly JsonObject[], section: string): JsonObject[] {
  return trees.flatMap((tree) => {
    const list = tree[section];
    return Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject) : [];
  });
}
