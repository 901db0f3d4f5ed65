/** Lists that are asked for once and remembered: for several readers of one moment, and for what is to be kept of it. */

import type { Answer, Api, ApiRequest, ListAnswer, ListRequest, UploadRequest } from "../model/exchange.ts";
import type { JsonObject } from "../model/resource.ts";

export interface RecordedList {
  /** Segments joined by slashes. */
  readonly path: string;
  readonly answer: ListAnswer;
}

interface Asked {
  readonly path: string;
  readonly answer: Promise<ListAnswer>;
}

/**
 * The first asker of a list decides which of its objects are `wanted`: what all readers want is to be asked for first.
 * Everything but lists passes through.
 */
export class Recording implements Api {
  readonly #api: Api;
  readonly #asked: Map<string, Asked> = new Map();

  constructor(api: Api) {
    this.#api = api;
  }

  get requestCount(): number {
    return this.#api.requestCount;
  }

  list(request: ListRequest, signal?: AbortSignal): Promise<ListAnswer> {
    const key = keyOf(request);
    const known = this.#asked.get(key);
    if (known !== undefined) return known.answer;
    const answer = this.#api.list(request, signal);
    this.#asked.set(key, { path: pathOf(request), answer });
    return answer;
  }

  send(request: ApiRequest, signal?: AbortSignal): Promise<Answer> {
    return this.#api.send(request, signal);
  }

  upload(request: UploadRequest, signal?: AbortSignal): Promise<Answer> {
    return this.#api.upload(request, signal);
  }

  /** All that was asked for so far, once it is there. */
  async recorded(): Promise<RecordedList[]> {
    return Promise.all([...this.#asked.values()].map(async ({ path, answer }) => ({ path, answer: await answer })));
  }
}

export function pathOf({ path }: Pick<ListRequest, "path">): string {
  return path.join("/");
}

function keyOf(request: ListRequest): string {
  return JSON.stringify([request.path, entriesOf(request.filter ?? {})]);
}

function entriesOf(filter: JsonObject): unknown[] {
  return Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1));
}
