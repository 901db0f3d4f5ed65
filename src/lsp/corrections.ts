/** Quick fixes: the corrections of a diagnostic, where the text still is what they correct. */

import {
  type CodeAction,
  CodeActionKind,
  type Diagnostic,
  type Range,
  type TextEdit,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { shortened } from "../model/text.ts";
import { escapeText } from "../render/terminal.ts";
import type { Replacement } from "./requests.ts";

/**
 * @param asked the diagnostics that the editor asks about
 * @param published what it was told of the document: an editor that keeps no data of a diagnostic is helped by it
 */
export function quickFixes(
  document: TextDocument,
  asked: readonly Diagnostic[],
  published: readonly Diagnostic[],
): CodeAction[] {
  return asked.flatMap((diagnostic) => {
    const corrections =
      correctionsOf(diagnostic) ?? correctionsOf(published.find((one) => isSame(one, diagnostic))) ?? [];
    const fixes = corrections.flatMap((correction) => {
      const edit = editOf(document, correction, diagnostic.range);
      return edit === null ? [] : [{ correction, edit }];
    });
    return fixes.map(
      ({ correction, edit }): CodeAction => ({
        title: escapeText(`Write \`${shortened(correction.to)}\` in place of \`${shortened(correction.from)}\``),
        kind: CodeActionKind.QuickFix,
        diagnostics: [diagnostic],
        ...(fixes.length === 1 ? { isPreferred: true } : {}),
        edit: { changes: { [document.uri]: [edit] } },
      }),
    );
  });
}

function isSame(one: Diagnostic, other: Diagnostic): boolean {
  return one.code === other.code && JSON.stringify(one.range) === JSON.stringify(other.range);
}

/** What the editor sends back is data of ours, and may be anything. */
function correctionsOf(diagnostic: Diagnostic | undefined): readonly Replacement[] | null {
  const data = diagnostic?.data as { readonly corrections?: unknown } | null | undefined;
  const corrections = data?.corrections;
  return Array.isArray(corrections) ? corrections.filter(isReplacement) : null;
}

function isReplacement(value: unknown): value is Replacement {
  const { from, to, range } = (value ?? {}) as Partial<Replacement>;
  return typeof from === "string" && typeof to === "string" && (range === null || isRange(range));
}

function isRange(range: Range | undefined): boolean {
  return [range?.start?.line, range?.start?.character, range?.end?.line, range?.end?.character].every(Number.isInteger);
}

/** @returns null if the text has the word not, or more than once: a variable may stand for it, or it was changed since */
function editOf(document: TextDocument, { from, to, range, unquotes }: Replacement, at: Range): TextEdit | null {
  const start = document.offsetAt((range ?? at).start);
  const text = document.getText(range ?? at);
  const quote = /^(["']).*\1$/s.exec(text)?.[1] ?? "";
  const isWhole = text === `${quote}${from}${quote}`;
  if (isWhole && unquotes) return replace(document, start, text.length, to);
  if (isWhole && quote === "") return replace(document, start, text.length, PLAIN.test(to) ? to : JSON.stringify(to));
  if (isWhole) return replace(document, start + 1, from.length, to);
  const found = wordIn(text, from);
  return found === null || unquotes ? null : replace(document, start + found, from.length, to);
}

/** Texts that YAML reads as they are. */
const PLAIN = /^[A-Za-z0-9_][\w./-]*$/;

function replace(document: TextDocument, start: number, length: number, newText: string): TextEdit {
  return { range: { start: document.positionAt(start), end: document.positionAt(start + length) }, newText };
}

/** Where the word is, if it is there once. */
function wordIn(text: string, word: string): number | null {
  const found: number[] = [];
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + word.length])) found.push(at);
    if (found.length > 1) return null;
  }
  return found[0] ?? null;
}

function isPart(character: string | undefined): boolean {
  return character !== undefined && /[\w.-]/.test(character);
}
