/** The emulator: the whole API on loopback, from memory or a data file. */

import { attach, detach } from "./attachments.ts";
import { createClock } from "./clock.ts";
import { loadDataFile } from "./data-file.ts";
import { type DataLock, lockDataFile } from "./data-lock.ts";
import { INTERNAL_ERROR } from "./errors.ts";
import { EventLog } from "./events.ts";
import { Journal } from "./journal.ts";
import type { Emulator, EmulatorOptions } from "./options.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { RequestLog } from "./request-log.ts";
import type { Account, Route } from "./route.ts";
import { controlRoutes } from "./routes/control.ts";
import { domainRoutes } from "./routes/domains.ts";
import { imageRoutes } from "./routes/images.ts";
import { recordRoutes } from "./routes/records.ts";
import { subnetRoutes } from "./routes/subnets.ts";
import { vpcIpRoutes } from "./routes/vpc-ips.ts";
import { vpcRoutes } from "./routes/vpcs.ts";
import { secondsRounding } from "./seconds.ts";
import { applySeed } from "./seed-apply.ts";
import type { RunningServer } from "./server.ts";
import { API_PREFIX, startServer, UPLOAD_PREFIX } from "./server.ts";
import { Store } from "./store.ts";

export type {
  Attachment,
  Emulator,
  EmulatorOptions,
  LoggedRequest,
  RateLimit,
  ReadsUntilAvailable,
} from "./options.ts";
export type {
  Seed,
  SeedDisk,
  SeedDomain,
  SeedGrants,
  SeedImage,
  SeedInterface,
  SeedNode,
  SeedRecord,
  SeedSubnet,
  SeedToken,
  SeedVpc,
} from "./seed.ts";
export { SeedError } from "./seed.ts";
export { parseSeed } from "./seed-parse.ts";

const DEFAULT_READS_UNTIL_AVAILABLE = { creating: 1, pendingUpload: 2 };

/**
 * Starts an emulator on 127.0.0.1.
 * @throws SeedError if the account cannot hold the seed; Error if another process uses the data file, or it is none; an
 * error of the system if the port or a file cannot be opened
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const lock = options.data === undefined ? null : await lockDataFile(options.data);
  try {
    return await open(options, lock);
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

async function open(options: EmulatorOptions, lock: DataLock | null): Promise<Emulator> {
  const store = new Store();
  const now = options.now ?? Date.now;
  const clock = createClock(store, now);
  const port = { value: 0 };
  const account: Account = {
    store,
    clock,
    events: new EventLog(() => clock.timestamp()),
    settings: accountSettings(options, () => `http://127.0.0.1:${port.value}${UPLOAD_PREFIX}`),
  };
  const notices = await fill(account, options);
  store.takeChanges();
  const requests = new RequestLog(options.requestLog ?? null);
  const journal = options.data === undefined ? null : await Journal.create(options.data, store);
  const commit = async (): Promise<void> => {
    const changes = store.takeChanges();
    if (journal !== null && changes.length > 0) await journal.append(changes);
  };
  const release = async (): Promise<void> => {
    await journal?.close();
    requests.close();
  };
  try {
    const server = await startServer(
      {
        account,
        routes: apiRoutes(account),
        controlRoutes: controlRoutes(account, requests),
        requests,
        limitRate: createRateLimiter(options.rateLimit ?? null, now),
        // An account that can no longer be kept must not go on as if it were.
        gates: [() => (journal?.failed ? INTERNAL_ERROR : null)],
        latencyMilliseconds: options.latencyMilliseconds ?? 0,
        commit,
      },
      options.port ?? 0,
    );
    port.value = server.port;
    return face({ account, server, requests, release, lock, commit, notices });
  } catch (error) {
    await release();
    throw error;
  }
}

/** @returns what was noticed */
async function fill(account: Account, { data, seed }: EmulatorOptions): Promise<readonly string[]> {
  const { found, notices } =
    data === undefined ? { found: false, notices: [] } : await loadDataFile(data, account.store);
  if (!found) applySeed(account, seed ?? {});
  return found && seed !== undefined
    ? [...notices, `The seed was not used: ${data} holds an account already.`]
    : notices;
}

function apiRoutes(account: Account): Route[] {
  return [
    ...vpcRoutes(account),
    ...subnetRoutes(account),
    ...vpcIpRoutes(account),
    ...domainRoutes(account),
    ...recordRoutes(account),
    ...imageRoutes(account),
  ];
}

function accountSettings(options: EmulatorOptions, uploadBaseUrl: () => string): Account["settings"] {
  const word = options.dialect ?? "node";
  if (!/^[a-z]+$/.test(word)) throw new RangeError(`The dialect must be a word of lower-case letters, not ${word}`);
  return {
    word,
    roundSeconds: secondsRounding(word, options.ttlRounding ?? "nearest"),
    uniqueLabels: options.uniqueLabels ?? false,
    readsUntilAvailable: options.readsUntilAvailable ?? DEFAULT_READS_UNTIL_AVAILABLE,
    uploadBaseUrl,
  };
}

interface Parts {
  readonly account: Account;
  readonly server: RunningServer;
  readonly requests: RequestLog;
  /** Lets go of the files. */
  readonly release: () => Promise<void>;
  readonly lock: DataLock | null;
  readonly commit: () => Promise<void>;
  readonly notices: readonly string[];
}

function face({ account, server, requests, release, lock, commit, notices }: Parts): Emulator {
  const done = async (problem: string | null): Promise<void> => {
    if (problem !== null) throw new RangeError(problem);
    await commit();
  };
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await server.close();
    await release();
    await lock?.release();
  };
  return {
    baseUrl: `http://127.0.0.1:${server.port}${API_PREFIX}`,
    port: server.port,
    get requests() {
      return requests.all();
    },
    notices,
    clearRequests: () => requests.clear(),
    attach: (attachment) => done(attach(account.store, attachment)),
    detach: (interfaceId) => done(detach(account.store, interfaceId)),
    advanceClock: (seconds) => done(account.clock.advance(seconds)),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
