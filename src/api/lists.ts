/** Lists: all pages as one, read again if the list changed meanwhile, or only a subset of many pages. */

import type { Answer, ApiRequest, Failure, ListAnswer, ListRequest, Subset } from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import { endingWith } from "../model/ending.ts";
import { mapKey } from "../model/map-key.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";

export const DEFAULT_PAGE_SIZE = 500;
/** The page size that every service allows (API.md: more than 100 items are split). */
const FALLBACK_PAGE_SIZE = 100;
/** How often a list that changes while it is read is read in all. */
const MAX_LIST_READS = 3;
const REREAD_PAUSE_MILLISECONDS = 500;

/** Characters of all lists that a client keeps, each list counted as it was read last: a hundred times the lists of most accounts. */
export const MAX_LIST_CHARACTERS: number = 256 * 1024 * 1024;

interface ListerOptions {
  send(request: ApiRequest, signal: AbortSignal | undefined): Promise<Answer>;
  readonly clock: Clock;
  readonly pageSize: number;
  readonly maxCharacters: number;
}

type Failed = { readonly ok: false; readonly failure: Failure };
type PageAnswer = { readonly ok: true; readonly page: Page; readonly servedMilliseconds?: number } | Failed;
type PagesAnswer = { readonly ok: true; readonly pages: readonly Page[] } | Failed | "changed";

type Lister = (request: ListRequest, signal?: AbortSignal) => Promise<ListAnswer>;

export function createLister(options: ListerOptions): Lister {
  let pageSize = options.pageSize;
  const volume = new Volume(options.maxCharacters);

  async function page(request: ListRequest, number: number, signal: AbortSignal | undefined): Promise<PageAnswer> {
    const { path, filter } = request;
    // Another list may find out meanwhile that the service takes smaller pages only.
    const size = pageSize;
    const query = { page: number, page_size: size };
    const answer = await options.send({ method: "GET", path, query, ...(filter ? { filter } : {}) }, signal);
    if (!answer.ok) return answer;
    if (!volume.add(path, answer.characters ?? 0))
      return failed("malformed", volume.problem(path), { exceeds: "lists" });
    const parsed = parsePage(answer.body, number, size);
    if (typeof parsed === "string") return malformed(`/${path.join("/")}: ${parsed}`);
    return { ok: true, page: parsed, ...servedOf(answer) };
  }

  async function firstPage(request: ListRequest, signal: AbortSignal | undefined): Promise<PageAnswer> {
    const asked = pageSize;
    const answer = await page(request, 1, signal);
    if (answer.ok || asked <= FALLBACK_PAGE_SIZE || !mayBeAboutSize(answer.failure)) return answer;
    pageSize = FALLBACK_PAGE_SIZE;
    const again = await page(request, 1, signal);
    // Refused all the same: the size was not the reason.
    if (!again.ok && again.failure.status === 400) pageSize = asked;
    return again;
  }

  /** The pages after the first, in parallel; the first failure ends them all. */
  async function otherPages(request: ListRequest, first: Page, signal: AbortSignal | undefined): Promise<PagesAnswer> {
    const ending = endingWith(signal);
    let problem: Failed | "changed" | null = null;
    const numbers = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
    const answers = await Promise.all(
      numbers.map(async (number) => {
        const answer = await page(request, number, ending.signal);
        if (answer.ok && answer.page.results === first.results && answer.page.pages === first.pages) return answer.page;
        problem ??= answer.ok || isPastTheEnd(answer.failure) ? "changed" : answer;
        ending.abort();
        return null;
      }),
    );
    ending.release();
    return problem ?? { ok: true, pages: [first, ...answers.filter((answer) => answer !== null)] };
  }

  /** @param known the first page, if it was just read */
  async function readAll(
    request: ListRequest,
    known: Page | null,
    signal: AbortSignal | undefined,
  ): Promise<ListAnswer> {
    let first: PageAnswer = known ? { ok: true, page: known } : await firstPage(request, signal);
    for (let reads = 1; ; reads += 1) {
      if (!first.ok) return first;
      const pages = await otherPages(request, first.page, signal);
      if (pages !== "changed") {
        if (!pages.ok) return pages;
        const items = joinPages(pages.pages);
        if (items !== null) return { ok: true, items, total: items.length };
      }
      if (reads === MAX_LIST_READS) return keptChanging(request);
      await options.clock.sleep(REREAD_PAUSE_MILLISECONDS * reads, signal);
      first = await firstPage(request, signal);
    }
  }

  /** Reads what each filter lets through, all at once, and joins it in the order of the filters; the first failure ends all reads. */
  async function readEach(
    filters: readonly JsonObject[],
    path: ListRequest["path"],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly ok: true; readonly items: readonly JsonObject[] } | Failed> {
    const ending = endingWith(signal);
    let failed: Failed | null = null;
    const lists = await Promise.all(
      filters.map(async (filter) => {
        const list = await readAll({ path, filter }, null, ending.signal);
        if (list.ok) return list.items;
        failed ??= list;
        ending.abort();
        return [];
      }),
    );
    ending.release();
    return failed ?? { ok: true, items: lists.flat() };
  }

  /**
   * Asks for the subset alone, if it is known that this takes no more requests than the whole list.
   * @returns null if the list must be read without a filter
   */
  async function readSubset(request: ListRequest, signal: AbortSignal | undefined): Promise<ListAnswer | null> {
    const { path, filter, subset } = request;
    if (subset?.atLeast === undefined || subset.values.length === 0) return null;
    const filters = subsetFilters(subset, filter);
    if (filters.length > Math.max(1, Math.ceil(subset.atLeast / pageSize))) return null;
    const lists = await readEach(filters, path, signal);
    if (!lists.ok) return lists.failure.status === 400 ? null : lists;
    const items = uniqueById(lists.items);
    if (missing(subset, items).length > 0) return null;
    // Several filters show several moments, as several pages do.
    return { ok: true, items, total: items.length, ...(filters.length > 1 ? { pages: filters.length } : {}) };
  }

  /**
   * Asks for the subset by name, if that takes fewer requests than the remaining pages.
   * @returns null if the whole list must be read instead
   */
  async function readWanted(
    request: ListRequest,
    first: Page,
    signal: AbortSignal | undefined,
  ): Promise<ListAnswer | null> {
    if (request.subset === undefined) return null;
    const values = stillMissing(request.subset, first.items);
    if (values.length === 0) return { ok: true, items: first.items, total: first.results };
    const filters = subsetFilters({ field: request.subset.field, values }, request.filter);
    if (filters.length >= first.pages - 1) return null;
    const lists = await readEach(filters, request.path, signal);
    // A list that cannot be filtered here is read as a whole.
    if (!lists.ok) return lists.failure.status === 400 ? null : lists;
    const items = [...first.items];
    const ids = new Set(items.map(idKey));
    for (const item of lists.items) {
      if (!ids.has(idKey(item))) items.push(item);
      ids.add(idKey(item));
    }
    // A filter may be case-sensitive: an object that it did not find may still exist, and would be created twice.
    const complete = missing({ field: request.subset.field, values }, items).length === 0;
    return complete ? { ok: true, items, total: Math.max(first.results, items.length) } : null;
  }

  return async (request, signal) => {
    volume.begin(request.path);
    // A list that explains a change may fail without an end to the run: the next one must not be read all the same.
    if (!volume.hasRoom) return failed("malformed", volume.problem(request.path), { exceeds: "lists" });
    const subset = await readSubset(request, signal);
    if (subset !== null) return subset;
    const first = await firstPage(request, signal);
    if (!first.ok) return first;
    const some = first.page.pages > 1 ? await readWanted(request, first.page, signal) : null;
    const answer = some ?? (await readAll(request, first.page, signal));
    // The first page's time: no item of the list is older.
    const { pages } = first.page;
    return answer.ok ? { ...answer, ...(pages > 1 ? { pages } : {}), ...servedOf(first) } : answer;
  };
}

/** Counts the characters of all lists. A list that is read again replaces its earlier count. */
class Volume {
  readonly #max: number;
  readonly #byPath: Map<string, number> = new Map();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  begin(path: readonly string[]): void {
    this.#total -= this.#byPath.get(path.join("/")) ?? 0;
    this.#byPath.set(path.join("/"), 0);
  }

  get hasRoom(): boolean {
    return this.#total <= this.#max;
  }

  /** @returns false if the limit is exceeded */
  add(path: readonly string[], characters: number): boolean {
    this.#total += characters;
    this.#byPath.set(path.join("/"), (this.#byPath.get(path.join("/")) ?? 0) + characters);
    return this.#total <= this.#max;
  }

  problem(path: readonly string[]): string {
    const most = `${Math.floor(this.#max / 1024 ** 2)} MiB`;
    return `/${path.join("/")}: the lists of this account are longer than ${most} altogether (each character that must be escaped counts as 64), which is more than Tenon reads`;
  }
}

function servedOf({ servedMilliseconds }: { readonly servedMilliseconds?: number }): {
  readonly servedMilliseconds?: number;
} {
  return servedMilliseconds === undefined ? {} : { servedMilliseconds };
}

/** Fields whose values are unique on the service: no more than one object matches. */
const UNIQUE_FIELDS: readonly string[] = ["id", "domain"];

/** Values that must still be searched for. In a field that is not unique, all of them: later pages may hold more matches. */
function stillMissing(subset: Subset, items: readonly JsonObject[]): readonly string[] {
  return UNIQUE_FIELDS.includes(subset.field) ? missing(subset, items) : subset.values;
}

function missing(subset: Subset, items: readonly JsonObject[]): readonly string[] {
  const keyOf = (value: Json | undefined): string => mapKey(String(value ?? "").toLowerCase());
  const present = new Set(items.map((item) => keyOf(item[subset.field])));
  return subset.values.filter((value) => !present.has(keyOf(value)));
}

/** The text for a size out of range is not known: any 400 that is not plainly about the filter may be it. */
function mayBeAboutSize(failure: Failure): boolean {
  return (
    failure.type === "refused" && failure.status === 400 && !failure.errors.some((error) => error.field === "X-Filter")
  );
}

/** The list grew shorter: the page is no longer there. */
function isPastTheEnd(failure: Failure): boolean {
  return failure.type === "refused" && (failure.status === 404 || failure.status === 400);
}

function malformed(message: string): Failed {
  return failed("malformed", `an answer came that is not the list expected at ${message}`);
}

function keptChanging(request: ListRequest): Failed {
  const path = `/${request.path.join("/")}`;
  return failed("unavailable", `the list ${path} kept changing while it was read (${MAX_LIST_READS} times)`);
}

function failed(type: Failure["type"], message: string, more: Pick<Failure, "exceeds"> = {}): Failed {
  const rest = { effect: "none", status: 200, errors: [], message, maintenance: false, attempts: 1, ...more } as const;
  return { ok: false, failure: { type, ...rest } };
}

// One page of a list: its shape, and whether pages make up a whole (API.md, Pagination and filtering).

/** More pages than this are not believed: 10,000 of 500 items. */
const MAX_PAGES = 10_000;

interface Page {
  readonly items: readonly JsonObject[];
  readonly pages: number;
  readonly results: number;
}

/**
 * @param number the page that was asked for, of at most `pageSize` objects
 * @returns what is wrong with it, if it is not a page
 */
function parsePage(body: Json, number: number, pageSize: number): Page | string {
  if (!isJsonObject(body)) return "not an object";
  const data = body["data"];
  if (!Array.isArray(data)) return "`data` is not a list";
  if (data.length > pageSize) return `${data.length} objects came on a page of ${pageSize}`;
  const items = data.filter((item: unknown) => isJsonObject(item)) as JsonObject[];
  if (items.length !== data.length) return "`data` holds something that is not an object";
  const [page, pages, results] = [count(body["page"]), count(body["pages"]), count(body["results"])];
  if (page === null || pages === null || results === null) return "`page`, `pages` or `results` is not a number";
  if (pages > MAX_PAGES) return `${pages} pages are more than Tenon reads`;
  if (pages > Math.max(1, results)) return `${pages} pages came of ${results} objects`;
  // Image lists answer page 0 of 0 when they are empty.
  const empty = pages === 0 && results === 0 && items.length === 0;
  if (page !== number && !empty) return `page ${page} came where page ${number} was asked for`;
  return { items, pages, results };
}

function count(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/**
 * The items of all pages in order, every id once.
 * @returns null if they are not as many as the pages say: the list changed while it was read
 */
function joinPages(pages: readonly Page[]): readonly JsonObject[] | null {
  const items = pages.flatMap((page) => page.items);
  // VPC addresses have no id, and equal ones are legitimate: only their number can be checked.
  const unique = items.every((item) => item["id"] === undefined) ? items : uniqueById(items);
  return unique.length === (pages[0]?.results ?? 0) ? unique : null;
}

function uniqueById(items: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(items.map((item) => [idKey(item), item])).values()];
}

/** How long an id may be is looked at only when the list is whole. */
function idKey({ id }: JsonObject): Json | undefined {
  return typeof id === "string" ? mapKey(id) : id;
}

// X-Filter: how it is written, combined and cut into pieces that fit a header (API.md, Pagination and filtering).

/** A header that is longer meets the limits of proxies and servers, 8 KiB for all headers at the lowest. */
export const MAX_FILTER_BYTES = 4_096;

/** JSON in printable ASCII, as a header must be. */
export function filterHeader(filter: JsonObject): string {
  return JSON.stringify(filter).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Both hold. */
function both(filter: JsonObject | undefined, other: JsonObject): JsonObject {
  return filter === undefined ? other : { "+and": [filter, other] };
}

/**
 * Filters that together ask for all values of the subset, each within `MAX_FILTER_BYTES` (a single value may exceed it).
 * Equal values, whatever their case, are asked for once each in every spelling given.
 */
export function subsetFilters(subset: Subset, filter: JsonObject | undefined): readonly JsonObject[] {
  const chunks: string[][] = [];
  const overhead = filterHeader(both(filter, { "+or": [] })).length;
  let bytes = Number.POSITIVE_INFINITY;
  for (const value of new Set(subset.values)) {
    const more = filterHeader({ [subset.field]: value }).length + 1;
    if (bytes + more > MAX_FILTER_BYTES) {
      chunks.push([]);
      bytes = overhead;
    }
    chunks.at(-1)?.push(value);
    bytes += more;
  }
  return chunks.map((values) => both(filter, { "+or": values.map((value) => ({ [subset.field]: value })) }));
}
