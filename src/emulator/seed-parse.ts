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

/**
 * Judges the shape of a seed; whether the account can hold it is found when it starts.
 * @throws SeedError
 */
export function parseSeed(text: string): Seed {
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
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(SEED_SCHEMA);
  if (validate(seed)) return seed as Seed;
  throw seedError(
    (validate.errors ?? []).map((error) => {
      const path = pathOf(error);
      return `line ${lineOf(offsetOf(document, path))}: ${describe(error, path)}`;
    }),
  );
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
