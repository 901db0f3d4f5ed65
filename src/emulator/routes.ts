/** Every route of the API, one file per area. */

import { DOMAIN_IMPORT_ROUTES } from "./domain-import.ts";
import { DOMAIN_ROUTES } from "./domains.ts";
import { type Answer, badRequest, succeed, succeedEmpty } from "./errors.ts";
import { type ActiveFaults, DEFAULT_FAULT_SEED, type Fault, MAX_SEED, parseFault } from "./faults.ts";
import { BodyReader } from "./fields.ts";
import type { RequestLog } from "./http.ts";
import { IMAGE_ROUTES } from "./images.ts";
import { RECORD_ROUTES } from "./records.ts";
import type { JsonBody, Route, Service } from "./route.ts";
import { MAIN_ACCOUNT, MAX_ADVANCE_SECONDS, MAX_CHOSEN_ID } from "./store.ts";
import { TICKET_REPLY_ROUTES, TICKET_ROUTES } from "./tickets.ts";
import { attach, detach, SUBNET_ROUTES, VPC_IP_ROUTES, VPC_ROUTES } from "./vpcs.ts";

/** Outside API.md: a client pings it, and refuses to start without. @param word the operator's */
export function outsideRoutes(word: string): readonly Route[] {
  const handle = (): Answer => succeed({ data: [], page: 1, pages: 1, results: 0 });
  return [{ operation: "Node Types List", method: "GET", path: `/${word}/types`, scopes: [], anonymous: true, handle }];
}

export const API_ROUTES: readonly Route[] = [
  ...VPC_ROUTES,
  ...SUBNET_ROUTES,
  ...VPC_IP_ROUTES,
  ...DOMAIN_ROUTES,
  ...DOMAIN_IMPORT_ROUTES,
  ...RECORD_ROUTES,
  ...IMAGE_ROUTES,
  ...TICKET_ROUTES,
  ...TICKET_REPLY_ROUTES,
];

// What is outside API.md, below `/_emulator`: interfaces, disks, the clock, and what was asked and triggered.

/** `255.255.255.255` */
const MAX_ADDRESS_LENGTH = 15;

export interface ControlRoute {
  readonly method: "GET" | "POST";
  /** Below `/_emulator`. */
  readonly path: string;
  readonly handle: (body: JsonBody) => Answer;
}

export function controlRoutes(service: Service, requests: RequestLog, faults: ActiveFaults): ControlRoute[] {
  return [
    { method: "POST", path: "/attach", handle: (body) => attachInterface(service, body) },
    { method: "POST", path: "/detach", handle: (body) => detachInterface(service, body) },
    { method: "POST", path: "/disks", handle: (body) => putDisk(service, body) },
    { method: "POST", path: "/clock", handle: (body) => advanceClock(service, body) },
    { method: "POST", path: "/faults", handle: (body) => replaceFaults(faults, body) },
    { method: "GET", path: "/requests", handle: () => succeed({ data: requests.all() }) },
    { method: "GET", path: "/events", handle: () => succeed({ data: service.events.all() }) },
  ];
}

function readPositive(reader: BodyReader, field: string, max: number): number {
  return reader.require(field) ? (reader.integer(field, 1, max) ?? 0) : 0;
}

/** The id of what is there. */
function readKnownId(reader: BodyReader, field: string): number {
  return readPositive(reader, field, Number.MAX_SAFE_INTEGER);
}

/** An id that the caller may give to something new. */
function readChosenId(reader: BodyReader, field: string): number {
  return readPositive(reader, field, MAX_CHOSEN_ID);
}

function attachInterface(service: Service, body: JsonBody): Answer {
  const reader = new BodyReader(body);
  const subnet_id = readKnownId(reader, "subnet_id");
  // In API.md's word it is understood in every dialect.
  const node_id = readChosenId(reader, reader.has("node_id") ? "node_id" : `${service.settings.word}_id`);
  const interface_id = readChosenId(reader, "interface_id");
  const active = reader.boolean("active") ?? true;
  const config_id = reader.integer("config_id", 1, MAX_CHOSEN_ID) ?? service.store.nextId("config");
  const address = reader.text("address", { max: MAX_ADDRESS_LENGTH });
  const nat_1_1 = reader.text("nat_1_1", { max: MAX_ADDRESS_LENGTH }) ?? "";
  const address_ranges = reader.texts("address_ranges") ?? [];
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const attachment = { subnet_id, node_id, interface_id, active, config_id, nat_1_1, address_ranges };
  const problem = attach(service.store, address === undefined ? attachment : { ...attachment, address });
  return problem === null ? succeedEmpty() : badRequest(problem);
}

function detachInterface(service: Service, body: JsonBody): Answer {
  const reader = new BodyReader(body);
  const id = readKnownId(reader, "interface_id");
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const problem = detach(service.store, id);
  return problem === null ? succeedEmpty() : badRequest(problem);
}

function putDisk(service: Service, body: JsonBody): Answer {
  const reader = new BodyReader(body);
  const id = readChosenId(reader, "id");
  const size = readPositive(reader, "size", Number.MAX_SAFE_INTEGER);
  const label = reader.require("label") ? reader.text("label", { min: 1, max: 64 }) : undefined;
  if (reader.errors.length > 0 || typeof label !== "string") return badRequest(...reader.errors);
  service.store.tables.disks.put({ id, account: MAIN_ACCOUNT, label, size });
  return succeedEmpty();
}

function advanceClock(service: Service, body: JsonBody): Answer {
  const reader = new BodyReader(body);
  const seconds = reader.require("advance_seconds") ? reader.integer("advance_seconds", 0, MAX_ADVANCE_SECONDS) : 0;
  if (reader.errors.length > 0 || typeof seconds !== "number") return badRequest(...reader.errors);
  const problem = service.clock.advance(seconds);
  if (problem !== null) return badRequest({ reason: problem, field: "advance_seconds" });
  return succeed({ now: service.clock.timestamp() });
}

function replaceFaults(active: ActiveFaults, body: JsonBody): Answer {
  const reader = new BodyReader(body);
  const specs = reader.require("faults") ? (reader.texts("faults") ?? []) : [];
  const seed = reader.integer("seed", 0, MAX_SEED) ?? DEFAULT_FAULT_SEED;
  const faults: Fault[] = [];
  for (const [index, spec] of specs.entries()) {
    const parsed = parseFault(spec);
    if (parsed.ok) faults.push(parsed.fault);
    else reader.fail(`faults[${index}]`, parsed.problem);
  }
  if (reader.errors.length > 0) return badRequest(...reader.errors);
  const problem = active.replace(faults, seed);
  return problem === null ? succeedEmpty() : badRequest({ reason: problem, field: "faults" });
}
