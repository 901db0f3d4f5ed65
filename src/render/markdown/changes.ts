/** Changes in markdown, unit by unit, within the room there is. */

import type { Address } from "../../model/address.ts";
import type { Change } from "../../model/change.ts";
import type { Strategy } from "../../model/plan.ts";
import { count } from "../wording.ts";
import { entriesOf, type GroupView, groupsOf } from "../view.ts";
import { type Fittable, fitAll, MAX_MARKDOWN_CHARACTERS } from "./fit.ts";
import { type Tense, tallyByKind, tallyText } from "./tally.ts";
import { isLoss, type Level, renderGoing, renderUnit, viewsOf } from "./unit.ts";

/** What is said of what has no line, and the headings. */
const FRAME_CHARACTERS = 1_500;

/** Changes that belong together, under one heading. */
export interface Section {
  /** Without anything of others; null: the changes stand by themselves. */
  readonly heading: string | null;
  /** Before other sections where there is not room for all. */
  readonly weight: number;
  readonly changes: readonly Change[];
}

export interface ChangesFrame {
  readonly strategies: readonly Strategy[];
  readonly tense: Tense;
  /** Where all of it can be seen: our own words. */
  readonly whole: string;
}

interface UnitItem extends Fittable {
  readonly section: Section;
  /** One network, zone or image, or many that only go. */
  readonly groups: readonly GroupView[];
}

/** @param room characters; Infinity: everything is shown. @returns blocks of markdown */
export function renderChanges(sections: readonly Section[], frame: ChangesFrame, room: number): string[] {
  const items = sections.flatMap((section) => itemsOf(section, frame));
  const { shown, left } = fitAll(items, room - FRAME_CHARACTERS);
  const blocks = sections.flatMap((section) => {
    const texts = items.filter((item) => item.section === section).flatMap((item) => shown.get(item)?.text ?? []);
    const rest = left.filter((item) => item.section === section);
    if (texts.length + rest.length === 0) return [];
    return [...headingOf(section, frame.tense), ...joined(texts), ...restBlocks(rest, frame.tense)];
  });
  const counted = [...shown.values()].reduce((sum, rendering) => sum + rendering.counted, 0);
  const uncounted = left.reduce((sum, { groups }) => sum + groups.flatMap(viewsOf).length, 0);
  return [...blocks, ...countedBlock(counted + uncounted, frame)];
}

function itemsOf(section: Section, { strategies, tense }: ChangesFrame): UnitItem[] {
  const sources = new Map<Address, Address>();
  for (const { source, copies } of strategies) for (const copy of copies) sources.set(copy, source);
  // The section says whose they are.
  return entriesOf(groupsOf(section.changes.map((change) => ({ ...change, origin: null })))).map((groups) => {
    const weight = section.weight * 2 + (groups.flatMap(viewsOf).some(isLoss) ? 1 : 0);
    const [first, ...others] = groups as [GroupView, ...GroupView[]];
    if (others.length > 0)
      return { section, groups, weight, render: (level: Level) => renderGoing(groups, tense, level) };
    const unit = { group: first, source: sources.get(first.root) ?? null, tense };
    return { section, groups, weight, render: (level: Level) => renderUnit(unit, level) };
  });
}

function headingOf({ heading, changes }: Section, tense: Tense): string[] {
  if (heading === null) return [];
  const views = groupsOf(changes).flatMap(viewsOf);
  return [`### ${heading}: ${tallyText(views, tense)}`];
}

/** Lines of numbers that follow each other are one list. */
function joined(texts: readonly string[]): string[] {
  const blocks: string[] = [];
  for (const text of texts) {
    const last = blocks.at(-1);
    if (last?.startsWith("- ") && text.startsWith("- ")) blocks[blocks.length - 1] = `${last}\n${text}`;
    else blocks.push(text);
  }
  return blocks;
}

function restBlocks(rest: readonly UnitItem[], tense: Tense): string[] {
  if (rest.length === 0) return [];
  const kinds = tallyByKind(
    rest.flatMap(({ groups }) => groups.flatMap(viewsOf)),
    tense,
  );
  const number = rest.reduce((sum, { groups }) => sum + groups.length, 0);
  const units = count(number, "further network, zone or image", "further networks, zones and images");
  return [[`${units}:`, "", ...kinds.map((line) => `- ${line}`)].join("\n")];
}

function countedBlock(counted: number, { whole }: ChangesFrame): string[] {
  if (counted === 0) return [];
  const are = count(counted, "change is", "changes are");
  return [
    `**${are} shown as numbers only**, as a comment holds no more than ${MAX_MARKDOWN_CHARACTERS} characters. ${whole}`,
  ];
}
