/** The journal that a process leaves behind, read as a person would: line by line. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { Mutation, Point } from "./crash-proxy.ts";

interface Line {
  readonly type: string;
  readonly step?: string;
  readonly method?: string;
  readonly path?: readonly string[];
  readonly body?: unknown;
  readonly outcome?: string;
}

const OUTCOME_LIMIT_MILLISECONDS = 30_000;
const OUTCOME_POLL_MILLISECONDS = 2;

/** The step that the request was announced for. Throws if it was not announced: it is sent only when that is on disk. */
export function stepOf(folder: string, mutation: Mutation): string {
  return announcedIn(readJournal(folder), mutation);
}

/** Waits until the process has written down how the step ended: it surely has the answer then. */
export async function untilNoted(folder: string, step: string): Promise<void> {
  const deadline = Date.now() + OUTCOME_LIMIT_MILLISECONDS;
  while (outcomeOf(step, readJournal(folder)) === null) {
    if (Date.now() > deadline) throw new Error(`no outcome of ${step} in the journal`);
    await delay(OUTCOME_POLL_MILLISECONDS);
  }
}

/** Every request that was sent was announced before; how the last one ended is not there if the process could not know. */
export function expectEvidence(folder: string, arrived: readonly Mutation[], last: string, point: Point): void {
  const lines = readJournal(folder);
  expect(lines[0]?.type).toBe("run");
  const announced = arrived.map((mutation) => announcedIn(lines, mutation));
  expect(announced).toContain(last);
  expect(["done", null]).toContain(outcomeOf(last, lines));
  if (point !== "after") expect(outcomeOf(last, lines), `outcome of ${last}`).toBeNull();
}

/** The only journal of the project. What follows the last line break was never finished; all before it must be whole. */
function readJournal(folder: string): readonly Line[] {
  const journals = join(folder, ".tenon", "journal");
  const names = readdirSync(journals);
  expect(names).toHaveLength(1);
  const lines = readFileSync(join(journals, String(names[0])), "utf8").split("\n");
  return lines.slice(0, -1).map((line): Line => JSON.parse(line));
}

function outcomeOf(step: string, lines: readonly Line[]): string | null {
  return lines.find((line) => line.type === "outcome" && line.step === step)?.outcome ?? null;
}

function announcedIn(lines: readonly Line[], mutation: Mutation): string {
  const steps = lines.filter((line) => line.type === "intent" && announces(line, mutation)).map(({ step }) => step);
  expect(steps, `intents of ${describe(mutation)}`).toHaveLength(1);
  return String(steps[0]);
}

/** Where data is sent is a secret: the journal names the file. */
function announces(line: Line, { method, path, body }: Mutation): boolean {
  if (path === null) return line.method === "upload";
  const isSame = line.method === method && line.path?.join("\n") === path.join("\n");
  return isSame && JSON.stringify(line.body ?? null) === (body ?? "null");
}

export function describe({ method, path, body }: Mutation): string {
  return path === null ? "the data of an upload" : `${method} ${path.join("/")} ${body ?? ""}`.trimEnd();
}
