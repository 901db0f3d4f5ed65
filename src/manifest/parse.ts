/** YAML text → plain data with places; syntax errors become diagnostics. */

import type * as YamlLibrary from "yaml";
import type { Alias, CST, Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { MAX_HASHED_CHARACTERS } from "../model/map-key.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { isPlain } from "../model/text.ts";
import { readCommonYaml } from "./common-yaml.ts";
import {
  type Budget,
  COPIED_VALUE_CHARACTERS,
  MAX_ALIAS_NODES,
  MAX_NESTING_DEPTH,
  MAX_SHORT_FILE_VALUES,
  MIN_CHARACTERS_PER_VALUE,
} from "./limits.ts";
import { newMapping, Places } from "./positions.ts";
import { foreignFormat, isSound, syntaxDiagnostics } from "./syntax-errors.ts";

type Yaml = typeof YamlLibrary;

/** Both quotes around a text. */
const QUOTES_LENGTH = 2;

export interface ParsedFile {
  readonly file: string;
  /** Null if the text holds no mapping. */
  readonly tree: JsonObject | null;
  /** The text has errors after which the tree is a guess: only the file's syntax is reported. */
  readonly damaged: boolean;
}

/** What a file should be, as messages say it. */
export interface FileKind {
  /** `A manifest` */
  readonly noun: string;
  /** Its first line: `tenon: 1`. */
  readonly start: string;
  /** Some of its keys: "`tenon`, `vpcs` and so on". */
  readonly keys: string;
}

const MANIFEST: FileKind = {
  noun: "A manifest",
  start: "tenon: 1",
  keys: "`tenon`, `vpcs`, `domains` and so on",
};

export interface ParseContext {
  readonly places: Places;
  /** Default: a manifest. */
  readonly kind?: FileKind;
  /** What is parsed goes there, and what is there is not parsed again. */
  readonly parsed?: ParsedFiles;
  /** Shared by all files of the project. */
  readonly budget: Budget;
  report(diagnostic: Diagnostic): void;
}

export async function parseFile(file: string, text: string, context: ParseContext): Promise<ParsedFile> {
  const { places, parsed, report } = context;
  const known = parsed?.take(file, text);
  if (known !== undefined) {
    for (const problem of known.problems) report(problem);
    return { file, tree: known.tree, damaged: known.damaged };
  }
  const problems: Diagnostic[] = [];
  const noting = {
    ...context,
    report: (diagnostic: Diagnostic): void => {
      problems.push(diagnostic);
      report(diagnostic);
    },
  };
  const tree = ODD_BREAK.test(text) ? null : readCommonYaml(file, text, places);
  const result =
    tree === null
      ? parseWithLibrary(file, text, { ...noting, yaml: await import("yaml") })
      : { file, tree, damaged: false };
  const { tree: found, damaged } = result;
  if (parsed !== undefined) parsed.keep(file, { text, tree: found, damaged, problems });
  return result;
}

/** A carriage return alone ends a line (YAML 1.2.2, 5.4), but no comment for the library; the others end one for readers of YAML 1.1, and in editors. */
const ODD_BREAK = /\r(?!\n)|[\v\f\x85\u2028\u2029]/;

/** A file as it was parsed. */
export interface KeptFile extends Omit<ParsedFile, "file"> {
  readonly text: string;
  /** What was reported of its syntax. */
  readonly problems: readonly Diagnostic[];
}

/**
 * The files of a project, parsed, for a project that is loaded twice: as it is, and as it was at a base. Loading changes a tree, so this
 * keeps a copy of each; and each is taken once. Files of which something was reported are left out: they report it again.
 */
export class ParsedFiles {
  /** Both projects need the same one. */
  readonly places: Places = new Places();
  readonly #kept: Map<string, KeptFile> = new Map();

  keep(file: string, kept: KeptFile): void {
    if (kept.tree !== null && kept.problems.length === 0) {
      this.#kept.set(file, { ...kept, tree: copyTree(kept.tree, this.places) });
    }
  }

  /** @returns undefined if the file was not parsed, or had another text */
  take(file: string, text: string): KeptFile | undefined {
    const known = this.#kept.get(file);
    if (known?.text !== text) return undefined;
    this.#kept.delete(file);
    return known;
  }
}

/** The files of a project that is loaded again and again, as they change in an editor: each text is parsed once, whatever is wrong with it. */
export class LastingFiles extends ParsedFiles {
  readonly #lasting: Map<string, KeptFile> = new Map();
  /** How many texts were parsed so far. */
  parses = 0;

  override keep(file: string, kept: KeptFile): void {
    this.parses += 1;
    this.#lasting.set(file, this.#copy(kept));
  }

  override take(file: string, text: string): KeptFile | undefined {
    const known = this.#lasting.get(file);
    return known?.text === text ? this.#copy(known) : undefined;
  }

  /** As `take`, but not to be loaded: nothing is copied. */
  look(file: string, text: string): KeptFile | undefined {
    const known = this.#lasting.get(file);
    return known?.text === text ? known : undefined;
  }

  /** The copy has places of its own: loading marks in them what it has found wrong. */
  #copy(kept: KeptFile): KeptFile {
    const { tree } = kept;
    const own = { copy: (clone: object, original: object): void => this.places.duplicate(clone, original) };
    return tree === null ? kept : { ...kept, tree: copyTree(tree, own) };
  }
}

/** What an alias repeats stays one object. */
function copyTree<T extends Json>(value: T, places: Pick<Places, "copy">, copies: Map<object, Json> = new Map()): T {
  if (typeof value !== "object" || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known as T;
  const copy = (Array.isArray(value) ? [] : newMapping()) as Record<string, Json>;
  copies.set(value, copy);
  places.copy(copy, value);
  for (const key of Object.keys(value)) copy[key] = copyTree((value as JsonObject)[key] as Json, places, copies);
  return copy as Json as T;
}

interface LibraryContext extends ParseContext {
  readonly yaml: Yaml;
}

/** What `parseFile` does with a text that is not of the common kind. */
export function parseWithLibrary(file: string, text: string, context: LibraryContext): ParsedFile {
  const nothing = { file, tree: null, damaged: true };
  const { kind = MANIFEST } = context;
  if (text.trim() === "") {
    context.report(emptyFile(file, kind));
    return nothing;
  }
  const stray = text.search(/\r(?!\n)/);
  if (stray !== -1) {
    context.report(oddBreak(file, stray, text));
    return nothing;
  }
  const documents = compose(file, text, context);
  const document = documents?.[0];
  if (documents === null || document === undefined) return nothing;
  const isMapping = document.errors.length === 0 && context.yaml.isMap(document.contents);
  const foreign = isMapping ? null : foreignFormat(file, text, kind.noun);
  if (foreign !== null) {
    context.report(foreign);
    return nothing;
  }
  const second = documents[1];
  if (second !== undefined) context.report(severalDocuments(file, second.range[0], text));
  for (const diagnostic of syntaxDiagnostics(file, text, document.errors, context.yaml)) context.report(diagnostic);
  const version = document.directives?.yaml;
  if (version?.explicit === true && version.version !== "1.2") context.report(wrongVersion(file));
  const damaged = !document.errors.every((error) => isSound(error, text));
  if (document.contents === null || isEmptyScalar(document.contents, context.yaml)) {
    if (document.errors.length === 0) context.report(emptyFile(file, kind));
    return nothing;
  }
  const tree = new Converter(file, text, context, damaged).convert(document.contents);
  if (isJsonObject(tree)) return { file, tree, damaged };
  if (!damaged) context.report(notMapping(file, kind, offsets(document.contents)));
  return nothing;
}

function isEmptyScalar(node: Node, yaml: Yaml): boolean {
  return yaml.isScalar(node) && node.value === null && (node.source ?? "") === "";
}

/**
 * Composes token by token, to stop as soon as the nesting is too deep or the values are too many: the library takes quadratic time for
 * nesting, and a kilobyte for each value.
 * @returns null if it stopped, which is reported
 */
function compose(file: string, text: string, context: LibraryContext): Document.Parsed[] | null {
  const { Composer, Lexer, Parser } = context.yaml;
  // uniqueKeys compares each key with all before it; the converter finds duplicates in linear time.
  const composer = new Composer({ version: "1.2", uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
  const parser = new Parser();
  const documents: Document.Parsed[] = [];
  const compose = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens)
      for (const document of composer.next(token)) documents.push(document as Document.Parsed);
  };
  const mistakes = new SyntaxMistakes();
  const mostValues = Math.max(MAX_SHORT_FILE_VALUES, text.length / MIN_CHARACTERS_PER_VALUE);
  let valueCount = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const odd = mistakes.isText || !lexeme.startsWith("#") ? -1 : lexeme.search(ODD_BREAK);
    if (odd !== -1) {
      context.report(oddBreak(file, parser.offset + odd, text));
      return null;
    }
    compose(parser.next(lexeme));
    // Each is an error of the library, which has them all at the end of the document.
    if (mistakes.countAfter(lexeme) > MAX_SYNTAX_MISTAKES) break;
    if (documents.length > 1) return documents;
    if (parser.stack.length > MAX_PARSER_STACK) {
      context.report(nestedTooDeep(file, Math.max(0, parser.offset - lexeme.length)));
      return null;
    }
    if (STARTS_OF_VALUES.has(lexeme) || mistakes.isAlias) valueCount += 1;
    if (valueCount > mostValues) {
      context.report(tooManyValues(file, Math.max(0, parser.offset - lexeme.length)));
      return null;
    }
  }
  compose(parser.end());
  for (const document of composer.end(true, text.length)) documents.push(document as Document.Parsed);
  return documents;
}

/** After more mistakes than this, the rest is not read. */
const MAX_SYNTAX_MISTAKES = 1_000;
/** The lexeme that announces a scalar: the lexeme after it may be any text. */
const SCALAR_LEXEME = "\u001f";
/** The lexemes with which a value begins. An item `-` without a value is null, which counts, too. */
const STARTS_OF_VALUES: ReadonlySet<string> = new Set([SCALAR_LEXEME, "[", "{", "-", "?"]);

/** Counts what no YAML may hold, and what may be repeated in it without an end: stray brackets and commas, aliases and anchors without a name. */
class SyntaxMistakes {
  readonly #open: string[] = [];
  #count = 0;
  #last = "";
  /** Whether nothing has come since an opening bracket or a comma. */
  #isEmpty = false;
  isAlias = false;

  /** Whether the next lexeme is the text of a scalar, whatever it looks like. */
  get isText(): boolean {
    return this.#last === SCALAR_LEXEME;
  }

  /** @returns how many there were so far */
  countAfter(lexeme: string): number {
    const { isText } = this;
    this.isAlias = !isText && lexeme.startsWith("*");
    if (!isText) this.#look(lexeme);
    else this.#isEmpty = false;
    this.#last = lexeme;
    return this.#count;
  }

  #look(lexeme: string): void {
    if (lexeme === "*" || lexeme === "&") this.#count += 1;
    if (lexeme === "[" || lexeme === "{") this.#open.push(lexeme);
    else if ((lexeme === "]" || lexeme === "}") && this.#open.pop() !== (lexeme === "]" ? "[" : "{")) this.#count += 1;
    if (lexeme === "," && this.#isEmpty) this.#count += 1;
    if (lexeme === "[" || lexeme === "{" || lexeme === ",") this.#isEmpty = true;
    else if (lexeme.trim() !== "" && !lexeme.startsWith("#")) this.#isEmpty = false;
  }
}

/** The parser stacks a document, the collections in it, and a scalar. */
const MAX_PARSER_STACK = MAX_NESTING_DEPTH + 2;

type Offsets = readonly [number, number];

const CORE_TAGS: ReadonlySet<string> = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);

class Converter {
  readonly #file: string;
  readonly #text: string;
  readonly #context: LibraryContext;
  /** After a syntax error the rest of the tree is a guess, so its problems are not reported. */
  readonly #quiet: boolean;
  readonly #anchors: Map<string, Node> = new Map();
  readonly #open: Set<Node> = new Set();
  #aliasDepth = 0;
  /** The outermost alias that is being converted: the one that stands in the file itself, not in another alias's target. */
  #outermost: Node | null = null;
  #aliasNodes = 0;
  #aliasesReported = false;

  constructor(file: string, text: string, context: LibraryContext, quiet: boolean) {
    this.#file = file;
    this.#text = text;
    this.#context = context;
    this.#quiet = quiet;
  }

  /** @returns undefined for a value that was reported as wrong */
  convert(node: Node | null): Json | undefined {
    const { yaml } = this.#context;
    if (node === null) return null;
    if (this.#aliasDepth > 0 && !this.#pay(node)) return undefined;
    if (yaml.isAlias(node)) return this.#alias(node);
    if (node.anchor !== undefined && this.#aliasDepth === 0) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !CORE_TAGS.has(node.tag)) return this.#refuse(unknownTag(this.#at(node), node.tag));
    if (yaml.isScalar(node)) return this.#scalar(node);
    this.#open.add(node);
    const value = yaml.isMap(node) ? this.#map(node) : this.#list(node as YAMLSeq);
    this.#open.delete(node);
    return value;
  }

  /** @returns false if there is no room for another copy */
  #pay(node: Node): boolean {
    this.#aliasNodes += 1;
    const value = this.#context.yaml.isScalar(node) ? node.value : null;
    const characters = COPIED_VALUE_CHARACTERS + (typeof value === "string" ? value.length : 0);
    return this.#context.budget.take(
      characters,
      () => this.#at(this.#outermost ?? node),
      (diagnostic) => this.#refuse(diagnostic),
    );
  }

  #scalar(node: Scalar): Json | undefined {
    const first = this.#text[offsets(node)[0]];
    // Reported as a syntax error already; the tree around it is sound.
    if (node.type === "PLAIN" && (first === "@" || first === "`")) return undefined;
    this.#warnOfComment(node);
    return node.value === undefined ? null : (node.value as Json);
  }

  #alias(node: Alias): Json | undefined {
    const target = this.#anchors.get(node.source);
    if (target === undefined) return this.#refuse(unknownAlias(this.#at(node), node.source));
    if (this.#open.has(target)) return this.#refuse(circularAlias(this.#at(node), node.source));
    if (this.#aliasNodes > MAX_ALIAS_NODES) {
      if (!this.#aliasesReported) this.#refuse(tooManyAliases(this.#at(node)));
      this.#aliasesReported = true;
      return undefined;
    }
    if (this.#aliasDepth === 0) this.#outermost = node;
    this.#aliasDepth += 1;
    const value = this.convert(target);
    this.#aliasDepth -= 1;
    return value;
  }

  #map(node: YAMLMap): JsonObject {
    const object = newMapping();
    const seen = new Map<string, Span>();
    this.#context.places.put(object, this.#file, offsets(node));
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      const key = this.#key(pair.key);
      if (key === null) continue;
      const at = this.#at(pair.key);
      // V8 keeps the keys of all objects in one table, in which it finds thousands of this length one after the other.
      if (key.length > MAX_HASHED_CHARACTERS) {
        this.#refuse(longKey(at));
        continue;
      }
      const first = seen.get(key);
      if (first === undefined) this.#put(object, key, offsets(pair.key), pair.value);
      else this.#refuse(duplicateKey(key, at, first));
      if (first === undefined) seen.set(key, at);
    }
    this.#context.places.close(object);
    return object;
  }

  #key(node: Node | null): string | null {
    const { yaml } = this.#context;
    if (yaml.isScalar(node)) {
      const key = node.type === "PLAIN" ? (node.source ?? "") : String(node.value);
      // No key of the schema has such characters, and `fmt` writes those escaped that are not plainly visible. Control characters are for own keys.
      const mayBeEscaped = !isPlain(key) && (key.startsWith("x-") || !/\p{Cc}/u.test(key));
      if (node.type === "QUOTE_DOUBLE" && !mayBeEscaped && isEscaped(node, key)) {
        this.#refuse(escapedKey(this.#at(node), key));
      }
      return key;
    }
    if (node !== null) this.#refuse(complexKey(this.#at(node)));
    return null;
  }

  #list(node: YAMLSeq): Json {
    const list: Json[] = [];
    this.#context.places.put(list, this.#file, offsets(node));
    for (const [index, item] of node.items.entries()) this.#put(list, index, offsets(item as Node), item as Node);
    this.#context.places.close(list);
    return list;
  }

  #put(container: object, key: string | number, keyAt: Offsets, node: Node | null): void {
    const value = this.convert(node);
    const valueAt = node === null ? ([keyAt[1], keyAt[1]] as const) : offsets(node);
    this.#context.places.putKey(container, key, keyAt, valueAt, this.#source(node, value));
    (container as Record<string | number, Json>)[key] = value ?? null;
    if (value === undefined) this.#context.places.markBroken(container, key);
  }

  #source(node: Node | null, value: Json | undefined): string | null {
    if (typeof value !== "number" && typeof value !== "boolean") return null;
    const scalar = this.#context.yaml.isAlias(node) ? this.#anchors.get(node.source) : node;
    const source = this.#context.yaml.isScalar(scalar) ? (scalar.source ?? null) : null;
    return source === String(value) ? null : source;
  }

  /** `v=DMARC1; p=none # strict`: what follows the ` #` is a comment, which the writer of a TXT may not have meant. */
  #warnOfComment(node: Scalar): void {
    const [start, end] = offsets(node);
    if (node.type !== "PLAIN" || typeof node.value !== "string" || !/[;=]/.test(node.value)) return;
    if (!/^[ \t]+#/.test(this.#text.slice(end, end + 80))) return;
    const span = { file: this.#file, start, end };
    if (!this.#quiet && this.#aliasDepth === 0) this.#context.report(cutByComment(span));
  }

  #refuse(diagnostic: Diagnostic): undefined {
    if (!this.#quiet) this.#context.report(diagnostic);
    return undefined;
  }

  #at(node: Node): Span {
    const [start, end] = offsets(node);
    return { file: this.#file, start, end };
  }
}

/** A block collection ends where its last value does: the library counts the comments behind some of them. */
function offsets(node: Node): Offsets {
  const { range } = node;
  if (!range) return [0, 0];
  const last = lastOfBlock(node);
  return [range[0], last === null ? range[1] : offsets(last)[1]];
}

function lastOfBlock(node: Node): Node | null {
  if (!("items" in node) || node.flow === true) return null;
  const last = node.items.at(-1) as Pair<Node, Node | null> | Node | undefined;
  if (last === undefined || !("key" in last)) return last ?? null;
  return last.value ?? last.key;
}

/** Whether the text between the quotes is longer or shorter than its value, so that it has escapes. */
function isEscaped(node: Scalar, value: string): boolean {
  const [start, end] = offsets(node);
  return end - start - QUOTES_LENGTH !== value.length;
}

// Messages for what YAML allows, but a manifest does not.

function syntax(code: string, summary: string, detail: string, fix: string, span: Span): Diagnostic {
  return { code, severity: "error", summary, detail, fix, span };
}

function emptyFile(file: string, { noun, start: first }: FileKind): Diagnostic {
  const fix = `Start it with \`${first}\`, or delete the file.`;
  return syntax("empty-file", "the file is empty", `${noun} says at least which format it has.`, fix, start(file));
}

function start(file: string): Span {
  return { file, start: 0, end: 0 };
}

function severalDocuments(file: string, offset: number, text: string): Diagnostic {
  const marker = text.lastIndexOf("---", offset);
  const at = marker === -1 ? offset : marker;
  const detail = "A manifest is one YAML document; `---` begins another.";
  const fix = "Put the second document into a file of its own and name it under `files`.";
  return syntax("several-documents", "more than one document", detail, fix, { file, start: at, end: at + 3 });
}

function wrongVersion(file: string): Diagnostic {
  const detail =
    "Manifests are YAML 1.2; under 1.1, words such as `yes` and numbers such as `010` mean something else.";
  return syntax("yaml-version", "not YAML 1.2", detail, "Remove the %YAML directive.", start(file));
}

function notMapping(
  file: string,
  { noun, start: first, keys }: FileKind,
  [from, to]: readonly [number, number],
): Diagnostic {
  const detail = `${noun} is a mapping whose keys are ${keys}.`;
  const summary = `not ${noun.toLowerCase()}`;
  return syntax("not-a-manifest", summary, detail, `Start it with \`${first}\`.`, { file, start: from, end: to });
}

function oddBreak(file: string, offset: number, text: string): Diagnostic {
  const character = (text.codePointAt(offset) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return syntax(
    "odd-line-break",
    `U+${character} stands in the file, which ends a line for some readers only`,
    "What follows would be part of a comment or a text to one reader, and a line of its own to another.",
    "End lines with a line feed, with or without a carriage return before it. In a text in double quotes write \\r or \\u2028.",
    { file, start: offset, end: offset + 1 },
  );
}

function nestedTooDeep(file: string, offset: number): Diagnostic {
  const detail = `Collections may be nested ${MAX_NESTING_DEPTH} deep.`;
  const span = { file, start: offset, end: offset + 1 };
  return syntax("nested-too-deep", "nested too deep", detail, "Check the brackets and the indentation.", span);
}

function tooManyValues(file: string, offset: number): Diagnostic {
  const detail = `A file may have one value for each ${MIN_CHARACTERS_PER_VALUE} characters, and ${MAX_SHORT_FILE_VALUES.toLocaleString("en")} in any case. The rest is not checked.`;
  const span = { file, start: offset, end: offset + 1 };
  return syntax("too-many-values", "too many values in one file", detail, "Divide the file.", span);
}

function unknownTag(span: Span, tag: string): Diagnostic {
  const shown = tag.replace("tag:yaml.org,2002:", "!!");
  const detail = `The YAML tag \`${shown}\` has no meaning in a manifest.`;
  return syntax(
    "unknown-tag",
    "unknown YAML tag",
    detail,
    "Remove the tag, or quote the value if it begins with `!`.",
    span,
  );
}

function unknownAlias(span: Span, name: string): Diagnostic {
  const detail = `In YAML an unquoted \`*\` refers to an anchor, and there is no \`&${name}\` before it.`;
  const fix = `If a name that begins with a star is meant, quote it: "*${name}".`;
  return syntax("unquoted-value", "a value that begins with `*` must be quoted", detail, fix, span);
}

function circularAlias(span: Span, name: string): Diagnostic {
  const detail = `The alias \`*${name}\` stands inside what it refers to.`;
  return syntax("circular-alias", "alias of itself", detail, "Write the value out.", span);
}

function tooManyAliases(span: Span): Diagnostic {
  const detail = `The aliases of this file stand for more than ${MAX_ALIAS_NODES.toLocaleString("en")} values.`;
  return syntax("too-many-aliases", "too many aliases", detail, "Use `record_sets` and `defaults` instead.", span);
}

function duplicateKey(key: string, span: Span, first: Span): Diagnostic {
  const detail = "A key may stand once in a mapping; of two, one would be lost silently.";
  const base = syntax("duplicate-key", `\`${key}\` is there twice`, detail, "Keep one of the two.", span);
  return { ...base, related: [{ message: "first here", span: first }] };
}

function longKey(span: Span): Diagnostic {
  const most = MAX_HASHED_CHARACTERS.toLocaleString("en");
  return syntax("too-long", "the key is too long", `A key has at most ${most} characters.`, "Shorten it.", span);
}

function complexKey(span: Span): Diagnostic {
  const detail = "Keys are plain words; lists and mappings cannot be keys.";
  return syntax("complex-key", "the key is not a word", detail, "Quote it if text was meant.", span);
}

function escapedKey(span: Span, key: string): Diagnostic {
  const detail = `The escapes hide the key \`${key}\` from readers and from text search.`;
  return syntax("escaped-key", "a key is written with escapes", detail, `Write the key itself: ${key}.`, span);
}

function cutByComment(span: Span): Diagnostic {
  const detail = "In YAML ` #` starts a comment, so the value ends before it.";
  const fix = "Quote the value: with the `#` inside the quotes if it belongs to it, behind them if not.";
  return { code: "value-before-comment", severity: "warning", summary: "the value ends at ` #`", detail, fix, span };
}
