/** A whole comment: lists and changes share the room, and what one does not need the others get. */

import { type ChangesFrame, renderChanges, type Section } from "./changes.ts";
import { BLOCK_SEPARATOR, MAX_BODY_CHARACTERS } from "./fit.ts";
import { type List, renderList } from "./list.ts";

export interface Comment {
  /** Blocks of a size that is known to be small. */
  readonly head: readonly string[];
  readonly before: readonly List[];
  readonly sections: readonly Section[];
  readonly frame: ChangesFrame;
  readonly after: readonly List[];
  readonly foot: readonly string[];
}

/** Newline-terminated, at most `MAX_BODY_CHARACTERS` UTF-16 code units. */
export function composeWithin(comment: Comment): string {
  const whole = compose(comment, Number.POSITIVE_INFINITY);
  return whole.length <= MAX_BODY_CHARACTERS ? whole : compose(comment, MAX_BODY_CHARACTERS);
}

function compose({ head, before, sections, frame, after, foot }: Comment, room: number): string {
  const isBounded = room !== Number.POSITIVE_INFINITY;
  const lists = [...before, ...after];
  const texts = lists.map((list) => renderList(list, isBounded ? list.shareCharacters : room));
  const taken = lengthOf([...head, ...foot, ...present(texts)]);
  const changes = renderChanges(sections, frame, room - taken);
  if (isBounded) growLists(lists, texts, room - taken - lengthOf(changes));
  const [lead, tail] = [texts.slice(0, before.length), texts.slice(before.length)];
  return `${[...head, ...present(lead), ...changes, ...present(tail), ...foot].join(BLOCK_SEPARATOR)}\n`;
}

/** Gives what is left of the room to the lists, one after the other. */
function growLists(lists: readonly List[], texts: (string | null)[], room: number): void {
  let left = room;
  for (const [index, list] of lists.entries()) {
    const text = texts[index] ?? null;
    if (text === null) continue;
    const larger = renderList(list, text.length + left);
    if (larger === null || larger.length - text.length > left) continue;
    left -= Math.max(0, larger.length - text.length);
    if (larger.length > text.length) texts[index] = larger;
  }
}

function present(texts: readonly (string | null)[]): string[] {
  return texts.filter((text) => text !== null);
}

function lengthOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, block) => sum + block.length + BLOCK_SEPARATOR.length, 0);
}
