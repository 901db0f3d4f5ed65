/** One cell of the matrix: what a request under an outcome must come to, and that the account ends as declared all the same. */

import type { Plan } from "../../src/index.ts";
import { isLook } from "../../src/model/plan.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { renderReportText } from "../../src/render/report.ts";
import { type Reference, runDisturbed, type Seen, type Target } from "./outcome-run.ts";
import { type Outcome, RETRY_AFTER_SECONDS } from "./outcome-table.ts";
import { Trial } from "./outcome-trial.ts";

/** Real milliseconds until an answer is given up on, where it never comes. */
export const PATIENCE_MILLISECONDS = 1_000;
/** After so long an upload that nobody goes on with is taken up by the next run. */
export const LEASE_SECONDS = 3600 + 300;
/** `--retry-for` unless something else is said, and what one wait may be off. */
const [MIN_BUDGET_SECONDS, MAX_BUDGET_SECONDS] = [240, 330];
/** The wait that a 429 orders is no failure, and has a limit of its own. */
const [MIN_ORDERED_SECONDS, MAX_ORDERED_SECONDS] = [7_100, 7_200];
export const FOREIGN_PATH = /^\/v4\/(vpcs\/900[13]|domains\/900[46]|images\/private%2F9007)(\/|$)/;

/** @returns what is wrong, as sentences; empty if all is as it must be */
export async function tryCell(reference: Reference, target: Target, outcome: Outcome): Promise<readonly string[]> {
  const patience = outcome.impatient === true ? { patience: PATIENCE_MILLISECONDS } : {};
  const trial = await Trial.open(reference.loaded, patience);
  try {
    const seen = await runDisturbed(trial, target, outcome);
    const problems = [
      ...stepProblems(seen, target, outcome),
      ...otherProblems(seen, reference, target, outcome),
      ...reportProblems(seen, target, outcome),
      ...(await convergeProblems(trial, reference, seen, target, outcome)),
    ];
    const touched = trial.mutations().filter(({ path }) => FOREIGN_PATH.test(path));
    return [...problems, ...touched.map(({ method, path }) => `touched what is foreign: ${method} ${path}`)];
  } catch (error) {
    return [`crashed: ${error instanceof Error ? error.stack : String(error)}`];
  } finally {
    await trial.close();
  }
}

function* stepProblems(seen: Seen, target: Target, outcome: Outcome): Generator<string> {
  const { report, plan, reached, looks, confirmations, seconds } = seen;
  const expected = outcome.expected[target.class];
  const step = report.steps.find(({ step }) => step === target.step.id);
  if (step?.outcome !== expected.step) {
    yield `the step is ${step?.outcome} (${step?.failure?.message}), not ${expected.step}`;
  }
  if (step?.recovered !== (expected.recovered === true)) yield `recovered is ${step?.recovered}`;
  if (target.class === "create" && expected.step === "done" && (step?.id ?? null) === null) yield "it has no id";
  const { effect } = outcome;
  const waits = effect.type === "status" && effect.retryAfterSeconds === RETRY_AFTER_SECONDS;
  if (expected.reached === "many") {
    if (reached < 4) yield `it was sent ${reached} times only`;
    const least = waits ? MIN_ORDERED_SECONDS : MIN_BUDGET_SECONDS;
    const most = waits ? MAX_ORDERED_SECONDS : MAX_BUDGET_SECONDS;
    if (seconds < least || seconds > most) yield `it was given up after ${seconds} s`;
  } else if (reached !== expected.reached) {
    yield `it was sent ${reached} times, not ${expected.reached}`;
  }
  if (looks !== (expected.looks ?? 0)) yield `it was looked for ${looks} times, not ${expected.looks ?? 0}`;
  // A delete that waited for more than five seconds before some attempt is sent when its looks were repeated.
  const own = plan.steps.filter(({ id }) => target.step.after.includes(id));
  const hasLook = target.class === "delete" && own.some((one) => one.type === "request" && isLook(one));
  const isDue = hasLook && reached > 1 && (waits || expected.reached === "many");
  if (isDue !== confirmations > 0) yield `what is deleted was looked at ${confirmations} times more`;
  if (waits && seconds < RETRY_AFTER_SECONDS) yield `it was sent again after ${seconds} s, not ${RETRY_AFTER_SECONDS}`;
}

/** What depends on it is skipped, what does not goes on, or nothing does. */
function* otherProblems(seen: Seen, reference: Reference, target: Target, outcome: Outcome): Generator<string> {
  const expected = outcome.expected[target.class];
  const failed = expected.step !== "done";
  const dependent = failed ? dependentsOf(seen.plan, target.step.id) : new Set<string>();
  const begun = reference.order.indexOf(target.step.id);
  for (const { step, outcome: became, because, failure } of seen.report.steps) {
    if (step === target.step.id) continue;
    const isLeft = dependent.has(step) || (expected.halts === true && reference.order.indexOf(step) > begun);
    const due = isLeft ? "skipped" : "done";
    if (became !== due) yield `${step} is ${became} (${failure?.message}), not ${due}`;
    if (isLeft && because.join() !== target.step.id) yield `${step} is skipped because of [${because.join()}]`;
  }
  if (seen.report.steps.length !== seen.plan.steps.length) yield "the report does not tell of every step";
}

/** Along the edges of the plan, barriers included; `afterEnd` does not ask how it ended. */
function dependentsOf(plan: Plan, id: string): ReadonlySet<string> {
  const reached = new Set([id]);
  const nodes = [...plan.steps, ...plan.barriers];
  for (let grown = true; grown; ) {
    grown = false;
    for (const node of nodes) {
      if (reached.has(node.id) || !node.after.some((before) => reached.has(before))) continue;
      reached.add(node.id);
      grown = true;
    }
  }
  reached.delete(id);
  return reached;
}

function* reportProblems({ report, plan }: Seen, target: Target, outcome: Outcome): Generator<string> {
  const expected = outcome.expected[target.class];
  const text = renderReportText(report, plan, { colour: false }).replace(/\s+/g, " ");
  const kind = kindOfDuplicates(target);
  // Of what was sent twice the run can delete nothing but records: whether it made both, nobody can tell.
  const isDouble = outcome.late === "after the step" && (kind === "vpc" || kind === "image");
  const isComplete = expected.step === "done" && !isDouble;
  if (report.duplicates !== (isDouble ? 1 : 0)) yield `it counts ${report.duplicates} duplicates`;
  if (text.includes("Apply complete!") !== isComplete) yield `the report ends wrongly: ${text}`;
  if (expected.step !== "done" && !outcome.words.test(text)) yield `the report does not say why: ${text}`;
  const notice = noticeOf(target, outcome);
  const notices = report.notices.join("; ");
  if (notice === null ? notices !== "" : !notice.test(notices)) yield `its notices are [${notices}]`;
  if (report.interrupted) yield "it says that it was interrupted";
}

/** What the account holds two of, when a POST was carried out twice: names of domains, ranges of subnets and aliases exist once. */
function kindOfDuplicates({ step, class: of }: Target): "domain_record" | "vpc" | "image" | null {
  if ((of !== "create" && of !== "begin") || step.type !== "request") return null;
  const kind = step.lookup?.kind;
  if (kind === "domain_record" && step.body?.["type"] === "CNAME") return null;
  return kind === "domain_record" || kind === "vpc" || kind === "image" ? kind : null;
}

function noticeOf(target: Target, outcome: Outcome): RegExp | null {
  if (isBegun(target, outcome)) {
    return /Tenon cannot tell whether this run made image private\/\d+( or private\/\d+)*, so it touches nothing/;
  }
  if (outcome.gone === true && isAddressed(target)) {
    return target.class === "delete" ? /gone already, deleted by somebody else/ : /is gone: somebody else deleted it/;
  }
  if (outcome.late !== "after the step") return null;
  switch (kindOfDuplicates(target)) {
    case null:
      return null;
    case "domain_record":
      return /was carried out twice: record \d+ equals \d+ and was deleted/;
    case "vpc":
    case "image":
      return /was sent twice, so there are equal (VPC|image)s: .+, .+; the younger one has not been deleted yet/;
  }
}

/** The request goes to an object, or into one. */
function isAddressed({ step, class: of }: Target): boolean {
  if (of === "update" || of === "delete") return true;
  return of === "create" && step.type === "request" && step.path.length > 2;
}

/** With the fault gone, one more apply ends it, and a further plan is empty. */
async function convergeProblems(
  trial: Trial,
  reference: Reference,
  { report, seconds }: Seen,
  target: Target,
  outcome: Outcome,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const kind = kindOfDuplicates(target);
  const late = outcome.late === "after the step" || outcome.late === "after the run";
  if (late && (kind === "vpc" || kind === "image"))
    problems.push(...(await chooseDuplicate(trial, kind, target, report)));
  let plan = await trial.plan();
  const blocked = plan.changes.filter((change) => change.blocked !== null);
  const isLeft = uploadIsLeft(target, outcome) && seconds < LEASE_SECONDS;
  if (blocked.length > 0 !== isLeft) problems.push(`blocked at once: [${blocked.map(({ key }) => key).join()}]`);
  if (blocked.length > 0) {
    problems.push(...badlyBlocked(plan.changes));
    await trial.clock.advance(LEASE_SECONDS * 1000);
    plan = await trial.plan();
  }
  if (plan.refusals.length > 0) problems.push(`refused: ${plan.refusals.map(({ detail }) => detail).join()}`);
  const second = await trial.apply(plan);
  const undone = second.steps.filter(({ outcome }) => outcome !== "done");
  problems.push(...undone.map(({ step, failure }) => `the second apply did not do ${step}: ${failure?.message}`));
  const third = await trial.plan();
  if (third.steps.length > 0) problems.push(`a third plan has ${third.steps.map(({ id }) => id).join()}`);
  return [...problems, ...differences(await trial.state(), reference.state)];
}

/** What is being uploaded is blocked, and each image that is to go depends on it if it is declared; nothing else is. */
function badlyBlocked(changes: Plan["changes"]): readonly string[] {
  const uploading = changes.filter(({ blocked }) => blocked?.type === "upload-in-progress");
  const awaited = uploading.filter(({ action }) => action !== "delete").map(({ key }) => key);
  return changes.flatMap((change) => {
    const { key, kind, action, blocked } = change;
    const waits = kind === "image" && action === "delete" ? awaited : [];
    const on = blocked?.type === "depends" ? blocked.on : [];
    if (uploading.includes(change) || on.join() === waits.join()) return [];
    return [`${key} depends on ${on.join() || "nothing"}`];
  });
}

/** Until its time is over, an upload that was begun may be another run's. */
function uploadIsLeft(target: Target, outcome: Outcome): boolean {
  const expected = outcome.expected[target.class];
  return target.class === "send" ? expected.step !== "done" : isBegun(target, outcome);
}

/** The upload is there, and the URL for its data is lost. */
function isBegun(target: Target, outcome: Outcome): boolean {
  const expected = outcome.expected[target.class];
  return target.class === "begin" && expected.step === "unknown" && expected.reached === 1;
}

/** Which of two equal objects is kept is a person's choice: the plan refuses, and says what there is. */
async function chooseDuplicate(
  trial: Trial,
  kind: "vpc" | "image",
  target: Target,
  report: Seen["report"],
): Promise<readonly string[]> {
  const path = kind === "vpc" ? "vpcs" : "images";
  const label = target.step.type === "request" ? target.step.body?.["label"] : null;
  const duplicates: readonly JsonObject[] = (await trial.list(path)).filter((item) => item["label"] === label);
  if (duplicates.length !== 2) return [`there are ${duplicates.length} of ${String(label)}, not 2`];
  const { changes } = await trial.plan();
  const unclear = changes.flatMap(({ blocked }) => (blocked?.type === "ambiguous" ? blocked.candidates : []));
  const refused = unclear.map(({ id }) => id).join();
  // Equal ones of ours need no choice.
  const named = unclear.length === 0 || duplicates.every(({ id }) => unclear.some((candidate) => candidate.id === id));
  const kept = report.steps.find(({ step }) => step === target.step.id)?.id;
  const [extra] = duplicates.filter(({ id }) => id !== kept);
  await trial.other.send({ method: "DELETE", path: [path, String(extra?.["id"])] });
  return named ? [] : [`the plan does not name the duplicates: ${refused}`];
}

export function differences(found: readonly string[], wanted: readonly string[]): string[] {
  const surplus = found.filter((item) => !wanted.includes(item)).map((item) => `ends with ${item}`);
  const missing = wanted.filter((item) => !found.includes(item)).map((item) => `ends without ${item}`);
  const isDoubled = new Set(found).size !== found.length || found.length !== wanted.length;
  return [...surplus, ...missing, ...(isDoubled ? [`ends with ${found.length} objects, not ${wanted.length}`] : [])];
}
