/** Escaping: text from the service or a manifest must not steer a terminal, hide, or pass for our own words. */

import { UNSAFE } from "../model/json-text.ts";

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
