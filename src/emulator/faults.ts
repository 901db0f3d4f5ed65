/** Holds the emulator's present faults, and what they decided for the requests that are under way. */

export const DEFAULT_FAULT_SEED = 1;

export class ActiveFaults {
  readonly late: LateWork;
  #choose: (request: FaultRequest) => FaultEffect | null = () => null;
  readonly #effects = new WeakMap<object, FaultEffect>();

  /** @param wait how late work is waited for; absent: real time */
  constructor(wait?: Wait) {
    this.late = new LateWork(wait);
  }

  /** Replaces them and counts anew. @returns null, or why they cannot be used; then nothing has changed */
  replace(faults: readonly Fault[], seed: number = DEFAULT_FAULT_SEED): string | null {
    const problem = checkFaults(faults, seed);
    if (problem === null) this.#choose = chooseFaults(faults, seed);
    return problem;
  }

  /**
   * Decides for a request; to be asked once for each.
   * @param request what `effectOf` is asked about later
   * @param path below the prefix of the API, percent-encoded
   */
  decide(request: { readonly method: string }, path: string): FaultEffect | null {
    const effect = this.#choose({ method: request.method, path: decode(path) });
    if (effect !== null) this.#effects.set(request, effect);
    return effect;
  }

  effectOf(request: object): FaultEffect | null {
    return this.#effects.get(request) ?? null;
  }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

// Which request meets which fault. Pure: the same faults, seed and requests give the same decisions.

/** Odd and without a pattern in its bits (2^32 divided by the golden ratio): seeds of neighbours are far apart. */
const SEED_STEP = 0x9e3779b9;

/**
 * @param seed a whole number of 32 bits
 * @returns to be asked once for each request, in order. The first fault that hits wins; all of those that match count
 * the request, and draw their chance for it whether or not another one wins.
 */
export function chooseFaults(faults: readonly Fault[], seed: number): (request: FaultRequest) => FaultEffect | null {
  const watched = faults.map((fault, index) => watch(fault, streamSeed(seed, index)));
  return (request) => {
    let chosen: Watched | null = null;
    for (const one of watched) {
      const hit = one.hits(request);
      if (hit && chosen === null) chosen = one;
    }
    return chosen === null ? null : chosen.use();
  };
}

interface Watched {
  /** Counts the request if it matches. */
  hits(request: FaultRequest): boolean;
  use(): FaultEffect;
}

function watch(fault: Fault, seed: number): Watched {
  const random = mulberry32(seed);
  const nth = fault.nth === undefined ? null : new Set(fault.nth);
  let seen = 0;
  let used = 0;
  return {
    hits: ({ method, path }) => {
      if (fault.method !== undefined && fault.method !== method) return false;
      if (fault.path !== undefined && !matchesGlob(fault.path, path)) return false;
      seen += 1;
      // Always drawn: chance must not depend on what else the fault asks for.
      const drawn = random();
      return (
        (nth === null || nth.has(seen)) &&
        (fault.every === undefined || seen % fault.every === 0) &&
        (fault.rate === undefined || drawn < fault.rate) &&
        (fault.times === undefined || used < fault.times)
      );
    },
    use: () => {
      used += 1;
      return fault.effect;
    },
  };
}

/** Each fault draws from numbers of its own, so that one more at the end changes nothing for the others. */
function streamSeed(seed: number, index: number): number {
  return (seed + Math.imul(index, SEED_STEP)) | 0;
}

/** Mulberry32 (Tommy Ettinger, public domain): 32 bits of state, numbers in [0, 1). Not for secrets. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Each piece is looked for once, leftmost: no pattern takes long. */
function matchesGlob(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

// Faults as text: `status=503,method=POST,nth=2`.

export type ParsedFault =
  | { readonly ok: true; readonly fault: Fault }
  /** A sentence's worth, with an example of what is meant. */
  | { readonly ok: false; readonly problem: string };

/** No useful fault is longer. */
const MAX_SPEC_CHARACTERS = 4_096;
const MAX_SHOWN_CHARACTERS = 60;

/** What is wrong with a SPEC; never leaves this file. */
class SpecError extends Error {}

type Values = ReadonlyMap<string, string | null>;

interface EffectKey {
  readonly example: string;
  readonly read: (value: string | null, values: Values) => FaultEffect;
}

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

// What a fault may say: its numbers within their limits.

const MAX_DELAY_MILLISECONDS = 300_000;
const MAX_RETRY_AFTER_SECONDS = 86_400;
const MAX_COUNT = 1_000_000_000;
const MAX_FAULTS = 1_000;
/** The generator has 32 bits of state. */
export const MAX_SEED: number = 2 ** 32 - 1;

/** @returns null, or what is wrong with the first one that cannot be used */
function checkFaults(faults: readonly Fault[], seed: number): string | null {
  if (faults.length > MAX_FAULTS) return `at most ${MAX_FAULTS} faults`;
  if (!isWhole(seed, 0, MAX_SEED)) return `the seed of the faults must be a whole number from 0 to ${MAX_SEED}`;
  for (const [index, fault] of faults.entries()) {
    const problem = checkFault(fault);
    if (problem !== null) return `faults[${index}]: ${problem}`;
  }
  return null;
}

function checkFault(fault: Fault): string | null {
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

// Faults: what can go wrong with a request on purpose, and with which requests.

/** With the first five, no work is done. With the others, the work is done, and its answer is lost, broken or late. */
export type FaultEffect =
  /** An error in the service's shape. `retryAfterSeconds` null: without the header; absent: as it would be anyway. */
  | { readonly type: "status"; readonly status: number; readonly retryAfterSeconds?: number | null }
  /** A load balancer's page. */
  | { readonly type: "html"; readonly status: number }
  /** 400 `Linode busy.` */
  | { readonly type: "busy" }
  /** 503 with X-Maintenance-Mode. */
  | { readonly type: "maintenance" }
  /** The connection is reset before anything is done. */
  | { readonly type: "drop-before" }
  /** The connection is reset before the first byte of the answer. */
  | { readonly type: "drop-after" }
  /** The client first gets a load balancer's 504, or a reset. The work is done that long after. */
  | { readonly type: "late"; readonly delayMilliseconds: number; readonly status?: 504 | "drop" }
  /** The head promises the whole body; half of it comes, then a reset. */
  | { readonly type: "half-body" }
  /** The body lacks its last character, and Content-Length agrees with that. */
  | { readonly type: "bad-json" }
  /** Nothing is answered for that long. */
  | { readonly type: "slow-headers"; readonly delayMilliseconds: number }
  /** The head comes at once, the body in pieces over that time. */
  | { readonly type: "slow-body"; readonly durationMilliseconds: number };

/** All selectors that are present must agree. Requests are counted from 1, those alone that `method` and `path` match. */
export interface Fault {
  readonly effect: FaultEffect;
  readonly method?: string;
  /** Below `/v4`, decoded, `*` matches anything; upload targets are below `/_upload`. Absent: every request, uploads too. */
  readonly path?: string;
  readonly nth?: readonly number[];
  /** Each so many-th. */
  readonly every?: number;
  /** Probability from 0 to 1, by the seed. */
  readonly rate?: number;
  /** It happens so often, and no more. */
  readonly times?: number;
}

export interface FaultRequest {
  readonly method: string;
  /** As in `Fault`. */
  readonly path: string;
}

// Work that goes on after its request was answered: a gateway gives up, the service behind it does not.

type Wait = (milliseconds: number) => Promise<void>;

class LateWork {
  readonly #running = new Set<Promise<void>>();
  readonly #wait: Wait;

  constructor(wait: Wait = waitRealTime) {
    this.#wait = wait;
  }

  /** Does the work that much later, whatever became of the connection. A failure is not reported. */
  add(delayMilliseconds: number, work: () => Promise<unknown>): void {
    const running = this.#wait(delayMilliseconds)
      .then(work)
      // A change that could not be kept shows in the next answer, as it does for all requests.
      .then(ignore, ignore)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all of it is done. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

function ignore(): void {}

function waitRealTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
