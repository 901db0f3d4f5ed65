/**
 * The library's face: from manifests to a plan, from a plan to a report. What else there is stands behind `tenon/emulator`, `tenon/format`,
 * `tenon/import`, `tenon/live`, `tenon/render` and `tenon/verify`.
 */

export type { ApiEvent, CheckedBaseUrl, ClientApi, Clock, Connection, ReadClient, Service } from "./api/index.ts";
export {
  allowedSeconds,
  checkBaseUrl,
  isDialect,
  NEUTRAL_DIALECT,
  SERVICES,
  serviceAt,
  serviceCalled,
  systemClock,
} from "./api/index.ts";
export type { ApplyEvent } from "./apply/events.ts";
export type { Journal, JournalHeader } from "./apply/journal.ts";
export { lintProject } from "./lint/index.ts";
export type { LoadOptions, LoadResult, Project } from "./manifest/load.ts";
export { contentInside } from "./manifest/read.ts";
export type { Api, Failure, FileContent, ReadApi } from "./model/api.ts";
export {
  type Action,
  type AttachedInterface,
  type Block,
  type Change,
  type ChangeLabel,
  type Drift,
  hasDrift,
} from "./model/change.ts";
export type { Consent, ConsentRule, Declared, Desired, Removed } from "./model/desired.ts";
export type { Diagnostic, Severity, Span } from "./model/diagnostic.ts";
export { hasErrors, Sources } from "./model/diagnostic.ts";
export type { Live } from "./model/live.ts";
export {
  DEFAULT_UPLOAD_TIMEOUT_SECONDS,
  type Goal,
  type Guard,
  type Plan,
  type PlanInputs,
  type Step,
  type Strategy,
  type Summary,
  summarise,
} from "./model/plan.ts";
export type { Report } from "./model/report.ts";
export {
  applyPlan,
  type Base,
  checkAccount,
  createApi,
  createReadApi,
  deletedInDoubt,
  findUnreviewed,
  loadProject,
  openJournal,
  type PlanRequest,
  type PlanResult,
  parsePlanFile,
  planProject,
  rootsHeldByInterfaces,
  withEnvironments,
} from "./pipeline.ts";
export { driftOf, unclearIdentities } from "./plan/compare.ts";
export type { OtherEnvironment } from "./plan/guards.ts";
export { isUnmatched } from "./plan/select.ts";
export type { PlanFileResult } from "./render/plan-file.ts";
