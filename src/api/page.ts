/** One page of a list: its shape, and whether pages make up a whole (API.md, Pagination and filtering). */

import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";

/** More pages than this are not believed: 10,000 of 500 items. */
export const MAX_PAGES = 10_000;

export interface Page {
  readonly items: readonly JsonObject[];
  readonly pages: number;
  readonly results: number;
}

/**
 * @param number the page that was asked for
 * @returns what is wrong with it, if it is not a page
 */
export function parsePage(body: Json, number: number): Page | string {
  if (!isJsonObject(body)) return "not an object";
  const data = body["data"];
  if (!Array.isArray(data)) return "`data` is not a list";
  const items = data.filter((item: unknown) => isJsonObject(item)) as JsonObject[];
  if (items.length !== data.length) return "`data` holds something that is not an object";
  const [page, pages, results] = [count(body["page"]), count(body["pages"]), count(body["results"])];
  if (page === null || pages === null || results === null) return "`page`, `pages` or `results` is not a number";
  if (pages > MAX_PAGES) return `${pages} pages are more than Tenon reads`;
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
export function joinPages(pages: readonly Page[]): readonly JsonObject[] | null {
  const items = pages.flatMap((page) => page.items);
  // VPC addresses have no id, and equal ones are legitimate: only their number can be checked.
  const unique = items.every((item) => item["id"] === undefined) ? items : uniqueById(items);
  return unique.length === (pages[0]?.results ?? 0) ? unique : null;
}

function uniqueById(items: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(items.map((item) => [item["id"], item])).values()];
}
