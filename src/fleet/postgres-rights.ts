/**
 * What could run other people's code with the rights of a role that uses the tables of a queue in PostgreSQL. Whoever may write to the tables can
 * report false things of the fleet; whoever had code run here would have all rights of that role.
 */

import type { Client } from "pg";
import type { Diagnostic } from "../model/diagnostic.ts";
import { QUEUE_SCHEMA } from "./postgres-jobs.ts";
import { unfit } from "./store.ts";

const TABLES_SCHEMA = "tenon_fleet";

const SCHEMAS: readonly string[] = [QUEUE_SCHEMA, TABLES_SCHEMA];

/**
 * The database's owner, roles above all and groups whose rights this role has are trusted; a role above all has those of every group.
 * `other` may be no role: everybody.
 */
const IS_UNTRUSTED = `other.oid IS NULL OR (NOT other.rolsuper AND other.oid <> self.oid
  AND (self.rolsuper OR NOT pg_has_role(self.oid, other.oid, 'USAGE'))
  AND other.oid <> (SELECT datdba FROM pg_database WHERE datname = current_database()))`;

/** The owners of the tables, whom a role that only uses them takes for granted. */
const HOSTS = `
SELECT nspowner FROM pg_namespace WHERE nspname = ANY($1)
UNION SELECT relowner FROM pg_class WHERE oid IN (to_regclass('${TABLES_SCHEMA}.records'), to_regclass('${QUEUE_SCHEMA}.job'))`;

/**
 * Whoever owns a table may give it triggers. An operator or a function here may be what a statement means that names no schema. A sequence has
 * neither triggers nor rules, and whoever adds the first job under a prefix may make one.
 */
const OWNERS = `
WITH spaces AS (SELECT oid AS space, nspowner AS owner FROM pg_namespace WHERE nspname = ANY($1)),
owners AS (
  SELECT space, owner FROM spaces
  UNION SELECT relnamespace, relowner FROM pg_class WHERE relkind <> 'S'
  UNION SELECT pronamespace, proowner FROM pg_proc
  UNION SELECT oprnamespace, oprowner FROM pg_operator
  UNION SELECT typnamespace, typowner FROM pg_type WHERE typtype <> 'c'
)
SELECT other.rolname AS other, self.rolname AS self
FROM owners JOIN spaces USING (space)
JOIN pg_roles AS other ON other.oid = owners.owner JOIN pg_roles AS self ON self.rolname = current_user
WHERE (${IS_UNTRUSTED}) AND NOT ($2 AND owners.owner IN (${HOSTS})) ORDER BY 1 LIMIT 1`;

/** Who may make operators and functions here. */
const MAKERS = `
SELECT quote_ident(s.nspname) AS space, coalesce(quote_ident(other.rolname), 'PUBLIC') AS other, self.rolname AS self
FROM pg_namespace s CROSS JOIN LATERAL aclexplode(s.nspacl) AS allowed
LEFT JOIN pg_roles AS other ON other.oid = allowed.grantee JOIN pg_roles AS self ON self.rolname = current_user
WHERE s.nspname = ANY($1) AND allowed.privilege_type = 'CREATE' AND allowed.grantee <> s.nspowner
AND (${IS_UNTRUSTED}) AND NOT ($2 AND allowed.grantee IN (${HOSTS}))
ORDER BY 1, 2 LIMIT 1`;

/** Foreign keys of other tables: a change here reaches those, whose triggers are their owner's. */
const FOREIGN_KEYS = `
SELECT quote_ident(k.conname) AS key, k.conrelid::regclass::text AS by, k.confrelid::regclass::text AS of, current_user AS self
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class other ON other.oid = k.conrelid JOIN pg_namespace o ON o.oid = other.relnamespace
WHERE k.contype = 'f' AND n.nspname = ANY($1) AND o.nspname <> ALL($1) ORDER BY 2, 1 LIMIT 1`;

/**
 * BullMQ and Tenon make no triggers. The server makes those of foreign keys, which are left out. Names are quoted as SQL needs them.
 */
const TRIGGERS = `
SELECT quote_ident(t.tgname) AS trigger, format('%I.%I', n.nspname, c.relname) AS of, f.rolname AS author, current_user AS self
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_roles f ON f.oid = p.proowner
WHERE n.nspname = ANY($1) AND NOT t.tgisinternal ORDER BY 2, 1 LIMIT 1`;

/**
 * @param shown the address, as it may be shown
 * @param who `owners`: also whether the tables belong to a role that this one trusts; a command that uses them takes their owner for granted
 */
export async function foreignCode(client: Client, shown: string, who: "owners" | "guests"): Promise<Diagnostic | null> {
  const first = async <Name extends string>(query: string, ...more: unknown[]) =>
    (await client.query(query, [SCHEMAS, ...more])).rows[0] as Readonly<Record<Name, string>> | undefined;
  const owner = await first<"other" | "self">(OWNERS, who === "guests");
  if (owner !== undefined) {
    const { other, self } = owner;
    const summary = `tables of the queue at ${shown}, or what stands beside them, belong to another role: ${other}`;
    const detail = `A table's owner can have commands run with the rights of whoever writes there, here those of ${self}; and so can the owner of a function or an operator in its schema.`;
    const fix = `If ${other} is to own them, prepare the queue as ${other}. If not, drop the schemas ${TABLES_SCHEMA} and ${QUEUE_SCHEMA}, or give the queue a database of its own.`;
    return unfit(summary, fix, detail);
  }
  const maker = await first<"space" | "other" | "self">(MAKERS, who === "guests");
  if (maker !== undefined) {
    const { space, other, self } = maker;
    const summary = `a role that does not own the queue at ${shown} may make things in its schema ${space}: ${other}`;
    const detail = `An operator that it makes there may run with the rights of whoever uses the queue, here those of ${self}.`;
    const fix = `Take the right away: REVOKE CREATE ON SCHEMA ${space} FROM ${other}. Run tenon fleet prepare with each --prefix that is used: nobody else needs to make anything then.`;
    return unfit(summary, fix, detail);
  }
  const foreignKey = await first<"key" | "by" | "of" | "self">(FOREIGN_KEYS);
  if (foreignKey !== undefined) {
    const { key, by, of, self } = foreignKey;
    const summary = `a foreign key of another table points to the queue at ${shown}: ${key} of ${by}, to ${of}`;
    // One that is deferred to the end of the transaction does: before, such a change has the rights of that table's owner.
    const detail = `A trigger of that table may run with the rights of whoever writes to the queue, here those of ${self}.`;
    const fix = `Look what it does, then drop it: ALTER TABLE ${by} DROP CONSTRAINT ${key}. Give no role the right REFERENCES on the queue's tables, which GRANT ALL includes.`;
    return unfit(summary, fix, detail);
  }
  const found = await first<"trigger" | "of" | "author" | "self">(TRIGGERS);
  if (found === undefined) return null;
  const { trigger, of, author, self } = found;
  const summary = `a table of the queue at ${shown} has a trigger: ${trigger} on ${of}`;
  const detail = `Its function, of the role ${author}, runs with the rights of whoever writes there, here those of ${self}. Tenon makes no trigger.`;
  const fix = `Look what it does, then drop it: DROP TRIGGER ${trigger} ON ${of}. Give no role the right TRIGGER on the queue's tables, which GRANT ALL includes.`;
  return unfit(summary, fix, detail);
}
