/** Lists as a table, JSON and CSV, whatever the values are. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Column, renderCsv, renderListJson, renderTable } from "../../src/render/listing.ts";
import { columnsOf } from "../../src/render/terminal.ts";

interface Row {
  readonly a: string | null;
  readonly b: string;
}
const COLUMNS: readonly Column<Row>[] = [
  { field: "a", heading: "A", value: ({ a }) => a },
  { field: "b", heading: "B", value: ({ b }) => b },
];

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(fc.constantFrom("=", "+", "-", "@", '"', "'", ",", ";", "\n", "\t", " ", "x", "＝", "\u001b"), {
      maxLength: 6,
    })
    .map((parts) => parts.join("")),
);
const rows = fc.array(fc.record({ a: fc.option(text), b: text }), { maxLength: 5 });

/** RFC 4180, as a reader that knows nothing of Tenon would read it. */
function readCsv(csv: string): string[][] {
  const cells: string[][] = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/gy;
  for (const match of csv.matchAll(pattern)) {
    const [, quoted, plain = "", end] = match;
    cells.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") cells.push([]);
  }
  return cells.slice(0, -1);
}

test("CSV has a row for each row, and no cell in it is a formula or more than one line", () => {
  fc.assert(
    fc.property(rows, (some) => {
      const [header, ...read] = readCsv(renderCsv(some, COLUMNS));
      expect(header).toEqual(["a", "b"]);
      expect(read.map((cells) => cells.length)).toEqual(some.map(() => 2));
      for (const cell of read.flat()) expect(cell.trim()).not.toMatch(/^[=+\-@＝＋－＠]|\p{Cc}/u);
    }),
  );
});

test("a table has a line for each row, and JSON is read back as it was", () => {
  fc.assert(
    fc.property(rows, (some) => {
      expect(renderTable(some, COLUMNS).split("\n")).toHaveLength(some.length + 2);
      const json = renderListJson("rows", some, COLUMNS);
      expect(JSON.parse(json)).toEqual({ format_version: 1, rows: some });
      expect(json.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    }),
  );
});

test("columns are aligned by what is seen, wide characters included", () => {
  expect(
    renderTable(
      [
        { a: "ab", b: "1" },
        { a: "中文", b: "" },
      ],
      COLUMNS,
    ),
  ).toBe("A     B\nab    1\n中文  -\n");
});

test("on a terminal the widest columns are cut in their middle until each line fits; elsewhere nothing is", () => {
  const name = "a-rather-long-name-of-a-subdomain.of.another.example";
  const target = "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA";
  const table = (width: number | null) =>
    renderTable(
      [
        { a: "short", b: target },
        { a: name, b: "192.0.2.1" },
      ],
      COLUMNS,
      width,
    );
  const lines = table(80).split("\n");
  expect(lines.map((line) => line.length)).toEqual([expect.any(Number), 80, expect.any(Number), 0]);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(lines[1]).toMatch(/^short {2,}v=DKIM1; k=rsa; .*….*CAQEA$/);
  expect(lines[2]).toMatch(/^a-rather-long-.*….*\.example {2}192\.0\.2\.1$/);
  expect(table(null)).toContain(name);
  expect(table(null)).toContain(target);
  expect(table(500)).toBe(table(null));
});

test("a terminal that is too narrow for all columns gets them as narrow as they are shown at all", () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 0, max: 200 }), (given, width) => {
      const lines = renderTable(given, COLUMNS, width).trimEnd().split("\n");
      expect(lines).toHaveLength(given.length + 1);
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(Math.max(width, 9 + 2 + 9));
    }),
  );
});
