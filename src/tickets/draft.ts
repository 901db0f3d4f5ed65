/**
 * Drafts: what a plan shows as blocked, or an apply has reported as failed, as the text of a ticket with request, time and ids. It is made of
 * files that Tenon wrote, which hold no token. Pure.
 */

import type { Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject, rootOf } from "../model/resource.ts";
import { blockText } from "../render/blocks.ts";
import { escapeText } from "../render/terminal.ts";
import { parsePlanFile, type SavedPlan } from "../saved/plan-file.ts";
import { sizeOf } from "../saved/read-json.ts";
import type { Entity } from "./entity.ts";
import { MAX_DESCRIPTION_CHARACTERS, MAX_SUMMARY_CHARACTERS, type TicketText } from "./text.ts";

export interface TicketDraft extends TicketText {
  /** The one VPC or domain that it is about, if there is only one and its id is known. */
  readonly entity: Entity | null;
}

export type DraftResult =
  | { readonly ok: true; readonly draft: TicketDraft }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface DraftContext {
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
}

/** At most this many failures and blocked changes are described; the rest is counted. */
const MAX_ITEMS = 20;
/** What an apply of some hundred thousand changes reports. */
const MAX_DRAFT_VALUES = 4_000_000;
/** Of one value that a file holds. */
const MAX_VALUE_CHARACTERS = 500;

/**
 * @param text a plan file, the lines of `apply --format json` (or the last of them, the report), or a journal
 * @returns the draft, or a diagnostic: `draft-empty`, `draft-foreign`, or one of a plan file
 */
export async function draftTicket(text: string, context: DraftContext): Promise<DraftResult> {
  const lines = linesOf(text);
  if (lines === null) return TOO_FULL;
  if (lines.some(isKnownLine)) return compose(readLines(lines), context);
  const parsed = text.includes('"resource_changes"') ? await parsePlanFile(text) : FOREIGN;
  return parsed.ok ? compose(readPlan(parsed.plan), context) : parsed;
}

const FOREIGN: { ok: false; diagnostic: Diagnostic } = {
  ok: false,
  diagnostic: {
    code: "draft-foreign",
    severity: "error",
    summary: "the file is neither a plan nor what an apply reported",
    detail: "A ticket is drafted from a plan file, the output of `tenon apply --format json`, or a journal.",
    fix: "Name a file of `tenon plan --out FILE`, or the journal that the apply named.",
  },
};

const TOO_FULL: typeof FOREIGN = {
  ...FOREIGN,
  diagnostic: {
    ...FOREIGN.diagnostic,
    summary: "the file has more values than any that a ticket is drafted from",
    detail: `Tenon reads ${MAX_DRAFT_VALUES.toLocaleString("en")}.`,
  },
};

const NOTHING: Diagnostic = {
  code: "draft-empty",
  severity: "error",
  summary: "nothing in the file has failed or is blocked",
  detail: "There is nothing to write a ticket about.",
};

// The problems that a ticket describes, whatever file they come from.

interface Problems {
  readonly items: readonly Item[];
  /** Host and port of the service; null if the file does not say. */
  readonly host: string | null;
}

interface Item {
  /** `delete vpc/prod`. */
  readonly what: string;
  readonly isBlocked: boolean;
  /** Why, in a few words: for the summary. */
  readonly reason: string;
  /** Name and value, one a line. */
  readonly details: readonly (readonly [name: string, value: string])[];
  /** What stands in its way, one a line. */
  readonly list: readonly string[];
  /** Address → id of what it is about. */
  readonly ids: ReadonlyMap<string, Json>;
  /** Changes that it stands for. */
  readonly count: number;
}

function compose({ items, host }: Problems, { version, nowMilliseconds }: DraftContext): DraftResult {
  const [first] = items;
  if (first === undefined) return { ok: false, diagnostic: NOTHING };
  const more = sumOf(items) - first.count;
  const summary = `${first.isBlocked ? "Blocked" : "Failed"}: ${first.what}${more > 0 ? ` (and ${more} more)` : ""}`;
  // The day alone: a command that is run again must come to the same text.
  const written = `Written by Tenon ${version} on ${new Date(nowMilliseconds).toISOString().slice(0, 10)} (UTC).`;
  const shown = items.slice(0, MAX_ITEMS).flatMap((item, index) => [...itemLines(item, index + 1), ""]);
  const uncounted = items.length > MAX_ITEMS ? [`And ${items.length - MAX_ITEMS} more.`, ""] : [];
  const service = host === null ? [] : [`Service: ${quoted(host)}`];
  const lines = [leadOf(items), "", ...shown, ...uncounted, ...service].join("\n").trim();
  return {
    ok: true,
    draft: {
      summary: cutTo(summary, MAX_SUMMARY_CHARACTERS),
      description: `${cutTo(lines, MAX_DESCRIPTION_CHARACTERS - written.length - 2)}\n\n${written}`,
      entity: entityOf(items),
    },
  };
}

function sumOf(items: readonly Item[]): number {
  return items.reduce((sum, { count }) => sum + count, 0);
}

function leadOf(items: readonly Item[]): string {
  const blocked = sumOf(items.filter(({ isBlocked }) => isBlocked));
  const failed = sumOf(items) - blocked;
  const changes = (count: number) => `${count} ${count === 1 ? "change" : "changes"}`;
  if (failed === 0) return `${changes(blocked)} of our account cannot be made now.`;
  const also = blocked === 0 ? "" : `, and ${changes(blocked)} cannot be made now`;
  return `${failed} ${failed === 1 ? "request" : "requests"} to our account failed${also}.`;
}

function itemLines({ what, reason, details, list }: Item, number: number): string[] {
  const all = [["Reason", reason] as const, ...details].filter(([, value]) => value !== "");
  const width = all.reduce((most, [name]) => Math.max(most, name.length), 0) + 1;
  const facts = all.map(([name, value]) => `   ${`${name}:`.padEnd(width)} ${value}`);
  return [`${number}. ${what}`, ...facts, ...list.map((line) => `   - ${line}`)];
}

/** The VPC or domain that every item is about. */
function entityOf(items: readonly Item[]): Entity | null {
  const known = items.flatMap(({ ids }) => [...ids]);
  const [root = "", ...others] = new Set(known.map(([address]) => rootOf(address)));
  const kind = root.split("/")[0];
  const id = known.find(([address]) => address === root)?.[1];
  if (others.length > 0 || (kind !== "vpc" && kind !== "domain")) return null;
  return typeof id === "number" && Number.isSafeInteger(id) ? { kind, id } : null;
}

function quoted(text: string): string {
  return escapeText(cutTo(text, MAX_VALUE_CHARACTERS));
}

/** Counted in characters, as the service does. */
function cutTo(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}

function withIds(ids: ReadonlyMap<string, Json>): string {
  const known = [...ids].filter(([, id]) => typeof id === "number" || typeof id === "string");
  const shown = known.slice(0, MAX_ITEMS).map(([address, id]) => `${quoted(address)} (id ${quoted(String(id))})`);
  return shown.join(", ") + (known.length > shown.length ? ` and ${known.length - shown.length} more` : "");
}

// From a plan: its blocked changes, with what blocks them.

function readPlan({ changes }: SavedPlan): Problems {
  const idOf = new Map(changes.map(({ key, id }) => [key, id]));
  const blockedRoots = new Set(changes.filter(({ blocked }) => blocked !== null).map(({ key }) => key));
  const items = changes.flatMap((change) => {
    const { blocked, root } = change;
    // What waits for another blocked change has no reason of its own, and a subnet has that of its VPC.
    const isLeftOut = blocked === null || blocked.type === "depends" || (root !== change.key && blockedRoots.has(root));
    return isLeftOut ? [] : [blockedItem(change, blocked, idOf)];
  });
  return { items, host: null };
}

function blockedItem(
  { action, address, root, id }: Change,
  blocked: NonNullable<Change["blocked"]>,
  idOf: ReadonlyMap<string, Json>,
): Item {
  const { reason, items } = blockText(blocked, MAX_VALUE_CHARACTERS);
  const ids = new Map([[address, id] as const, [root, idOf.get(root) ?? null] as const]);
  const verb = action === "no-op" ? "delete" : action;
  return {
    what: `${verb} ${quoted(address)}`,
    isBlocked: true,
    reason,
    details: [["Objects", withIds(ids)]],
    list: items,
    ids,
    count: 1,
  };
}

// From lines of JSON: the events and the report of an apply, or its journal.

/** The line of a journal that says who ran what, those of steps, and those of the stream that matter here. */
const LINE_TYPES: ReadonlySet<Json> = new Set([
  ...["plan", "step-started", "step-failed", "step-done", "step-note", "step-skipped", "stopping", "report"],
  ...["run", "change", "intent", "outcome", "end"],
]);

function isKnownLine(line: JsonObject): boolean {
  const { type } = line as { readonly type?: Json };
  return type !== undefined && LINE_TYPES.has(type);
}

/** A line that is no object is passed over: the last may be cut off, as that of a run that was killed. @returns null: there is more than is read */
function linesOf(text: string): JsonObject[] | null {
  const lines: JsonObject[] = [];
  let left = MAX_DRAFT_VALUES;
  for (const line of text.split("\n")) {
    if (!line.startsWith("{") || !line.trimEnd().endsWith("}")) continue;
    const size = sizeOf(line, left);
    if (size === "full") return null;
    if (typeof size === "string") continue;
    left -= size;
    try {
      const value = JSON.parse(line) as Json;
      if (isJsonObject(value)) lines.push(value);
    } catch {
      // It may stand between lines of others.
    }
  }
  return lines;
}

function readLines(lines: readonly JsonObject[]): Problems {
  const ofType = (type: string) => lines.filter((line) => line["type"] === type);
  const report = ofType("report").at(-1);
  const places = [ofType("step-failed"), ofType("outcome"), objectsIn(report?.["steps"])];
  const found = places.map((place) => place.filter((line) => isJsonObject(line["failure"])));
  const failures = found.find((some) => some.length > 0) ?? [];
  const idOf = new Map<string, Json>();
  for (const line of ofType("change")) idOf.set(text(line["key"]), line["id"] ?? null);
  for (const change of objectsIn(report?.["changes"])) idOf.set(text(change["address"]), change["id"] ?? null);
  const intents = new Map(ofType("intent").map((line) => [text(line["step"]), line]));
  const failed = failures.map((line) => failedItem(line, intents.get(text(line["step"])), idOf));
  const blocked = objectsIn(report?.["changes"]).filter((change) => change["outcome"] === "blocked");
  const host = text(ofType("run").at(-1)?.["host"]);
  return { items: [...failed, ...reportedBlocks(blocked)], host: host === "" ? null : host };
}

function failedItem(line: JsonObject, intent: JsonObject | undefined, idOf: ReadonlyMap<string, Json>): Item {
  const step = text(line["step"]);
  const failure = line["failure"] as JsonObject;
  const status = typeof failure["status"] === "number" ? String(failure["status"]) : "none came";
  const time = text(line["time"]) || text(intent?.["time"]);
  // A journal names the keys of changes by their own lines; its outcomes, and the step's id, name the address.
  const addresses = textsIn(line["changes"]).concat(step.split(" ").at(-1) ?? "");
  const ids = new Map<string, Json>();
  for (const address of addresses.flatMap((each) => [each, rootOf(each)]))
    if (address !== "" && idOf.has(address)) ids.set(address, idOf.get(address) ?? null);
  const unknown = line["outcome"] === "unknown" ? "it is not known whether it was carried out" : "";
  const attempts = Number(failure["attempts"] ?? 1);
  const sent = time === "" ? "" : quoted(time);
  return {
    what: quoted(step),
    isBlocked: false,
    reason: quoted(text(failure["message"])),
    details: [
      ["Request", requestText(intent)],
      ["Time", sent],
      ["Status", status],
      ["Sent", attempts > 1 ? `${attempts} times` : ""],
      ["Outcome", unknown],
      ["Objects", withIds(ids)],
    ],
    list: [],
    ids,
    count: 1,
  };
}

/** Method and path, without the body: that may hold what is nobody's business. */
function requestText(intent: JsonObject | undefined): string {
  const path = textsIn(intent?.["path"]);
  return path.length === 0 ? "" : quoted(`${text(intent?.["method"])} /${path.join("/")}`);
}

/** A report says which changes are blocked; the plan says why. */
function reportedBlocks(changes: readonly JsonObject[]): Item[] {
  const [first] = changes;
  if (first === undefined) return [];
  const ids = new Map(changes.map((change) => [text(change["address"]), change["id"] ?? null]));
  const what = changes.length === 1 ? quoted(text(first["address"])) : `${changes.length} changes`;
  const details = [["Objects", withIds(ids)] as const];
  return [
    { what, isBlocked: true, reason: "blocked, as the plan says", details, list: [], ids, count: changes.length },
  ];
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
