/** Lists: one page of what a filter leaves, in the service's shape (API.md, Pagination and filtering). */

import type { Answer, ApiError } from "./errors.ts";
import { badRequest, fieldError, NOT_FOUND, succeed } from "./errors.ts";
import type { FilterFields } from "./filter.ts";
import { compileFilter } from "./filter.ts";
import type { Call } from "./route.ts";

export const MIN_PAGE_SIZE = 25;
export const MAX_PAGE_SIZE = 500;
const DEFAULT_PAGE_SIZE = 100;

export interface ListOptions<Row> {
  readonly rows: readonly Row[];
  readonly fields: FilterFields<Row>;
  readonly toWire: (row: Row) => object;
  /** `page` and `pages` of a list without items; default 1. */
  readonly emptyPage?: 0 | 1;
}

/** Only the rows of the page are turned into what is sent. */
export function listAnswer<Row>(call: Call, options: ListOptions<Row>): Answer {
  const errors: ApiError[] = [];
  const page = queryInteger(call, "page", 1, Number.MAX_SAFE_INTEGER, 1, errors);
  const size = queryInteger(call, "page_size", MIN_PAGE_SIZE, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE, errors);
  const filter = compileFilter(call.filter, options.fields);
  if (!filter.ok) errors.push(...filter.errors);
  if (!filter.ok || errors.length > 0) return badRequest(...errors);
  const rows = filter.select(options.rows);
  const pages = Math.max(1, Math.ceil(rows.length / size));
  if (page > pages) return NOT_FOUND;
  const data = rows.slice((page - 1) * size, page * size).map(options.toWire);
  if (rows.length === 0) {
    const emptyPage = options.emptyPage ?? 1;
    return succeed({ data, page: emptyPage, pages: emptyPage, results: 0 });
  }
  return succeed({ data, page, pages, results: rows.length });
}

function queryInteger(call: Call, name: string, min: number, max: number, absent: number, errors: ApiError[]): number {
  const text = call.query.get(name);
  if (text === null) return absent;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const reason = max === Number.MAX_SAFE_INTEGER ? `Must be ${min} or greater` : `Must be between ${min} and ${max}`;
  errors.push(fieldError(name, reason));
  return absent;
}
