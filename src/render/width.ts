/** Widths and wrapping: how many columns text takes, and how it is laid out within so many. */

/** Without a terminal: what a mail, a code review and an old terminal all show. */
export const DEFAULT_WIDTH_COLUMNS = 80;
/** Narrower than this nothing is readable; longer lines are left to the terminal. */
const MIN_WIDTH_COLUMNS = 40;

/** East Asian Wide and Fullwidth (UAX #11), and what is shown as emoji without being asked to. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const COMBINING = /\p{M}/u;
const PLAIN = /^[\x20-\x7e]*$/;

/** Columns of a terminal, for text that is already escaped. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

function columnsOfCharacter(character: string): 0 | 1 | 2 {
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

export function usableWidth(width: number): number {
  return Math.max(width, MIN_WIDTH_COLUMNS);
}

/** Words on lines of at most `width` columns, each after `indent` blanks. A longer word stays whole. */
export function wrap(text: string, width: number, indent: number): string[] {
  const blank = " ".repeat(indent);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && indent + columnsOf(longer) > width) {
      lines.push(blank + line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (line !== "") lines.push(blank + line);
  return lines;
}

/** Items with commas between them, on lines of at most `width` columns, each after `indent` blanks. A longer item stays whole. */
export function wrapItems(items: readonly string[], width: number, indent: number): string[] {
  const blank = " ".repeat(indent);
  const lines: string[] = [];
  let [line, columns] = ["", 0];
  for (const [index, item] of items.entries()) {
    const text = index < items.length - 1 ? `${item},` : item;
    const more = columnsOf(text) + (line === "" ? 0 : 1);
    if (line !== "" && indent + columns + more > width) {
      lines.push(blank + line);
      [line, columns] = ["", 0];
    }
    columns += columnsOf(text) + (line === "" ? 0 : 1);
    line = line === "" ? text : `${line} ${text}`;
  }
  if (line !== "") lines.push(blank + line);
  return lines;
}

/** Words like `wrap`, but only what follows the first line stands after `indent` blanks. */
export function hang(text: string, width: number, indent: number): string[] {
  const [first = "", ...rest] = wrap(text, width, 0);
  return [first, ...wrap(rest.join(" "), width, indent)];
}

/**
 * A text that is too long as `head…tail (1234 bytes)`: never cut without saying so.
 * @param text as it is shown, escaped
 * @param bytes of the value itself, in UTF-8
 */
export function shorten(text: string, columns: number, bytes: number): string {
  if (columnsOf(text) <= columns) return text;
  const size = ` (${bytes} bytes)`;
  const room = Math.max(columns - size.length - 1, 8);
  const characters = [...text];
  const tailColumns = Math.floor(room / 3);
  const head = take(characters, room - tailColumns).join("");
  const tail = take(characters.reverse(), tailColumns).reverse().join("");
  return `${head}…${tail}${size}`;
}

/** As much of the beginning as so many columns hold. */
export function cut(text: string, columns: number): string {
  return take([...text], columns).join("");
}

function take(characters: readonly string[], columns: number): string[] {
  const taken: string[] = [];
  let used = 0;
  for (const character of characters) {
    used += columnsOfCharacter(character);
    if (used > columns) break;
    taken.push(character);
  }
  return taken;
}
