/** Where a manifest names record sets, variables and environments, and whether they may be called otherwise. */

import type { Places } from "../manifest/positions.ts";
import { isOwnKey } from "../manifest/schema.ts";
import type { Span } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { groupBy } from "../model/text.ts";
import type { NameKind, Occurrence, Place } from "./requests.ts";

type Found = Omit<Occurrence, "place"> & { readonly span: Span };

/** Sections in which `${…}` is no reference. */
const LITERAL_SECTIONS: readonly string[] = ["tenon", "variables", "environments"];
/** A reference to a variable, in `${var.name}` or as an argument in `${cidrsubnet(var.name, 8, 1)}`. */
const REFERENCE = /\$\$\{|\$\{([^{}]*)\}/g;
const VARIABLE = /'[^']*'|"[^"]*"|(?<![\w.])var\.([A-Za-z_][\w-]*)/g;
const VARIABLE_PREFIX = "var.";

/**
 * @param tree as it was parsed: nothing is resolved or filled in
 * @param text what the places point into
 */
export function occurrencesIn(tree: JsonObject, places: Places, text: string, file: string): Found[] {
  const found = new Map<number, Found>();
  const add = (kind: NameKind, name: string, span: Span, isDefinition: boolean): void => {
    const inner = withoutQuotes(span, text);
    // Escapes in quotes, or an alias: the text does not have the name here.
    if (text.slice(inner.start, inner.end) === name) found.set(inner.start, { kind, name, span: inner, isDefinition });
  };
  const keys = (object: Json | undefined): readonly string[] =>
    isJsonObject(object) ? Object.keys(object).filter((key) => !isOwnKey(key)) : [];
  const define = (kind: NameKind, object: Json | undefined): void => {
    for (const name of keys(object)) add(kind, name, places.keySpan(object as JsonObject, name), true);
  };
  define("record set", tree["record_sets"]);
  define("variable", tree["variables"]);
  define("environment", tree["environments"]);
  for (const name of keys(tree["environments"])) {
    const entry = (tree["environments"] as JsonObject)[name];
    const variables = isJsonObject(entry) ? entry["variables"] : undefined;
    for (const key of keys(variables)) add("variable", key, places.keySpan(variables as JsonObject, key), false);
  }
  const defaults = isJsonObject(tree["defaults"]) ? tree["defaults"]["domain"] : undefined;
  const domains = Array.isArray(tree["domains"]) ? tree["domains"] : [];
  for (const entry of [defaults, ...domains]) {
    const use = isJsonObject(entry) ? entry["use"] : undefined;
    if (!Array.isArray(use)) continue;
    for (const [index, name] of use.entries()) {
      if (typeof name === "string") add("record set", name, places.span(use, index), false);
    }
  }
  const references = (span: Span): void => {
    const source = text.slice(span.start, span.end);
    for (const { 1: expression, index } of source.matchAll(REFERENCE)) {
      for (const { 1: name, index: at } of (expression ?? "").matchAll(VARIABLE)) {
        if (name === undefined) continue;
        const start = span.start + index + "${".length + at + VARIABLE_PREFIX.length;
        add("variable", name, { file, start, end: start + name.length }, false);
      }
    }
  };
  const visit = (container: JsonObject | readonly Json[], key: string | number): void => {
    const value = (container as JsonObject)[key] as Json;
    if (typeof value === "string") {
      if (value.includes("${")) references(places.span(container, key));
    } else if (Array.isArray(value)) for (const index of value.keys()) visit(value, index);
    else if (isJsonObject(value)) for (const inner of keys(value)) visit(value, inner);
  };
  for (const section of keys(tree)) if (!LITERAL_SECTIONS.includes(section)) visit(tree, section);
  return [...found.values()].sort((a, b) => a.span.start - b.span.start);
}

function withoutQuotes(span: Span, text: string): Span {
  const first = text[span.start];
  const isQuoted = span.end - span.start >= 2 && (first === '"' || first === "'") && text[span.end - 1] === first;
  return isQuoted ? { ...span, start: span.start + 1, end: span.end - 1 } : span;
}

/** What `range` has is written anew. */
interface Edit {
  readonly range: Place["range"];
  readonly newText: string;
}

/** The edits of each file, by its path: a name may stand in a hundred thousand places. */
export function renameEdits(occurrences: readonly Occurrence[], newText: string): Map<string, Edit[]> {
  const files = groupBy(occurrences, ({ place }) => place.path);
  return new Map([...files].map(([path, of]) => [path, of.map(({ place }) => ({ range: place.range, newText }))]));
}

/** Names of variables, as the schema has them. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Names that need no quotes in YAML, wherever they stand: as keys, and within brackets. */
const PLAIN_NAME = /^[A-Za-z_][\w./-]*$/;
/** Words that YAML takes for something else. */
const NO_TEXT = /^(?:true|false|null|~)$/i;
const MAX_NAME_CHARACTERS = 200;

/**
 * @param taken names of the same kind
 * @returns why something cannot be called so, as a sentence; null if it can
 */
export function whyNotCalled(kind: NameKind, name: string, taken: ReadonlySet<string>): string | null {
  if (name.length > MAX_NAME_CHARACTERS) return `A name has at most ${MAX_NAME_CHARACTERS} characters.`;
  if (isOwnKey(name)) return "Keys that begin with x- are nobody's names.";
  const isFitting = kind === "variable" ? VARIABLE_NAME.test(name) : PLAIN_NAME.test(name) && !NO_TEXT.test(name);
  if (!isFitting) {
    const more = kind === "variable" ? "`_` and `-`" : "`_`, `-`, `.` and `/`";
    return `\`${name}\` cannot be the name of ${kind === "environment" ? "an" : "a"} ${kind}: letters, digits, ${more}, beginning with a letter or \`_\`.`;
  }
  return taken.has(name) ? `There is a ${kind} \`${name}\` already.`.replace("a environment", "an environment") : null;
}
