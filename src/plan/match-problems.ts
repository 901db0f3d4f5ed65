/** What is wrong with whole objects, before their fields are compared: ids that are gone, other owners, the wrong account. */

import type { Declared, Removed } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { shellWord } from "../model/text.ts";
import type { LiveIdentity } from "../model/unit.ts";

type Entry = Declared | Removed;

/** A warning: the object may have been made anew, and so have got another id. */
export function staleId(entry: Entry, found: LiveIdentity | "several" | null): Diagnostic {
  if (found === "several") return staleAmong(entry);
  const instead =
    found === null ? "so it will be created" : `so it was matched by its label to the object with the id ${found.id}`;
  return {
    ...diagnosticOf(entry, {
      code: "stale-id",
      summary: `no live object has the id ${String(entry.id)}`,
      detail: `${entry.address} is declared with an \`id:\` that the account does not know, ${instead}.`,
      fix: found === null ? "Correct the id, or leave it out." : `Write \`id: ${found.id}\`, or leave the id out.`,
    }),
    severity: "warning",
  };
}

function staleAmong(entry: Entry): Diagnostic {
  return {
    ...diagnosticOf(entry, {
      code: "stale-id",
      summary: `no live object has the id ${String(entry.id)}`,
      detail: `${entry.address} is declared with an \`id:\` that the account does not know, and several objects carry its label.`,
      fix: "Write the id of the one that is meant.",
    }),
    severity: "warning",
  };
}

/** A warning: the replace gives the object another id than the manifest names. */
export function idBecomesStale(entry: Declared): Diagnostic {
  return {
    code: "id-becomes-stale",
    severity: "warning",
    summary: `${entry.address} is named by its id, and gets a new one`,
    detail: `It is deleted and made anew; after that nothing has the id ${String(entry.id)}. The apply's report names the new id.`,
    fix: "Write the new id into the manifest then.",
    span: entry.idSpan ?? entry.span,
    address: entry.address,
  };
}

export function formerWithoutTag(entry: Entry, { address, id }: LiveIdentity, owner: string): Diagnostic {
  return diagnosticOf(entry, {
    code: "moved-from-untagged",
    summary: `\`moved_from\` of ${entry.address} names ${address}, which does not carry this project's tag`,
    detail: `No live object has the new label. ${address} has the old label but not the tag of the owner \`${owner}\`, so it may belong to somebody else.`,
    fix: `If it is the object to rename, name it by \`id: ${id}\`. If not, remove \`moved_from\`.`,
  });
}

/** A warning: once the entry's object is gone, the next run would take the other one for it. */
export function formerIsAnother(entry: Entry, { address, id }: LiveIdentity): Diagnostic {
  return {
    ...diagnosticOf(entry, {
      code: "moved-from-done",
      summary: `\`moved_from\` of ${entry.address} is no longer needed, but another object has that label`,
      detail: `If ${entry.address} is ever deleted, the next run may match ${address} (id ${id}) to its entry.`,
      fix: "Remove `moved_from`.",
    }),
    severity: "warning",
  };
}

/** A warning of a destroy. */
export function formerIsLeft(entry: Entry, { address, id }: LiveIdentity): Diagnostic {
  return {
    ...diagnosticOf(entry, {
      code: "moved-from-left",
      summary: `${address} is not destroyed, although \`moved_from\` of ${entry.address} names it`,
      detail:
        "A destroy does not follow `moved_from`: after the rename, an object with the old label is a different object.",
      fix: `If it is the object to destroy, name it by \`id: ${id}\`, or apply the rename first.`,
    }),
    severity: "warning",
  };
}

export function claimedTwice(entry: Entry, identity: LiveIdentity): Diagnostic {
  return diagnosticOf(entry, {
    code: "claimed-twice",
    summary: `${entry.address} and another entry mean the same live object`,
    detail: `The object with the id ${identity.id} is already claimed by another entry of the project.`,
    fix: "Remove one of the two entries, or correct its `id:` or `moved_from:`.",
  });
}

export function otherName(entry: Removed, { address, id }: LiveIdentity): Diagnostic {
  return diagnosticOf(entry, {
    code: "removed-other-name",
    summary: `${entry.address} is not the object with the id ${id}`,
    detail: `That one is ${address}. What \`removed\` names goes without further consent, so the name must be the object's own.`,
    fix: "Correct the id, or write the name that the object has now.",
  });
}

export function otherObject(entry: Declared, { address, id }: LiveIdentity): Diagnostic {
  return diagnosticOf(entry, {
    code: "id-of-another",
    summary: `${entry.address} is not the object with the id ${id}`,
    detail: `That one is ${address}. A domain cannot be renamed, so an entry of another name cannot mean it.`,
    fix: "Leave `id:` out: names of domains are unique. To move to another name, declare a domain of that name beside the old one.",
  });
}

export function foreignOwner(entry: Entry, owner: string, ours: string | null): Diagnostic {
  const whose = ours === null ? "this project has no `owner`" : `this project's owner is "${ours}"`;
  return diagnosticOf(entry, {
    code: "foreign-owner",
    summary: `${entry.address} belongs to the owner "${owner}"`,
    detail: `The live object carries the ownership tag of "${owner}", and ${whose}.`,
    fix: `Manage it where "${owner}" is at home, or take it over with --take-ownership-from=${shellWord(owner)}.`,
  });
}

/** @param actual TENON_ACCOUNT, null if it is not set */
export function wrongAccount(expected: string, actual: string | null): Diagnostic {
  return {
    code: "wrong-account",
    severity: "error",
    summary: `the project is for the account "${expected}"`,
    detail:
      actual === null
        ? "The manifest names an `account`, and TENON_ACCOUNT is not set, so nothing shows whether the token is for that account."
        : `The manifest names the account "${expected}", and TENON_ACCOUNT is "${actual}".`,
    fix: `Set TENON_ACCOUNT=${shellWord(expected)} beside the token of that account.`,
  };
}

/** A warning: what gets the name later would go without further consent. */
export function nothingToRemove(entry: Removed): Diagnostic {
  return {
    ...diagnosticOf(entry, {
      code: "removed-absent",
      summary: `\`removed\` names ${entry.address}, which is not there`,
      detail:
        "To be named there is a consent: an object that somebody gives this name later would be deleted, whoever made it.",
      fix: "Take the entry out of `removed`.",
    }),
    severity: "warning",
  };
}

/** An error about the entry, at its `id:` if it has one. */
function diagnosticOf(
  entry: Entry,
  said: Pick<Diagnostic, "code" | "summary" | "detail"> & { fix: string },
): Diagnostic {
  const span = ("idSpan" in entry ? entry.idSpan : undefined) ?? entry.span;
  return { ...said, severity: "error", span, address: entry.address };
}
