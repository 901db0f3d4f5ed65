/** Work that is done after its request was given up on, uploads, and faults that come and go while the emulator runs. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type Fault, startEmulator } from "../../src/emulator/index.ts";
import { assumption } from "../support/emulated.ts";
import { startTested, type Tested, tested } from "../support/emulator.ts";
import { type RawAnswer, rawExchange } from "./raw-exchange.ts";

const VPC = JSON.stringify({ label: "late", region: "us-east" });
const POST_VPC = { method: "POST", path: "/v4/vpcs", body: VPC };
const DATA = gzipSync(Buffer.alloc(3 * 1024 ** 2, 7));

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "tenon-faults-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function countVpcs({ send }: Tested): Promise<number> {
  return (await send("GET", "/vpcs")).body.results;
}

test("a late request is answered with 504 first, and done afterwards", async () => {
  const effect = { type: "late", delayMilliseconds: 400 } as const;
  let release = (): void => {};
  const waitForLate = (): Promise<void> =>
    new Promise((resolve) => {
      release = resolve;
    });
  const emulator = await startEmulator({ faults: [{ effect, method: "POST" }] }, { waitForLate });
  onTestFinished(() => emulator.close());
  const answer = await rawExchange(emulator.port, POST_VPC);
  expect([answer.status, answer.body]).toEqual([504, expect.stringMatching(/^<html>.*504 Gateway Timeout/s)]);
  expect(await countVpcs(tested(emulator))).toBe(0);
  expect(emulator.requests[0]).toMatchObject({ method: "POST", status: 504, fault: "late" });
  release();
  await expect.poll(() => countVpcs(tested(emulator)), { timeout: 10_000 }).toBe(1);
});

test("a late request can also be dropped, and is done though its connection is gone", async () => {
  const effect = { type: "late", delayMilliseconds: 200, status: "drop" } as const;
  const tested = await startTested({ faults: [{ effect, method: "POST" }] });
  const answer = await rawExchange(tested.emulator.port, POST_VPC);
  expect([answer.text, answer.reset, await countVpcs(tested)]).toEqual(["", true, 0]);
  expect(tested.emulator.requests[0]).toMatchObject({ status: 0, fault: "late" });
  await expect.poll(() => countVpcs(tested), { timeout: 10_000 }).toBe(1);
});

test("late work can wait for something else than time", async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waits: number[] = [];
  const waitForLate = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds);
    return released;
  };
  const effect = { type: "late", delayMilliseconds: 1 } as const;
  const emulator = await startEmulator({ faults: [{ effect, method: "POST" }] }, { waitForLate });
  onTestFinished(() => emulator.close());
  await rawExchange(emulator.port, POST_VPC);
  await delay(50);
  expect([waits, await countVpcs(tested(emulator))]).toEqual([[1], 0]);
  release();
  await expect.poll(() => countVpcs(tested(emulator))).toBe(1);
});

test("late work goes on from what is there by then, and may be refused", async () => {
  const effect = { type: "late", delayMilliseconds: 200 } as const;
  const tested = await startTested({ uniqueLabels: true, faults: [{ effect, method: "POST", nth: [1] }] });
  expect((await rawExchange(tested.emulator.port, POST_VPC)).status).toBe(504);
  const second = await rawExchange(tested.emulator.port, POST_VPC);
  expect(second.status).toBe(200);
  await delay(400);
  expect(await countVpcs(tested)).toBe(1);
  const other = await startTested({
    faults: [{ effect, method: "PUT" }],
    seed: { vpcs: [{ id: 1, label: "a" }] } as never,
  });
  expect((await other.send("GET", "/vpcs/1")).status).toBe(200);
  const put = { method: "PUT", path: "/v4/vpcs/1", body: JSON.stringify({ label: "b" }) };
  expect((await rawExchange(other.emulator.port, put)).status).toBe(504);
  expect((await other.send("DELETE", "/vpcs/1")).status).toBe(200);
  await delay(400);
  expect(await countVpcs(other)).toBe(0);
});

test("an emulator that is closed waits for late work, and the data file has it", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "account.log");
  const requestLog = join(folder, "requests.jsonl");
  const effect = { type: "late", delayMilliseconds: 500, status: "drop" } as const;
  const emulator = await startEmulator({ data, requestLog, faults: [{ effect }] });
  await rawExchange(emulator.port, POST_VPC);
  expect(readFileSync(data, "utf8")).not.toContain("us-east");
  await emulator.close();
  expect(readFileSync(data, "utf8")).toContain("us-east");
  expect(JSON.parse(readFileSync(requestLog, "utf8"))).toEqual({
    method: "POST",
    path: "/v4/vpcs",
    query: "",
    status: 0,
    fault: "late",
  });
  expect(await countVpcs(await startTested({ data }))).toBe(1);
});

async function upload(fault: Fault): Promise<{ answer: RawAnswer; tested: Tested; status: () => Promise<string> }> {
  const tested = await startTested({ faults: [fault] });
  const created = await tested.send("POST", "/images/upload", { label: "i", region: "us-east" });
  const target = new URL(created.body.upload_to);
  const headers = { "content-type": "application/octet-stream" };
  const path = target.pathname + target.search;
  const answer = await rawExchange(tested.emulator.port, { method: "PUT", path, body: DATA, headers });
  const { id } = created.body.image;
  // Reads move an image on, but only one that has its data.
  const status = async (): Promise<string> => {
    for (let read = 0; read < 5; read += 1) await tested.send("GET", `/images/${id}`);
    return (await tested.send("GET", `/images/${id}`)).body.status;
  };
  return { answer, tested, status };
}

test("uploads meet faults as requests do", async () => {
  const path = "/_upload/*";
  const busy = await upload({ effect: { type: "status", status: 503 }, path });
  expect([busy.answer.status, await busy.status()]).toEqual([503, "pending_upload"]);
  expect(busy.tested.emulator.requests.find(({ method }) => method === "PUT")).toMatchObject({ fault: "status" });
  const before = await upload({ effect: { type: "drop-before" }, path });
  expect([before.answer.text, before.answer.reset, await before.status()]).toEqual(["", true, "pending_upload"]);
  const after = await upload({ effect: { type: "drop-after" }, path });
  expect([after.answer.text, after.answer.reset, await after.status()]).toEqual(["", true, "available"]);
  const late = await upload({ effect: { type: "late", delayMilliseconds: 800 }, path });
  expect([late.answer.status, await late.status()]).toEqual([504, "pending_upload"]);
  await expect.poll(late.status, { timeout: 10_000 }).toBe("available");
});

assumption("A fault without a path meets uploads too, and unknown paths; nothing below `/_emulator/`.", async () => {
  const { answer } = await upload({ effect: { type: "busy" }, method: "PUT" });
  expect(answer.status).toBe(400);
  const { send, control } = await startTested({ faults: [{ effect: { type: "status", status: 500 } }] });
  expect((await send("GET", "/nothing")).status).toBe(500);
  expect((await control("GET", "/requests")).status).toBe(200);
});

assumption("Requests that the rate limit refuses meet no fault, and are not counted for one.", async () => {
  const faults = [{ effect: { type: "busy" }, nth: [2] }] as const;
  const tested = await startTested({ faults, rateLimit: { requests: 1, seconds: 100_000 } });
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) statuses.push((await tested.send("GET", "/vpcs")).status);
  expect(statuses).toEqual([200, 429, 429]);
  expect(tested.emulator.requests.some(({ fault }) => fault !== undefined)).toBe(false);
});

test("faults come before credentials are looked at, and see the path decoded and without its query", async () => {
  const { emulator, send } = await startTested({ faults: [{ effect: { type: "busy" }, path: "/images/private/7" }] });
  const headers = { authorization: "" };
  expect((await send("GET", "/images/private%2F7?page=1", undefined, headers)).status).toBe(400);
  expect((await send("GET", "/images/private/7", undefined, headers)).status).toBe(400);
  expect((await send("GET", "/images/private/77", undefined, headers)).status).toBe(401);
  expect(emulator.requests.map(({ fault }) => fault)).toEqual(["busy", "busy", undefined]);
});

test("faults are replaced, counted anew and ended through the control address", async () => {
  const { control, send } = await startTested({ faults: [{ effect: { type: "busy" } }] });
  const statuses = async (count: number): Promise<number[]> => {
    const all: number[] = [];
    for (let request = 0; request < count; request += 1) all.push((await send("GET", "/vpcs")).status);
    return all;
  };
  expect(await statuses(1)).toEqual([400]);
  const replaced = { faults: ["status=503,nth=2", "status=500,nth=3"] };
  for (let time = 0; time < 2; time += 1) {
    expect((await control("POST", "/faults", replaced)).status).toBe(200);
    expect(await statuses(4)).toEqual([200, 503, 500, 200]);
  }
  const sequences: string[] = [];
  for (const seed of [5, 5, 6, undefined, 1]) {
    await control("POST", "/faults", { faults: ["status=500,rate=0.5"], ...(seed === undefined ? {} : { seed }) });
    sequences.push((await statuses(64)).join());
  }
  expect(sequences[1]).toBe(sequences[0]);
  expect(sequences[2]).not.toBe(sequences[0]);
  expect(sequences[3]).toBe(sequences[4]);
  const refused = await control("POST", "/faults", { faults: ["busy", "status=1"] });
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    [{ field: "faults[1]", reason: expect.stringContaining("as in status=503") }],
  ]);
  for (const body of [
    {},
    { faults: "busy" },
    { faults: [1] },
    { faults: [], seed: -1 },
    { faults: [], seed: 2 ** 32 },
  ]) {
    expect((await control("POST", "/faults", body)).status, JSON.stringify(body)).toBe(400);
  }
  expect((await statuses(64)).join(), "what is refused changes nothing").toContain("500");
  await control("POST", "/faults", { faults: [] });
  expect(new Set(await statuses(20))).toEqual(new Set([200]));
});
