import { describe, expect, it } from "vitest";
import { renderPlanMarkdown, renderReportMarkdown, renderUnreviewedMarkdown } from "../../../src/render/index.ts";
import { codeBlock, codeSpan, htmlCode } from "../../../src/render/markdown/parts.ts";
import { escapeText } from "../../../src/render/terminal.ts";
import { anatomyOf } from "./anatomy.ts";
import { HOSTILE, hostilePlan, hostileReport } from "./hostile.ts";

const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** The same comment with harmless words of the same shape is what says which prose is ours. */
function expectHarmless(render: (text: string) => string, text: string): void {
  const hostile = anatomyOf(render(text));
  const harmless = anatomyOf(render(escapeText(text).replace(/[^ ]/g, "x")));
  expect(hostile.prose).toBe(harmless.prose);
  for (const line of [...hostile.fenced, ...hostile.spans]) expect(line).not.toMatch(UNSAFE);
}

describe("text of others in markdown", () => {
  for (const text of HOSTILE) {
    it(`stays in code: ${JSON.stringify(text).slice(0, 60)}`, () => {
      expectHarmless((word) => renderPlanMarkdown(hostilePlan(word)), text);
      expectHarmless((word) => {
        const { report, verification } = hostileReport(word);
        return renderReportMarkdown(report, hostilePlan(word), verification);
      }, text);
      expectHarmless((word) => renderUnreviewedMarkdown(hostilePlan(word).changes), text);
    });
  }

  it("never begins a line outside of code, where a service would take it for a command", () => {
    const { prose } = anatomyOf(renderPlanMarkdown(hostilePlan("/close")));
    for (const line of prose.split("\n")) expect(line).not.toMatch(/^\s*\//);
  });

  it("leaves a code span as it is, whatever its backticks", () => {
    expect(codeSpan("a")).toBe("`a`");
    expect(codeSpan("a`b``c")).toBe("```a`b``c```");
    expect(codeSpan("`a")).toBe("`` `a ``");
    expect(codeSpan("a`")).toBe("`` a` ``");
    expect(codeSpan(" a ")).toBe("`  a  `");
    expect(codeSpan("")).toBe('`""`');
  });

  it("has a fence that is longer than any within", () => {
    expect(codeBlock(["a", "````", "b"], "text")).toBe("`````text\na\n````\nb\n`````");
    expect(codeBlock(["a"], "diff")).toBe("```diff\na\n```");
  });

  it("has no sign of HTML in HTML", () => {
    expect(htmlCode(`<a href='x' title="&">`)).toBe("<code>&#60;a href=&#39;x&#39; title=&#34;&#38;&#34;&#62;</code>");
  });
});
