/** Manifests as projects on disk, each written and loaded once. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadFolder } from "../support/account.ts";
import type { Side } from "./interleave-run.ts";
import type { Work } from "./interleave-scenarios.ts";

export class Projects {
  readonly #sides: Map<string, Promise<Pick<Side, "desired" | "folder">>> = new Map();

  async side({ manifest, goal }: Work): Promise<Side> {
    const text = JSON.stringify(manifest, null, 1);
    const known = this.#sides.get(text) ?? load(text);
    this.#sides.set(text, known);
    return { ...(await known), goal };
  }

  async close(): Promise<void> {
    for (const side of this.#sides.values()) await rm((await side).folder, { recursive: true, force: true });
  }
}

/** JSON is YAML. */
async function load(text: string): Promise<Pick<Side, "desired" | "folder">> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-interleave-"));
  await writeFile(join(folder, "tenon.yaml"), text);
  await writeFile(join(folder, "disk.img.gz"), gzipSync("what a disk holds"));
  const { desired, diagnostics } = await loadFolder(folder);
  if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  return { desired, folder };
}
