/** HTML as values: whatever is put into a template is text, and escaped, unless it is HTML itself. */

import { escapeText } from "../terminal.ts";

/** Made by `html` alone, so that nobody's text becomes HTML unescaped. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** @param text our own markup, with everybody else's text in it escaped */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** null and false: nothing. */
type Part = string | number | Html | null | false | readonly (Html | null | false)[];

/**
 * `html\`<p title="${title}">${text}</p>\``: texts stand between tags or in quoted attributes, and nowhere else: never in a `style`, a
 * `script` or an `on…` attribute. The page's policy forbids those three, too.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? "";
  for (const [index, part] of parts.entries()) text += partText(part) + (strings[index + 1] ?? "");
  return Html.trusted(text);
}

export const NOTHING: Html = Html.trusted("");

export function join(parts: readonly (Html | null | false)[], between = ""): Html {
  return Html.trusted(
    parts
      .filter((part) => part instanceof Html)
      .map(String)
      .join(between),
  );
}

function partText(part: Part): string {
  if (part === null || part === false) return "";
  if (typeof part === "string") return escapeHtml(part);
  if (typeof part === "number" || part instanceof Html) return String(part);
  let text = "";
  for (const one of part) if (one instanceof Html) text += String(one);
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** For text and for quoted attributes. What is not plainly visible (control characters, bidi marks) is shown as in a terminal: `\u{202e}`. */
export function escapeHtml(text: string): string {
  return escapeText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
