/** The requests of a plan, carried out one by one on a model of the account, with no server between. */

import type { PathPart, Plan, RequestStep, Step } from "../../src/model/plan.ts";
import type { ModelRecord, ModelZone } from "./resolver.ts";

export interface SeedZone {
  readonly id: number;
  readonly name: string;
  readonly active: boolean;
  /** By id; null: of unknown content. */
  readonly records: ReadonlyMap<number, ModelRecord> | null;
}

interface Zone {
  readonly name: string;
  active: boolean;
  readonly records: Map<string, ModelRecord> | null;
}

/** An account that takes requests as the service does: what is not there cannot be changed, and CNAMEs stand alone. */
export class ModelAccount {
  /** By the first part of their path: an id, or the key of the change that makes them. */
  readonly #zones = new Map<string, Zone>();

  constructor(seed: readonly SeedZone[]) {
    for (const { id, name, active, records } of seed) {
      const copied = records === null ? null : new Map([...records].map(([key, record]) => [String(key), record]));
      this.#zones.set(String(id), { name, active, records: copied });
    }
  }

  zones(): ModelZone[] {
    return [...this.#zones.values()].map(({ name, active, records }) => {
      return { name, active, records: records === null ? null : [...records.values()] };
    });
  }

  /** @returns false if the service would refuse it */
  send(step: Step): boolean {
    if (step.type !== "request") throw new Error(`${step.id} is no request`);
    const [, zoneId, , recordId] = step.path.map(idOf);
    if (zoneId === undefined) return this.#createZone(step);
    const zone = this.#zones.get(zoneId);
    if (zone === undefined) return false;
    if (step.method === "GET") return true;
    if (step.path[2] === "clone") return this.#createZone(step, zone);
    if (step.path.length > 2) return changeRecord(zone, recordId ?? step.id, step);
    if (step.method === "DELETE") return this.#zones.delete(zoneId);
    zone.active = ((step.body?.["status"] as string | undefined) ?? (zone.active ? "active" : "")) === "active";
    return true;
  }

  #createZone({ body, produces }: RequestStep, source: Zone | null = null): boolean {
    const name = String(body?.["domain"]);
    if ([...this.#zones.values()].some((zone) => zone.name === name)) return false;
    const active = source?.active ?? body?.["status"] === "active";
    this.#zones.set(String(produces?.ref), { name, active, records: copiedTo(name, source) });
    return true;
  }
}

/** The names of a copy's records are its own. */
function copiedTo(name: string, source: Zone | null): Map<string, ModelRecord> {
  const copies = [...(source?.records ?? [])].map(([key, record]) => {
    const relative = record.name.slice(0, record.name.length - (source?.name.length ?? 0));
    return [key, { ...record, name: `${relative}${name}` }] as const;
  });
  return new Map(copies);
}

function idOf(part: PathPart): string {
  return typeof part === "string" ? part : part.ref;
}

function changeRecord(zone: Zone, key: string, { method, body }: RequestStep): boolean {
  if (zone.records === null) throw new Error(`The records of ${zone.name} are nobody's business`);
  const before = zone.records.get(key);
  if ((before === undefined) !== (method === "POST")) return false;
  if (method === "DELETE") return zone.records.delete(key);
  const stated = body as Readonly<Record<string, string | undefined>>;
  const type = before?.type ?? String(stated["type"]);
  const record: ModelRecord = {
    type,
    name: nameOf(stated, zone.name) ?? before?.name ?? zone.name,
    target: stated["target"] === undefined ? (before?.target ?? "") : undotted(stated["target"]),
  };
  zone.records.set(key, record);
  return !clashes([...zone.records.values()].filter(({ name }) => name === record.name));
}

function nameOf(stated: Readonly<Record<string, string | undefined>>, zone: string): string | null {
  const { name, service, protocol } = stated;
  const relative = service === undefined ? name : `_${service}._${protocol}`;
  if (relative === undefined) return null;
  return relative === "" ? zone : `${relative}.${zone}`;
}

function undotted(target: string): string {
  return target.endsWith(".") ? target.slice(0, -1) : target;
}

/** RFC 1034, 3.6.2; RFC 7505, 3. */
export function clashes(sameName: readonly ModelRecord[]): boolean {
  const exchangers = sameName.filter(({ type }) => type === "MX");
  return (
    (sameName.length > 1 && sameName.some(({ type }) => type === "CNAME")) ||
    (exchangers.length > 1 && exchangers.some(({ target }) => target === ""))
  );
}

/** An order in which apply, which runs several at a time, may finish the steps. @param choose an index below its argument */
export function someOrder({ steps, barriers }: Plan, choose: (count: number) => number): Step[] {
  const done = new Set<string>();
  const waiting = [...steps];
  const gates = [...barriers];
  const order: Step[] = [];
  const isFree = ({ after }: { readonly after: readonly string[] }) => after.every((id) => done.has(id));
  while (waiting.length > 0) {
    for (let gate = gates.findIndex(isFree); gate !== -1; gate = gates.findIndex(isFree)) {
      for (const { id } of gates.splice(gate, 1)) done.add(id);
    }
    const ready = waiting.filter(isFree);
    const next = ready[choose(ready.length)];
    if (next === undefined) throw new Error(`Nothing may start of ${waiting.map(({ id }) => id).join(", ")}`);
    waiting.splice(waiting.indexOf(next), 1);
    done.add(next.id);
    order.push(next);
  }
  return order;
}
