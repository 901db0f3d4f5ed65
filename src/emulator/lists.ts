/** The X-Filter header: JSON → a selection and an order of rows (API.md, Pagination and filtering). */

import { type Answer, type ApiError, badRequest, fieldError, NOT_FOUND, succeed } from "./errors.ts";
import type { Call } from "./route.ts";

type Scalar = string | number | boolean | null;

/** A field that a list can be filtered and ordered by. */
interface FilterField<Row> {
  /** A list matches when one of its items does. */
  readonly get: (row: Row) => Scalar | readonly string[];
  /** Letter case does not matter. */
  readonly foldCase?: boolean;
  /** false: only `+order_by` is available. */
  readonly filterable?: boolean;
  /** false: `+order_by` is not available. */
  readonly sortable?: boolean;
  /** A value that the service never finds. */
  readonly unfindable?: string;
}

/** A Map, so that no key of a filter can reach a prototype. */
export type FilterFields<Row> = ReadonlyMap<string, FilterField<Row>>;

type CompiledFilter<Row> =
  | { readonly ok: true; readonly select: (rows: readonly Row[]) => readonly Row[] }
  | { readonly ok: false; readonly errors: readonly ApiError[] };

type Test<Row> = (row: Row) => boolean;
type Compare = (value: Scalar, operand: Scalar) => boolean;

const HEADER = "X-Filter";

/** How deep `+and` and `+or` may nest. */
const MAX_FILTER_DEPTH = 32;

const COMPARISONS: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ["+gt", (value, operand) => ordered(value, operand) && (value as number) > (operand as number)],
  ["+gte", (value, operand) => ordered(value, operand) && (value as number) >= (operand as number)],
  ["+lt", (value, operand) => ordered(value, operand) && (value as number) < (operand as number)],
  ["+lte", (value, operand) => ordered(value, operand) && (value as number) <= (operand as number)],
  ["+contains", contains],
]);

/** A number holds its digits: the service's web client finds subnets by a part of their id. */
function contains(value: Scalar, operand: Scalar): boolean {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && typeof operand === "string" && text.includes(operand);
}

/** Strings, date-times among them, compare with strings and numbers with numbers. */
function ordered(value: Scalar, operand: Scalar): boolean {
  return value !== null && typeof value === typeof operand && typeof value !== "boolean";
}

function compileFilter<Row>(header: string | undefined, fields: FilterFields<Row>): CompiledFilter<Row> {
  if (header === undefined || header.trim() === "") return { ok: true, select: (rows) => rows };
  let parsed: unknown;
  try {
    parsed = JSON.parse(header);
  } catch {
    return { ok: false, errors: [fieldError(HEADER, "Invalid JSON")] };
  }
  if (!isObject(parsed)) return { ok: false, errors: [fieldError(HEADER, "Must be a JSON object")] };
  const compiler = new Compiler(fields);
  const order = compiler.order(parsed);
  const test = compiler.object(parsed, 0, true);
  if (compiler.errors.length > 0) return { ok: false, errors: compiler.errors };
  return {
    ok: true,
    select: (rows) => {
      const selected = rows.filter(test);
      return order === null ? selected : selected.sort(order);
    },
  };
}

class Compiler<Row> {
  readonly errors: ApiError[] = [];
  readonly #fields: FilterFields<Row>;

  constructor(fields: FilterFields<Row>) {
    this.#fields = fields;
  }

  /** All keys of an object combine. `+order_by` and `+order` belong to the outermost one. */
  object(filter: Readonly<Record<string, unknown>>, depth: number, outermost: boolean): Test<Row> {
    if (depth > MAX_FILTER_DEPTH) return this.#fail("Filter is nested too deeply");
    const tests: Test<Row>[] = [];
    for (const [key, value] of Object.entries(filter)) {
      if (key === "+and" || key === "+or") tests.push(this.#combination(key, value, depth));
      else if (outermost && (key === "+order_by" || key === "+order")) continue;
      else tests.push(this.#field(key, value));
    }
    return (row) => tests.every((test) => test(row));
  }

  order(filter: Readonly<Record<string, unknown>>): ((a: Row, b: Row) => number) | null {
    const by = Object.hasOwn(filter, "+order_by") ? filter["+order_by"] : undefined;
    const direction = Object.hasOwn(filter, "+order") ? filter["+order"] : undefined;
    if (direction !== undefined && direction !== "asc" && direction !== "desc") {
      this.#fail("+order must be one of asc, desc");
    }
    // The service accepts a direction without a field, and keeps its own order.
    if (by === undefined) return null;
    const field = typeof by === "string" ? this.#fields.get(by) : undefined;
    if (field === undefined || field.sortable === false) {
      this.#fail(typeof by === "string" ? `Cannot order by ${by}` : "+order_by must be the name of a field");
      return null;
    }
    const sign = direction === "desc" ? -1 : 1;
    return (a, b) => sign * compareValues(field.get(a), field.get(b));
  }

  #combination(operator: "+and" | "+or", value: unknown, depth: number): Test<Row> {
    if (!Array.isArray(value) || !value.every(isObject)) return this.#fail(`${operator} must be an array of objects`);
    const tests = value.map((part) => this.object(part, depth + 1, false));
    return operator === "+and" ? (row) => tests.every((test) => test(row)) : (row) => tests.some((test) => test(row));
  }

  #field(name: string, condition: unknown): Test<Row> {
    const field = this.#fields.get(name);
    if (field === undefined || field.filterable === false) return this.#fail(`Cannot filter on ${name}`);
    if (!isObject(condition)) return this.#comparison(name, field, (value, operand) => value === operand, condition);
    const tests = Object.entries(condition).map(([operator, operand]) => {
      if (operator === "+neq") {
        const equal = this.#comparison(name, field, (value, other) => value === other, operand);
        return (row: Row) => !equal(row);
      }
      const compare = COMPARISONS.get(operator);
      return compare === undefined
        ? this.#fail(`Unknown operator ${operator}`)
        : this.#comparison(name, field, compare, operand);
    });
    return (row) => tests.every((test) => test(row));
  }

  #comparison(name: string, field: FilterField<Row>, compare: Compare, operand: unknown): Test<Row> {
    if (!isScalar(operand)) return this.#fail(`Invalid value for ${name}`);
    if (field.unfindable !== undefined && operand === field.unfindable) return () => false;
    const fold = (value: Scalar): Scalar => (field.foldCase && typeof value === "string" ? value.toLowerCase() : value);
    const wanted = fold(operand);
    return (row) => {
      const value = field.get(row);
      return isList(value) ? value.some((item) => compare(fold(item), wanted)) : compare(fold(value), wanted);
    };
  }

  #fail(reason: string): Test<Row> {
    this.errors.push(fieldError(HEADER, reason));
    return () => false;
  }
}

function compareValues(a: Scalar | readonly string[], b: Scalar | readonly string[]): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const left = String(a);
  const right = String(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

function isList(value: Scalar | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Rows in the order in which a list shows them.

/**
 * Sorts once per state of a table, which gives the same array (`Table.list`) until it changes.
 * @param compare never changes
 */
export function listOrder<Row>(
  compare: (a: Row, b: Row) => number,
): <Same extends Row>(rows: readonly Same[]) => readonly Same[] {
  const sorted = new WeakMap<readonly Row[], readonly Row[]>();
  return <Same extends Row>(rows: readonly Same[]) => {
    const known = (sorted.get(rows) as readonly Same[] | undefined) ?? [...rows].sort(compare);
    sorted.set(rows, known);
    return known;
  };
}

/** A seed chooses ids: rows need not have come in the order of theirs. */
export const byId: <Row extends { readonly id: number }>(rows: readonly Row[]) => readonly Row[] = listOrder(
  (a: { readonly id: number }, b: { readonly id: number }) => a.id - b.id,
);

// Lists: one page of what a filter leaves, in the service's shape (API.md, Pagination and filtering).

const MIN_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 500;
const DEFAULT_PAGE_SIZE = 100;

interface ListOptions<Row> {
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
