/** The emulator: the whole API on this machine, from memory or a data file. */

import { statSync } from "node:fs";
import { link } from "node:fs/promises";
import { type DataLock, decodeFile, Journal, lockDataFile, readIfThere } from "./data-file.ts";
import { INTERNAL_ERROR } from "./errors.ts";
import { ActiveFaults, type Fault } from "./faults.ts";
import { secondsRounding } from "./fields.ts";
import { asHost, hostName, RequestLog, TIMEOUTS } from "./http.ts";
import { ImageStates } from "./image-states.ts";
import type { Emulator, EmulatorOptions, Timeouts } from "./options.ts";
import type { Service } from "./route.ts";
import { API_ROUTES, controlRoutes, outsideRoutes } from "./routes.ts";
import { applySeed } from "./seed-objects.ts";
import { API_PREFIX, createRateLimiter, type RunningServer, startServer, UPLOAD_PREFIX } from "./server.ts";
import { createClock, EventLog, Store } from "./store.ts";
import { type AttachProblem, attach, detach } from "./vpcs.ts";
import { ZonePublisher } from "./zone-render.ts";

export type { DomainStatus, DomainType, ImageStatus, TicketStatus } from "../api/wire.ts";
export type { Fault, FaultEffect } from "./faults.ts";
export { type ParsedFault, parseFault } from "./faults.ts";
export type {
  AccountSeed,
  Attachment,
  Emulator,
  EmulatorOptions,
  LoggedRequest,
  RateLimit,
  Seed,
  SeedDisk,
  SeedDomain,
  SeedGrants,
  SeedImage,
  SeedInterface,
  SeedNode,
  SeedRecord,
  SeedReply,
  SeedSubnet,
  SeedTicket,
  SeedToken,
  SeedVpc,
  Timeouts,
  UntilAvailable,
} from "./options.ts";
export { SeedError } from "./options.ts";
export { parseSeed } from "./seed.ts";
export type { EntityKind, GrantLevel, RecordType } from "./store.ts";

/** What is the same for every user, and smaller in a test that has to get there. */
export interface Tuning {
  readonly timeouts?: Partial<Timeouts>;
  /** The data file is rewritten no earlier than after so many changes. */
  readonly minAppendedChanges?: number;
  /** How the work of a `late` fault is waited for; default real time. Never resolved, it is never done, and `close` hangs. */
  readonly waitForLate?: (milliseconds: number) => Promise<void>;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_READS_UNTIL_AVAILABLE = { creating: 1, pendingUpload: 2 };

/**
 * Starts an emulator.
 * @param tuning for tests
 * @throws SeedError if the account cannot hold the seed; Error if another process uses the data file, or it is none; an
 * error of the system if the port or a file cannot be opened
 */
export async function startEmulator(options: EmulatorOptions = {}, tuning: Tuning = {}): Promise<Emulator> {
  const lock = options.data === undefined ? null : await lockDataFile(options.data);
  try {
    return await open(options, tuning, lock);
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

async function open(options: EmulatorOptions, tuning: Tuning, lock: DataLock | null): Promise<Emulator> {
  const faults = new ActiveFaults(tuning.waitForLate);
  setFaults(faults, options.faults ?? [], options.faultSeed);
  const store = new Store();
  const now = options.now ?? Date.now;
  const clock = createClock(store, now);
  const host = options.host ?? DEFAULT_HOST;
  const own = { origin: "" };
  const closing = new AbortController();
  const service: Service = {
    store,
    clock,
    imageStates: new ImageStates(
      store,
      clock,
      options.readsUntilAvailable ?? DEFAULT_READS_UNTIL_AVAILABLE,
      options.secondsUntilAvailable ?? null,
    ),
    zones: new ZonePublisher(store, clock, options.zoneRenderSeconds ?? 0),
    events: new EventLog(() => clock.timestamp()),
    settings: serviceSettings(options, (called) => {
      const isElsewhere = host !== DEFAULT_HOST && called !== undefined;
      return `${isElsewhere ? `http://${called}` : own.origin}${UPLOAD_PREFIX}`;
    }),
    closing: closing.signal,
  };
  const notices = await fill(service, options);
  if (options.data !== undefined) store.keepChanges();
  const requests = new RequestLog(options.requestLog ?? null);
  const journal =
    options.data === undefined ? null : await Journal.create(options.data, store, tuning.minAppendedChanges);
  const commit = async (): Promise<void> => {
    const changes = store.takeChanges();
    await journal?.append(changes);
  };
  const release = async (): Promise<void> => {
    await journal?.close();
    requests.close();
  };
  try {
    const server = await startServer(
      {
        service,
        routes: [...API_ROUTES, ...outsideRoutes(service.settings.word)],
        controlRoutes: controlRoutes(service, requests, faults),
        requests,
        limitRate: createRateLimiter(options.rateLimit ?? null, now),
        // If the account or the log can no longer be written, the emulator must not continue as if it could.
        gates: [() => (journal?.failed || requests.failed ? INTERNAL_ERROR : null)],
        latencyMilliseconds: options.latencyMilliseconds ?? 0,
        timeouts: { ...TIMEOUTS, ...tuning.timeouts },
        faults,
        hostNames: hostNames(options.hostNames ?? []),
        commit,
      },
      host,
      options.port ?? 0,
    );
    own.origin = `http://${reachableHost(host)}:${server.port}`;
    return face({ service, closing, server, origin: own.origin, faults, requests, release, lock, commit, notices });
  } catch (error) {
    await release();
    throw error;
  }
}

/** @returns what was noticed */
async function fill(service: Service, { data, seed }: EmulatorOptions): Promise<readonly string[]> {
  const { found, notices } =
    data === undefined ? { found: false, notices: [] } : await loadDataFile(data, service.store);
  if (!found) applySeed(service, seed ?? {});
  return found && seed !== undefined
    ? [...notices, `The seed was not used: ${data} holds an account already.`]
    : notices;
}

/** @throws RangeError if one is no name of a host */
function hostNames(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.map((name) => {
      const read = hostName(name);
      if (read === null || new URL(`http://${name}`).port !== "") throw new RangeError(`no name of a host: ${name}`);
      return read;
    }),
  );
}

/** A server that listens on every address is on loopback too. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0") return DEFAULT_HOST;
  return host === "::" ? "[::1]" : asHost(host);
}

function serviceSettings(
  options: EmulatorOptions,
  uploadBaseUrl: (host: string | undefined) => string,
): Service["settings"] {
  const word = options.dialect ?? "node";
  if (!/^[a-z]+$/.test(word)) throw new RangeError(`The dialect must be a word of lower-case letters, not ${word}`);
  return {
    word,
    roundSeconds: secondsRounding(word, options.ttlRounding ?? "nearest"),
    uniqueLabels: options.uniqueLabels ?? false,
    uploadBaseUrl,
  };
}

/** Throws if one cannot be used. */
function setFaults(active: ActiveFaults, faults: readonly Fault[], seed: number | undefined): void {
  const problem = active.replace(faults, seed);
  if (problem !== null) throw new RangeError(problem);
}

interface Parts {
  readonly service: Service;
  readonly closing: AbortController;
  readonly server: RunningServer;
  readonly origin: string;
  readonly faults: ActiveFaults;
  readonly requests: RequestLog;
  /** Lets go of the files. */
  readonly release: () => Promise<void>;
  readonly lock: DataLock | null;
  readonly commit: () => Promise<void>;
  readonly notices: readonly string[];
}

function face(parts: Parts): Emulator {
  const { service, closing: stop, server, origin, faults, requests, release, lock, commit, notices } = parts;
  const done = async (problem: string | null): Promise<void> => {
    if (problem !== null) throw new RangeError(problem);
    await commit();
  };
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    stop.abort();
    await server.close();
    await faults.late.settled();
    await release();
    await lock?.release();
  };
  return {
    baseUrl: origin + API_PREFIX,
    port: server.port,
    get requests() {
      return requests.all();
    },
    notices,
    clearRequests: () => requests.clear(),
    attach: (attachment) => done(reasonOf(attach(service.store, attachment))),
    detach: (interfaceId) => done(reasonOf(detach(service.store, interfaceId))),
    advanceClock: (seconds) => done(service.clock.advance(seconds)),
    setFaults: (replacing, seed) => setFaults(faults, replacing, seed),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function reasonOf(problem: AttachProblem | null): string | null {
  return problem === null ? null : `${problem.field === undefined ? "" : `${problem.field}: `}${problem.reason}`;
}

// Opening a data file: an account is loaded from it, or a damaged one is set aside and said to be.

interface Loaded {
  /** There was an account in the file. */
  readonly found: boolean;
  /** For a person. */
  readonly notices: readonly string[];
}

/**
 * Fills the empty store. A damaged file is kept beside under another name, and the account begins anew.
 * @throws Error if it is no data file: it stays as it is, since whoever keeps it knows nothing of this
 */
async function loadDataFile(path: string, store: Store): Promise<Loaded> {
  const bytes = await readIfThere(path);
  if (bytes === null) return { found: false, notices: [] };
  if (bytes.length === 0) return { found: false, notices: [`${path} was empty: the account begins anew.`] };
  const decoded = decodeFile(bytes.toString("utf8"));
  if (!decoded.ok) {
    if (decoded.isForeign) throw new Error(`${path} cannot be used: ${decoded.problem}. It was left as it is`);
    const aside = await linkDamaged(path);
    const notice = `${path} cannot be used: ${decoded.problem}. It was set aside as ${aside}, and the account begins anew.`;
    return { found: false, notices: [notice] };
  }
  for (const changes of decoded.changes) store.apply(changes);
  const notices = decoded.torn
    ? [`The last line of ${path} was incomplete and was dropped: its request had not been answered.`]
    : [];
  return { found: true, notices };
}

/** Gives the old file a second name. The first goes to the new file once that is whole, so that a kill in between loses nothing. */
async function linkDamaged(path: string): Promise<string> {
  const { ino, dev } = statSync(path);
  for (let number = 1; ; number += 1) {
    const aside = `${path}.damaged-${number}`;
    const there = statSync(aside, { throwIfNoEntry: false });
    if (there === undefined) await link(path, aside);
    if (there === undefined || (there.ino === ino && there.dev === dev)) return aside;
  }
}
