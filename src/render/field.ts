/** A resource's fields below its heading: one a line, before → after, names aligned. */

import type { Json } from "../model/resource.ts";
import { escapeText } from "./escape.ts";
import { differing, folded, inline, shownValue, signed, valueText } from "./value.ts";
import type { ChangeView, FieldDiff } from "./view.ts";

/** Beyond this, names are no longer aligned. */
const MAX_NAME_COLUMNS = 14;
const FORCES = "  # forces replacement";

/** Lines without indentation, each within `columns`: a long value takes several. */
export function fieldLines(view: ChangeView, fields: readonly FieldDiff[], columns: number): string[] {
  const longest = Math.max(0, ...fields.map(({ name }) => name.length));
  const nameColumns = Math.min(longest, MAX_NAME_COLUMNS);
  return fields.flatMap((field) => fieldLine(field, view, nameColumns, columns));
}

function fieldLine(field: FieldDiff, view: ChangeView, nameColumns: number, columns: number): string[] {
  const { before, after } = sidesOf(field, view);
  const name = escapeText(field.name).padEnd(nameColumns);
  const forces = field.forcesReplacement ? FORCES : "";
  const room = columns - name.length - 2 - forces.length;
  const [left, right] = [before, after].map((side) => (side === undefined ? undefined : shownValue(side)));
  const text = inline(left, right, room);
  if (text !== null) return [`${name}  ${text}${forces}`];
  const heading = `${name.trimEnd()}${forces}`;
  if (left === undefined || right === undefined) {
    return [heading, ...folded((right ?? left)?.text ?? "", columns - 2).map((line) => `  ${line}`)];
  }
  if (Array.isArray(before) && Array.isArray(after)) return [heading, ...listLines(before, after, columns)];
  const [from, to] = differing(left, right);
  return [heading, ...signedLines("-", from, columns), ...signedLines("+", to, columns)];
}

/** Of a resource that comes or goes there is only one side to show. */
function sidesOf(field: FieldDiff, view: ChangeView): { before: Json | undefined; after: Json | undefined } {
  if (view.change.before === null) return { before: undefined, after: field.after };
  if (view.change.after === null) return { before: field.before, after: undefined };
  return { before: field.before ?? null, after: field.after ?? null };
}

function listLines(before: readonly Json[], after: readonly Json[], columns: number): string[] {
  const had = new Set(before.map(valueText));
  const has = new Set(after.map(valueText));
  const gone = before.filter((item) => !has.has(valueText(item)));
  const come = after.filter((item) => !had.has(valueText(item)));
  // The same items in another order, or another number of times: both lists in full tell it best.
  const [left, right] = gone.length + come.length === 0 ? [[before as Json], [after as Json]] : [gone, come];
  return [
    ...left.flatMap((item) => signedLines("-", valueText(item), columns)),
    ...right.flatMap((item) => signedLines("+", valueText(item), columns)),
  ];
}

function signedLines(sign: "-" | "+", text: string, columns: number): string[] {
  return signed(`  ${sign} `, folded(text, columns - 4));
}
