/** What the package exports can be named: each type that an exported declaration speaks of is exported, too, by some entry. */

import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const ENTRIES: readonly string[] = [
  "",
  "emulator/",
  "export/",
  "format/",
  "import/",
  "live/",
  "render/",
  "tickets/",
  "verify/",
  "watch/",
];

const files = ENTRIES.map((entry) => join(ROOT, `src/${entry}index.ts`));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  ROOT,
);
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();

function resolved(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function exportsOf(file: string): ts.Symbol[] {
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  return module === undefined ? [] : checker.getExportsOfModule(module);
}

/** Bodies, initial values and private members are nobody's business. */
function isHidden(node: ts.Node): boolean {
  const isPrivate = ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name);
  return ts.isBlock(node) || (ts.isExpression(node) && !ts.isExpressionWithTypeArguments(node)) || isPrivate;
}

/** Types of this package that a declaration names. */
function named(node: ts.Node, found: Set<ts.Symbol>): Set<ts.Symbol> {
  ts.forEachChild(node, (child) => {
    const name = ts.isTypeReferenceNode(child)
      ? child.typeName
      : ts.isExpressionWithTypeArguments(child)
        ? child.expression
        : undefined;
    const symbol = name === undefined ? undefined : checker.getSymbolAtLocation(name);
    if (symbol !== undefined) found.add(resolved(symbol));
    if (!isHidden(child) || ts.isExpressionWithTypeArguments(child)) named(child, found);
  });
  return found;
}

function isOurs(symbol: ts.Symbol): boolean {
  const declared = symbol.declarations?.[0];
  const isParameter = (symbol.flags & ts.SymbolFlags.TypeParameter) !== 0;
  return declared !== undefined && !isParameter && declared.getSourceFile().fileName.startsWith(join(ROOT, "src/"));
}

test("every type that the package speaks of can be imported from it", () => {
  const exported = new Set(files.flatMap((file) => exportsOf(file).map(resolved)));
  expect(exported.size).toBeGreaterThan(100);
  const missing = [...exported].flatMap((symbol) =>
    (symbol.declarations ?? []).flatMap((declaration) =>
      [...named(declaration, new Set())]
        .filter((type) => isOurs(type) && !exported.has(type))
        .map((type) => `${type.name} of ${symbol.name}`),
    ),
  );
  expect([...new Set(missing)].sort()).toEqual([]);
});
