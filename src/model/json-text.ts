/** JSON as text that is plainly visible: what a terminal would act on or hide is `\u`, and a parser reads the same. */

/**
 * Control characters (C0, DEL, C1: so every ANSI sequence), format characters (bidi marks, zero-width, tags), line and
 * paragraph separators, lone surrogates, and whatever else has no shape of its own (Hangul fillers, the grapheme joiner).
 * The two selectors that make a symbol text or emoji stay: what they hide is nothing.
 */
export const UNSAFE: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** @param indentColumns 0: on one line */
export function jsonText(value: object | string | number | boolean | null | undefined, indentColumns = 0): string {
  // Those that JSON.stringify leaves stand within strings; what it puts between them is the layout.
  return JSON.stringify(value, null, indentColumns).replace(UNSAFE, (character) =>
    character === "\n" ? character : character.split("").map(escapedUnit).join(""),
  );
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
