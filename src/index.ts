/**
 * The library's face: from manifests to a plan, from a plan to a report. What else there is stands behind `tenon/emulator`, `tenon/format`,
 * `tenon/import`, `tenon/live`, `tenon/render`, `tenon/tickets`, `tenon/verify` and
 * `tenon/watch`.
 */

import type { LoadOptions } from "./manifest/load.ts";
import { LastingFiles } from "./manifest/parse.ts";
import type { OpenOptions, OpenProject } from "./open.ts";

export type { Timeouts } from "./api/connection.ts";
export {
  type Admission,
  type ApiEvent,
  allowedSeconds,
  type CheckedBaseUrl,
  type ClientApi,
  type Clock,
  type Connection,
  checkBaseUrl,
  isDialect,
  NEUTRAL_DIALECT,
  type PaceCell,
  type PaceWindow,
  type ReadClient,
  SERVICES,
  type SeenLimits,
  type Service,
  serviceAt,
  serviceCalled,
  systemClock,
} from "./api/index.ts";
export type { RateLimitState } from "./api/rate-limit.ts";
export type { ApplyEvent, NoteType, StopReason } from "./apply/events.ts";
export type { ApplyRequest } from "./apply/execute.ts";
export type { Journal, JournalOptions, OpenedJournal } from "./apply/journal.ts";
export { asciiAddress, unicodeName } from "./dns/unicode.ts";
export {
  DECLARED_HERE,
  declaredAddresses,
  type InventoryFilter,
  type InventoryRequest,
  type InventoryResult,
  NOBODY,
  type OutputsRequest,
  type ParsedAddress,
  parseAddress,
  takeInventory,
  takeOutputs,
} from "./inventory.ts";
export { lintProject, lintRules } from "./lint/index.ts";
export type { RuleText } from "./lint/rule.ts";
export type { LongLists } from "./live/long-lists.ts";
export { MAX_FILE_BYTES as MAX_MANIFEST_BYTES } from "./manifest/limits.ts";
export type { LoadOptions, LoadResult, Project } from "./manifest/load.ts";
export {
  contentInside,
  contentsInside,
  decode as decodeText,
  type FileProblem,
  type FolderEntry,
  type ProjectFiles,
  type ReadText,
} from "./manifest/read.ts";
export { type CheckWatch, isUploadProblem, UploadFiles } from "./manifest/upload-file.ts";
export type { Annotations } from "./model/annotations.ts";
export type {
  Answer,
  Api,
  ApiError,
  ApiRequest,
  Confirmation,
  Failure,
  FailureType,
  FileContent,
  FormFile,
  GetRequest,
  ListAnswer,
  ListRequest,
  Method,
  ObservedLimit,
  ReadApi,
  Subset,
  UploadRequest,
} from "./model/api.ts";
export {
  type Action,
  type AttachedInterface,
  type Block,
  type Candidate,
  type Change,
  type ChangedSince,
  type ChangeLabel,
  type ChangeOrigin,
  type ComparedResource,
  type Drift,
  type DriftField,
  type DriftObject,
  type DriftStatus,
  type Holdings,
  hasDrift,
  type RangeChange,
} from "./model/change.ts";
export type {
  Consent,
  ConsentRule,
  Declared,
  Desired,
  IgnorePattern,
  IgnorePreset,
  NamedFile,
  Removed,
} from "./model/desired.ts";
export {
  type Correction,
  type Diagnostic,
  hasErrors,
  type Position,
  type Related,
  type Severity,
  Sources,
  type Span,
} from "./model/diagnostic.ts";
export type { InspectedContents, Inspection, InventoryItem } from "./model/inventory.ts";
export type {
  Intent,
  JournalEntry,
  JournalHeader,
  JournalledChange,
  JournalledRun,
  Youngest,
} from "./model/journal.ts";
export type { Live, LiveUnit } from "./model/live.ts";
export {
  type Barrier,
  DEFAULT_IMAGE_TIMEOUT_SECONDS,
  DEFAULT_UPLOAD_TIMEOUT_SECONDS,
  type Family,
  type FamilyMember,
  type FleetInput,
  type FreeSpace,
  type Gap,
  type GivenValue,
  type Goal,
  type Guard,
  type JournalInput,
  type LeftAlone,
  type Lookup,
  type Pace,
  type PathPart,
  type Plan,
  type PlanBase,
  type PlanInputs,
  type Produced,
  type Reference,
  type RequestStep,
  type Step,
  type StepBase,
  type Strategy,
  type Summary,
  summarise,
  type UploadStep,
  type WaitStep,
  type WithdrawnChange,
  type WithheldChange,
} from "./model/plan.ts";
export type { ChangeOutcome, ChangeReport, Report, StepOutcome, StepReport } from "./model/report.ts";
export type { Address, Json, JsonObject, Kind, ObjectId, UnitName, Values } from "./model/resource.ts";
export type { ReadWatch } from "./model/unit.ts";
export type { ApplyChoice, OpenOptions, OpenProject, PlanChoice } from "./open.ts";
export {
  applyPlan,
  asBound,
  type Base,
  type ContentOf,
  checkAccount,
  createApi,
  createReadApi,
  findUnreviewed,
  type InspectRequest,
  type InspectResult,
  inspectAddress,
  judgeByEnvironments,
  loadProject,
  openJournal,
  openRun,
  type PlanFileResult,
  type PlanRequest,
  type PlanResult,
  parseJournal,
  parsePlanFile,
  planProject,
  rootsHeldByInterfaces,
  runOfEntries,
  TenonError,
} from "./pipeline.ts";
export { type ChangedEntries, findChangedSince } from "./plan/changed-since.ts";
export { driftOf, unclearIdentities } from "./plan/drift.ts";
export { isUnmatched } from "./plan/select.ts";
export type { JournalResult } from "./saved/journal-file.ts";
export type { OpenedRun, UndoPlace } from "./saved/undo-run.ts";

/**
 * Loads the project and opens a connection, over which nothing is sent yet.
 * @throws TenonError if the address, the dialect or a manifest is wrong, or if the project is of another account
 */
export async function open(options: OpenOptions): Promise<OpenProject> {
  const { openProject } = await import("./open.ts");
  return openProject(options);
}
export { CHECKED_ITEM_CHARACTERS, MAX_CHECKED_CHARACTERS, MAX_CHECKED_ENVIRONMENTS } from "./manifest/limits.ts";

/** What several loads of one project share, as `parsed` of `LoadOptions`: each text is parsed once. */
export function shareParsedFiles(): NonNullable<LoadOptions["parsed"]> {
  return new LastingFiles();
}
