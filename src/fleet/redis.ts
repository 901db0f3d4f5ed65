/** A store on Redis or Valkey: records and locks by scripts that are one step each, and BullMQ for the queue. */

import { randomUUID } from "node:crypto";
import type { Queue } from "bullmq";
import { Redis } from "ioredis";
import type { Diagnostic } from "../model/diagnostic.ts";
import { CHECKED_TLS } from "../model/tls.ts";
import { BullQueue } from "./bullmq.ts";
import { Outages } from "./outages.ts";
import {
  type Fence,
  type FleetStore,
  MAX_LOCK_MILLISECONDS,
  MAX_RECORD_OCTETS,
  type OpenedStore,
  RECORD_LIFETIME_MILLISECONDS,
  reasonOf,
  type StoreAddress,
  type StoredRecord,
  type StoreOptions,
  storeFails,
  unfit,
} from "./store.ts";

/** BullMQ needs no newer one for what a fleet uses. */
const MIN_VERSION: readonly [number, number] = [6, 2];
const CONNECT_MILLISECONDS = 5_000;
/** A connection on which nothing comes for so long while something is asked for is opened anew. */
const SILENCE_MILLISECONDS = 8_000;
const MAX_RECONNECT_MILLISECONDS = 1_000;

/** Names of all keys begin with it. */
const ROOT = "tenon";
/** BullMQ's queue. */
const WAKE_UPS = "wake-ups";

export async function openRedis(address: StoreAddress, options: StoreOptions): Promise<OpenedStore> {
  const problem = await findUnfit(address, options.prefix);
  return problem === null ? { ok: true, store: new RedisStore(address, options) } : { ok: false, diagnostic: problem };
}

/** None where the address does not ask for TLS: any settings would. */
function tlsOf({ url }: StoreAddress): { readonly tls?: typeof CHECKED_TLS } {
  return url.startsWith("rediss:") ? { tls: CHECKED_TLS } : {};
}

/** Looks at once, and does not try again. */
async function findUnfit(address: StoreAddress, prefix: string): Promise<Diagnostic | null> {
  const client = new Redis(address.url, {
    ...{ lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, enableOfflineQueue: false },
    ...{ connectTimeout: CONNECT_MILLISECONDS, commandTimeout: CONNECT_MILLISECONDS, enableReadyCheck: false },
    ...tlsOf(address),
  });
  // The first one says why: those that follow say that the connection is closed.
  const failures: Error[] = [];
  client.on("error", (error) => failures.push(error));
  try {
    await client.connect();
    return problemOf(address, await client.info()) ?? (await problemOfKeys(client, address, prefix));
  } catch (error) {
    return storeFails(address, failures[0] ?? error);
  } finally {
    client.disconnect();
  }
}

/** @param info the answer to INFO */
function problemOf({ shown }: StoreAddress, info: string): Diagnostic | null {
  const field = (name: string): string | null => new RegExp(`^${name}:(.{1,60}?)\\r?$`, "m").exec(info)?.[1] ?? null;
  const version = field("redis_version");
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  const [needMajor, needMinor] = MIN_VERSION;
  if (version === null || !(major > needMajor || (major === needMajor && minor >= needMinor))) {
    const found = version !== null && /^[\w.-]+$/.test(version) ? version : "an unknown version";
    const fix = `Use Redis ${MIN_VERSION.join(".")} or newer, or Valkey.`;
    return unfit(`the Redis at ${shown} is too old: ${found}`, fix);
  }
  const policy = field("maxmemory_policy");
  if (policy !== null && policy !== "noeviction") {
    const shownPolicy = /^[\w-]+$/.test(policy) ? policy : "unknown";
    const detail = "When its memory is full it would drop locks and results without a word.";
    const fix = "Set maxmemory-policy noeviction.";
    return unfit(`the Redis at ${shown} evicts: maxmemory-policy is ${shownPolicy}`, fix, detail);
  }
  if (field("loading") === "1") return unfit(`the Redis at ${shown} is still loading its data`, "Wait.");
  const isReplica = field("role") === "slave";
  return isReplica ? unfit(`the Redis at ${shown} is a replica`, "Name the primary.") : null;
}

/** What BullMQ keeps of a queue as a whole. */
const KEY_TYPES: ReadonlyMap<string, string> = new Map([
  ...["wait", "active", "paused"].map((key) => [key, "list"] as const),
  ...["delayed", "prioritized", "completed", "failed", "repeat", "marker"].map((key) => [key, "zset"] as const),
  ...["id", "pc", "limiter", "stalled-check"].map((key) => [key, "string"] as const),
  ...([
    ["stalled", "set"],
    ["meta", "hash"],
    ["events", "stream"],
  ] as const),
]);

/** Those that BullMQ counts in. */
const COUNTERS: readonly string[] = ["id", "pc"];
const COUNT = /^\d{1,15}$/;
const MAX_COUNT_OCTETS = 16;

/** A key of another type, or a counter that is no number, which somebody else has written, would fail each command of BullMQ. */
async function problemOfKeys(client: Redis, { shown }: StoreAddress, prefix: string): Promise<Diagnostic | null> {
  const keyOf = (name: string) => `${ROOT}:${prefix}:${WAKE_UPS}:${name}`;
  const keys = [...KEY_TYPES].map(([name, type]) => ({ key: keyOf(name), type }));
  // Whoever may not ask for types is not kept from the queue.
  const types = await Promise.all(keys.map(({ key }) => client.type(key).catch(() => "none")));
  const wrong = keys.find(({ type }, index) => types[index] !== "none" && types[index] !== type);
  const unusable = (key: string, what: string): Diagnostic => {
    const detail = "Somebody else has written it: no command or worker can use the queue.";
    const fix = `Delete it, for example with redis-cli del ${key}, or use another --prefix.`;
    return unfit(`the queue at ${shown} has a ${what}: ${key}`, fix, detail);
  };
  if (wrong !== undefined) return unusable(wrong.key, "key of another type");
  const counters = COUNTERS.map(keyOf);
  const counts = await Promise.all(
    counters.map((key) => client.getrange(key, 0, MAX_COUNT_OCTETS - 1).catch(() => "")),
  );
  const odd = counters.find((_, index) => counts[index] !== "" && !COUNT.test(counts[index] ?? ""));
  return odd === undefined ? null : unusable(odd, "counter that is no number");
}

/** For connections that are opened again whenever they are lost; what is asked for meanwhile waits. */
const LASTING = {
  maxRetriesPerRequest: null,
  retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_MILLISECONDS),
  // The name of the primary may be another server's by now.
  reconnectOnError: ({ message }: Error) => message.includes("READONLY"),
  connectTimeout: CONNECT_MILLISECONDS,
  socketTimeout: SILENCE_MILLISECONDS,
};

/**
 * Replies of a server that is full, starts, fails over or is busy. Within a script of an older one they follow other words.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
 */
const PASSING = /\b(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN)\b/;

function isPassing(error: unknown): boolean {
  return error instanceof Error && PASSING.test(error.message);
}

const MAX_VERSION_OCTETS = String(Number.MAX_SAFE_INTEGER).length;

/**
 * Whoever can write to the server can put anything under any key. What is of another type, or no whole number that JavaScript has, counts as not
 * being there, so that it keeps nothing up: `text`, `number` and `version_of` read so.
 */
const CAREFULLY = `
local function is(key, kind) return redis.call('TYPE', key).ok == kind end
local function text(key) if is(key, 'string') then return redis.call('GET', key) end return false end
local function number(value)
  local found = tonumber(value or '0') or 0
  if found >= 0 and found < ${Number.MAX_SAFE_INTEGER} and found == math.floor(found) then return found end
  return 0
end
local function version_of(key)
  if not is(key, 'hash') or redis.call('HSTRLEN', key, 'v') > ${MAX_VERSION_OCTETS} then return 0 end
  return number(redis.call('HGET', key, 'v'))
end`;

/** KEYS: record, fence. ARGV: expected version, text, lifetime or "" for one without, count of the fence or "". */
const WRITE = `${CAREFULLY}
if ARGV[4] ~= '' and text(KEYS[2]) ~= ARGV[4] then return 0 end
local version = version_of(KEYS[1])
if not is(KEYS[1], 'hash') then redis.call('DEL', KEYS[1]) end
if version == tonumber(ARGV[1]) + 1 and redis.call('HGET', KEYS[1], 'd') == ARGV[2] then return 1 end
if version ~= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'v', version + 1, 'd', ARGV[2])
if ARGV[3] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`;

/** KEYS: record. ARGV: the most octets. A record that is too long is not sent. */
const READ = `${CAREFULLY}
local version = version_of(KEYS[1])
if version == 0 then return false end
if redis.call('HSTRLEN', KEYS[1], 'd') > tonumber(ARGV[1]) then return {version, false} end
return {version, redis.call('HGET', KEYS[1], 'd')}`;

/** KEYS: records. A version that is too long to be one is not sent either. */
const VERSIONS = `${CAREFULLY}
local versions = {}
for index, key in ipairs(KEYS) do versions[index] = version_of(key) end
return versions`;
/** A server does nothing else while it runs a script. */
const MAX_KEYS_TOGETHER = 1_000;

/**
 * How long a counter is kept that nobody takes: those of tokens and accounts that there are no more go away. A new one is ahead of it, and what
 * was forgotten is extended by nobody.
 */
const FENCE_LIFETIME_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/**
 * KEYS: lock, fence. ARGV: owner, time to live, lifetime of the counter, the longest time to live that a lock has. A counter that was lost with
 * the server's data goes on from the server's clock, which is ahead of every count.
 */
const LOCK = `${CAREFULLY}
local owner = text(KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[4]) then owner = false end
if owner == ARGV[1] then return text(KEYS[2]) end
if owner then return false end
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local count = math.max(number(text(KEYS[2])) + 1, clock)
local counted = string.format('%.0f', count)
redis.call('SET', KEYS[2], counted, 'PX', ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return counted`;

/** KEYS: lock, fence. ARGV: count, time to live, lifetime of the counter. */
const EXTEND = `${CAREFULLY}
if text(KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'extended:' .. ARGV[1], 'PX', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1`;

/** KEYS: lock, fence. ARGV: count. */
const UNLOCK = `${CAREFULLY}
if text(KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** Among so many of those that were taken last is the one that was taken just now. */
const MAX_LOOKED_AT_JOBS = 1_000;

class RedisStore implements FleetStore {
  readonly queue: BullQueue;
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #outages: Outages;

  constructor(address: StoreAddress, options: StoreOptions) {
    this.#prefix = `${ROOT}:${options.prefix}`;
    this.#client = new Redis(address.url, { ...LASTING, ...tlsOf(address) });
    this.#client.on("error", (error) => options.observer.unreachable(reasonOf(error).reason));
    this.#client.on("ready", () => options.observer.unreachable(null));
    this.#outages = new Outages(options.observer, isPassing);
    const connection = { url: address.url, ...LASTING, ...tlsOf(address) };
    const drop = (queue: Queue, token: string): Promise<boolean> => this.#dropJob(queue, token);
    const shared = { prefix: this.#prefix, queue: WAKE_UPS, outages: this.#outages, drop };
    this.queue = new BullQueue({ connection: connection as never, ...shared }, options);
  }

  #eval(script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    return this.#outages.wait(() => this.#client.call("EVAL", [script, keys.length, ...keys, ...values]));
  }

  /** What was taken last is the first of those that are active. */
  async #dropJob(queue: Queue, token: string): Promise<boolean> {
    const active = queue.toKey("active");
    for (const id of await this.#client.lrange(active, 0, MAX_LOOKED_AT_JOBS - 1)) {
      const [job, lock] = [queue.toKey(id), queue.toKey(`${id}:lock`)];
      if ((await this.#client.get(lock)) !== token) continue;
      await this.#client.multi().lrem(active, 0, id).srem(queue.toKey("stalled"), id).del(job, lock).exec();
      return true;
    }
    return false;
  }

  async read(key: string, maxOctets: number = MAX_RECORD_OCTETS): Promise<StoredRecord | null> {
    const found = await this.#eval(READ, [this.#record(key)], [Math.min(maxOctets, MAX_RECORD_OCTETS)]);
    if (!Array.isArray(found)) return null;
    const [version, text] = found;
    return { version: Number(version), text: typeof text === "string" ? text : null };
  }

  async versions(keys: readonly string[]): Promise<number[]> {
    const versions: number[] = [];
    for (let from = 0; from < keys.length; from += MAX_KEYS_TOGETHER) {
      const some = keys.slice(from, from + MAX_KEYS_TOGETHER).map((key) => this.#record(key));
      const found = await this.#eval(VERSIONS, some, []);
      for (const index of some.keys()) versions.push(Array.isArray(found) ? Number(found[index] ?? 0) : 0);
    }
    return versions;
  }

  async write(
    key: string,
    text: string,
    expected: number,
    fence: Fence | null,
    lifetimeMilliseconds: number | null = RECORD_LIFETIME_MILLISECONDS,
  ): Promise<boolean> {
    const [record, counter] = [this.#record(key), this.#fence(fence?.account ?? "")];
    const count = fence === null ? "" : String(fence.count);
    const lifetime = lifetimeMilliseconds ?? "";
    return (await this.#eval(WRITE, [record, counter], [expected, text, lifetime, count])) === 1;
  }

  async renew(key: string, lifetimeMilliseconds: number): Promise<boolean> {
    return this.#outages.wait(async () => (await this.#client.pexpire(this.#record(key), lifetimeMilliseconds)) === 1);
  }

  async lock(account: string, milliseconds: number): Promise<Fence | null> {
    const [lock, counter, owner] = [this.#lock(account), this.#fence(account), randomUUID()];
    const times = [milliseconds, FENCE_LIFETIME_MILLISECONDS, MAX_LOCK_MILLISECONDS];
    const count = await this.#eval(LOCK, [lock, counter], [owner, ...times]);
    return typeof count === "string" ? { account, count: Number(count) } : null;
  }

  async extend({ account, count }: Fence, milliseconds: number): Promise<boolean> {
    const [lock, counter] = [this.#lock(account), this.#fence(account)];
    return (
      (await this.#eval(EXTEND, [lock, counter], [String(count), milliseconds, FENCE_LIFETIME_MILLISECONDS])) === 1
    );
  }

  async unlock({ account, count }: Fence): Promise<void> {
    await this.#eval(UNLOCK, [this.#lock(account), this.#fence(account)], [String(count)]);
  }

  schedule(account: string, milliseconds: number): Promise<void> {
    return this.queue.schedule(account, milliseconds);
  }

  scheduled(): Promise<string[]> {
    return this.queue.scheduled();
  }

  async close(): Promise<void> {
    this.#outages.close();
    await this.queue.close();
    this.#client.disconnect();
  }

  #record(key: string): string {
    return `${this.#prefix}:record:${key}`;
  }

  #lock(account: string): string {
    return `${this.#prefix}:lock:${account}`;
  }

  #fence(account: string): string {
    return `${this.#prefix}:fence:${account}`;
  }
}
