/** What an undo warns of: what does not come back, or is left as it is. */

import type { Diagnostic } from "../model/diagnostic.ts";
import type { Address, ObjectId, Values } from "../model/resource.ts";

/** The manifests are not changed by an undo. */
export const MANIFEST_STAYS: Diagnostic = {
  code: "undo-manifest",
  severity: "warning",
  summary: "the manifests still say what this undoes",
  detail: "The next apply does it again, unless they are changed back.",
  fix: "Revert the change of the manifests, too.",
};

export type Explanation = Pick<Diagnostic, "code" | "summary" | "detail" | "fix">;

export function notRestorable(address: Address): Explanation {
  return {
    code: "undo-lost",
    summary: `${address} does not come back`,
    detail: "The run deleted it, and what an image holds is in no journal.",
    fix: "Declare it with its `upload` or `capture`, and apply that.",
  };
}

/** @param lost how many of its kind the run deleted */
export function standsFor(address: Address, lost: number): Explanation {
  return {
    code: "undo-stands-for",
    summary: `${address} stays: what the run deleted does not come back`,
    detail: `The run deleted ${lost === 1 ? "an object" : `${lost} objects`} of its kind, which it may have taken the place of. Without it, none may be left.`,
    fix: "If it is not needed, delete it by the manifests.",
  };
}

export function newId(address: Address, id: ObjectId | null): Explanation {
  return {
    code: "undo-new-id",
    summary: `${address} gets a new id instead of ${String(id)}`,
    detail: "It is made anew, and the service gives no id twice.",
    fix: "Tell it to whoever names the object by its id.",
  };
}

/** A plan shows no owner of what it makes. */
export function madeForOther(address: Address, owner: string): Explanation {
  return {
    code: "undo-other-owner",
    summary: `${address} gets the owner's tag of ${owner}`,
    detail: "The journal says that it had that tag before the run. It is that project's again, and not this one's.",
    fix: "Do not apply this if nobody knows why the run deleted an object of another project: the journal may be forged.",
  };
}

export function goneSince(address: Address): Explanation {
  return {
    code: "undo-gone",
    summary: `${address} is gone: what the run changed of it is not restored`,
    detail: "Somebody has deleted it since, and the undo makes nothing that the run did not delete.",
    fix: "Declare it and apply that, if it is needed.",
  };
}

export function madeByWhom(address: Address): Explanation {
  return {
    code: "undo-unknown",
    summary: `${address} stays: nobody knows whether the run made it`,
    detail:
      "No answer to the request of the run was seen, and the object of that name is not as the run was making it.",
    fix: "If it is of that run, delete it by the manifests.",
  };
}

export function gaveWayTo(what: string): Explanation {
  return {
    code: "undo-gave-way",
    summary: `${what}: the run gave way to an equal one that was there first`,
    detail:
      "It deleted its own as a duplicate, and went on with the one that stays. Another run may have made that, and need it.",
    fix: "Undo the other run, if it is to go, too.",
  };
}

export function copiedWith(address: Address, count: number): Explanation {
  return {
    code: "undo-copied",
    summary: `${address} goes with all that it holds: ${count} ${count === 1 ? "record" : "records"}`,
    detail:
      "The run made it as a copy, and which records came with that is in no journal. What others have added since goes with it, too.",
    fix: "Look at its records first, by `tenon zone export`.",
  };
}

export function nameTaken(address: Address): Explanation {
  return {
    code: "undo-name-taken",
    summary: `${address} is not made again: another object has its name`,
    detail:
      "The run deleted it, and somebody has made one of its name since, with other values. That one is left as it is.",
    fix: "Compare the two in the journal and by `tenon show`, and declare what is meant.",
  };
}

export function nameKept(address: Address): Explanation {
  return {
    code: "undo-name-taken",
    summary: `${address} does not get its name back: another object has it`,
    detail: "Somebody has given that name to another object since. The rest that the run changed is taken back.",
    fix: "Rename one of the two by the manifests.",
  };
}

export function leftAlone(root: Address, count: number): Explanation {
  return {
    code: "undo-left",
    summary: `${count === 1 ? "a record" : `${count} records`} of ${root} that the run changed ${count === 1 ? "is" : "are"} left alone`,
    detail:
      "The project ignores such records now, shares their names with another project, or declares no part that they are in; or its patterns under `ignore` are too many to be compared with so many records.",
    fix: "Change them where they are kept.",
  };
}

export function inTheWay(root: Address, values: Values): Explanation {
  const { type = "subnet", name, label } = values;
  return {
    code: "undo-in-the-way",
    summary: `a ${String(type)} of ${root} is not restored: something stands in its place`,
    detail: `${JSON.stringify(name ?? label ?? "")} cannot be there beside what somebody has made since.`,
    fix: "Decide which of the two is meant, and declare it.",
  };
}
