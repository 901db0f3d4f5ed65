/** Counts what code does instead of timing it: the same on every machine, however busy. */

import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";

/** Optimised code is not counted, so that none is made meanwhile. Node 22 was the first to use the second compiler. */
const COMPILERS: readonly string[] = Number.parseInt(process.versions.node, 10) < 22 ? ["opt"] : ["opt", "maglev"];

interface Covered {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/**
 * How many functions `work` calls, of Tenon and of the libraries it uses, as V8 counts them for coverage. What happens within a
 * function without a call is not seen: where a loop does nothing but compare, the test counts what is compared.
 */
export async function operationsOf(work: () => unknown): Promise<number> {
  const session = new Session();
  session.connect();
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  try {
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    // Taking the counts sets them back to 0.
    counts(session);
    await work();
    return counts(session);
  } finally {
    session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
    for (const compiler of COMPILERS) setFlagsFromString(`--${compiler}`);
  }
}

/**
 * How many times more operations `work` takes for `factor` times as much: some `factor` if it is linear, its square if it is quadratic.
 * The smaller run goes first once uncounted, since what is done once (modules, caches) is not part of the growth.
 */
export async function growth(size: number, factor: number, work: (size: number) => unknown): Promise<number> {
  await work(size);
  const small = await operationsOf(() => work(size));
  const large = await operationsOf(() => work(size * factor));
  return large / small;
}

function counts(session: Session): number {
  let sum = 0;
  session.post("Profiler.takePreciseCoverage", (error, covered) => {
    if (error !== null) throw error;
    for (const { url, functions } of (covered as Covered).result) {
      if (!isCounted(url)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) sum += count;
    }
  });
  return sum;
}

/** Not Node's own functions, nor those that test. */
function isCounted(url: string): boolean {
  return url.includes("/src/") || (url.includes("/node_modules/") && !/\/node_modules\/(@?vitest|chai)\b/.test(url));
}
