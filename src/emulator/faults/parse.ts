/** Faults as text: `status=503,method=POST,nth=2`. */

import { checkFault } from "./check.ts";
import type { Fault, FaultEffect } from "./fault.ts";

export type ParsedFault =
  | { readonly ok: true; readonly fault: Fault }
  /** A sentence's worth, with an example of what is meant. */
  | { readonly ok: false; readonly problem: string };

/** Longer than any that makes sense. */
const MAX_SPEC_CHARACTERS = 4_096;
const MAX_SHOWN_CHARACTERS = 60;

/** What is wrong with a SPEC; never leaves this file. */
class SpecError extends Error {}

type Values = ReadonlyMap<string, string | null>;

interface EffectKey {
  readonly example: string;
  readonly read: (value: string | null, values: Values) => FaultEffect;
}

const EFFECTS: Readonly<Record<string, EffectKey>> = {
  status: { example: "status=503", read: readStatus },
  html: { example: "html=502", read: (value) => ({ type: "html", status: readNumber("html", value) }) },
  busy: plain("busy", { type: "busy" }),
  maintenance: plain("maintenance", { type: "maintenance" }),
  drop: { example: "drop=after", read: readDrop },
  late: { example: "late=500", read: readLate },
  "half-body": plain("half-body", { type: "half-body" }),
  "bad-json": plain("bad-json", { type: "bad-json" }),
  "slow-headers": {
    example: "slow-headers=2000",
    read: (value) => ({ type: "slow-headers", delayMilliseconds: readNumber("slow-headers", value) }),
  },
  "slow-body": {
    example: "slow-body=2000",
    read: (value) => ({ type: "slow-body", durationMilliseconds: readNumber("slow-body", value) }),
  },
};

/** Beside an effect; what each means is in `Fault` and `FaultEffect`. */
const OTHER_EXAMPLES: Readonly<Record<string, string>> = {
  "retry-after": "status=429,retry-after=1",
  method: "busy,method=POST",
  path: "status=503,path=/domains/*/records",
  nth: "drop=after,nth=2;5",
  every: "busy,every=10",
  rate: "status=500,rate=0.1",
  times: "status=503,times=3",
};

/**
 * Effects (exactly one): `status=N` (with `retry-after=SECONDS` or `none`), `html=N`, `busy`, `maintenance`,
 * `drop=before|after`, `late=MILLISECONDS` (with `drop=before`: a reset, not 504), `half-body`, `bad-json`,
 * `slow-headers=MILLISECONDS`, `slow-body=MILLISECONDS`. Selectors: `method`, `path`, `nth` (`2` or `2;5`), `every`,
 * `rate`, `times`.
 */
export function parseFault(spec: string): ParsedFault {
  try {
    const fault = readFault(splitSpec(spec));
    const problem = checkFault(fault);
    if (problem !== null) throw new SpecError(`${problem}, as in ${exampleOf(problem.split(" ", 1)[0] ?? "")}`);
    return { ok: true, fault };
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    return { ok: false, problem: `fault ${quote(spec)}: ${error.message}` };
  }
}

function splitSpec(spec: string): Values {
  if (spec.length > MAX_SPEC_CHARACTERS) throw new SpecError(`it has more than ${MAX_SPEC_CHARACTERS} characters`);
  const values = new Map<string, string | null>();
  for (const part of spec.split(",")) {
    const equals = part.indexOf("=");
    const key = (equals === -1 ? part : part.slice(0, equals)).trim();
    if (!Object.hasOwn(EFFECTS, key) && !Object.hasOwn(OTHER_EXAMPLES, key)) {
      const known = [...Object.keys(EFFECTS), ...Object.keys(OTHER_EXAMPLES)].join(", ");
      throw new SpecError(`unknown key ${quote(key)} (there are ${known}), as in status=503,method=POST,nth=2`);
    }
    if (values.has(key)) throw new SpecError(`${key} is given twice; give it once, as in ${exampleOf(key)}`);
    values.set(key, equals === -1 ? null : part.slice(equals + 1).trim());
  }
  return values;
}

function readFault(values: Values): Fault {
  const rate = values.get("rate");
  return {
    effect: readEffect(values),
    ...(values.has("method") ? { method: readText("method", values).toUpperCase() } : {}),
    ...(values.has("path") ? { path: readText("path", values) } : {}),
    ...(values.has("nth")
      ? {
          nth: readText("nth", values)
            .split(";")
            .map((part) => readNumber("nth", part)),
        }
      : {}),
    ...(values.has("every") ? { every: readNumber("every", values.get("every")) } : {}),
    ...(rate === undefined ? {} : { rate: readFraction("rate", rate) }),
    ...(values.has("times") ? { times: readNumber("times", values.get("times")) } : {}),
  };
}

function readEffect(values: Values): FaultEffect {
  // `drop` beside `late` says how the late request is given up on.
  const keys = Object.keys(EFFECTS).filter((key) => values.has(key) && !(key === "drop" && values.has("late")));
  const [key, other] = keys;
  const effect = EFFECTS[key ?? ""];
  if (key === undefined || effect === undefined) {
    throw new SpecError(`it names no effect (${Object.keys(EFFECTS).join(", ")}), as in status=503,nth=2`);
  }
  if (other !== undefined) throw new SpecError(`${key} and ${other} are two effects: give each a fault of its own`);
  if (values.has("retry-after") && key !== "status") {
    throw new SpecError(`retry-after goes with status alone, as in ${exampleOf("retry-after")}`);
  }
  return effect.read(values.get(key) ?? null, values);
}

function plain(key: string, effect: FaultEffect): EffectKey {
  return {
    example: key,
    read: (value) => {
      if (value !== null) throw new SpecError(`${key} takes no value, as in ${key},nth=2`);
      return effect;
    },
  };
}

function readStatus(value: string | null, values: Values): FaultEffect {
  const status = readNumber("status", value);
  if (!values.has("retry-after")) return { type: "status", status };
  const after = values.get("retry-after");
  const retryAfterSeconds = after === "none" ? null : readNumber("retry-after", after);
  return { type: "status", status, retryAfterSeconds };
}

function readDrop(value: string | null): FaultEffect {
  if (value === "before") return { type: "drop-before" };
  if (value === "after") return { type: "drop-after" };
  throw new SpecError("drop must be before or after, as in drop=after");
}

function readLate(value: string | null, values: Values): FaultEffect {
  const delayMilliseconds = readNumber("late", value);
  if (!values.has("drop")) return { type: "late", delayMilliseconds };
  if (values.get("drop") !== "before") {
    throw new SpecError("what is late is dropped before it is done, as in late=500,drop=before");
  }
  return { type: "late", delayMilliseconds, status: "drop" };
}

function readText(key: string, values: Values): string {
  const value = values.get(key);
  if (value === null || value === undefined || value === "") {
    throw new SpecError(`${key} needs a value, as in ${exampleOf(key)}`);
  }
  return value;
}

function readNumber(key: string, value: string | null | undefined): number {
  if (!/^\d{1,15}$/.test(value ?? "")) throw new SpecError(`${key} must be a whole number, as in ${exampleOf(key)}`);
  return Number(value);
}

function readFraction(key: string, value: string | null): number {
  if (!/^\d{0,10}\.?\d{1,15}$/.test(value ?? "")) {
    throw new SpecError(`${key} must be a number from 0 to 1, as in ${exampleOf(key)}`);
  }
  return Number(value);
}

function exampleOf(key: string): string {
  return EFFECTS[key]?.example ?? OTHER_EXAMPLES[key] ?? "status=503";
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text);
}
