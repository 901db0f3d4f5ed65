/** Reading the fields of a request body: each gives its value, or says what is wrong with it. */

import { type ApiError, fieldError } from "./errors.ts";
import type { JsonBody } from "./route.ts";

interface TextRule {
  /** Characters, counted as Unicode code points. */
  readonly min?: number;
  readonly max: number;
}

/** The most errors reported for one body: a client learns nothing from more. */
const MAX_ERRORS = 100;

/** Collects what is wrong with one body. An absent field reads as undefined, null as null, a wrong one as undefined with an error. */
export class BodyReader {
  readonly errors: ApiError[] = [];
  readonly #body: JsonBody;
  readonly #prefix: string;

  /** @param prefix goes before each field's name, for example `subnets[0].` */
  constructor(body: JsonBody, prefix = "") {
    this.#body = body;
    this.#prefix = prefix;
  }

  fail(field: string, reason: string): void {
    this.take([fieldError(this.#prefix + field, reason)]);
  }

  /** Takes over what another reader found, as far as there is room. */
  take(errors: readonly ApiError[]): void {
    this.errors.push(...errors.slice(0, MAX_ERRORS - this.errors.length));
  }

  /** Nothing more is taken: no need to read on. */
  get isFull(): boolean {
    return this.errors.length >= MAX_ERRORS;
  }

  /** Whether something is wrong with a field, or with one of its entries. */
  isWrong(field: string): boolean {
    const name = this.#prefix + field;
    return this.errors.some((error) => error.field === name || error.field?.startsWith(`${name}[`));
  }

  has(field: string): boolean {
    return Object.hasOwn(this.#body, field);
  }

  raw(field: string): unknown {
    return this.has(field) ? this.#body[field] : undefined;
  }

  /** Says so if the field is absent or null. */
  require(field: string): boolean {
    const value = this.raw(field);
    if (value !== undefined && value !== null) return true;
    this.fail(field, `${field} is required`);
    return false;
  }

  text(field: string, rule: TextRule): string | null | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null) return value;
    if (typeof value !== "string") return this.#wrong(field, "Must be a string");
    // Counting code points of a huge text is only worth it near the limit.
    const length = value.length > 2 * rule.max ? value.length : [...value].length;
    const min = rule.min ?? 0;
    if (length >= min && length <= rule.max) return value;
    return this.#wrong(
      field,
      min > 0 ? `Length must be ${min}-${rule.max} characters` : `Length must be at most ${rule.max} characters`,
    );
  }

  integer(field: string, min: number, max: number): number | null | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null) return value;
    if (typeof value !== "number" || !Number.isInteger(value)) return this.#wrong(field, "Must be an integer");
    if (value < min || value > max) return this.#wrong(field, `Must be between ${min} and ${max}`);
    return value;
  }

  /** Any number: what is not allowed is rounded elsewhere, and no error. */
  seconds(field: string): number | null | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null) return value;
    return typeof value === "number" ? value : this.#wrong(field, "Must be a number");
  }

  boolean(field: string): boolean | null | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null || typeof value === "boolean") return value;
    return this.#wrong(field, "Must be true or false");
  }

  oneOf<Value extends string>(field: string, values: readonly Value[]): Value | null | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null) return value;
    return values.find((known) => known === value) ?? this.#wrong(field, `Must be one of ${values.join(", ")}`);
  }

  texts(field: string): readonly string[] | null | undefined {
    const value = this.raw(field);
    if (value === undefined || value === null) return value;
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
      return this.#wrong(field, "Must be an array of strings");
    }
    return value as string[];
  }

  #wrong(field: string, reason: string): undefined {
    this.fail(field, reason);
    return undefined;
  }
}

export function isJsonBody(value: unknown): value is JsonBody {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The rounding of `*_sec` values (API.md, Domain record, ttl_sec; the same list holds for domains).

const ALLOWED_SECONDS = [
  300, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200,
];

/** The running service keeps these too. */
const ALSO_ALLOWED_ELSEWHERE = [30, 120];

/**
 * Makes the function that rounds seconds to what is allowed: 0, "the service's default", stays 0 and nothing else becomes it.
 * The greater of two equally near values is taken; above the greatest the greatest, below the least (negative ones too) the least.
 */
export function secondsRounding(word: string, mode: "nearest" | "up"): (seconds: number) => number {
  const allowed = word === "node" ? ALLOWED_SECONDS : [...ALSO_ALLOWED_ELSEWHERE, ...ALLOWED_SECONDS];
  return (seconds) => {
    if (seconds === 0) return 0;
    const above = allowed.find((value) => value >= seconds);
    if (above === undefined) return allowed.at(-1) ?? 0;
    const below = allowed.findLast((value) => value <= seconds);
    if (mode === "up" || below === undefined) return above;
    return seconds - below < above - seconds ? below : above;
  };
}
