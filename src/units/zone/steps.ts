/** The requests that carry out the changes of zones (API.md, Domains). */

import type { WireRecord } from "../../api/wire.ts";
import type { Change } from "../../model/change.ts";
import type { PathPart, RequestStep, Strategy } from "../../model/plan.ts";
import { type Address, domainAddress, isJsonObject, type JsonObject, type Values } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import { type Claim, type Facts, NO_FACTS, type PlannedStep, type StepContext } from "../../model/unit.ts";
import { request, type UnorderedRequest } from "../common.ts";
import { ownerOfTags, partTag, sharedWithOf } from "../owner-tag.ts";
import { type CloneGroup, cloneGroups, type RecordsByRoot, strategyOf } from "./clone.ts";
import { copyBody, createBody, statedBody, statedContent, updateBody } from "./domain.ts";
import { endsSharing } from "./guards.ts";
import { type LiveZone, zoneName } from "./live.ts";
import { ZoneFacts } from "./ordering.ts";
import { contentKey, isKnownRecord, liveRecord, type RecordValues, recordBody } from "./wire-record.ts";

export function zoneSteps(changes: readonly Change[], context: StepContext): PlannedStep[] {
  // To compare thousands of zones before and after nothing would take as long as to read them.
  if (changes.every(({ action }) => action === "no-op")) return [];
  const { domains, records } = divide(changes);
  const planning = new ZonePlanning(domains, records, context);
  for (const domain of sourcesFirst(domains)) planning.plan(domain);
  return domains.flatMap((domain) => {
    const { content, completion } = planning.plan(domain);
    const steps = [...content, ...completion];
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

/** Plans the steps of all domains. A copy waits for its source's records; the source's last step waits for its copies. */
class ZonePlanning {
  readonly #byRoot: ReadonlyMap<Address, Change>;
  readonly #records: RecordsByRoot;
  readonly #context: StepContext;
  readonly #zoneFacts: ZoneFacts;
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
    this.#zoneFacts = new ZoneFacts(domains, records, context.live as readonly LiveZone[]);
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
        return updateZone(domain, records, this.#zoneFacts);
      case "delete":
        return { content: deleteZone(domain, this.#zoneFacts, this.#clones.get(domain.root) ?? []), completion: [] };
      case "no-op": {
        const steps = recordSteps(domain, records, this.#zoneFacts);
        return { content: domain.part === true ? behindLook(domain, steps, this.#context) : steps, completion: [] };
      }
      case "replace": {
        // No field of a domain is immutable, so that nothing asks for this; a delete frees the name for the create.
        const { content, completion } = this.#made(domain, records);
        return { content: [...deleteZone(domain, this.#zoneFacts, []), ...content], completion };
      }
    }
  }

  #made(domain: Change, records: readonly Change[]): ZoneSteps {
    const source = this.#sources.get(domain.root);
    if (source !== undefined) return copyZone(domain, records, source, this.#zoneFacts);
    const from = domain.after?.["create_from"];
    if (!isJsonObject(from)) return createZone(domain, records, this.#zoneFacts);
    if (typeof from["axfr"] === "string")
      return beginZone(domain, { axfr: from["axfr"] }, NOTHING_BEFORE, this.#zoneFacts);
    return this.#cloned(domain, String(from["clone"]));
  }

  /** A domain of the plan is copied when its records are as declared. */
  #cloned(domain: Change, name: string): ZoneSteps {
    const root = domainAddress(name);
    const source = this.#byRoot.get(root);
    const [id] = this.#context.idsOf(name);
    // A source that is neither there nor selected is blocked: no step produces this reference.
    const unknown: PathPart = { ref: root, field: "id" };
    const path = source === undefined ? ["domains", id === undefined ? unknown : String(id)] : domainPath(source);
    // A blocked source is not made, and neither is a circle of clones.
    if (source === undefined || source.action === "delete" || source.blocked !== null) {
      return beginZone(domain, { clone: path }, NOTHING_BEFORE, this.#zoneFacts);
    }
    return beginZone(domain, { clone: path }, readinessOf(source, this.plan(source)), this.#zoneFacts);
  }
}

// A part of another project's domain: its owner must still agree when its records are written.

function behindLook(domain: Change, steps: readonly PlannedStep[], { owner }: StepContext): PlannedStep[] {
  if (steps.length === 0) return [];
  const look: UnorderedRequest = {
    ...request(domain, `check ${domain.address}`, "GET", domainPath(domain), null),
    // It carries out nothing: a run that is narrowed to some of the records needs it as well.
    changes: [],
    expect: { shared_with: owner },
  };
  return [{ step: look, facts: NO_FACTS }, ...steps.map((step) => requiring(step, look.id))];
}

/**
 * Judges a look: the domain must still be shared with this project whose part is written, or must be as the plan has read it to be deleted.
 * Returns the reason to go no further, or null.
 */
export function objectionInZone({ expect }: RequestStep, answer: JsonObject): string | null {
  const tags = Array.isArray(answer["tags"]) ? answer["tags"].map(String) : [];
  const { shared_with: sharedWith, records } = expect ?? {};
  if (typeof sharedWith === "string") {
    if (sharedWithOf(tags).includes(sharedWith)) return null;
    return `the domain no longer carries the tag ${partTag(sharedWith)}: its owner has ended the sharing; plan again`;
  }
  if (typeof records === "number") {
    const { results } = answer;
    if (typeof results === "number" && results <= records) return null;
    const count = typeof results === "number" ? String(results) : "an unknown number of";
    return `it holds ${count} records by now, and not ${records}; plan again`;
  }
  const name = zoneName({ domain: String(answer["domain"]) });
  if (name !== expect?.["domain"]) return "somebody else has renamed it since it was planned; plan again";
  if (ownerOfTags(tags) !== expect["owner"])
    return "somebody else has changed its owner tag since it was planned; plan again";
  return sharedWithOf(tags).length === 0 ? null : "it is shared with other projects by now; plan again";
}

/** What must be done before a clone that a manifest asks for. */
type Readiness = Pick<Facts, "requires" | "awaits" | "resolution">;

const NOTHING_BEFORE: Readiness = { requires: [], awaits: [], resolution: NO_FACTS.resolution };

/**
 * What a clone that a manifest asks for waits for. A domain that is made by itself has its fields from the start, and its records when
 * its content is done; others have their fields when their last step is done. A domain that stays has as many last steps as records that
 * change: its clones wait for the one point at which all of them are done.
 */
function readinessOf(source: Change, { content, completion }: ZoneSteps): Readiness {
  if (isMadeByItself(source, content)) return { ...NOTHING_BEFORE, resolution: needing(source) };
  if (completion.length > 0) return { ...NOTHING_BEFORE, requires: completion.map(({ step }) => step.id) };
  return { ...NOTHING_BEFORE, awaits: [contentKeyOf(source)] };
}

function isMadeByItself(source: Change, content: readonly PlannedStep[]): boolean {
  return source.action === "create" && content.some(({ step }) => step.id === `create ${source.address}`);
}

/** Sources before their clones, however long the chain; the members of a circle in any order. */
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
function lending({ content, completion }: ZoneSteps, source: Change, copies: readonly Address[]): ZoneSteps {
  const key = contentKeyOf(source);
  const follows = copies.map((copy) => `clone ${copy}`);
  return {
    content: content.map(({ step, facts }) => {
      const resolution = { ...facts.resolution, adds: [...facts.resolution.adds, key] };
      return { step, facts: { ...facts, reaches: [...facts.reaches, key], resolution } };
    }),
    completion: completion.map(({ step, facts }) => ({ step, facts: { ...facts, follows } })),
  };
}

/** One PUT. If it begins to serve the zone it comes after the records, if it ceases to, before them. */
function updateZone(domain: Change, records: readonly Change[], zoneFacts: ZoneFacts): ZoneSteps {
  const [before, after] = [domain.before as Values, domain.after as Values];
  const body = updateBody(before, after);
  const ends = endsSharing(domain);
  const steps = recordSteps(domain, records, zoneFacts);
  const filled = ends ? steps.map((step) => claiming(step, { acquire: [namesOfOthers(domain)], release: [] })) : steps;
  if (before["type"] !== after["type"] && filled.length > 0) return convertZone(domain, body, filled, zoneFacts);
  const [was, is] = [before["status"] === "active", after["status"] === "active"];
  if (is && !was) return fillZone(domain, body, filled, zoneFacts);
  const update = put(domain, "update", body);
  const ceases = was && !is;
  const content = ceases ? filled.map((step) => requiring(step, update.id)) : filled;
  const facts = ceases ? zoneFacts.factsOfZone(domain) : NO_FACTS;
  return { content: [takingBack(domain, { step: update, facts }), ...content], completion: [] };
}

/** A zone that is found disabled is served when it is filled. */
function fillZone(domain: Change, body: JsonObject, filled: readonly PlannedStep[], zoneFacts: ZoneFacts): ZoneSteps {
  const served = zoneFacts.factsOfZone(domain);
  const { tags, ...rest } = body;
  if (!endsSharing(domain) || tags === undefined || filled.length === 0)
    return { content: filled, completion: [activate(domain, body, filled, served)] };
  const unshare = takingBack(domain, { step: put(domain, "unshare", { tags }), facts: NO_FACTS });
  return { content: [unshare, ...filled], completion: [activate(domain, rest, filled, served)] };
}

// The end of a sharing: names that others may still write are not touched, so that the tag which lets them goes before any record changes.

function namesOfOthers(domain: Change): Claim {
  return { slot: `names of others in ${domain.root}`, exclusive: true };
}

function takingBack(domain: Change, step: PlannedStep): PlannedStep {
  return endsSharing(domain) ? claiming(step, { acquire: [], release: [namesOfOthers(domain)] }) : step;
}

function claiming({ step, facts }: PlannedStep, { acquire, release }: Facts["claims"]): PlannedStep {
  const claims = {
    acquire: [...facts.claims.acquire, ...acquire],
    release: [...facts.claims.release, ...release],
  };
  return { step, facts: { ...facts, claims } };
}

/**
 * A slave takes no records, so it becomes a master first; and as it is empty then, it is not served until it is filled. What it answered
 * as a slave is a gap that the change forces.
 */
function convertZone(
  domain: Change,
  body: JsonObject,
  filled: readonly PlannedStep[],
  zoneFacts: ZoneFacts,
): ZoneSteps {
  const wasServed = domain.before?.["status"] === "active";
  const isServed = domain.after?.["status"] === "active";
  const convert = put(domain, "convert", { ...body, status: "disabled" });
  const converted = filled.map((step) => requiring(step, convert.id));
  const served = { set: `zone ${String(domain.after?.["domain"])}`, persists: false };
  const ceases = wasServed && !isServed ? zoneFacts.factsOfZone(domain) : NO_FACTS;
  const facts = wasServed && isServed ? { ...NO_FACTS, rrsets: { grow: [], shrink: [served] } } : ceases;
  if (!isServed) return { content: [{ step: convert, facts }, ...converted], completion: [] };
  const begins = wasServed ? { ...NO_FACTS, rrsets: { grow: [served], shrink: [] } } : zoneFacts.factsOfZone(domain);
  return {
    content: [{ step: convert, facts }, ...converted],
    completion: [activate(domain, { status: "active" }, converted, begins)],
  };
}

function put(domain: Change, verb: string, body: JsonObject): UnorderedRequest {
  return request(domain, `${verb} ${domain.address}`, "PUT", domainPath(domain), body);
}

function requiring({ step, facts }: PlannedStep, id: string): PlannedStep {
  return { step, facts: { ...facts, requires: [...facts.requires, id] } };
}

/**
 * The service deletes the records with it (API.md, Domains, rule 2). What the delete waits for may take long: two looks tell whether others
 * have taken the domain over, or added records, meanwhile.
 */
function deleteZone(domain: Change, zoneFacts: ZoneFacts, requires: readonly string[]): PlannedStep[] {
  const { address, before, holds } = domain;
  const path = domainPath(domain);
  const look = (id: string, of: readonly PathPart[], expect: JsonObject): UnorderedRequest => ({
    ...request(domain, id, "GET", of, null),
    expect,
  });
  const check = look(`check ${address}`, path, {
    domain: before?.["domain"] ?? null,
    owner: before?.["owner"] ?? null,
  });
  const remove: PlannedStep = {
    step: request(domain, `delete ${address}`, "DELETE", path, null),
    facts: { ...zoneFacts.factsOfZone(domain), requires },
  };
  const checked: PlannedStep = { step: check, facts: NO_FACTS };
  if (holds === undefined) return [checked, requiring(remove, check.id)];
  const count = look(`count ${address}`, [...path, "records"], { records: holds.records });
  return [checked, { step: count, facts: { ...NO_FACTS, requires: [check.id] } }, requiring(remove, count.id)];
}

// The requests that make a domain: by itself, as a copy that saves requests, or from what its manifest names.

/** The steps of one domain. */
interface ZoneSteps {
  /** What brings it to its records. */
  readonly content: readonly PlannedStep[];
  /** What comes after them. */
  readonly completion: readonly PlannedStep[];
}

/** Created disabled, filled, then activated; without records there is nothing to be half-built. */
function createZone(domain: Change, records: readonly Change[], zoneFacts: ZoneFacts): ZoneSteps {
  const after = domain.after as Values;
  const final = String(after["status"] ?? "active");
  const filled = recordSteps(domain, records, zoneFacts);
  const activates = final === "active" && filled.length > 0;
  const body = createBody(after, activates ? "disabled" : final);
  const create = post(domain, "create", ["domains"], body, statedContent(body, body));
  const served = zoneFacts.factsOfZone(domain);
  if (!activates) {
    return {
      content: [{ step: create, facts: final === "active" ? served : NO_FACTS }, ...filled],
      completion: [],
    };
  }
  return {
    content: [{ step: create, facts: NO_FACTS }, ...filled],
    completion: [activate(domain, { status: "active" }, filled, served)],
  };
}

/**
 * Clones another domain of the plan. The clone is made after the source has its records and before the source is served. One PUT then
 * gives the clone its own fields.
 */
function copyZone(domain: Change, records: readonly Change[], source: Change, zoneFacts: ZoneFacts): ZoneSteps {
  const request = cloneRequest(domain, domainPath(source));
  const step = { ...request, changes: [...request.changes, ...records.map(({ key }) => key)] };
  const clone = { step, facts: { ...NO_FACTS, resolution: needing(source) } };
  const served = zoneFacts.factsOfZone(domain);
  return { content: [clone], completion: [activate(domain, copyBody(domain.after as Values), [clone], served)] };
}

/** A copy waits for its source's content. */
function needing(source: Change): Facts["resolution"] {
  return { ...NO_FACTS.resolution, needs: [contentKeyOf(source)] };
}

/** What copies of a domain wait for. */
function contentKeyOf(source: Change): string {
  return `content ${source.root}`;
}

/**
 * Creates a domain as `create_from` says. Its tags are known only once it exists; whatever else came with it stays.
 * @param ready what must be done before
 */
function beginZone(
  domain: Change,
  from: { readonly clone: readonly PathPart[] } | { readonly axfr: string },
  ready: Readiness,
  zoneFacts: ZoneFacts,
): ZoneSteps {
  const after = domain.after as Values;
  const made =
    "clone" in from
      ? cloneRequest(domain, from.clone)
      : post(
          domain,
          "import",
          ["domains", "import"],
          { domain: String(after["domain"]), remote_nameserver: from.axfr },
          contentOfName(after),
        );
  const begin = {
    step: { ...made, produces: { ref: domain.key, fields: { id: "id", tags: "tags" } } },
    facts: { ...NO_FACTS, ...ready },
  };
  const last = activate(domain, statedBody(after), [begin], zoneFacts.factsOfZone(domain));
  const amended = after["tags"] === undefined ? { ...last.step, amends: domain.key } : last.step;
  return { content: [begin], completion: [{ ...last, step: amended }] };
}

/** @param filled what must be done before the domain is served */
function activate(
  domain: Change,
  body: JsonObject,
  filled: readonly PlannedStep[],
  served: PlannedStep["facts"],
): PlannedStep {
  return {
    step: request(domain, `activate ${domain.address}`, "PUT", domainPath(domain), body),
    facts: { ...served, requires: filled.map(({ step }) => step.id) },
  };
}

function cloneRequest(domain: Change, source: readonly PathPart[]): UnorderedRequest {
  const name = String(domain.after?.["domain"]);
  return post(domain, "clone", [...source, "clone"], { domain: name }, contentOfName(domain.after as Values));
}

/** Names are unique on the platform: a domain of this name that was not there before is the one that was made. */
function contentOfName(after: Values): JsonObject {
  const name = { domain: String(after["domain"]) };
  return statedContent(name, name);
}

function post(
  domain: Change,
  verb: string,
  path: readonly PathPart[],
  body: JsonObject,
  match: JsonObject,
): UnorderedRequest {
  return {
    ...request(domain, `${verb} ${domain.address}`, "POST", path, body),
    produces: { ref: domain.key, fields: { id: "id" } },
    lookup: {
      kind: "domain",
      path: ["domains"],
      filter: { domain: String(domain.after?.["domain"]) },
      match,
      known: [],
    },
  };
}

// The requests that carry out the changes of records (API.md, Domains).

function recordSteps(domain: Change, records: readonly Change[], zoneFacts: ZoneFacts): PlannedStep[] {
  return records.flatMap((record): PlannedStep[] => {
    const step = recordStep(domain, record);
    return step === null ? [] : [{ step, facts: zoneFacts.factsOfRecord(domain, record) }];
  });
}

function recordStep(domain: Change, record: Change): UnorderedRequest | null {
  const path: PathPart[] = [...domainPath(domain), "records"];
  switch (record.action) {
    case "no-op":
      return null;
    case "create":
      return createRecord(domain, record, path);
    case "update":
    case "replace":
      return request(record, `update ${record.key}`, "PUT", [...path, String(record.id)], changedFields(record));
    case "delete":
      return request(record, `delete ${record.key}`, "DELETE", [...path, String(record.id)], null);
  }
}

function createRecord(domain: Change, record: Change, path: readonly PathPart[]): UnorderedRequest {
  const values = record.after as RecordValues;
  const { type, ...rest } = values;
  // What is null says nothing of a record that is not there yet.
  const fields = Object.entries(recordBody(values, Object.keys(rest))).filter(([, value]) => value !== null);
  return {
    ...request(record, `create ${record.key}`, "POST", path, { type, ...Object.fromEntries(fields) }),
    lookup: {
      kind: "domain_record",
      path,
      // A filter cannot find the record name `*` (OBSERVED: Pages), so names are compared here.
      filter: { type },
      match: { zone: String((domain.after ?? domain.before)?.["domain"]), content: contentKey(values) },
      known: [],
    },
  };
}

function changedFields(record: Change): JsonObject {
  const before = record.before as RecordValues;
  const after = record.after as RecordValues;
  return recordBody(
    after,
    Object.keys(after).filter((field) => after[field] !== before[field]),
  );
}

/** The content of a live record in the form of a lookup's `match`. */
export function recordContent(item: JsonObject, zone: string): JsonObject | null {
  const record = item as unknown as WireRecord;
  return isKnownRecord(record) ? { zone, content: contentKey(liveRecord(record, zone)) } : null;
}

/** Where a domain is, or will be once it is made. */
function domainPath(domain: Change): PathPart[] {
  return [
    "domains",
    domain.id === null || domain.action === "replace" ? { ref: domain.key, field: "id" } : String(domain.id),
  ];
}
