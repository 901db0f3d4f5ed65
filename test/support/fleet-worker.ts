/** Workers of a fleet as processes. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { type Ended, ended, type RunOptions, start } from "../cli/run.ts";

export interface StartedWorker {
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<Ended>;
  said(): string;
  untilSaid(text: string): Promise<void>;
}

/** Starts a worker, and waits until it serves. */
export async function startedWorker(options: RunOptions, args: readonly string[]): Promise<StartedWorker> {
  const child = start(["fleet", "worker", ...args], options);
  let text = "";
  const waiting = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    for (const look of waiting) look();
  });
  const end = ended(child);
  const untilSaid = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!text.includes(wanted)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void end.then(({ code }) => reject(new Error(`ended with ${code}: ${text}`)));
    });
  await untilSaid("Serving");
  return { child, end, said: () => text, untilSaid };
}
