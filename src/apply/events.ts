/** Events that apply emits while it runs, for progress and for one JSON line each. */

import type { Failure } from "../model/api.ts";
import type { ObjectId } from "../model/resource.ts";

/**
 * - `outcome-unknown`: it is unknown whether a POST was carried out; Tenon will look for what it made.
 * - `looking`: Tenon lists the collection to find out.
 * - `adopted`: the POST had been carried out; the step uses what it made.
 * - `repeating`: the POST had not been carried out; it is sent once more.
 * - `deleting-useless`, `deleting-duplicate`: Tenon deletes an object of this run that nothing needs.
 * - `waiting`: a field does not have the wanted value yet.
 */
export type NoteType =
  | "outcome-unknown"
  | "looking"
  | "adopted"
  | "repeating"
  | "deleting-useless"
  | "deleting-duplicate"
  | "waiting";

/** Why nothing new is started. `drain-limit`: what was in flight took too long and is aborted. */
export type StopReason = "interrupted" | "aborted" | "unauthorised" | "journal" | "drain-limit" | "internal-error";

/** `time` is ISO 8601; `step` is a step's id and `changes` are keys of changes. */
export type ApplyEvent =
  | { readonly type: "step-started"; readonly time: string; readonly step: string; readonly changes: readonly string[] }
  | {
      readonly type: "step-done";
      readonly time: string;
      readonly step: string;
      readonly changes: readonly string[];
      readonly id: ObjectId | null;
      readonly recovered: boolean;
    }
  | {
      readonly type: "step-failed";
      readonly time: string;
      readonly step: string;
      readonly changes: readonly string[];
      readonly outcome: "failed" | "unknown";
      readonly failure: Failure | null;
    }
  | {
      readonly type: "step-skipped";
      readonly time: string;
      readonly step: string;
      readonly changes: readonly string[];
      readonly because: readonly string[];
    }
  | {
      readonly type: "step-note";
      readonly time: string;
      readonly step: string;
      readonly note: NoteType;
      /** One sentence without a full stop, safe to show. */
      readonly detail: string;
      /** Until the next attempt; null if it comes at once. */
      readonly waitSeconds: number | null;
    }
  | { readonly type: "stopping"; readonly time: string; readonly reason: StopReason };
