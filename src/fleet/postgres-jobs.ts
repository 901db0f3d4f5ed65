/**
 * BullMQ's backend for PostgreSQL, but that nothing comes back of a job that no job of Tenon's has. Whoever can write to the tables can make a job
 * of a gigabyte, or one of some kilobytes whose numbers no answer can hold once they are written out (`1e131071`): no worker would get any job.
 */

import { type BackendFactory, createPostgresBackend } from "bullmq";
import { MAX_JOB_FIELD_CHARACTERS } from "./bullmq.ts";

/** BullMQ's own name for it. Its tables hold all queues, by their names. */
export const QUEUE_SCHEMA = "bullmq";

/** Of what is too long the beginning comes, which is no account's name either. */
const shortText = (column: string): string => `left(${column}, ${MAX_JOB_FIELD_CHARACTERS}) AS ${column}`;

/**
 * Looked at as it is stored, then in memory, and only what is short there is written out: a number of ten octets may have 131,072 digits.
 * The longest that is written out has some hundred megabytes.
 */
const shortJson = (column: string): string => `
  CASE WHEN pg_column_size(${column}) > ${MAX_JOB_FIELD_CHARACTERS} THEN NULL
       WHEN pg_column_size(jsonb_build_array(${column})) > ${MAX_JOB_FIELD_CHARACTERS} THEN NULL
       WHEN octet_length(${column}::text) > ${MAX_JOB_FIELD_CHARACTERS} THEN NULL
       ELSE ${column} END AS ${column}`;

/** In the place of BullMQ's own commands, by their names; with the same parameters. */
const COMMANDS: Readonly<Record<string, string>> = {
  // Tenon's jobs have no data, no result and no parent.
  move_to_active: `
SELECT id, ${shortText("name")}, ${shortText("scheduler_id")}, ${shortJson("opts")},
  priority, delay_ms, attempts_made, attempts_started, added_at_ms, processed_at_ms, stalled_count
FROM move_to_active($1, $2, $3, $4, $5, $6, $7)`,
  // Nobody listens to which they are.
  move_stalled_jobs_to_wait: "SELECT '' AS id FROM move_stalled_jobs_to_wait($1, $2, $3, $4) LIMIT 1",
  // What a queue counts, and whether it is paused.
  get_counts: `
SELECT count(*) FILTER (WHERE state = 'active') AS active,
  count(*) FILTER (WHERE state = 'delayed') AS delayed,
  count(*) FILTER (WHERE state = 'waiting' AND priority = 0) AS waiting,
  count(*) FILTER (WHERE state = 'waiting' AND priority > 0) AS prioritized,
  (SELECT left(value, 2) FROM meta WHERE queue = $1 AND field = 'paused') AS paused
FROM job WHERE queue = $1`,
};

/** The part of BullMQ's backend that its type keeps for itself. */
interface CommandBackend {
  run(command: string, parameters: readonly unknown[]): Promise<unknown>;
  query(text: string, parameters: readonly unknown[]): Promise<unknown>;
}

/** As `createPostgresBackend`. */
export const boundedBackend: BackendFactory = (name, options, more) => {
  const backend = createPostgresBackend(name, options as never, more);
  const commands = backend as unknown as CommandBackend;
  const run = commands.run.bind(backend);
  commands.run = (command, parameters) => {
    const own = COMMANDS[command];
    return own === undefined ? run(command, parameters) : commands.query(own, parameters);
  };
  return backend;
};

/** Tenfold the accounts of a fleet file: others that were in it once are there, too. */
const MAX_SCHEDULED = 100_000;
/** No account has a name of so many. */
const MAX_SCHEDULED_OCTETS = 200;

export const SCHEDULED: string = `
SELECT scheduler_id AS name FROM ${QUEUE_SCHEMA}.scheduler
WHERE queue = $1 AND octet_length(scheduler_id) <= ${MAX_SCHEDULED_OCTETS} ORDER BY next_run_ms LIMIT ${MAX_SCHEDULED}`;
