/** Escaping: text from the service or a manifest must not steer a terminal, hide, or pass for our own words. */

/**
 * Control characters (C0, DEL, C1: so every ANSI sequence), format characters (bidi marks, zero-width, tags), line and
 * paragraph separators, lone surrogates, and whatever else has no shape of its own (Hangul fillers, the grapheme joiner).
 * The two selectors that make a symbol text or emoji stay: what they hide is nothing.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text on one line, with everything that is not plainly visible as `\n`, `\t` or `\u{1b}`. */
export function escapeText(text: string): string {
  return escapeWith(text, (character) => SHORT[character] ?? `\\u{${codePoint(character, 1)}}`);
}

/** The same in double quotes of YAML, which knows no braces; line breaks are the caller's. */
export function escapeYaml(text: string): string {
  return escapeWith(text, (character) => {
    if (character === "\n") return character;
    return character.length > 1 ? `\\U${codePoint(character, 8)}` : `\\u${codePoint(character, 4)}`;
  });
}

/** The same in strings of JSON, in UTF-16 code units; line breaks are the caller's. */
export function escapeJson(text: string): string {
  return escapeWith(text, (character) => {
    if (character === "\n") return character;
    return character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  });
}

/** Whether something in it would be escaped; line breaks aside. */
export function isPlainlyVisible(text: string): boolean {
  return escapeYaml(text) === text;
}

function escapeWith(text: string, written: (character: string) => string): string {
  return text.replace(UNSAFE, written);
}

function codePoint(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}
