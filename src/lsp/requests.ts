/** What the server asks of the process that reads and checks projects, and the answers: plain data with absolute paths. */

import { NotificationType, type Range, RequestType } from "vscode-languageserver/node";
import type { Severity } from "../model/diagnostic.ts";

export interface Place {
  /** Absolute. */
  readonly path: string;
  readonly range: Range;
}

/** A diagnostic of a project, as an editor has places. */
export interface Finding {
  readonly place: Place;
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly related: readonly { readonly place: Place; readonly message: string }[];
  readonly corrections: readonly Replacement[];
}

/** What would settle a finding: `from` becomes `to`, if the text still has it there. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
  /** null: where the finding is. */
  readonly range: Range | null;
  readonly unquotes: boolean;
}

export interface Outcome {
  /** false: the folder has no root file (any more). */
  readonly isProject: boolean;
  /** The files that were read, zone files included. */
  readonly files: readonly string[];
  readonly findings: readonly Finding[];
  /** Files that were read from the disk for it, and texts that were parsed. */
  readonly readCount: number;
  readonly parsedCount: number;
}

export type NameKind = "record set" | "variable" | "environment";

/** Where a name stands: the name alone, without quotes around it. */
export interface Occurrence {
  readonly kind: NameKind;
  readonly name: string;
  readonly place: Place;
  readonly isDefinition: boolean;
}

/** A buffer is opened or changed; text null: it is closed. */
export const BufferNotification: NotificationType<{ readonly path: string; readonly text: string | null }> =
  new NotificationType("tenon/buffer");

/** Something on the disk may have changed. */
export const DiskNotification: NotificationType<object> = new NotificationType("tenon/disk");

export const CheckRequest: RequestType<{ readonly directory: string }, Outcome, void> = new RequestType("tenon/check");

/** Everywhere that record sets, variables and environments of a project are named. */
export const NamesRequest: RequestType<{ readonly directory: string }, readonly Occurrence[], void> = new RequestType(
  "tenon/names",
);

/** The text as `fmt` would write it; null: it has errors, or formatting would lose something, and it stays as it is. */
export const FormatRequest: RequestType<{ readonly text: string }, string | null, void> = new RequestType(
  "tenon/format",
);
