/** One network, zone or image in markdown, or many that are one entry: as many of its changes as there is room for, the gravest first. */

import { annotationText } from "../../model/annotations.ts";
import type { Address } from "../../model/resource.ts";
import { childLine, fieldLines, isBeyondLine, isRow, type Table, tableOf } from "../change-lines.ts";
import { type Entry, type FoldContext, ZONE_NAME } from "../folding.ts";
import { headline, headlineOfAlike, headlineOfMany, isInHeadline, labelText, shownName } from "../headline.ts";
import { escapeText, HANGING_COLUMNS, wrapItems } from "../terminal.ts";
import { type ChangeView, count, type FieldDiff, type GroupView, type Mark } from "../view.ts";
import { codeBlock, codeSpan, fenceCost, fold, htmlCode, type Tense, tallyText } from "./parts.ts";

/** Columns of a line in a code block: about what a comment shows without scrolling. */
export const CODE_COLUMNS = 120;

/** Between two blocks: an empty line. */
export const BLOCK_SEPARATOR = "\n\n";

// How grave a change is: what has a line first where not every change can have one.

/** The gravest first. A change is of the first gravity that fits it. */
const GRAVITY: readonly { readonly name: string; readonly is: (view: ChangeView) => boolean }[] = [
  { name: "goes", is: (view) => !isBlocked(view) && (view.mark === "delete" || view.mark === "replace") },
  { name: "answers otherwise as a whole", is: (view) => !isBlocked(view) && isTakenAway(view) },
  { name: "has other values", is: (view) => !isBlocked(view) && view.mark === "update" && !isOfTtlOnly(view) },
  { name: "is blocked", is: isBlocked },
  { name: "has another TTL", is: ({ mark }) => mark === "update" },
  { name: "is new", is: () => true },
];

/** The least grave: what is new. */
export const NEW: number = GRAVITY.length - 1;
/** Each gravity, from the gravest on. */
export const GRAVITIES: readonly number[] = GRAVITY.map((_, gravity) => gravity);

function gravityOf(view: ChangeView): number {
  return GRAVITY.findIndex(({ is }) => is(view));
}

function gravestOf(views: readonly ChangeView[]): number {
  return views.reduce((gravest, view) => Math.min(gravest, gravityOf(view)), NEW);
}

function isBlocked({ change }: ChangeView): boolean {
  return change.blocked !== null;
}

/** Whether the update changes a field by which the whole zone answers differently, or not at all. */
function isTakenAway({ mark, kind: { servingFields = [] }, fields }: ChangeView): boolean {
  return mark === "update" && fields.some(({ name }) => servingFields.includes(name));
}

/** How long an answer is kept, and not what it says. */
function isOfTtlOnly({ fields }: ChangeView): boolean {
  return fields.length > 0 && fields.every(({ name }) => name === "ttl_sec");
}

export function viewsOf({ own, children }: GroupView): ChangeView[] {
  return own === null ? [...children] : [own, ...children];
}

// A unit: what has a heading of its own. It begins with nothing, and is given room bit by bit.

/**
 * - `line`: other fields are named, or counted.
 * - `fields`: also the fields of the network, zone or image itself that have short values.
 * - `full`: everything.
 */
type Detail = "line" | "fields" | "full";

interface Lines {
  readonly lines: readonly string[];
  /** A value, a field or a note is not shown, or is cut. */
  readonly isCut: boolean;
}

/** Lines that are shown together, or not at all. */
interface Piece {
  /** The changes that they stand for. */
  readonly views: readonly ChangeView[];
  readonly gravity: number;
  /** Without whose lines these would seem to belong to another one; null: the heading says what they belong to. */
  readonly parent: Piece | null;
  readonly isOwn: boolean;
  lay(detail: Detail): Lines;
}

export interface Rendering {
  readonly text: string;
  /** Changes that are shown as numbers only. */
  readonly counted: number;
  /** A value, a field or a note of a change that has a line is not shown, or is cut; or so is a name of several that are alike. */
  readonly isCut: boolean;
}

interface UnitFrame {
  /** What it is shown for. */
  readonly groups: readonly GroupView[];
  readonly head: string;
  /** In the order in which they are shown. */
  readonly pieces: readonly Piece[];
  /** How many the pieces stand for, if they are alike; otherwise 1. */
  readonly times: number;
  /** Whether `ZONE_NAME` stands in a value. */
  readonly isTemplate: boolean;
  readonly tense: Tense;
  readonly isOpen: boolean;
}

/** If there is not room for everything, the names of those that are alike take no more: about half of a comment. */
const MAX_NAMES_CHARACTERS = 30_000;
/** What a line of names takes beside a name, at most: a comma, the break and the blanks. */
const NAME_CHARACTERS = 5;
/** The line that counts the changes without a line, at most. */
const MISSING_CHARACTERS = 110;
/** The lines that count the names left out, and say what `ZONE_NAME` is, at most. */
const MEMBERS_CHARACTERS = 90;
/** So many lines may be laid out in vain in one attempt: beyond this, no further one is tried. */
const MAX_VAIN_PIECES = 50;
/** No line is shorter. */
const LEAST_LINE_CHARACTERS = 8;

/** Holds what is shown of it so far. Each of its changes is laid out once, and few of them again. */
export class Unit {
  readonly groups: readonly GroupView[];
  /** Of its gravest change. */
  readonly gravity: number;
  readonly #frame: UnitFrame;
  readonly #views: readonly ChangeView[];
  readonly #shown: Map<Piece, Lines> = new Map();
  /** By gravity: pieces without lines. */
  readonly #waiting: Piece[][] = GRAVITY.map(() => []);
  #waitingCount = 0;
  #names: string[] = [];
  #nameCharacters = 0;
  /** Of the lines, and what they add to the fences. */
  #lineCharacters = 0;
  #fenceCharacters = 0;
  #state: "absent" | "counted" | "unfolded" = "absent";
  #missingCharacters = MISSING_CHARACTERS;
  #counts: string | null = null;
  #emptyCharacters: number | null = null;

  constructor(frame: UnitFrame) {
    this.#frame = frame;
    this.groups = frame.groups;
    this.#views = frame.groups.flatMap(viewsOf);
    this.gravity = gravestOf(this.#views);
    // What others are shown below comes before all of them.
    for (const isBelow of [false, true]) {
      for (const piece of frame.pieces) {
        if ((piece.parent !== null) !== isBelow) continue;
        this.#waiting[piece.gravity]?.push(piece);
        this.#waitingCount += 1;
      }
    }
  }

  get isAbsent(): boolean {
    return this.#state === "absent";
  }

  get changeCount(): number {
    return this.#views.length;
  }

  /** Pieces of a gravity that have no lines. */
  waiting(gravity: number): number {
    return this.#waiting[gravity]?.length ?? 0;
  }

  /** Gives back what is held for the line that counts the changes without a line: it becomes no longer than it is. @returns characters less */
  tighten(): number {
    if (this.#state !== "unfolded" || this.#waitingCount === 0) return 0;
    const before = this.characters;
    this.#missingCharacters = (this.#missingLine(this.#missing()) ?? "").length + 1;
    return before - this.characters;
  }

  /** Characters that it takes with the separator, at most. */
  get characters(): number {
    if (this.#state === "absent") return 0;
    if (this.#state === "counted") return this.#countsLine().length + BLOCK_SEPARATOR.length;
    return (
      this.#emptyText() +
      (this.#lineCharacters + this.#fenceCharacters + this.#nameCharacters) +
      (this.#waitingCount > 0 ? this.#missingCharacters : 0) +
      (this.#frame.times > 1 ? MEMBERS_CHARACTERS : 0) +
      BLOCK_SEPARATOR.length
    );
  }

  /** Shows a line of numbers, if that fits. @returns characters that it takes more */
  count(room: number): number {
    if (this.#state !== "absent") return 0;
    const cost = this.#countsLine().length + BLOCK_SEPARATOR.length;
    if (cost > room) return 0;
    this.#state = "counted";
    return cost;
  }

  /** Shows as many more changes of a gravity as fit. @returns characters that they take more; negative: fewer */
  grow(gravity: number, room: number): number {
    const before = this.characters;
    const waiting = this.#waiting[gravity] ?? [];
    if (waiting.length === 0 || room < LEAST_LINE_CHARACTERS) return 0;
    let left = room - this.#costOfUnfolding();
    const rest: Piece[] = [];
    let vain = 0;
    for (const [index, piece] of waiting.entries()) {
      if (left < LEAST_LINE_CHARACTERS || vain > MAX_VAIN_PIECES) {
        for (const other of waiting.slice(index)) rest.push(other);
        break;
      }
      const cost = piece.parent === null || this.#shown.has(piece.parent) ? this.#show(piece, left) : null;
      if (cost === null) {
        vain += 1;
        rest.push(piece);
      } else left -= cost;
    }
    this.#waiting[gravity] = rest;
    this.#waitingCount -= waiting.length - rest.length;
    return this.characters - before;
  }

  /** Names as many more of those that are alike as fit. @returns characters that this takes more */
  growNames(room: number): number {
    const { groups, times } = this.#frame;
    if (times === 1 || this.#names.length === groups.length) return 0;
    const before = this.characters;
    let left = room - this.#costOfUnfolding();
    for (const { root } of groups.slice(this.#names.length)) {
      const name = shownName(root);
      const fence = this.#fenceGrowth([name]);
      const cost = name.length + NAME_CHARACTERS;
      if (cost + fence > left || this.#nameCharacters + cost > MAX_NAMES_CHARACTERS) break;
      left -= cost + fence;
      this.#nameCharacters += cost;
      this.#fenceCharacters += fence;
      this.#names.push(name);
      this.#state = "unfolded";
    }
    return this.characters - before;
  }

  /** Whether it is new, has a line, and has fields that the line does not show. */
  get hasFields(): boolean {
    const own = this.#own();
    return own?.gravity === NEW && this.#shown.get(own)?.isCut === true;
  }

  /** Also the short fields of the network, zone or image itself. @returns null: they do not fit */
  renderWithFields(room: number): Rendering | null {
    const own = this.#own();
    const before = own === undefined ? undefined : this.#shown.get(own);
    if (own === undefined || before === undefined) return null;
    this.#shown.set(own, own.lay("fields"));
    const rendering = this.render();
    if (rendering.text.length <= room) return rendering;
    this.#shown.set(own, before);
    return null;
  }

  /** What is shown so far. */
  render(): Rendering {
    const { pieces, times, isOpen, head } = this.#frame;
    const all = pieces.flatMap(({ views }) => views);
    if (this.#state !== "unfolded") return { text: this.#countsLine(), counted: this.changeCount, isCut: false };
    const shown = pieces.flatMap((piece) => this.#shown.get(piece) ?? []);
    const missing = this.#missing();
    const note = this.#missingLine(missing);
    const lines = [
      ...shown.flatMap((piece) => piece.lines),
      ...(note === null ? [] : [note]),
      ...this.#memberLines(this.#names),
    ];
    return {
      text: fold(`${htmlCode(head)}: ${this.#countsText()}`, codeBlock(lines, "diff"), isOpen),
      counted: missing.length === all.length ? this.changeCount : missing.length * times,
      isCut: shown.some(({ isCut }) => isCut) || (times > 1 && this.#names.length < times),
    };
  }

  /** Everything; null as soon as it does not fit, without laying out the rest. */
  renderFull(room: number): Rendering | null {
    const { pieces, head, isOpen, times, groups } = this.#frame;
    const lines: string[] = [];
    let left = room - this.#emptyText();
    let isCut = false;
    for (const piece of pieces) {
      const laid = piece.lay("full");
      for (const line of laid.lines) {
        left -= line.length + 1;
        lines.push(line);
      }
      isCut ||= laid.isCut;
      // The last line has no break of its own.
      if (left < -1) return null;
    }
    const names = times > 1 ? groups.map(({ root }) => shownName(root)) : [];
    for (const line of this.#memberLines(names)) lines.push(line);
    const text = fold(`${htmlCode(head)}: ${this.#countsText()}`, codeBlock(lines, "diff"), isOpen);
    return text.length > room ? null : { text, counted: 0, isCut };
  }

  /** Whether each change has a line: only then there may be room for all of each. */
  get isListed(): boolean {
    return this.#waitingCount === 0 && this.#state === "unfolded";
  }

  /** Of one of those that are alike. */
  #missing(): ChangeView[] {
    return this.#frame.pieces.flatMap((piece) => (this.#shown.has(piece) ? [] : piece.views));
  }

  #missingLine(missing: readonly ChangeView[]): string | null {
    const { tense, times } = this.#frame;
    const each = times > 1 ? " each" : "";
    return missing.length === 0 ? null : `  and ${tallyText(missing, tense)}${each}, not shown here`;
  }

  /** The network, zone or image itself comes before what is in it. */
  #own(): Piece | undefined {
    const first = this.#frame.pieces[0];
    return first?.isOwn === true ? first : undefined;
  }

  #show(piece: Piece, room: number): number | null {
    // The values of what is there are what a change is about; those of something new come after all lines.
    const details: readonly Detail[] = piece.isOwn && piece.gravity !== NEW ? ["fields", "line"] : ["line"];
    for (const detail of details) {
      const laid = piece.lay(detail);
      const fence = this.#fenceGrowth(laid.lines);
      const cost = laid.lines.reduce((sum, line) => sum + line.length + 1, 0);
      if (cost + fence > room) continue;
      this.#lineCharacters += cost;
      this.#fenceCharacters += fence;
      this.#shown.set(piece, laid);
      this.#state = "unfolded";
      return cost + fence;
    }
    return null;
  }

  #fenceGrowth(lines: readonly string[]): number {
    return Math.max(0, fenceCost(lines) - this.#fenceCharacters);
  }

  #costOfUnfolding(): number {
    if (this.#state === "unfolded") return 0;
    const members = this.#frame.times > 1 ? MEMBERS_CHARACTERS : 0;
    return this.#emptyText() + BLOCK_SEPARATOR.length + MISSING_CHARACTERS + members - this.characters;
  }

  /** Characters of the fold without lines. */
  #emptyText(): number {
    const { head, isOpen } = this.#frame;
    this.#emptyCharacters ??= fold(`${htmlCode(head)}: ${this.#countsText()}`, codeBlock([], "diff"), isOpen).length;
    return this.#emptyCharacters;
  }

  #countsLine(): string {
    return `- ${codeSpan(this.#frame.head)}: ${this.#countsText()}`;
  }

  #countsText(): string {
    this.#counts ??= countsText(this.#views, this.#frame.tense);
    return this.#counts;
  }

  /** Which networks, zones or images are alike, and how many of them are not named. */
  #memberLines(names: readonly string[]): string[] {
    const { times, isTemplate } = this.#frame;
    if (times === 1) return [];
    const left = times - names.length;
    return [
      ...(isTemplate ? [`  ${ZONE_NAME} is the name of each`] : []),
      ...wrapItems(names, CODE_COLUMNS, HANGING_COLUMNS),
      ...(left > 0 ? [`  ${count(left, "name is", "names are")} not shown here`] : []),
    ];
  }
}

/** `84 changed`, or `3 changes: 2 to add, 1 to change`. */
function countsText(views: readonly ChangeView[], tense: Tense): string {
  const tally = tallyText(views, tense);
  return tally.startsWith(`${views.length} `) && !tally.includes(",")
    ? tally
    : `${count(views.length, "change", "changes")}: ${tally}`;
}

export function unitOf(entry: Entry, { kinds, sources }: FoldContext, tense: Tense, isOpen: boolean): Unit {
  const frame = { tense, isOpen, times: 1, isTemplate: false };
  switch (entry.type) {
    case "going": {
      const { groups } = entry;
      const own = groups[0]?.own;
      const head = headlineOfMany(groups) + (own == null ? "" : labelText(own));
      return new Unit({ ...frame, groups, head, pieces: groups.flatMap(piecesOfGoing) });
    }
    case "one": {
      const { group } = entry;
      const head = headline(group);
      return new Unit({ ...frame, groups: [group], head, pieces: piecesOf(group, head, sources) });
    }
    case "alike": {
      const { groups, shown } = entry;
      const { what, names } = headlineOfAlike(groups, kinds);
      const head = `${what} ${names}`;
      const { isTemplate } = shown;
      const pieces = piecesOf(shown, head, sources);
      return new Unit({ ...frame, groups, head, pieces, times: groups.length, isTemplate });
    }
  }
}

function piecesOf(group: GroupView, head: string, sources: FoldContext["sources"]): Piece[] {
  const { root, own, children } = group;
  const source = sources.get(root);
  const lead = own === null ? [] : [pieceOf([own], null, true, (detail) => ownLines(head, own, detail))];
  if (source === undefined || children.length === 0) return [...lead, ...piecesOfChildren(children, null)];
  return [...lead, pieceOf(children, null, false, () => ({ lines: [clonedLine(children, source)], isCut: false }))];
}

function clonedLine({ length }: readonly ChangeView[], source: Address): string {
  return `+   ${count(length, "record", "records")} as in ${escapeText(source.replace("/", " "))}`;
}

/** Of many that are only deleted, for one reason, which the heading states once. */
function piecesOfGoing(group: GroupView): Piece[] {
  const { own, children } = group;
  const line = `${DIFF_SIGNS.delete} ${headline(group)}`;
  const lead = pieceOf(own === null ? [] : [own], null, false, (detail) =>
    detail === "full" ? { lines: [line], isCut: false } : limited({ lines: [line], isCut: false }),
  );
  return [lead, ...piecesOfChildren(children, lead)];
}

function piecesOfChildren(children: readonly ChangeView[], parent: Piece | null): Piece[] {
  let table: Table | null = null;
  return children.map((child) =>
    pieceOf([child], parent, false, (detail) => {
      table ??= tableOf(children);
      return childLines(child, table, detail === "full");
    }),
  );
}

function pieceOf(views: readonly ChangeView[], parent: Piece | null, isOwn: boolean, lay: Piece["lay"]): Piece {
  return { views, gravity: gravestOf(views), parent, isOwn, lay };
}

// The lines of a change.

/** If there is not room for everything, a longer line is cut: a line may have few columns, and thousands of characters without any. */
const MAX_LINE_CHARACTERS = 500;

function limited({ lines, isCut }: Lines): Lines {
  if (lines.every(({ length }) => length <= MAX_LINE_CHARACTERS)) return { lines, isCut };
  return { lines: lines.map(cutLine), isCut: true };
}

/** The beginning says what is changed, and the end to what. */
function cutLine(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const head = line.slice(0, MAX_LINE_CHARACTERS / 2).replace(/[\ud800-\udbff]$/, "");
  const tail = line.slice(-MAX_LINE_CHARACTERS / 4).replace(/^[\udc00-\udfff]/, "");
  return `${head}…${tail} (${line.length} characters)`;
}

/**
 * The signs that GitHub colours: `+` green, `-` red, `!` orange; `#` is grey, for a change that will not be made. A replacement is red, as
 * it deletes first.
 */
const DIFF_SIGNS: Readonly<Record<Mark, string>> = {
  create: "+",
  update: "!",
  delete: "-",
  replace: "-/+",
  none: " ",
};
const BLOCKED_SIGN = "#";
const VALUE_INDENT = "      ";

/** If there is not room for everything, a field of up to this many characters is short. */
const MAX_SHORT_FIELD_CHARACTERS = 200;

function isShortField({ change }: ChangeView, { name }: FieldDiff): boolean {
  const texts = [change.before?.[name], change.after?.[name]].map((value) => JSON.stringify(value ?? null));
  return texts.every((text) => text.length <= MAX_SHORT_FIELD_CHARACTERS);
}

function ownLines(head: string, own: ChangeView, detail: Detail): Lines {
  const isFull = detail === "full";
  const fields = own.fields.filter(({ name }) => !isInHeadline(own, name));
  const shown = detail === "line" ? [] : fields.filter((field) => isFull || isShortField(own, field));
  const isShown = new Set(shown);
  const hidden = fields.filter((field) => !isShown.has(field)).map(({ name }) => name);
  const note = noteLines(own, isFull);
  const laid = {
    lines: [
      `${signOf(own)} ${head}${labelText(own)}${hiddenHint(own, hidden, false, isFull)}`,
      ...valueLines(own, fieldLines(own, shown, CODE_COLUMNS - VALUE_INDENT.length)),
      ...note.lines,
    ],
    isCut: hidden.length > 0 || note.isCut,
  };
  return isFull ? laid : limited(laid);
}

function childLines(view: ChangeView, table: Table, isFull: boolean): Lines {
  const labels = labelText(view);
  const sign = signOf(view);
  const columns = CODE_COLUMNS - sign.length - 1 - labels.length;
  const room = { lineColumns: columns, belowColumns: CODE_COLUMNS - VALUE_INDENT.length, oneLine: !isFull };
  const line = isRow(view)
    ? childLine(view, table, room)
    : { text: escapeText(view.change.address), below: [], cut: false };
  const rest = isRow(view) ? view.fields.filter(({ name }) => isBeyondLine(view, name)) : view.fields;
  const fields = isFull ? fieldLines(view, rest, room.belowColumns) : [];
  const hidden = isFull ? [] : rest.map(({ name }) => name);
  const note = noteLines(view, isFull);
  const laid = {
    lines: [
      `${sign} ${line.text}${labels}${hiddenHint(view, hidden, line.cut, isFull)}`,
      ...valueLines(view, [...line.below, ...fields]),
      ...note.lines,
    ],
    isCut: hidden.length > 0 || (line.cut && !isFull) || note.isCut,
  };
  return isFull ? laid : limited(laid);
}

function signOf({ mark, change }: ChangeView): string {
  return change.blocked === null ? DIFF_SIGNS[mark] : `${BLOCKED_SIGN} ${DIFF_SIGNS[mark]}`;
}

/** Up to this many hidden fields are named in the line. */
const MAX_NAMED_FIELDS = 4;

function hiddenHint({ change }: ChangeView, fields: readonly string[], isCut: boolean, isFull: boolean): string {
  if (isFull) return "";
  const parts = [
    ...(isCut ? ["part of the value"] : []),
    ...(fields.length <= MAX_NAMED_FIELDS ? fields : [count(fields.length, "field", "fields")]),
    ...(change.note === null ? [] : ["a note"]),
    ...Object.keys(change.annotations ?? {}),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(" and ")} not shown)`;
}

/** Moves a line's sign to the front, where GitHub colours it. Only for an update: in other changes a leading sign is part of a value. */
function valueLines({ change }: ChangeView, lines: readonly string[]): string[] {
  const isUpdate = change.before !== null && change.after !== null && change.blocked === null;
  return lines.map((line) => {
    const signed = isUpdate ? /^( *)([-+]) (.*)$/.exec(line) : null;
    if (signed === null) return `${VALUE_INDENT}${line}`;
    return `${signed[2] ?? ""}${VALUE_INDENT}${signed[1] ?? ""}${signed[3] ?? ""}`;
  });
}

/** A longer note would take the room of the change itself. */
const MAX_NOTE_CHARACTERS = 1_000;

/** Only what the entry says for people: another section shows why a change is blocked. */
function noteLines({ change }: ChangeView, isFull: boolean): Lines {
  const { note, annotations } = change;
  if (!isFull) return { lines: [], isCut: note !== null || annotations !== undefined };
  const said = annotations === undefined ? [] : [`${VALUE_INDENT}${escapeText(annotationText(annotations))}`];
  if (note === null) return { lines: said, isCut: false };
  const isCut = note.length > MAX_NOTE_CHARACTERS;
  const text = isCut
    ? `${escapeText(note.slice(0, MAX_NOTE_CHARACTERS))}… (${note.length} characters)`
    : escapeText(note);
  return { lines: [`${VALUE_INDENT}note: ${text}`, ...said], isCut };
}
