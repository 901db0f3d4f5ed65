/** One violation of the schema in words: what is wrong, why, and what to write. */

import type { ErrorObject } from "ajv";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import { nearest, suggestion } from "../model/suggest.ts";
import type { Places } from "./places.ts";

export interface Violation {
  readonly error: ErrorObject;
  /** From the root of the file to the value: each container with the key taken. */
  readonly way: readonly { readonly container: object; readonly key: string }[];
  readonly value: Json;
}

export function violationDiagnostic(violation: Violation, places: Places): Diagnostic {
  const { error, way, value } = violation;
  const last = way.at(-1);
  const schema = isJsonObject(error.parentSchema) ? error.parentSchema : {};
  const name = nameOf(violation);
  const at = last === undefined ? places.span(value as object) : places.span(last.container, last.key);
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(violation, schema, places);
    case "oneOf":
      return notOneKey(violation, schema, places);
    case "required":
      return missingKey(violation, schema, places);
    case "type":
      return value === null ? emptyValue(name, schema, at) : wrongType(name, value, schema, at);
    case "const":
    case "enum": {
      const allowed = [...((schema["enum"] as Json[] | undefined) ?? [schema["const"] ?? null])].map(String);
      const detail = `${shown(value)} is not among the values of ${name.phrase}: ${allowed.join(", ")}.`;
      return {
        code: "unknown-value",
        severity: "error",
        summary: `unknown value of ${name.phrase}`,
        detail,
        fix: choose(typeof value === "object" ? "" : String(value), allowed),
        span: at,
      };
    }
    case "minimum":
    case "maximum": {
      const range = [schema["minimum"] ?? "", schema["maximum"] ?? ""].join("..");
      const detail = `${shown(value)} is outside ${range}.`;
      return {
        code: "out-of-range",
        severity: "error",
        summary: `${name.phrase} is out of range`,
        detail,
        fix: `Write a number within ${range}.`,
        span: at,
      };
    }
    default:
      return badFormat(name, value, schema, error, at);
  }
}

type At = NonNullable<Diagnostic["span"]>;

/** What a message calls the value. */
interface Name {
  /** The key, or for an entry of a list the list's key. */
  readonly key: string;
  readonly isEntry: boolean;
  /** `` `label` ``, `` an entry of `vpcs` ``. */
  readonly phrase: string;
}

function nameOf({ way }: Violation): Name {
  const key = way.findLast(({ container }) => !Array.isArray(container))?.key ?? "manifest";
  const isEntry = Array.isArray(way.at(-1)?.container);
  return { key, isEntry, phrase: isEntry ? `an entry of \`${key}\`` : `\`${key}\`` };
}

/** `spf` is spelt out when it is said. */
function withArticle(title: string): string {
  return `${/^([aeiou]|spf\b)/.test(title) ? "an" : "a"} ${title}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The keys that the object of an unknown key could have. */
export function knownKeys({ parentSchema }: ErrorObject): string[] {
  const schema: unknown = parentSchema?.["properties"];
  return typeof schema === "object" && schema !== null ? Object.keys(schema) : [];
}

function unknownKey({ error, value, way }: Violation, schema: JsonObject, places: Places): Diagnostic {
  const key = String(error.params["additionalProperty"]);
  const span = places.keySpan(value as object, key);
  const known = knownKeys(error);
  if (known.length === 0) return badVariableName(key, span);
  const title = String(schema["title"] ?? "mapping").toLowerCase();
  const where = way.length === 0 ? "a manifest" : withArticle(title);
  const detail = `\`${key}\` is not a key of ${where}.`;
  const merge = "Merge keys belong to YAML 1.1; use `defaults` or `record_sets`.";
  const best = nearest(key, known);
  const list = `Known are: ${known.join(", ")}. Keys that begin with \`x-\` are yours.`;
  const fix = key === "<<" ? merge : best !== null ? `Did you mean \`${best}\`?` : list;
  return { code: "unknown-key", severity: "error", summary: `unknown key \`${key}\``, detail, fix, span };
}

function badVariableName(key: string, span: At): Diagnostic {
  const detail = `\`${key}\` cannot be the name of a variable: letters, digits, \`_\` and \`-\`, beginning with a letter or \`_\`.`;
  return {
    code: "bad-format",
    severity: "error",
    summary: "bad variable name",
    detail,
    fix: "Choose another name.",
    span,
  };
}

function missingKey({ error, value }: Violation, schema: JsonObject, places: Places): Diagnostic {
  const key = String(error.params["missingProperty"]);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const property = isJsonObject(properties[key]) ? properties[key] : {};
  const detail = `\`${key}\` is required. ${String(property["description"] ?? "")}`.trim();
  const example = [property["examples"]].flat()[0];
  const fix = example === undefined ? `Add \`${key}\`.` : `Add \`${key}: ${String(example)}\`.`;
  return {
    code: "missing-key",
    severity: "error",
    summary: `\`${key}\` is missing`,
    detail,
    fix,
    span: places.firstKeySpan(value as object),
  };
}

/** The schema wants exactly one of several keys; which they are, its branches say. */
export function choiceOf(schema: JsonObject): string[] {
  const branches = (schema["oneOf"] ?? []) as readonly { readonly required?: readonly string[] }[];
  return branches.flatMap(({ required }) => required ?? []);
}

function notOneKey({ value }: Violation, schema: JsonObject, places: Places): Diagnostic {
  const title = String(schema["title"] ?? "mapping").toLowerCase();
  const choice = choiceOf(schema);
  const list = choice.map((key) => `\`${key}\``).join(", ");
  const [first, second] = choice.filter((key) => Object.hasOwn(value as object, key));
  if (first === undefined || second === undefined) {
    return {
      code: "missing-key",
      severity: "error",
      summary: `\`${choice[0]}\` is missing`,
      detail: `${sentence(withArticle(title))} has one of: ${list}.`,
      fix: `Add \`${choice[0]}\`.`,
      span: places.firstKeySpan(value as object),
    };
  }
  return {
    code: "conflicting-keys",
    severity: "error",
    summary: `both \`${first}\` and \`${second}\``,
    detail: `${sentence(withArticle(title))} has one of: ${list}.`,
    fix: "Remove one of the two, or make two entries of them.",
    span: places.keySpan(value as object, second),
    related: [{ message: "the other one", span: places.keySpan(value as object, first) }],
  };
}

function emptyValue(name: Name, schema: JsonObject, span: At): Diagnostic {
  const what = name.isEntry ? "entry" : "key";
  const detail = `${sentence(name.phrase)} has no value: in YAML an empty ${what} is null, and null is not allowed here.`;
  const takesList = !name.isEntry && [schema["type"]].flat().includes("array");
  const empty = takesList ? `Write \`${name.key}: []\` for none` : "Write a value";
  return {
    code: "empty-value",
    severity: "error",
    summary: `${name.phrase} is empty`,
    detail,
    fix: `${empty}, or leave the ${what} out.`,
    span,
  };
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
};

function wrongType(name: Name, value: Json, schema: JsonObject, span: At): Diagnostic {
  const types = [schema["type"]]
    .flat()
    .map(String)
    .filter((type) => type !== "null");
  const wanted = types.map((type) => TYPE_WORDS[type] ?? type).join(" or ");
  const is = Array.isArray(value) ? "a list" : isJsonObject(value) ? "a mapping" : shown(value);
  const detail = `${sentence(name.phrase)} must be ${wanted}, but is ${is}.`;
  const quoted = typeof value === "string" && /^(-?\d+|true|false)$/.test(value);
  const fix = quoted ? "Write it without quotes." : `Write ${wanted}.`;
  return { code: "wrong-type", severity: "error", summary: `${name.phrase} must be ${wanted}`, detail, fix, span };
}

function badFormat(name: Name, value: Json, schema: JsonObject, error: ErrorObject, span: At): Diagnostic {
  const about = schema["description"] === undefined ? "" : ` ${String(schema["description"])}`;
  const code = { maxLength: "too-long", minLength: "too-short", minItems: "too-short" }[error.keyword] ?? "bad-format";
  const summary =
    code === "bad-format"
      ? `bad ${name.phrase.replace(/^an /, "")}`
      : `${name.phrase} is ${code === "too-long" ? "too long" : "empty or too short"}`;
  const why = error.keyword === "not" ? "says nothing" : (error.message ?? "does not fit");
  const detail = `${shown(value)} ${why}.${about}`;
  const example = [schema["examples"]].flat()[0];
  const fix =
    example === undefined
      ? "Correct the value."
      : `For example: ${typeof example === "string" ? example : JSON.stringify(example)}.`;
  return { code, severity: "error", summary, detail, fix, span };
}

function choose(word: string, allowed: readonly string[]): string {
  const text = suggestion(word, allowed);
  return text === "" ? "Correct the value." : text;
}

/** Longer values are cut in messages: the source line is shown anyway. */
const MAX_SHOWN_CHARACTERS = 60;

function shown(value: Json): string {
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return `\`${text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text}\``;
}
