/** What every engine of a fleet's queue does alike: one suite for the queue in the process, Redis and PostgreSQL. */

import { Redis } from "ioredis";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { BoundedClient, TooLongAnswer } from "../../src/fleet/bounded-client.ts";
import { EmbeddedQueue, type FleetQueue } from "../../src/fleet/queue.ts";
import { type FleetStore, MAX_RECORD_OCTETS } from "../../src/fleet/store.ts";
import { eachEngine, openedStore } from "../support/stores.ts";

const LEASE_MILLISECONDS = 2_000;

eachEngine((serverOf, name) => {
  let prefixes = 0;

  /** On a prefix of its own, or with others on one. */
  function open(prefix: string = `p${++prefixes}`): Promise<FleetStore> {
    return openedStore(serverOf().url, prefix, LEASE_MILLISECONDS);
  }

  queueSuite(async () => (await open()).queue);

  test("an account whose worker is silent is another worker's", async () => {
    const [first, second] = [await open("silent"), await open("silent")];
    await first.queue.enqueue("a");
    expect((await taken(first.queue)).account).toBe("a");
    const lease = await taken(second.queue);
    expect(lease.account).toBe("a");
    await lease.done();
  });

  test("fleets with other prefixes do not meet", async () => {
    const [one, two] = [await open("one"), await open("two")];
    await one.queue.enqueue("a");
    await one.write("k", "1", 0, null);
    expect(await two.read("k")).toBeNull();
    await two.queue.enqueue("b");
    expect((await taken(two.queue)).account).toBe("b");
  });

  test("a scheduled account is woken up again and again, until it is no longer", async () => {
    const store = await open();
    await store.schedule("a", 100);
    for (let turns = 0; turns < 3; turns += 1) {
      const lease = await taken(store.queue);
      expect(lease.account).toBe("a");
      await lease.done();
    }
    await store.schedule("a", 0);
  });

  test("a record is written by whoever has read its last version", async () => {
    const store = await open();
    expect(await store.read("k")).toBeNull();
    expect(await store.write("k", "one", 0, null)).toBe(true);
    expect(await store.write("k", "two", 0, null)).toBe(false);
    expect(await store.write("k", "two", 1, null)).toBe(true);
    expect(await store.write("k", "three", 1, null)).toBe(false);
    expect(await store.read("k")).toEqual({ version: 2, text: "two" });
    expect(await store.versions(["k", "none"])).toEqual([2, 0]);
  });

  test("of a record that is longer than what is asked for nothing comes but its version", async () => {
    const store = await open();
    const text = "ä".repeat(500);
    expect(await store.write("k", text, 0, null)).toBe(true);
    expect(await store.read("k", 999)).toEqual({ version: 1, text: null });
    expect(await store.read("k", 1_000)).toEqual({ version: 1, text });
    expect(await store.write("k", "b", 1, null)).toBe(true);
    expect(await store.write("k", "b", 1, null)).toBe(true);
  });

  test.runIf(name === "postgres")(
    "a message that is longer than any of a fleet ends its connection with an error that says so, and the longest record does not",
    async () => {
      const longest = "x".repeat(MAX_RECORD_OCTETS);
      const store = await open();
      expect(await store.write("k", longest, 0, null)).toBe(true);
      expect((await store.read("k"))?.text === longest).toBe(true);
      for (const sql of ["SELECT repeat('x', 70000000)", "SELECT repeat('x', 2000000)::integer"]) {
        const client = new BoundedClient(serverOf().url);
        client.on("error", () => {});
        await client.connect();
        await expect(client.query(sql), sql).rejects.toBeInstanceOf(TooLongAnswer);
        await client.end();
      }
      const client = new BoundedClient(serverOf().url);
      await client.connect();
      expect((await client.query("SELECT repeat('x', 1000000) AS x")).rows[0].x).toHaveLength(1_000_000);
      await client.end();
    },
  );

  test("of a forged schedule only the name is read, and no name that no account has", async () => {
    const store = await open("forged-schedule");
    await store.schedule("a", 60_000);
    if (name === "postgres") {
      const client = new pg.Client(serverOf().url);
      await client.connect();
      const forged =
        "INSERT INTO bullmq.scheduler (queue, scheduler_id, template_data) VALUES ('tenon-forged-schedule', $1, to_jsonb(repeat('x', 70000000)))";
      for (const id of ["b", "x".repeat(300)]) await client.query(forged, [id]);
      await client.end();
    }
    expect((await store.scheduled()).sort()).toEqual(name === "postgres" ? ["a", "b"] : ["a"]);
    for (const account of await store.scheduled()) await store.schedule(account, 0);
    expect(await store.scheduled()).toEqual([]);
  });

  test("to write the same once more, for the answer was lost, is no conflict", async () => {
    const store = await open();
    expect(await store.write("k", "one", 0, null)).toBe(true);
    expect(await store.write("k", "one", 0, null)).toBe(true);
    expect((await store.read("k"))?.version).toBe(1);
  });

  test("of many that write at once one wins", async () => {
    const store = await open();
    const won = await Promise.all(Array.from({ length: 20 }, (_, index) => store.write("k", `${index}`, 0, null)));
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test.runIf(name === "postgres")(
    "the same where transactions are serializable unless they say otherwise",
    async () => {
      const setting = async (sql: string): Promise<void> => {
        const client = new pg.Client(serverOf().url);
        await client.connect();
        await client.query(`ALTER ROLE tenon ${sql}`).finally(() => client.end());
      };
      await setting("SET default_transaction_isolation = serializable");
      try {
        const store = await open();
        for (let turn = 0; turn < 5; turn += 1) {
          const all = Array.from({ length: 20 }, (_, index) => store.write("k", `${turn}-${index}`, turn, null));
          expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1);
        }
      } finally {
        await setting("RESET default_transaction_isolation");
      }
    },
  );

  test("a lock has one holder, and each holder a larger count than those before", async () => {
    const store = await open();
    const first = await store.lock("a", 60_000);
    expect(await store.lock("a", 60_000)).toBeNull();
    expect(await store.lock("b", 60_000)).not.toBeNull();
    if (first === null) throw new Error("no lock");
    await store.unlock(first);
    const second = await store.lock("a", 60_000);
    expect(second?.count).toBeGreaterThan(first.count);
  });

  test("a lock whose time ran out is extended as long as nobody else took it, and is lost then", async () => {
    const store = await open();
    const first = await store.lock("a", 50);
    if (first === null) throw new Error("no lock");
    await new Promise((resolve) => setTimeout(resolve, 120));
    // Long enough for a busy machine to ask within it.
    expect(await store.extend(first, 2_000)).toBe(true);
    expect(await store.lock("a", 50)).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const second = await store.lock("a", 60_000);
    if (second === null) throw new Error("no lock");
    expect(await store.extend(first, 60_000)).toBe(false);
    await store.unlock(first);
    expect(await store.lock("a", 60_000)).toBeNull();
    expect(await store.extend(second, 60_000)).toBe(true);
  });

  test("the counter of a token that nobody uses any more is forgotten, and goes on ahead of its last count", async () => {
    const store = await open("tokens");
    const first = await store.lock("token/x", 60_000);
    if (first === null) throw new Error("no lock");
    expect(await keptCounters(serverOf().url)).toBe(1);
    await store.unlock(first);
    const second = await (await open("tokens")).lock("token/x", 60_000);
    expect(second?.count).toBeGreaterThan(first.count);
    expect(await store.extend(first, 60_000)).toBe(false);
    if (second !== null) await store.unlock(second);
    // PostgreSQL forgets when a store is opened, Redis when the time has come.
    await open("tokens");
    expect(await keptCounters(serverOf().url)).toBe(0);
  });

  test("whoever lost the lock cannot write", async () => {
    const store = await open();
    const first = await store.lock("a", 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const second = await store.lock("a", 60_000);
    expect(await store.write("k", "late", 0, first)).toBe(false);
    expect(await store.write("k", "own", 0, second)).toBe(true);
    expect(await store.write("k", "late", 1, first)).toBe(false);
    expect(await store.read("k")).toEqual({ version: 1, text: "own" });
  });
});

describe("embedded", () => queueSuite(async () => new EmbeddedQueue()));

/** Counters of tokens that are in use, or are kept for ever. */
async function keptCounters(url: string): Promise<number> {
  if (url.startsWith("redis")) {
    const client = new Redis(url);
    const keys = await client.keys("*:fence:token/*");
    const locks = await client.keys("*:lock:token/*");
    const times = await Promise.all(keys.map((key) => client.pttl(key)));
    client.disconnect();
    return locks.length + times.filter((time) => time < 0).length;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT 1 FROM tenon_fleet.locks WHERE account LIKE 'token/%'");
  await client.end();
  return rows.length;
}

async function taken(queue: FleetQueue) {
  const lease = await queue.take(new AbortController().signal);
  if (lease === null) throw new Error("nothing was taken");
  return lease;
}

function queueSuite(open: () => Promise<FleetQueue>): void {
  test("accounts are taken in their order, each once", async () => {
    const queue = await open();
    for (const account of ["a", "b", "a", "c"]) await queue.enqueue(account);
    const leases = [await taken(queue), await taken(queue), await taken(queue)];
    expect(leases.map(({ account }) => account)).toEqual(["a", "b", "c"]);
    for (const lease of leases) await lease.done();
  });

  test("an account that is woken up while it is taken has one more turn, after that", async () => {
    const queue = await open();
    await queue.enqueue("a");
    const lease = await taken(queue);
    for (let times = 0; times < 3; times += 1) await queue.enqueue("a");
    await queue.enqueue("b");
    expect((await taken(queue)).account).toBe("b");
    await lease.done();
    const again = await taken(queue);
    expect(again.account).toBe("a");
    await again.done();
    await queue.enqueue("c");
    expect((await taken(queue)).account).toBe("c");
  });

  test("an account that is put back comes again", async () => {
    const queue = await open();
    await queue.enqueue("a");
    await (await taken(queue)).later(50);
    const again = await taken(queue);
    expect(again.account).toBe("a");
    expect(await again.extend()).toBe(true);
    await again.done();
  });

  test("an account that was put back for long is taken at once when it is woken up, and is not by what was asked for before", async () => {
    const queue = await open();
    await queue.enqueue("a");
    await (await taken(queue)).later(1_800_000);
    await queue.enqueue("a");
    await queue.enqueue("b");
    const other = await taken(queue);
    expect(other.account).toBe("b");
    expect(await queue.counts()).toEqual({ waiting: 0, active: 1, delayed: 1 });
    await queue.wakeUp("a");
    const again = await taken(queue);
    expect(again.account).toBe("a");
    expect((await queue.counts()).delayed).toBe(0);
    for (const lease of [again, other]) await lease.done();
    await queue.wakeUp("a");
    await (await taken(queue)).done();
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0 });
  });

  test("who stops waiting gets nothing", async () => {
    const queue = await open();
    await queue.enqueue("a");
    await taken(queue);
    const stop = new AbortController();
    const taking = queue.take(stop.signal);
    stop.abort();
    expect(await taking).toBeNull();
  });
}
