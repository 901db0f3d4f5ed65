/** What can be said of `create_from` before it is done: whether there is something to clone, and what is exposed meanwhile. */

import { domainAddress } from "../../../model/address.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import type { Match, PairContext } from "../../../model/unit.ts";
import type { LiveZone } from "../live.ts";
import type { CreateFrom, ZoneSpec } from "../shape.ts";

type ZoneMatch = Match<ZoneSpec, LiveZone>;

/**
 * Zone to be made → the domain it cannot be cloned from: one that is neither there nor made by this plan, or that is in its turn to be
 * cloned from such a one, or from itself in a circle.
 */
export function missingSources(matches: readonly ZoneMatch[], context: PairContext): ReadonlyMap<string, string> {
  const made = new Map(matches.flatMap((match) => (match.intent === "create" ? [[match.declared.key, match]] : [])));
  const verdicts = new Map<string, boolean>();
  const missing = new Map<string, string>();
  for (const [zone, { declared }] of made) {
    const source = sourceOf(declared.spec.createFrom);
    if (source !== null && !isThere(source, made, verdicts, context)) missing.set(zone, source);
  }
  return missing;
}

function sourceOf(from: CreateFrom | null): string | null {
  return from?.type === "clone" ? from.domain : null;
}

/** Follows the chain of clones to a domain whose answer is known; a name met twice closes a circle. */
function isThere(
  name: string,
  made: ReadonlyMap<string, Extract<ZoneMatch, { intent: "create" }>>,
  verdicts: Map<string, boolean>,
  context: PairContext,
): boolean {
  const chain: string[] = [];
  let answer: boolean | undefined;
  for (let next: string | null = name; answer === undefined && next !== null; ) {
    chain.push(next);
    const known: boolean | undefined = verdicts.get(next) ?? (context.idsOf(next).length > 0 ? true : undefined);
    const match = made.get(next);
    verdicts.set(next, false);
    answer = known ?? (match === undefined ? false : undefined);
    next = match === undefined ? null : sourceOf(match.declared.spec.createFrom);
  }
  for (const link of chain) verdicts.set(link, answer ?? true);
  return answer ?? true;
}

/** A plain create is not served before it is filled; what comes as a whole may be served as it comes. */
export function servedWhileMade(match: ZoneMatch, context: PairContext): Diagnostic[] {
  if (match.intent !== "create" || match.declared.spec.createFrom === null) return [];
  const { span, spec } = match.declared;
  const from = match.declared.spec.createFrom;
  const origin = from.type === "clone" ? `the records of ${from.domain}` : `what ${from.server} has of it`;
  const then = spec.fields["status"] === "disabled" ? "it is disabled" : "its status and tags are set";
  const other = from.type === "clone" ? context.ownerOf(from.domain) : null;
  const tagged =
    other === null || other === context.owner
      ? ""
      : ` Until then it also carries the tag of ${other}, whose project would take it for its own if this run were cut off, and this one take it over only with --take-ownership-from=${other}.`;
  return [
    {
      code: "served-while-made",
      severity: "warning",
      summary: `${spec.domain} may be served before the plan is done`,
      detail: `The service may answer with ${origin} from the moment the domain is made until ${then} by the next request.${tagged}`,
      fix: "Declare its records instead, if nothing may be served before all of it is right.",
      span,
      address: domainAddress(spec.domain),
    },
  ];
}
