/** The records of a fleet's store: what is kept how long, and what is written and not read. */

import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openStore, prepareStore } from "../../src/fleet/open-store.ts";
import type { FleetStore } from "../../src/fleet/store.ts";
import { parseStoreAddress } from "../../src/fleet/store.ts";
import { run } from "../cli/run.ts";
import { fleetOf } from "../support/fleet.ts";
import { startedWorker } from "../support/fleet-worker.ts";
import { type StoreServer, startPostgres, startRedis } from "../support/stores.ts";

const LEASE_MILLISECONDS = 2_000;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** Milliseconds until a record of the prefix is gone; null: it is kept for good. */
const LIFETIMES = {
  redis: async (url: string, prefix: string, key: string): Promise<number | null> => {
    const client = new Redis(url);
    const left = await client.pttl(`tenon:${prefix}:record:${key}`).finally(() => client.disconnect());
    return left === -1 ? null : left;
  },
  postgres: async (url: string, prefix: string, key: string): Promise<number | null> => {
    const client = new pg.Client(url);
    await client.connect();
    const text = `SELECT CASE WHEN expires < 'infinity' THEN extract(epoch FROM expires - now()) * 1000 END AS left
      FROM tenon_fleet.records WHERE prefix = $1 AND key = $2`;
    const { rows } = await client.query(text, [prefix, key]).finally(() => client.end());
    return rows[0].left === null ? null : Number(rows[0].left);
  },
} as const;

const SERVERS = { redis: startRedis, postgres: startPostgres } as const;
const ENGINES = ["redis", "postgres"] as const;

for (const engine of ENGINES) {
  describe(engine, () => {
    let server: StoreServer;
    let prefixes = 0;
    beforeAll(async () => {
      server = await SERVERS[engine]();
      const address = parseStoreAddress(server.url);
      expect(address && (await prepareStore(address))).toBeNull();
    });
    afterAll(() => server.stop());

    async function open(prefix: string = `p${++prefixes}`): Promise<FleetStore> {
      const address = parseStoreAddress(server.url);
      if (address === null) throw new Error("no address");
      const observer = { unreachable: () => {} };
      const opened = await openStore(address, { prefix, leaseMilliseconds: LEASE_MILLISECONDS, observer });
      if (!opened.ok) throw new Error(opened.diagnostic.summary);
      onTestFinished(() => opened.store.close());
      return opened.store;
    }

    test("a record is gone when its lifetime is over, unless it has none or was renewed", async () => {
      const store = await open();
      await store.write("short", "1", 0, null, 100);
      await store.write("renewed", "1", 0, null, 100);
      await store.write("good", "1", 0, null, 100);
      expect(await store.write("good", "2", 1, null, null)).toBe(true);
      expect(await store.renew("renewed", 60_000)).toBe(true);
      while ((await store.read("short")) !== null) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await store.renew("short", 60_000)).toBe(false);
      expect(await store.versions(["short", "renewed", "good"])).toEqual([0, 1, 2]);
      expect(await store.read("good")).toEqual({ version: 2, text: "2" });
    });

    test("a schedule is kept for good, and the names of a fleet longer than it takes to go on holiday", async () => {
      const fleet = await fleetOf(1);
      const prefix = `p${++prefixes}`;
      const args = ["--every", "1h", "--queue", server.url, "--prefix", prefix];
      expect((await run(["fleet", "schedule", "drift", ...args], fleet)).code).toBe(0);
      expect(await LIFETIMES[engine](server.url, prefix, "schedule")).toBeNull();
      expect(await LIFETIMES[engine](server.url, prefix, "fleet")).toBeGreaterThan(28 * DAY_MILLISECONDS);
    });
  });
}

describe("a worker that nobody asks for anything", () => {
  test("renews the names of its fleet, and enters them again if they are lost", async () => {
    const server = await startRedis();
    const client = new Redis(server.url);
    onTestFinished(async () => {
      client.disconnect();
      await server.stop();
    });
    const fleet = await fleetOf(1);
    await startedWorker({ ...fleet, env: { ...fleet.env, TENON_QUEUE: server.url } }, []);
    const key = "tenon:fleet:record:fleet";
    await client.pexpire(key, DAY_MILLISECONDS);
    while ((await client.pttl(key)) <= DAY_MILLISECONDS) await new Promise((resolve) => setTimeout(resolve, 100));
    await client.del(key);
    while ((await client.hget(key, "d")) === null) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await client.hget(key, "d")).toBe('{"names":["a1"]}');
  });
});
