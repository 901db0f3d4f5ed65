/** Escaping: text from the service or a manifest must not steer a terminal, hide, or pass for our own words. */

/**
 * Control characters (C0, DEL, C1: so every ANSI sequence), format characters (bidi marks, zero-width, tags),
 * line and paragraph separators, and lone surrogates.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text on one line, with everything that is not plainly visible as `\n`, `\t` or `\u{1b}`. */
export function escapeText(text: string): string {
  return text.replace(
    UNSAFE,
    (character) => SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** As `escapeText`, but lines stay lines. */
export function escapeLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => escapeText(line))
    .join("\n");
}
