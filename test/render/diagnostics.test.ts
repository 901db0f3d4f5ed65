import { describe, expect, test } from "vitest";
import { type Diagnostic, Sources } from "../../src/model/diagnostic.ts";
import { countLine, diagnosticsJson, renderDiagnostics } from "../../src/render/diagnostics.ts";
import { columnsOf } from "../../src/render/terminal.ts";

const ESCAPE = "\u001b";

function at(text: string, start: number, end: number, more: Partial<Diagnostic> = {}): [Diagnostic[], Sources] {
  const sources = new Sources();
  sources.add("a.yaml", text);
  const span = { file: "a.yaml", start, end };
  return [[{ code: "some-code", severity: "error", summary: "what", detail: "", span, ...more }], sources];
}

function show(text: string, start: number, end: number, more: Partial<Diagnostic> = {}, width = 80): string[] {
  return renderDiagnostics(...at(text, start, end, more), { colour: false, width }).split("\n");
}

describe("a diagnostic as text", () => {
  test("has a head, a place, the line, a caret, the detail, the fix and notes", () => {
    const related = [{ message: "first here", span: { file: "a.yaml", start: 0, end: 1 } }];
    expect(show("a: 1\nbb: 2\n", 9, 10, { detail: "Because.", fix: "Do it.", related })).toEqual([
      "error[some-code]: what",
      "  --> a.yaml:2:5",
      "   |",
      " 2 | bb: 2",
      "   |     ^",
      "  Because.",
      "  fix: Do it.",
      "  note: first here",
      "  --> a.yaml:1:1",
      "   |",
      " 1 | a: 1",
      "   | -",
      "",
      "1 error",
      "",
    ]);
  });

  test("without a place or a known file it is shorter", () => {
    const diagnostic: Diagnostic = { code: "c", severity: "warning", summary: "s", detail: "" };
    const lost = { ...diagnostic, span: { file: "gone.yaml", start: 5, end: 6 } };
    expect(renderDiagnostics([diagnostic, lost], new Sources(), { colour: false, width: 80 })).toBe(
      "warning[c]: s\n\nwarning[c]: s\n  --> gone.yaml:1:6\n\n2 warnings\n",
    );
    expect(renderDiagnostics([], new Sources(), { colour: false, width: 80 })).toBe("");
  });

  test("errors come first, and of many warnings with one code the first three are shown where they are folded", () => {
    const one = (code: string, severity: "error" | "warning", summary: string): Diagnostic => {
      return { code, severity, summary, detail: "" };
    };
    const many = [1, 2, 3, 4, 5].map((number) => one("often", "warning", `w${number}`));
    const all = [...many.slice(0, 2), one("bad", "error", "e1"), one("rare", "warning", "r"), ...many.slice(2)];
    const errors = Array.from({ length: 900 }, (_, index) => one("bad", "error", `e${index + 2}`));
    const shown = (folded: boolean, of: readonly Diagnostic[] = all): string[] =>
      renderDiagnostics(of, new Sources(), { colour: false, width: 80, folded })
        .split("\n")
        .filter((line) => line !== "");
    expect(shown(true)).toEqual([
      "error[bad]: e1",
      "warning[often]: w1",
      "warning[often]: w2",
      "warning[often]: w3",
      "warning[often]: and 2 more like these; --full shows each",
      "warning[rare]: r",
      "1 error, 6 warnings",
    ]);
    expect(shown(false).slice(0, -1)).toEqual([
      "error[bad]: e1",
      ...["often]: w1", "often]: w2", "rare]: r", "often]: w3", "often]: w4", "often]: w5"].map(
        (text) => `warning[${text}`,
      ),
    ]);
    // What there is no room for is a warning, wherever it stands.
    const crowd = shown(false, [...Array.from({ length: 900 }, () => many[0] as Diagnostic), ...errors]);
    expect(crowd.filter((line) => line.startsWith("error"))).toHaveLength(900);
    expect(crowd.at(-1)).toBe("900 errors, 900 warnings; the first 1,000 are shown");
    expect(shown(true, [...errors, ...errors.slice(0, 50), ...many])).toContain(
      "warning[often]: and 2 more like these; --full shows each",
    );
  });

  test("a span over several lines marks the rest of the first, one at the end a column behind it", () => {
    expect(show("abc\ndef\n", 1, 6)[4]).toBe("   |  ^^");
    expect(show("abc", 3, 3)[4]).toBe("   |    ^");
  });

  test("wide and combining characters and tabs keep the caret under its text", () => {
    const lines = show("名前\te\u0301: x\r\n", 7, 8);
    expect(lines[3]).toBe(" 1 | 名前  e\u0301: x");
    expect(lines[4]).toBe(`   | ${" ".repeat(9)}^`);
  });

  test("control characters, escapes and bidi marks cannot reach the terminal", () => {
    const hostile = `a: "${ESCAPE}[2J\u202ex\u200b\u0007"`;
    const text = show(hostile, 0, 1, { summary: `s${ESCAPE}[31m`, detail: `d\u2066`, fix: "f\u0085" }).join("\n");
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202e\u2066\u200b]/u);
    expect(text).toContain("\\u{1b}[2J\\u{202e}x\\u{200b}\\u{7}");
  });

  test.each([0, 1, 39, 40, 75, 76, 2_000, 3_990, 3_999])(
    "a line of 4,000 characters is cut around column %i",
    (start) => {
      const line = Array.from({ length: 4_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
      const lines = show(line, start, start + 5);
      for (const shown of lines) expect(columnsOf(shown)).toBeLessThanOrEqual(80);
      const column = lines[4]?.indexOf("^") ?? -1;
      expect(lines[3]?.[column]).toBe(line[start]);
    },
  );

  test("a line of megabytes is not looked through", () => {
    const line = "x".repeat(4_000_000);
    expect(show(line, 0, 4_000_000)[3]).toHaveLength(79);
  });

  test("surrogate pairs are not cut in half", () => {
    const text = show("\u{1f600}".repeat(500), 500, 502).join("\n");
    expect(text).not.toMatch(/(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/);
    expect(text).not.toContain("\\u{d");
  });

  test("long sentences are wrapped, and colour only colours", () => {
    const detail = "word ".repeat(60).trim();
    const plain = show("a", 0, 1, { detail }, 60);
    for (const line of plain) expect(line.length).toBeLessThanOrEqual(60);
    const coloured = renderDiagnostics(...at("a", 0, 1, { detail }), { colour: true, width: 60 });
    expect(coloured).toContain(`${ESCAPE}[31m`);
    expect(coloured.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, "g"), "").split("\n")).toEqual(plain);
  });

  test("the last line counts", () => {
    const [[error]] = at("a", 0, 1) as [Diagnostic[], Sources];
    const warning = { ...error, severity: "warning" } as Diagnostic;
    expect(countLine([error, error, error, warning] as Diagnostic[])).toBe("3 errors, 1 warning");
  });
});

test("the form for machines has lines and columns from 1", () => {
  expect(diagnosticsJson(...at("a: 1\nbb: 2\n", 9, 10, { fix: "Do it." }))).toEqual([
    {
      code: "some-code",
      severity: "error",
      summary: "what",
      detail: "",
      fix: "Do it.",
      address: null,
      file: "a.yaml",
      line: 2,
      column: 5,
      endLine: 2,
      endColumn: 6,
      related: [],
    },
  ]);
});
