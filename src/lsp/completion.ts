/** What may stand at a place of a manifest, and what it means: completion and hover, from the schema and from the project's names. */

import {
  type CompletionItem,
  CompletionItemKind,
  type Hover,
  type MarkupContent,
  MarkupKind,
  type TextEdit,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { isRecordType } from "../dns/record.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { type Explanation, explainPath, type FieldSummary, factsText } from "../render/explain.ts";
import { codeSpan } from "../render/markdown/parts.ts";
import { escapeText } from "../render/terminal.ts";
import { type Cursor, cursorAt, type Gap, gapAt } from "./cursor.ts";
import type { NameKind, Occurrence } from "./requests.ts";

export interface Knowledge {
  /** Of a manifest. */
  readonly schema: JsonObject;
  /** Seconds that the service keeps as they are, ascending. */
  readonly allowedSeconds: readonly number[];
  /** Of lint rules. */
  readonly lintCodes: readonly string[];
  /** Where the project of the file names things. */
  names(): Promise<readonly Occurrence[]>;
}

/** A reference that has been begun: `${`, `${var.`, `${var.na`. */
const BEGUN_REFERENCE = /(?<!\$)\$\{(var\.[\w-]*|[a-z]*)$/;

export async function complete(
  document: TextDocument,
  offset: number,
  knowledge: Knowledge,
): Promise<CompletionItem[]> {
  const text = document.getText();
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const reference = BEGUN_REFERENCE.exec(line);
  if (reference !== null) return referencesFrom(document, offset - (reference[1] ?? "").length, offset, knowledge);
  const gap = await gapAt(text, offset);
  if (gap === null) return [];
  return gap.on === "key" ? keysFor(document, gap, knowledge) : valuesFor(document, gap, knowledge);
}

async function referencesFrom(
  document: TextDocument,
  start: number,
  offset: number,
  { names }: Knowledge,
): Promise<CompletionItem[]> {
  const isClosed = document.getText()[offset] === "}";
  const words = [...namesOf("variable", await names())].map((name) => ({ word: `var.${name}`, detail: "variable" }));
  return [...words, { word: "zone", detail: "the domain's name, in domains and record sets" }].map(
    ({ word, detail }) => ({
      ...{ label: word, kind: CompletionItemKind.Variable, detail },
      textEdit: editOf(document, start, offset, isClosed ? word : `${word}}`),
    }),
  );
}

export function namesOf(kind: NameKind, names: readonly Occurrence[]): Set<string> {
  return new Set(names.flatMap((one) => (one.kind === kind && one.isDefinition ? [one.name] : [])));
}

// Keys: those of the schema that are not there yet.

async function keysFor(document: TextDocument, gap: Gap, knowledge: Knowledge): Promise<CompletionItem[]> {
  const parent = gap.path.slice(0, -1);
  const fields = fieldsAt(parent, gap.mapping, knowledge.schema);
  const present = new Set(Object.keys(gap.mapping ?? {}));
  const variables = isVariablesOfEnvironment(parent) ? [...namesOf("variable", await knowledge.names())] : [];
  return [
    ...fields.filter(({ name }) => !name.startsWith("<")),
    ...variables.map((name) => ({ name, type: "variable", required: false, description: "" })),
  ]
    .filter(({ name }) => !present.has(name))
    .map((field, index) => keyItem(document, field, index, gap));
}

function isVariablesOfEnvironment(path: readonly string[]): boolean {
  return path.length === 3 && path[0] === "environments" && path[2] === "variables";
}

/** Those of a record are those of its type, if it has one already. */
function fieldsAt(path: readonly string[], mapping: JsonObject | null, schema: JsonObject): readonly FieldSummary[] {
  const found = explainPath(schema, path);
  if (!found.ok) return [];
  const { fields } = found.explanation;
  const type = mapping?.["type"];
  const ofType = typeof type === "string" && isRecordType(type) ? explainPath(schema, [...path, type]) : null;
  if (ofType?.ok !== true) return fields;
  const own = ofType.explanation.fields;
  const shared = fields.filter(({ name }) => ["override", "note", "lint", "owner", "reason"].includes(name));
  return [...own, ...shared];
}

function keyItem(document: TextDocument, field: FieldSummary, index: number, gap: Gap): CompletionItem {
  const { name, type, required, description } = field;
  return {
    ...{ label: name, kind: CompletionItemKind.Property, detail: `${type}${required ? ", required" : ""}` },
    ...(description === "" ? {} : { documentation: description }),
    // In the order of the reference, what is required first.
    sortText: `${required ? 0 : 1}${String(index).padStart(3, "0")}`,
    textEdit: editOf(document, gap.wordStart, gap.wordEnd, gap.hasColon ? name : `${name}:${afterKey(type, gap)}`),
  };
}

/** A list or an object begins on a line of its own, except within brackets. */
function afterKey(type: string, { isBlock, indent }: Gap): string {
  const isList = type.startsWith("list of objects");
  if (!isBlock || (!isList && type !== "object")) return " ";
  return `\n${indent}  ${isList ? "- " : ""}`;
}

// Values.

async function valuesFor(document: TextDocument, gap: Gap, knowledge: Knowledge): Promise<CompletionItem[]> {
  const { path } = gap;
  const key = path.at(-1) ?? "";
  const found = explainPath(knowledge.schema, path);
  if (gap.inList && found.ok && found.explanation.type === "list of objects") {
    // The first key of a new entry.
    return keysFor(document, { ...gap, path: [...path, ""], mapping: null }, knowledge);
  }
  const words = await wordsFor(path, found.ok ? found.explanation : null, knowledge);
  return words.map(({ word, detail }, index) => ({
    ...{ label: word, kind: CompletionItemKind.Value, detail: detail ?? key },
    sortText: String(index).padStart(4, "0"),
    textEdit: editOf(document, gap.wordStart, gap.wordEnd, word),
  }));
}

interface Word {
  readonly word: string;
  readonly detail?: string;
}

async function wordsFor(
  path: readonly string[],
  explanation: Explanation | null,
  { allowedSeconds, lintCodes, names }: Knowledge,
): Promise<Word[]> {
  const key = path.at(-1) ?? "";
  if (key === "use") return [...namesOf("record set", await names())].map((word) => ({ word, detail: "record set" }));
  if (key === "off" && path.at(-2) === "lint") return lintCodes.map((word) => ({ word, detail: "lint rule" }));
  if (explanation === null) return [];
  const { values, type } = explanation;
  if (values.length > 0) return values.map((value) => ({ word: plain(value) }));
  if (type === "true or false") return [{ word: "true" }, { word: "false" }];
  if (key.endsWith("_sec")) return allowedSeconds.map((seconds) => ({ word: String(seconds), detail: "seconds" }));
  const preset = explanation.default;
  return preset === undefined || typeof preset === "object" || preset === ""
    ? []
    : [{ word: plain(preset), detail: "default" }];
}

/** A value as YAML that is read as the same value. */
function plain(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[A-Za-z][\w./-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value)
    ? value
    : JSON.stringify(value);
}

function editOf(document: TextDocument, start: number, end: number, newText: string): TextEdit {
  return { range: { start: document.positionAt(start), end: document.positionAt(end) }, newText };
}

// Hover.

export async function hover(document: TextDocument, offset: number, schema: JsonObject): Promise<Hover | null> {
  const cursor = await cursorAt(document.getText(), offset);
  if (cursor === null) return null;
  const explanation = explanationAt(cursor, schema);
  if (explanation === null) return null;
  const range = { start: document.positionAt(cursor.start), end: document.positionAt(cursor.end) };
  return { contents: markdown(explanation), range };
}

/** On the type of a record: what such records have. */
function explanationAt({ path, on, mapping }: Cursor, schema: JsonObject): Explanation | null {
  const key = path.at(-1);
  const parent = path.slice(0, -1);
  const type = mapping?.["type"];
  const record = typeof type === "string" && isRecordType(type) ? explainPath(schema, [...parent, type]) : null;
  if (on === "value" && key === "type" && record?.ok === true) return record.explanation;
  const found = explainPath(schema, path);
  if (!found.ok) return null;
  const ofType = record?.ok === true ? record.explanation.fields.find(({ name }) => name === key) : undefined;
  return ofType === undefined ? found.explanation : { ...found.explanation, description: ofType.description };
}

/** What `tenon explain` says of it. */
function markdown(explanation: Explanation): MarkupContent {
  const { path, title, description, examples, fields } = explanation;
  const list = fields.map(
    ({ name, type, required, description: text }) =>
      `- ${codeSpan(escapeText(name))} (${type}${required ? ", required" : ""})${text === "" ? "" : `: ${escapeMarkdown(text)}`}`,
  );
  const heading = title === "" ? "" : `**${escapeMarkdown(title)}** `;
  const blocks = [
    heading + codeSpan(escapeText(path)),
    escapeMarkdown(factsText(explanation)),
    escapeMarkdown(description),
    examples.length === 0 ? "" : ["```yaml", ...examples, "```"].join("\n"),
    list.join("\n"),
  ];
  return { kind: MarkupKind.Markdown, value: blocks.filter((block) => block !== "").join("\n\n") };
}

/** Outside code, so that `*` and `<` are shown as they are; a backtick without a second one, too. */
function escapeMarkdown(text: string): string {
  return escapeText(text)
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[\\*_<>[\]#|`]/g, (mark) => `\\${mark}`)))
    .join("");
}
