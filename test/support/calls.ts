/** How many functions of the source a piece of work calls: a measure of its cost that no loaded machine changes. */

import { Session } from "node:inspector/promises";

/** @param folder part of the path of the files whose functions count, callbacks among them */
export async function callsIn(folder: string, work: () => void): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    await session.post("Profiler.stopPreciseCoverage");
    return result
      .filter(({ url }) => url.includes(folder))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges[0]?.count ?? 0))
      .reduce((sum, count) => sum + count, 0);
  } finally {
    session.disconnect();
  }
}
