/** Messages propose flags, which are copied into a shell: what they hold of the account and of files is one word of it, and no command. */

import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import ts from "typescript";
import { expect, test } from "vitest";
import { shellWord } from "../../src/model/text.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

test("an owner's tag that holds a command of a shell is quoted in each flag that a message proposes", async () => {
  const owner = "x$(touch ran)y;touch ran;'`touch ran`";
  const zone = (domain: string) => ({ domain, soa_email: "a@a.example", tags: [`tenon:${owner}`], records: [] });
  const service = await emulator({ seed: { domains: [zone("a.example"), zone("b.example")] } });
  const declaring = (entry: string) => `tenon: 1\nowner: edge\ndomains: [{ ${entry} }]\n`;
  for (const [args, manifest, flag, words] of [
    [
      ["plan"],
      declaring("domain: a.example, type: master, soa_email: a@a.example"),
      /--take-ownership-from=.*(?=\. 1 error)/,
      [`--take-ownership-from=${owner}`],
    ],
    [
      ["plan"],
      declaring("domain: c.example, create_from: { clone: b.example }"),
      /--take-ownership-from=.*(?= to get it back)/,
      [`--take-ownership-from=${owner}`],
    ],
    [["import", "--out", "o", "--domain", "b.example"], "", /(?<=give )--owner .*(?=\. 1 error)/, ["--owner", owner]],
  ] as const) {
    const cwd = await folder(manifest === "" ? {} : { "tenon.yaml": manifest });
    const { stdout, stderr } = await run(args, { cwd, env: envOf(service) });
    const proposed = flag.exec((stdout + stderr).replace(/\s+/g, " "))?.[0] ?? "";
    const inShell = await promisify(execFile)("sh", ["-c", `printf '%s\\n' ${proposed}`], { cwd });
    expect([args, inShell.stdout]).toEqual([args, `${words.join("\n")}\n`]);
    expect(existsSync(join(cwd, "ran"))).toBe(false);
  }
});

test("what is quoted for a shell stands within quotes for PowerShell and fish, too", () => {
  const unit = fc.constantFrom(..."ab *$`;#()!\n'\"\\\u2018\u2019\u201a\u201b\u201c\u201d");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const word = shellWord(text);
      if (/^[ab]+$/.test(text)) return;
      // In double quotes nothing but quotes and pairs of backslashes, in single ones none of those that end them.
      expect(word).toMatch(
        /^(?:'(?:[^'\\\u2018-\u201b]|\\(?![\\'\u2018-\u201b]))*'|"(?:['\u2018-\u201b]+|(?:\\\\)+)")+$/,
      );
    }),
    { numRuns: 5_000 },
  );
});

const SOURCE = join(import.meta.dirname, "../../src");

/** What stands unquoted behind a flag, by the file and the expression. */
const HARMLESS: readonly [file: RegExp, expression: RegExp, why: string][] = [
  [/^cli\/git\.ts$/, /^(id|MAX_REFS)$/, "arguments of git, which no shell reads"],
  [/^cli\/flags\.ts$/, /^(folder|format)$/, "digits and a unit, or a word of a list"],
  [/^cli\/undo-on-failure\.ts$/, /^(read\.run\.started|journal)$/, "a time of this process, and what is quoted before"],
  [/^cli\/commands\/import\.ts$/, /^(from|owner|whose|soaEmail)$/, "a word of a list, or what was given"],
  [/^cli\/commands\/init\.ts$/, /^here\.trim\(\)/, "what is quoted before"],
  [/^cli\/fleet-open\.ts$/, /^select\.join/, "what was given"],
  [/^import\/live\.ts$/, /^asked$/, "what was given"],
  [/^import\/zone-files\.ts$/, /^from$/, "a word of a list"],
  [/^manifest\/upload-file\.ts$/, /^word\(file\)$/, "what is quoted there"],
  [/^manifest\/variables\.ts$/, /^name$/, "letters, digits, hyphens and underscores"],
];

function unquoted(used: Set<(typeof HARMLESS)[number]>): string[] {
  const found: string[] = [];
  for (const file of readdirSync(SOURCE, { recursive: true }).map(String)) {
    if (!file.endsWith(".ts")) continue;
    const tree = ts.createSourceFile(file, readFileSync(join(SOURCE, file), "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isTemplateExpression(node)) {
        let before = node.head.text;
        for (const { expression, literal } of node.templateSpans) {
          const text = expression.getText();
          const isOfFlag = /--[a-z][a-z-]*[= ]([a-z]+[=/])?$/.test(before) && !text.startsWith("shellWord(");
          const harmless = isOfFlag ? HARMLESS.filter(([path, words]) => path.test(file) && words.test(text)) : [];
          for (const row of harmless) used.add(row);
          if (isOfFlag && harmless.length === 0) found.push(`${file}: ${node.getText()}`);
          before = literal.text;
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return found;
}

test("whatever a message puts behind a flag is quoted for a shell, unless it is known to be harmless", () => {
  const used: Set<(typeof HARMLESS)[number]> = new Set();
  expect(unquoted(used)).toEqual([]);
  expect(HARMLESS.filter((row) => !used.has(row))).toEqual([]);
});
