/** Guards in words: what a change would do, and exactly what to write to consent to it. */

import type { Address } from "../model/address.ts";
import type { ConsentRule } from "../model/desired.ts";
import { escapeGlob } from "../model/glob.ts";
import type { Guard } from "../model/plan.ts";
import { escapeText } from "./escape.ts";

/** What would happen, without a full stop. */
export function guardText(guard: Guard): string {
  const address = escapeText(guard.address);
  switch (guard.rule) {
    case "delete":
      return `${address} would be deleted: it carries our tag and is no longer declared`;
    case "replace":
      return `${address} would be deleted and made anew, with all that is in it`;
    case "bulk":
      return `${lossText(guard)} of ${address} would be removed`;
    case "ns":
      return `the NS records at the apex of ${address} would change`;
    case "protect":
      return `${address} is protected; set its protect to false first`;
    case "max-changes":
      return `${guard.count ?? 0} changes are more than --max-changes ${guard.of ?? 0}`;
  }
}

/** What consent was given to, as a clause after `to`. */
export function consentText(guard: Guard): string {
  const address = escapeText(guard.address);
  switch (guard.rule) {
    case "delete":
      return `delete ${address}, which is no longer declared`;
    case "replace":
      return `delete ${address} and make it anew, with all that is in it`;
    case "bulk":
      return `remove ${lossText(guard)} of ${address}`;
    case "ns":
      return `change the NS records at the apex of ${address}`;
    case "protect":
    case "max-changes":
      return guardText(guard);
  }
}

/** How much of what is in it. */
function lossText({ address, count, of }: Guard): string {
  return `${count ?? 0} of the ${of ?? 0} ${address.startsWith("vpc/") ? "subnets" : "records"}`;
}

/** The words of consent on the command line and in the root file, or null where there can be none. */
export function consentWords(guard: Guard): { readonly flag: string; readonly entry: string } | null {
  if (guard.consent !== "missing" || guard.rule === "protect" || guard.rule === "max-changes") return null;
  const glob = escapeText(escapeGlob(guard.address));
  return { flag: consentFlag(guard.rule, guard.address), entry: `- { ${guard.rule}: ${yamlWord(glob)} }` };
}

/** The flag that consents to just this, for a shell. */
export function consentFlag(rule: ConsentRule, address: Address): string {
  return `--allow ${shellWord(`${rule}=${escapeText(escapeGlob(address))}`)}`;
}

function shellWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function yamlWord(text: string): string {
  return /^[a-z][\w./@-]*$/i.test(text) ? text : `'${text.replaceAll("'", "''")}'`;
}
