/** Names that answer on both sides of a plan but from different places: the new place answers before the old one ceases to. */

import type { RecordType } from "../../../api/wire/index.ts";
import { type Answers, isCut, type Source } from "./answers.ts";
import type { Drafts } from "./drafts.ts";
import { coversOf, movesOf, pivotOf } from "./pointers.ts";
import { ASKED_OF_ALIASES, isAddress, type Question, type Thing } from "./question.ts";
import type { Transition } from "./transition.ts";
import { WildcardTurns } from "./wildcard-turns.ts";

/** A label that nobody uses: what a wildcard answers for. */
const UNHEARD_LABEL = "\u0000";

interface Handover {
  readonly name: string;
  readonly from: Source;
  readonly to: Source;
  /** What is answered on both sides. */
  readonly questions: readonly Question[];
}

export function orderHandovers(transition: Transition, drafts: Drafts): void {
  const turns = new WildcardTurns(transition, drafts);
  for (const name of namesOf(transition)) {
    const from = transition.before.source(name);
    const to = transition.after.source(name);
    if (from.zone === null || to.zone === null) continue;
    if (from.zone === to.zone && from.type === to.type && from.owner === to.owner) continue;
    const questions = keptQuestions(name, from, to, transition);
    if (questions.length > 0) handOver({ name, from, to, questions }, transition, drafts, turns);
  }
  turns.settle();
}

/** Every name that is there on a side, and if there are wildcards one beneath each that is not. */
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

/** The kinds of addresses are told apart only where there may be one without the other. */
function keptQuestions(name: string, from: Source, to: Source, transition: Transition): Question[] {
  const questions = new Set<Question>();
  for (const [side, source] of [[transition.before, from] as const, [transition.after, to] as const]) {
    if (isCut(source) && source.owner === name) questions.add("NS");
    if (source.type !== "node") continue;
    const types = new Set(side.recordsAt(source.zone, source.owner).map(({ values }) => values.type));
    for (const type of types) for (const question of answerable(type)) questions.add(question);
  }
  if (from.type !== "node" && to.type !== "node") questions.add("address");
  const { before, after } = transition;
  const kept = [...questions].filter((question) => before.answers(name, question) && after.answers(name, question));
  const kinds = kept.filter((question) => question === "A" || question === "AAAA");
  const isTold = kinds.length > 0 && (questions.has("CNAME") || before.hasBothKinds(name) || after.hasBothKinds(name));
  return kept.filter((question) => !isAddress(question) || isTold !== (question === "address"));
}

function answerable(type: RecordType): readonly Question[] {
  if (type === "CNAME") return ASKED_OF_ALIASES;
  return isAddress(type) ? ["A", "AAAA", "address"] : [type];
}

function handOver(handover: Handover, transition: Transition, drafts: Drafts, turns: WildcardTurns): void {
  const { name, from, to, questions } = handover;
  const isTurning = (zone: string | null): zone is string => {
    return zone !== null && (transition.begins(zone) || transition.ceases(zone));
  };
  for (const question of questions) {
    const providers = providersOf(to, question, transition);
    const leavers = leaversOf(from, question, transition);
    const leaving = leavingOf(from, question, transition);
    // What hides the old place has its moment too.
    if (from.zone !== to.zone) leaving.push(...coversOf(name, from, transition, "goes"));
    for (const thing of leaving) for (const key of providers) drafts.precedes(key, thing);
    // Of two zones the deeper one decides which of them answers.
    const deeper = (from.zone ?? "").length > (to.zone ?? "").length ? from.zone : to.zone;
    const switches = isTurning(deeper) ? [transition.changeOf(deeper)] : [];
    const turning = [...providers, ...switches];
    for (const thing of beyond(name, from, question, transition, "goes")) {
      for (const key of turning.length > 0 ? turning : leavers) drafts.precedes(key, thing);
    }
    for (const thing of beyond(name, to, question, transition, "comes")) {
      for (const key of [...leavers, ...switches]) drafts.awaits(key, thing);
    }
  }
  if (from.zone !== to.zone) {
    if (!transition.ceases(from.zone as string) || transition.begins(to.zone as string)) return;
    for (const thing of coversOf(name, to, transition, "comes")) {
      if (thing.zone !== from.zone) drafts.awaits(transition.changeOf(from.zone as string), thing);
    }
    return;
  }
  const hides = pivotOf(name, from);
  const uncovers = pivotOf(name, to);
  if (hides !== null && (uncovers === null || uncovers.length > hides.length)) {
    turns.add("hide", hides, to, isCut(to) ? inKinds(questions, from, transition.before) : questions);
  } else if (uncovers !== null) {
    turns.add("uncover", uncovers, from, isCut(from) ? inKinds(questions, to, transition.after) : questions);
  }
}

/** A delegation answers for either kind of address; what is kept are the kinds that the other side has. */
function inKinds(questions: readonly Question[], { type, zone, owner }: Source, side: Answers): Question[] {
  const has = (kind: Question) => type === "node" && side.carriers(zone, owner, kind).length > 0;
  const kinds = (["A", "AAAA"] as const).filter(has);
  return questions.flatMap((question): Question[] => {
    return question === "address" && kinds.length > 0 ? [...kinds] : [question];
  });
}

/** The changes by which the new place answers, or the first of several. */
function providersOf(to: Source, question: Question, transition: Transition): string[] {
  if (to.zone === null) return [];
  if (transition.begins(to.zone)) return [transition.changeOf(to.zone)];
  const asked = askedOf(to, question);
  if (asked === null || transition.persists(to.zone, to.owner, asked)) return [];
  return transition
    .gained(to.zone, to.owner, asked)
    .slice(0, 1)
    .map(({ key }) => key);
}

/** By the going of these the old place ceases to answer. */
function leavingOf(from: Source, question: Question, transition: Transition): Thing[] {
  const { zone, owner } = from;
  if (zone === null) return [];
  if (transition.ceases(zone)) return [{ type: "zone", zone, owner: zone }];
  if (isCut(from)) return [{ type: "cut", zone, owner }];
  if (from.type !== "node" || transition.persists(zone, owner, question)) return [];
  return [{ type: "answer", zone, owner, question }];
}

/** Changes by which the old place ceases to answer. */
function leaversOf(from: Source, question: Question, transition: Transition): string[] {
  if (from.zone === null) return [];
  if (transition.ceases(from.zone)) return [transition.changeOf(from.zone)];
  const asked = askedOf(from, question);
  return asked === null ? [] : transition.lost(from.zone, from.owner, asked).map(({ key }) => key);
}

/** A delegation answers everything by its NS. */
function askedOf(source: Source, question: Question): Question | null {
  if (isCut(source)) return "NS";
  return source.type === "node" ? question : null;
}

/** What comes or goes at the end of a place's alias: the alias itself may be there on both sides. */
function beyond(
  name: string,
  source: Source,
  question: Question,
  transition: Transition,
  way: "comes" | "goes",
): Thing[] {
  if (source.type !== "node") return [];
  const side = way === "comes" ? transition.after : transition.before;
  const alias = side.recordsAt(source.zone, source.owner).find(({ values }) => values.type === "CNAME");
  return alias === undefined ? [] : movesOf(alias.values.target, question, transition, way, name);
}
