/** What a page says, read from its HTML without a browser. */

import { expect } from "vitest";

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The text between the tags of the body, without that of the style and the script. */
export function textOf(page: string): string {
  const body = page.slice(page.indexOf("<body>"), page.lastIndexOf("<script>"));
  return unescaped(
    body
      .replace(/<\/?(?:li|p|h\d|div|dt|dd|td|th|tr|summary|section|option|pre|code|text|title)\b[^>]*>/g, " ")
      .replace(/<[^>]*>/g, ""),
  );
}

export function unescaped(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** Elements whose start tags have these attributes. */
export function startTags(page: string, pattern: RegExp): string[] {
  return [...page.matchAll(/<[a-z][^>]*>/g)].map(([tag]) => tag).filter((tag) => pattern.test(tag));
}

/** Everything that the text says is in the page, word by word; only the signs around words are others. */
export function expectWords(page: string, text: string, others: readonly string[] = []): void {
  const [said, wanted] = [wordsOf(textOf(page)), wordsOf(text)];
  expect([...wanted].filter((word) => !said.has(word) && !others.includes(word))).toEqual([]);
  // What is said otherwise must not be a licence for what no longer occurs.
  expect(others.filter((word) => !wanted.has(word))).toEqual([]);
}

function wordsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/[\p{L}\p{N}_](?:[^\s"'(),;:→<>{}[\]]*[\p{L}\p{N}_])?/gu)].map(([word]) => word));
}
