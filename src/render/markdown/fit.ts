/** What fits: lists and units share the room that a comment has, and what has none is counted, never left out silently. */

import { fenceCost } from "./code.ts";
import { LEVELS, type Level, type Rendering } from "./unit.ts";

/**
 * GitHub takes so many characters of a comment, and stores up to four bytes for each. Here UTF-16 code units are counted,
 * of which there are at least as many as characters, and never more than three bytes for each in UTF-8.
 */
export const MAX_MARKDOWN_CHARACTERS = 65_536;
/** For what a pipeline adds: a hidden line that finds its comment again, and a link to the run. */
export const MARKER_ROOM_CHARACTERS = 500;
/** What a rendering may take. */
export const MAX_BODY_CHARACTERS: number = MAX_MARKDOWN_CHARACTERS - MARKER_ROOM_CHARACTERS;

/** Between two blocks: an empty line. */
export const BLOCK_SEPARATOR = "\n\n";

/** Something that can be shown in more or less detail. */
export interface Fittable {
  /** Before others of less weight where there is not room for all. */
  readonly weight: number;
  render(level: Level): Rendering;
}

export interface Fitted<Item> {
  readonly shown: ReadonlyMap<Item, Rendering>;
  /** There was not even room for a line of numbers. In the order given. */
  readonly left: readonly Item[];
}

/**
 * Gives each as much detail as fits into `room`: first a line of numbers to each, then more to one after the other, the
 * heaviest first. Linear in the text of all details.
 */
export function fitAll<Item extends Fittable>(items: readonly Item[], room: number): Fitted<Item> {
  const chosen = new Map<Item, Rendering>();
  const order = items.map((item, index) => ({ item, index }));
  order.sort((a, b) => b.item.weight - a.item.weight || a.index - b.index);
  const levels: readonly Level[] = room === Number.POSITIVE_INFINITY ? ["full"] : LEVELS;
  let used = 0;
  for (const level of levels) {
    for (const { item } of order) {
      const present = chosen.get(item);
      if (present === undefined && level !== levels[0]) continue;
      const wanted = item.render(level);
      const cost = wanted.text.length - (present?.text.length ?? -BLOCK_SEPARATOR.length);
      if (used + cost > room) continue;
      used += cost;
      chosen.set(item, wanted);
    }
  }
  return { shown: chosen, left: items.filter((item) => !chosen.has(item)) };
}

/** Of a list as many entries as fit into `room`, in order; a large one does not keep out the small ones after it. */
export function fitList(entries: readonly (readonly string[])[], room: number): { shown: string[][]; left: number } {
  const shown: string[][] = [];
  let used = 0;
  for (const entry of entries) {
    const cost = entry.reduce((sum, line) => sum + line.length + 1, fenceCost(entry));
    if (used + cost > room) continue;
    used += cost;
    shown.push([...entry]);
  }
  return { shown, left: entries.length - shown.length };
}
