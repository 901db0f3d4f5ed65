/** Guards as text: what a change would do, and exactly what to write to consent to it. */

import { type Change, isApexNameserver } from "../model/change.ts";
import type { ConsentRule } from "../model/desired.ts";
import type { KindFacts, Kinds } from "../model/kind.ts";
import { type Guard, isNarrowed, type Plan } from "../model/plan.ts";
import type { Address } from "../model/resource.ts";
import { compareNatural, compareText, escapeGlob, globsFor, groupBy, shellWord } from "../model/text.ts";
import { expiredText } from "./headline.ts";
import { escapeText } from "./terminal.ts";
import { count, PENDING_MARK } from "./view.ts";

/** What a guard's text needs beside the guard: the plan's changes, owner and inputs. */
export type AskedOf = Pick<Plan, "changes" | "owner" | "inputs">;

/** At most this many environments are named; the rest is counted. */
const MAX_NAMED_ENVIRONMENTS = 3;

/** What would happen, without a full stop. */
function guardText(guard: Guard, of: AskedOf, kinds: Kinds): string {
  const address = escapeText(guard.address);
  switch (guard.rule) {
    case "delete":
      if (of.inputs.journal !== undefined) return `${address} would be deleted: the run that is undone made it`;
      return aroundOf(guard, kinds) === null
        ? `${address} would be deleted: it carries our tag and is ${declaredText(guard, of)}`
        : `${address} would be deleted: its entry ${expiredText(expiryOf(guard, of))}`;
    case "replace":
      return `${address} would be deleted and made anew, with all that is in it`;
    case "bulk":
      return guard.count === null
        ? `${address} would no longer be shared, and ${contentsOf(guard, kinds)} of it that others may have made would be left undeclared or changed`
        : bulkText(guard, of, kinds);
    case "ns":
      return nameserversText(guard, of);
    case "protect": {
      const around = aroundOf(guard, kinds);
      // An object within a network or zone that is no longer declared is protected by the `protect` of that network or zone.
      return around === null
        ? `${address} is protected; set its protect to false first`
        : `${address} is protected; set protect to false first, of the ${kinds.at(guard.address)?.words[0]} or of its ${around.words[0]}`;
    }
    case "max-changes":
      return `the plan has ${count(guard.count ?? 0, "change", "changes")}, and --max-changes allows ${guard.of ?? 0}`;
  }
}

/** A run that leaves them out, but turns the domain off, is asked for what a whole one would change. */
function nameserversText({ address }: Guard, { changes, inputs }: AskedOf): string {
  const records = `the NS records at the apex of ${escapeText(address)}`;
  const isOwn = changes.some(
    (change) => change.root === address && change.blocked === null && isApexNameserver(change),
  );
  return isOwn || !leavesOut(inputs)
    ? `${records} would change`
    : `a whole run would change ${records}, which needs no consent once this one has disabled the domain`;
}

function leavesOut(inputs: Plan["inputs"]): boolean {
  return isNarrowed(inputs) || inputs.neverDestroy;
}

/** A narrowed run, and one that leaves deletions out, is judged by what a whole one would remove. */
function bulkText(guard: Guard, { changes, inputs }: AskedOf, kinds: Kinds): string {
  const losses = `${lossText(guard, kinds)} of ${escapeText(guard.address)}`;
  const own = changes.filter(({ root, address, blocked, action, labels }) => {
    const isWithin = root === guard.address && address !== root && blocked === null;
    return isWithin && (action === "delete" || labels.includes("rename"));
  });
  if (!leavesOut(inputs) || own.length >= (guard.count ?? 0)) return `${losses} would be removed`;
  return own.length === 0
    ? `a whole run would remove ${losses}, which beside what this one adds would be few of many`
    : `a whole run would remove ${losses}, and this one removes ${own.length}`;
}

/** What consent was given to, as a clause after `to`. */
function consentText(guard: Guard, { inputs }: Pick<Plan, "inputs">, kinds: Kinds): string {
  const address = escapeText(guard.address);
  switch (guard.rule) {
    case "delete":
      if (inputs.journal !== undefined) return `delete ${address}, which that run made`;
      return aroundOf(guard, kinds) === null
        ? `delete ${address}, which is no longer declared`
        : `delete ${address}, whose entry has expired`;
    case "replace":
      return `delete ${address} and make it anew, with all that is in it`;
    case "bulk":
      return guard.count === null
        ? `end the sharing of ${address}, with ${contentsOf(guard, kinds)} of others in it`
        : `remove ${lossText(guard, kinds)} of ${address}`;
    case "ns":
      return `change the NS records at the apex of ${address}`;
    case "protect":
    case "max-changes":
      // There is no consent for these.
      return "";
  }
}

/** Consents given as clauses after `to`: many of one rule and kind as one, unless `full`. */
export function consentTexts(
  guards: readonly Guard[],
  of: Pick<Plan, "inputs">,
  kinds: Kinds,
  { full = false }: { readonly full?: boolean | undefined } = {},
): string[] {
  const parts = full ? guards.map((guard) => [guard]) : partsOf(guards);
  return parts.map((part) => {
    const [first, last] = [part[0] as Guard, part.at(-1) as Guard];
    if (part.length === 1) return consentText(first, of, kinds);
    const many = count(part.length, ...(kinds.at(first.address)?.words ?? (["object", "objects"] as const)));
    const what = `${many} (${escapeText(first.address)} … ${escapeText(last.address)})`;
    switch (first.rule) {
      case "delete":
        if (of.inputs.journal !== undefined) return `delete ${what}, which that run made`;
        return aroundOf(first, kinds) === null
          ? `delete ${what}, which are no longer declared`
          : `delete ${what}, whose entries have expired`;
      case "replace":
        return `delete ${what} and make them anew, with all that is in them`;
      case "bulk":
        return `remove ${sum(part, "count")} of the ${sum(part, "of")} ${contentsOf(first, kinds)} of ${what}`;
      case "ns":
        return `change the NS records at the apex of ${what}`;
      case "protect":
      case "max-changes":
        return "";
    }
  });
}

/** The date of the expired record that the guard is about. */
function expiryOf({ address }: Guard, { changes }: AskedOf): string | undefined {
  return changes.find((change) => change.labels.includes("expired") && change.address === address)?.annotations
    ?.expires;
}

function declaredText({ declaredUnder = [], uncheckedEnvironments = 0 }: Guard, { inputs }: AskedOf): string {
  const { environment } = inputs;
  const unchecked = uncheckedText(uncheckedEnvironments);
  if (declaredUnder.length === 0) return `no longer declared${unchecked}`;
  const named = declaredUnder.slice(0, MAX_NAMED_ENVIRONMENTS).map(environmentFlag);
  const rest = declaredUnder.length - named.length;
  const all = rest > 0 ? [...named, `${rest} more`] : named;
  const listed = all.length === 1 ? all.join() : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
  return `declared with ${listed}, not with${environment === null ? "out --env" : ` ${environmentFlag(environment)}`}${unchecked}`;
}

/** Appended to the environments that were looked at. */
function uncheckedText(environments: number): string {
  if (environments === 0) return "";
  return ` (${environments} other ${environments === 1 ? "environment was" : "environments were"} not looked at)`;
}

function environmentFlag(name: string): string {
  return `--env ${shellWord(escapeText(name))}`;
}

/** What would make the consent unnecessary, as a sentence; empty if nothing would. */
function adviceOf({ declaredUnder = [] }: Guard, { owner }: AskedOf): string {
  if (declaredUnder.length === 0 || owner === null) return "";
  return `Give each environment its own owner, e.g. owner: ${escapeText(owner)}-\${var.env}`;
}

/** How many of the objects within would be removed, for example `40 of the 50 records`. */
function lossText(guard: Guard, kinds: Kinds): string {
  return `${guard.count ?? 0} of the ${guard.of ?? 0} ${contentsOf(guard, kinds)}`;
}

function contentsOf({ address }: Guard, kinds: Kinds): string {
  return kinds.contentsAt(address)?.words[1] ?? "objects";
}

/** The kind of the network or zone that a guard's object is within; null if it is within none. */
function aroundOf({ address }: Guard, kinds: Kinds): KindFacts | null {
  const around = kinds.rootAt(address);
  return around === kinds.at(address) ? null : around;
}

/** Guards that one consent settles. */
export interface Asked {
  /** What would happen, without a full stop. */
  readonly text: string;
  /** Advice that is better than consent, as a sentence; empty if there is none. */
  readonly advice: string;
  /** Ways to write the consent; empty if there is no consent for the guards. */
  readonly words: readonly Words[];
}

/** A consent that is missing, and how it is written on the command line and in the root file. */
export interface Words extends MissingConsent {
  readonly flag: string;
  readonly entry: string;
}

/** A missing consent, as `--allow` and `allow:` write it. */
export interface MissingConsent {
  readonly rule: ConsentRule;
  /** A glob. */
  readonly address: string;
  /** How many guards the consent settles. */
  readonly guards: number;
}

/** Up to this many guards of one rule and kind are listed one by one; more of them as one. */
const MAX_UNFOLDED_GUARDS = 3;

/** In the order of the first guard of each. A glob for several addresses covers no other address of the project or the account that is known. */
export function askedOf(guards: readonly Guard[], of: AskedOf, kinds: Kinds): Asked[] {
  return partsOf(guards).map((part) => asked(part, of, kinds));
}

/** All missing consents, for programs. */
export function consentsOf(guards: readonly Guard[], plan: Pick<Plan, "changes" | "inputs">): MissingConsent[] {
  return partsOf(guards).flatMap((part) =>
    wordsOf(part, plan).map(({ rule, address, guards: number }) => ({ rule, address, guards: number })),
  );
}

/** Groups of guards that one consent settles; many guards of one rule and kind are one group. */
function partsOf(guards: readonly Guard[]): (readonly Guard[])[] {
  const alike = groupBy(guards, (guard) =>
    JSON.stringify([
      guard.rule,
      guard.consent,
      placeOf(guard),
      guard.origin,
      guard.declaredUnder ?? [],
      guard.uncheckedEnvironments,
      guard.count === null,
    ]),
  );
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    const endsSharings = first?.rule === "bulk" && first.count === null;
    const isFolded =
      FOLDED[first?.rule ?? "max-changes"] !== undefined && !endsSharings && group.length > MAX_UNFOLDED_GUARDS;
    if (!isFolded) return group.map((guard) => [guard]);
    return [group.toSorted((a, b) => compareNatural(a.address, b.address))];
  });
}

/** Equal for objects of one kind: their addresses have the same first segment, and equally many segments. */
function placeOf({ address }: Guard): string {
  const segments = address.split("/");
  return `${segments[0]} ${Math.min(segments.length, 3)}`;
}

function asked(guards: readonly Guard[], of: AskedOf, kinds: Kinds): Asked {
  const first = guards[0] as Guard;
  const mark = first.origin === "already-pending" ? PENDING_MARK : "";
  const text = (guards.length === 1 ? guardText(first, of, kinds) : foldedText(guards, of, kinds)) + mark;
  return { text, advice: adviceOf(first, of), words: wordsOf(guards, of) };
}

function wordsOf(guards: readonly Guard[], { changes, inputs }: Pick<Plan, "changes" | "inputs">): Words[] {
  const { rule, consent } = guards[0] as Guard;
  if (consent !== "missing" || rule === "protect" || rule === "max-changes") return [];
  const addresses = guards.map(({ address }) => address);
  // A narrowed plan, and an undo, does not know what else a glob would cover.
  const isWhole = !isNarrowed(inputs) && inputs.journal === undefined;
  const globs =
    guards.length === 1 || !isWhole
      ? addresses.map((address) => ({ glob: escapeGlob(address), count: 1 }))
      : globsFor(addresses, othersThan(new Set(addresses), changes));
  return globs.map(({ glob, count }) => ({
    rule,
    address: glob,
    guards: globs.length === 1 ? guards.length : count,
    flag: flagOf(rule, glob),
    entry: `- { ${rule}: ${yamlWord(escapeText(glob))} }`,
  }));
}

const FOLDED: Readonly<Partial<Record<Guard["rule"], string>>> = {
  delete: "would be deleted: they carry our tag and are",
  replace: "would be deleted and made anew, with all that is in them",
  ns: "would get other NS records at their apex",
  bulk: "would lose much of what is in them",
  protect: "are protected; set their protect to false first",
};

function foldedText(guards: readonly Guard[], of: AskedOf, kinds: Kinds): string {
  const first = guards[0] as Guard;
  const what = `${guards.length} ${kinds.at(first.address)?.words[1] ?? "objects"}`;
  const text = `${what} ${FOLDED[first.rule]}`;
  const around = aroundOf(first, kinds);
  if (first.rule === "delete" && of.inputs.journal !== undefined)
    return `${what} would be deleted: the run that is undone made them`;
  if (first.rule === "delete")
    return around === null
      ? `${text} ${declaredText(first, of)}`
      : `${what} would be deleted: their entries have expired`;
  if (first.rule === "protect" && around !== null) return `${text}, or that of their ${around.words[0]}`;
  return first.rule === "bulk"
    ? `${text}: ${sum(guards, "count")} of ${sum(guards, "of")} ${contentsOf(first, kinds)}`
    : text;
}

function sum(guards: readonly Guard[], field: "count" | "of"): number {
  return guards.reduce((total, guard) => total + (guard[field] ?? 0), 0);
}

/** Whether a glob would cover an address of the plan beside `own`. An object within one of `own` is deleted with it, and does not count. */
function othersThan(
  own: ReadonlySet<Address>,
  changes: readonly Change[],
): (prefix: string, suffix: string) => boolean {
  const all = addressesOf(changes);
  return (prefix, suffix) => {
    for (let at = firstFrom(all, prefix); all[at]?.text.startsWith(prefix) === true; at += 1) {
      const { text, change } = all[at] as PlannedAddress;
      if (text.length < prefix.length + suffix.length || !text.endsWith(suffix)) continue;
      if (!own.has(change.address) && !own.has(change.root)) return true;
    }
    return false;
  };
}

interface PlannedAddress {
  readonly text: string;
  readonly change: Change;
}

const sortedAddresses: WeakMap<readonly Change[], readonly PlannedAddress[]> = new WeakMap();

/** All addresses of a plan, former ones too, sorted once: refusals may be of thousands of groups. */
function addressesOf(changes: readonly Change[]): readonly PlannedAddress[] {
  const known = sortedAddresses.get(changes);
  if (known !== undefined) return known;
  const all = changes.flatMap((change) =>
    [change.address, change.previousAddress].flatMap((text) => (text === null ? [] : [{ text, change }])),
  );
  all.sort((a, b) => compareText(a.text, b.text));
  sortedAddresses.set(changes, all);
  return all;
}

/** The index of the first address that does not come before `text`. */
function firstFrom(all: readonly PlannedAddress[], text: string): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle] as PlannedAddress).text < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The lines to copy: the flags, and the entries under `allow:`. */
export function consentLines(words: Asked["words"], indent: number): string[] {
  const [only] = words;
  if (only === undefined) return [];
  const blank = " ".repeat(indent);
  if (words.length === 1) return [blank + only.flag, `${blank}or under allow: in the root file:  ${only.entry}`];
  const flags = words.map(({ flag }) => blank + flag);
  return [...flags, `${blank}or under allow: in the root file:`, ...words.map(({ entry }) => `${blank}  ${entry}`)];
}

/** The flag that consents to this address alone, quoted for a shell. */
export function consentFlag(rule: ConsentRule, address: Address): string {
  return flagOf(rule, escapeGlob(address));
}

function flagOf(rule: ConsentRule, glob: string): string {
  return `--allow ${shellWord(`${rule}=${escapeText(glob)}`)}`;
}

function yamlWord(text: string): string {
  return /^[a-z][\w./@-]*$/i.test(text) ? text : `'${text.replaceAll("'", "''")}'`;
}
