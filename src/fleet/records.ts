/**
 * The records of a fleet's store: what is asked for, which accounts it is asked for, and what became of each. Whoever can write to the store can
 * write anything there: what is read is measured before it is parsed, and has the shape that is described here, or is as good as absent. What is
 * written is held to the same: a record that no reader takes would be waited for in vain.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { JsonSize, MAX_PACE_ENDPOINTS, type SeenLimits } from "../api/index.ts";
import { compiledSchema } from "../files/schemas.ts";
import {
  type FinishedRun,
  type FleetCommand,
  MAX_SCHEDULE_SECONDS,
  type Ran,
  type RunningAccount,
  SHORTER_CHARACTERS,
  type WorkerTotals,
} from "../model/fleet.ts";
import type { JsonObject } from "../model/resource.ts";
import { visibleJson } from "../model/text.ts";
import { escapeText } from "../render/terminal.ts";
import { NAME } from "./schema.ts";
import { type Fence, type FleetStore, MAX_RECORD_OCTETS, RECORD_LIFETIME_MILLISECONDS } from "./store.ts";

/** Flags of a fleet's command that hold for each account, and are no consent: that is the worker's, or the manifest's, to give. */
export interface RequestFlags {
  readonly target?: readonly string[];
  readonly exclude?: readonly string[];
  readonly failOn?: readonly ("refused" | "blocked")[];
  readonly maxChanges?: number;
  /** Seconds. */
  readonly uploadTimeout?: number;
  /** Seconds. */
  readonly imageTimeout?: number;
  readonly clone?: boolean;
  readonly neverDestroy?: boolean;
  readonly strict?: boolean;
  readonly full?: boolean;
  readonly format: "text" | "markdown";
}

/** One command of a fleet that was given, for all its accounts. */
export interface RunRequest {
  readonly command: FleetCommand;
  readonly flags: RequestFlags;
  /** How text is laid out. */
  readonly results: RequestLook;
  readonly messages: RequestLook;
  /** Whether a plan is saved for each account. */
  readonly saves: boolean;
  /** Whether somebody reads the JSON documents: they may be long. */
  readonly documents: boolean;
}

export interface RequestLook {
  /** Columns. */
  readonly width: number;
  readonly colour: boolean;
}

/** Runs that wait for an account, in their order. */
export interface Pending {
  readonly runs: readonly PendingRun[];
}

export interface PendingRun {
  readonly run: string;
  /** Of the account's entry and project, as whoever asked has them. */
  readonly digest: string;
  /** Of the saved plan that bounds the apply; null: there is none. */
  readonly plan: string | null;
  /** When it was asked for: milliseconds since the epoch, by the clock of whoever asked. Shown, and nothing else. */
  readonly at: number;
  /** The span of whoever asked, a `traceparent` of W3C Trace Context; absent: it records none. */
  readonly trace?: string;
}

/** What became of a run for one account. */
export type RunState =
  | { readonly state: "running"; readonly attempts: number; readonly worker: string }
  /** No worker so far has what the run needs. */
  | { readonly state: "refused"; readonly attempts: number; readonly since: number; readonly reason: string }
  | { readonly state: "done"; readonly outcome: Ran; readonly plan: string | null }
  /** The service asked for a long wait, until that time in milliseconds since the epoch; `since` the first of them. */
  | { readonly state: "postponed"; readonly attempts: number; readonly since: number; readonly until: number }
  /** Whoever asked does not want it any more, and it was not begun. */
  | { readonly state: "cancelled" }
  /** Whoever asked has the outcome. */
  | { readonly state: "collected" };

/** A command that is run every so often, or that none is any more. */
export type Schedule = { readonly request: RunRequest; readonly everyMilliseconds: number } | { readonly isOff: true };

/** When a scheduled command was run last. Milliseconds since the epoch. */
export interface ScheduledRun {
  /** 0: never. */
  readonly at: number;
  /** Since when each worker that took the next one has refused it; null: none has. */
  readonly refusedSince: number | null;
}

/** What a worker does for an account now, and did last. */
export interface Activity {
  /** `run`: as in `PendingRun`; null: scheduled. */
  readonly running: (RunningAccount & { readonly run: string | null }) | null;
  readonly last: FinishedRun | null;
}

/** What a worker says of itself. Milliseconds since the epoch. */
export type WorkerRecord = WorkerTotals & {
  readonly since: number;
  readonly alive: number;
  readonly hasEnded: boolean;
};

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;
/** Each is compared with each change of a plan. */
const MAX_ADDRESSES = 200;
const MAX_ADDRESS_CHARACTERS = 1_000;
/** Runs that wait for one account at a time. */
export const MAX_PENDING_RUNS: number = 100;
export const MAX_LINE_CHARACTERS = 10_000;
/** What an account came to, as a status shows it of thousands of accounts at once. */
export const MAX_HEADLINE_CHARACTERS = 500;
/** A worker's name: its host's and its process's. */
const MAX_WORKER_CHARACTERS = 300;
const MAX_SCHEDULE_MILLISECONDS = MAX_SCHEDULE_SECONDS * 1000;
const MAX_COUNT = 1_000_000_000;

/** Of the names that a prefix is claimed by: workers renew them. */
export const NAMES_LIFETIME_MILLISECONDS: number = 30 * DAY_MILLISECONDS;

/** How long a record is kept that nobody writes again; null: for good. */
const LIFETIME_MILLISECONDS: Readonly<Record<keyof Kinds, number | null>> = {
  request: RECORD_LIFETIME_MILLISECONDS,
  pending: RECORD_LIFETIME_MILLISECONDS,
  state: RECORD_LIFETIME_MILLISECONDS,
  // Until somebody ends it.
  schedule: null,
  scheduled: 2 * MAX_SCHEDULE_MILLISECONDS,
  // It is believed for minutes.
  pace: DAY_MILLISECONDS,
  names: NAMES_LIFETIME_MILLISECONDS,
  // What an account came to last is shown, and compared with what it comes to next.
  activity: 3 * MAX_SCHEDULE_MILLISECONDS,
  worker: RECORD_LIFETIME_MILLISECONDS,
};

const addresses: JsonObject = {
  type: "array",
  maxItems: MAX_ADDRESSES,
  items: { type: "string", maxLength: MAX_ADDRESS_CHARACTERS },
};
const count: JsonObject = { type: "integer", minimum: 0, maximum: MAX_COUNT };
/** As the command line takes the time of an upload, and of the wait for an image. */
const timeout: JsonObject = { type: "integer", minimum: 1, maximum: DAY_MILLISECONDS / 1000 };
const flag: JsonObject = { type: "boolean" };
const digest: JsonObject = { type: "string", pattern: "^[0-9a-f]{64}$" };
const runId: JsonObject = { type: "string", pattern: "^[0-9a-f-]{36}$" };
const workerName: JsonObject = { type: "string", maxLength: MAX_WORKER_CHARACTERS };
const line: JsonObject = { type: "string", maxLength: MAX_LINE_CHARACTERS };

/** Every key of these must be there, and no other. */
function exactly(properties: JsonObject): JsonObject {
  return { type: "object", additionalProperties: false, required: Object.keys(properties), properties };
}

const paceWindow: JsonObject = {
  limit: { oneOf: [count, { type: "null" }] },
  remaining: count,
  resetAt: { type: "number" },
};
const MAX_ENDPOINT_CHARACTERS = 200;

const command: JsonObject = { enum: ["validate", "plan", "apply", "drift"] };
const exitCode: JsonObject = { enum: [0, 1, 2, 3, 4, 5, 6, 129, 130, 143] };
const total: JsonObject = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const time: JsonObject = { type: "number", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

const LOOK = exactly({ width: { type: "integer", minimum: 1, maximum: 10_000 }, colour: flag });

const REQUEST = exactly({
  command,
  flags: {
    type: "object",
    additionalProperties: false,
    required: ["format"],
    properties: {
      ...{ target: addresses, exclude: addresses, maxChanges: count, uploadTimeout: timeout, imageTimeout: timeout },
      ...{ clone: flag, neverDestroy: flag, strict: flag, full: flag, format: { enum: ["text", "markdown"] } },
      failOn: { type: "array", maxItems: 2, items: { enum: ["refused", "blocked"] } },
    },
  },
  results: LOOK,
  messages: LOOK,
  saves: flag,
  documents: flag,
});

const OUTCOME_KEYS: JsonObject = {
  type: { const: "ran" },
  code: exitCode,
  headline: line,
  markup: { enum: ["plain", "markdown"] },
  // The record is measured as a whole: to count characters takes as long as to read it once more.
  text: { type: "string" },
  document: { type: ["string", "null"] },
};

const OUTCOME: JsonObject = {
  ...exactly(OUTCOME_KEYS),
  properties: {
    ...OUTCOME_KEYS,
    shorter: { type: "array", maxItems: SHORTER_CHARACTERS.length, items: { type: "string" } },
  },
};

const SHAPES: Readonly<Record<keyof Kinds, JsonObject>> = {
  request: REQUEST,
  pending: exactly({
    runs: {
      type: "array",
      maxItems: MAX_PENDING_RUNS,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["run", "digest", "plan", "at"],
        properties: {
          run: runId,
          digest,
          plan: { oneOf: [digest, { type: "null" }] },
          at: time,
          trace: { type: "string", pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-01$" },
        },
      },
    },
  }),
  state: {
    oneOf: [
      exactly({ state: { const: "running" }, attempts: count, worker: workerName }),
      exactly({ state: { const: "refused" }, attempts: count, since: time, reason: line }),
      exactly({
        ...{ state: { const: "postponed" }, attempts: count },
        ...{ since: time, until: time },
      }),
      exactly({ state: { const: "done" }, outcome: OUTCOME, plan: { oneOf: [digest, { type: "null" }] } }),
      exactly({ state: { enum: ["cancelled", "collected"] } }),
    ],
  },
  schedule: {
    oneOf: [
      exactly({
        request: REQUEST,
        everyMilliseconds: { type: "integer", minimum: 1, maximum: MAX_SCHEDULE_MILLISECONDS },
      }),
      exactly({ isOff: { const: true } }),
    ],
  },
  scheduled: exactly({ at: time, refusedSince: { oneOf: [time, { type: "null" }] } }),
  pace: exactly({
    common: { oneOf: [exactly({ ...paceWindow, isShared: flag }), { type: "null" }] },
    endpoints: {
      type: "array",
      maxItems: MAX_PACE_ENDPOINTS,
      items: exactly({ ...paceWindow, endpoint: { type: "string", maxLength: MAX_ENDPOINT_CHARACTERS } }),
    },
  }),
  names: exactly({ names: { type: "array", maxItems: 10_000, items: { type: "string", pattern: NAME } } }),
  activity: exactly({
    running: {
      oneOf: [
        { type: "null" },
        exactly({ command, worker: workerName, since: time, run: { oneOf: [runId, { type: "null" }] } }),
      ],
    },
    last: {
      oneOf: [
        { type: "null" },
        exactly({
          ...{ command, worker: workerName, at: time, milliseconds: time, code: exitCode },
          ...{ requests: total, throttled: total, headline: { type: "string", maxLength: MAX_HEADLINE_CHARACTERS } },
        }),
      ],
    },
  }),
  worker: exactly({
    ...{ since: time, alive: time, hasEnded: flag },
    ...{ done: total, failed: total, seconds: time, requests: total, throttled: total },
  }),
};

/** By the kind of record. */
export const RECORD_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(SHAPES).map(([kind, shape]) => [kind, { title: `Record of a fleet: ${kind}`, ...shape }]),
);

export interface Kinds {
  readonly request: RunRequest;
  readonly pending: Pending;
  readonly state: RunState;
  readonly schedule: Schedule;
  readonly scheduled: ScheduledRun;
  readonly pace: SeenLimits;
  readonly names: { readonly names: readonly string[] };
  readonly activity: Activity;
  readonly worker: WorkerRecord;
}

/** Of kinds that a status reads by the dozen, of thousands of accounts: the longest has some thirty thousand. */
const MAX_STATUS_OCTETS = 64 * 1024;
/** Ten thousand names, or what was seen of two hundred endpoints. */
const MAX_LIST_OCTETS = 1024 * 1024;
/** Hundreds of addresses of a thousand characters. */
const MAX_REQUEST_OCTETS = 8 * 1024 * 1024;

/** Of a longer record nothing but its length is read from the store. A large one is read alone. */
const MAX_OCTETS: Readonly<Record<keyof Kinds, number>> = {
  request: MAX_REQUEST_OCTETS,
  pending: MAX_STATUS_OCTETS,
  state: MAX_RECORD_OCTETS,
  schedule: MAX_REQUEST_OCTETS,
  scheduled: MAX_STATUS_OCTETS,
  pace: MAX_LIST_OCTETS,
  names: MAX_LIST_OCTETS,
  activity: MAX_STATUS_OCTETS,
  worker: MAX_STATUS_OCTETS,
};

/** The longest record is of 10,000 names; reports are texts. To parse more is what takes memory, and no signal is heard meanwhile. */
const MAX_RECORD_VALUES = 100_000;
/** Of the JSON document that a worker reports: as many as 64 MiB of a plan have, and fewer than its brackets could be. */
const MAX_DOCUMENT_VALUES = 8_000_000;

/** Names are keys in some of them, as many as there are. */
function isFuller(text: string, maxValues: number): boolean {
  return new JsonSize(maxValues, null).take(Buffer.from(text)) !== null;
}

/** Another writer of the same record is met so often at most. */
const MAX_WRITES = 100;
/** The longest pause before the same record is written once more. */
const MAX_PAUSE_MILLISECONDS = 50;

/** A record's value, and the version to write over. */
export interface Found<Value> {
  /** 0: there is no record. */
  readonly version: number;
  /** null: there is none, or none that Tenon would write. */
  readonly value: Value | null;
}

export class Records {
  readonly #store: Pick<FleetStore, "read" | "write">;

  constructor(store: Pick<FleetStore, "read" | "write">) {
    this.#store = store;
  }

  async read<Kind extends keyof Kinds>(kind: Kind, key: string): Promise<Found<Kinds[Kind]>> {
    const stored = await this.#store.read(key, MAX_OCTETS[kind]);
    if (stored === null) return { version: 0, value: null };
    const { version, text } = stored;
    if (text === null || Buffer.byteLength(text) > MAX_OCTETS[kind] || isFuller(text, MAX_RECORD_VALUES))
      return { version, value: null };
    const validate = await validatorOf(kind);
    try {
      const value: Kinds[Kind] = JSON.parse(text);
      return { version, value: validate(value) ? visible(kind, value) : null };
    } catch {
      return { version, value: null };
    }
  }

  /**
   * @returns false: another was faster, or the right is lost
   * @throws an error where `read` would not take the value: a bug of whoever writes it
   */
  async write<Kind extends keyof Kinds>(
    kind: Kind,
    key: string,
    value: Kinds[Kind],
    expected: number,
    fence: Fence | null = null,
  ): Promise<boolean> {
    const text = JSON.stringify(value);
    const problem = await problemOf(kind, value, text);
    if (problem !== null) throw new Error(`A record of the kind ${kind} is not written: ${problem}`);
    return this.#store.write(key, text, expected, fence, LIFETIME_MILLISECONDS[kind]);
  }

  /**
   * Reads, changes and writes, again where another was faster.
   * @param change of what there is, null: nothing that could be read; returns what is written, null: nothing is to be changed
   * @throws an error when others are faster all the time
   */
  async change<Kind extends keyof Kinds>(
    kind: Kind,
    key: string,
    change: (value: Kinds[Kind] | null) => Kinds[Kind] | null,
  ): Promise<void> {
    for (let count = 0; count < MAX_WRITES; count += 1) {
      const { version, value } = await this.read(kind, key);
      const next = change(value);
      if (next === null || (await this.write(kind, key, next, version))) return;
      await sleep(Math.random() * MAX_PAUSE_MILLISECONDS);
    }
    throw new Error(`Others write the record ${key} all the time`);
  }
}

/** Why `Records.write` would not take a value, as `/flags/target must NOT have more than 1000 items`; null: it would. */
export function problemOfRecord<Kind extends keyof Kinds>(kind: Kind, value: Kinds[Kind]): Promise<string | null> {
  return problemOf(kind, value, JSON.stringify(value));
}

async function problemOf(kind: keyof Kinds, value: unknown, text: string): Promise<string | null> {
  const most = MAX_OCTETS[kind];
  if (Buffer.byteLength(text) > most) return `it is longer than ${most.toLocaleString("en")} octets`;
  const validate = await validatorOf(kind);
  if (validate(value)) return null;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath || "/"} ${error?.message ?? "is not valid"}`;
}

function validatorOf(kind: keyof Kinds): ReturnType<typeof compiledSchema> {
  return compiledSchema(RECORD_SCHEMAS[kind] as JsonObject, "first");
}

/**
 * What each kind of record has of texts that are shown, as they may be shown: on a terminal, a page and in a document alike. Others have a pattern, or
 * are compared and not shown; what a run came to is `printable` where it is shown, as it may be long.
 */
const VISIBLE: { readonly [Kind in keyof Kinds]?: (value: Kinds[Kind]) => Kinds[Kind] } = {
  state: (value) => {
    if (value.state === "running") return { ...value, worker: visibleWorker(value.worker) };
    return value.state === "refused" ? { ...value, reason: visibleLine(value.reason) } : value;
  },
  activity: ({ running, last }) => ({
    running: running === null ? null : { ...running, worker: visibleWorker(running.worker) },
    last:
      last === null
        ? null
        : {
            ...last,
            worker: visibleWorker(last.worker),
            headline: visibleCut(last.headline, MAX_HEADLINE_CHARACTERS),
          },
  }),
};

function visible<Kind extends keyof Kinds>(kind: Kind, value: Kinds[Kind]): Kinds[Kind] {
  const change: ((value: Kinds[Kind]) => Kinds[Kind]) | undefined = VISIBLE[kind];
  return change === undefined ? value : change(value);
}

/** An escape is longer than what it stands for, and a record that is read is written again in part. */
function visibleCut(text: string, maxCharacters: number): string {
  return escapeText(text).slice(0, maxCharacters);
}

function visibleLine(text: string): string {
  return visibleCut(text, MAX_LINE_CHARACTERS);
}

function visibleWorker(name: string): string {
  return visibleCut(name, MAX_WORKER_CHARACTERS);
}

const ESCAPE = String.fromCharCode(27);
/** The colours that Tenon writes are the one thing that a report may tell a terminal: others hide text. */
const COLOUR = new RegExp(`(${ESCAPE}\\[(?:[12]|22|3[1236]|39)m)`);
/** What ends a weight, and what ends a colour. */
const ENDS = { weight: `${ESCAPE}[22m`, colour: `${ESCAPE}[39m` };
const NO_COLOUR = `${ESCAPE}[0m`;

const WEIGHT = /\[(?:[12]|22)m$/;
const HUE = /\[3\dm$/;

/** What a worker reported, as it may be printed: whoever can write to the store must be able neither to steer a terminal nor to break a document. */
export function printable(outcome: Ran): Ran {
  const { text, shorter } = outcome;
  const document = isJson(outcome.document) ? visibleJson(withoutTabs(outcome.document)) : null;
  const forms = shorter === undefined ? {} : { shorter: shorter.map(printableText) };
  return { ...outcome, headline: visibleLine(outcome.headline), text: printableText(text), ...forms, document };
}

function printableText(from: string): string {
  const pieces = from.split(COLOUR);
  const text = pieces.map((piece, index) => (index % 2 === 1 ? piece : escapeLines(piece))).join("");
  const signs = pieces.filter((_, index) => index % 2 === 1);
  const last = (kind: RegExp): string | undefined => signs.findLast((sign) => kind.test(sign));
  const isOpen = [last(WEIGHT) ?? ENDS.weight, last(HUE) ?? ENDS.colour].join("") !== ENDS.weight + ENDS.colour;
  return isOpen ? `${text}${NO_COLOUR}` : text;
}

function escapeLines(text: string): string {
  return text.split("\n").map(escapeText).join("\n");
}

/** In JSON they stand between values only, where an escape would be no white space. */
function withoutTabs(document: string): string {
  return document.replace(/[\t\r]/g, " ");
}

function isJson(document: string | null): document is string {
  if (document === null || isFuller(document, MAX_DOCUMENT_VALUES)) return false;
  try {
    return typeof JSON.parse(document) === "object";
  } catch {
    return false;
  }
}

export const FLEET_KEY = "fleet";
export const SCHEDULE_KEY = "schedule";

export function requestKey(run: string): string {
  return `run/${run}`;
}

export function pendingKey(account: string): string {
  return `pending/${account}`;
}

export function stateKey(run: string, account: string): string {
  return `state/${run}/${account}`;
}

export function activityKey(account: string): string {
  return `activity/${account}`;
}

/** @param name of the worker; the record is found by the name as it is, and as it is shown */
export function workerKey(name: string): string {
  return `worker/${visibleWorker(name)}`;
}

export function scheduledKey(account: string): string {
  return `scheduled/${account}`;
}

/** @param digest of the token (`tokenDigestOf`) */
export function paceKey(digest: string): string {
  return `pace/${digest}`;
}
