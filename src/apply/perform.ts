/** Perform: carries out one step, whatever its type. */

import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isBelow } from "../files/paths.ts";
import { type Answer, type ApiRequest, type Confirmation, type Failure, isUnclear } from "../model/api.ts";
import type { Change } from "../model/change.ts";
import { isLook, type RequestStep, type Step, type UploadStep, type WaitStep } from "../model/plan.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { shortened } from "../model/text.ts";
import type { Unit } from "../model/unit.ts";
import { pause } from "./interrupt.ts";
import { recover } from "./recover.ts";
import {
  type Context,
  DONE,
  failureResult,
  localFailure,
  readField,
  resolvePath,
  resolveText,
  resultOf,
  type StepResult,
  unresolved,
  writeIntent,
} from "./step.ts";

/** Failures that must be reckoned with are in the result; only bugs throw. */
export function perform(step: Step, context: Context): Promise<StepResult> {
  switch (step.type) {
    case "request":
      return performRequest(step, context);
    case "upload":
      return performUpload(step, context);
    case "wait":
      return performWait(step, context);
  }
}

async function performRequest(step: RequestStep, context: Context): Promise<StepResult> {
  const unit = unitOf(step, context);
  const path = resolvePath(step.path, context.products);
  if (!path.ok) return failureResult("failed", unresolved(path.missing));
  const { method } = step;
  const body = bodyOf(step, unit, context);
  const journalFailure = await writeIntent({ step: step.id, reason: "step", method, path: path.value, body }, context);
  if (journalFailure !== null) return journalFailure;
  const looks = method === "DELETE" ? context.looksBefore(step) : [];
  const request: ApiRequest = {
    ...{ method, path: path.value },
    ...(body === null ? {} : { body }),
    ...(looks.length === 0 ? {} : confirmedBy(looks, context)),
  };
  // What only reads can be given up at any moment.
  const ends = method === "GET" ? context.stopping : context.aborting;
  const answer = await context.api.send(request, ends, context.stopping);
  if (isLook(step)) context.lookedAt.set(step.id, context.clock.now());
  const notice = noticeOf(step, context.changes.get(step.changes[0] ?? ""), answer, unit);
  const result = { ...resultOf(step, answer, unit), notices: notice === null ? [] : [notice] };
  const lost = result.outcome === "unknown" && method === "POST" && result.failure?.type !== "aborted";
  return lost ? recover(step, request, result, unit, context) : result;
}

/** The service may keep a delete, or one of the looks before it, waiting for an hour: what was seen before is out of date by then. */
function confirmedBy(looks: readonly RequestStep[], context: Context): Partial<ApiRequest> {
  return { confirm: (signal) => lookAgain(looks, signal, context), seenMillisecondsAgo: ageOf(looks, context) };
}

/** How long ago the first of the looks was answered, in milliseconds. */
function ageOf(looks: readonly RequestStep[], { clock, lookedAt }: Context): number {
  const now = clock.now();
  return now - looks.reduce((least, { id }) => Math.min(least, lookedAt.get(id) ?? now), now);
}

async function lookAgain(
  looks: readonly RequestStep[],
  signal: AbortSignal | undefined,
  context: Context,
): Promise<Confirmation> {
  for (const look of looks) {
    const path = resolvePath(look.path, context.products);
    if (!path.ok) return { ok: false, failure: unresolved(path.missing) };
    const answer = await context.api.send({ method: look.method, path: path.value }, signal);
    const { failure } = resultOf(look, answer, unitOf(look, context));
    if (failure !== null) return { ok: false, failure };
    // Thousands of deletes may come after one look.
    context.lookedAt.set(look.id, context.clock.now());
  }
  return { ok: true, seenMillisecondsAgo: ageOf(looks, context) };
}

/** Adds to the body what only an earlier answer tells. The step that `amends` names is done, or this one would have been skipped. */
function bodyOf({ body, amends }: RequestStep, unit: Unit, context: Context): JsonObject | null {
  if (body === null || amends === undefined || unit.amend === undefined) return body;
  return unit.amend(body, Object.fromEntries(context.products.get(amends) ?? []));
}

/** The unit that a step belongs to. Throws if the caller did not hand it in. */
export function unitOf(step: Step, context: Context): Unit {
  const unit = context.units.get(step.unit);
  if (unit === undefined) throw new Error(`There is no unit ${step.unit} for step ${step.id}.`);
  return unit;
}

// Notices: what an answer shows of changes that others made in the account since it was read for the plan. Pure.

/**
 * The least number of segments of a path within an object: kind, id, part. A shorter path of a POST (`vpcs`) names no object, so a 404
 * there does not mean that somebody deleted one.
 */
const MIN_NESTED_SEGMENTS = 3;

/**
 * @param change the first that the step carries out, if the plan has it
 * @returns one sentence that names the step, without a full stop; null if the answer is what the plan led to expect
 */
export function noticeOf(step: RequestStep, change: Change | undefined, answer: Answer, unit: Unit): string | null {
  const clause = answer.ok ? foundInAnswer(step, change, answer, unit) : foundInRefusal(step, answer.failure, unit);
  return clause === null ? null : `${step.id}: ${clause}`;
}

function foundInAnswer(
  step: RequestStep,
  change: Change | undefined,
  answer: Extract<Answer, { ok: true }>,
  unit: Unit,
): string | null {
  if (answer.alreadyGone === true) return "it was gone already, deleted by somebody else since the plan";
  if (step.method !== "PUT" || change === undefined || !isJsonObject(answer.body)) return null;
  const found = changedMeanwhile(step, change, answer.body, unit);
  return found === null ? null : `somebody else changed it since the plan: ${found}; plan again`;
}

function foundInRefusal(step: RequestStep, failure: Failure, unit: Unit): string | null {
  if (failure.type !== "refused") return null;
  if (failure.status === 400) {
    const conflict =
      step.method === "POST" || step.method === "PUT" ? (unit.explainConflict?.(step, failure) ?? null) : null;
    return conflict === null ? null : `${conflict}; plan again`;
  }
  if (failure.status !== 404) return null;
  switch (step.method) {
    case "PUT":
      return "the object that it was to change is gone: somebody else deleted it since the plan; plan again";
    case "POST":
      return step.path.length < MIN_NESTED_SEGMENTS
        ? null
        : "the object in which, or from which, it was to be made is gone: somebody else deleted it since the plan; plan again";
    case "GET":
    case "DELETE":
      // No notice here: after a GET step, the DELETE that follows reports a missing object; and for a DELETE, the client turns the 404 into
      // a success with `alreadyGone`.
      return null;
  }
}

/** Of a value in a notice, which stands in report, journal and events. */
const MAX_NOTICE_CHARACTERS = 500;

/** Fields that the step leaves alone, and that are no longer what they were. */
function changedMeanwhile(step: RequestStep, change: Change, body: JsonObject, unit: Unit): string | null {
  const { before, after } = change;
  const readBack = unit.readBack?.(change, body) ?? null;
  if (readBack === null || before === null || after === null) return null;
  const changed = Object.keys(readBack)
    .filter((field) => {
      const planned = before[field];
      const isLeftAlone = planned !== undefined && !(field in (step.body ?? {})) && isSame(planned, after[field]);
      return isLeftAlone && !isSame(planned, readBack[field]);
    })
    .sort();
  const cut = (value: Json | undefined): string => shortened(shown(value), MAX_NOTICE_CHARACTERS);
  const texts = changed.map((field) => `${field} is ${cut(readBack[field])}, not ${cut(before[field])}`);
  return texts.length === 0 ? null : texts.join(", ");
}

/** Lists of the service are sets. */
function isSame(left: Json | undefined, right: Json | undefined): boolean {
  return shown(asSet(left)) === shown(asSet(right));
}

function asSet(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? (value as readonly Json[]).map(shown).sort() : value;
}

function shown(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}

// Upload: sends a file of the project to the signed URL that an earlier answer gave.

/** The URL is handed to the client and to nobody else. */
async function performUpload(step: UploadStep, context: Context): Promise<StepResult> {
  const url = resolveText(step.to, context.products);
  if (!url.ok) return failureResult("failed", unresolved(url.missing));
  const file = await locate(context.root, step.file);
  if (!file.ok) return failureResult("failed", localFailure("refused", "none", file.problem));
  const journalFailure = await writeIntent(
    { step: step.id, reason: "step", method: "upload", path: [step.file], body: null },
    context,
  );
  if (journalFailure !== null) return journalFailure;
  const limitMilliseconds = millisecondsLeft(step, context);
  if (limitMilliseconds <= 0) return failureResult("failed", givenUp(step));
  const content = step.content === null ? {} : { content: step.content };
  const progress = (sent: number, total: number): void => context.uploading(step.id, sent, total);
  const request = { url: url.value, file: file.path, ...content, limitMilliseconds, progress };
  const answer = await context.api.upload(request, context.aborting);
  if (answer.ok) return DONE;
  const isTimedOut = answer.failure.type === "aborted" && !context.aborting.aborted;
  if (isTimedOut) return failureResult("failed", { ...givenUp(step), attempts: answer.failure.attempts });
  const outcome = isUnclear("PUT", answer.failure) ? "unknown" : "failed";
  // A 401 here is the word of the storage host, and says nothing about the token.
  return { ...failureResult(outcome, answer.failure), halts: null };
}

/** After the upload's time limit other runs take the image for abandoned, so nothing may be sent after it. */
function millisecondsLeft({ to, limitSeconds }: UploadStep, { clock, producedAt }: Context): number {
  const now = clock.now();
  return (producedAt.get(to.ref) ?? now) + limitSeconds * 1000 - now;
}

function givenUp({ limitSeconds }: UploadStep): Failure {
  const message = `the upload was given up after ${durationText(limitSeconds)}; a larger --upload-timeout gives it more time`;
  return localFailure("unavailable", "unknown", message);
}

/** `90 s`, `5 min`, `2 h`: in the largest unit that fits. */
function durationText(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

type Located = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly problem: string };

/** Symlinks may point about within the project, but not out of it: a pull request may be hostile. */
async function locate(root: string, file: string): Promise<Located> {
  try {
    const folder = await realpath(root);
    const target = await realpath(resolve(folder, file));
    if (!isBelow(target, folder)) return { ok: false, problem: `${file} lies outside the project folder` };
    if (!(await stat(target)).isFile()) return { ok: false, problem: `${file} is not a file` };
    return { ok: true, path: target };
  } catch (error) {
    return { ok: false, problem: `${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}` };
  }
}

// Wait: polls a resource until a field has one of the wanted values.

/** An image is available after seconds or after many minutes, so the polls come quickly at first and then seldom, to spare the service. */
const FIRST_POLL_INTERVAL_SECONDS = 1;
export const MAX_POLL_INTERVAL_SECONDS = 10;
const POLL_INTERVAL_GROWTH = 1.5;

/** Looks at once, then at growing intervals. An interrupt ends it: between two polls nothing is in flight. */
async function performWait(step: WaitStep, context: Context): Promise<StepResult> {
  const path = resolvePath(step.path, context.products);
  if (!path.ok) return failureResult("failed", unresolved(path.missing));
  const journalFailure = await writeIntent(
    { step: step.id, reason: "step", method: "wait", path: path.value, body: null },
    context,
  );
  if (journalFailure !== null) return journalFailure;

  const deadline = context.clock.now() + step.limitSeconds * 1000;
  let interval = FIRST_POLL_INTERVAL_SECONDS;
  for (;;) {
    const answer = await context.api.get({ path: path.value }, context.stopping);
    if (!answer.ok) {
      const isGone = answer.failure.status === 404 && answer.failure.type === "refused";
      const gone = `${step.id}: the object that it waited for is gone: somebody else deleted it; plan again`;
      return { ...failureResult("failed", answer.failure), notices: isGone ? [gone] : [] };
    }
    const value = readField(answer.body, step.field);
    if (typeof value === "string" && step.until.includes(value)) return DONE;
    const secondsLeft = (deadline - context.clock.now()) / 1000;
    const state = `${step.field} is ${shownState(value)}`;
    if (secondsLeft <= 0) {
      return failureResult("failed", localFailure("unavailable", "none", notInTime(step, state)));
    }
    const seconds = Math.min(interval, secondsLeft);
    context.note(step.id, "waiting", state, seconds);
    if (!(await pause(context.clock, seconds, context.stopping))) {
      return failureResult("failed", localFailure("aborted", "none", `the wait was interrupted while ${state}`));
    }
    interval = Math.min(interval * POLL_INTERVAL_GROWTH, MAX_POLL_INTERVAL_SECONDS);
  }
}

function notInTime({ limitSeconds }: WaitStep, state: string): string {
  return `after ${durationText(limitSeconds)}, ${state}; run again, or give it more time with --image-timeout`;
}

function shownState(value: Json | undefined): string {
  return value === undefined ? "missing" : `${JSON.stringify(value)}`;
}
