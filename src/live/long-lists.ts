/**
 * Lists of several pages, which the service may change between two pages: an object that was replaced meanwhile is then seen twice, as it was
 * and as it is, and one that moved to another page is not seen. What a plan makes or deletes in such a list is confirmed by reading it again.
 */

import isEqual from "fast-deep-equal";
import type { Answer, GetRequest, ListAnswer, ListRequest, ObservedLimit, ReadApi } from "../model/api.ts";
import type { RequestStep, Step } from "../model/plan.ts";
import type { JsonObject } from "../model/resource.ts";

interface Read {
  readonly request: ListRequest;
  /** null: it had one page, which is one moment of the account. */
  readonly items: readonly JsonObject[] | null;
}

/** Reads through the client, and remembers the lists of several pages. */
export class LongLists implements ReadApi {
  readonly #api: ReadApi;
  readonly #read: Map<string, Read> = new Map();

  constructor(api: ReadApi) {
    this.#api = api;
  }

  get requestCount(): number {
    return this.#api.requestCount;
  }

  async list(request: ListRequest, signal?: AbortSignal): Promise<ListAnswer> {
    const answer = await this.#api.list(request, signal);
    if (answer.ok) {
      const items = (answer.pages ?? 1) > 1 ? answer.items : null;
      this.#read.set(request.path.join("/"), { request, items });
    }
    return answer;
  }

  get(request: GetRequest, signal?: AbortSignal): Promise<Answer> {
    return this.#api.get(request, signal);
  }

  limits(): readonly ObservedLimit[] {
    return this.#api.limits?.() ?? [];
  }

  /**
   * Reads those again in which the steps make or delete something.
   * @returns whether all of them are as they were read
   */
  async hold(steps: readonly Step[], signal?: AbortSignal): Promise<boolean> {
    const requests = steps.filter((step) => step.type === "request");
    const decisive = requests.filter(({ method }) => method === "POST" || method === "DELETE");
    const concerned = new Set(decisive.flatMap((step) => this.#listOf(step) ?? []));
    const answers = await Promise.all(
      [...concerned].map(async ({ request, items }) => {
        const answer = await this.#api.list(request, signal);
        return answer.ok && isEqual(answer.items, items);
      }),
    );
    return answers.every(Boolean);
  }

  /** The list of several pages that the step's object is in, or is to be in. */
  #listOf({ method, path }: RequestStep): Read | null {
    const parts = method === "POST" ? path : path.slice(0, -1);
    // What is nested in an object, such as the subnets of a VPC, has no list of its own that was read; and a POST may go to a word behind the
    // list, such as `images/upload`.
    for (let length = parts.length; length > 0; length -= 1) {
      const read = this.#read.get(parts.slice(0, length).join("/"));
      if (read !== undefined) return read.items === null ? null : read;
    }
    return null;
  }
}
