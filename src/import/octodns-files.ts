/** Finds the files in which octoDNS keeps zones: `ZONE.yaml`, `ZONE./NAME.yaml` for split zones, or as its configuration says. */

import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type * as YamlLibrary from "yaml";
import type { Document, Node, Pair } from "yaml";
import { isPrivate, isWithin } from "../files/paths.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { MAX_HASHED_CHARACTERS } from "../model/map-key.ts";
import { compareText } from "../model/text.ts";
import type { Collected } from "./collect.ts";
import { foreignJson, noFile, readSource, type SourceText, unreadable, zoneName } from "./zone-files.ts";

/** The most files in one folder. */
const MAX_FILES = 20_000;

interface ZoneFile {
  readonly path: string;
  /** Seconds, for records without a TTL; null: none is configured. */
  readonly defaultTtl: number | null;
}

/** A zone with its files: one, or in a split zone one for each name. */
export interface OctodnsZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  readonly files: readonly ZoneFile[];
}

/** A file, or a split zone's folder that is a link. Its name is that of a zone, or is meant to be. */
interface Listed {
  readonly name: string;
  readonly path: string;
  readonly isSplit: boolean;
  readonly isLink: boolean;
}

export class OctodnsFiles {
  readonly #collected: Collected;
  readonly #yaml: Yaml;
  /** Texts that were read already, to see whether they are configurations. */
  readonly #texts: Map<string, SourceText> = new Map();
  readonly #configs: Map<string, OctodnsConfig | null> = new Map();
  /** Configuration and `directory` of a provider → folder. */
  readonly #folders: Map<string, string | null> = new Map();
  /** Zone → absolute path → file: a zone's file may be named twice, by itself and through a configuration. */
  readonly #zones: Map<string, Map<string, ZoneFile>> = new Map();

  constructor(collected: Collected, yaml: Yaml) {
    this.#collected = collected;
    this.#yaml = yaml;
  }

  /** In the order of their names. A zone that was named twice is listed once. */
  zones(): OctodnsZone[] {
    return [...this.#zones]
      .map(([zone, files]) => ({ zone, files: [...files.values()] }))
      .sort((a, b) => compareText(a.zone, b.zone));
  }

  async text(path: string): Promise<SourceText> {
    const known = this.#texts.get(path) ?? (await readSource(path, path, this.#collected.sources));
    this.#texts.set(path, known);
    return known;
  }

  /** @param path a folder, a configuration, or the file of a zone */
  async find(path: string): Promise<void> {
    const status = await stat(path).catch(() => null);
    if (status === null) this.#collected.report(unreadable(path, noFile("there is no such file")));
    else if (status.isDirectory()) await this.#findIn(path, null);
    else {
      const source = await this.text(path);
      const foreign = source.ok ? foreignJson(path, source.text) : null;
      if (foreign !== null) {
        this.#collected.report(foreign);
        return;
      }
      const config = await this.#configOf(path);
      if (config === null) this.#add(nameOf(path), { path, defaultTtl: null });
      else await this.#findByConfig(path, config);
    }
  }

  async #findByConfig(path: string, config: OctodnsConfig): Promise<void> {
    const providers = config.providers.filter(({ directory }) => directory !== null);
    if (providers.length === 0) this.#collected.report(noFolder(path, config));
    // Many providers may name one folder, by many names where there are links; it is looked through once.
    const folders = new Map<string, { readonly folder: string; readonly defaultTtl: number | null }>();
    for (const provider of providers) {
      const folder = await this.#folderOf(path, provider.directory ?? "");
      if (folder === null) {
        this.#collected.report(missingFolder(provider, config));
        continue;
      }
      const real = await realpath(folder);
      const known = folders.get(real);
      folders.set(real, {
        folder: known?.folder ?? folder,
        defaultTtl: known?.defaultTtl ?? provider.defaultTtl,
      });
    }
    for (const { folder, defaultTtl } of folders.values()) await this.#findIn(folder, defaultTtl);
  }

  async #folderOf(config: string, directory: string): Promise<string | null> {
    const key = JSON.stringify([config, directory]);
    const known = this.#folders.get(key);
    if (known !== undefined) return known;
    const found = await folderOf(config, directory);
    this.#folders.set(key, found);
    return found;
  }

  /** The default TTL of the provider that keeps its zones in the folder, or of the only provider. */
  async #ttlFor(folder: string, path: string, { providers }: OctodnsConfig): Promise<number | null> {
    const real = await realpath(folder);
    const reals = new Map<string, string>();
    for (const { directory, defaultTtl } of providers) {
      const found = directory === null ? null : await this.#folderOf(path, directory);
      if (found === null) continue;
      const known = reals.get(found) ?? (await realpath(resolve(found)));
      reals.set(found, known);
      if (known === real) return defaultTtl;
    }
    return providers.length === 1 ? (providers[0]?.defaultTtl ?? null) : null;
  }

  /** @param given the default TTL of a configuration elsewhere; null: none was read */
  async #findIn(folder: string, given: number | null): Promise<void> {
    const listed = await list(folder).catch(() => null);
    if (listed === null || listed.length > MAX_FILES) {
      this.#collected.report(listed === null ? unreadable(folder, noFile("it cannot be read")) : tooMany(folder));
      return;
    }
    const files: Listed[] = [];
    let defaultTtl = given;
    for (const one of listed) {
      if (one.isLink) {
        this.#remark(
          one.path,
          "is a symbolic link and is left out; import the file that it leads to by its own name",
          null,
        );
        continue;
      }
      const config = one.isSplit ? null : await this.#configOf(one.path);
      if (config !== null) {
        const found = await this.#ttlFor(folder, one.path, config);
        this.#remark(one.path, configured(found), config);
        defaultTtl ??= found;
      } else if (/^\.|^[^.]*$/.test(one.name)) this.#remark(one.path, "is named after no zone and is left out", null);
      else files.push(one);
    }
    for (const { name, path } of files) this.#add(name, { path, defaultTtl });
  }

  #remark(file: string, detail: string, config: OctodnsConfig | null): void {
    this.#collected.remark({ file, what: "", detail, span: config?.span ?? null });
  }

  async #configOf(path: string): Promise<OctodnsConfig | null> {
    const known = this.#configs.get(path);
    if (known !== undefined) return known;
    const config = await this.#readConfigOf(path);
    this.#configs.set(path, config);
    return config;
  }

  async #readConfigOf(path: string): Promise<OctodnsConfig | null> {
    const source = await this.text(path);
    if (!source.ok || !maybeConfig(source.text)) return null;
    const read = readYaml(source.text, path, this.#yaml);
    return read.ok ? readConfig(read.value) : null;
  }

  #add(name: string, file: ZoneFile): void {
    const zone = zoneName(name);
    if (zone === null) {
      this.#collected.report(notZone(file.path));
      return;
    }
    const files = this.#zones.get(zone) ?? new Map<string, ZoneFile>();
    const real = resolve(file.path);
    const known = files.get(real);
    files.set(real, { path: known?.path ?? file.path, defaultTtl: known?.defaultTtl ?? file.defaultTtl });
    this.#zones.set(zone, files);
  }
}

/** A symbolic link is listed, but not followed: the checkout may be hostile. */
async function list(folder: string): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (isZoneFile(entry)) listed.push({ name: nameOf(path), path, isSplit: false, isLink: entry.isSymbolicLink() });
    if (!entry.name.endsWith(".")) continue;
    if (entry.isSymbolicLink()) listed.push({ name: entry.name, path, isSplit: true, isLink: true });
    if (!entry.isDirectory()) continue;
    for (const inner of (await entriesOf(path)).filter(isZoneFile)) {
      const isLink = inner.isSymbolicLink();
      listed.push({ name: entry.name, path: join(path, inner.name), isSplit: true, isLink });
    }
  }
  return listed;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await readdir(folder, { withFileTypes: true })).sort((a, b) => compareText(a.name, b.name));
}

function isZoneFile(entry: Dirent): boolean {
  return (entry.isFile() || entry.isSymbolicLink()) && /\.ya?ml$/.test(entry.name);
}

/**
 * Resolves `directory` against the working folder, the configuration's folder and the folder above that: octoDNS is run at the top of a
 * project, and the configuration may lie one folder below. Folders elsewhere are not looked at, as the configuration may be hostile.
 */
async function folderOf(config: string, directory: string): Promise<string | null> {
  const beside = resolve(dirname(config));
  const candidates = [
    [directory, process.cwd()],
    [join(beside, directory), beside],
    [join(beside, "..", directory), join(beside, "..")],
  ] as const;
  for (const [candidate, root] of candidates) {
    const real = isWithin(resolve(candidate), root) ? await realpath(candidate).catch(() => null) : null;
    if (real === null || !isWithin(real, await realpath(root)) || isPrivate(real, await realpath(root))) continue;
    if ((await stat(real)).isDirectory()) return candidate;
  }
  return null;
}

function configured(defaultTtl: number | null): string {
  const more = defaultTtl === null ? "" : `; records without a ttl get its default_ttl, ${defaultTtl}`;
  return `is octoDNS's configuration and no zone${more}`;
}

function nameOf(file: string): string {
  return basename(file).replace(/\.ya?ml$/, "");
}

function problem(code: string, summary: string, detail: string, fix: string): Diagnostic {
  return { code, severity: "error", summary, detail, fix };
}

function notZone(file: string): Diagnostic {
  const detail =
    "octoDNS names a file after its zone, as in example.com.yaml; names of domains have letters, digits and hyphens alone.";
  return problem("unknown-zone", `which zone is ${file}?`, detail, "Rename it, or name the zones' files one by one.");
}

function noFolder(file: string, { span }: OctodnsConfig): Diagnostic {
  const detail = "None of its providers is a octodns.provider.yaml.YamlProvider with a `directory`.";
  const fix = "Name the folder that holds the zones.";
  return { ...problem("no-zones", `${file} names no folder of zones`, detail, fix), span };
}

function missingFolder({ name, directory }: YamlProvider, { span }: OctodnsConfig): Diagnostic {
  const detail = `\`directory\` of the provider \`${name}\` is found neither within this folder nor beside the configuration; what lies elsewhere is not looked at.`;
  const fix = "Run the import where octoDNS is run, or name the folder that holds the zones itself.";
  return { ...problem("unreadable-file", `there is no folder ${directory}`, detail, fix), span };
}

function tooMany(folder: string): Diagnostic {
  return problem("too-many-files", `too many files in ${folder}`, "", "Import it in parts.");
}

// octoDNS's own configuration: the folders of its zones, and the TTL of records that state none.

/** A provider that keeps zones in YAML files. */
interface YamlProvider {
  readonly name: string;
  /** As written in the configuration; null: absent. */
  readonly directory: string | null;
  /** Seconds; null: absent. */
  readonly defaultTtl: number | null;
}

interface OctodnsConfig {
  readonly providers: readonly YamlProvider[];
  readonly span: Span;
}

const YAML_PROVIDER = /^octodns\.provider\.yaml\.(Split)?YamlProvider$/;

/** A quick check whether a text may be a configuration, before it is parsed. */
function maybeConfig(text: string): boolean {
  return /^(["']?)providers\1[ \t]*:/m.test(text) && /^(["']?)zones\1[ \t]*:/m.test(text);
}

/** @returns null if the file is no configuration. A zone may have records named `providers` and `zones`, but records have a type. */
function readConfig(value: Value): OctodnsConfig | null {
  if (value.kind !== "map") return null;
  const providers = value.entries.get("providers");
  const zones = value.entries.get("zones");
  if (providers?.value.kind !== "map" || zones?.value.kind !== "map") return null;
  if (textAt(providers.value, "type") !== null || textAt(zones.value, "type") !== null) return null;
  const found = [...providers.value.entries].flatMap(([name, { value: provider }]): YamlProvider[] => {
    if (!YAML_PROVIDER.test(textAt(provider, "class") ?? "")) return [];
    return [{ name, directory: textAt(provider, "directory"), defaultTtl: secondsAt(provider, "default_ttl") }];
  });
  return { providers: found, span: providers.span };
}

function textAt(value: Value, key: string): string | null {
  const found = value.kind === "map" ? value.entries.get(key)?.value : undefined;
  return found?.kind === "text" && found.text !== "" ? found.text : null;
}

/** @returns null if the key is absent, or its value is no number: octoDNS takes `env/NAME` from its environment */
function secondsAt(value: Value, key: string): number | null {
  const text = textAt(value, key);
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

// The YAML of octoDNS: every scalar as its text, every node with its span.

type Yaml = typeof YamlLibrary;

/** octoDNS needs about six levels. */
const MAX_NESTING_DEPTH = 32;
/** Nodes of one file, those behind aliases counted each time: 12,000 records have fewer. */
const MAX_NODES = 1_000_000;
/** Words, marks and blanks of one file, each of which is kept until its node is made: 12,000 records have some 300,000. */
const MAX_LEXEMES = 2_000_000;
/** Characters of the texts of one file, those behind aliases counted each time. */
const MAX_CHARACTERS: number = 64 * 1024 * 1024;
/**
 * Characters of a number, signs and underscores included. Converting digits takes quadratic time, and aliases repeat it; a TTL has about
 * ten.
 */
export const MAX_NUMBER_CHARACTERS = 40;

/** A node with aliases followed and merge keys merged. */
export type Value =
  /** `plain`: without quotes, so that YAML 1.1 may read it as something other than a text. */
  | { readonly kind: "text"; readonly text: string; readonly plain: boolean; readonly span: Span }
  | { readonly kind: "list"; readonly items: readonly Value[]; readonly span: Span }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Entry>; readonly span: Span };

export interface Entry {
  /** The span of its key. */
  readonly span: Span;
  readonly value: Value;
}

type ReadYaml =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export function readYaml(text: string, file: string, yaml: Yaml): ReadYaml {
  const document = compose(text, yaml);
  if (typeof document === "string")
    return { ok: false, diagnostics: [badYaml(document, "", { file, start: 0, end: 1 })] };
  if (document.errors.length > 0) {
    const diagnostics = document.errors.map(({ message, pos }) =>
      badYaml("the YAML cannot be read", message, { file, start: pos[0], end: pos[1] }),
    );
    return { ok: false, diagnostics };
  }
  try {
    return { ok: true, value: new Conversion(document, file, yaml).value(document.contents) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, diagnostics: [badYaml(error.message, "", error.span)] };
  }
}

function badYaml(summary: string, detail: string, span: Span): Diagnostic {
  return { code: "bad-octodns", severity: "error", summary, detail, fix: "Correct the file.", span };
}

/**
 * Composes token by token, to stop as soon as the nesting is too deep, which takes the library quadratic time, or as there are too many values,
 * each of which takes a hundred times its characters.
 * @returns a text: why it is refused
 */
function compose(text: string, yaml: Yaml): Document.Parsed | string {
  const composer = new yaml.Composer({
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const parser = new yaml.Parser();
  let first: Document.Parsed | null = null;
  const feed = (tokens: Iterable<YamlLibrary.CST.Token>): void => {
    for (const token of tokens) for (const document of composer.next(token)) first ??= document as Document.Parsed;
  };
  let lexemes = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > MAX_LEXEMES) return "the file has too many values";
    feed(parser.next(lexeme));
    if (parser.stack.length > MAX_NESTING_DEPTH) return "nested too deep";
  }
  feed(parser.end());
  for (const document of composer.end(true, text.length)) first ??= document as Document.Parsed;
  return first ?? "the file has no document";
}

/** Stops reading a file whose YAML octoDNS might accept, but this importer does not. */
class Refusal extends Error {
  readonly span: Span;

  constructor(message: string, span: Span) {
    super(message);
    this.span = span;
  }
}

/**
 * The name that octoDNS makes of a key: it reads the key as YAML 1.1, and takes Python's `str()` of the value in lower case. So `null:` is
 * the name `none`, `yes:` is `true` and `010:` is `8`. A key in quotes is taken as it is.
 */
function keyText({ value, type }: YamlLibrary.Scalar): string {
  const text = String(value);
  if (type !== "PLAIN") return text;
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return "none";
  if (/^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/.test(text)) return "true";
  if (/^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/.test(text)) return "false";
  return plainNumber(text) ?? text;
}

/**
 * A plain scalar that YAML 1.1 reads as a number, as Python's `str()` writes it: `010` is `8`, `1:30` is `90`, `1.10` is `1.1`.
 * @returns null if the scalar is no number
 */
export function plainNumber(text: string): string | null {
  if (text.length > MAX_NUMBER_CHARACTERS) return null;
  const [, sign = "", written = ""] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  const number = unsigned(written.replaceAll("_", ""), written);
  return number === null ? null : `${sign === "-" && number !== "0" ? "-" : ""}${number}`;
}

function unsigned(digits: string, written: string): string | null {
  if (/^0[0-7_]+$/.test(written)) return BigInt(`0o${digits}`).toString();
  if (/^(?:0x[0-9a-fA-F_]+|0b[01_]+|0|[1-9][0-9_]*)$/.test(written)) return BigInt(digits).toString();
  if (/^[1-9][0-9_]*(?::[0-5]?[0-9])+$/.test(written))
    return String(digits.split(":").reduce((sum, part) => sum * 60 + Number(part), 0));
  if (/^[0-9][0-9_]*\.[0-9_]*$/.test(written)) {
    const value = Number(digits);
    return Number.isInteger(value) ? `${value}.0` : String(value);
  }
  return null;
}

class Conversion {
  readonly #anchors: Map<string, Node> = new Map();
  readonly #open: Set<Node> = new Set();
  readonly #document: Document;
  readonly #file: string;
  readonly #yaml: Yaml;
  #nodes = 0;
  #characters = 0;

  constructor(document: Document, file: string, yaml: Yaml) {
    this.#document = document;
    this.#file = file;
    this.#yaml = yaml;
  }

  value(node: Node | null): Value {
    const yaml = this.#yaml;
    this.#nodes += 1;
    if (node === null) return { kind: "text", text: "", plain: true, span: this.#span(this.#document.contents) };
    const span = this.#span(node);
    if (this.#nodes > MAX_NODES) throw new Refusal("the file has too many values", span);
    if (yaml.isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined || this.#open.has(target)) throw new Refusal(`unknown alias *${node.source}`, span);
      return this.value(target);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !node.tag.startsWith("tag:yaml.org,2002:")) {
      throw new Refusal(`the tag ${node.tag} is not supported`, span);
    }
    if (yaml.isScalar(node)) {
      const text = String(node.value);
      this.#characters += text.length;
      if (this.#characters > MAX_CHARACTERS) throw new Refusal("the file has too long texts behind its aliases", span);
      return { kind: "text", text, plain: node.type === "PLAIN", span };
    }
    this.#open.add(node);
    const value: Value = yaml.isSeq(node)
      ? { kind: "list", items: node.items.map((item) => this.value(item as Node)), span }
      : { kind: "map", entries: this.#entries((node as YamlLibrary.YAMLMap).items as Pair<Node, Node | null>[]), span };
    this.#open.delete(node);
    return value;
  }

  #entries(pairs: readonly Pair<Node, Node | null>[]): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    const merged: Value[] = [];
    for (const { key, value } of pairs) {
      const span = this.#span(key);
      if (!this.#yaml.isScalar(key)) throw new Refusal("a key is not a word", span);
      const name = keyText(key as YamlLibrary.Scalar);
      if (name.length > MAX_HASHED_CHARACTERS) throw new Refusal("a key is too long", span);
      const converted = this.value(value);
      if (name === "<<")
        for (const item of converted.kind === "list" ? converted.items : [converted]) merged.push(item);
      else if (entries.has(name)) throw new Refusal(`${name === "" ? "the apex" : `\`${name}\``} is there twice`, span);
      else entries.set(name, { span, value: converted });
    }
    for (const value of merged) {
      if (value.kind !== "map") continue;
      for (const [name, entry] of value.entries) if (!entries.has(name)) entries.set(name, entry);
    }
    return entries;
  }

  #span(node: Node | null): Span {
    const [start, end] = node?.range ?? [0, 0];
    return { file: this.#file, start, end };
  }
}
