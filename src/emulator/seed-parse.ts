/** A seed file: YAML → a seed, or an error that names the lines. */

import { createRequire } from "node:module";
import type { ErrorObject } from "ajv";
import type { Seed } from "./seed.ts";
import { SeedError } from "./seed.ts";
import { SEED_SCHEMA } from "./seed-schema.ts";

/** Shown at most; the rest is counted. */
const MAX_SHOWN_PROBLEMS = 20;

/** Enough for what a person writes; a file of nested aliases ends here. */
const MAX_ALIASES = 1_000;

/** API.md's word, which stands where no dialect has another. */
const NEUTRAL_WORD = "node";

/**
 * Judges the shape of a seed; whether the account can hold it is found when it starts.
 * @param word the operator's: `linodes`, images `linode/…` and entities of type `linode` are then understood, too
 * @throws SeedError
 */
export function parseSeed(text: string, word: string = NEUTRAL_WORD): Seed {
  // Loaded only here, and by require so that this function need not be asynchronous.
  const require = createRequire(import.meta.url);
  const yaml = require("yaml") as typeof import("yaml");
  const { Ajv } = require("ajv") as typeof import("ajv");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    throw seedError(document.errors.map((error) => `line ${lineOf(error.pos[0])}: ${error.message}`));
  }
  let seed: unknown;
  try {
    seed = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (error) {
    throw seedError([error instanceof Error ? error.message : String(error)]);
  }
  const twice = neutralise(seed, word);
  if (twice !== null)
    throw seedError([`line ${lineOf(offsetOf(document, twice))}: ${twice.join(".")}: nodes is there as well`]);
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(SEED_SCHEMA);
  if (validate(seed)) return seed as Seed;
  throw seedError(
    (validate.errors ?? []).map((error) => {
      const path = asWritten(document, pathOf(error), word);
      return `line ${lineOf(offsetOf(document, path))}: ${describe(error, path)}`;
    }),
  );
}

/**
 * Puts API.md's word in the place of the operator's, in the seed itself.
 * @returns the path of a key that is there in both words, or null
 */
function neutralise(seed: unknown, word: string): string[] | null {
  if (word === NEUTRAL_WORD || !isObject(seed)) return null;
  const others = isObject(seed["other_accounts"]) ? Object.entries(seed["other_accounts"]) : [];
  for (const [account, path] of [[seed, []], ...others.map(([name, other]) => [other, ["other_accounts", name]])] as [
    unknown,
    string[],
  ][]) {
    if (!isObject(account)) continue;
    const key = `${word}s`;
    if (Object.hasOwn(account, key)) {
      if (Object.hasOwn(account, "nodes")) return [...path, key];
      account["nodes"] = account[key];
      delete account[key];
    }
    for (const image of objectsOf(account["images"])) {
      const { id } = image;
      if (typeof id === "string" && id.startsWith(`${word}/`)) image["id"] = `node/${id.slice(word.length + 1)}`;
    }
    for (const { entity } of objectsOf(account["tickets"])) {
      if (isObject(entity) && entity["type"] === word) entity["type"] = NEUTRAL_WORD;
    }
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A path in API.md's words as the document has it. */
function asWritten(document: import("yaml").Document.Parsed, path: readonly string[], word: string): string[] {
  const at = path[0] === "other_accounts" ? 2 : 0;
  const written = [...path.slice(0, at), `${word}s`];
  return path[at] === "nodes" && document.hasIn(written) ? [...written, ...path.slice(at + 1)] : [...path];
}

function seedError(problems: readonly string[]): SeedError {
  const shown = problems.slice(0, MAX_SHOWN_PROBLEMS);
  const rest = problems.length - shown.length;
  return new SeedError([...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("\n"));
}

/** The keys that lead to what is wrong; of an unknown key, to that key. */
function pathOf(error: ErrorObject): string[] {
  const keys = error.instancePath
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const unknown = error.params["additionalProperty"] as string | undefined;
  return unknown === undefined ? keys : [...keys, unknown];
}

function describe(error: ErrorObject, path: readonly string[]): string {
  const place = path.length === 0 ? "the seed" : path.join(".");
  if (error.keyword === "additionalProperties") return `${place}: unknown key`;
  if (error.keyword === "enum")
    return `${place} must be one of ${(error.params["allowedValues"] as string[]).join(", ")}`;
  return `${place} ${error.message ?? "is wrong"}`;
}

/** Where the innermost thing on the path that is written begins. */
function offsetOf(document: import("yaml").Document.Parsed, path: readonly string[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const keys = path.slice(0, length).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    const node = document.getIn(keys, true) as { range?: readonly [number, number, number] | null } | undefined;
    if (node?.range) return node.range[0];
  }
  return 0;
}
