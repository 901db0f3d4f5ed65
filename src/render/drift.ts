/** Drift as text: object by object, what the account has and what is declared. */

import { unicodeName } from "../dns/unicode.ts";
import { annotationText } from "../model/annotations.ts";
import { type Drift, type DriftField, type DriftObject, type DriftStatus, hasDrift } from "../model/change.ts";
import type { Kinds } from "../model/kind.ts";
import { isNarrowed } from "../model/plan.ts";
import type { Json, Values } from "../model/resource.ts";
import { jsonText } from "../model/text.ts";
import {
  createPaint,
  differing,
  folded,
  type Paint,
  plainText,
  recordText,
  shownValue,
  signed,
} from "./change-lines.ts";
import { expiredText } from "./headline.ts";
import type { TextOptions } from "./plan-text.ts";
import { columnsOf, DEFAULT_WIDTH_COLUMNS, escapeText, hang, usableWidth, wrap } from "./terminal.ts";
import { changedSinceText, count, sortKeys } from "./view.ts";

const NO_DRIFT = "No drift. The account is as the manifests declare.";
const NO_DRIFT_WITHIN = "No drift within the targets.";

export function noDriftText(drift: Drift): string {
  return isNarrowed(drift) ? NO_DRIFT_WITHIN : NO_DRIFT;
}

const STATUS_COLUMNS = "unexpected".length + 2;
const FIELD_INDENT = "    ";
const VALUE_INDENT = "      ";
const [LIVE_WORD, DECLARED_WORD] = ["in the account  ", "declared        "];

/** Newline-terminated. Linear in the number of objects. */
export function renderDriftText(
  drift: Drift,
  { colour, width = DEFAULT_WIDTH_COLUMNS }: TextOptions,
  kinds: Kinds,
): string {
  const paint = createPaint(colour);
  const columns = usableWidth(width);
  const lines: string[] = [];
  for (const { object, within } of foldedObjects(drift)) {
    const [first = "", ...rest] = objectLines(object, within, columns, kinds);
    lines.push(`${paintStatus(object.status, paint)}${first.slice(object.status.length)}`, ...rest);
  }
  const last = hasDrift(drift) ? driftSummary(drift) : paint.good(noDriftText(drift));
  const unadopted = unadoptedText(drift);
  const foot = [...wrap(changedSinceText(drift, kinds), columns, 0), ...wrap(unadopted, columns, 0), last];
  return [...lines, ...(lines.length === 0 ? [] : [""]), ...foot].join("\n").concat("\n");
}

/** `Drift: 1 changed, 2 missing, 0 unexpected.` */
export function driftSummary({ summary: { changed, missing, unexpected } }: Drift): string {
  return `Drift: ${changed} changed, ${missing} missing, ${unexpected} unexpected.`;
}

/** Empty if every object carries the owner's tag. */
export function unadoptedText({ owner, summary: { unadopted } }: Drift): string {
  if (unadopted === 0) return "";
  const are = count(unadopted, "object is as declared, but does", "objects are as declared, but do");
  return `${are} not carry the tag of ${escapeText(owner ?? "")} yet: apply adopts.`;
}

export interface Folded {
  readonly object: DriftObject;
  /** How many missing objects within it are counted here. */
  readonly within: number;
}

/** An object that is missing together with its network or zone is not listed, but counted at that one. */
export function foldedObjects({ objects }: Drift): Folded[] {
  const missing = new Set(
    objects.flatMap(({ key, root, status }) => (key === root && status === "missing" ? [root] : [])),
  );
  const within = new Map<string, number>();
  const shown: DriftObject[] = [];
  for (const object of objects) {
    if (object.key === object.root || !missing.has(object.root)) shown.push(object);
    else within.set(object.root, (within.get(object.root) ?? 0) + 1);
  }
  return shown.map((object) => ({ object, within: object.key === object.root ? (within.get(object.root) ?? 0) : 0 }));
}

/** The first line begins with the status; escaped, within `columns` as far as values can be shortened. */
export function objectLines(object: DriftObject, within: number, columns: number, kinds: Kinds): string[] {
  const { status, note, annotations } = object;
  const address = addressText(object);
  const more = labelTexts(object, within);
  const text = more.length === 0 ? address : `${address} (${more.join("; ")})`;
  return [
    ...hang(status.padEnd(STATUS_COLUMNS), text, columns),
    ...(status === "changed"
      ? object.fields.flatMap((field) => fieldLines(field, columns))
      : wholeLines(object, columns, kinds)),
    ...(note === null ? [] : wrap(`note: ${escapeText(note)}`, columns, FIELD_INDENT.length)),
    ...wrap(escapeText(annotationText(annotations)), columns, FIELD_INDENT.length),
  ];
}

/** What there is to say of it beside its status. */
export function labelTexts({ status, labels, annotations }: DriftObject, within: number): string[] {
  return [
    ...(within === 0 ? [] : [`with ${count(within, "object", "objects")} in it`]),
    ...(labels.includes("unfinished") ? ["its upload was never finished"] : []),
    ...(labels.includes("prune") ? ["it carries our tag, and nothing declares it"] : []),
    ...(labels.includes("retire") && status === "unexpected" ? ["its family keeps newer ones"] : []),
    ...(labels.includes("superseded") ? ["a newer one has its label"] : []),
    ...(labels.includes("expired") ? [`its entry ${expiredText(annotations?.expires)}`] : []),
    ...(labels.includes("duplicate") ? ["duplicate: an equal record is declared and there"] : []),
    ...(labels.includes("adopt") && status === "changed" ? ["not adopted"] : []),
  ];
}

/** With its Unicode form and its name in the account, escaped. */
export function addressText({ key, root, kind, liveAddress }: DriftObject): string {
  const domain = root.startsWith("domain/") ? root.slice("domain/".length) : null;
  const label = key.slice(root.length + 1).split("/")[0] ?? "";
  const isShown = domain !== null && kind === "domain_record" && label.includes("xn--");
  const own = isShown ? unicodeName(`${label}.${domain}`) : null;
  // If the record's name has no Unicode form, the domain's may have one.
  const unicode = own ?? (domain === null ? null : unicodeName(domain));
  const name = unicode === null ? "" : ` (${escapeText(unicode)})`;
  return `${escapeText(key)}${name}${liveAddress === null ? "" : `, in the account ${escapeText(liveAddress)}`}`;
}

function fieldLines({ name, live, declared }: DriftField, columns: number): string[] {
  const [there, here] = [shownValue(live), shownValue(declared)];
  const line = `${FIELD_INDENT}${escapeText(name)}: ${there.text} in the account, ${here.text} declared`;
  if (columnsOf(line) <= columns) return [line];
  const room = columns - VALUE_INDENT.length - LIVE_WORD.length;
  const [from, to] = differing(there, here);
  return [
    `${FIELD_INDENT}${escapeText(name)}:`,
    ...signed(VALUE_INDENT + LIVE_WORD, folded(from, room)),
    ...signed(VALUE_INDENT + DECLARED_WORD, folded(to, room)),
  ];
}

/** The value that distinguishes a whole live or declared object from others of its kind. */
export function wholeLines({ kind, status, fields }: DriftObject, columns: number, kinds: Kinds): string[] {
  const { line } = kinds.of(kind);
  if (line === undefined) return [];
  const values: Values = Object.fromEntries(
    fields.map(({ name, live, declared }) => [name, status === "missing" ? declared : live]),
  );
  if (line === "record") return [FIELD_INDENT + recordText(values, columns - FIELD_INDENT.length)];
  return [`${FIELD_INDENT}${escapeText(plainText(values[line.value]))}`];
}

function paintStatus(status: DriftStatus, paint: Paint): string {
  switch (status) {
    case "changed":
      return paint.warn(status);
    case "missing":
    case "unexpected":
      return paint.bad(status);
    case "unadopted":
      return paint.dim(status);
  }
}

// Drift as JSON for programs: one document, one object a line.

/** The version of schemas/drift.schema.json. */
const DRIFT_FORMAT_VERSION = 1;

/** Newline-terminated. */
export function renderDriftJson(drift: Drift): string {
  const { owner, targets, excludes, changedSince, objects, summary } = drift;
  const narrowing = { targets, excludes, ...(changedSince === null ? {} : { changed_since: changedSince }) };
  const head = { format_version: DRIFT_FORMAT_VERSION, drift: hasDrift(drift), owner, ...narrowing, summary };
  const parts = Object.entries(head).map(([key, value]) => `${jsonText(key)}:${jsonText(value)}`);
  const lines = objects.map((object) => jsonText(sortKeys(objectJson(object))));
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n]`;
  return `{\n${[...parts, `"objects":${list}`].join(",\n")}\n}\n`;
}

export function objectJson({
  key,
  address,
  liveAddress,
  root,
  kind,
  status,
  id,
  labels,
  fields,
  note,
  annotations,
}: DriftObject): Json {
  return {
    key,
    address,
    live_address: liveAddress,
    root,
    kind,
    status,
    id,
    labels,
    fields: fields.map(({ name, declared, live }) => ({ name, declared, live })),
    note,
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
  };
}
