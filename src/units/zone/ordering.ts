/** Derives from the changes of a plan's zones the facts by which steps are ordered, so that every name keeps answering during the apply. */

import { parentOf } from "../../dns/name.ts";
import type { RecordType } from "../../dns/record.ts";
import type { Change } from "../../model/change.ts";
import type { Address } from "../../model/resource.ts";
import { type Facts, type Membership, NO_FACTS } from "../../model/unit.ts";
import { claimsBeyond, claimsOf } from "./claims.ts";
import { FactBuilder } from "./fact-builder.ts";
import type { LiveZone } from "./live.ts";
import {
  coversOf,
  delegationMovesOf,
  movesOf,
  nextCloserName,
  orderPointer,
  orderZonePointers,
  preferUnchanging,
} from "./pointers.ts";
import {
  type AccountResolver,
  ASKED_OF_ALIASES,
  afterValues,
  domainNameOf,
  isAddress,
  isCut,
  type QType,
  type ResolutionEvent,
  type Source,
} from "./resolution.ts";
import { moversOf, Transition } from "./transitions.ts";
import { WildcardCutovers } from "./wildcard-cutovers.ts";
import { answersAddress, type RecordValues, recordFqdn } from "./wire-record.ts";

/** The facts of all steps of a plan's zones, found by comparing the zones before and after the plan. */
export class ZoneFacts {
  readonly #transition: Transition;
  readonly #facts = new FactBuilder();
  readonly #records: ReadonlyMap<Address, readonly Change[]>;
  readonly #domains: readonly Change[];

  /** @param live what was read of the account, planned or not */
  constructor(domains: readonly Change[], records: ReadonlyMap<Address, readonly Change[]>, live: readonly LiveZone[]) {
    this.#domains = domains;
    this.#records = records;
    this.#transition = new Transition(domains, records, live);
    this.#orderPointers();
    orderTakeovers(this.#transition, this.#facts);
    this.#assignEvents();
  }

  /** Facts of the step that begins to serve the zone, or stops serving it. */
  factsOfZone(domain: Change): Facts {
    return this.#facts.factsOf(domain.key);
  }

  /** Facts of a record's step. Unless its zone is served both before and after, only the claims matter: what the service would refuse. */
  factsOfRecord(domain: Change, record: Change): Facts {
    const zone = domainNameOf(domain);
    const before = record.before as RecordValues | null;
    const after = record.after as RecordValues | null;
    const had = before === null ? [] : claimsOf(before, zone);
    const has = after === null ? [] : claimsOf(after, zone);
    const claims = { acquire: claimsBeyond(has, had), release: claimsBeyond(had, has) };
    if (!this.#transition.isServedThroughout(zone)) return { ...NO_FACTS, claims };
    const left = before === null ? [] : this.#setsOf(before, zone, "before");
    const joined = after === null ? [] : this.#setsOf(after, zone, "after");
    const isJoined = (set: string) => joined.some(([question, owner]) => `${owner} ${question}` === set);
    const soft = this.#facts.factsOf(record.key);
    return {
      ...soft,
      claims,
      rrsets: {
        grow: [...soft.rrsets.grow, ...this.#memberships(zone, joined)],
        shrink: [...soft.rrsets.shrink, ...this.#memberships(zone, left).filter(({ set }) => !isJoined(set))],
      },
    };
  }

  /** Leaves out sets for which this name in this zone does not itself answer both before and after. */
  #memberships(zone: string, sets: readonly [QType, string][]): Membership[] {
    return sets
      .filter(([question, owner]) => this.#answersBoth(zone, owner, question))
      .map(([question, owner]) => {
        return { set: `${owner} ${question}`, persists: this.#transition.persists(zone, owner, question) };
      });
  }

  /** The sets that a record belongs to: its name and type. A CNAME also belongs to each set that its name has on the other side. */
  #setsOf(values: RecordValues, zone: string, side: "before" | "after"): [QType, string][] {
    const owner = recordFqdn(values, zone);
    const sets: [QType, string][] = [[values.type, owner]];
    if (values.type !== "CNAME") return answersAddress(values) ? [...sets, ["address", owner]] : sets;
    const other = side === "before" ? this.#transition.after : this.#transition.before;
    const asked = new Set<QType>(["address"]);
    for (const { values: theirs } of other.recordsAt(zone, owner)) if (!answersAddress(theirs)) asked.add(theirs.type);
    for (const question of asked) {
      if (this.#transition[side].answeringRecords(zone, owner, question).length > 0) sets.push([question, owner]);
    }
    return sets;
  }

  #answersBoth(zone: string, owner: string, question: QType): boolean {
    const { before, after } = this.#transition;
    return [before, after].every((side) => {
      const source = side.source(owner);
      const isAsked = source.type === "node" || (isCut(source) && question === "NS");
      const isGlue = isCut(source) && isAddress(question) && side.isServer(zone, owner);
      const isHere = source.zone === zone && ((source.owner === owner && isAsked) || isGlue);
      const answering = isHere ? side.answeringRecords(zone, owner, question) : [];
      // Glue must be an address: a resolver does not follow an alias at the name of a delegation's server.
      return answering.some(({ values }) => !isGlue || values.type !== "CNAME");
    });
  }

  #orderPointers(): void {
    const transition = this.#transition;
    for (const domain of this.#domains) {
      const zone = domainNameOf(domain);
      if (transition.begins(zone) || transition.ceases(zone)) orderZonePointers(zone, transition, this.#facts);
      if (!transition.isServedThroughout(zone)) continue;
      for (const record of this.#records.get(domain.root) ?? []) orderPointer(record, zone, transition, this.#facts);
    }
  }

  #assignEvents(): void {
    const transition = this.#transition;
    // A wildcard answers again for a name when the last record at or beneath that name goes: a record's old name counts under `comes`.
    const wildcardMovers = { comes: new Map<string, string[]>(), goes: new Map<string, string[]>() };
    const wanted = this.#facts.wildcards();
    for (const domain of wanted.size === 0 ? [] : this.#domains) {
      const zone = domainNameOf(domain);
      if (!transition.isServedThroughout(zone)) continue;
      for (const record of this.#records.get(domain.root) ?? []) {
        const from = record.before === null ? null : recordFqdn(record.before as RecordValues, zone);
        const values = afterValues(record);
        const to = values === null ? null : recordFqdn(values as RecordValues, zone);
        if (from === to) continue;
        for (const [name, index] of [[from, wildcardMovers.comes] as const, [to, wildcardMovers.goes] as const]) {
          for (let above = name ?? zone; above !== zone; above = parentOf(above)) {
            const key = `${zone} ${above}`;
            if (!wanted.has(key)) continue;
            const list = index.get(key);
            if (list === undefined) index.set(key, [record.key]);
            else list.push(record.key);
          }
        }
      }
    }
    const movers = (event: ResolutionEvent, way: "comes" | "goes"): readonly string[] => {
      if (event.type !== "wildcard") return moversOf(event, transition, way);
      return wildcardMovers[way].get(`${event.zone} ${event.owner}`) ?? [];
    };
    this.#facts.assign(
      (event) => movers(event, "comes"),
      (event) => movers(event, "goes"),
    );
  }
}

// Names that answer on both sides of a plan but from different places: the new place answers before the old one ceases to.

/** A delegation may have thousands of servers, and as many names beneath it. */
const MAX_WAITING_LOSSES = 8;

/** A label that nobody uses: what a wildcard answers for. */
const UNHEARD_LABEL = "\u0000";

interface Takeover {
  readonly name: string;
  readonly from: Source;
  readonly to: Source;
  /** What is answered both before and after. */
  readonly questions: readonly QType[];
}

function orderTakeovers(transition: Transition, facts: FactBuilder): void {
  const cutovers = new WildcardCutovers(transition, facts);
  const cuts = new Map<string, { readonly zone: string; readonly owner: string }>();
  const held = new Set<string>();
  for (const name of namesOf(transition)) {
    const from = transition.before.source(name);
    const to = transition.after.source(name);
    if (from.zone === null || to.zone === null) continue;
    if (from.zone === to.zone && from.type === to.type && from.owner === to.owner) {
      if (from.type === "cut") cuts.set(`${from.zone} ${from.owner}`, from);
      continue;
    }
    const questions = keptQuestions(name, from, to, transition);
    if (questions.length === 0) continue;
    holdHidden(name, to, "comes", transition, facts, held);
    holdHidden(name, from, "goes", transition, facts, held);
    takeOver({ name, from, to, questions }, transition, facts, cutovers);
  }
  for (const { zone, owner } of cuts.values()) keepReached(zone, owner, transition, facts);
  cutovers.order();
}

/**
 * Orders the changes of a delegation that stays while its servers, or their addresses, change: one new server must be reachable before the
 * last old one ceases to be.
 */
function keepReached(zone: string, cut: string, transition: Transition, facts: FactBuilder): void {
  const isKept = transition.keepsServer(zone, cut);
  const arriving = isKept ? [] : keysOf(transition.gainedServers(zone, cut).slice(0, 1));
  if (arriving.length === 0) {
    for (const event of delegationMovesOf(zone, cut, transition, "comes")) {
      arriving.push(...moversOf(event, transition, "comes").slice(0, 1));
    }
  }
  const leaving = [...delegationMovesOf(zone, cut, transition, "goes")];
  if (!isKept && transition.lostServers(zone, cut).length > 0) leaving.push({ type: "cut", zone, owner: cut });
  for (const key of arriving) for (const event of leaving) facts.precedes(key, event);
}

/** Every name that exists before or after; if there are wildcards, also one made-up name beneath each, which only a wildcard answers. */
function* namesOf(transition: Transition): Generator<string> {
  const names = new Set<string>();
  let hasWildcard = false;
  for (const zone of transition.served) {
    names.add(zone);
    for (const side of [transition.before, transition.after]) {
      if (!side.isServed(zone)) continue;
      for (const name of side.names(zone)) {
        names.add(name);
        hasWildcard ||= name.startsWith("*.");
      }
    }
  }
  yield* names;
  if (hasWildcard) for (const name of names) yield `${UNHEARD_LABEL}.${name}`;
}

/**
 * What the name answers both before and after. A and AAAA are separate questions only where the name may have one without the other;
 * elsewhere `address` stands for both.
 */
function keptQuestions(name: string, from: Source, to: Source, transition: Transition): QType[] {
  const questions = new Set<QType>();
  for (const [side, source] of [[transition.before, from] as const, [transition.after, to] as const]) {
    if (isCut(source) && source.owner === name) questions.add("NS");
    if (source.type !== "node") continue;
    for (const type of side.typesAt(source.zone, source.owner))
      for (const question of answerable(type)) questions.add(question);
  }
  if (from.type !== "node" && to.type !== "node") questions.add("address");
  const { before, after } = transition;
  const kept = [...questions].filter((question) => {
    const verdicts = [before.verdict(name, question), after.verdict(name, question)];
    // An alias that leads out of the account may answer anything: it is taken to answer what the other side is known to answer.
    return !verdicts.includes("no") && (!verdicts.includes("unknown") || verdicts.includes("yes"));
  });
  const kinds = kept.filter((question) => question === "A" || question === "AAAA");
  const isDistinct =
    kinds.length > 0 && (questions.has("CNAME") || before.hasBothKinds(name) || after.hasBothKinds(name));
  return kept.filter((question) => !isAddress(question) || isDistinct !== (question === "address"));
}

function answerable(type: RecordType): readonly QType[] {
  if (type === "CNAME") return ASKED_OF_ALIASES;
  return isAddress(type) ? ["A", "AAAA", "address"] : [type];
}

function takeOver(takeover: Takeover, transition: Transition, facts: FactBuilder, cutovers: WildcardCutovers): void {
  const { name, from, to, questions } = takeover;
  const isTurning = (zone: string | null): zone is string => {
    return zone !== null && (transition.begins(zone) || transition.ceases(zone));
  };
  for (const question of questions) {
    orderAnswers(from, to, question, transition, facts);
    const providers = providersOf(to, question, transition);
    const [going, coming] = [
      beyond(name, from, question, transition, "goes"),
      beyond(name, to, question, transition, "comes"),
    ];
    const endEvents = endEventsOf(from, question, transition);
    // A deeper zone, a delegation or a name that comes to hide the old place must also come after the providers.
    if (from.zone !== to.zone) endEvents.push(...coversOf(name, from, transition, "goes"));
    for (const event of endEvents) for (const key of providers) facts.precedes(key, event);
    // The deeper of two zones decides which of them answers.
    const deeper = (from.zone ?? "").length > (to.zone ?? "").length ? from.zone : to.zone;
    const switches = isTurning(deeper) ? [transition.changeOf(deeper)] : [];
    const turning = [...providers, ...switches];
    for (const event of going) {
      if (turning.length === 0)
        facts.allPrecede(lossesId(from, question), () => lossKeysOf(from, question, transition), event);
      for (const key of turning) facts.precedes(key, event);
    }
    const waiting = coming.length === 0 ? [] : waitingLossKeysOf(from, question, transition);
    for (const event of coming) {
      for (const key of [...waiting, ...switches]) facts.awaits(key, event);
    }
    const [aliasBefore, aliasAfter] = [aliasTargetAt(from, transition.before), aliasTargetAt(to, transition.after)];
    if (aliasBefore !== null) for (const key of turning) preferUnchanging(key, aliasBefore, transition, facts, "goes");
    if (aliasAfter !== null) for (const key of turning) preferUnchanging(key, aliasAfter, transition, facts, "comes");
  }
  if (from.zone !== to.zone) {
    if (!transition.ceases(from.zone as string) || transition.begins(to.zone as string)) return;
    for (const event of coversOf(name, to, transition, "comes")) {
      if (event.zone !== from.zone) facts.awaits(transition.changeOf(from.zone as string), event);
    }
    return;
  }
  const hidingPivot = nextCloserName(name, from);
  const uncoveringPivot = nextCloserName(name, to);
  if (hidingPivot !== null && (uncoveringPivot === null || uncoveringPivot.length > hidingPivot.length)) {
    cutovers.add("hide", hidingPivot, to, isCut(to) ? inKinds(questions, from, transition.before) : questions);
  } else if (uncoveringPivot !== null) {
    cutovers.add("uncover", uncoveringPivot, from, isCut(from) ? inKinds(questions, to, transition.after) : questions);
  }
}

/**
 * While a delegation works, the delegations beneath it, and its own NS records whose server cannot be reached, have no effect. Without it
 * they would break the name: so they are created after it and deleted before it.
 * @param held names that an earlier call has handled; all names above them, up to the delegation, were handled with them
 */
function holdHidden(
  name: string,
  { type, zone, owner }: Source,
  way: "comes" | "goes",
  transition: Transition,
  facts: FactBuilder,
  held: Set<string>,
): void {
  if (type !== "cut" || transition.keepsServer(zone, owner)) return;
  const moved = (at: string) => (way === "comes" ? transition.gained(zone, at, "NS") : transition.lost(zone, at, "NS"));
  const hold = ({ key }: Change) => {
    const cut = { type: "cut", zone, owner } as const;
    if (way === "comes") facts.awaits(key, cut);
    else facts.precedes(key, cut);
  };
  const isHeld = (at: string) => {
    const key = `${way} ${zone} ${owner} ${at}`;
    if (held.has(key)) return true;
    held.add(key);
    return false;
  };
  for (let at = name; at !== owner; at = parentOf(at)) {
    if (isHeld(at)) return;
    for (const change of moved(at)) hold(change);
  }
  if (isHeld(owner)) return;
  const leading = new Set(
    way === "comes" ? transition.gainedServers(zone, owner) : transition.lostServers(zone, owner),
  );
  if (leading.size > 0) for (const change of moved(owner)) if (!leading.has(change)) hold(change);
}

/**
 * Names that have one of the two places in common share one place in the facts, so that what changes there is added only once. Of the two,
 * the one nearer to the apex may have thousands at the other end; the deeper one has no other counterpart.
 */
function orderAnswers(from: Source, to: Source, question: QType, transition: Transition, facts: FactBuilder): void {
  if (from.type !== "node" || to.type !== "node") return;
  const changing = ({ zone, owner }: { readonly zone: string; readonly owner: string }) => {
    const isWhole = transition.begins(zone) || transition.ceases(zone);
    const keys = isWhole ? [transition.changeOf(zone)] : transition.alteredKeys(zone, owner, question);
    return { id: `${zone} ${owner}`, keys };
  };
  const place = isDeeper(from.owner, to.owner)
    ? `${to.zone} answers of ${to.owner} ${question}`
    : `${to.zone} answers before ${from.owner} ${question}`;
  facts.growsBefore(place, changing(to), changing(from));
}

/** Whether of two places, from which one name's answers come, `other` is a wildcard, and nearer to the apex than `owner`. */
function isDeeper(owner: string, other: string): boolean {
  return other.startsWith("*.") && (!owner.startsWith("*.") || owner.length > other.length);
}

/**
 * A delegation may answer for A and AAAA. Replaces `address` by the kinds that the name has at its other place.
 * @param side the snapshot that the other place is in
 */
function inKinds(questions: readonly QType[], { type, zone, owner }: Source, side: AccountResolver): QType[] {
  const has = (kind: QType) => type === "node" && side.answeringRecords(zone, owner, kind).length > 0;
  const kinds = (["A", "AAAA"] as const).filter(has);
  return questions.flatMap((question): QType[] => {
    return question === "address" && kinds.length > 0 ? [...kinds] : [question];
  });
}

/** The changes by which the new place answers, or the first of several. */
function providersOf(to: Source, question: QType, transition: Transition): string[] {
  if (to.zone === null) return [];
  if (transition.begins(to.zone)) return [transition.changeOf(to.zone)];
  if (isCut(to) && question === "NS") {
    const isThere = transition.persists(to.zone, to.owner, question);
    return isThere ? [] : keysOf(transition.gained(to.zone, to.owner, question).slice(0, 1));
  }
  if (isCut(to)) {
    const isThere = transition.keepsServer(to.zone, to.owner);
    return isThere ? [] : keysOf(transition.gainedServers(to.zone, to.owner).slice(0, 1));
  }
  if (to.type !== "node" || transition.persists(to.zone, to.owner, question)) return [];
  return keysOf(transition.gained(to.zone, to.owner, question).slice(0, 1));
}

/** The events with which the old place stops answering. */
function endEventsOf(from: Source, question: QType, transition: Transition): ResolutionEvent[] {
  const { zone, owner } = from;
  if (zone === null) return [];
  if (transition.ceases(zone)) return [{ type: "zone", zone, owner: zone }];
  if (isCut(from)) {
    const isNamed = question === "NS" && !transition.persists(zone, owner, question);
    return [{ type: "cut", zone, owner }, ...(isNamed ? [{ type: "answer", zone, owner, question } as const] : [])];
  }
  if (from.type !== "node" || transition.persists(zone, owner, question)) return [];
  return [{ type: "answer", zone, owner, question }];
}

/** The target of the alias at the place; null if none is there. */
function aliasTargetAt({ type, zone, owner }: Source, side: AccountResolver): string | null {
  return type === "node" ? (side.aliasAt(zone, owner)?.values.target ?? null) : null;
}

/** The keys of the changes by which the old place stops answering. */
function lossKeysOf(from: Source, question: QType, transition: Transition): string[] {
  if (from.zone !== null && transition.ceases(from.zone)) return [transition.changeOf(from.zone)];
  return keysOf(lostAt(from, question, transition));
}

/** Enough of them to wait for what comes: as long as one of several is there, the old place answers. */
function waitingLossKeysOf(from: Source, question: QType, transition: Transition): string[] {
  const lost = lostAt(from, question, transition);
  if (from.zone === null || lost.length <= MAX_WAITING_LOSSES) return lossKeysOf(from, question, transition);
  const lostServers = isCut(from) ? transition.lostServers(from.zone, from.owner) : lost;
  return keysOf((lostServers.length > 0 ? lostServers : lost).slice(0, MAX_WAITING_LOSSES));
}

function lostAt(from: Source, question: QType, transition: Transition): readonly Change[] {
  if (from.zone === null || transition.ceases(from.zone)) return [];
  if (isCut(from)) return transition.lost(from.zone, from.owner, "NS");
  return from.type === "node" ? transition.lost(from.zone, from.owner, question) : [];
}

/** A delegation has the same losses for each question. */
function lossesId(from: Source, question: QType): string {
  return isCut(from) ? `${from.zone} ${from.owner}` : `${from.zone} ${from.owner} ${question}`;
}

function keysOf(changes: readonly Change[]): string[] {
  return changes.map(({ key }) => key);
}

/**
 * The events further on: at the target of a place's alias, or at a delegation's servers. They count even if the alias or the delegation
 * itself does not change.
 */
function beyond(
  name: string,
  source: Source,
  question: QType,
  transition: Transition,
  way: "comes" | "goes",
): readonly ResolutionEvent[] {
  if (source.type === "cut") return delegationMovesOf(source.zone, source.owner, transition, way);
  if (source.type !== "node") return [];
  const side = way === "comes" ? transition.after : transition.before;
  const alias = side.aliasAt(source.zone, source.owner);
  if (alias === null) return [];
  const pointer = source.owner === name ? alias.values : name;
  return movesOf(alias.values.target, question, transition, way, pointer, name);
}
