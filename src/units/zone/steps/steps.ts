/** The requests that carry out the changes of zones (API.md, Domains). */

import { type Address, domainAddress } from "../../../model/address.ts";
import type { Change } from "../../../model/change.ts";
import { groupBy } from "../../../model/group.ts";
import type { Strategy } from "../../../model/plan.ts";
import { isJsonObject, type JsonObject, type Values } from "../../../model/resource.ts";
import type { PathPart } from "../../../model/step.ts";
import { type Facts, NO_FACTS, type PlannedStep, type StepContext } from "../../../model/unit.ts";
import { request, type UnorderedRequest } from "../../request.ts";
import { updateBody } from "../domain.ts";
import type { LiveZone } from "../live.ts";
import { ZoneOrder } from "../order/facts.ts";
import { type CloneGroup, cloneGroups, type RecordsByRoot, strategyOf } from "./clone.ts";
import { activate, beginZone, contentKeyOf, copyZone, createZone, type ZoneSteps } from "./create.ts";
import { domainPath, recordSteps } from "./record-steps.ts";

export function zoneSteps(changes: readonly Change[], context: StepContext): PlannedStep[] {
  const { domains, records } = divide(changes);
  const planning = new ZonePlanning(domains, records, context);
  for (const domain of sourcesFirst(domains)) planning.plan(domain);
  return domains.flatMap((domain) => {
    const { content, settled } = planning.plan(domain);
    const steps = [...content, ...settled];
    return context.isAdditive(domain.root) ? steps.map(besideOthers) : steps;
  });
}

/** In an additive zone an equal record may be somebody else's, and stays. */
function besideOthers({ step, facts }: PlannedStep): PlannedStep {
  if (step.type !== "request" || step.lookup === null) return { step, facts };
  return { step: { ...step, lookup: { ...step.lookup, additive: true } }, facts };
}

export function zoneStrategies(changes: readonly Change[], context: StepContext): Strategy[] {
  const { domains, records } = divide(changes);
  return cloneGroups(domains, records, context).map(strategyOf);
}

function divide(changes: readonly Change[]): { domains: Change[]; records: RecordsByRoot } {
  const records = changes.filter((change) => change.kind === "domain_record");
  return {
    domains: changes.filter((change) => change.kind === "domain"),
    records: groupBy(records, (change) => change.root),
  };
}

/** The steps of all domains; those of a domain that others are copied from wait for them, and they for it. */
class ZonePlanning {
  readonly #byRoot: ReadonlyMap<Address, Change>;
  readonly #records: RecordsByRoot;
  readonly #context: StepContext;
  readonly #order: ZoneOrder;
  readonly #groups: ReadonlyMap<Address, CloneGroup>;
  /** Root of a copy → its source. */
  readonly #sources: ReadonlyMap<Address, Change>;
  /** Root of a source → the steps that clone it as a manifest asks for. */
  readonly #clones: ReadonlyMap<Address, readonly string[]>;
  readonly #planned: Map<Address, ZoneSteps> = new Map();

  constructor(domains: readonly Change[], records: RecordsByRoot, context: StepContext) {
    this.#byRoot = new Map(domains.map((domain) => [domain.root, domain]));
    this.#records = records;
    this.#context = context;
    this.#order = new ZoneOrder(domains, records, context.live as readonly LiveZone[]);
    this.#clones = clonesBySource(domains);
    const groups = cloneGroups(domains, records, context);
    this.#groups = new Map(groups.map((group) => [group.source, group]));
    this.#sources = new Map(
      groups.flatMap(({ source, copies }) => copies.map((copy) => [copy, this.#byRoot.get(source) as Change] as const)),
    );
  }

  plan(domain: Change): ZoneSteps {
    const known = this.#planned.get(domain.root);
    if (known !== undefined) return known;
    const group = this.#groups.get(domain.root);
    const own = this.#stepsOf(domain, this.#records.get(domain.root) ?? []);
    const isCopied = group !== undefined || this.#clones.has(domain.root);
    const steps = isCopied ? lending(own, domain, group?.copies ?? []) : own;
    this.#planned.set(domain.root, steps);
    return steps;
  }

  #stepsOf(domain: Change, records: readonly Change[]): ZoneSteps {
    switch (domain.action) {
      case "create":
        return this.#made(domain, records);
      case "update":
        return updateZone(domain, records, this.#order);
      case "delete":
        return { content: [deleteZone(domain, this.#order, this.#clones.get(domain.root) ?? [])], settled: [] };
      case "no-op":
        return { content: recordSteps(domain, records, this.#order), settled: [] };
      case "replace": {
        // No field of a domain is immutable, so that nothing asks for this; a delete frees the name for the create.
        const { content, settled } = this.#made(domain, records);
        return { content: [deleteZone(domain, this.#order, []), ...content], settled };
      }
    }
  }

  #made(domain: Change, records: readonly Change[]): ZoneSteps {
    const source = this.#sources.get(domain.root);
    if (source !== undefined) return copyZone(domain, records, source, this.#order);
    const from = domain.after?.["create_from"];
    if (!isJsonObject(from)) return createZone(domain, records, this.#order);
    if (typeof from["axfr"] === "string") return beginZone(domain, { axfr: from["axfr"] }, NOTHING_BEFORE, this.#order);
    return this.#cloned(domain, String(from["clone"]));
  }

  /** Of a domain of the plan a copy is made when its records are as declared. */
  #cloned(domain: Change, name: string): ZoneSteps {
    const root = domainAddress(name);
    const source = this.#byRoot.get(root);
    const [id] = this.#context.idsOf(name);
    // What is neither there nor selected to be made is blocked: nothing brings this reference.
    const unknown: PathPart = { ref: root, field: "id" };
    const path = source === undefined ? ["domains", id === undefined ? unknown : String(id)] : domainPath(source);
    // What is blocked is not made; and a circle of clones is blocked.
    if (source === undefined || source.action === "delete" || source.blocked !== null) {
      return beginZone(domain, { clone: path }, NOTHING_BEFORE, this.#order);
    }
    return beginZone(domain, { clone: path }, readinessOf(source, this.plan(source)), this.#order);
  }
}

const NOTHING_BEFORE = { requires: [], pointsAt: [] };

/**
 * What a clone that a manifest asks for waits for. A domain that is made by itself has its fields from the start, and its records when
 * its content is done; others have their fields when they are settled.
 */
function readinessOf(source: Change, { content, settled }: ZoneSteps): Pick<Facts, "requires" | "pointsAt"> {
  const isPlain = source.action === "create" && content.some(({ step }) => step.id === `create ${source.address}`);
  if (isPlain) return { requires: [], pointsAt: [contentKeyOf(source)] };
  return { requires: (settled.length > 0 ? settled : content).map(({ step }) => step.id), pointsAt: [] };
}

/** Sources before what is cloned from them, however long the chain; circles as they come. */
function sourcesFirst(domains: readonly Change[]): Change[] {
  const byRoot = new Map(domains.map((domain) => [domain.root, domain]));
  const ordered = new Set<Change>();
  for (const domain of domains) {
    const chain: Change[] = [];
    const met = new Set<Change>();
    for (let next: Change | undefined = domain; next !== undefined && !ordered.has(next) && !met.has(next); ) {
      chain.push(next);
      met.add(next);
      const source = cloneSourceOf(next);
      next = source === null ? undefined : byRoot.get(source);
    }
    for (const link of chain.reverse()) ordered.add(link);
  }
  return [...ordered];
}

/** Root of the domain that a manifest has this one cloned from; null if none. */
function cloneSourceOf({ after }: Change): Address | null {
  const from = after?.["create_from"];
  return isJsonObject(from) && typeof from["clone"] === "string" ? domainAddress(from["clone"]) : null;
}

/** Root of a domain → the ids of the steps that make what its `create_from` says of it. */
function clonesBySource(domains: readonly Change[]): ReadonlyMap<Address, readonly string[]> {
  const clones = domains.flatMap((domain) => {
    const source = cloneSourceOf(domain);
    return source === null ? [] : [{ address: domain.address, source }];
  });
  const groups = groupBy(clones, ({ source }) => source);
  return new Map([...groups].map(([root, list]) => [root, list.map(({ address }) => `clone ${address}`)]));
}

/** Its copies wait for its records; it is served when they have been made, or could not be. */
function lending({ content, settled }: ZoneSteps, source: Change, copies: readonly Address[]): ZoneSteps {
  const key = contentKeyOf(source);
  const follows = copies.map((copy) => `clone ${copy}`);
  return {
    content: content.map(({ step, facts }) => ({ step, facts: { ...facts, provides: [...facts.provides, key] } })),
    settled: settled.map(({ step, facts }) => ({ step, facts: { ...facts, follows } })),
  };
}

/** One PUT. If it begins to serve the zone it comes after the records, if it ceases to, before them. */
function updateZone(domain: Change, records: readonly Change[], order: ZoneOrder): ZoneSteps {
  const [before, after] = [domain.before as Values, domain.after as Values];
  const body = updateBody(before, after);
  const filled = recordSteps(domain, records, order);
  if (before["type"] !== after["type"] && filled.length > 0) return convertZone(domain, body, filled, order);
  const [was, is] = [before["status"] === "active", after["status"] === "active"];
  if (is && !was) return { content: filled, settled: [activate(domain, body, filled, order.factsOfZone(domain))] };
  const update = put(domain, "update", body);
  const ceases = was && !is;
  const content = ceases ? filled.map((step) => requiring(step, update.id)) : filled;
  return { content: [{ step: update, facts: ceases ? order.factsOfZone(domain) : NO_FACTS }, ...content], settled: [] };
}

/**
 * A slave takes no records, so it becomes a master first; and as it is empty then, it is not served until it is filled. What it answered
 * as a slave is a gap that the change forces.
 */
function convertZone(domain: Change, body: JsonObject, filled: readonly PlannedStep[], order: ZoneOrder): ZoneSteps {
  const wasServed = domain.before?.["status"] === "active";
  const isServed = domain.after?.["status"] === "active";
  const convert = put(domain, "convert", { ...body, status: "disabled" });
  const converted = filled.map((step) => requiring(step, convert.id));
  const served = { set: `zone ${String(domain.after?.["domain"])}`, persists: false };
  const ceases = wasServed && !isServed ? order.factsOfZone(domain) : NO_FACTS;
  const facts = wasServed && isServed ? { ...NO_FACTS, shrinks: [served] } : ceases;
  if (!isServed) return { content: [{ step: convert, facts }, ...converted], settled: [] };
  const begins = wasServed ? { ...NO_FACTS, grows: [served] } : order.factsOfZone(domain);
  return {
    content: [{ step: convert, facts }, ...converted],
    settled: [activate(domain, { status: "active" }, converted, begins)],
  };
}

function put(domain: Change, verb: string, body: JsonObject): UnorderedRequest {
  return request(domain, `${verb} ${domain.address}`, "PUT", domainPath(domain), body);
}

function requiring({ step, facts }: PlannedStep, id: string): PlannedStep {
  return { step, facts: { ...facts, requires: [...facts.requires, id] } };
}

/** The service deletes the records with it (API.md, Domains, rule 2). */
function deleteZone(domain: Change, order: ZoneOrder, requires: readonly string[]): PlannedStep {
  return {
    step: request(domain, `delete ${domain.address}`, "DELETE", domainPath(domain), null),
    facts: { ...order.factsOfZone(domain), requires },
  };
}
