/** The requests that make a domain: by itself, as a copy that saves requests, or from what its manifest names. */

import type { Change } from "../../../model/change.ts";
import type { JsonObject, Values } from "../../../model/resource.ts";
import type { PathPart } from "../../../model/step.ts";
import { type Facts, NO_FACTS, type PlannedStep } from "../../../model/unit.ts";
import { request, type UnorderedRequest } from "../../request.ts";
import { copyBody, createBody, statedBody, statedContent } from "../domain.ts";
import type { ZoneOrder } from "../order/facts.ts";
import { domainPath, recordSteps } from "./record-steps.ts";

/** The steps of one domain. */
export interface ZoneSteps {
  /** What brings it to its records. */
  readonly content: readonly PlannedStep[];
  /** What comes after them. */
  readonly settled: readonly PlannedStep[];
}

/** Created disabled, filled, then activated; without records there is nothing to be half-built. */
export function createZone(domain: Change, records: readonly Change[], order: ZoneOrder): ZoneSteps {
  const after = domain.after as Values;
  const final = String(after["status"] ?? "active");
  const filled = recordSteps(domain, records, order);
  const activates = final === "active" && filled.length > 0;
  const body = createBody(after, activates ? "disabled" : final);
  const create = post(domain, "create", ["domains"], body, statedContent(body, body));
  const served = order.factsOfZone(domain);
  if (!activates) {
    return {
      content: [{ step: create, facts: final === "active" ? served : NO_FACTS }, ...filled],
      settled: [],
    };
  }
  return {
    content: [{ step: create, facts: NO_FACTS }, ...filled],
    settled: [activate(domain, { status: "active" }, filled, served)],
  };
}

/** A copy of another domain of the plan, made once that is filled and before it is served; then one PUT makes it itself. */
export function copyZone(domain: Change, records: readonly Change[], source: Change, order: ZoneOrder): ZoneSteps {
  const request = cloneRequest(domain, domainPath(source));
  const step = { ...request, changes: [...request.changes, ...records.map(({ key }) => key)] };
  const clone = { step, facts: { ...NO_FACTS, pointsAt: [contentKeyOf(source)] } };
  const served = order.factsOfZone(domain);
  return { content: [clone], settled: [activate(domain, copyBody(domain.after as Values), [clone], served)] };
}

/** What copies of a domain wait for. */
export function contentKeyOf(source: Change): string {
  return `content ${source.root}`;
}

/**
 * Made as `create_from` says; its tags are known only when it is there, the rest of what came with it stays.
 * @param ready what must be done before
 */
export function beginZone(
  domain: Change,
  from: { readonly clone: readonly PathPart[] } | { readonly axfr: string },
  ready: Pick<Facts, "requires" | "pointsAt">,
  order: ZoneOrder,
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
  const settled = activate(domain, statedBody(after), [begin], order.factsOfZone(domain));
  const amended = after["tags"] === undefined ? { ...settled.step, amends: domain.key } : settled.step;
  return { content: [begin], settled: [{ ...settled, step: amended }] };
}

/** @param filled what must be done before the domain is served */
export function activate(
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

/** Names are unique on the platform: what has this one, and was not there before, is it. */
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
