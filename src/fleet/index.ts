/** Fleet: many accounts, each with its project, by one command. */

export { digestOf, type ProjectDigests, planDigestOf } from "./digest.ts";
export { type Fleet, type FleetAccount, loadFleet, type ServiceFallback } from "./fleet-file.ts";
export { fleetFromCsv } from "./from-csv.ts";
export { EmbeddedQueue } from "./queue.ts";
export {
  type PendingRun,
  type Ran,
  Records,
  type RequestFlags,
  type RunRequest,
  SCHEDULE_KEY,
  scheduledKey,
} from "./records.ts";
export { type FleetEvent, type FleetRun, runFleet } from "./run.ts";
export { FLEET_SCHEMA } from "./schema.ts";
export { parseSelection } from "./select.ts";
export { type FleetStore, isPrefix, openStore, parseStoreAddress, prepareStore, type StoreAddress } from "./store.ts";
export { claimPrefix, Submission, type SubmissionEvent } from "./submit.ts";
export { tokenDigestOf } from "./token.ts";
export { type FoundAccount, type Hold, type RunResult, serveFleet, type WorkerEvent } from "./worker.ts";
