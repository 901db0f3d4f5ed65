/** A store on PostgreSQL: records and locks in tables of Tenon's, and BullMQ for the queue in a schema of its own. */

import type { ConnectionOptions } from "node:tls";
import {
  assertSchemaCompatibility,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
} from "bullmq";
import pg from "pg";
import { parse, parseIntoClientConfig } from "pg-connection-string";
import type { Diagnostic } from "../model/diagnostic.ts";
import { CHECKED_TLS } from "../model/tls.ts";
import { BoundedClient, boundedPool } from "./bounded-client.ts";
import { BullQueue, MAX_JOB_FIELD_CHARACTERS } from "./bullmq.ts";
import { Outages } from "./outages.ts";
import { boundedBackend, QUEUE_SCHEMA, SCHEDULED } from "./postgres-jobs.ts";
import { foreignCode } from "./postgres-rights.ts";
import {
  type Fence,
  type FleetStore,
  MAX_LOCK_MILLISECONDS,
  MAX_RECORD_OCTETS,
  type OpenedStore,
  RECORD_LIFETIME_MILLISECONDS,
  type StoreAddress,
  type StoredRecord,
  type StoreOptions,
  storeFails,
  unfit,
} from "./store.ts";

const CONNECT_MILLISECONDS = 5_000;
const QUERY_MILLISECONDS = 8_000;
const MAX_CONNECTIONS = 6;

const TABLES = `
CREATE SCHEMA IF NOT EXISTS tenon_fleet;
CREATE TABLE IF NOT EXISTS tenon_fleet.records (
  prefix text NOT NULL, key text NOT NULL, version bigint NOT NULL, text text NOT NULL, expires timestamptz NOT NULL,
  PRIMARY KEY (prefix, key));
CREATE INDEX IF NOT EXISTS records_expires ON tenon_fleet.records (expires);
CREATE TABLE IF NOT EXISTS tenon_fleet.locks (
  prefix text NOT NULL, account text NOT NULL, fence bigint NOT NULL, expires timestamptz NOT NULL,
  PRIMARY KEY (prefix, account));`;

function poolOptions({ url }: StoreAddress): pg.PoolConfig {
  const { ssl: _, ...place } = parseIntoClientConfig(url);
  return {
    ...place,
    ssl: tlsOf(url),
    ...{ max: MAX_CONNECTIONS, connectionTimeoutMillis: CONNECT_MILLISECONDS },
    ...{ query_timeout: QUERY_MILLISECONDS, statement_timeout: QUERY_MILLISECONDS, keepAlive: true },
    // Whatever a role or a database has as its default: a statement waits for another's, and is not refused for it.
    options: `-c search_path=${QUEUE_SCHEMA} -c default_transaction_isolation=read\\ committed`,
    types: { getTypeParser },
  };
}

/** https://www.postgresql.org/docs/current/catalog-pg-type.html: json and jsonb. */
const JSON_TYPES: ReadonlySet<number> = new Set([pg.types.builtins.JSON, pg.types.builtins.JSONB]);

/** As pg's own, but that JSON which no job of Tenon's has is not parsed: millions of values take gigabytes. */
function getTypeParser(oid: number, format?: "text" | "binary") {
  const parser = pg.types.getTypeParser(oid, format as "text");
  if (!JSON_TYPES.has(oid)) return parser;
  return (text: string) => (text.length > MAX_JOB_FIELD_CHARACTERS ? null : parser(text));
}

/**
 * The TLS that an address asks for, or else PGSSLMODE; false: none. Always given to pg: what it finds itself, NODE_TLS_REJECT_UNAUTHORIZED could
 * weaken. Only `no-verify` says in so many words that the certificate is not looked at.
 */
function tlsOf(url: string): pg.PoolConfig["ssl"] {
  const { ssl = process.env["PGSSLMODE"] ?? false } = parse(url);
  const word = new URL(url).searchParams.get("sslmode") ?? ssl;
  if (ssl === false || OFF.has(word)) return false;
  return {
    ...(typeof ssl === "object" ? (ssl as ConnectionOptions) : {}),
    ...CHECKED_TLS,
    ...(word === "no-verify" ? UNCHECKED : {}),
  };
}

/** Words for no TLS at all. */
const OFF: ReadonlySet<unknown> = new Set(["", "disable", "allow"]);
const UNCHECKED = { rejectUnauthorized: false };

export async function preparePostgres(address: StoreAddress, prefix: string): Promise<Diagnostic | null> {
  return withClient(address, async (client) => {
    const problem = await foreignCode(client, address.shown, "owners");
    if (problem !== null) return problem;
    await runMigrations(client, QUEUE_SCHEMA);
    await client.query(TABLES);
    // BullMQ counts jobs by a sequence of each queue, which whoever adds the first one would have to be allowed to make.
    await client.query(`SELECT ${QUEUE_SCHEMA}.next_job_id($1)`, [queueOf(prefix)]);
    return foreignCode(client, address.shown, "owners");
  });
}

export async function openPostgres(address: StoreAddress, options: StoreOptions): Promise<OpenedStore> {
  const problem = await withClient(address, async (client) => {
    await assertSchemaCompatibility(client, QUEUE_SCHEMA);
    await client.query("SELECT 1 FROM tenon_fleet.records, tenon_fleet.locks LIMIT 1");
    // They may have come after the preparation.
    const found = await foreignCode(client, address.shown, "guests");
    if (found !== null) return found;
    if (options.readsOnly !== true) {
      await client.query("DELETE FROM tenon_fleet.records WHERE expires < now()");
      await client.query(FORGET_LOCKS);
      return uncounted(client, address, options.prefix);
    }
    return null;
  });
  return problem === null
    ? { ok: true, store: new PostgresStore(address, options) }
    : { ok: false, diagnostic: problem };
}

/** Whether the role may take the next number of a job. If the queue has no counter yet, BullMQ makes one, which takes a right of its own. */
const COUNTER = `
SELECT counter IS NOT NULL AS there, CASE WHEN counter IS NULL THEN has_schema_privilege('${QUEUE_SCHEMA}', 'CREATE')
  ELSE has_sequence_privilege(counter::oid, 'USAGE') END AS allowed, current_user AS self
FROM to_regclass(${QUEUE_SCHEMA}.job_id_seq_name($1)) AS counter`;

async function uncounted(client: pg.Client, { shown }: StoreAddress, prefix: string): Promise<Diagnostic | null> {
  const { rows } = await client.query(COUNTER, [queueOf(prefix)]);
  const [row] = rows as readonly { readonly there: boolean; readonly allowed: boolean; readonly self: string }[];
  if (row === undefined || row.allowed) return null;
  if (row.there) {
    const fix = `Give it the right USAGE on the sequences of the schema ${QUEUE_SCHEMA}.`;
    return unfit(`the role ${row.self} may not count the jobs of the queue at ${shown}`, fix);
  }
  const summary = `the PostgreSQL at ${shown} has not been prepared for the prefix ${prefix}`;
  return unfit(summary, "Run tenon fleet prepare with the same --queue and --prefix once, as the owner of its tables.");
}

async function withClient(
  address: StoreAddress,
  work: (client: pg.Client) => Promise<Diagnostic | null>,
): Promise<Diagnostic | null> {
  const client = new BoundedClient(poolOptions(address));
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    return problemOf(address, error);
  } finally {
    await endClient(client);
  }
}

/** How long a server has to close its side. */
const END_MILLISECONDS = 1_000;

async function endClient(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), END_MILLISECONDS);
  await client.end().catch(() => {});
  clearTimeout(cut);
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: undefined table, invalid schema name. */
const MISSING_SCHEMA: ReadonlySet<unknown> = new Set(["42P01", "3F000"]);

function problemOf(address: StoreAddress, error: unknown): Diagnostic {
  const { shown } = address;
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (error instanceof SchemaMigrationRequiredError || MISSING_SCHEMA.has(code)) {
    const fix = "Run tenon fleet prepare with the same --queue once.";
    return unfit(`the PostgreSQL at ${shown} has not been prepared`, fix);
  }
  if (error instanceof SchemaVersionMismatchError) {
    const summary = `the tables of the queue at ${shown} are those of a newer version`;
    return unfit(summary, "Use the newest Tenon everywhere.");
  }
  if (error instanceof UnsupportedPostgresVersionError) {
    // A distribution adds its own after the number: `12.22 (Debian 12.22-1.pgdg120+1)`.
    const found = /^\d{1,3}(?:\.\d{1,3}){0,2}\b/.exec(error.serverVersion)?.[0] ?? "an unknown version";
    return unfit(`the PostgreSQL at ${shown} is too old: ${found}`, "Use PostgreSQL 13 or newer.");
  }
  return storeFails(address, error);
}

/**
 * Errors that are of the connection or the server's state, what was asked for is asked for again: by class, a server that was made a standby
 * (25006), a statement that took too long (57014), and one that another's stood against (40001, 40P01).
 */
const PASSING = /^(?:08|53|57P0|25006$|57014$|40001$|40P01$)/;
const SQLSTATE = /^[0-9][0-9A-Z]{4}$|^[FHPX][0-9A-Z]{4}$/;
/** What pg itself throws has no code. */
const LOST =
  /Connection terminated|timeout exceeded|timeout expired|Query read timeout|is not queryable|There was an error establishing an SSL connection/;
/** Codes of Node; all others of its begin with ERR_ too, and are of a value that cannot be sent. */
const NODE_LOST = /^ERR_(?:SSL|TLS|SOCKET|STREAM)/;

/** Whether it is an outage, which is waited for. Anything else would be the same again: it is thrown. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  if (code === null) return LOST.test(error.message);
  if (SQLSTATE.test(code)) return PASSING.test(code);
  return !code.startsWith("ERR_") || NODE_LOST.test(code);
}

/** Whoever can write to the server can put any number there: what JavaScript has not counts as not being there, so that it keeps nothing up. */
const isSound = (column: string): string => `${column} BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER - 1}`;

const WRITE = `
INSERT INTO tenon_fleet.records AS r (prefix, key, version, text, expires)
SELECT $1, $2, 1, $3, coalesce(now() + $5::float8 * interval '1 millisecond', 'infinity')
WHERE $4::bigint = 0 AND ($6::bigint IS NULL OR EXISTS (
  SELECT 1 FROM tenon_fleet.locks WHERE prefix = $1 AND account = $7 AND fence = $6 FOR SHARE))
ON CONFLICT (prefix, key) DO UPDATE SET version = 1, text = $3, expires = excluded.expires WHERE r.expires < now() OR NOT (${isSound("r.version")})`;

const REWRITE = `
UPDATE tenon_fleet.records
SET version = version + 1, text = $3, expires = coalesce(now() + $5::float8 * interval '1 millisecond', 'infinity')
WHERE prefix = $1 AND key = $2 AND version = $4 AND ($6::bigint IS NULL OR EXISTS (
  SELECT 1 FROM tenon_fleet.locks WHERE prefix = $1 AND account = $7 AND fence = $6 FOR SHARE))`;

const LOCK = `
INSERT INTO tenon_fleet.locks AS l (prefix, account, fence, expires)
VALUES ($1, $2, floor(extract(epoch FROM clock_timestamp())::float8 * 1000::float8), now() + $3::float8 * interval '1 millisecond')
ON CONFLICT (prefix, account) DO UPDATE
SET fence = CASE WHEN ${isSound("l.fence")} THEN greatest(l.fence + 1, excluded.fence) ELSE excluded.fence END, expires = excluded.expires
WHERE l.expires < now() OR l.expires > now() + $4::float8 * interval '1 millisecond'
RETURNING fence`;

/** Of tokens there are new ones again and again. A counter that begins anew is ahead of the one that was forgotten. */
const FORGET_LOCKS = `
DELETE FROM tenon_fleet.locks WHERE account LIKE 'token/%' AND expires < now() - interval '7 days'`;

function queueOf(prefix: string): string {
  return `tenon-${prefix}`;
}

class PostgresStore implements FleetStore {
  readonly queue: BullQueue;
  readonly #pool: pg.Pool;
  readonly #prefix: string;
  readonly #queueName: string;
  readonly #outages: Outages;

  constructor(address: StoreAddress, options: StoreOptions) {
    this.#prefix = options.prefix;
    this.#outages = new Outages(options.observer, isPassing);
    this.#pool = boundedPool(poolOptions(address));
    this.#pool.on("error", (error) => this.#outages.report(error));
    // One that the queue has taken out of the pool has no other listener: that its connection ends would end the process.
    this.#pool.on("connect", (client) => client.on("error", (error) => this.#outages.report(error)));
    const queue = queueOf(options.prefix);
    this.#queueName = queue;
    const shared = { factory: boundedBackend, prefix: queue, queue, outages: this.#outages };
    this.queue = new BullQueue({ connection: this.#pool as never, ...shared }, options);
  }

  async read(key: string, maxOctets: number = MAX_RECORD_OCTETS): Promise<StoredRecord | null> {
    const text = `SELECT version, CASE WHEN octet_length(text) <= $3 THEN text END AS text
      FROM tenon_fleet.records WHERE prefix = $1 AND key = $2 AND expires >= now() AND ${isSound("version")}`;
    const [row] = await this.#query(text, [this.#prefix, key, Math.min(maxOctets, MAX_RECORD_OCTETS)]);
    if (row === undefined) return null;
    return { version: Number(row["version"]), text: typeof row["text"] === "string" ? row["text"] : null };
  }

  async versions(keys: readonly string[]): Promise<number[]> {
    const text = `SELECT key, version FROM tenon_fleet.records WHERE prefix = $1 AND key = ANY($2) AND expires >= now() AND ${isSound("version")}`;
    const rows = await this.#query(text, [this.#prefix, keys]);
    const found = new Map(rows.map((row) => [row["key"], Number(row["version"])]));
    return keys.map((key) => found.get(key) ?? 0);
  }

  async write(
    key: string,
    text: string,
    expected: number,
    fence: Fence | null,
    lifetimeMilliseconds: number | null = RECORD_LIFETIME_MILLISECONDS,
  ): Promise<boolean> {
    const right = [fence?.count ?? null, fence?.account ?? ""];
    const values = [this.#prefix, key, text, expected, lifetimeMilliseconds, ...right];
    if ((await this.#change(expected === 0 ? WRITE : REWRITE, values)) > 0) return true;
    // An answer may have been lost on the way, and the same have been asked for again.
    const stored = await this.read(key, Buffer.byteLength(text));
    return stored?.version === expected + 1 && stored.text === text;
  }

  async renew(key: string, lifetimeMilliseconds: number): Promise<boolean> {
    const text = `UPDATE tenon_fleet.records SET expires = now() + $3::float8 * interval '1 millisecond'
      WHERE prefix = $1 AND key = $2 AND expires >= now()`;
    return (await this.#change(text, [this.#prefix, key, lifetimeMilliseconds])) > 0;
  }

  async lock(account: string, milliseconds: number): Promise<Fence | null> {
    const [row] = await this.#query(LOCK, [this.#prefix, account, milliseconds, MAX_LOCK_MILLISECONDS]);
    return row === undefined ? null : { account, count: Number(row["fence"]) };
  }

  async extend({ account, count }: Fence, milliseconds: number): Promise<boolean> {
    const text = `UPDATE tenon_fleet.locks SET expires = now() + $4::float8 * interval '1 millisecond'
      WHERE prefix = $1 AND account = $2 AND fence = $3`;
    return (await this.#change(text, [this.#prefix, account, count, milliseconds])) > 0;
  }

  async unlock({ account, count }: Fence): Promise<void> {
    const text = `UPDATE tenon_fleet.locks SET expires = '-infinity' WHERE prefix = $1 AND account = $2 AND fence = $3`;
    await this.#change(text, [this.#prefix, account, count]);
  }

  schedule(account: string, milliseconds: number): Promise<void> {
    return this.queue.schedule(account, milliseconds);
  }

  /** BullMQ would read all that is kept of each. */
  async scheduled(): Promise<string[]> {
    const rows = await this.#query(SCHEDULED, [this.#queueName]);
    return rows.map((row) => String(row["name"]));
  }

  async close(): Promise<void> {
    this.#outages.close();
    await this.queue.close();
    await this.#pool.end();
  }

  async #query(text: string, values: readonly unknown[]): Promise<Readonly<Record<string, unknown>>[]> {
    return (await this.#ask(text, values)).rows;
  }

  async #change(text: string, values: readonly unknown[]): Promise<number> {
    return (await this.#ask(text, values)).rowCount ?? 0;
  }

  /** Waits through an outage, as the client of Redis does. */
  #ask(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    return this.#outages.wait(() => this.#pool.query(text, [...values]));
  }
}
