/** Layered pictures as SVG: boxes with text in columns, arrows between them, and the same in words. */

import { columnsOf, cut, cutToEnd, escapeText, fits } from "../terminal.ts";
import { type ArrowEnds, type BoxSize, HEADING_HEIGHT, type Layered, layOut, type Rectangle } from "./layered.ts";
import { type Html, html, join } from "./markup.ts";

export interface Drawing {
  /** Begins the ids of the drawing's elements: unique in a page. */
  readonly id: string;
  readonly title: string;
  readonly boxes: readonly DrawnBox[];
  /** Their headings, from left to right. */
  readonly columns: readonly string[];
  readonly arrows: readonly DrawnArrow[];
  readonly placed: Placed;
  /** The same for those who do not see it, or want to search in it. */
  readonly words: Html;
}

export interface DrawnBox {
  /** Our own words, as classes of CSS. */
  readonly classes: readonly string[];
  /** At the upper right corner. */
  readonly number: string;
  /** The first line is the heading. Lines that are too long are cut in the middle. */
  readonly lines: readonly string[];
  /** All that the lines say, uncut, and more. */
  readonly title: string;
}

export interface DrawnArrow {
  readonly from: number;
  readonly to: number;
  /** Our own words, as classes of CSS. */
  readonly classes: readonly string[];
  /** At its beginning, if arrows have labels. */
  readonly label: string;
  readonly title: string;
}

const BOX_WIDTH = 228;
const PADDING = 10;
/** Of a monospaced font of 12 pixels. */
const CHARACTER_WIDTH = 7.3;
const LINE_HEIGHT = 15;
const BASELINE = 11;
const TEXT_COLUMNS: number = Math.floor((BOX_WIDTH - 2 * PADDING) / CHARACTER_WIDTH);
const HEAD_LENGTH = 6;
const HEAD_BREADTH = 4;

/** Where everything is, which is decided before it is numbered and named. */
export interface Placed {
  readonly layout: Layered;
  /** Each arrow leaves its box at its own label. */
  readonly hasPorts: boolean;
}

interface ToPlace {
  /** How many lines each box has. */
  readonly lines: readonly number[];
  /** The numbers of the boxes of each column. */
  readonly columns: readonly (readonly number[])[];
  readonly arrows: readonly ArrowEnds[];
  readonly hasPorts: boolean;
}

export function place({ lines, columns, arrows, hasPorts }: ToPlace): Placed {
  const portsOf = new Int32Array(lines.length);
  if (hasPorts) for (const { from } of arrows) portsOf[from] = (portsOf[from] as number) + 1;
  const boxes = lines.map((own, box): BoxSize => {
    return { width: BOX_WIDTH, height: PADDING * 1.5 + LINE_HEIGHT * (own + (portsOf[box] as number)) };
  });
  const first = lines.map((own) => PADDING * 0.75 + LINE_HEIGHT * (own + 0.5));
  return {
    hasPorts,
    layout: layOut({ boxes, columns, arrows, ports: hasPorts ? { first, distance: LINE_HEIGHT } : null }),
  };
}

/** `2.3`: the third box from above in the second column. */
export function numberBoxes(columns: readonly (readonly number[])[], { layout }: Placed): string[] {
  const numbers: string[] = [];
  const top = (box: number): number => layout.boxes[box]?.y ?? 0;
  for (const [column, boxes] of columns.entries()) {
    const downwards = [...boxes].sort((a, b) => top(a) - top(b));
    for (const [index, box] of downwards.entries()) numbers[box] = `${column + 1}.${index + 1}`;
  }
  return numbers;
}

/** Within a `<div class="picture" data-picture>`, which client/pictures.ts lets a reader pan and zoom. */
export function draw({ id, title, boxes, columns, arrows, placed, words }: Drawing): Html {
  const { layout, hasPorts } = placed;
  const { width, height } = layout;
  return html`<div class="picture" data-picture>
<div class="picture-frame" tabindex="0" role="group" aria-labelledby="${id}-title">
<svg class="layered" role="img" aria-labelledby="${id}-title" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title id="${id}-title">${title}</title>
${columns.map((heading, index) => html`<text class="column" x="${layout.columns[index] ?? 0}" y="${HEADING_HEIGHT - 6}">${heading}</text>`)}
${arrows.map((arrow, index) => arrowElement(arrow, layout, index))}
${boxes.map((box, index) => boxElement(box, index, layout.boxes[index] as Rectangle))}
${hasPorts ? arrows.map((arrow, index) => portElement(arrow, layout, index)) : null}
</svg>
</div>
${words}
</div>`;
}

function arrowElement({ from, to, classes, title }: DrawnArrow, { arrows, boxes }: Layered, index: number): Html {
  const { x, y, height } = boxes[to] as Rectangle;
  const tip = `M${x - HEAD_LENGTH} ${y + height / 2 - HEAD_BREADTH}L${x} ${y + height / 2}L${x - HEAD_LENGTH} ${y + height / 2 + HEAD_BREADTH}`;
  return html`<path class="${["arrow", ...classes].join(" ")}" data-from="${from}" data-to="${to}" d="${arrows[index]?.path ?? ""}${tip}"><title>${title}</title></path>
`;
}

function boxElement(
  { classes, number, lines, title }: DrawnBox,
  index: number,
  { x, y, width, height }: Rectangle,
): Html {
  const numberColumns = number === "" ? 0 : columnsOf(number) + 1;
  return html`<g class="${["box", ...classes].join(" ")}" data-box="${index}" transform="translate(${x} ${y})"><title>${title}</title><rect class="face" width="${width}" height="${height}" rx="6"/>${number === "" ? null : html`<text class="number" x="${width - PADDING}" y="${PADDING * 0.75 + BASELINE}">${number}</text>`}${lines.map(
    (line, at) =>
      html`<text class="${at === 0 ? "heading" : "detail"}" x="${PADDING}" y="${PADDING * 0.75 + BASELINE + at * LINE_HEIGHT}">${fitted(line, TEXT_COLUMNS - (at === 0 ? numberColumns : 0))}</text>`,
  )}</g>
`;
}

/** The label of an arrow, in the box where it begins. */
function portElement({ from, label }: DrawnArrow, { arrows, boxes }: Layered, index: number): Html {
  const { x, y, width } = boxes[from] as Rectangle;
  const port = arrows[index]?.port ?? 0;
  return html`<text class="port" data-port="${from}" x="${x + width - PADDING}" y="${y + port + BASELINE - LINE_HEIGHT / 2}">${fitted(label, TEXT_COLUMNS)}</text>
`;
}

/** As it is shown; of a text with more columns the beginning and the end. */
function fitted(text: string, columns: number): string {
  const escaped = escapeText(text);
  if (fits(escaped, columns)) return escaped;
  const tail = Math.floor((columns - 1) / 2);
  return `${cut(escaped, columns - 1 - tail)}…${cutToEnd(escaped, tail)}`;
}

/** `one, two and 3 more`, as text that is not escaped yet. */
export function someOf(names: readonly string[], most: number): string {
  const rest = names.length - most;
  if (rest <= 0) return names.join(", ");
  return `${names.slice(0, most).join(", ")} and ${rest.toLocaleString("en")} more`;
}

/** A list that is closed until somebody wants it. */
export function inWords(summary: string, parts: readonly Html[]): Html {
  return html`<details class="picture-words"><summary>${summary}</summary>${join(parts)}</details>`;
}
