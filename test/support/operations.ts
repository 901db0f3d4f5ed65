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

type Work = () => unknown;

/**
 * How many functions `work` calls, of Tenon and of the libraries it uses, as V8 counts them for coverage. What happens within a
 * function without a call is not seen: where a loop does nothing but compare, the test counts what is compared.
 */
export async function operationsOf(work: Work): Promise<number> {
  const [operations] = (await operationsOfEach([work])) as [number];
  return operations;
}

/** To start counting takes longer than most work: V8 looks through its whole heap. */
async function operationsOfEach(works: readonly Work[]): Promise<number[]> {
  const session = new Session();
  session.connect();
  for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`);
  try {
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    const each: number[] = [];
    for (const work of works) {
      // Taking the counts sets them back to 0.
      counts(session);
      await work();
      each.push(counts(session));
    }
    return each;
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
export async function growth(
  size: number,
  factor: number,
  work: (size: number) => unknown,
  measureEach: (works: readonly Work[]) => Promise<number[]> = operationsOfEach,
): Promise<number> {
  await work(size);
  const [small, large] = (await measureEach([() => work(size), () => work(size * factor)])) as [number, number];
  return large / small;
}

/** For `growth`: see `itemsWalked`. */
export async function itemsWalkedEach(works: readonly Work[]): Promise<number[]> {
  const each: number[] = [];
  for (const work of works) each.push(await itemsWalked(work));
  return each;
}

/**
 * How many items of lists, sets and maps `work` may walk through or copy by their iterators (`[...list]`, `new Set(list)`, `map.keys()`) and by
 * searches of lists: native code does so, and no call of a function shows how much.
 */
export async function itemsWalked(work: Work): Promise<number> {
  let items = 0;
  const restores: (() => void)[] = [];
  const count = <Collection extends object>(
    prototype: Collection,
    names: readonly PropertyKey[],
    sizeOf: (one: Collection) => number,
  ): void => {
    for (const name of names) {
      const own = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
      const value = function (this: Collection, ...args: readonly unknown[]): unknown {
        items += sizeOf(this);
        return own.value.apply(this, args);
      };
      Object.defineProperty(prototype, name, { ...own, value });
      restores.push(() => void Object.defineProperty(prototype, name, own));
    }
  };
  const searches = ["indexOf", "includes", "splice"];
  count(Array.prototype as unknown[], [Symbol.iterator, ...searches], ({ length }) => length);
  count(Set.prototype as Set<unknown>, [Symbol.iterator], ({ size }) => size);
  count(Map.prototype as Map<unknown, unknown>, [Symbol.iterator, "keys", "values", "entries"], ({ size }) => size);
  try {
    await work();
  } finally {
    for (const restore of restores) restore();
  }
  return items;
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
