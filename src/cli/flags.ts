/** Arguments: the flags that commands share, and the values that these may have. */

import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ChangedSince, Connection, Consent, ConsentRule, PlanInputs } from "../index.ts";
import type { FleetInput } from "../model/plan.ts";

export interface ProjectFlags {
  readonly env?: string;
  readonly var?: Readonly<Record<string, string>>;
  readonly varFile?: readonly string[];
  readonly skipUnsupported?: boolean;
  /** Not a flag: the variables that a plan file was made with. */
  readonly saved?: PlanInputs["variables"];
}

export interface ConnectionFlags {
  readonly baseUrl?: string;
  readonly tokenFile?: string;
  readonly dialect?: string;
  /** A known service; undefined if a base URL overrides it. */
  readonly service?: string;
  readonly retryFor?: number;
  readonly concurrency?: number;
  /** Not a flag: as in `Connection`, of the worker of a fleet that runs the command. */
  readonly admit?: NonNullable<Connection["admit"]>;
  /** Not a flag: as in `Connection`, of a fleet. */
  readonly pace?: NonNullable<Connection["pace"]>;
}

export interface PlanFlags extends ProjectFlags, ConnectionFlags {
  readonly target?: readonly string[];
  readonly exclude?: readonly string[];
  readonly allow?: readonly Consent[];
  readonly maxChanges?: number;
  /** Seconds. */
  readonly uploadTimeout?: number;
  /** Not a flag, seconds: of a fleet's worker, which takes `uploadTimeout` from whoever asks. As `leastLeaseSeconds` of a plan. */
  readonly leastLease?: number;
  /** Seconds. */
  readonly imageTimeout?: number;
  readonly takeOwnershipFrom?: readonly string[];
  /** true unless --no-clone is given. */
  readonly clone: boolean;
  readonly format: Format;
  readonly full?: boolean;
  readonly neverDestroy?: boolean;
  readonly jsonInto?: string;
  readonly htmlInto?: string;
  /** Not a flag: the account of a fleet that the command is run for. */
  readonly fleet?: FleetInput;
}

/** What narrows a run to a change of the manifests: the flag, or the plan file that is carried out. */
export interface ChangedSinceFlags {
  readonly changedSince?: string;
  /** Not a flag: what the plan file that is carried out was narrowed to; null: nothing. */
  readonly savedChangedSince?: ChangedSince | null;
}

/** What makes a plan of the goal `undo`: a journal, and which of its runs. */
export interface UndoFlags {
  readonly undo?: string;
  /** When the run began, as the journal has it. Absent: the only one. */
  readonly run?: string;
}

export function runFlag(): Option {
  return new Option("--run <time>", "which run of the journal, where it holds several");
}

/** Output for people, for programs, for a pull request, and for a browser. */
export type Format = "text" | "json" | "markdown" | "html";

/** Help of `--changed-since`. */
export const CHANGED_SINCE = "read only what is declared otherwise there";

/** Help of the argument that names a project. */
export const DIRECTORY = "the project's folder or root file (default: here)";

const MAX_CONCURRENCY = 64;
/** API.md, Limits: the service cancels an upload that takes longer. */
const MAX_UPLOAD_TIMEOUT_SECONDS = 86_400;
const MAX_IMAGE_TIMEOUT_SECONDS = 86_400;
const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const RULES: readonly string[] = ["delete", "replace", "bulk", "ns"] satisfies readonly ConsentRule[];

export function addProjectFlags(command: Command): Command {
  return command
    .option("--env <name>", "environment of the root file, for example staging")
    .option("--var <name=value>", "set a variable; repeatable", collectVariables)
    .option("--var-file <file>", "variables as JSON or YAML; repeatable", collect)
    .option("--skip-unsupported", "leave out what the service cannot keep of zone files");
}

/** For commands that look at the account, with a project or without. */
export interface PresentProjectFlags extends ProjectFlags {
  /** A folder or root file; absent: that of the folder where one is, if there is any; false: none. */
  readonly project?: string | false;
}

export function addPresentProjectFlags(command: Command): Command {
  return addProjectFlags(
    command
      .option("--project <dir>", "the project's folder or root file (default: here, if any)")
      .option("--no-project", "look at no project"),
  );
}

export function addConnectionFlags(command: Command): Command {
  command
    .addOption(new Option("--base-url <url>", "the service's address, with /v4").env("TENON_BASE_URL"))
    .addOption(new Option("--token-file <file>", "file that holds the token; else TENON_TOKEN"));
  return addDialectFlags(command)
    .option("--retry-for <time>", "how long to retry passing failures: 30s, 5m", parseDuration)
    .option("--concurrency <n>", "requests at a time (default: 8)", parseConcurrency);
}

/** For commands whose answer depends on the service's words, whether they connect to it or not. */
export function addDialectFlags(command: Command, description = "the service's word for node"): Command {
  return command
    .addOption(new Option("--service <name>", "a known service, by name: linode").env("TENON_SERVICE"))
    .addOption(new Option("--dialect <word>", description).env("TENON_DIALECT"))
    .hook("preAction", (_, action) => setService(action));
}

/**
 * A service implies its base URL and its dialect, and a base URL of a service's host implies its dialect. A flag overrides the environment.
 * A service and a base URL that conflict are an error if both are flags, or both come from the environment.
 * @throws CommanderError, which is printed
 */
async function setService(command: Command): Promise<void> {
  const { SERVICES, serviceAt, serviceCalled } = await import("../index.ts");
  const name = given(command, "service", "TENON_SERVICE");
  const address = given(command, "baseUrl", "TENON_BASE_URL");
  const service = name.value === "" ? null : serviceCalled(name.value);
  if (name.value !== "" && service === null) {
    const known = SERVICES.map((one) => one.name).join(", ");
    command.error(`error: unknown service '${name.value}'. Known services: ${known}.`, { code: UNKNOWN_SERVICE });
  }
  const there = serviceAt(address.value);
  const isOther = service !== null && address.value !== "" && there !== service;
  if (isOther && name.isFlag === address.isFlag) {
    const [both, host] = [`${name.label} and ${address.label}`, new URL(service.baseUrl).host];
    command.error(`error: ${both} conflict: the address is not of ${host}`, { code: CONFLICT });
  }
  const meant = isOther && address.isFlag ? null : service;
  const set = (option: string, value: string | undefined) => command.setOptionValueWithSource(option, value, "implied");
  if (meant === null) set("service", undefined);
  else if (there !== meant) set("baseUrl", meant.baseUrl);
  const dialect = (meant ?? there)?.dialect;
  // A snapshot has its own dialect.
  const hasSnapshot = typeof command.getOptionValue("live") === "string";
  if (dialect !== undefined && !hasSnapshot && !command.getOptionValue("dialect")) set("dialect", dialect);
}

interface Given {
  /** Empty: not given. */
  readonly value: string;
  readonly isFlag: boolean;
  /** The flag or the environment variable that it was given by, for messages. */
  readonly label: string;
}

/** Commands that do not connect have no --base-url, but TENON_BASE_URL counts for them, too. */
function given(command: Command, option: string, variable: string): Given {
  const value = command.getOptionValue(option) ?? process.env[variable];
  const isFlag = command.getOptionValueSource(option) === "cli";
  const flag = option === "baseUrl" ? "--base-url" : `--${option}`;
  return { value: typeof value === "string" ? value.trim() : "", isFlag, label: isFlag ? flag : variable };
}

/** The connection flags that name a service, or apply to one. The dialect is checked once the snapshot is read. */
const SERVICE_FLAGS: Readonly<Record<string, string>> = {
  baseUrl: "--base-url",
  service: "--service",
  tokenFile: "--token-file",
  retryFor: "--retry-for",
  concurrency: "--concurrency",
};

/** The code of Tenon's own CommanderError for options that do not go together. */
export const CONFLICT = "tenon.conflict";

const UNKNOWN_SERVICE = "tenon.unknown-service";

/**
 * `--live FILE` sends nothing, so a flag that names a service beside it is an error. Environment variables are set for all commands, and
 * conflict with none.
 * @throws CommanderError, which is printed
 */
export function refuseServiceBesideLive(command: Command): void {
  if (command.getOptionValue("live") === undefined) return;
  const given = Object.keys(SERVICE_FLAGS).filter((name) => command.getOptionValueSource(name) === "cli");
  if (given.length === 0) return;
  const flags = given.map((name) => SERVICE_FLAGS[name]).join(", ");
  const message = `error: --live and ${flags} conflict: a snapshot is in the service's place, and nothing is sent`;
  command.error(message, { code: CONFLICT });
}

export function addPlanFlags(command: Command): Command {
  return command
    .addOption(fullFlag())
    .option("--target <address>", "only this address and beneath, * globs; repeatable", collect)
    .option("--exclude <address>", "all but this address; repeatable", collect)
    .option("--allow <rule=address>", "consent: delete, replace, bulk, ns; repeatable", collectConsents)
    .option("--max-changes <n>", "refuse a plan with more changes", parseCount)
    .option("--upload-timeout <time>", "give an image upload up after (default: 1h)", parseUploadTimeout)
    .option("--image-timeout <time>", "how long to wait until an image is available (default: 1h)", parseImageTimeout)
    .option("--no-clone", "make each domain by itself, never as a copy")
    .option("--take-ownership-from <owner>", "take over objects of that owner; repeatable", collect);
}

export function neverDestroyFlag(): Option {
  return new Option("--never-destroy", "leave out what would delete or replace, and say what");
}

/** Other commands take `-` for stdout; a plan file there would mix with what a person reads. */
export function planOutFlag(): Option {
  return new Option("--out <file>", "save the plan, as the bound of a later apply").argParser((value: string) => {
    if (value === "-") throw new InvalidArgumentError("Name a file; --format json prints the plan.");
    return value;
  });
}

/** What a person reads stands on stdout. */
export function parseJournal(value: string): string {
  if (value === "-" || value === "") throw new InvalidArgumentError("Name a file.");
  return value;
}

/** Read by `withJsonErrors`. */
export function jsonIntoFlag(): Option {
  return new Option("--json-into <file>", "write the JSON document to a file, too");
}

/** Read by `withPage`. */
export function htmlIntoFlag(): Option {
  return new Option("--html-into <file>", "write the page to a file, too");
}

/** Read by `folding`. */
export function fullFlag(): Option {
  return new Option("--full", "show each change, warning and error by itself");
}

/** @param choices must include text, the default */
export function formatFlag(description: string, choices: readonly Format[] = ["text", "json"]): Option {
  return new Option("--format <format>", description).choices(choices).default("text");
}

/** For commands that print markdown and pages, too. */
export const ALL_FORMATS: readonly Format[] = ["text", "json", "markdown", "html"];

/** Commander passes the values collected so far; undefined at first. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

export function collectVariables(
  value: string,
  previous: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const equals = value.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Write NAME=VALUE.");
  return Object.fromEntries([...Object.entries(previous), [value.slice(0, equals), value.slice(equals + 1)]]);
}

export function collectConsents(value: string, previous: readonly Consent[] = []): Consent[] {
  const equals = value.indexOf("=");
  const rule = value.slice(0, Math.max(equals, 0));
  const address = value.slice(equals + 1);
  if (!isRule(rule) || address === "") {
    throw new InvalidArgumentError("Write RULE=ADDRESS with delete, replace, bulk or ns, as in delete=vpc/legacy.");
  }
  return [...previous, { rule, address, until: null, reason: null, span: null }];
}

function isRule(text: string): text is ConsentRule {
  return RULES.includes(text);
}

export function parseCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError("Write a number, 0 or more.");
  return Number(value);
}

/** RFC 1982: 32 bits. */
const MAX_SERIAL = 4_294_967_295;

export function parseSerial(value: string): number {
  if (!/^\d{1,10}$/.test(value) || Number(value) > MAX_SERIAL)
    throw new InvalidArgumentError(`Write a number from 0 to ${MAX_SERIAL}.`);
  return Number(value);
}

function parseConcurrency(value: string): number {
  const count = parseCount(value);
  if (count < 1 || count > MAX_CONCURRENCY)
    throw new InvalidArgumentError(`Write a number from 1 to ${MAX_CONCURRENCY}.`);
  return count;
}

/** @returns seconds */
export function parseDuration(value: string): number {
  const match = /^(\d{1,6})([smh])?$/.exec(value);
  if (match === null) throw new InvalidArgumentError("Write a time such as 30s, 5m or 1h.");
  return Number(match[1]) * (SECONDS_PER_UNIT[match[2] ?? "s"] ?? 1);
}

export function parseUploadTimeout(value: string): number {
  const seconds = parseDuration(value);
  if (seconds < 1 || seconds > MAX_UPLOAD_TIMEOUT_SECONDS) {
    throw new InvalidArgumentError("Write a time from 1s to 24h: later the service cancels the upload.");
  }
  return seconds;
}

function parseImageTimeout(value: string): number {
  const seconds = parseDuration(value);
  if (seconds < 1 || seconds > MAX_IMAGE_TIMEOUT_SECONDS)
    throw new InvalidArgumentError("Write a time from 1s to 24h.");
  return seconds;
}

// The flags of `drift --watch`.

const MIN_WATCH_SECONDS = 5;
const MAX_WATCH_SECONDS = 86_400;
const MAX_PORT = 65_535;
/** `[::1]:9464`, `127.0.0.1:9464`, `9464`. */
const LISTEN = /^(?:(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9.-]{1,253})):)?(\d{1,5})$/i;

export function parseWatchInterval(value: string): number {
  const seconds = parseDuration(value);
  if (seconds < MIN_WATCH_SECONDS || seconds > MAX_WATCH_SECONDS)
    throw new InvalidArgumentError("Write a time from 5s to 24h.");
  return seconds;
}

/** Where a server is to listen. */
export interface ListenAt {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** Without a host: this machine only. */
export function parseListen(value: string): ListenAt {
  const [matched, ipv6, host, port] = LISTEN.exec(value) ?? [];
  if (matched === undefined || Number(port) > MAX_PORT)
    throw new InvalidArgumentError("Write a port, or a host and a port, such as 9464 or 0.0.0.0:9464.");
  return { host: ipv6 ?? host ?? "127.0.0.1", port: Number(port) };
}

/** @throws CommanderError, which is printed */
export function refuseWatchFlags(command: Command): void {
  const has = (name: string) => command.getOptionValue(name) !== undefined;
  const [folder = ""] = command.args;
  if (has("watch") && /^\d+(ms|s|m|h|d)?$/.test(folder)) {
    const every = `--watch takes no time: write --watch --every ${folder} (from 5s to 24h), or ./${folder} for a folder`;
    command.error(`error: ${every}`, { code: CONFLICT });
  }
  const beside = ["every", "webhook", "serve"].filter(has).map((name) => `--${name}`);
  if (!has("watch")) {
    if (beside.length > 0)
      command.error(`error: ${beside.join(", ")} cannot be used without --watch`, { code: CONFLICT });
    return;
  }
  if (has("live")) {
    command.error("error: --watch and --live conflict: a snapshot does not change", { code: CONFLICT });
  }
  if (has("jsonInto")) {
    command.error("error: --watch and --json-into conflict: news is many lines, and no document", { code: CONFLICT });
  }
  if (has("htmlInto")) {
    command.error("error: --watch and --html-into conflict: news is many lines, and no page", { code: CONFLICT });
  }
  const format = command.getOptionValue("format");
  if (format === "markdown" || format === "html")
    command.error(`error: --watch and --format ${format} conflict: news is text or JSON lines`, { code: CONFLICT });
}

/** What `--out` takes for stdout. */
export const STDOUT = "-";

/** Flags that name a file, and are written, and those that are read. */
const WRITTEN = ["journal", "out", "jsonInto", "htmlInto"];
const READ = ["plan", "live", "tokenFile", "varFile"];

/** What is written last would be all that is there. @throws CommanderError, which is printed */
export function refuseOneFileTwice(command: Command): void {
  const flagOf = new Map(command.options.map((option) => [option.attributeName(), option.long]));
  const taken = new Map<string, string>();
  for (const name of [...READ, ...WRITTEN]) {
    const flag = flagOf.get(name);
    for (const file of [command.getOptionValue(name)].flat()) {
      if (typeof file !== "string" || file === STDOUT || flag == null) continue;
      const place = placeOf(file);
      const other = taken.get(place);
      if (other !== undefined && WRITTEN.includes(name)) {
        command.error(`error: ${other} and ${flag} name the same file`, { code: CONFLICT });
      }
      taken.set(place, flag);
    }
  }
}

/** Where links lead. */
function placeOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // It is not there yet, and perhaps its folder is not.
    const [folder, name] = [dirname(resolve(file)), basename(file)];
    return folder === resolve(file) ? folder : join(placeOf(folder), name);
  }
}

export type FailOn = "refused" | "blocked";

export function failOnFlag(description: string): Option {
  return new Option("--fail-on <what>", description).argParser(parseFailOn);
}

function parseFailOn(value: string): FailOn[] {
  const words = value.split(",").map((word): FailOn => {
    if (word !== "refused" && word !== "blocked") {
      throw new InvalidArgumentError("Write refused, blocked, or both with a comma.");
    }
    return word;
  });
  return [...new Set(words)];
}

// The flags of commands that ask nameservers.

export interface VerifyFlags {
  readonly nameserver?: readonly string[];
  /** Seconds. */
  readonly verifyTimeout?: number;
  readonly delegation?: boolean;
  readonly parent?: readonly string[];
}

/** @param timeout the default, as text for the help */
export function addVerifyFlags(command: Command, timeout: string): Command {
  return command
    .option("--nameserver <host[:port]>", "nameserver to ask instead of the zone's NS; repeatable", collect)
    .option("--verify-timeout <time>", `how long to wait for what is missing (${timeout})`, parseDuration)
    .option("--delegation", "check the delegation at the parent zone, too")
    .option("--parent <host[:port]>", "the parent's server for --delegation; repeatable", collect);
}
