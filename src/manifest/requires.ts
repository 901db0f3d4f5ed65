/** `requires` of the root file: which versions of Tenon may run the project. Judged before anything else that it says. */

import { readVersion } from "../files/package-files.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { JsonObject } from "../model/resource.ts";
import type { Places } from "./positions.ts";

const KEY = "requires";

/** A list of every version that there may ever be is shorter. */
const MAX_RANGE_CHARACTERS = 200;

/**
 * What is wrong with `requires`, if anything is.
 * - `bad-version-range`: it is no range. The rest of the project is judged all the same.
 * - `other-version`: this version is outside the range. The rest may hold what this version does not know, so it is not judged.
 * @param version of Tenon; absent: that of this package
 * @param root the root file as it was parsed: a value of the wrong shape is left for the schema to report
 */
export async function judgeRequires(
  root: JsonObject,
  version: string | undefined,
  places: Places,
): Promise<Diagnostic | null> {
  const value = Object.hasOwn(root, KEY) ? (root[KEY] ?? null) : null;
  if (value === null || value === "" || typeof value === "object") return null;
  // A number such as 0.10 is meant as it was written.
  const text = typeof value === "string" ? value : (places.source(root, KEY) ?? String(value));
  const span = places.span(root, KEY);
  const range = await parseRange(text);
  if (typeof range === "string") {
    return {
      code: "bad-version-range",
      severity: "error",
      summary: `\`${KEY}\` is not a range of versions`,
      detail: range,
      fix: 'Write one as npm does, for example ">=0.2 <1", ^0.2 or 0.2.x.',
      span,
    };
  }
  const current = version ?? readVersion();
  if (range.test(current)) return null;
  return {
    code: "other-version",
    severity: "error",
    summary: `this project requires Tenon ${text.trim()}, and this is Tenon ${current}`,
    detail: "The rest of the project has not been looked at: another version may know what this one does not.",
    fix: `Run a version of Tenon that fits, or change \`${KEY}\`.`,
    span,
  };
}

interface VersionRange {
  test(version: string): boolean;
}

/** @returns why it is none, in a sentence */
async function parseRange(text: string): Promise<VersionRange | string> {
  if (text.length > MAX_RANGE_CHARACTERS) return `It has more than ${MAX_RANGE_CHARACTERS} characters.`;
  if (text.includes("${")) return "It is read before variables have values, so it cannot refer to one.";
  // `~> 0.2` is <1 there, and <0.3 here.
  if (text.includes("~>")) return "`~>` means something else in Terraform than in npm.";
  if (text.includes(",")) return "Conditions are separated by a space, alternatives by `||`.";
  const { default: SemverRange } = await import("semver/classes/range.js");
  try {
    return new SemverRange(text, { includePrerelease: true });
  } catch {
    return "It cannot be read.";
  }
}
