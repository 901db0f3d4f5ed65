/** What accounts printed, in the comment of a fleet. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderFleetMarkdown } from "../../src/render/fleet.ts";

function commentOf(text: string): string {
  const outcome = { type: "ran", code: 0, headline: "done", markup: "markdown", text, document: null } as const;
  return renderFleetMarkdown({ command: "plan", accounts: [{ name: "a1", labels: {}, outcome }] });
}

test("markdown of a report stays markdown as Tenon writes it, and is code where it could act or hide what follows", () => {
  const golden = new URL("../golden/", import.meta.url);
  const own = readdirSync(golden).filter((name) => name.endsWith(".md"));
  expect(own.length).toBeGreaterThan(5);
  for (const name of own) {
    const text = readFileSync(new URL(name, golden), "utf8").trimEnd();
    if (text.length < 40_000)
      expect([name, commentOf(text).includes(`</summary>\n\n${text}\n\n</details>`)]).toEqual([name, true]);
  }
  for (const forged of [
    "<img src=x>",
    "@everyone",
    "[click](https://evil.example)",
    "![x](//evil.example/a.png)",
    "fine\n<!--\n",
    "<details>\n<summary>all well</summary>\n",
    "</details>",
    "```text\nopen",
    "`a` <b onclick=x>",
    "see www.evil.example",
    "~~~\n```\n~~~\n@evil [x](https://e.example)\n```",
    "see HTTPS://evil.example",
    "see WWW.evil.example",
    "~~~",
    "- ```\n  ```\n\n@evil <img src=x>\n```",
    "<details>\n```\n<a href=//e.example>x</a>\n```\n</details>",
    "<details>`<a href=//e.example>x</a>`</details>",
    "a <code>[x](https://e.example) ![p](//e.example)</code>",
    "a ` b\n` @evil [x](//e.example) `",
    "\\`@evil [x](//e.example)`",
    "/merge",
    "```mermaid\ngraph\n```",
    "see someone/other#12 and !34",
    "<b>open",
    "<code>open",
    "&#64;everyone",
    "```text\na\n````\n<img src=x>\n```",
    "<details>\n<summary>x</summary>\n<img src=x>\n\n</details>",
    "<details>\n<summary><img src=x></summary>\n\n</details>",
    "    indented\n> quoted",
    "<details>\n<summary><b>@org/team</b></summary>\n\nx\n\n</details>",
    "<details>\n<summary><b>a</b> https://evil.example</summary>\n\nx\n\n</details>",
  ]) {
    expect([forged, commentOf(forged)]).toEqual([
      forged,
      expect.stringMatching(/<\/summary>\n\n`{3,}text\n[\s\S]*\n`{3,}\n\n<\/details>/),
    ]);
  }
});
