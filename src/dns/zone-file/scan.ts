/** Divides a zone file into entries of words and strings (RFC 1035, 5.1): parentheses, comments, quotes. Linear, whatever the file. */

import { MAX_TOKENS_PER_ENTRY } from "./limits.ts";
import type { Place, PlacedProblem, Problem } from "./problem.ts";

/** A word or a quoted string, without its quotes, with its escapes. The place includes the quotes. */
export interface Token extends Place {
  readonly text: string;
  readonly quoted: boolean;
}

/** One record or directive. */
export interface Entry {
  /** It begins with white space: its owner is the one before. */
  readonly indented: boolean;
  readonly tokens: readonly Token[];
  /** If it could not be divided: the tokens until then are there. */
  readonly misread: PlacedProblem | null;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const VERTICAL_TAB = 0x0b;
const FORM_FEED = 0x0c;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPENING = 0x28;
const CLOSING = 0x29;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const BYTE_ORDER_MARK = 0xfeff;

export class Scanner {
  readonly #text: string;
  /** Where parentheses open that nothing closes, ascending. */
  readonly #unclosed: readonly number[];
  #nextUnclosed = 0;
  #offset: number;
  #tokens: Token[] = [];
  #misread: PlacedProblem | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#unclosed = unclosedParentheses(text);
    this.#offset = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  }

  /** @returns null at the end of the file */
  next(): Entry | null {
    while (this.#offset < this.#text.length) {
      const indented = isBlank(this.#text.charCodeAt(this.#offset));
      this.#tokens = [];
      this.#misread = null;
      this.#readEntry();
      if (this.#tokens.length > 0 || this.#misread !== null) {
        return { indented, tokens: this.#tokens, misread: this.#misread };
      }
    }
    return null;
  }

  /** To behind the line's end, or that of the line with the last closing parenthesis. */
  #readEntry(): void {
    let depth = 0;
    while (this.#offset < this.#text.length) {
      const code = this.#text.charCodeAt(this.#offset);
      if (isLineEnd(code)) {
        this.#offset = afterLineEnd(this.#text, this.#offset);
        if (depth === 0) return;
      } else if (isBlank(code)) {
        this.#offset += 1;
      } else if (code === SEMICOLON) {
        this.#offset = lineEndFrom(this.#text, this.#offset);
      } else if (code === OPENING) {
        if (this.#isUnclosed()) {
          this.#giveUp();
          return;
        }
        depth += 1;
        this.#offset += 1;
      } else if (code === CLOSING) {
        if (depth === 0) this.#fail(this.#offset, STRAY_PARENTHESIS);
        else depth -= 1;
        this.#offset += 1;
      } else {
        this.#readToken(code === QUOTE);
      }
    }
  }

  #readToken(quoted: boolean): void {
    const start = this.#offset;
    const end = quoted ? stringEnd(this.#text, start) : wordEnd(this.#text, start);
    const isClosed = !quoted || this.#text.charCodeAt(end) === QUOTE;
    const after = quoted && isClosed ? end + 1 : end;
    this.#offset = after;
    if (!isClosed) {
      this.#fail(start, UNCLOSED_QUOTE);
    } else if (this.#tokens.length === MAX_TOKENS_PER_ENTRY) {
      this.#fail(start, TOO_MANY_TOKENS);
    } else if (this.#misread === null) {
      const text = this.#text.slice(quoted ? start + 1 : start, end);
      this.#tokens.push({ text, quoted, start, end: after });
    }
  }

  #fail(offset: number, problem: Problem): void {
    this.#misread ??= { place: { start: offset, end: offset + 1 }, problem };
  }

  #isUnclosed(): boolean {
    let at = this.#unclosed[this.#nextUnclosed];
    while (at !== undefined && at < this.#offset) {
      this.#nextUnclosed += 1;
      at = this.#unclosed[this.#nextUnclosed];
    }
    return at === this.#offset;
  }

  /** Nothing says where the entry was meant to end: at the next line that begins with a word, most likely. */
  #giveUp(): void {
    this.#fail(this.#offset, UNCLOSED_PARENTHESIS);
    do {
      this.#offset = afterLineEnd(this.#text, lineEndFrom(this.#text, this.#offset));
    } while (this.#offset < this.#text.length && continues(this.#text.charCodeAt(this.#offset)));
  }
}

const STRAY_PARENTHESIS: Problem = {
  code: "stray-parenthesis",
  summary: "a closing parenthesis without an opening one",
  detail: "Nothing before it opens a parenthesis that is still open.",
  fix: "Remove it, or put it in quotes if it is part of a text.",
};

const UNCLOSED_PARENTHESIS: Problem = {
  code: "unclosed-parenthesis",
  summary: "a parenthesis that nothing closes",
  detail: "The file ends before it is closed. Reading goes on at the next line that does not begin with white space.",
  fix: "Add `)` at the record's end, or put the parenthesis in quotes if it is part of a text.",
};

const UNCLOSED_QUOTE: Problem = {
  code: "unclosed-quote",
  summary: "a quote that nothing closes",
  detail: "The line ends before the quoted text does.",
  fix: 'Add `"` at its end; write a quote within the text as `\\"`, and a line break as `\\010`.',
};

const TOO_MANY_TOKENS: Problem = {
  code: "too-long",
  summary: "a record that is too long",
  detail: `It has more than ${MAX_TOKENS_PER_ENTRY} words, and no record has room for as many.`,
  fix: "Shorten it, or look for a parenthesis that is closed too late.",
};

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === FORM_FEED || code === VERTICAL_TAB;
}

/** A carriage return alone ends a line, too, as BIND has it. */
function isLineEnd(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN;
}

/** What a line begins with that can belong to an entry above. */
function continues(code: number): boolean {
  return isBlank(code) || isLineEnd(code) || code === SEMICOLON || code === CLOSING;
}

/** @param offset of a line's end */
function afterLineEnd(text: string, offset: number): number {
  const isPair = text.charCodeAt(offset) === CARRIAGE_RETURN && text.charCodeAt(offset + 1) === LINE_FEED;
  return Math.min(offset + (isPair ? 2 : 1), text.length);
}

function lineEndFrom(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && !isLineEnd(text.charCodeAt(end))) end += 1;
  return end;
}

/** Behind the character at the offset, and behind the one that it escapes; never past a line's end. */
function afterCharacter(text: string, offset: number): number {
  if (text.charCodeAt(offset) !== BACKSLASH) return offset + 1;
  return offset + 1 < text.length && !isLineEnd(text.charCodeAt(offset + 1)) ? offset + 2 : offset + 1;
}

function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && !endsWord(text.charCodeAt(end))) end = afterCharacter(text, end);
  return end;
}

function endsWord(code: number): boolean {
  if (code > SEMICOLON) return false;
  return (
    isBlank(code) || isLineEnd(code) || code === QUOTE || code === OPENING || code === CLOSING || code === SEMICOLON
  );
}

/** At the closing quote, or at the end of the line if there is none. */
function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && !isLineEnd(text.charCodeAt(end)) && text.charCodeAt(end) !== QUOTE) {
    end = afterCharacter(text, end);
  }
  return end;
}

/** Offsets of what would have to be closed for the rest of the file to be read. */
function unclosedParentheses(text: string): number[] {
  const open: number[] = [];
  let offset = 0;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    if (code === SEMICOLON) offset = lineEndFrom(text, offset);
    else if (code === QUOTE) offset = stringEnd(text, offset) + 1;
    else {
      if (code === OPENING) open.push(offset);
      else if (code === CLOSING) open.pop();
      offset = afterCharacter(text, offset);
    }
  }
  return open;
}
