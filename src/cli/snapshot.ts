/** `--live FILE`: a snapshot in the service's place, for runners that have no token. */

import { escapeText, type Snapshot, snapshotTools } from "../index.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { readProblem } from "./file-problem.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { readRegular } from "./read-regular.ts";
import type { Terminal } from "./terminal.ts";

/** Of a snapshot: more than one of a million records has. */
const MAX_SNAPSHOT_BYTES = 384 * 1024 * 1024;
/** Beyond this the account may well have moved on. */
const STALE_MILLISECONDS = 24 * 3600 * 1000;

export type OpenedSnapshot =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly code: ExitCode };

/** Says how old it is, or what is wrong with it. */
export async function openSnapshotFile(
  terminal: Terminal,
  file: string,
  nowMilliseconds: number,
): Promise<OpenedSnapshot> {
  let text: string;
  try {
    text = await readRegular(file, MAX_SNAPSHOT_BYTES);
  } catch (error) {
    const summary = `the snapshot cannot be read: ${readProblem(error, file)}`;
    sayError(terminal, { code: "snapshot-unreadable", summary });
    return { ok: false, code: EXIT.error };
  }
  const { parseLiveFile } = await snapshotTools();
  const parsed = await parseLiveFile(text);
  if (!parsed.ok) {
    sayDiagnostics(terminal, [parsed.diagnostic]);
    return { ok: false, code: EXIT.error };
  }
  terminal.say(`${ageText(parsed.snapshot, nowMilliseconds)}\n`);
  return parsed;
}

function ageText({ readAt, host }: Snapshot, nowMilliseconds: number): string {
  const age = nowMilliseconds - Date.parse(readAt);
  const what = `the account of ${escapeText(host)} as it was read at ${readAt}`;
  if (age < 0) return `warning: this is ${what}, which this machine's clock takes for the future`;
  const text = `this is ${what}, ${durationText(age)} ago`;
  return age > STALE_MILLISECONDS ? `warning: ${text}; it may have changed since` : `note: ${text}`;
}

function durationText(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
