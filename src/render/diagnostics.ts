/** Diagnostics as text with the source line and a caret, and as JSON. */

import { createColors } from "picocolors";
import {
  ZONE_FILE_APEX_NS_CODE,
  ZONE_FILE_SIGNING_CODE,
  ZONE_FILE_SOA_CODE,
  ZONE_FILE_UNSUPPORTED_CODE,
} from "../dns/record.ts";
import type { Change } from "../model/change.ts";
import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import type { JsonObject } from "../model/resource.ts";
import { groupBy } from "../model/text.ts";
import { type Excerpt, escapeText, excerpt, hang, usableWidth, wrap } from "./terminal.ts";
import { byOrigin, count, PENDING_MARK } from "./view.ts";

export interface DiagnosticStyle {
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  /** Whether of many errors or warnings with one code only the first are shown, and the others counted. Absent: each is shown. */
  readonly folded?: boolean;
}

/** More than a person reads; a hostile manifest has a million. */
const MAX_SHOWN_DIAGNOSTICS = 1_000;

/** Of more warnings with one code than this, so many are shown if they are folded. */
export const MAX_UNFOLDED_WARNINGS = 3;

/** Of more errors with one code than this, the first three are shown if they are folded: up to so many are mended one by one. */
const MAX_UNFOLDED_ERRORS = 12;
const MAX_SHOWN_ALIKE = 3;

/** Errors first, then warnings, each as a block, and a line that counts them; empty without diagnostics. */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: Sources,
  style: DiagnosticStyle,
): string {
  if (diagnostics.length === 0) return "";
  const painter = new Painter(sources, style);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity !== "error");
  const groups =
    style.folded === true
      ? [...foldedByCode(errors, MAX_UNFOLDED_ERRORS), ...foldedByCode(warnings)]
      : [...errors, ...warnings].map((one) => [one]);
  const entries = groups.map((group) => {
    const blocks = group.slice(0, MAX_SHOWN_ALIKE);
    return { blocks, more: group.length - blocks.length };
  });
  const shown = entries.slice(0, MAX_SHOWN_DIAGNOSTICS);
  const blocks = shown.flatMap(({ blocks: own, more }) => [
    ...own.map((diagnostic) => painter.block(diagnostic)),
    ...(more > 0 && own[0] !== undefined ? [painter.more(own[0], more)] : []),
  ]);
  const unshown =
    entries.length === shown.length ? "" : `; the first ${MAX_SHOWN_DIAGNOSTICS.toLocaleString("en")} are shown`;
  return `${blocks.join("\n\n")}\n\n${countLine(diagnostics)}${unshown}\n`;
}

/** Each of them is a change to come, which no plan asks about when it is due. */
const NEVER_FOLDED: ReadonlySet<string> = new Set(["comes-back"]);

/** Those with one code, if there are more than `most` of them, in the place of the first; each of the others by itself, in the order given. */
export function foldedByCode(
  diagnostics: readonly Diagnostic[],
  most: number = MAX_UNFOLDED_WARNINGS,
): (readonly Diagnostic[])[] {
  const groups = groupBy(diagnostics, ({ code }) => code);
  return diagnostics.flatMap((diagnostic) => {
    const group = groups.get(diagnostic.code) ?? [];
    if (group.length <= most || NEVER_FOLDED.has(diagnostic.code)) return [[diagnostic]];
    return group[0] === diagnostic ? [group] : [];
  });
}

/** `3 errors, 1 warning` */
export function countLine(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = diagnostics.length - errors;
  const parts = [
    errors > 0 || warnings === 0 ? counted(errors, "error") : "",
    warnings > 0 ? counted(warnings, "warning") : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

class Painter {
  readonly #sources: Sources;
  readonly #width: number;
  readonly #colours: ReturnType<typeof createColors>;

  constructor(sources: Sources, style: DiagnosticStyle) {
    this.#sources = sources;
    this.#width = usableWidth(style.width);
    this.#colours = createColors(style.colour);
  }

  block({ code, severity, summary, detail, fix, span, related }: Diagnostic): string {
    const { bold, red, yellow } = this.#colours;
    const tint = severity === "error" ? red : yellow;
    const name = `${severity}[${code}]`;
    const [head = "", ...further] = wrap(`${name}: ${escapeText(summary)}`, this.#width, 0);
    const lines = [tint(bold(name)) + bold(head.slice(name.length)), ...further.map(bold)];
    if (span !== undefined) lines.push(...this.#source(span, "^", tint));
    if (detail !== "") lines.push(...hang("  ", escapeText(detail), this.#width));
    if (fix !== undefined) lines.push(...hang("  fix: ", escapeText(fix), this.#width));
    for (const { message, span: at } of related ?? []) {
      lines.push(...hang("  note: ", escapeText(message), this.#width), ...this.#source(at, "-", this.#colours.cyan));
    }
    return lines.join("\n");
  }

  /** Counts those with the same code that are not shown. */
  more({ code, severity }: Diagnostic, number: number): string {
    const { bold, red, yellow } = this.#colours;
    const tint = severity === "error" ? red : yellow;
    const more = number.toLocaleString("en");
    return `${tint(bold(`${severity}[${code}]`))}${bold(`: and ${more} more like these; --full shows each`)}`;
  }

  #source(span: Span, mark: string, tint: (text: string) => string): string[] {
    const { dim } = this.#colours;
    const { line, column } = this.#sources.position(span.file, span.start);
    const where = `  ${dim("-->")} ${escapeText(span.file)}:${line}:${column}`;
    if (this.#sources.text(span.file) === undefined) return [where];
    const number = String(line);
    const gutter = " ".repeat(number.length);
    const shown = this.#excerpt(span, line, column, this.#width - number.length - 4);
    const underline = " ".repeat(shown.before) + mark.repeat(shown.marked);
    return [
      where,
      dim(` ${gutter} |`),
      `${dim(` ${number} |`)} ${shown.text}`,
      `${dim(` ${gutter} |`)} ${tint(underline)}`,
    ];
  }

  #excerpt(span: Span, line: number, column: number, width: number): Excerpt {
    const text = this.#sources.line(span.file, line);
    return excerpt(text, column - 1, column - 1 + Math.max(0, span.end - span.start), width);
  }
}

/** A stable form for machines: lines and columns from 1, columns in UTF-16 code units. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[], sources: Sources): JsonObject[] {
  return diagnostics.map(({ code, severity, summary, detail, fix, span, related, address }) => ({
    code,
    severity,
    summary,
    detail,
    fix: fix ?? null,
    address: address ?? null,
    ...placeJson(span, sources),
    related: (related ?? []).map(({ message, span: at }) => ({ message, ...placeJson(at, sources) })),
  }));
}

function placeJson(span: Span | undefined, sources: Sources): JsonObject {
  if (span === undefined) return { file: null, line: null, column: null, endLine: null, endColumn: null };
  const start = sources.position(span.file, span.start);
  const end = sources.position(span.file, span.end);
  return { file: span.file, line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}

// Which warnings a plan would have without the proposed change, too: all changes that they are about were pending.

/** The mark after a warning: empty, or that the warning is not due to the proposed change. Linear in the number of changes. */
export function warningMarks(plan: Plan): (warning: Diagnostic) => string {
  if (plan.base === null) return () => "";
  const places = pendingPlaces(plan);
  return ({ address, span }) => {
    if (address === undefined) return "";
    const here = span === undefined ? undefined : places.get(spanKey(span));
    return (here ?? places.get(address)) === true ? PENDING_MARK : "";
  };
}

/** Whether all changes of a place were pending, by place. */
function pendingPlaces(plan: Plan): ReadonlyMap<string, boolean> {
  const { own, pending } = byOrigin(plan);
  const found = new Map<string, boolean>();
  for (const change of pending) for (const key of warningKeys(change)) found.set(key, true);
  for (const change of own) for (const key of warningKeys(change)) found.set(key, false);
  return found;
}

/** The keys of a change: where it is declared, its address, and each address above. */
function warningKeys({ address, span }: Change): string[] {
  const keys = span === null ? [address] : [spanKey(span), address];
  for (let end = address.lastIndexOf("/"); end > 0; end = address.lastIndexOf("/", end - 1)) {
    keys.push(address.slice(0, end));
  }
  return keys;
}

function spanKey({ file, start, end }: Span): string {
  return `${start} ${end} ${file}`;
}

// Records of zone files that are not imported, counted in a line: for commands that are about something else.

interface Counted {
  /** The diagnostics that are reported as they are. */
  readonly others: readonly Diagnostic[];
  /** One line for each kind of skipped record, for the whole project; without line ends. */
  readonly notes: readonly string[];
}

/** Removes the warnings about zone files, and counts them. Errors stay. */
export function countSkipped(diagnostics: readonly Diagnostic[]): Counted {
  let [own, signing, unsupported] = [0, 0, 0];
  const others = diagnostics.filter(({ code, severity }) => {
    if (severity !== "warning") return true;
    if (code === ZONE_FILE_SOA_CODE || code === ZONE_FILE_APEX_NS_CODE) own += 1;
    else if (code === ZONE_FILE_SIGNING_CODE) signing += 1;
    else if (code === ZONE_FILE_UNSUPPORTED_CODE) unsupported += 1;
    else return true;
    return false;
  });
  const notes = [
    ...(own === 0 ? [] : [`${count(own, "SOA or apex NS record is", "SOA and apex NS records are")} set aside`]),
    ...(signing === 0
      ? []
      : [`${count(signing, "record that signing adds is", "records that signing adds are")} set aside`]),
    ...(unsupported === 0
      ? []
      : [`${count(unsupported, "unsupported record is", "unsupported records are")} left out`]),
  ];
  return { others, notes: notes.map((note) => `Note: ${note}: see tenon validate.`) };
}
