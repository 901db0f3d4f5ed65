/** What the journal of a data file promises to whoever waits for it. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Journal } from "../../src/emulator/data-file.ts";
import { Store } from "../../src/emulator/store.ts";

async function journal(): Promise<{ store: Store; journal: Journal; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-journal-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = new Store();
  store.keepChanges();
  const path = join(folder, "data");
  return { store, journal: await Journal.create(path, store), path };
}

test("what is appended in the moment in which the last change is on the disk is written, too", async () => {
  const { store, journal: kept, path } = await journal();
  for (let count = 1; count <= 3; count += 1) {
    store.nextId("record");
    await kept.append(store.takeChanges());
  }
  await kept.close();
  expect((await readFile(path, "utf8")).split("\n").filter((line) => line.includes("record"))).toHaveLength(3);
});

test("after a failure each further change is refused, and nobody waits for ever", async () => {
  const { store, journal: kept } = await journal();
  await kept.close();
  for (let count = 1; count <= 3; count += 1) {
    store.nextId("record");
    await expect(kept.append(store.takeChanges())).rejects.toThrow();
  }
  expect(kept.failed).toBe(true);
});
