/** Workers of a fleet as processes. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { type Ended, ended, type RunOptions, start } from "../cli/run.ts";

export interface StartedWorker {
  readonly child: ChildProcessWithoutNullStreams;
  readonly end: Promise<Ended>;
  said(): string;
  untilSaid(text: string | RegExp): Promise<void>;
}

/** Starts a worker with a short lease, and waits until it serves. */
export async function startedWorker(options: RunOptions, args: readonly string[]): Promise<StartedWorker> {
  const child = start(["fleet", "worker", "--lease", "2s", ...args], options);
  let text = "";
  const waiting = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    for (const look of waiting) look();
  });
  const end = ended(child);
  const untilSaid = (wanted: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (typeof wanted === "string" ? !text.includes(wanted) : !wanted.test(text)) return;
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

/** In order, or by another signal. */
export async function stopped({ child, end }: StartedWorker, signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
  child.kill(signal);
  return end;
}
