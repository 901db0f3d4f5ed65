/** Ownership tags: how an object in the account says which project made it or took it over. */

/** What an owner may look like. */
export const OWNER_PATTERN = "[a-z0-9-]{1,32}";

const TAG_PREFIX = "tenon:";
/** One or more tags at the end; letter case and blanks around them do not hide whose it is. */
const DESCRIPTION_TAGS = new RegExp(` ?\\[tenon:${OWNER_PATTERN}\\](?:\\s*\\[tenon:${OWNER_PATTERN}\\])*\\s*$`, "i");
const DESCRIPTION_TAG = new RegExp(`\\[tenon:(${OWNER_PATTERN})\\]`, "gi");

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
  const tags = DESCRIPTION_TAGS.exec(whole);
  if (tags === null) return { text: whole, owner: null };
  return {
    text: whole.slice(0, tags.index),
    owner: joined([...tags[0].matchAll(DESCRIPTION_TAG)].map((tag) => tag[1] ?? "")),
  };
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
