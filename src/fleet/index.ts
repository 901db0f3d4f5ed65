/** Fleet: many accounts, each with its project, by one command. */

export { type Fleet, type FleetAccount, type FleetOptions, loadFleet, type ServiceFallback } from "./fleet-file.ts";
export { EmbeddedQueue } from "./queue.ts";
export { type FleetEvent, type FleetRun, runFleet } from "./run.ts";
export { FLEET_SCHEMA } from "./schema.ts";
export { parseSelection } from "./select.ts";
export { parseTokenHosts } from "./token-hosts.ts";
