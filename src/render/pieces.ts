/** JSON piece by piece: a plan of 300,000 records would take several times its own memory as one value, and as one text. */

import type { Json } from "../model/resource.ts";
import { sortKeys } from "./view.ts";

/** A list, or an object, whose entries are made when they are written. */
export class Lazy {
  readonly isList: boolean;
  /** The keys of an object are sorted; those of a list do not matter. */
  readonly entries: () => Iterable<readonly [key: string, value: Json]>;

  constructor(isList: boolean, entries: () => Iterable<readonly [key: string, value: Json]>) {
    this.isList = isList;
    this.entries = entries;
  }
}

export type Written = Json | Lazy | { readonly [key: string]: Written | undefined };

/** How JSON is laid out. */
export interface Layout {
  /** Between entries: a line end, or nothing. */
  readonly end: "\n" | "";
  text(value: Json | undefined): string;
}

/** Lists and objects down to here are written entry by entry, with line ends between them: one change, one step, one resource a line. */
const MAX_LINE_DEPTH = 3;

/** With the keys of all objects sorted. @param depth of the value in its document, from 0 */
export function* pieces(value: Written, depth: number, layout: Layout): Generator<string> {
  if (typeof value !== "object" || value === null || depth > MAX_LINE_DEPTH) {
    yield layout.text(sortKeys(value as Json));
    return;
  }
  const isList = value instanceof Lazy ? value.isList : Array.isArray(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  let isEmpty = true;
  for (const [key, item] of entriesOf(value)) {
    yield (isEmpty ? open : ",") + layout.end;
    isEmpty = false;
    if (isList) yield layout.text(sortKeys(item as Json));
    else {
      yield `${layout.text(key)}:`;
      yield* pieces(item, depth + 1, layout);
    }
  }
  yield isEmpty ? open + close : layout.end + close;
}

/** Without what has no value, as JSON has it. */
function entriesOf(value: object): Iterable<readonly [string, Written]> {
  if (value instanceof Lazy) return value.entries();
  if (Array.isArray(value)) return value.map((item: Json) => ["", item] as const);
  const object = value as { readonly [key: string]: Written | undefined };
  return Object.keys(object)
    .sort()
    .flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]] as const]));
}
