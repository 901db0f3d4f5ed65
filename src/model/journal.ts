/** The journal of a run: its lines, and the run as an undo needs to know it. */

import type { Method } from "./api.ts";
import type { Action } from "./change.ts";
import type { Span } from "./diagnostic.ts";
import type { Goal } from "./plan.ts";
import type { StepReport } from "./report.ts";
import type { Address, JsonObject, Kind, ObjectId, Values } from "./resource.ts";

/** The version of schemas/journal.schema.json. */
export const JOURNAL_FORMAT_VERSION = 1;

/** Who ran what, where. */
export interface JournalHeader {
  /** Of Tenon. */
  readonly version: string;
  readonly actor: string | null;
  readonly commit: string | null;
  /** That of the base URL, without path or credentials. */
  readonly host: string;
  /** TENON_ACCOUNT; null if it is not set. */
  readonly account: string | null;
  /** --env; null: none. */
  readonly environment: string | null;
  /** Whose tag the run's objects carry. */
  readonly owner: string | null;
  readonly goal: Goal;
}

/** `time` is ISO 8601. Those of a run begin with `run`; `change` and `content` come before the first `intent`. */
export type JournalEntry =
  | ({ readonly type: "run"; readonly format_version: number; readonly started: string } & JournalHeader)
  | {
      readonly type: "change";
      readonly key: string;
      readonly kind: Kind;
      readonly root: Address;
      /** `no-op`: the object itself stays, and something in it changes. */
      readonly action: Action;
      readonly id: ObjectId | null;
      /** The resource's values before this run, and those that it is to have. */
      readonly before: Values | null;
      readonly after: Values | null;
    }
  /** What goes with a deleted object, and has no change of its own. */
  | {
      readonly type: "content";
      /** The key of the object's change. */
      readonly of: string;
      readonly kind: Kind;
      readonly before: Values;
    }
  /** All that was there before is on disk: as many entries as these are above. */
  | {
      readonly type: "begin";
      readonly time: string;
      readonly changes: number;
      readonly contents: number;
      readonly youngest?: Youngest;
    }
  | ({ readonly type: "intent"; readonly time: string; readonly changes: readonly string[] } & Intent)
  | ({ readonly type: "outcome"; readonly time: string } & StepReport)
  | {
      readonly type: "end";
      readonly time: string;
      /** As in the report. */
      readonly requestCount: number;
      readonly interrupted: boolean;
      readonly notices: readonly string[];
    };

/** What is about to be done, for the journal. `to` of an upload is not part of it: it is a secret. */
export interface Intent {
  readonly step: string;
  readonly reason: "step" | "repeat" | "useless" | "duplicate";
  readonly method: Method | "upload" | "wait";
  readonly path: readonly string[];
  readonly body: JsonObject | null;
}

/** The highest id of each kind of root that the plan has read: ids ascend, so whatever has a higher one came after that. */
export type Youngest = Readonly<Partial<Record<Kind, ObjectId>>>;

/** Codes of the warnings that something of a run is not taken back by its undo. */
export const LEFT_BY_UNDO: ReadonlySet<string> = new Set([
  "undo-lost",
  "undo-gone",
  "undo-name-taken",
  "undo-in-the-way",
  "undo-left",
  "undo-unknown",
  "undo-gave-way",
  "undo-stands-for",
]);

// A run as its journal tells it.

export interface JournalledRun {
  /** As it was given. */
  readonly file: string;
  /** ISO 8601. */
  readonly started: string;
  /** Of the run's first line. */
  readonly span: Span;
  readonly host: string;
  readonly account: string | null;
  readonly environment: string | null;
  readonly owner: string | null;
  readonly goal: Goal;
  readonly changes: readonly JournalledChange[];
  /** false: the run was killed, or the rest of the file is missing. */
  readonly isEnded: boolean;
  /** Of a kind that is not among them nothing was there, or nobody knows. */
  readonly youngest: Youngest;
}

export interface JournalledChange {
  readonly key: string;
  readonly kind: Kind;
  readonly root: Address;
  readonly action: Action;
  readonly id: ObjectId | null;
  readonly before: Values | null;
  readonly after: Values | null;
  /** What went with a deleted object. */
  readonly contents: readonly Values[];
  /** Of its line. */
  readonly span: Span;
  /** A request of it was sent, or about to be, and none of the journal's outcomes says that nothing came of it. */
  readonly isBegun: boolean;
  /** All requests that were begun of it are done. */
  readonly isDone: boolean;
  /** The id of what was made; null: nothing was, or its answer was never seen. */
  readonly madeId: ObjectId | null;
  /** A request that makes it was sent, or about to be, and no answer gave its id. */
  readonly mayBeMade: boolean;
  /** The run deleted what it had made, as a duplicate, and went on with an equal object that was there first: another run may have made that. */
  readonly gaveWay: boolean;
  /** The POST that makes it is sent to another object: a root is then a copy of that one, and has its fields until a later request. */
  readonly isFromAnother: boolean;
  /** What its requests said that were sent or about to be, in turn: for a moment an object has values that are neither those before nor those after. */
  readonly sent: readonly Values[];
}
