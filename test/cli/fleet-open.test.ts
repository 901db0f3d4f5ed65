/** The fleet file of a worker is read again when it is another one, and only then. */

import { mkdir, rename, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FleetSource } from "../../src/cli/fleet-open.ts";
import { interruptOf } from "../../src/cli/interrupt.ts";
import { openTerminal } from "../../src/cli/terminal.ts";
import { folder } from "./run.ts";

function fleet(name: string): string {
  return `fleet: 1\naccounts: [{ name: ${name}, project: ., service: linode, token: { env: A } }]\n`;
}

/** The second is the fleet as it is held: the same object as long as the file is not read again. */
async function opened(source: FleetSource): Promise<readonly [string, object]> {
  const { ok, ...rest } = await source.open();
  if (!("fleet" in rest)) throw new Error(`not opened: ${ok}`);
  return [rest.fleet.accounts.map(({ name }) => name).join(" "), rest.fleet];
}

/** Until the clock of the file system tells one writing of the file from the next. */
async function settled(file: string): Promise<void> {
  while (Date.now() - (await stat(file)).ctimeMs < 2_100) await new Promise((resolve) => setTimeout(resolve, 50));
}

test("a file is read again when it was written, also with the size and time it had, or is another file", async () => {
  const path = await folder({ "fleet.yaml": fleet("a1") });
  const file = join(path, "fleet.yaml");
  const source = new FleetSource(openTerminal(process, interruptOf(process)), path, {});
  const [, young] = await opened(source);
  // It may be written once more at the time that it has now.
  expect((await opened(source))[1]).not.toBe(young);
  await settled(file);
  const [name, held] = await opened(source);
  expect([name, (await opened(source))[1]]).toEqual(["a1", held]);
  expect((await opened(source))[1]).toBe(held);
  const { atime, mtime } = await stat(file);
  await writeFile(file, fleet("a2"));
  await utimes(file, atime, mtime);
  expect((await opened(source))[0]).toBe("a2");
  await settled(file);
  expect((await opened(source))[0]).toBe("a2");
  await writeFile(`${file}.new`, fleet("a3"));
  await rename(`${file}.new`, file);
  expect((await opened(source))[0]).toBe("a3");
  await settled(file);
  expect((await opened(source))[0]).toBe("a3");
  await writeFile(file, "fleet: 1\n");
  expect((await source.open()).ok).toBe(false);
});

test("a file behind a link is read again when it was written, or a link to it or to its folder leads elsewhere", async () => {
  const path = await folder({ "one.yaml": fleet("a1"), "fleet.yaml": "" });
  for (const [name, account] of [
    ["v1", "b1"],
    ["v2", "b2"],
  ] as const) {
    await mkdir(join(path, name));
    await writeFile(join(path, name, "fleet.yaml"), fleet(account));
  }
  const place = async (target: string, link: string): Promise<void> => {
    await symlink(target, join(path, `${link}.new`));
    await rename(join(path, `${link}.new`), join(path, link));
  };
  await place("one.yaml", "fleet.yaml");
  await place("v1", "data");
  await settled(join(path, "v2", "fleet.yaml"));
  const terminal = openTerminal(process, interruptOf(process));
  const [source, inFolder] = [new FleetSource(terminal, path, {}), new FleetSource(terminal, join(path, "data"), {})];
  const [name, held] = await opened(source);
  expect([name, (await opened(source))[1]]).toEqual(["a1", held]);
  expect((await opened(inFolder))[0]).toBe("b1");
  // As Kubernetes changes the files of a ConfigMap.
  await place("v2", "data");
  expect((await opened(inFolder))[0]).toBe("b2");
  await place("v2/fleet.yaml", "fleet.yaml");
  expect((await opened(source))[0]).toBe("b2");
  await writeFile(join(path, "v2", "fleet.yaml"), fleet("b3"));
  expect([(await opened(source))[0], (await opened(inFolder))[0]]).toEqual(["b3", "b3"]);
});
