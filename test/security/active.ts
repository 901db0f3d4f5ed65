/** Markdown that a page would act on, and what a page would act on of a markdown text. */

import { expect } from "vitest";

/** What a page would act on, each with a mark of its own so that it is found. */
export const ACTIVE: string = [
  "[click](https://evil.example/1)",
  "![img](https://evil.example/2)",
  "<img src=https://evil.example/3>",
  "<script>evil4</script>",
  "</details></summary><details open>evil5",
  "@everyone-evil6",
  "`` ` ``` evil7 ```` ````` ~~~",
  "| evil8 | evil8 |",
  "<!-- evil9",
  "--> evil10",
  "https://evil.example/11",
  "# evil12",
  "\n\n## evil13\n\n```\n",
  "&#60;b&#62;evil14",
].join(" ");

/** The text as a reader of markdown would act on it: without what stands in fences, code spans and `<pre>`. */
export function acted(markdown: string): string {
  let fence: string | null = null;
  const outside: string[] = [];
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null && mark !== null) fence = mark;
    else if (fence !== null && mark !== null && mark[0] === fence[0] && mark.length >= fence.length) {
      if (/^ {0,3}[`~]+\s*$/.test(line)) fence = null;
    } else if (fence === null) outside.push(line);
  }
  expect(fence).toBeNull();
  // A span ends with as many backticks as it began with.
  return outside
    .join("\n")
    .replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, "")
    .replace(/<(pre|code)>[^<]*<\/\1>/g, "");
}
