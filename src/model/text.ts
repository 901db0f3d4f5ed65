/** Address and name globs: `*` matches any text, `/` and dots included; `\*` is a star. */

import { closest, distance } from "fastest-levenshtein";

/** Whether `text` fits `glob`, case-sensitively. */
export function globMatches(glob: string, text: string): boolean {
  return compileGlob(glob)(text);
}

/**
 * `globMatches` for a glob that many texts are compared with. Each part between two stars is searched for once, behind the one before
 * it. The first match is as good as a later one, so there is no backtracking.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const parts = partsOf(glob);
  const first = parts[0] ?? "";
  if (parts.length === 1) return (text) => text === first;
  const last = parts.at(-1) ?? "";
  const between = parts.slice(1, -1);
  // Few globs have a long part: the others need no search of their own.
  const searches = between.some(isLong) ? between.map((part) => (isLong(part) ? searchFor(part) : null)) : null;
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let position = first.length;
    for (let index = 0; index < between.length; index += 1) {
      const part = between[index] as string;
      const found = searches?.[index]?.(text, position) ?? text.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
      if (position > end) return false;
    }
    return true;
  };
}

/** Shorter texts are searched for by the engine, whose time is that of text times part where almost all of the part is everywhere. */
const MAX_ENGINE_SEARCH_CHARACTERS = 16;

function isLong({ length }: string): boolean {
  return length > MAX_ENGINE_SEARCH_CHARACTERS;
}

/** As `indexOf`, in a time that is linear in the text, whatever stands in it and in the part: Knuth, Morris and Pratt. */
function searchFor(part: string): (text: string, from: number) => number {
  const codes = Uint16Array.from({ length: part.length }, (_, index) => part.charCodeAt(index));
  // Of each beginning of the part: how much of the part's beginning stands at its end, too.
  const borders = new Uint32Array(part.length);
  for (let index = 1, length = 0; index < part.length; index += 1) {
    while (length > 0 && codes[index] !== codes[length]) length = borders[length - 1] as number;
    if (codes[index] === codes[length]) length += 1;
    borders[index] = length;
  }
  return (text, from) => {
    let length = 0;
    for (let index = from; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      while (length > 0 && code !== codes[length]) length = borders[length - 1] as number;
      if (code === codes[length]) length += 1;
      if (length === part.length) return index + 1 - length;
    }
    return -1;
  };
}

/** A glob that is compared with many others, read once. */
export interface GlobOutline {
  /** What stands before the first star, and behind the last one. */
  readonly first: string;
  readonly last: string;
  readonly hasStar: boolean;
  fits(text: string): boolean;
}

export function outlineOf(glob: string): GlobOutline {
  const parts = partsOf(glob);
  return { first: parts[0] ?? "", last: parts.at(-1) ?? "", hasStar: parts.length > 1, fits: compileGlob(glob) };
}

/**
 * Whether some text fits both globs. Where both have a star, the stars take in whatever the other glob wants between its ends, so that only
 * the ends can disagree.
 */
export function globsMeet(one: GlobOutline, other: GlobOutline): boolean {
  if (!one.hasStar) return other.fits(one.first);
  if (!other.hasStar) return one.fits(other.first);
  const startsAlike = one.first.startsWith(other.first) || other.first.startsWith(one.first);
  return startsAlike && (one.last.endsWith(other.last) || other.last.endsWith(one.last));
}

/** The one text that a glob without stars fits; null: it has stars. */
export function literalOf(glob: string): string | null {
  const [first = "", ...others] = partsOf(glob);
  return others.length === 0 ? first : null;
}

/** What stands literally before, between and after the stars. */
function partsOf(glob: string): string[] {
  const parts = [""];
  for (const token of tokenise(glob)) {
    if (token === STAR) parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts;
}

/** Text that a glob takes literally: stars are escaped. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*]/g, (character) => `\\${character}`);
}

interface CoveringGlob {
  readonly glob: string;
  /** How many of the addresses it matches; no other glob beside it matches any of them. */
  readonly count: number;
}

/**
 * Globs of one star each that together match all of `addresses` and none of the others: one if one can, else one for each part that
 * has a beginning of its own.
 * @param fitsOther whether another address begins with `prefix` and, behind that, ends with `suffix`
 */
export function globsFor(
  addresses: readonly string[],
  fitsOther: (prefix: string, suffix: string) => boolean,
): CoveringGlob[] {
  return globsWithin([...new Set(addresses)].sort(), fitsOther);
}

/** @param addresses sorted */
function globsWithin(
  addresses: readonly string[],
  fitsOther: (prefix: string, suffix: string) => boolean,
): CoveringGlob[] {
  const [first = "", last = first] = [addresses[0], addresses.at(-1)];
  if (first === last) return addresses.length === 0 ? [] : [{ glob: escapeGlob(first), count: 1 }];
  const prefix = first.slice(0, sharedStart(first, last));
  const suffix = addresses.reduce((shared, text) => {
    const length = sharedEnd(shared, text.slice(prefix.length));
    return length === 0 ? "" : shared.slice(-length);
  }, first.slice(prefix.length));
  if (!fitsOther(prefix, suffix))
    return [{ glob: `${escapeGlob(prefix)}*${escapeGlob(suffix)}`, count: addresses.length }];
  const parts = groupBy(addresses, (text) => text.codePointAt(prefix.length));
  return [...parts.values()].flatMap((part) => globsWithin(part, fitsOther));
}

/** Never within a character of two code units. */
function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return /[\uD800-\uDBFF]/.test(a[length - 1] ?? "") ? length - 1 : length;
}

function sharedEnd(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length > 0 && /[\uDC00-\uDFFF]/.test(a.at(-length) ?? "") ? length - 1 : length;
}

/** Whether the glob can match an address or anything beneath it: for many addresses, as a glob may be of thousands of characters. May be wrong only by saying yes. */
export function compileWithin(glob: string): (address: string) => boolean {
  const tokens = tokenise(glob);
  const star = tokens.indexOf(STAR);
  const prefix = tokens.slice(0, star === -1 ? tokens.length : star).join("");
  return (address) => prefix.startsWith(`${address}/`) || `${address}/`.startsWith(prefix);
}

const STAR = Symbol("star");

function tokenise(glob: string): (string | typeof STAR)[] {
  const tokens: (string | typeof STAR)[] = [];
  for (let index = 0; index < glob.length; index += 1) {
    const character = glob[index] as string;
    const next = glob[index + 1];
    if (character === "\\" && (next === "*" || next === "\\")) {
      tokens.push(next);
      index += 1;
    } else if (character !== "*") {
      tokens.push(character);
    } else if (tokens.at(-1) !== STAR) {
      tokens.push(STAR);
    }
  }
  return tokens;
}

/** Whether a text has more than so many characters: code points, as the service counts them, of which some take two code units. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false;
  return text.length > 2 * most || [...text].length > most;
}

// Grouping by a key, in the order of first appearance; and the orders in which texts and ids are shown.

export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Compares by the number at their end, so that `private/9` comes before `private/10`: lower ids are older. */
export function compareIds(a: string | number, b: string | number): number {
  return numberOf(a) - numberOf(b) || compareText(String(a), String(b));
}

function numberOf(id: string | number): number {
  return typeof id === "number" ? id : Number(/(?<!\d)\d+$/.exec(id)?.[0] ?? 0);
}

/** Compares by UTF-16 code units: the same order on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As `compareText`, but numbers in the texts count as numbers: `brand2` comes before `brand10`. Equal only for equal texts. */
export function compareNatural(a: string, b: string): number {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  if (start === a.length || start === b.length) return a.length - b.length;
  while (start > 0 && isDigit(a, start - 1)) start -= 1;
  if (!isDigit(a, start) || !isDigit(b, start)) return compareText(a, b);
  const [one, other] = [digitsAt(a, start), digitsAt(b, start)];
  // Without leading zeros the longer number is the larger one, whatever its length.
  return one.length - other.length || compareText(one, other) || compareText(a, b);
}

function isDigit(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0x30 && unit <= 0x39;
}

/** The number that begins there, without leading zeros. */
function digitsAt(text: string, start: number): string {
  let end = start;
  while (isDigit(text, end)) end += 1;
  while (start < end - 1 && text[start] === "0") start += 1;
  return text.slice(start, end);
}

// "Did you mean": the nearest of the known words to one that is not known.

/** Words longer than this are no typing errors, and comparing them costs time. */
const MAX_WORD_LENGTH = 64;
/** The beginning of a word that is shorter than this says too little. */
const MIN_PREFIX_LENGTH = 2;

/** Beyond this the comparison of many unknown words with many known ones would take too long. */
const MAX_COMPARED_WORDS = 500;
/** More names than this help nobody. */
const MAX_LISTED_NAMES = 12;

/** One word may be unknown in thousands of places, through aliases and defaults: it is compared once with a list. */
const remembered: WeakMap<readonly string[], Map<string, string | null>> = new WeakMap();

/**
 * @param known not changed afterwards: what was found for it is remembered
 * @param most how many are compared at most
 * @returns the nearest candidate if it is near enough to be meant, else null
 */
export function nearest(word: string, known: readonly string[], most: number = MAX_COMPARED_WORDS): string | null {
  if (word.length > MAX_WORD_LENGTH) return null;
  const answers = remembered.get(known) ?? new Map<string, string | null>();
  remembered.set(known, answers);
  const key = `${most} ${word}`;
  const answer = answers.get(key);
  if (answer !== undefined) return answer;
  const found = compare(word, known, most);
  answers.set(key, found);
  return found;
}

function compare(word: string, known: readonly string[], most: number): string | null {
  const candidates = known.slice(0, most);
  if (candidates.length === 0 || word.length === 0 || word.length > MAX_WORD_LENGTH) return null;
  const lower = word.toLowerCase();
  const same = candidates.find((candidate) => candidate.toLowerCase() === lower);
  if (same !== undefined) return same;
  const best = closest(lower, candidates);
  // Two letters changed places are a distance of two.
  const allowed = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  return distance(lower, best.toLowerCase()) <= allowed ? best : onlyLonger(lower, candidates);
}

/** `ttl` for `ttl_sec`, `desc` for `description`: if there is but one word that goes on like this. */
function onlyLonger(lower: string, candidates: readonly string[]): string | null {
  if (lower.length < MIN_PREFIX_LENGTH) return null;
  const longer = candidates.filter((candidate) => candidate.toLowerCase().startsWith(lower));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

/** Whether one letter that is added, left out, or another, or two neighbours that change places, make one word the other. */
export function isOneEdit(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  if (long.length > short.length) return short.slice(start) === long.slice(start + 1);
  const [a, b] = [short.slice(start), long.slice(start)];
  const isSwapped = a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return a !== "" && (isSwapped || a.slice(1) === b.slice(1));
}

/** Of a name or a value in a message: the source line is shown anyway. */
const MAX_SHOWN_CHARACTERS = 60;

/** A name or a value, which may have any length, as a message shows it. */
export function shortened(text: string, most: number = MAX_SHOWN_CHARACTERS): string {
  if (text.length <= most) return text;
  // Half of a character of two units is none.
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** `` `a`, `b` and 3,990 more ``. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).map((name) => `\`${name}\``);
  const rest = names.length - shown.length;
  return rest === 0 ? shown.join(", ") : `${shown.join(", ")} and ${rest.toLocaleString("en")} more`;
}

/** A full sentence: the nearest word, or the known ones. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const best = nearest(word, candidates);
  return best === null ? listSuggested(candidates) : `Did you mean \`${best}\`?`;
}

/** A full sentence; empty if there are none. */
export function listSuggested(candidates: readonly string[]): string {
  return candidates.length === 0 ? "" : `Known are: ${listNames(candidates)}.`;
}

// JSON as text that is plainly visible: what a terminal would act on or hide is `\u`, and a parser reads the same.

/**
 * Control characters (C0, DEL, C1: so every ANSI sequence), format characters (bidi marks, zero-width, tags), line and
 * paragraph separators, lone surrogates, blanks other than the space (a value with one would look like another value), and whatever else has
 * no shape of its own (Hangul fillers, the grapheme joiner, the empty Braille pattern, a note head and a filler without a glyph, the
 * object replacement character, and private-use characters, which each font draws as it likes).
 * The two selectors that make a symbol text or emoji stay behind such a symbol, and before the frame of a key: elsewhere they have no shape.
 * Of marks on one letter, six are plainly visible, and three of those that fit every script: a pile of more covers the lines around its own.
 * The second `#` of `##vso[`, `##[` and `##teamcity[` is one of them, too: Azure Pipelines and TeamCity carry out what follows, wherever it stands
 * in a line of a log.
 */
export const UNSAFE: RegExp =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u2800\ufffc\u{16fe4}\u{1d159}]|(?! )\p{Zs}|(?!(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f\u20e3)\p{Default_Ignorable_Code_Point}|\p{M}(?<=\p{M}{7}|\p{Script=Inherited}{4})|#(?<=##)(?=[a-zA-Z]*\[)/gu;

/** The sign of UNSAFE alone that makes a command of a log, for files of other tools, which have escapes of their own. */
export const LOG_COMMAND: RegExp = /#(?<=##)(?=[a-zA-Z]*\[)/g;

/** @param indentColumns 0: on one line */
export function jsonText(value: object | string | number | boolean | null | undefined, indentColumns = 0): string {
  // Those that JSON.stringify leaves stand within strings; what it puts between them is the layout.
  return visibleJson(JSON.stringify(value, null, indentColumns));
}

/** A JSON text with what is not plainly visible as escapes. */
export function visibleJson(json: string): string {
  return isPlain(json) ? json : json.replace(UNSAFE, escapedCharacter);
}

/** Line breaks may stand between values. */
const UNSAFE_WITHIN_LINES: RegExp = new RegExp(`(?!\\n)(?:${UNSAFE.source})`, "gu");

/** How many characters of a JSON text are not plainly visible, or are written as `\\u`. What shows them takes several characters for each. */
export function countEscaped(json: string): number {
  let count = 0;
  for (let at = json.indexOf("\\u"); at !== -1; at = json.indexOf("\\u", at + 2)) count += 1;
  if (!/[^\x20-\x7e\n]|##/.test(json)) return count;
  for (const _ of json.matchAll(UNSAFE_WITHIN_LINES)) count += 1;
  return count;
}

/** Whether a text is printable ASCII without a `##`: most are, and finding that out takes a fraction of a search for what is not plainly visible. */
export function isPlain(text: string): boolean {
  return !/[^\x20-\x7e]|##/.test(text);
}

/** There are a few thousand of them, and a text may hold millions of one. */
const escapedCharacters: Map<string, string> = new Map([["\n", "\n"]]);

function escapedCharacter(character: string): string {
  const known = escapedCharacters.get(character);
  if (known !== undefined) return known;
  const escaped = character.split("").map(escapedUnit).join("");
  escapedCharacters.set(character, escaped);
  return escaped;
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * As a word of a command for a POSIX shell or fish: quoted where one would read anything into it. PowerShell may take it for several words, but
 * for no command. So a single quote stands in double quotes, with the curved ones, which PowerShell takes for it, and so does a backslash
 * before a quote or another one, which fish takes for an escape in single quotes, too.
 */
export function shellWord(text: string): string {
  // At the beginning of a word zsh takes `=` for a command's path.
  if (/^(?!=)[\w./:@%+,=-]+$/.test(text)) return text;
  if (text === "") return "''";
  return text.replace(/['\u2018-\u201b]+|(?:[^'\u2018-\u201b\\]|\\(?!['\u2018-\u201b\\]|$))+|\\+/g, (part) => {
    if (/^\\+$/.test(part)) return `"${part}${part}"`;
    return /^['\u2018-\u201b]/.test(part) ? `"${part}"` : `'${part}'`;
  });
}

/** From two minutes on in minutes, from two hours on in hours, from two days on in days: `45 s`, `3 min`. Nothing is less than `0 s`. */
export function roughTime(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.ceil(seconds))} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
