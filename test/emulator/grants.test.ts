/** What a token may change, kept only as long as there is something to change. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { tested } from "../support/emulator.ts";

test("the grants of what is deleted or has run out of time go with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, "account.log");
  const emulator = await startEmulator({
    data,
    seed: {
      vpcs: [7, 8].map((id) => ({ id, label: `v${id}`, region: "us-east" })),
      images: ["private/1", "private/2"].map((id) => ({ id, label: id })),
      disks: [{ id: 5, label: "boot", size: 100 }],
      tokens: ["one", "two"].map((token) => ({
        token,
        username: token,
        grants: {
          add_vpc: true,
          vpcs: { v7: "read_write", v8: "read_only" },
          images: { "private/1": "read_write", "private/2": "read_only" },
        },
      })),
    },
  });
  const { send } = tested(emulator);
  const one = { authorization: "Bearer one" };
  expect((await send("DELETE", "/vpcs/7", undefined, one)).status).toBe(200);
  expect((await send("DELETE", "/images/private%2F1", undefined, one)).status).toBe(200);
  const made = await send("POST", "/vpcs", { label: "new", region: "us-east" }, one);
  expect((await send("DELETE", `/vpcs/${made.body.id}`, undefined, one)).status).toBe(200);
  await send("POST", "/images/upload", { label: "never", region: "us-east" }, one);
  const kept = (await send("POST", "/images", { disk_id: 5 }, one)).body.id;
  await emulator.advanceClock(25 * 3600);
  await send("GET", "/images", undefined, one);
  await emulator.close();
  await (await startEmulator({ data })).close();
  const grants = [...readFileSync(data, "utf8").matchAll(/"grants":(\{.*?\}\})/g)].map(([, text = ""]) =>
    JSON.parse(text),
  );
  const left = { add_vpc: true, vpcs: { 8: "read_only" } };
  expect(grants).toEqual([
    { ...left, images: { "private/2": "read_only", [kept]: "read_write" } },
    { ...left, images: { "private/2": "read_only" } },
  ]);
});
