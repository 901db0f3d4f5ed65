/** Lists of `tag=value; …`, as DKIM and DMARC records are (RFC 6376, 3.2). */

export interface Tag {
  /** As written: tags are case-sensitive. */
  readonly name: string;
  readonly value: string;
}

export type Tags =
  | { readonly ok: true; readonly tags: readonly Tag[] }
  /** A full sentence. */
  | { readonly ok: false; readonly problem: string };

/** More of a text than this says no more. */
const MAX_SHOWN_CHARACTERS = 40;

export function readTags(text: string): Tags {
  const parts = text.split(";");
  if (parts.at(-1)?.trim() === "") parts.pop();
  const tags = new Map<string, string>();
  for (const part of parts) {
    const [, name, value = ""] = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=(.*)$/s.exec(part) ?? [];
    if (name === undefined) return { ok: false, problem: `\`${short(part.trim())}\` is no tag with a value.` };
    if (tags.has(name)) return { ok: false, problem: `The tag \`${name}\` is there twice.` };
    tags.set(name, value.trim());
  }
  return { ok: true, tags: [...tags].map(([name, value]) => ({ name, value })) };
}

export function tagValue(tags: readonly Tag[], name: string): string | null {
  return tags.find((tag) => tag.name === name)?.value ?? null;
}

export function short(text: string): string {
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}…`;
}
