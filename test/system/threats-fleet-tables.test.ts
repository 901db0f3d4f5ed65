/** What whoever can write to the tables or keys of a fleet's queue can put there: nothing that ends a worker, or runs as one. */

import { Redis } from "ioredis";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../cli/run.ts";
import { type Account, fleetOf } from "../support/fleet.ts";
import { startedWorker, stopped } from "../support/fleet-worker.ts";
import { openedStore, proxyTo, startEngine } from "../support/stores.ts";

/** A server that is prepared, and a client of whoever can write there. */
async function postgres() {
  const server = await startEngine("postgres");
  const client = new pg.Client(server.url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await server.stop();
  });
  return { url: server.url, client };
}

/** So little that a worker which reads what was forged ends. */
const SMALL = { NODE_OPTIONS: "--max-old-space-size=128" };

/** Sixty million characters, which the server keeps in less than one. */
const LONG = "repeat('x', 60000000)";
const TEXTS = ["name", "failed_reason", "deferred_failure", "dedup_id", "parent_key"];
const VALUES = ["data", "opts", "progress", "return_value", "stacktrace"];
/** Some twenty kilobytes as they are kept, and a gigabyte once they are written out. */
const NUMBERS = "('[' || repeat('1e131071,', 9000) || '1]')::jsonb";
/** So long the first request of an apply takes, and with it the apply. */
const APPLY_MILLISECONDS = 10_000;
const FORGED_JOBS: readonly string[] = [
  TEXTS.map((column) => `${column} = ${LONG}`).join(", "),
  VALUES.map((column) => `${column} = to_jsonb(${LONG})`).join(", "),
  `data = ${NUMBERS}`,
  `opts = ${NUMBERS}`,
];

test("a job of hundreds of megabytes, or whose numbers no answer can hold, ends no worker within an apply, and keeps no account waiting", async () => {
  const { url, client } = await postgres();
  const fleet = await fleetOf(2);
  const [{ service }] = fleet.accounts as [Account];
  service.setFaults([{ effect: { type: "slow-headers", delayMilliseconds: APPLY_MILLISECONDS } }]);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  // Whole, before any worker can see them, and ahead of all others.
  for (const [index, columns] of FORGED_JOBS.entries()) {
    const values = [`forged${index}`, -1 - index];
    await client.query(
      "INSERT INTO bullmq.job (queue, id, seq, name, state, added_at_ms) VALUES ('elsewhere', $1, $2, 'none', 'waiting', 1)",
      values,
    );
    await client.query(`UPDATE bullmq.job SET ${columns} WHERE id = $1`, values.slice(0, 1));
  }
  const worker = await startedWorker({ ...options, env: { ...options.env, ...SMALL } }, []);
  const asking = run(["fleet", "apply", "--yes"], options);
  await expect.poll(() => service.requests.length, { timeout: 60_000 }).toBeGreaterThan(0);
  service.setFaults([]);
  await client.query("UPDATE bullmq.job SET queue = 'tenon-fleet' WHERE queue = 'elsewhere'");
  const left = async () => (await client.query("SELECT id FROM bullmq.job WHERE id LIKE 'forged%'")).rows;
  await expect.poll(left, { timeout: 60_000 }).toEqual([]);
  const { code, stdout } = await asking;
  expect([code, stdout]).toEqual([0, expect.stringContaining("Fleet: 2 accounts: 2 done.")]);
  expect(await stopped(worker)).toMatchObject({ code: 143 });
});

test("an answer of PostgreSQL that is longer than all that a fleet keeps there is not read: the worker says so, and waits", async () => {
  const { url, client } = await postgres();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  const worker = await startedWorker({ ...options, env: { ...options.env, ...SMALL } }, []);
  // What is no number is repeated by the error about it.
  await client.query("INSERT INTO bullmq.meta VALUES ('tenon-fleet', 'concurrency', repeat('x', 150000000))");
  await worker.untilSaid("is lost: it sends more than anything that a fleet keeps there. Waiting.");
  await client.query("DELETE FROM bullmq.meta WHERE field = 'concurrency'");
  await worker.untilSaid("is there again.");
  expect((await run(["fleet", "plan"], options)).stdout).toContain("3 to add");
  expect(await stopped(worker)).toMatchObject({ code: 143 });
});

test("what somebody with all rights on the queue's tables has tied to them runs as nobody: neither preparation nor worker goes on", async () => {
  const { url, client } = await postgres();
  const fleet = await fleetOf(1);
  const options = { cwd: fleet.cwd, env: { ...fleet.env, TENON_QUEUE: url } };
  // As of a worker that serves already, and does not look again.
  const serving = await openedStore(url, "serving", 60_000);
  await client.query("CREATE ROLE evil LOGIN");
  await client.query("CREATE SCHEMA evil AUTHORIZATION evil");
  await client.query("GRANT USAGE ON SCHEMA tenon_fleet, bullmq TO evil");
  await client.query("GRANT ALL ON ALL TABLES IN SCHEMA tenon_fleet, bullmq TO evil");
  const evil = new pg.Client(url.replace("tenon@", "evil@"));
  evil.on("error", () => {});
  await evil.connect();
  await evil.query(
    "CREATE FUNCTION evil.take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CREATE ROLE pwned SUPERUSER; RETURN new; END $$",
  );
  for (const table of ["tenon_fleet.records", "tenon_fleet.locks", "bullmq.job"]) {
    await evil.query(
      `CREATE TRIGGER "a b" BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION evil.take()`,
    );
    for (const args of [["prepare"], ["worker"], ["plan"], ["status"]]) {
      const { code, stderr } = await run(["fleet", ...args], options);
      expect([table, args, code]).toEqual([table, args, 1]);
      const said = stderr.replace(/\s+/g, " ");
      expect(said).toContain(`has a trigger: "a b" on ${table}`);
      expect(said).toMatch(/of the role evil, runs with the rights of whoever writes there, here those of tenon\./);
      expect(said).toContain(`DROP TRIGGER "a b" ON ${table}.`);
    }
    await client.query(`DROP TRIGGER "a b" ON ${table}`);
  }
  await evil.query(`
    CREATE TABLE evil.bait (prefix text, key text, FOREIGN KEY (prefix, key) REFERENCES tenon_fleet.records ON DELETE CASCADE);
    CREATE CONSTRAINT TRIGGER late AFTER DELETE ON evil.bait DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil.take();
    INSERT INTO tenon_fleet.records (prefix, key, version, text, expires) VALUES ('a', 'b', 1, '', now() - interval '1 day');
    INSERT INTO evil.bait VALUES ('a', 'b')`);
  const refused = async (words: readonly string[]): Promise<void> => {
    for (const args of [["prepare"], ["worker"], ["plan"], ["status"]]) {
      const { code, stderr } = await run(["fleet", ...args], options);
      expect([args, code]).toEqual([args, 1]);
      for (const each of words) expect(stderr.replace(/\s+/g, " ")).toContain(each);
    }
  };
  await refused([
    "a foreign key of another table points to the queue",
    "ALTER TABLE evil.bait DROP CONSTRAINT bait_prefix_key_fkey.",
  ]);
  await evil.query("DROP TABLE evil.bait");
  await client.query("GRANT CREATE ON SCHEMA bullmq TO evil");
  await refused(["may make things in its schema bullmq: evil", "REVOKE CREATE ON SCHEMA bullmq FROM evil."]);
  // A statement in which a number has no type would mean this one.
  await evil.query(`
    CREATE FUNCTION evil.times(interval, interval) RETURNS interval LANGUAGE plpgsql AS $$ BEGIN RAISE 'taken'; END $$;
    CREATE OPERATOR bullmq.* (LEFTARG = interval, RIGHTARG = interval, FUNCTION = evil.times)`);
  expect(await serving.write("a", "text", 0, null, 60_000)).toBe(true);
  expect(await serving.write("a", "text", 1, null, 60_000)).toBe(true);
  expect(await serving.renew("a", 60_000)).toBe(true);
  expect(await serving.lock("a", 60_000)).not.toBeNull();
  await client.query("REVOKE CREATE ON SCHEMA bullmq FROM evil");
  await refused(["belong to another role: evil"]);
  await evil.query("DROP OPERATOR bullmq.* (interval, interval)");
  await client.query("GRANT CREATE ON SCHEMA tenon_fleet TO PUBLIC");
  await refused(["may make things in its schema tenon_fleet: PUBLIC"]);
  await client.query("REVOKE CREATE ON SCHEMA tenon_fleet FROM PUBLIC");
  await evil.end();
  expect((await client.query("SELECT FROM pg_roles WHERE rolname = 'pwned'")).rowCount).toBe(0);
  expect((await run(["fleet", "prepare"], options)).code).toBe(0);
});

const ACCOUNTS = 8;
const FORGED_OCTETS = 4 * 1024 * 1024;
/** What a status of so few accounts takes, with the tables of the server's types and BullMQ's scripts. */
const MAX_STATUS_OCTETS = 1024 * 1024;

test("forged records of megabytes keep no status of a fleet busy: they stay where they are", async () => {
  const fleet = await fleetOf(ACCOUNTS);
  const keys = fleet.accounts.flatMap(({ name }) => [`activity/${name}`, `pending/${name}`]);
  for (const engine of ["redis", "postgres"] as const) {
    const server = await startEngine(engine);
    onTestFinished(() => server.stop());
    await forge[engine](server.url, keys);
    const proxy = await proxyTo(server.port);
    onTestFinished(() => proxy.close());
    const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
    const env = { ...fleet.env, TENON_QUEUE: url };
    const { code, stdout } = await run(["fleet", "status"], { cwd: fleet.cwd, env });
    expect([engine, code, stdout]).toEqual([engine, 0, expect.stringContaining(`Fleet: ${ACCOUNTS} accounts`)]);
    expect(proxy.sent(), engine).toBeLessThan(MAX_STATUS_OCTETS);
  }
});

const forge = {
  redis: async (url: string, keys: readonly string[]) => {
    const client = new Redis(url);
    const forged = `"${"x".repeat(FORGED_OCTETS)}"`;
    for (const key of keys) await client.hset(`tenon:fleet:record:${key}`, "v", 1, "d", forged);
    // A version, too, may be as long as anything.
    await client.hset(`tenon:fleet:record:${keys[0]}`, "v", forged);
    client.disconnect();
  },
  postgres: async (url: string, keys: readonly string[]) => {
    const client = new pg.Client(url);
    await client.connect();
    const forged = "INSERT INTO tenon_fleet.records VALUES ('fleet', $1, 1, to_jsonb(repeat('x', $2)), 'infinity')";
    for (const key of keys) await client.query(forged, [key, FORGED_OCTETS]);
    await client.end();
  },
};
