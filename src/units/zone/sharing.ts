/**
 * Zones that teams share: which names of a domain its owner leaves to others (`shared_with`), and which ones the project of another owner
 * manages (`part`).
 */

import { nameProblem, parentOf, relativeName } from "../../dns/name.ts";
import { compileNameGlob, isUnfitLabel, toAscii } from "../../dns/unicode.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import { domainAddress } from "../../model/resource.ts";
import { type GlobOutline, globsMeet, groupBy, outlineOf } from "../../model/text.ts";
import type { LoadContext } from "../../model/unit.ts";
import type { DomainEntry, PartEntry, ShareEntry } from "./schema.ts";
import type { RecordSpec, Share, ZoneContext, ZoneSpec } from "./spec.ts";

/** How the names of a zone are divided; both absent in most zones. */
export type Division = Pick<ZoneSpec, "part" | "sharedWith">;

/** @param name relative, `""` the apex */
export function isOthersName(name: string, { part, sharedWith }: Division): boolean {
  if (part !== undefined && !isAmong(name, part)) return true;
  return sharedWith?.some(({ names }) => isAmong(name, names)) ?? false;
}

function isAmong(name: string, globs: readonly string[]): boolean {
  return compiledOf(globs).some((fits) => fits(name));
}

const compiled: WeakMap<readonly string[], readonly ((name: string) => boolean)[]> = new WeakMap();

/** Each list is compiled once, not for each record. */
function compiledOf(globs: readonly string[]): readonly ((name: string) => boolean)[] {
  const known = compiled.get(globs) ?? globs.map((glob) => compileNameGlob(glob === "@" ? "" : glob));
  compiled.set(globs, known);
  return known;
}

/** Reports declared records that are not the entry's to manage. */
export function checkDivision(records: readonly RecordSpec[], division: Division, context: ZoneContext): void {
  const { part, sharedWith } = division;
  if (part === undefined && sharedWith === undefined) return;
  for (const { name, span } of records) {
    if (!isOthersName(name, division)) continue;
    const shown = name === "" ? "The apex" : `\`${name}\``;
    const share = sharedWith?.find(({ names }) => isAmong(name, names));
    if (share === undefined) {
      context.error({
        code: "outside-part",
        summary: "the record is outside the part",
        detail: `${shown} fits none of the part's names (${(part ?? []).join(", ")}), so it is not this project's.`,
        fix: "Correct its name, or have the domain's owner share that name and add it to `part`.",
        span,
      });
    } else {
      context.error({
        code: "declared-and-shared",
        summary: "the record is both declared and shared",
        detail: `${shown} is left to ${share.owner} by \`shared_with\`, so that this project does not touch it.`,
        fix: "Remove the record, or narrow the names under `shared_with`.",
        span,
      });
    }
  }
}

// Delegations across the border: a zone does not answer for what lies below one, whoever manages it.

interface Placed {
  readonly values: { readonly name: string; readonly type: string };
}

interface DeclaredRecord extends Placed {
  readonly origin: { readonly span: Span };
}

/** @param others the live records that are not this project's to manage */
export function delegatedAcross(
  zone: string,
  declared: readonly DeclaredRecord[],
  others: readonly Placed[],
): Diagnostic[] {
  const theirCuts = new Set(others.filter(isDelegation).map(({ values }) => values.name));
  const ownCuts = new Map(declared.filter(isDelegation).map((record) => [record.values.name, record]));
  const hidden = groupBy(declared, ({ values }) => ancestorIn(theirCuts, values.name) ?? "");
  const hiding = groupBy(others, ({ values }) => ancestorIn(ownCuts, values.name) ?? "");
  return [
    ...[...hidden].flatMap(([cut, [first]]) => (cut === "" || first === undefined ? [] : [hiddenBy(cut, zone, first)])),
    ...[...hiding].flatMap(([cut, records]) => {
      const delegation = ownCuts.get(cut);
      return delegation === undefined ? [] : [hides(cut, zone, delegation, records.length)];
    }),
  ];
}

function isDelegation({ values: { name, type } }: Placed): boolean {
  return type === "NS" && name !== "";
}

/** The lowest name above `name` that is among the cuts. */
function ancestorIn(cuts: { has(name: string): boolean }, name: string): string | null {
  for (let above = parentOf(name); above !== ""; above = parentOf(above)) if (cuts.has(above)) return above;
  return null;
}

function hiddenBy(cut: string, zone: string, { origin, values: { name } }: DeclaredRecord): Diagnostic {
  return {
    code: "hidden-by-others",
    severity: "warning",
    summary: `\`${name}\` lies below a delegation that is not this project's`,
    detail: `NS records at \`${cut}\` hand all names below it to other servers, so that ${zone} does not answer for them.`,
    fix: `Declare the record where \`${cut}.${zone}\` is served, or settle with whoever manages \`${cut}\`.`,
    span: origin.span,
    address: domainAddress(zone),
  };
}

function hides(cut: string, zone: string, { origin }: DeclaredRecord, count: number): Diagnostic {
  const records = count === 1 ? "a record that is" : `${count} records that are`;
  return {
    code: "hides-others",
    severity: "warning",
    summary: `the delegation of \`${cut}\` hides ${records} not this project's`,
    detail: `NS records at \`${cut}\` hand all names below it to other servers, so that ${zone} does not answer for them.`,
    fix: "Settle with whoever manages those names first.",
    span: origin.span,
    address: domainAddress(zone),
  };
}

// `shared_with:` and `part:` of a domain entry.

/** The most names of one domain under `shared_with`, or in one `part`: each is compared with each of the domain's records. */
export const MAX_SHARED_NAMES = 100;

/** A name under `shared_with` or `part`, and where it stands. */
interface WrittenName {
  readonly glob: string;
  readonly outline: GlobOutline;
  readonly list: readonly string[];
  readonly index: number;
}

/** @returns undefined if nothing is shared; what is wrong is reported */
export function loadShares(entry: DomainEntry, context: ZoneContext): readonly Share[] | undefined {
  const { shared_with: entries = [] } = entry;
  if (entries.length === 0) return undefined;
  if (entry.type === "slave") {
    context.error({
      code: "shared-slave",
      summary: "a slave domain cannot be shared",
      detail: `${context.zone} is of type slave: its records are copied from its masters, so nobody manages them here.`,
      fix: "Remove `shared_with`, or make the domain a master.",
      span: context.span(entry, "shared_with"),
    });
  }
  const owners = new Map<string, ShareEntry>();
  const earlier: WrittenName[] = [];
  const shares = entries.flatMap((share): Share[] => {
    const { owner, names = [] } = share;
    if (owner === undefined) return [];
    checkOwner(share, owner, owners.get(owner), context);
    owners.set(owner, share);
    const written = loadNames(names, earlier.length, context);
    for (const name of written) {
      const met = earlier.find(({ outline }) => globsMeet(outline, name.outline));
      if (met !== undefined) context.error(overlap(name, met, context));
    }
    for (const name of written) earlier.push(name);
    return [{ owner, names: globsOf(written) }];
  });
  return shares.toSorted((a, b) => (a.owner < b.owner ? -1 : 1));
}

function checkOwner(share: ShareEntry, owner: string, first: ShareEntry | undefined, context: ZoneContext): void {
  const span = context.span(share, "owner");
  if (owner === context.owner) {
    context.error({
      code: "shared-with-self",
      summary: "the domain is shared with its own owner",
      detail: `\`${owner}\` is the owner of this project, which manages all names that it does not share.`,
      fix: "Name the owner of another project, or remove the entry.",
      span,
    });
  } else if (first !== undefined) {
    context.error({
      code: "shared-twice",
      summary: `the domain is shared with \`${owner}\` twice`,
      detail: "All names that one owner gets stand in one entry.",
      fix: "Join the two entries.",
      span,
      related: [{ message: "first here", span: context.span(first, "owner") }],
    });
  }
}

/** @returns the names in one form, sorted; undefined if there is no part */
export function loadPart(entry: DomainEntry, context: ZoneContext): readonly string[] | undefined {
  const { part } = entry;
  if (part === undefined) return undefined;
  checkPart(entry, part, context);
  return globsOf(loadNames(part.names ?? [], 0, context));
}

/** All that a domain has and a part has not: it belongs to the domain's owner. */
const KEYS_OF_DOMAINS = [
  ...(["type", "status", "description", "group", "soa_email", "master_ips", "axfr_ips", "refresh_sec"] as const),
  ...(["retry_sec", "expire_sec", "ttl_sec", "tags", "protect", "create_from", "shared_with"] as const),
] as const;

function checkPart(entry: DomainEntry, part: PartEntry, context: ZoneContext): void {
  if (context.owner === null) {
    context.error({
      code: "part-without-owner",
      summary: "a `part` needs an `owner`",
      detail: "The domain's tags say with whom it is shared, and this project does not say who it is.",
      fix: "Set `owner` in the root file to the one that the domain is shared with.",
      span: context.span(entry, "part"),
    });
  }
  for (const key of KEYS_OF_DOMAINS) {
    if (!Object.hasOwn(entry, key)) continue;
    context.error({
      code: "not-in-part",
      summary: `\`${key}\` beside \`part\``,
      detail: `A part is some of the domain's records; the domain itself, with its \`${key}\`, is its owner's.`,
      fix: `Remove \`${key}\`, or remove \`part\` if this project manages the domain.`,
      span: context.span(entry, key),
    });
  }
  if (entry.records === undefined && (part.names ?? []).length > 0) {
    context.report({
      code: "missing-key",
      severity: "error",
      summary: "`records` is missing",
      detail: "A part is declared by its records, and this one has none of `records`, `use` and `zone_file`.",
      fix: "Add the records; `records: []` if there shall be none.",
      span: context.span(entry, "part"),
    });
  }
}

/** Names of one list may overlap: whichever fits, it is the same project's. @param before how many there were in other lists */
function loadNames(list: readonly string[], before: number, context: ZoneContext): readonly WrittenName[] {
  const names: WrittenName[] = [];
  for (const [index, text] of list.entries()) {
    if (before + index >= MAX_SHARED_NAMES) {
      context.error({ ...tooManyNames(), span: context.span(list, index) });
      break;
    }
    const read = readNameGlob(text, context.zone);
    if (!read.ok) {
      context.error({ ...badName(text, read.problem, context.zone), span: context.span(list, index) });
      continue;
    }
    names.push({ glob: read.glob, outline: outlineOf(read.glob === "@" ? "" : read.glob), list, index });
  }
  return names;
}

function globsOf(names: readonly WrittenName[]): readonly string[] {
  return [...new Set(names.map(({ glob }) => glob))].sort();
}

function overlap(name: WrittenName, met: WrittenName, context: LoadContext) {
  const shown = name.list[name.index];
  const other = met.list[met.index];
  return {
    code: "overlapping-names",
    summary: `\`${shown}\` overlaps with \`${other}\``,
    detail: "A name can be left to one project only, and some name fits both.",
    fix: "Narrow one of the two, or remove it.",
    span: context.span(name.list, name.index),
    related: [{ message: "the other one", span: context.span(met.list, met.index) }],
  };
}

function tooManyNames() {
  return {
    code: "too-many-patterns",
    summary: "too many shared names",
    detail: `Each is compared with each record of the domain, those in the account included. There may be ${MAX_SHARED_NAMES}; the rest is not checked.`,
    fix: "Join names with stars.",
  };
}

type NameGlobProblem = "outside" | "unicode-star" | "not-a-name";

type NameGlob =
  | { readonly ok: true; readonly glob: string }
  | { readonly ok: false; readonly problem: NameGlobProblem };

/**
 * A name as written → a glob over relative names in lower-case ASCII; `@` is the apex. `*` stands for any text, dots and nothing included,
 * `\*` for the label of a wildcard.
 */
export function readNameGlob(text: string, zone: string): NameGlob {
  if (text === "@") return { ok: true, glob: "@" };
  const labels = text.split(".");
  if (labels.some(isUnfitLabel)) return { ok: false, problem: "not-a-name" };
  // A star is no letter of IDNA: beside other letters outside ASCII it would become a part of the punycode.
  if (labels.some((label) => label.includes("*") && toAscii(label) !== label.toLowerCase()))
    return { ok: false, problem: "unicode-star" };
  const ascii = toAscii(text);
  if (ascii === null) return { ok: false, problem: "not-a-name" };
  const relative = ascii.endsWith(".") ? relativeName(ascii.slice(0, -1), zone) : ascii;
  if (relative === null || relative === zone || relative.endsWith(`.${zone}`)) return { ok: false, problem: "outside" };
  if (relative === "") return { ok: true, glob: "@" };
  // As some name that fits: a star as a letter, an escaped one as itself.
  const example = relative.replace(/\\\*|\*/g, (star) => (star === "*" ? "a" : "*"));
  return nameProblem(example, false) === null ? { ok: true, glob: relative } : { ok: false, problem: "not-a-name" };
}

function badName(text: string, problem: NameGlobProblem, zone: string) {
  return {
    code: "bad-name",
    summary: "bad name",
    detail: PROBLEMS[problem](text, zone),
    fix: 'For example: shop, "*.shop", "@" for the apex.',
  };
}

const PROBLEMS: Readonly<Record<NameGlobProblem, (text: string, zone: string) => string>> = {
  outside: (text, zone) =>
    `\`${text}\` is not relative to ${zone}: names stand without the zone, or end in \`.${zone}.\`.`,
  "unicode-star": (text) =>
    `In \`${text}\` a star stands in one label with letters outside ASCII: write that label in punycode.`,
  "not-a-name": (text) => `\`${text}\` is not a name, and with another text in place of each star it would not be one.`,
};
