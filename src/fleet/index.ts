/** Fleet: many accounts, each with its project, by one command. */

export { ActivityRecorder, StatusReader } from "./activity.ts";
export { digestOf, type ProjectDigests, planDigestOf } from "./digest.ts";
export {
  type Fleet,
  type FleetAccount,
  type FleetOptions,
  findLinked,
  fleetFileAt,
  loadFleet,
  type ServiceFallback,
} from "./fleet-file.ts";
export { fleetFromCsv } from "./from-csv.ts";
export { openStore, prepareStore } from "./open-store.ts";
export { EmbeddedQueue } from "./queue.ts";
export {
  type PendingRun,
  problemOfRecord,
  Records,
  type RunRequest,
  SCHEDULE_KEY,
} from "./records.ts";
export { type FleetEvent, type FleetRun, runFleet } from "./run.ts";
export { approvedPlan, fetchPlan, keepPlan, newPlanFile, planFile } from "./saved-plans.ts";
export { FLEET_SCHEMA } from "./schema.ts";
export { parseSelection } from "./select.ts";
export { Slots } from "./slots.ts";
export { type FleetStore, isPrefix, parseStoreAddress, type StoreAddress } from "./store.ts";
export {
  claimPrefix,
  failedOutcome,
  isPrefixOf,
  KeptPrefix,
  Submission,
  type SubmissionEvent,
  type Submitted,
} from "./submit.ts";
export { tokenDigestOf } from "./token.ts";
export { parseTokenHosts } from "./token-hosts.ts";
export { type FoundAccount, type Hold, type RunResult, serveFleet, type WorkerEvent } from "./worker.ts";
