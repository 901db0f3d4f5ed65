/** What must become of planning when one of its lists meets an outcome: the contract of reading, as data, and how it is tried. */

import type { FaultEffect } from "../../src/emulator/index.ts";
import { type Plan, planProject } from "../../src/index.ts";
import { ALL_CONSENTS } from "../support/account.ts";
import { type Loaded, Trial } from "./outcome-trial.ts";

export interface ReadOutcome {
  readonly name: string;
  readonly effect: FaultEffect;
  /** If it happens once: planned all the same, or not. */
  readonly once: "planned" | "failed";
  /** The client does not wait long for an answer. */
  readonly impatient?: true;
  /** What is said of it when planning fails. */
  readonly words: RegExp;
}

const status = (code: number, retryAfterSeconds?: number | null): FaultEffect => ({
  type: "status",
  status: code,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

export const READ_OUTCOMES: readonly ReadOutcome[] = [
  // It might be the size of the page that is refused, so a smaller one is asked for.
  { name: "400", effect: status(400), once: "planned", words: /refused the request \(400\): Bad Request/ },
  { name: "400 busy", effect: { type: "busy" }, once: "planned", words: /\(400\): \w+ busy/ },
  { name: "401", effect: status(401), once: "failed", words: /did not accept the token \(401\)/ },
  {
    name: "403",
    effect: status(403),
    once: "failed",
    // Which scope reads VPCs, the service's document does not say.
    words: /does not have the right to do this \(403\): Forbidden(; this needs the scope (domains|images):read_only)?$/,
  },
  { name: "404", effect: status(404), once: "failed", words: /\(404\)/ },
  { name: "408", effect: status(408), once: "planned", words: /\(408\)/ },
  {
    name: "429 with Retry-After",
    effect: status(429, 17),
    once: "planned",
    words: /refuses further requests for now \(429\)/,
  },
  {
    name: "429 without",
    effect: status(429, null),
    once: "planned",
    words: /refuses further requests for now \(429\)/,
  },
  { name: "500", effect: status(500), once: "planned", words: /the service failed \(500\)/ },
  { name: "502 HTML", effect: { type: "html", status: 502 }, once: "planned", words: /\(502\), with an HTML page/ },
  { name: "503 maintenance", effect: { type: "maintenance" }, once: "planned", words: /in maintenance \(503\)/ },
  { name: "reset", effect: { type: "drop-before" }, once: "planned", words: /the connection to .* was lost/ },
  { name: "half an answer", effect: { type: "half-body" }, once: "planned", words: /the connection to .* was lost/ },
  { name: "malformed JSON", effect: { type: "bad-json" }, once: "planned", words: /not the JSON expected/ },
  // A page where the list should be comes from something else than the service, and will not pass.
  {
    name: "200 HTML",
    effect: { type: "html", status: 200 },
    once: "failed",
    words: /HTML page \(200\).*base URL is wrong/,
  },
];

export interface ReadCell {
  readonly loaded: Loaded;
  readonly undisturbed: Plan;
  /** Of the list, below `/v4`. */
  readonly path: string;
  readonly outcome: ReadOutcome;
  readonly lasting: boolean;
}

/** Every list that planning reads, times every outcome, once and for good. */
export async function readCellsOf(loaded: Loaded): Promise<ReadCell[]> {
  const trial = await Trial.open(loaded);
  try {
    const undisturbed = await trial.plan();
    const paths = new Set(trial.emulator.requests.map(({ path }) => path.replace(/^\/v4/, "")));
    return [...paths]
      .sort()
      .flatMap((path) =>
        READ_OUTCOMES.flatMap((outcome) =>
          [false, true].map((lasting) => ({ loaded, undisturbed, path, outcome, lasting })),
        ),
      );
  } finally {
    await trial.close();
  }
}

const ALWAYS = 1_000;

/** @returns what is wrong, as sentences */
export async function tryReadCell({ loaded, undisturbed, path, outcome, lasting }: ReadCell): Promise<string[]> {
  const trial = await Trial.open(loaded);
  try {
    trial.emulator.setFaults([{ effect: outcome.effect, method: "GET", path, times: lasting ? ALWAYS : 1 }]);
    const problems: string[] = [];
    const planned = await planProject({
      desired: loaded.desired,
      api: trial.api,
      goal: "apply",
      nowMilliseconds: trial.clock.now(),
      consents: ALL_CONSENTS,
    });
    const due = lasting ? "failed" : outcome.once;
    if (planned.ok !== (due === "planned")) problems.push(`it is ${planned.ok ? "planned" : planned.failure.message}`);
    if (planned.ok && !isSame(planned.plan, undisturbed)) problems.push("another plan came of it");
    if (!planned.ok && !outcome.words.test(planned.failure.message)) problems.push(`says ${planned.failure.message}`);
    if (!planned.ok && !nameOf(path).test(planned.what)) problems.push(`says that ${planned.what} could not be read`);
    if (!trial.emulator.requests.some(({ fault }) => fault === outcome.effect.type)) problems.push("no fault was met");
    trial.emulator.setFaults([]);
    if (!isSame(await trial.plan(), undisturbed)) problems.push("with the fault gone, another plan comes of it");
    problems.push(...trial.mutations().map((request) => `planning sent ${request.method} ${request.path}`));
    return problems.map(
      (problem) => `${loaded.world.name}, ${path}, ${outcome.name}${lasting ? ", lasting" : ""}: ${problem}`,
    );
  } finally {
    await trial.close();
  }
}

function isSame(left: Plan, right: Plan): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** As a person would call the list. */
function nameOf(path: string): RegExp {
  if (path.endsWith("/records")) return /records of [a-z.-]+\.(com|example)/;
  return path === "/vpcs" ? /list of VPCs/ : path === "/domains" ? /list of domains/ : /list of images/;
}
