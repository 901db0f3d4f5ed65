/** The worlds as loaded projects, with the nameserver that one of them is made from. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { loadFolder } from "../support/account.ts";
import { address, message, soa, startScripted } from "../support/scripted-nameserver.ts";
import type { Loaded } from "./outcome-trial.ts";
import { outcomeWorlds } from "./outcome-worlds.ts";

const MOVED = "moved.example";

/** Nameserver and folders are gone when the test ends. */
export async function loadWorlds(): Promise<readonly Loaded[]> {
  const { host, port } = await startScripted((socket, { id }) => {
    const answers = [soa(MOVED), address(`www.${MOVED}`), soa(MOVED)];
    socket.end(message({ id, question: MOVED, answers }));
  });
  return Promise.all(
    outcomeWorlds(`${host}:${port}`).map(async (world) => {
      const folder = await mkdtemp(join(tmpdir(), "tenon-outcomes-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      for (const [file, content] of Object.entries(world.project)) await writeFile(join(folder, file), content);
      const { desired, diagnostics } = await loadFolder(folder);
      if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
      return { world, desired, folder };
    }),
  );
}
