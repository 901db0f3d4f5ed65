/** What a plan says of whole objects before it compares them: ids that are gone, other owners, the wrong account. */

import type { Declared, Removed } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveIdentity } from "../model/unit.ts";

type Entry = Declared | Removed;

/** A warning: the object may have been made anew, and so have got another id. */
export function staleId(entry: Entry, found: LiveIdentity | "several" | null): Diagnostic {
  if (found === "several") return staleAmong(entry);
  const instead = found === null ? "so it will be created" : `so its label counts, and finds the id ${found.id}`;
  return {
    ...refusal(entry, {
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
    ...refusal(entry, {
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
    detail: `It is deleted and made anew, so that nothing has the id ${String(entry.id)} any more. The report of the apply says the new one.`,
    fix: "Write the new id into the manifest then.",
    span: entry.idSpan ?? entry.span,
    address: entry.address,
  };
}

export function claimedTwice(entry: Entry, identity: LiveIdentity): Diagnostic {
  return refusal(entry, {
    code: "claimed-twice",
    summary: `${entry.address} and another entry mean the same live object`,
    detail: `The object with the id ${identity.id} is already claimed by another entry of the project.`,
    fix: "Remove one of the two entries, or correct its `id:` or `moved_from:`.",
  });
}

export function otherName(entry: Removed, { address, id }: LiveIdentity): Diagnostic {
  return refusal(entry, {
    code: "removed-other-name",
    summary: `${entry.address} is not the object with the id ${id}`,
    detail: `That one is ${address}. What \`removed\` names goes without further consent, so the name must be the object's own.`,
    fix: "Correct the id, or write the name that the object has now.",
  });
}

export function foreignOwner(entry: Entry, owner: string, ours: string | null): Diagnostic {
  const whose = ours === null ? "this project has no `owner`" : `this project's owner is "${ours}"`;
  return refusal(entry, {
    code: "foreign-owner",
    summary: `${entry.address} belongs to the owner "${owner}"`,
    detail: `The live object carries the ownership tag of "${owner}", and ${whose}.`,
    fix: `Manage it where "${owner}" is at home, or take it over with --take-ownership-from=${owner}.`,
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
        ? "The manifest names an `account`, and TENON_ACCOUNT is not set, so it cannot be told whether the token is for that account."
        : `The manifest names the account "${expected}", and TENON_ACCOUNT is "${actual}".`,
    fix: `Set TENON_ACCOUNT=${expected} beside the token of that account.`,
  };
}

function refusal(entry: Entry, said: Pick<Diagnostic, "code" | "summary" | "detail"> & { fix: string }): Diagnostic {
  const span = ("idSpan" in entry ? entry.idSpan : undefined) ?? entry.span;
  return { ...said, severity: "error", span, address: entry.address };
}
