/** Keeps which places of a sample of mutants a process executes that a test started: the first import of the copy's main.js. */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// The tests start it with an environment of their own, so that the folder cannot come from there.
const hits = fileURLToPath(new URL("../../../hits", import.meta.url));
const worker = join(hits, `worker-${process.ppid}`);
if (existsSync(worker)) {
  const file = join(hits, `${readFileSync(worker, "utf8")}.children`);
  const executed = new Set();
  // At once, because a test may kill it.
  globalThis.__executed = (number) => {
    if (executed.has(number)) return;
    executed.add(number);
    appendFileSync(file, `${number}\n`);
  };
}
