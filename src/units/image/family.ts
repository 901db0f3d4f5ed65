/** Image families: the newest of our images whose labels begin with the family's name stay, older ones are retired. */

import type { WireImage } from "../../api/wire.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { SchemaOf } from "../../model/entry.ts";
import type { Family, FamilyMember } from "../../model/plan.ts";
import { imageAddress } from "../../model/resource.ts";
import { compareIds, compareText } from "../../model/text.ts";
import type { LoadContext, Match, PairContext, Retention, WithEntry } from "../../model/unit.ts";
import { findSuperseded } from "./content.ts";
import { createdMilliseconds, isOver, leaseEnd } from "./live.ts";
import type { ImageFamily, ImageSpec } from "./spec.ts";

/** The longest label has 50 characters: a family's name, a hyphen, and one more at least. */
const MAX_FAMILY_LENGTH = 48;
/** So many images stay at the most, and a plan shows each. */
const MAX_KEEP = 1_000;

export interface FamilyEntry {
  readonly family?: string;
  readonly keep?: number;
}

export const FAMILY_PROPERTIES: {
  readonly family: SchemaOf<string>;
  readonly keep: SchemaOf<number>;
} = {
  family: {
    title: "Family",
    description:
      "With keep: of the owner's images whose label begins with this and a hyphen, the newest stay, and older ones are deleted once the new one is available.",
    type: "string",
    minLength: 1,
    maxLength: MAX_FAMILY_LENGTH,
    pattern: "^[\\w ,.?'-]+$",
    examples: ["golden"],
  },
  keep: {
    title: "Keep",
    description:
      "How many images of the family stay, what is declared included. It is the consent to delete older ones.",
    type: "integer",
    minimum: 1,
    maximum: MAX_KEEP,
    examples: [3],
  },
};

// What an entry says of its family, and what entries say together.

type Problem = Omit<Diagnostic, "severity" | "address">;

/** @returns null if the entry names no family; what is wrong with it is reported */
export function loadFamily(
  entry: FamilyEntry & { readonly label?: string },
  context: LoadContext,
  report: (problem: Problem) => void,
): ImageFamily | null {
  const { family, keep, label = "" } = entry;
  if (family === undefined && keep === undefined) return null;
  const wrong = (detail: string, fix: string): null => {
    report({ code: "bad-family", summary: "bad image family", detail, fix, span: context.span(entry, "family") });
    return null;
  };
  if (family === undefined || keep === undefined) {
    const [given, missing] = keep === undefined ? (["family", "keep"] as const) : (["keep", "family"] as const);
    report({
      code: "missing-key",
      summary: `\`${given}\` without \`${missing}\``,
      detail: "`family` says which images belong together, and `keep` how many of them stay.",
      fix: `Add \`${missing}\`, or remove \`${given}\`.`,
      span: context.span(entry, given),
    });
    return null;
  }
  if (!label.startsWith(`${family}-`)) {
    const detail = `The images of the family \`${family}\` are those whose label begins with \`${family}-\`; \`${label}\` does not.`;
    return wrong(detail, `Choose another label, for example ${family}-2026-11, or another family.`);
  }
  if (context.owner === null) {
    const detail = "Only images with the owner's tag are ever retired, and the project has no `owner`.";
    return wrong(detail, "Set `owner` in the root file, or remove `family` and `keep`.");
  }
  return { name: family, keep };
}

/** Entries of one family agree on `keep`, and no image belongs to two families. */
export function checkFamilies(loaded: readonly WithEntry<ImageSpec>[], context: LoadContext): void {
  const first = new Map<string, WithEntry<ImageSpec>>();
  for (const one of loaded) {
    const { family } = one.declared.spec;
    if (family === null) continue;
    const known = first.get(family.name);
    if (known === undefined) first.set(family.name, one);
    else if (known.declared.spec.family?.keep !== family.keep) context.report(differingKeep(one, known, context));
  }
  for (const [name, one] of first) {
    const shorter = prefixesOf(name).find((prefix) => first.has(prefix));
    const other = shorter === undefined ? undefined : first.get(shorter);
    if (other !== undefined) context.report(overlapping(one, other, context));
  }
}

function differingKeep(one: WithEntry<ImageSpec>, known: WithEntry<ImageSpec>, context: LoadContext): Diagnostic {
  const [here, there] = [one, known].map(({ declared }) => declared.spec.family);
  return {
    code: "bad-family",
    severity: "error",
    summary: `\`keep\` differs within the image family \`${here?.name}\``,
    detail: `This entry keeps ${here?.keep} of its images, another one ${there?.keep}.`,
    fix: "Write the same number in both.",
    span: context.span(one.entry, "keep"),
    related: [{ message: "the other number", span: context.span(known.entry, "keep") }],
    address: one.declared.address,
  };
}

function overlapping(one: WithEntry<ImageSpec>, shorter: WithEntry<ImageSpec>, context: LoadContext): Diagnostic {
  const [longName, shortName] = [one, shorter].map(({ declared }) => declared.spec.family?.name);
  return {
    code: "bad-family",
    severity: "error",
    summary: "two image families overlap",
    detail: `An image whose label begins with \`${longName}-\` would be of \`${shortName}\` as well, and each counts the images that it keeps.`,
    fix: "Rename one of the two families, or join them.",
    span: context.span(one.entry, "family"),
    related: [{ message: "the other family", span: context.span(shorter.entry, "family") }],
    address: one.declared.address,
  };
}

/** What stands before each hyphen of a label: the family that it is of is one of them. */
function prefixesOf(label: string): string[] {
  return [...label.matchAll(/-/g)].map(({ index }) => label.slice(0, index));
}

// Which images of a family stay.

type ImageMatch = Match<ImageSpec, WireImage>;

/**
 * Which of our images that no entry means stay, and which go. What is declared takes its places among those that are kept first, so it never
 * goes for being old, and so does what `moved_from` names; the newest of the others take the rest. Not counted, and left alone: an image
 * that is not there yet (it is being uploaded or captured), and one whose age is not known.
 * @param matches what the entries of the project mean
 * @param unnamed images with our tag that no entry means
 * @param isThere whether the object of a match is there once the run has ended: only then does it take a place
 */
export function retainImages(
  matches: readonly ImageMatch[],
  unnamed: readonly WireImage[],
  context: PairContext,
  isThere: (match: Match) => boolean,
): Retention<ImageSpec, WireImage> {
  const families = familiesOf(matches);
  const superseded = findSuperseded(matches, unnamed, context);
  const replaced = new Set(superseded.map(({ live }) => live));
  const familyOf = (label: string) => prefixesOf(label).flatMap((prefix) => families.get(prefix) ?? [])[0];
  for (const match of matches) {
    if (match.declared !== null && isThere(match)) familyOf(match.declared.key)?.declared.push(match);
  }
  const labels = new Set(matches.flatMap(({ declared }) => declared?.key ?? []));
  const former = new Set(matches.flatMap(({ declared }) => declared?.movedFrom ?? []));
  for (const image of unnamed) {
    // A second image of a declared label is nobody's month: it is pruned as it would be without a family.
    if (replaced.has(image) || labels.has(image.label)) continue;
    const family = familyOf(image.label);
    (former.has(image.label) ? family?.former : family?.others)?.push(image);
  }
  const sorted = [...families.values()].sort((a, b) => compareText(a.name, b.name));
  const fates = sorted.map((family) => ({ family, fates: fatesOf(family, context) }));
  return {
    kept: fates.flatMap((one) => one.fates.flatMap(([live, fate]) => (fate === "retired" ? [] : [live]))),
    leaving: [
      ...superseded,
      ...fates.flatMap(({ family, fates: all }) =>
        all.flatMap(([live, fate]) => (fate === "retired" ? [{ live, label: "retire" as const, by: family.by }] : [])),
      ),
    ],
    families: fates.map(({ family, fates: all }) => ({ family: shownFamily(family, all, context), by: family.by })),
  };
}

interface FamilyImages extends ImageFamily {
  /** The entries that name the family. */
  readonly by: Declared<ImageSpec>[];
  /** What is declared with a label of the family, by an entry that names the family or not. */
  readonly declared: ImageMatch[];
  /** What `moved_from` names, and no entry means. */
  readonly former: WireImage[];
  readonly others: WireImage[];
}

function familiesOf(matches: readonly ImageMatch[]): ReadonlyMap<string, FamilyImages> {
  const families = new Map<string, FamilyImages>();
  for (const { declared } of matches) {
    const family = declared?.spec.family ?? null;
    if (declared === null || family === null) continue;
    const known = families.get(family.name) ?? { ...family, by: [], declared: [], former: [], others: [] };
    known.by.push(declared);
    families.set(family.name, known);
  }
  return families;
}

type Fate = Exclude<FamilyMember["fate"], "declared" | "new">;

function fatesOf({ keep, declared, former, others }: FamilyImages, context: PairContext): [WireImage, Fate][] {
  let places = keep - declared.length - former.length;
  const fateOf = (image: WireImage): Fate => {
    if (image.status === "pending_upload" && isGivenUp(image, context)) return "retired";
    if (image.status !== "available" || createdMilliseconds(image.created) === null) return "underway";
    places -= 1;
    return places >= 0 ? "kept" : "retired";
  };
  return [
    ...former.map((image): [WireImage, Fate] => [image, "kept"]),
    ...[...others].sort(newestFirst).map((image): [WireImage, Fate] => [image, fateOf(image)]),
  ];
}

/** Whether nobody can still be sending the data of an upload that was begun. */
function isGivenUp({ created, label }: WireImage, context: PairContext): boolean {
  if (context.mayDelete(imageAddress(label))) return true;
  return isOver(leaseEnd(created, context.uploadTimeoutSeconds), context.servedMilliseconds);
}

/** An image whose age is not known comes first. */
function newestFirst(one: Pick<WireImage, "id" | "created">, other: Pick<WireImage, "id" | "created">): number {
  const [a, b] = [createdMilliseconds(one.created), createdMilliseconds(other.created)];
  return (b ?? Number.MAX_VALUE) - (a ?? Number.MAX_VALUE) || compareIds(other.id, one.id);
}

// The family as a plan shows it.

const MILLISECONDS_PER_DAY = 86_400_000;

function shownFamily(
  { name, keep, declared }: FamilyImages,
  fates: readonly (readonly [WireImage, Fate])[],
  context: PairContext,
): Family {
  const made = declared.filter(({ live }) => live === null);
  const there = declared.flatMap(({ live }) => (live === null ? [] : [[live, "declared"] as const]));
  return {
    kind: "image",
    name,
    keep,
    members: [
      ...made.map(({ declared: entry }) => newMember(entry?.key ?? "")).sort((a, b) => compareText(b.label, a.label)),
      ...[...there, ...fates]
        .sort(([one], [other]) => newestFirst(one, other))
        .map(([image, fate]) => memberOf(image, fate, context)),
    ],
  };
}

function newMember(label: string): FamilyMember {
  return { label, id: null, fate: "new", ageDays: null, sizeMegabytes: null };
}

function memberOf(image: WireImage, fate: FamilyMember["fate"], { servedMilliseconds }: PairContext): FamilyMember {
  const created = createdMilliseconds(image.created);
  const age = created === null || servedMilliseconds === null ? null : servedMilliseconds - created;
  return {
    label: image.label,
    id: image.id,
    fate,
    ageDays: age === null ? null : Math.max(0, Math.floor(age / MILLISECONDS_PER_DAY)),
    sizeMegabytes: image.status === "available" ? image.size : null,
  };
}
