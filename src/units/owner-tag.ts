/**
 * Ownership tags say which project made an object or took it over: a domain has its owner in its tags, a VPC or image in its description.
 */

import type { ChangeLabel } from "../model/change.ts";
import type { Declared } from "../model/desired.ts";
import type { Json, Values } from "../model/resource.ts";
import type { LoadContext, Match, PairContext } from "../model/unit.ts";

// What a description of a VPC or image may hold.

/**
 * @param maxCharacters the owner's tag included; the service counts characters (code points), not UTF-16 units
 * @param sha256 what the tag will hold beside the owner, or as many characters; null: nothing
 */
export function checkDescription(
  entry: { readonly description?: Json },
  maxCharacters: number,
  context: LoadContext,
  sha256: string | null = null,
): void {
  const text = entry.description;
  if (typeof text !== "string") return;
  const span = context.span(entry, "description");
  if (text.toLowerCase().includes("[tenon:")) {
    const detail = "`[tenon:…]` in a description is how Tenon marks what it owns, so your own text cannot hold it.";
    context.report({
      code: "reserved-tag",
      severity: "error",
      summary: "the description holds an ownership tag",
      detail,
      fix: "Remove it; set `owner` in the root file instead.",
      span,
    });
  }
  const length = characters(joinDescription(text, context.owner, sha256));
  if (length <= maxCharacters) return;
  const tag = length - characters(text);
  const counted = tag === 0 ? "" : `, ${tag} of them for the owner's tag`;
  context.report({
    code: "too-long",
    severity: "error",
    summary: "`description` is too long",
    detail: `It would have ${length} characters${counted}; the service takes ${maxCharacters}.`,
    fix: `Shorten it to ${maxCharacters - tag} characters.`,
    span,
  });
}

function characters(text: string): number {
  return [...text].length;
}

// Reads and writes ownership tags.

/** What an owner may look like. */
export const OWNER_PATTERN = "[a-z0-9-]{1,32}";

const TAG_PREFIX = "tenon:";
/** So many hexadecimal digits of a file's SHA-256 are kept in a tag: enough to tell the files of one label apart. */
export const TAG_HASH_DIGITS = 16;

/** Case-insensitive: `[Tenon:Prod]` is an ownership tag as well. */
const LAST_TAG = new RegExp(`\\[tenon:(${OWNER_PATTERN})(?: sha256:([0-9a-f]{${TAG_HASH_DIGITS}}))?\\]$`, "i");
const MAX_TAG_CHARACTERS = "[tenon: sha256:]".length + 32 + TAG_HASH_DIGITS;

/** The owner in a domain's tags; null if there is none. Several owners are joined by commas, so that the result equals none of them. */
export function ownerOfTags(tags: readonly string[]): string | null {
  return joined(tags.filter(isOwnerTag).map((tag) => tag.slice(TAG_PREFIX.length)));
}

/** A domain's tags as its user wrote them. */
export function withoutReservedTags(tags: readonly string[]): string[] {
  return tags.filter((tag) => !isReservedTag(tag));
}

/** @param sharedWith the owners that the domain is shared with */
export function withReservedTags(
  tags: readonly string[],
  owner: string | null,
  sharedWith: readonly string[],
): string[] {
  return [...tags, ...(owner === null ? [] : [`${TAG_PREFIX}${owner}`]), ...sharedWith.map(partTag)];
}

/** Tags compare case-insensitively (OBSERVED: Domains). */
function isOwnerTag(tag: string): boolean {
  return tag.toLowerCase().startsWith(TAG_PREFIX);
}

/** Whether the tag is one that Tenon sets itself, which no manifest may state. */
export function isReservedTag(tag: string): boolean {
  return isOwnerTag(tag) || isPartTag(tag);
}

// The tag by which a domain's owner lets another project manage a part of its records.

/** With an owner of 32 characters it has 43, and the service takes 50. */
const PART_TAG_PREFIX = "tenon-part:";

export function partTag(owner: string): string {
  return `${PART_TAG_PREFIX}${owner}`;
}

function isPartTag(tag: string): boolean {
  return tag.toLowerCase().startsWith(PART_TAG_PREFIX);
}

/** The owners that a domain is shared with, by its tags. Lower-case, sorted, each once. */
export function sharedWithOf(tags: readonly string[]): string[] {
  const owners = tags.filter(isPartTag).map((tag) => tag.slice(PART_TAG_PREFIX.length).toLowerCase());
  return [...new Set(owners)].sort();
}

export interface SplitDescription {
  /** The user's own. */
  readonly text: string;
  readonly owner: string | null;
  /** The first digits of the hash of the file that an image was made of, lower case; null: its tag says nothing of it. */
  readonly sha256: string | null;
}

/** A VPC's or image's description, split into the user's text and what the tag at its end says. Several owners are joined, and no hash is theirs. */
export function splitDescription(description: string | null): SplitDescription {
  const whole = description ?? "";
  const tags: { readonly owner: string; readonly sha256: string | undefined }[] = [];
  let start = whole.length;
  // Read from the end, one tag at a time: a search through the whole text would be slow where a million tags are followed by other text.
  for (;;) {
    const before = whole.slice(0, start).trimEnd();
    const tag = LAST_TAG.exec(before.slice(-MAX_TAG_CHARACTERS));
    if (tag === null) break;
    tags.push({ owner: tag[1] ?? "", sha256: tag[2] });
    start = before.length - tag[0].length;
  }
  const [first, second] = tags;
  if (first === undefined) return { text: whole, owner: null, sha256: null };
  return {
    text: whole.slice(0, whole[start - 1] === " " ? start - 1 : start),
    owner: joined(tags.map(({ owner }) => owner)),
    sha256: second === undefined ? (first.sha256?.toLowerCase() ?? null) : null,
  };
}

/** @returns null if there are no owners */
function joined(owners: readonly string[]): string | null {
  const names = new Set(owners.map((owner) => owner.toLowerCase()));
  return names.size === 0 ? null : [...names].sort().join(",");
}

/** @param sha256 the first `TAG_HASH_DIGITS` digits; null: the tag names the owner alone. Without an owner there is no tag to hold it */
export function joinDescription(text: string, owner: string | null, sha256: string | null = null): string {
  if (owner === null) return text;
  const tag = `[${TAG_PREFIX}${owner}${sha256 === null ? "" : ` sha256:${sha256}`}]`;
  return text === "" ? tag : `${text} ${tag}`;
}

/** The owner whose tag the declared object is to carry; null: none. */
export function wantedOwner({ owner }: Declared, context: PairContext): string | null {
  return owner === undefined ? context.owner : owner;
}

/**
 * Why the change of a root (a VPC, domain or image) is there, beyond its action.
 * @param live the live object's normalised values; `owner` is the one in its tag
 * @param name the declared `label`; null if nothing is declared, or if the kind has no `label` (a domain)
 */
export function rootLabels(
  match: Match,
  live: Values | null,
  name: string | null,
  context: PairContext,
): ChangeLabel[] {
  switch (match.intent) {
    case "create":
      return [];
    case "delete":
      return match.label === null ? [] : [match.label];
    case "release":
      return ["release"];
    case "manage": {
      if (match.declared.part === true) return [];
      const labels: ChangeLabel[] = [];
      const owner = live?.["owner"] ?? null;
      const wanted = wantedOwner(match.declared, context);
      if (owner === null && wanted !== null) labels.push("adopt");
      else if (owner !== null && match.declared.owner === null) labels.push("release");
      else if (owner !== wanted) labels.push("take-over");
      if (name !== null && live?.["label"] !== name) labels.push("rename");
      return labels;
    }
  }
}
