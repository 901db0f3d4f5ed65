/** Whether a project may manage a part of an object that is another's: both must agree, on the object itself, before anything is touched. */

import type { Declared } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Goal } from "../model/plan.ts";
import type { LiveIdentity, Match } from "../model/unit.ts";

/**
 * What becomes of the part; a part that is destroyed is emptied.
 * @param found the live object; null if there is none
 * @param owner of the project that declares the part
 * @returns with an error, and no match, if the object does not say that its owner agrees. To destroy a part of nothing is no error.
 */
export function matchPart(
  entry: Declared,
  found: { readonly identity: LiveIdentity; readonly live: unknown } | null,
  owner: string | null,
  goal: Goal,
): { readonly match: Match | null; readonly objection: Diagnostic | null } {
  if (found === null) return { match: null, objection: goal !== "destroy" ? partOfNothing(entry) : null };
  const objection = objectionTo(entry, found.identity, owner);
  if (objection !== null) return { match: null, objection };
  const empties = goal === "destroy" ? { empties: true as const } : {};
  return { match: { intent: "manage", declared: entry, removed: null, live: found.live, ...empties }, objection: null };
}

function objectionTo(entry: Declared, found: LiveIdentity, owner: string | null): Diagnostic | null {
  if (owner !== null && found.owner === owner) return partOfOwn(entry, owner);
  const isAgreed = owner !== null && found.sharedWith?.includes(owner) === true;
  return isAgreed ? null : notShared(entry, owner, found.owner);
}

function partOfNothing(entry: Declared): Diagnostic {
  return error(entry, {
    code: "part-of-nothing",
    summary: `${entry.address} is not there`,
    detail: "The project declares a part of it, and never makes the whole.",
    fix: "Let the project of its owner make it and share it first.",
  });
}

function partOfOwn(entry: Declared, owner: string): Diagnostic {
  return error(entry, {
    code: "part-of-own",
    summary: `${entry.address} belongs to this project as a whole`,
    detail: `It carries the ownership tag of "${owner}", this project's own, and the project declares only a part of it.`,
    fix: "Declare all of it, without `part`; or release it first, by `destroy: false` under `removed`.",
  });
}

/** @param theirs the owner in the object's tag, null if it carries none */
function notShared(entry: Declared, owner: string | null, theirs: string | null): Diagnostic {
  const who = theirs === null ? "whoever manages it" : `"${theirs}"`;
  return error(entry, {
    code: "not-shared",
    summary: `${entry.address} is not shared with this project`,
    detail: `This project declares a part of it, and nothing on it says that ${who} agrees: it lacks the tag tenon-part:${String(owner)}.`,
    fix: `Have its owner add \`shared_with: [{ owner: ${String(owner)}, names: […] }]\` and apply that first.`,
  });
}

function error(
  { address, span }: Declared,
  said: Pick<Diagnostic, "code" | "summary" | "detail"> & { readonly fix: string },
): Diagnostic {
  return { ...said, severity: "error", span, address };
}
