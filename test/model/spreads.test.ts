/** A list that grows with the account or the manifest is not spread into a call: from some 130,000 arguments on the stack is full. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "../../src");

/** What is spread is short whatever is planned, by the file and the start of the call. */
const SHORT: readonly [file: RegExp, call: RegExp, why: string][] = [
  [/^emulator\//, /^badRequest\(/, "errors of one request body"],
  [/^emulator\/(fields|lists)\.ts$/, /^(this\.)?errors\.push\(/, "errors of one request"],
  [/^render\//, /^lines\.push\(/, "lines of one text that is wrapped, or of one heading"],
  [/^render\/headline\.ts$/, /^withThem\(/, "a word in the singular and in the plural"],
  [/^render\//, /^count\(/, "singular and plural"],
  [/^render\/change-lines\.ts$/, /^Math\.max\(/, "fields of one object"],
  [/^dns\/nameserver\.ts$/, /^servers\.push\(/, "addresses of one name server"],
  [/^dns\/(builders|spf)\.ts$/, /^problems\.push\(/, "problems of one record"],
  [/^manifest\/positions\.ts$/, /^String\.fromCharCode\(/, "offsets of an object of at most 16 keys"],
  [/^fleet\/redis\.ts$/, /^this\.#client\.eval\(/, "two keys of a script"],
  [/^apply\/execute\.ts$/, /^this\.#notices\.push\(/, "notices of one step"],
  [/^units\/network\/diff\.ts$/, /^warnings\.push\(/, "warnings of one VPC"],
  [/^units\/zone\/diff\.ts$/, /^warnings\.push\(/, "warnings of one domain"],
  [/^units\/zone\/export\.ts$/, /^levelled\.push\(/, "one record at most"],
  [
    /^units\/zone\/(ordering|pointers|wildcard-cutovers)\.ts$/,
    /^(arriving|leaving|endEvents|events|keeps\.get\(key\)\?)\.push\(/,
    "names of one zone, 12,000 at most",
  ],
];

function spreads(): string[] {
  const found: string[] = [];
  for (const file of readdirSync(SOURCE, { recursive: true }).map(String)) {
    if (!file.endsWith(".ts")) continue;
    const tree = ts.createSourceFile(file, readFileSync(join(SOURCE, file), "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
      const text = node.getText();
      if (isCall && node.arguments?.some(ts.isSpreadElement) === true) {
        if (!SHORT.some(([path, call]) => path.test(file) && call.test(text))) found.push(`${file}: ${text}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return found;
}

test("only what is known to be short is spread into a call", () => {
  expect(spreads()).toEqual([]);
});
