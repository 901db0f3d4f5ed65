/** The order of a plan's steps as a picture: layers of steps, and what waits for what. */

import type { Kinds } from "../../model/kind.ts";
import type { Gap, Plan, Step } from "../../model/plan.ts";
import type { Report, StepOutcome } from "../../model/report.ts";
import type { Address } from "../../model/resource.ts";
import { compareNatural, groupBy } from "../../model/text.ts";
import { count } from "../view.ts";
import { type DrawnArrow, type DrawnBox, draw, inWords, numberBoxes, place, someOf } from "./drawing.ts";
import { type Html, html, NOTHING } from "./markup.ts";

/** More boxes than this are no picture any more. */
export const MAX_BOXES = 200;
/** All layers beyond are shown as one. */
const MAX_LAYERS = 66;
/** Of a layer, tried in this order until there is room for all layers. Of the most layers there is for the least. */
const BOXES_IN_LAYER: readonly number[] = [12, 8, 5, 3];
/** Of the steps of a box, and of gaps, so many are named. */
const MAX_NAMED = 12;
const MAX_GAP_ARROWS = 60;

/**
 * Static SVG within a `<div class="picture" data-picture>`, which client/pictures.ts lets a reader pan and zoom. Barriers are passed
 * through. Of a layer with many steps those that are alike are one box with a number.
 * @param report what became of the steps; null: nothing yet
 * @returns nothing if there are no steps
 */
export function orderPicture(plan: Plan, kinds: Kinds, report: Report | null): Html {
  if (plan.steps.length === 0) return NOTHING;
  const order = orderOf(plan, kinds, report);
  const { layers, boxes, waits, gaps } = order;
  const lines = boxes.map((box, index) => boxLines(box, gapsAt(gaps, index)));
  const broken = gaps.filter(({ wanted, before }) => wanted !== before).slice(0, MAX_GAP_ARROWS);
  const gapArrows = broken.map(({ wanted, before, gaps: own }): DrawnArrow => {
    return {
      from: wanted,
      to: before,
      classes: ["gap"],
      label: "",
      title: `Without an answer meanwhile: ${gapNames(own)}`,
    };
  });
  const placed = place({
    lines: lines.map(({ length }) => length),
    columns: layers,
    arrows: [...waits, ...gapArrows],
    hasPorts: false,
  });
  const numbers = numberBoxes(layers, placed);
  const drawn = boxes.map((box, index): DrawnBox => {
    const number = numbers[index] ?? "";
    return {
      number,
      lines: lines[index] ?? [],
      classes: boxClasses(box, gapsAt(gaps, index)),
      title: boxTitle(box, number, gapsAt(gaps, index)),
    };
  });
  const waiting = waits.map(({ from, to }): DrawnArrow => {
    const title = `${boxText(boxes[to] as StepBox)} (${numbers[to]}) waits for ${boxText(boxes[from] as StepBox)} (${numbers[from]})`;
    return { from, to, classes: [], label: "", title };
  });
  return html`${summaryText(plan, order)}
${draw({
  id: "order",
  title: `The order of ${count(plan.steps.length, "step", "steps")} in ${count(order.depth, "layer", "layers")}`,
  boxes: drawn,
  columns: layers.map((_, index) => layerName(order, index)),
  arrows: [...waiting, ...gapArrows],
  placed,
  words: orderInWords(order, numbers),
})}`;
}

interface Order {
  /** How many layers there are, before the last ones are put together. */
  readonly depth: number;
  /** The numbers of each layer's boxes. */
  readonly layers: readonly (readonly number[])[];
  readonly boxes: readonly StepBox[];
  /** Without those that follow from others. */
  readonly waits: readonly { readonly from: number; readonly to: number }[];
  readonly gaps: readonly BoxGap[];
}

/** Steps of one layer that are alike: those of one thing, or of all things of a kind. */
interface StepBox {
  readonly steps: readonly StepInfo[];
  readonly verb: string;
  readonly mark: string;
  /** What the steps are about, in words: `12 records`; of one step the kind alone. */
  readonly what: string;
  /** Of what: an address, or how many networks, zones and images. */
  readonly where: string;
  readonly outcome: StepOutcome | null;
}

interface StepInfo {
  readonly id: string;
  readonly verb: string;
  readonly mark: string;
  readonly address: Address;
  readonly root: Address;
  readonly kind: readonly [one: string, many: string];
  readonly outcome: StepOutcome | null;
}

/** Gaps between the steps of two boxes: `wanted` ought to come first, and `before` does all the same. */
interface BoxGap {
  readonly wanted: number;
  readonly before: number;
  readonly gaps: readonly Gap[];
}

/** The geometry apart, this is the picture: which box holds which steps, and which boxes wait for which. */
export function orderOf(plan: Plan, kinds: Kinds, report: Report | null): Order {
  const outcomes = new Map(report?.steps.map(({ step, outcome }) => [step, outcome]));
  const infos = plan.steps.map((step) => infoOf(step, kinds, outcomes.get(step.id) ?? null));
  const { layerOf, depth } = layersOf(plan);
  const shown = Math.min(depth, MAX_LAYERS);
  const byLayer = groupBy(infos, ({ id }) => Math.min(layerOf.get(id) ?? 0, shown - 1));
  const { layers, boxes } = foldLayers(Array.from({ length: shown }, (_, layer) => byLayer.get(layer) ?? []));
  const boxOf = new Map(boxes.flatMap(({ steps }, box) => steps.map(({ id }) => [id, box] as const)));
  const columnOf = new Map(layers.flatMap((layer, column) => layer.map((box) => [box, column] as const)));
  const before = boxesBefore(plan, boxOf).map((waited, box) =>
    [...waited].filter((first) => (columnOf.get(first) ?? 0) < (columnOf.get(box) ?? 0)),
  );
  return { depth, layers, boxes, waits: reduced(before), gaps: gapsOf(plan.gaps, boxOf) };
}

const MARKS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", DELETE: "delete" };
const SIGNS: Readonly<Record<string, string>> = { create: "+", update: "~", delete: "-", other: "·" };

/** The id of a step is its verb and the address that it is about. */
function infoOf(step: Step, kinds: Kinds, outcome: StepOutcome | null): StepInfo {
  const { id, root } = step;
  const start = id.indexOf(root);
  const [verb, address] = start <= 0 ? ["", id] : [id.slice(0, start).trim(), id.slice(start)];
  const mark = step.type === "request" ? (MARKS[step.method] ?? "other") : "other";
  return { id, verb, mark, address, root, kind: kinds.at(address)?.words ?? ["step", "steps"], outcome };
}

interface Layers {
  /** By the id of a step: the longest way to it from a step that waits for nothing. */
  readonly layerOf: ReadonlyMap<string, number>;
  readonly depth: number;
}

/** The steps are in an order that respects what they wait for; a plan file that somebody has spoilt may say otherwise, and is drawn as well. */
function layersOf({ steps, barriers }: Pick<Plan, "steps" | "barriers">): Layers {
  const barrierOf = new Map(barriers.map((barrier) => [barrier.id, barrier]));
  const layerOf = new Map<string, number>();
  // A barrier is in no layer: it hands on how deep the steps before it are.
  const reached = new Map<string, number>();
  const depthAt = (id: string): number => layerOf.get(id) ?? reached.get(id) ?? -1;
  const reach = (first: string): void => {
    const open = [first];
    const begun = new Set<string>();
    for (let id = open.at(-1); id !== undefined; id = open.at(-1)) {
      const { after } = barrierOf.get(id) as { after: readonly string[] };
      const isNew = !begun.has(id);
      begun.add(id);
      const next = isNew ? after.filter((one) => barrierOf.has(one) && !reached.has(one) && !begun.has(one)) : [];
      if (next.length > 0) {
        for (const one of next) open.push(one);
        continue;
      }
      reached.set(id, deepest(after, depthAt));
      open.pop();
    }
  };
  for (const { id, after, afterEnd = [] } of steps) {
    const first = [...after, ...afterEnd];
    for (const one of first) if (barrierOf.has(one) && !reached.has(one)) reach(one);
    layerOf.set(id, deepest(first, depthAt) + 1);
  }
  return { layerOf, depth: deepest([...layerOf.keys()], depthAt) + 1 };
}

function deepest(ids: readonly string[], depthAt: (id: string) => number): number {
  return ids.reduce((most, id) => Math.max(most, depthAt(id)), -1);
}

function foldLayers(steps: readonly (readonly StepInfo[])[]): Pick<Order, "layers" | "boxes"> {
  for (const most of BOXES_IN_LAYER) {
    const boxes: StepBox[] = [];
    const layers = steps.map((own) => foldSteps(own, most).map((box) => boxes.push(box) - 1));
    if (boxes.length <= MAX_BOXES) return { layers, boxes };
  }
  throw new Error(`${steps.length} layers have no room in ${MAX_BOXES} boxes`);
}

/**
 * Each step by itself if there is room for that; or else those of one network, zone or image together; or those of all. What there is still
 * no room for is one box.
 */
function foldSteps(steps: readonly StepInfo[], most: number): StepBox[] {
  const alike = ({ verb, mark, kind, outcome }: StepInfo): string => JSON.stringify([mark, verb, kind, outcome]);
  const ways: readonly ((step: StepInfo) => string)[] = [
    ({ id }) => id,
    (step) => `${step.root} ${alike(step)}`,
    alike,
  ];
  for (const way of ways) {
    const groups = groupBy(steps, way);
    if (groups.size <= most) return [...groups.values()].map(boxOfSteps);
  }
  const groups = [...groupBy(steps, alike).values()].sort((a, b) => b.length - a.length);
  const rest = groups.slice(most - 1).flat();
  return [...groups.slice(0, most - 1), rest].map(boxOfSteps);
}

function boxOfSteps(steps: readonly StepInfo[]): StepBox {
  const [first] = steps as readonly [StepInfo];
  const { verb, mark, kind, outcome } = first;
  const isAlike = steps.every((step) => step.verb === verb && step.mark === mark && step.kind[0] === kind[0]);
  const roots = new Set(steps.map(({ root }) => root));
  const names = [...roots].sort(compareNatural).map(withoutKind);
  return {
    steps,
    verb: isAlike ? verb : "",
    mark: isAlike ? mark : "other",
    what:
      steps.length === 1
        ? kind[0]
        : isAlike
          ? many(steps.length, kind[0], kind[1])
          : many(steps.length, "step", "steps"),
    where: steps.length === 1 ? withoutKind(first.address) : someOf(names, 1),
    outcome: steps.every((step) => step.outcome === outcome) ? outcome : null,
  };
}

function many(number: number, one: string, several: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
}

/** `example.com/www/A` of `domain/example.com/www/A`: the kind is said beside it. */
function withoutKind(address: Address): string {
  return address.slice(address.indexOf("/") + 1);
}

/** For each box those that its steps wait for. A barrier is passed once for each box, so that their arrows need not be multiplied. */
function boxesBefore(
  { steps, barriers }: Pick<Plan, "steps" | "barriers">,
  boxOf: ReadonlyMap<string, number>,
): Set<number>[] {
  const barrierOf = new Map(barriers.map((barrier) => [barrier.id, barrier]));
  const found: Set<number>[] = [];
  const passed: Set<string>[] = [];
  for (const { id, after, afterEnd = [] } of steps) {
    const box = boxOf.get(id) as number;
    const before = found[box] ?? new Set();
    const done = passed[box] ?? new Set();
    found[box] = before;
    passed[box] = done;
    const open = [...after, ...afterEnd];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const first = boxOf.get(next);
      if (first !== undefined) before.add(first);
      else if (!done.has(next)) {
        done.add(next);
        for (const one of barrierOf.get(next)?.after ?? []) open.push(one);
      }
    }
  }
  return found;
}

/** Without the arrows that follow from others. Boxes are numbered from layer to layer, so that each waits for lower numbers only. */
function reduced(before: readonly (readonly number[])[]): Order["waits"] {
  // One bit for each box that comes before, at any distance.
  const all: bigint[] = [];
  return before.flatMap((waited, to) => {
    let reached = 0n;
    const kept: number[] = [];
    for (const from of [...waited].sort((a, b) => b - a)) {
      if ((reached >> BigInt(from)) & 1n) continue;
      kept.push(from);
      reached |= (all[from] ?? 0n) | (1n << BigInt(from));
    }
    all[to] = reached;
    return kept.reverse().map((from) => ({ from, to }));
  });
}

function gapsOf(gaps: readonly Gap[], boxOf: ReadonlyMap<string, number>): BoxGap[] {
  const known = gaps.filter(({ wanted, before }) => boxOf.has(wanted) && boxOf.has(before));
  const byBoxes = groupBy(known, ({ wanted, before }) => `${boxOf.get(wanted)} ${boxOf.get(before)}`);
  return [...byBoxes].map(([key, own]) => {
    const [wanted = 0, before = 0] = key.split(" ").map(Number);
    return { wanted, before, gaps: own };
  });
}

function gapsAt(gaps: readonly BoxGap[], box: number): readonly Gap[] {
  return gaps.flatMap((gap) => (gap.before === box ? gap.gaps : []));
}

function gapNames(gaps: readonly Gap[]): string {
  return someOf(
    gaps.map(({ what }) => what),
    MAX_NAMED,
  );
}

function boxText({ verb, what, where }: StepBox): string {
  return [verb, what, where].filter((text) => text !== "").join(" ");
}

function boxLines(box: StepBox, gaps: readonly Gap[]): string[] {
  const { verb, mark, what, where } = box;
  const marks = marksOf(box, gaps);
  const heading = `${SIGNS[mark] ?? "·"} ${verb === "" ? "" : `${verb} `}${what}`;
  return [heading, where, ...(marks.length === 0 ? [] : [marks.join(", ")])];
}

/** What became of the steps, and what they leave without an answer. */
function marksOf({ outcome }: StepBox, gaps: readonly Gap[]): string[] {
  return [...(outcome === null ? [] : [outcome]), ...(gaps.length === 0 ? [] : [`gap: ${gapNames(gaps)}`])];
}

function boxClasses({ mark, outcome }: StepBox, gaps: readonly Gap[]): string[] {
  return [mark, ...(outcome === null ? [] : [outcome]), ...(gaps.length === 0 ? [] : ["with-gap"])];
}

function boxTitle(box: StepBox, number: string, gaps: readonly Gap[]): string {
  const named = box.steps.length === 1 ? [] : [stepNames(box.steps)];
  return [`${number} ${boxText(box)}`, ...marksOf(box, gaps), ...named].join("; ");
}

function stepNames(steps: readonly StepInfo[]): string {
  return someOf(
    steps.map(({ id }) => id),
    MAX_NAMED,
  );
}

function layerName({ depth, layers }: Order, index: number): string {
  const isLast = index === layers.length - 1;
  return isLast && depth > layers.length
    ? `Layers ${index + 1} to ${depth.toLocaleString("en")}`
    : `Layer ${index + 1}`;
}

function summaryText({ steps }: Plan, { depth, layers, boxes, gaps }: Order): Html {
  const isFolded = boxes.length < steps.length;
  const broken = gaps.reduce((sum, own) => sum + own.gaps.length, 0);
  return html`<p>${many(steps.length, "step", "steps")} in ${many(depth, "layer", "layers")}. ${
    depth === 1
      ? "No step waits for another."
      : "Each waits for steps of layers to its left, as the arrows show, and for nothing else. An arrow that follows from others is left out."
  }${isFolded ? ` Steps that are alike are one box with a number, so that there are ${boxes.length} boxes.` : ""}${
    depth > layers.length
      ? ` The layers from ${layers.length} on are one column, and what waits for what in it is not shown.`
      : ""
  }${broken === 0 ? "" : ` Dashed red arrows lead from what ought to come first to what comes before it all the same: ${count(broken, "gap", "gaps")}.`}</p>`;
}

function orderInWords(order: Order, numbers: readonly string[]): Html {
  const { layers, boxes, waits, gaps } = order;
  const waitsOf = groupBy(waits, ({ to }) => to);
  return inWords("The order in words", [
    html`<ol class="layers">${layers.map(
      (layer, index) =>
        html`<li><b>${layerName(order, index)}</b><ul>${layer.map((box) => {
          const first = (waitsOf.get(box) ?? []).map(({ from }) => numbers[from] ?? "");
          const { steps, outcome } = boxes[box] as StepBox;
          const own = gapsAt(gaps, box);
          return html`<li>${numbers[box] ?? ""} ${boxText(boxes[box] as StepBox)}${outcome === null ? "" : ` (${outcome})`}${
            first.length === 0 ? "" : `; waits for ${first.join(", ")}`
          }${own.length === 0 ? "" : `; without an answer meanwhile: ${gapNames(own)}`}${
            steps.length === 1 ? "" : html`<br><span class="steps">${stepNames(steps)}</span>`
          }</li>`;
        })}</ul></li>`,
    )}</ol>`,
  ]);
}
