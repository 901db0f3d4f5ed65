/** Finds the places of a source file where one small change would be a mistake, and says which change. */

import ts from "typescript";

const SWAPPED = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.SlashToken, "*"],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
  [ts.SyntaxKind.MinusEqualsToken, "+="],
]);

/** Calls on a list or a text that leave it as it is when they are missing. */
const LIST_STEPS = new Set(["filter", "sort", "toSorted", "reverse", "toReversed", "slice", "trim", "toLowerCase"]);

/**
 * Only code within functions: what stands outside them runs once for many test files, so that nobody can tell which of them it concerns.
 * @returns each with `start` and `end`, the `text` that replaces what is between them, and `isStatement`
 */
export function sitesOf(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const sites = [];
  const add = (node, name, text, isStatement = false) => {
    const start = node.getStart(tree);
    const { line } = tree.getLineAndCharacterOfPosition(start);
    sites.push({ file, line: line + 1, name, start, end: node.end, text, isStatement });
  };
  const visit = (node, depth) => {
    // Types are gone when the code runs, and what no value can reach cannot be noticed.
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isThrowStatement(node)) return;
    if (depth > 0) offer(node, tree, add);
    const isFunction = ts.isFunctionLike(node) && node.body !== undefined;
    ts.forEachChild(node, (child) => visit(child, depth + (isFunction && child === node.body ? 1 : 0)));
  };
  visit(tree, 0);
  return sites;
}

function offer(node, tree, add) {
  const text = (part) => part.getText(tree);
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) {
    add(node.expression, "condition negated", `!(${text(node.expression)})`);
  }
  if (ts.isConditionalExpression(node)) add(node.condition, "condition negated", `!(${text(node.condition)})`);
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const swapped = SWAPPED.get(operatorToken.kind);
    // Strings cannot be subtracted: their sum is another mistake than an operator's.
    const isText = [left, right].some((part) => ts.isStringLiteralLike(part) || ts.isTemplateExpression(part));
    if (swapped !== undefined && !isText) {
      add(node, `${text(operatorToken)} is ${swapped}`, `(${text(left)} ${swapped} ${text(right)})`);
    }
    if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      add(node, "?? gives the default only", `(${text(right)})`);
    }
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword && isValue(node)) add(node, "true is false", "false");
  if (node.kind === ts.SyntaxKind.FalseKeyword && isValue(node)) add(node, "false is true", "true");
  if (ts.isStringLiteral(node) && node.text !== "" && isValue(node)) add(node, "text is empty", '""');
  if (ts.isTemplateExpression(node)) add(node, "text is empty", '""');
  if (ts.isAwaitExpression(node)) add(node, "await is missing", `(${text(node.expression)})`);
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression: list, name } = node.expression;
    if (LIST_STEPS.has(name.text) && !ts.isOptionalChain(node)) {
      add(node, `${name.text}() is missing`, text(list));
    }
  }
  if (!ts.isBlock(node.parent)) return;
  if (ts.isExpressionStatement(node)) add(node, "statement is missing", ";", true);
  if (ts.isReturnStatement(node) && node.expression !== undefined) add(node, "nothing is returned", "return;", true);
  if (ts.isIfStatement(node) && node.elseStatement === undefined) add(node, "if is missing", ";", true);
}

/** Not part of a type, a key or the name of a module. */
function isValue(node) {
  const { parent } = node;
  const isModule = ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return !(ts.isLiteralTypeNode(parent) || isModule || (ts.isPropertyAssignment(parent) && parent.name === node));
}

/** The source with one mistake. */
export function mutate(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

/** The source, telling `__executed` the number of each site when it runs. */
export function watch(source, numbered) {
  const inserts = numbered.flatMap(({ number, site }) => {
    const call = `globalThis.__executed?.(${number})`;
    if (site.isStatement) return [{ at: site.start, text: `${call};`, rank: site.end }];
    return [
      { at: site.start, text: `(${call}, `, rank: site.end },
      { at: site.end, text: ")", rank: -site.start },
    ];
  });
  // From the end, so that places before stay where they are; of several at one place the outer one begins first.
  inserts.sort((a, b) => b.at - a.at || a.rank - b.rank);
  return inserts.reduce((text, { at, text: more }) => text.slice(0, at) + more + text.slice(at), source);
}
