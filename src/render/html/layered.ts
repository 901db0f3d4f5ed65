/** Boxes in columns and arrows between them, as geometry: no two boxes overlap, and few arrows cross. Static, and the same for the same input. */

/** In pixels, as all lengths here. */
export interface BoxSize {
  readonly width: number;
  readonly height: number;
}

export interface Rectangle extends BoxSize {
  readonly x: number;
  readonly y: number;
}

export interface ArrowEnds {
  readonly from: number;
  readonly to: number;
}

export interface Layered {
  /** By the boxes' numbers. */
  readonly boxes: readonly Rectangle[];
  /** By the arrows' numbers. */
  readonly arrows: readonly LayeredArrow[];
  /** The left edge of each column. */
  readonly columns: readonly number[];
  readonly width: number;
  readonly height: number;
}

export interface LayeredArrow {
  /** As the `d` of an SVG path. */
  readonly path: string;
  /** How far below the upper edge of its box it begins. */
  readonly port: number;
}

export interface LayeredInput {
  /** By their numbers. All boxes of a column have its width. */
  readonly boxes: readonly BoxSize[];
  /** The numbers of the boxes of each column, from left to right. Each box is in one column. */
  readonly columns: readonly (readonly number[])[];
  /** An arrow to a column further right passes between the boxes of those in the middle. Every other arrow goes around. */
  readonly arrows: readonly ArrowEnds[];
  /** The first arrow of each box begins so far below its upper edge, and each other one so much further down; null: all begin in the middle. */
  readonly ports: { readonly first: readonly number[]; readonly distance: number } | null;
}

const MARGIN = 12;
/** What stands above the boxes of a column. */
export const HEADING_HEIGHT = 26;
const COLUMN_GAP = 64;
/** How far an arrow that goes around is beside its boxes at most. */
const REACH = 30;
const BOX_GAP = 14;
const LANE_HEIGHT = 6;
const SWEEPS = 6;

/** What takes height in a column: a box, or a lane on which the arrows of one box pass. */
interface Item {
  readonly column: number;
  readonly height: number;
  /** The number of the box, or of the box whose arrows pass. */
  readonly box: number;
  readonly isLane: boolean;
  readonly before: Item[];
  readonly after: Item[];
  /** Place within the column: from 0 to 1 while columns are put in order, then in pixels. */
  middle: number;
}

/** Some n log n in the boxes and in the columns that arrows pass. */
export function layOut({ boxes, columns, arrows, ports }: LayeredInput): Layered {
  const columnOf = new Int32Array(boxes.length);
  for (const [index, column] of columns.entries()) for (const box of column) columnOf[box] = index;
  const { items, byBox, lanes } = itemsOf(boxes, columns, arrows, columnOf);
  sortColumns(items);
  const height = items.map(placeColumn).reduce((most, bottom) => Math.max(most, bottom), 0);
  // An arrow that goes around needs room at both sides and below.
  const goesAround = arrows.some(({ from, to }) => (columnOf[from] as number) >= (columnOf[to] as number));
  const margin = MARGIN + (goesAround ? REACH : 0);
  const lefts = leftEdges(boxes, columns, margin);
  const placed = boxes.map((size, box): Rectangle => {
    const y = (byBox[box] as Item).middle - size.height / 2;
    return { ...size, x: lefts[columnOf[box] as number] as number, y: round(MARGIN + HEADING_HEIGHT + y) };
  });
  const portOf = portsOf(arrows, placed, ports);
  const lastColumn = columns.length - 1;
  const right = lastColumn < 0 ? margin : (lefts[lastColumn] as number) + widthOf(boxes, columns[lastColumn] ?? []);
  return {
    boxes: placed,
    arrows: arrows.map(({ from, to }, index) => {
      const [source, target] = [placed[from] as Rectangle, placed[to] as Rectangle];
      const port = portOf[index] as number;
      const [first, last] = [columnOf[from] as number, columnOf[to] as number];
      if (first >= last) return { port, path: aroundPath(source, port, target) };
      const between = Array.from({ length: last - first - 1 }, (_, at): Passage => {
        const column = first + 1 + at;
        const left = lefts[column] as number;
        const y = round(MARGIN + HEADING_HEIGHT + (lanes.get(laneKey(from, column)) as Item).middle);
        return { left, right: left + widthOf(boxes, columns[column] ?? []), y };
      });
      return { port, path: throughPath(source, port, between, target) };
    }),
    columns: lefts,
    width: round(right + margin),
    height: round(height + HEADING_HEIGHT + 2 * MARGIN + (goesAround ? BOX_GAP : 0)),
  };
}

function widthOf(boxes: readonly BoxSize[], column: readonly number[]): number {
  return column.reduce((most, box) => Math.max(most, (boxes[box] as BoxSize).width), 0);
}

function leftEdges(boxes: readonly BoxSize[], columns: readonly (readonly number[])[], margin: number): number[] {
  let next = margin;
  return columns.map((column) => {
    const left = next;
    next += widthOf(boxes, column) + COLUMN_GAP;
    return left;
  });
}

function laneKey(box: number, column: number): string {
  return `${box} ${column}`;
}

interface Items {
  readonly items: readonly Item[][];
  readonly byBox: readonly Item[];
  readonly lanes: ReadonlyMap<string, Item>;
}

/** The arrows of one box share its lane in each column that they pass. */
function itemsOf(
  boxes: readonly BoxSize[],
  columns: readonly (readonly number[])[],
  arrows: readonly ArrowEnds[],
  columnOf: Int32Array,
): Items {
  const make = (column: number, box: number, height: number, isLane: boolean): Item => {
    return { column, height, box, isLane, before: [], after: [], middle: 0 };
  };
  const byBox = boxes.map(({ height }, box) => make(columnOf[box] as number, box, height, false));
  const items = columns.map((column) => column.map((box) => byBox[box] as Item));
  const lanes = new Map<string, Item>();
  const link = (before: Item, after: Item): void => {
    before.after.push(after);
    after.before.push(before);
  };
  for (const { from, to } of arrows) {
    let before = byBox[from] as Item;
    const after = byBox[to] as Item;
    if (before.column >= after.column) continue;
    for (let column = before.column + 1; column < after.column; column += 1) {
      const key = laneKey(from, column);
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = make(column, from, LANE_HEIGHT, true);
        lanes.set(key, lane);
        items[column]?.push(lane);
        link(before, lane);
      }
      before = lane;
    }
    link(before, after);
  }
  return { items, byBox, lanes };
}

/** Each column in turn, to the right and back, by where the neighbours of its items are on average. */
function sortColumns(columns: readonly Item[][]): void {
  for (const column of columns) spread(column);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    for (const column of isForward ? columns : [...columns].reverse()) {
      const places = new Map(
        column.map((item) => [item, average(isForward ? item.before : item.after) ?? item.middle]),
      );
      column.sort((a, b) => (places.get(a) as number) - (places.get(b) as number));
      spread(column);
    }
  }
}

function spread(column: readonly Item[]): void {
  for (const [index, item] of column.entries()) item.middle = (index + 0.5) / column.length;
}

function average(items: readonly Item[]): number | null {
  return items.length === 0 ? null : items.reduce((sum, { middle }) => sum + middle, 0) / items.length;
}

interface Pool {
  /** Where its first item would be, were all before it without height. */
  wanted: number;
  readonly items: Item[];
  readonly offsets: number[];
}

/**
 * Puts each item as near as its order allows to the average of those before it, whose columns are placed already: neighbours that would
 * overlap are moved together, by the least squares (pool adjacent violators).
 * @returns how high the column is
 */
function placeColumn(column: readonly Item[]): number {
  const pools: Pool[] = [];
  let offset = 0;
  for (const item of column) {
    const gap = item.isLane ? LANE_HEIGHT : BOX_GAP;
    // Without a place of its own it is as high as it can be.
    const wanted = (average(item.before) ?? 0) - item.height / 2 - offset;
    let pool: Pool = { wanted, items: [item], offsets: [offset] };
    for (let last = pools.at(-1); last !== undefined && last.wanted >= pool.wanted; last = pools.at(-1)) {
      const [many, few] = [last.items.length, pool.items.length];
      last.wanted = (last.wanted * many + pool.wanted * few) / (many + few);
      for (const one of pool.items) last.items.push(one);
      for (const one of pool.offsets) last.offsets.push(one);
      pool = last;
      pools.pop();
    }
    pools.push(pool);
    offset += item.height + gap;
  }
  let bottom = 0;
  for (const { wanted, items, offsets } of pools) {
    for (const [index, item] of items.entries()) {
      const top = Math.max(0, wanted) + (offsets[index] as number);
      item.middle = top + item.height / 2;
      bottom = top + item.height;
    }
  }
  return bottom;
}

/** The arrows of a box leave it in the order of their targets, so that they do not cross at once. */
function portsOf(
  arrows: readonly ArrowEnds[],
  placed: readonly Rectangle[],
  ports: LayeredInput["ports"],
): readonly number[] {
  if (ports === null) return arrows.map(({ from }) => (placed[from] as Rectangle).height / 2);
  const found = new Array<number>(arrows.length).fill(0);
  const numbers = arrows.map((_, index) => index);
  const end = (index: number): Rectangle => placed[(arrows[index] as ArrowEnds).to] as Rectangle;
  const used = new Map<number, number>();
  for (const index of numbers.sort((a, b) => end(a).y - end(b).y || end(a).x - end(b).x || a - b)) {
    const { from } = arrows[index] as ArrowEnds;
    const place = used.get(from) ?? 0;
    used.set(from, place + 1);
    found[index] = (ports.first[from] as number) + place * ports.distance;
  }
  return found;
}

/** A way through a column. */
interface Passage {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

function throughPath(source: Rectangle, port: number, between: readonly Passage[], target: Rectangle): string {
  let [x, y] = [source.x + source.width, round(source.y + port)];
  let path = `M${x} ${y}`;
  for (const { left, right, y: lane } of between) {
    path += `${curve(x, y, left, lane)}H${right}`;
    [x, y] = [right, lane];
  }
  return path + curve(x, y, target.x, round(target.y + target.height / 2));
}

function curve(x: number, y: number, toX: number, toY: number): string {
  const middle = round((x + toX) / 2);
  return `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`;
}

/** Leaves at the right, and comes back to the left edge from below. */
function aroundPath(source: Rectangle, port: number, target: Rectangle): string {
  const [x, y] = [source.x + source.width, round(source.y + port)];
  const toY = round(target.y + target.height / 2);
  const below = round(Math.max(source.y + source.height, target.y + target.height) + BOX_GAP / 2);
  const [right, left] = [x + REACH / 2, target.x - REACH / 2];
  return `M${x} ${y}C${x + REACH} ${y} ${x + REACH} ${below} ${right} ${below}H${left}C${target.x - REACH} ${below} ${target.x - REACH} ${toY} ${target.x} ${toY}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
