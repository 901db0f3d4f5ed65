/** The version, from the package itself. */

import { readFileSync } from "node:fs";

/** The same relative to src/cli and to dist/cli. */
const PACKAGE = new URL("../../package.json", import.meta.url);

export function readVersion(): string {
  return (JSON.parse(readFileSync(PACKAGE, "utf8")) as { version: string }).version;
}
