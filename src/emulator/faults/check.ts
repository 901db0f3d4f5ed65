/** What a fault may say: its numbers within their limits. */

import type { Fault, FaultEffect } from "./fault.ts";

const MAX_DELAY_MILLISECONDS = 300_000;
const MAX_RETRY_AFTER_SECONDS = 86_400;
const MAX_COUNT = 1_000_000_000;
const MAX_FAULTS = 1_000;
/** The generator has 32 bits of state. */
export const MAX_SEED: number = 2 ** 32 - 1;

/** @returns null, or what is wrong with the first one that cannot be used */
export function checkFaults(faults: readonly Fault[], seed: number): string | null {
  if (faults.length > MAX_FAULTS) return `at most ${MAX_FAULTS} faults`;
  if (!isWhole(seed, 0, MAX_SEED)) return `the seed of the faults must be a whole number from 0 to ${MAX_SEED}`;
  for (const [index, fault] of faults.entries()) {
    const problem = checkFault(fault);
    if (problem !== null) return `faults[${index}]: ${problem}`;
  }
  return null;
}

export function checkFault(fault: Fault): string | null {
  return checkEffect(fault.effect) ?? checkSelectors(fault);
}

function checkEffect(effect: FaultEffect): string | null {
  switch (effect.type) {
    case "status":
      return checkNumber("status", effect.status, 400, 599) ?? checkRetryAfter(effect.retryAfterSeconds);
    case "html":
      return effect.status === 200 ? null : checkNumber("html", effect.status, 400, 599, "200 or a whole number");
    case "late":
    case "slow-headers":
      return checkNumber(effect.type, effect.delayMilliseconds, 0, MAX_DELAY_MILLISECONDS);
    case "slow-body":
      return checkNumber(effect.type, effect.durationMilliseconds, 0, MAX_DELAY_MILLISECONDS);
    case "busy":
    case "maintenance":
    case "drop-before":
    case "drop-after":
    case "half-body":
    case "bad-json":
      return null;
    default:
      return `unknown effect ${JSON.stringify((effect as { type: unknown }).type)}`;
  }
}

function checkRetryAfter(seconds: number | null | undefined): string | null {
  return seconds === null || seconds === undefined
    ? null
    : checkNumber("retry-after", seconds, 0, MAX_RETRY_AFTER_SECONDS, "none or a whole number");
}

function checkSelectors({ method, path, nth, every, rate, times }: Fault): string | null {
  if (method !== undefined && !/^[A-Z]+$/.test(method)) return "method must be one like POST";
  if (path !== undefined && !/^[/*]/.test(path)) return "path must begin with / or *";
  if (nth !== undefined && (nth.length === 0 || nth.some((count) => !isWhole(count, 1, MAX_COUNT)))) {
    return `nth must be whole numbers from 1 to ${MAX_COUNT}`;
  }
  if (rate !== undefined && !(rate >= 0 && rate <= 1)) return "rate must be a number from 0 to 1";
  return (
    (every === undefined ? null : checkNumber("every", every, 1, MAX_COUNT)) ??
    (times === undefined ? null : checkNumber("times", times, 1, MAX_COUNT))
  );
}

function checkNumber(key: string, value: number, min: number, max: number, what = "a whole number"): string | null {
  return isWhole(value, min, max) ? null : `${key} must be ${what} from ${min} to ${max}`;
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
