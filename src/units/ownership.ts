/** Ownership tags: how an object in the account says which project made it or took it over. */

/** What an owner may look like. */
export const OWNER_PATTERN = "[a-z0-9-]{1,32}";

const TAG_PREFIX = "tenon:";
const DESCRIPTION_TAG = new RegExp(`(?:^| )\\[tenon:(${OWNER_PATTERN})\\]$`);

/** The owner in a domain's tags, null if none. Several owners are joined, so that none of them is taken for it. */
export function ownerOfTags(tags: readonly string[]): string | null {
  const owners = tags.filter(isOwnerTag).map((tag) => tag.toLowerCase().slice(TAG_PREFIX.length));
  return owners.length === 0 ? null : [...new Set(owners)].sort().join(",");
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

/** A VPC's or image's description, split into the user's text and the owner in the tag at its end. */
export function splitDescription(description: string | null): { text: string; owner: string | null } {
  const whole = description ?? "";
  const tag = DESCRIPTION_TAG.exec(whole);
  return tag === null ? { text: whole, owner: null } : { text: whole.slice(0, tag.index), owner: tag[1] as string };
}

export function joinDescription(text: string, owner: string | null): string {
  if (owner === null) return text;
  const tag = `[${TAG_PREFIX}${owner}]`;
  return text === "" ? tag : `${text} ${tag}`;
}
