/** The service as a snapshot remembers it: answers lists, and refuses everything else. */

import type { Answer, Api, ListAnswer, ListRequest } from "../model/exchange.ts";
import type { Failure } from "../model/failure.ts";
import type { JsonObject } from "../model/resource.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { pathOf } from "./recording.ts";

/** Sends nothing. What is `wanted` of a list is not looked at: all of it is there. */
export function snapshotApi({ lists, unread, servedAt }: Snapshot): Api {
  const served = servedAt === null ? {} : { servedMilliseconds: Date.parse(servedAt) };
  const failures = new Map(unread.map(({ path, failure }) => [path, failure]));
  return {
    requestCount: 0,
    list: async (request): Promise<ListAnswer> => {
      const path = pathOf(request);
      const all = lists.get(path);
      const known = failures.get(path);
      if (all === undefined) return { ok: false, failure: failureOf(known ?? absent(path)) };
      const items = filtered(all, request);
      return { ok: true, items, total: items.length, ...served };
    },
    send: async () => refused(),
    upload: async () => refused(),
  };
}

/** A list may have been kept as its filter left it; another filter may ask for a part of it. */
function filtered(items: readonly JsonObject[], { filter = {} }: ListRequest): readonly JsonObject[] {
  const conditions = Object.entries(filter);
  if (conditions.length === 0) return items;
  return items.filter((item) => conditions.every(([field, value]) => item[field] === value));
}

function absent(path: string): Pick<Failure, "type" | "status" | "errors" | "message"> {
  return { type: "malformed", status: null, errors: [], message: `the snapshot does not hold the list /${path}` };
}

function refused(): Answer {
  const message = "a snapshot answers lists only";
  return { ok: false, failure: failureOf({ type: "refused", status: null, errors: [], message }) };
}

function failureOf(told: Pick<Failure, "type" | "status" | "errors" | "message">): Failure {
  return { ...told, effect: "none", maintenance: false, attempts: 0 };
}
