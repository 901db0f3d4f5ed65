/** What accounts printed, in the comment of a fleet. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Ran } from "../../src/model/fleet.ts";
import { renderFleetMarkdown } from "../../src/render/fleet.ts";
import { growth } from "../support/operations.ts";
import { anatomyOf } from "./markdown/anatomy.ts";

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
    // A table of one column divides its lines at each `|`, also within a code span.
    ...[":-", "-:", ":-:", "  :--", "- :-:", "-"].map((row) => `Changes\n${row}\n\`<img src=x>|\``),
  ]) {
    expect([forged, commentOf(forged)]).toEqual([
      forged,
      expect.stringMatching(/<\/summary>\n\n`{3,}text\n[\s\S]*\n`{3,}\n\n<\/details>/),
    ]);
  }
});

/** What an account reports whose name stands in each form. */
function ran(name: string, sizes: readonly number[], markup: Ran["markup"] = "markdown"): Ran {
  const forms = sizes.map((size) => {
    const [head, foot] = [`## Plan of ${name} in ${size}\n\n\`\`\`diff\n`, "\n```\n"];
    return head + "x\n".repeat((size - head.length - foot.length) / 2) + foot;
  });
  const [text = "", ...shorter] = forms;
  return { type: "ran", code: 2, headline: `headline of ${name}`, text, shorter, markup, document: null };
}

function fleetOf(outcomes: Readonly<Record<string, Ran>>): string {
  const accounts = Object.entries(outcomes).map(([name, outcome]) => ({ name, labels: {}, outcome }));
  const text = renderFleetMarkdown({ command: "plan", accounts });
  expect(text.length).toBeLessThanOrEqual(60_100);
  return text;
}

test("each account is shown in the longest form for which there is room beside the others", () => {
  const sizes = [60_000, 15_900, 4_900];
  const names = ["a1", "a2", "a3", "a4"];
  const text = fleetOf(Object.fromEntries(names.map((name) => [name, ran(name, sizes)])));
  for (const name of names) expect(text).toMatch(new RegExp(`## Plan of ${name} in (4900|15900)\\n`));
  expect(text.match(/ in 15900\n/g)).toHaveLength(3);
  expect(text).not.toContain("no room");
  // What is small leaves its room to the others, and a large one takes none from them.
  const mixed = fleetOf({ b1: ran("b1", sizes), b2: ran("b2", [30_000, 15_900, 4_900]), b3: ran("b3", [1_000]) });
  for (const shown of ["b1 in 15900", "b2 in 30000", "b3 in 1000"]) expect(mixed).toContain(`## Plan of ${shown}\n`);
  const many = fleetOf(
    Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`c${index}`, ran(`c${index}`, sizes)])),
  );
  const shown = many.match(/ in 4900\n/g)?.length ?? 0;
  expect(shown).toBeGreaterThanOrEqual(11);
  expect(many).toContain(`There is no room for the details of ${40 - shown} further accounts.`);
});

test("what has no shorter forms is cut as code, and a forged form is code", () => {
  const errors = Array.from({ length: 3_000 }, (_, index) => `error: number ${index} [x](//evil.example)`).join("\n");
  const plain = { ...ran("a1", []), text: errors, markup: "plain" as const };
  const old = { ...ran("a2", []), text: `## Plan\n\n\`\`\`diff\n${"+ www\n".repeat(12_000)}\`\`\`\n` };
  const forged = { ...ran("a3", [60_000]), shorter: ["![x](//evil.example/a.png)\n@everyone"] };
  const text = fleetOf({ a1: plain, a2: old, a3: forged });
  const { fenced, prose } = anatomyOf(text);
  expect(prose).not.toMatch(/evil|@everyone|no room/);
  for (const line of ["error: number 0 [x](//evil.example)", "## Plan", "@everyone"]) expect(fenced).toContain(line);
  expect(fenced.filter((line) => line === "… the rest is not shown here")).toHaveLength(2);
  // Of two accounts with the same text each has its own forms.
  const same = ran("b", [60_000, 4_000]);
  const both = fleetOf({ b1: { ...same, shorter: ["forged"] }, b2: same });
  expect(both).toContain("<code>b2</code>");
});

test("details that are full of backticks, and those that do not fit, take time in proportion to the accounts", async () => {
  const outcomes = (count: number): Record<string, Ran> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => {
        const text = `${index} ${"`".repeat(10_000)}\n${"word `code` word\n".repeat(1_000)}`;
        return [`a${index}`, { ...ran("", []), text, shorter: [text.slice(0, 16_000), text.slice(0, 5_000)] }];
      }),
    );
  expect(await growth(25, 8, (count) => fleetOf(outcomes(count)))).toBeLessThan(9);
});
