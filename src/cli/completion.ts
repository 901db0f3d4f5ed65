/** What could stand in the place of the word that is being typed: commands, flags, their values, and what the project declares. */

import type { Argument, Command, Option } from "commander";
import { NEUTRAL_DIALECT } from "../index.ts";
import { isPlainlyVisible } from "../render/terminal.ts";

export interface Completions {
  /** What a shell offers beside the candidates, or where there are none. */
  readonly paths: "files" | "dirs" | "none";
  readonly candidates: readonly Candidate[];
}

interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** More could not be chosen from. */
const MAX_CANDIDATES = 1_000;
/** A longer word is not offered: no command line is written with it. */
const MAX_CANDIDATE_CHARACTERS = 300;
const MAX_DESCRIPTION_CHARACTERS = 80;

const NOTHING: Completions = { paths: "none", candidates: [] };

/**
 * @param before the words of the command line so far, without `tenon`
 * @param current the beginning of the word that is being typed; empty: nothing of it
 */
export async function complete(program: Command, before: readonly string[], current: string): Promise<Completions> {
  const found = await completionsOf(walk(program, before), current);
  const fitting = found.candidates.filter(
    ({ value }) =>
      value.startsWith(current) &&
      value.length <= MAX_CANDIDATE_CHARACTERS &&
      !value.includes("\n") &&
      isPlainlyVisible(value),
  );
  return { paths: found.paths, candidates: fitting.slice(0, MAX_CANDIDATES) };
}

/** Where in the command line the next word stands. */
interface Position {
  readonly command: Command;
  /** Names of commands from the program's: `zone export`. */
  readonly name: string;
  readonly positionals: readonly string[];
  /** Values of the options so far, by their long names. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** The option whose value comes next. */
  readonly option: Option | null;
  /** `--` has ended the options. */
  readonly isOperand: boolean;
}

function walk(program: Command, words: readonly string[]): Position {
  let command = program;
  let option: Option | null = null;
  let isOperand = false;
  const [names, positionals, given] = [[] as string[], [] as string[], new Map<string, string[]>()];
  for (const word of words) {
    if (option !== null) {
      given.set(option.long ?? "", [...(given.get(option.long ?? "") ?? []), word]);
      option = null;
    } else if (!isOperand && word === "--") isOperand = true;
    else if (!isOperand && word.startsWith("-")) {
      const [flag = "", value] = split(word);
      const known = command.options.find(({ long, short }) => flag === long || flag === short);
      if (known === undefined) continue;
      if (value !== null) given.set(known.long ?? "", [...(given.get(known.long ?? "") ?? []), value]);
      else if (known.required) option = known;
    } else {
      const inner = positionals.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (inner === undefined) positionals.push(word);
      else {
        command = inner;
        names.push(word);
      }
    }
  }
  return { command, name: names.join(" "), positionals, given, option, isOperand };
}

/** @returns the value is null if the word has none */
function split(word: string): [flag: string, value: string | null] {
  const equals = word.indexOf("=");
  return equals === -1 ? [word, null] : [word.slice(0, equals), word.slice(equals + 1)];
}

async function completionsOf(position: Position, current: string): Promise<Completions> {
  const { command, option, positionals, isOperand } = position;
  if (option !== null) return valuesOf(option, position, current);
  if (!isOperand && current.startsWith("--") && current.includes("=")) {
    const [flag, value] = split(current);
    const known = command.options.find(({ long }) => long === flag);
    if (known === undefined) return NOTHING;
    const { paths, candidates } = await valuesOf(known, position, value ?? "");
    return { paths, candidates: candidates.map((one) => ({ ...one, value: `${flag}=${one.value}` })) };
  }
  if (!isOperand && current.startsWith("-")) return { paths: "none", candidates: flagsOf(command) };
  if (positionals[0] === HELP && command.parent === null) {
    const { command: asked } = walk(command, positionals.slice(1));
    return { paths: "none", candidates: commandsOf(asked) };
  }
  if (command.commands.length > 0 && positionals.length === 0)
    return { paths: "none", candidates: commandsOf(command) };
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[positionals.length] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? NOTHING : valuesOf(argument, position, current);
}

/** The command that shows the help of the commands named behind it. */
const HELP = "help";

function commandsOf(command: Command): Candidate[] {
  return command.commands.map((inner) => ({ value: inner.name(), description: describe(inner.summary()) }));
}

function flagsOf(command: Command): Candidate[] {
  const own = command.options.filter(({ hidden }) => !hidden);
  return [
    ...own.map(({ long, flags, description }) => ({ value: long ?? flags, description: describe(description) })),
    { value: "--help", description: "display help for command" },
  ];
}

function describe(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, MAX_DESCRIPTION_CHARACTERS);
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, description: "" }));
}

// The values of options and arguments.

type Source = (position: Position, current: string) => Promise<readonly Candidate[]>;

/** By the long name of an option, or command and name of an argument; what belongs to one command alone has that before it. */
const SOURCES: Readonly<Record<string, Source>> = {
  "--env": environments,
  "--target": addresses,
  "--exclude": addresses,
  "--allow": consents,
  "--service": async () => plain((await import("../index.ts")).SERVICES.map(({ name }) => name)),
  "--domain": (position, current) => names("domain", position, current),
  "--vpc": (position, current) => names("vpc", position, current),
  "show what": addresses,
  "output address": addresses,
  "zone export name": (position, current) => names("domain", position, current),
  "explain what": fieldsAndCodes,
  "undo journal": journals,
  "--undo": journals,
  "completion shell": async () => plain((await import("./completion-scripts.ts")).SHELLS),
};

async function valuesOf(of: Option | Argument, position: Position, current: string): Promise<Completions> {
  const choices = of.argChoices;
  if (choices !== undefined) return { paths: "none", candidates: plain(choices) };
  const isOption = "flags" in of;
  const source = SOURCES[isOption ? (of.long ?? "") : `${position.name} ${of.name()}`];
  const candidates = source === undefined ? [] : await source(position, current);
  return { paths: pathsOf(isOption ? of.flags : of.name(), position, of), candidates };
}

/** By what stands in the place of the value in the help. */
function pathsOf(text: string, { name, given }: Position, of: Option | Argument): Completions["paths"] {
  if (name === "show" && !("flags" in of)) return given.has("--expanded") ? "dirs" : "files";
  const word = /[<[]([^>\]]*)[>\]]/.exec(text)?.[1] ?? text;
  if (/\bdir\b/.test(word)) return "dirs";
  return /\b(file|path|journal)\b/.test(word) && !/^(name|url)/.test(word) ? "files" : "none";
}

/** The manifests that the command line is about, as far as it says that by now. */
async function loadAbout({ command, positionals, given }: Position, environment?: string) {
  const { load } = await import("./project.ts");
  const at = command.registeredArguments.findIndex((argument) => argument.name() === "dir");
  const directory = given.get("--project")?.at(-1) ?? (at === -1 ? undefined : positionals[at]);
  const variables = (given.get("--var") ?? []).flatMap((text): [string, string][] => {
    const [name, value] = split(text);
    return value === null ? [] : [[name, value]];
  });
  const env = environment ?? given.get("--env")?.at(-1);
  const flags = {
    ...(env === undefined ? {} : { env }),
    ...{ var: Object.fromEntries(variables), varFile: given.get("--var-file") ?? [], skipUnsupported: true },
  };
  return load(directory, flags, NEUTRAL_DIALECT);
}

/** At most so many are tried where the command line names none, and variables have no value without. */
const MAX_TRIED_ENVIRONMENTS = 3;

async function declared(position: Position): Promise<readonly string[]> {
  const { declaredAddresses } = await import("../index.ts");
  const first = await loadAbout(position);
  if (first.project !== null) return declaredAddresses(first.project.desired);
  if (position.given.has("--env")) return [];
  for (const name of first.environments.slice(0, MAX_TRIED_ENVIRONMENTS)) {
    const { project } = await loadAbout(position, name);
    if (project !== null) return declaredAddresses(project.desired);
  }
  return [];
}

async function environments(position: Position): Promise<readonly Candidate[]> {
  return plain((await loadAbout(position)).environments);
}

/** What is in a network or zone comes once the word names that. */
async function addresses(position: Position, current: string): Promise<readonly Candidate[]> {
  const all = await declared(position);
  return plain(all.filter((address) => isRoot(address) || current.startsWith(`${address.split("/", 2).join("/")}/`)));
}

function isRoot(address: string): boolean {
  return address.split("/", 3).length === 2;
}

const RULES = ["delete", "replace", "bulk", "ns"];

async function consents(position: Position, current: string): Promise<readonly Candidate[]> {
  const [rule, address] = split(current);
  if (address === null) return plain(RULES.map((word) => `${word}=`));
  return (await addresses(position, address)).map((one) => ({ ...one, value: `${rule}=${one.value}` }));
}

async function names(kind: "vpc" | "domain", position: Position, _: string): Promise<readonly Candidate[]> {
  const { nameInAddress } = await import("../model/resource.ts");
  const all = await declared(position);
  return plain(all.filter(isRoot).flatMap((address) => nameInAddress(address, kind) ?? []));
}

/** The codes of errors come with the first letter: there are hundreds. */
async function fieldsAndCodes(position: Position, current: string): Promise<readonly Candidate[]> {
  const found = await fields(position, current);
  if (current === "" || current.includes(".")) return found;
  const { readPackageFile } = await import("../files/package-files.ts");
  const messages: object = JSON.parse(readPackageFile("schemas/messages.json"));
  return [...found, ...plain(Object.keys(messages))];
}

async function journals(): Promise<readonly Candidate[]> {
  const { journalsBelow } = await import("./undo-journal.ts");
  return plain(journalsBelow(""));
}

/** One level below what the word has up to its last dot. */
async function fields(_: Position, current: string): Promise<readonly Candidate[]> {
  const { readPackageFile } = await import("../files/package-files.ts");
  const { explainField } = await import("../render/explain.ts");
  const above = current.slice(0, Math.max(0, current.lastIndexOf(".")));
  const found = explainField(JSON.parse(readPackageFile("schemas/manifest.schema.json")), above);
  if (!found.ok) return [];
  const known = found.explanation.fields.filter(({ name }) => !name.startsWith("<"));
  return known.map(({ name, description }) => ({
    value: above === "" ? name : `${above}.${name}`,
    description: describe(description),
  }));
}
