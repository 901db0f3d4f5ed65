/** What stands before a record's data: TTL and class, in either order and both optional, and the type (RFC 1035, 5.1). */

import { secondsOf } from "./fields.ts";
import { Misread, shown } from "./problem.ts";
import type { Token } from "./scan.ts";
import { looksLikeTime } from "./ttl.ts";
import { type ReadType, readClass, readType } from "./types.ts";

export interface Head {
  /** Seconds; null: not said. */
  readonly ttl: number | null;
  /** `IN`, `CH`, `HS` or `CLASS…`. */
  readonly recordClass: string;
  readonly type: ReadType;
  readonly typeWord: Token;
  /** The record's data. */
  readonly rest: readonly Token[];
}

/**
 * Throws `Misread`.
 * @param tokens of an entry, behind the owner if it has one
 * @param owner null: the entry is indented, or generated
 */
export function readHead(tokens: readonly Token[], owner: Token | null): Head {
  let ttl: number | null = null;
  let recordClass: string | null = null;
  let index = 0;
  for (; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.quoted) break;
    const named: string | null = recordClass === null ? readClass(token.text) : null;
    if (named !== null) recordClass = named;
    else if (ttl === null && looksLikeTime(token.text)) ttl = secondsOf(token, "TTL");
    else break;
  }
  const typeWord = tokens[index];
  if (typeWord === undefined) throw missingType(tokens.at(-1) ?? owner);
  const type = typeWord.quoted ? null : readType(typeWord.text);
  if (type === null) throw unknownType(typeWord, tokens[index + 1], owner === null && index === 0);
  return { ttl, recordClass: recordClass ?? "IN", type, typeWord, rest: tokens.slice(index + 1) };
}

function missingType(last: Token | null): Misread {
  return new Misread(last ?? { start: 0, end: 0 }, {
    code: "missing-type",
    summary: "a record without a type",
    detail: "The entry ends before it says what type the record has.",
    fix: "Write the owner, the type and the data: `www A 192.0.2.10`.",
  });
}

/** @param isFirst it is the first word of an indented line */
function unknownType(token: Token, next: Token | undefined, isFirst: boolean): Misread {
  const word = shown(token.text);
  const isOwner =
    isFirst && next !== undefined && (readType(next.text) ?? readClass(next.text)) !== null && !next.quoted;
  const detail = isOwner
    ? `${word} stands where the type is expected: a line that begins with white space has the owner of the record before.`
    : `${word} is neither a type, a class nor a TTL.`;
  const fix = isOwner
    ? "Remove the white space before it if it is the owner."
    : "Correct the type; one without a name is written `TYPE` and its number (RFC 3597).";
  return new Misread(token, { code: "unknown-type", summary: `unknown type ${word}`, detail, fix });
}
