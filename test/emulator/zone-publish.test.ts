/** Zone files that are rendered some time after a change. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { assumption } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";

const MASTER = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com" };
const MIDNIGHT = Date.UTC(2026, 0, 2);

interface Published extends Tested {
  readonly path: string;
  add(name: string): Promise<number>;
  /** The first names of the shown lines of A records; null: nothing is rendered. */
  names(path?: string): Promise<string[] | null>;
}

/** By a clock that only moves when it is advanced; rendered after 100 seconds. */
async function withZone(options: EmulatorOptions = {}): Promise<Published> {
  const tested = await startTested({ zoneRenderSeconds: 100, now: () => MIDNIGHT, ...options });
  const { body } = await tested.send("POST", "/domains", MASTER);
  const path = `/domains/${body.id}`;
  return {
    ...tested,
    path,
    add: async (name) => {
      const answer = await tested.send("POST", `${path}/records`, { type: "A", name, target: "192.0.2.1" });
      expect(answer.status).toBe(200);
      return answer.body.id;
    },
    names: (other = path) => names(tested, other),
  };
}

async function names({ send }: Tested, path: string): Promise<string[] | null> {
  const lines: string[] = (await send("GET", `${path}/zone-file`)).body.zone_file;
  if (lines.length === 0) return null;
  return lines.filter((line) => line.includes("\tA\t")).map((line) => line.split("\t")[0] ?? "");
}

test("a new zone has no lines until it is rendered, with all that was added until then", async () => {
  const { add, names, control } = await withZone();
  expect(await names()).toBeNull();
  await add("a");
  await control("POST", "/clock", { advance_seconds: 99 });
  await add("b");
  expect(await names()).toBeNull();
  await control("POST", "/clock", { advance_seconds: 1 });
  expect(await names()).toEqual(["a", "b"]);
});

test("a change is seen when it is due, and the last rendered lines until then", async () => {
  const { send, path, add, names, emulator } = await withZone();
  const a = await add("a");
  await emulator.advanceClock(100);
  await send("PUT", `${path}/records/${a}`, { name: "c" });
  expect(await names()).toEqual(["a"]);
  await emulator.advanceClock(99);
  expect(await names()).toEqual(["a"]);
  await emulator.advanceClock(1);
  expect(await names()).toEqual(["c"]);
  await send("DELETE", `${path}/records/${a}`);
  expect(await names()).toEqual(["c"]);
  await emulator.advanceClock(100);
  expect(await names()).toEqual([]);
});

assumption(
  "With `zoneRenderSeconds` a zone is rendered so long after the first change that is not yet in its file, with all that was made until then.",
  async () => {
    const { add, names, emulator } = await withZone();
    await add("a");
    await emulator.advanceClock(150);
    await add("b");
    expect(await names()).toEqual(["a"]);
    await emulator.advanceClock(50);
    await add("c");
    await emulator.advanceClock(50);
    expect(await names()).toEqual(["a", "b", "c"]);
  },
);

test("the serial is that of the rendering", async () => {
  const { send, path, add, emulator } = await withZone();
  const serial = async (): Promise<number> =>
    Number((await send("GET", `${path}/zone-file`)).body.zone_file[2].split(" ")[2]);
  await emulator.advanceClock(100);
  const first = await serial();
  await add("a");
  expect(await serial()).toBe(first);
  await emulator.advanceClock(100);
  expect(await serial()).toBe(MIDNIGHT / 1000 + 100);
});

test("a domain that is disabled, or renamed, goes on as it was until it is rendered", async () => {
  const { send, path, add, names, emulator } = await withZone();
  await add("a");
  await emulator.advanceClock(100);
  await send("PUT", path, { status: "disabled", domain: "other.test" });
  expect(await names()).toEqual(["a"]);
  expect((await send("GET", `${path}/zone-file`)).body.zone_file[0]).toContain("example.com");
  await emulator.advanceClock(100);
  expect(await names()).toBeNull();
  await send("PUT", path, { status: "active" });
  expect(await names()).toBeNull();
  await emulator.advanceClock(100);
  expect((await send("GET", `${path}/zone-file`)).body.zone_file[0]).toContain("other.test");
});

test("a request that is refused makes nothing due", async () => {
  const { send, path, add, names, emulator } = await withZone();
  await add("a");
  await emulator.advanceClock(100);
  expect((await send("PUT", path, { ttl_sec: "no" })).status).toBe(400);
  expect((await send("POST", `${path}/records`, { type: "A", target: "no" })).status).toBe(400);
  expect((await send("DELETE", `${path}/records/1`)).status).toBe(404);
  await emulator.advanceClock(50);
  await add("b");
  await emulator.advanceClock(50);
  expect(await names()).toEqual(["a"]);
});

test("a clone is a new zone, and so is a domain whose name was in use before", async () => {
  const { send, path, add, names, emulator } = await withZone();
  await add("a");
  await emulator.advanceClock(100);
  const clone = `/domains/${(await send("POST", `${path}/clone`, { domain: "clone.test" })).body.id}`;
  expect([await names(), await names(clone)]).toEqual([["a"], null]);
  expect((await send("DELETE", path)).status).toBe(200);
  expect((await send("GET", `${path}/zone-file`)).status).toBe(404);
  const again = `/domains/${(await send("POST", "/domains", MASTER)).body.id}`;
  expect(await names(again)).toBeNull();
  await emulator.advanceClock(100);
  expect([await names(again), await names(clone)]).toEqual([[], ["a"]]);
});

assumption("With `zoneRenderSeconds` what a seed holds is rendered, and so is all after a restart.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenon-zone-publish-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const seeded = [{ id: 9, domain: "seeded.test", records: [{ type: "A" as const, name: "s", target: "192.0.2.1" }] }];
  const options = { data: join(folder, "account.log"), seed: { domains: seeded } };
  const first = await withZone(options);
  await first.add("a");
  expect([await first.names("/domains/9"), await first.names()]).toEqual([["s"], null]);
  await first.emulator.close();
  const again = await startTested({ zoneRenderSeconds: 100, data: options.data, now: () => MIDNIGHT });
  expect([await names(again, "/domains/9"), await names(again, first.path)]).toEqual([["s"], ["a"]]);
});

test("without the option a change is seen at once", async () => {
  const { add, names } = await withZone({ zoneRenderSeconds: 0 });
  await add("a");
  expect(await names()).toEqual(["a"]);
});
