/** Ownership tags: how an object in the account says which project made it or took it over. */

/** What an owner may look like. */
export const OWNER_PATTERN = "[a-z0-9-]{1,32}";

const TAG_PREFIX = "tenon:";
/** Letter case does not hide whose it is. */
const LAST_TAG = new RegExp(`\\[tenon:(${OWNER_PATTERN})\\]$`, "i");
const MAX_TAG_CHARACTERS = "[tenon:]".length + 32;

/** The owner in a domain's tags, null if none. Several owners are joined, so that none of them is taken for it. */
export function ownerOfTags(tags: readonly string[]): string | null {
  return joined(tags.filter(isOwnerTag).map((tag) => tag.slice(TAG_PREFIX.length)));
}

/** A domain's tags as its user wrote them. */
export function withoutOwnerTag(tags: readonly string[]): string[] {
  return tags.filter((tag) => !isOwnerTag(tag));
}

export function withOwnerTag(tags: readonly string[], owner: string | null): string[] {
  return owner === null ? [...tags] : [...tags, `${TAG_PREFIX}${owner}`];
}

/** Tags compare case-insensitively (OBSERVED: Domains). */
function isOwnerTag(tag: string): boolean {
  return tag.toLowerCase().startsWith(TAG_PREFIX);
}

/** A VPC's or image's description, split into the user's text and the owner in the tag at its end; several are joined. */
export function splitDescription(description: string | null): { text: string; owner: string | null } {
  const whole = description ?? "";
  const owners: string[] = [];
  let start = whole.length;
  // From its end, one tag after the other: a description may hold a million of them, and something else behind.
  for (;;) {
    const before = whole.slice(0, start).trimEnd();
    const tag = LAST_TAG.exec(before.slice(-MAX_TAG_CHARACTERS));
    if (tag === null) break;
    owners.push(tag[1] ?? "");
    start = before.length - tag[0].length;
  }
  if (owners.length === 0) return { text: whole, owner: null };
  return { text: whole.slice(0, whole[start - 1] === " " ? start - 1 : start), owner: joined(owners) };
}

/** null if there is none. */
function joined(owners: readonly string[]): string | null {
  const names = new Set(owners.map((owner) => owner.toLowerCase()));
  return names.size === 0 ? null : [...names].sort().join(",");
}

export function joinDescription(text: string, owner: string | null): string {
  if (owner === null) return text;
  const tag = `[${TAG_PREFIX}${owner}]`;
  return text === "" ? tag : `${text} ${tag}`;
}
