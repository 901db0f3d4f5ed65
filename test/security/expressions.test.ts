/** The time that each regular expression of the source may take. */

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { analyse } from "scslre";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));

/** What takes more than linear time on some text, with the reason why it never gets one. */
const HARMLESS: Readonly<Record<string, string>> = {
  "api/upload.ts /%.*$/": "a host has no line break, so that the first match is the last",
  "cli/completion.ts /[<[]([^>\\]]*)[>\\]]/": "usage texts of Tenon's own",
  "cli/fleet-queue.ts /^\\/flags\\/(\\w+)\\S* (.+)$/s": "the end always matches",
  "cli/git.ts /(@\\{|[~^:]).*$/s": "the end always matches",
  "cli/output.ts /<[^>]*>/g": "a page of Tenon's own, in which each < of a text is escaped",
  "dns/ip.ts /(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)$/": "an address, by then",
  "dns/spf.ts /^([+?~-]?)([^:/]*)(.*)$/s": "the end always matches",
  "dns/zone-file/lexer.ts /(\\d+)([wdhms])/gi": "100 characters at most",
  "export/terraform.ts /^_+|_+$/g": "underscores stand alone by then",
  "lsp/messages.ts /^content-length:[ \\t]*(.*)$/i": "a header of bounded length",
  "render/markdown/parts.ts /\\w+$/": "the beginning of a fence",
};

/** As `FILE /EXPRESSION/`. */
function expressions(): { name: string; source: string; flags: string }[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return files.flatMap((file) => {
    const path = join(SOURCE, file);
    const tree = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest);
    const found: { name: string; source: string; flags: string }[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const [, source = "", flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(node.text) ?? [];
        found.push({ name: `${relative(SOURCE, path)} ${node.text}`, source, flags });
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  });
}

test("each regular expression of the source takes time in proportion to its text, or never gets a text for which it does not", () => {
  const all = expressions();
  const slow = all.filter(({ source, flags }) => analyse({ source, flags }).reports.length > 0).map(({ name }) => name);
  expect(all.length).toBeGreaterThan(500);
  expect([...new Set(slow)].sort()).toEqual(Object.keys(HARMLESS).sort());
});
