/** What a ticket is about: an entity by its id, or a VPC or domain by its address, looked up in the account by a filtered list. */

import { toAscii } from "../dns/unicode.ts";
import type { ReadApi } from "../model/api.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { isJsonObject, type JsonObject, nameInAddress } from "../model/resource.ts";
import { nearest, shellWord } from "../model/text.ts";
import type { Result } from "./ticket.ts";

/** In API.md's words: each with `_id` is a field of a ticket that is opened. */
const ENTITY_KINDS = [
  "database",
  "domain",
  "firewall",
  "node",
  "lkecluster",
  "longviewclient",
  "nodebalancer",
  "volume",
  "vpc",
] as const;

export type EntityKind = (typeof ENTITY_KINDS)[number];

export interface Entity {
  readonly kind: EntityKind;
  readonly id: number;
}

/** `name`: it must be looked up. */
export type NamedEntity = Entity | { readonly kind: "domain" | "vpc"; readonly name: string };

export type EntityResult<Value> =
  | { readonly ok: true; readonly entity: Value }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Beyond it a number is read as another one. */
const MAX_ID_DIGITS = 15;

/** `node/123`, `vpc/123`, `vpc/prod`, `domain/example.com`. Digits alone are an id. */
export function parseEntityName(text: string): EntityResult<NamedEntity> {
  const [kind = "", rest = "", ...more] = text.split("/");
  if (!isKind(kind)) {
    const best = nearest(kind, ENTITY_KINDS);
    const meant = best === null ? "" : ` Did you mean \`${best}\`?`;
    return invalid(text, `A ticket is about one of: ${ENTITY_KINDS.join(", ")}.${meant}`);
  }
  if (more.length > 0) return invalid(text, `It is a part of ${kind}/${rest}, and a ticket is about the whole.`);
  if (/^\d+$/.test(rest) && rest.length <= MAX_ID_DIGITS && Number(rest) > 0)
    return { ok: true, entity: { kind, id: Number(rest) } };
  if (kind !== "vpc" && kind !== "domain") return invalid(text, `Name a ${kind} by its id, as in ${kind}/123.`);
  const name = nameInAddress(text, kind);
  const known = kind === "domain" && name !== null ? toAscii(name.replace(/\.$/, "")) : name;
  if (known === null || known === "") return invalid(text, `It does not name a ${kind}.`);
  return { ok: true, entity: { kind, name: known } };
}

/** Whether the service's word for what a ticket is about is a kind of API.md. */
export function isKind(word: string): word is EntityKind {
  return (ENTITY_KINDS as readonly string[]).includes(word);
}

function invalid(text: string, detail: string): { ok: false; diagnostic: Diagnostic } {
  return {
    ok: false,
    diagnostic: {
      code: "entity-invalid",
      severity: "error",
      summary: `a ticket cannot be about \`${text}\``,
      detail,
      fix: "Write an id, as in node/123, or an address, as in vpc/prod or domain/example.com.",
    },
  };
}

/** Asks for objects of that name only, with a filter. An entity with an id is not looked up: the service judges it. */
export async function resolveEntity(
  api: ReadApi,
  named: NamedEntity,
  signal?: AbortSignal,
): Promise<EntityResult<Entity> | Extract<Result<Entity>, { ok: false }>> {
  if ("id" in named) return { ok: true, entity: named };
  const { kind, name } = named;
  const [path, field] = kind === "vpc" ? (["vpcs", "label"] as const) : (["domains", "domain"] as const);
  const answer = await api.list({ path: [path], filter: { [field]: name } }, signal);
  if (!answer.ok) return { ok: false, what: `the ${kind} ${name}`, failure: answer.failure };
  const ids = answer.items.filter((item) => isCalled(item, field, name)).map((item) => item["id"] as number);
  const [id, ...others] = ids.filter(Number.isSafeInteger).sort((left, right) => left - right);
  const address = `${kind}/${name}`;
  if (id === undefined) {
    const summary = `no ${kind} \`${name}\` is in the account`;
    const fix = `Check the name, or give the id, as in ${kind}/123.`;
    return { ok: false, diagnostic: { code: "entity-unknown", severity: "error", summary, detail: "", fix, address } };
  }
  if (others.length === 0) return { ok: true, entity: { kind, id } };
  const shown = [id, ...others].slice(0, MAX_SHOWN_IDS).map((each) => `${kind}/${each}`);
  const more = others.length + 1 - shown.length;
  return {
    ok: false,
    diagnostic: {
      code: "entity-ambiguous",
      severity: "error",
      summary: `${others.length + 1} VPCs are called \`${name}\`, and nothing says which is meant`,
      detail: `They are ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
      fix: `Say which by its id, as in --entity ${shellWord(`${kind}/${id}`)}.`,
      address,
    },
  };
}

const MAX_SHOWN_IDS = 10;

function isCalled(item: JsonObject, field: string, name: string): boolean {
  const found = item[field];
  if (!isJsonObject(item) || typeof found !== "string") return false;
  return field === "domain" ? found.toLowerCase() === name.toLowerCase() : found === name;
}
