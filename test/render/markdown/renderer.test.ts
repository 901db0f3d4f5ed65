import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { describe, expect, it } from "vitest";
import { renderPlanMarkdown, renderReportMarkdown } from "../../../src/render/index.ts";
import { everything } from "../plans.ts";
import { PARTIAL } from "../reports.ts";
import { HOSTILE, hostilePlan, hostileReport } from "./hostile.ts";

/** As a service renders it before it cleans up: HTML is let through. */
function rendered(markdown: string): { html: string; code: string[]; rest: string } {
  const html = micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
  });
  const code: string[] = [];
  const rest = html.replace(/<pre><code[^>]*>([^<]*)<\/code><\/pre>|<code>([^<]*)<\/code>/g, (_, block, span) => {
    code.push(block ?? span);
    return "·";
  });
  return { html, code, rest };
}

function tagsOf(html: string): string[] {
  return [...new Set([...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag))].sort();
}

const OURS = [
  "<details open>",
  ...["b", "details", "h2", "h3", "li", "p", "strong", "summary", "ul"].flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
];

describe("what GitHub Flavored Markdown makes of it", () => {
  it("has nothing but our own tags, and no text of others outside code, whatever that is", () => {
    for (const text of HOSTILE) {
      const { report, verification } = hostileReport(text);
      const comments = [
        renderPlanMarkdown(hostilePlan(text)),
        renderReportMarkdown(report, hostilePlan(text), verification),
      ];
      for (const comment of comments) {
        const { rest, code } = rendered(comment);
        expect(OURS).toEqual(expect.arrayContaining(tagsOf(rest)));
        expect(rest).not.toMatch(/[@[\]~$|]|evil|https?:|#\d|0123456789abcdef|everyone|steal|bold/);
        expect(code.length).toBeGreaterThan(5);
      }
    }
  });

  it("folds each unit, with its changes as a diff", () => {
    const { html } = rendered(renderPlanMarkdown(everything()));
    const folds = [
      ...html.matchAll(/<details>\n<summary><code>([^<]*)<\/code>[^<]*<\/summary>\n<pre><code class="language-diff">/g),
    ];
    expect(folds.map(([, name]) => name)).toEqual([
      "domain example.com",
      "domain new.example",
      "domain taken.example",
      "image golden",
      "image mine",
      "image old",
      "vpc legacy",
      "vpc prod",
    ]);
    // The one beside them is of the warnings.
    expect(html.match(/<\/details>/g)).toHaveLength(folds.length + 1);
    expect(tagsOf(rendered(renderReportMarkdown(PARTIAL, everything(), null)).rest)).toContain("<h2>");
  });
});
