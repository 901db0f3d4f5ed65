/** A request log that cannot be written. */

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { RequestLog } from "../../src/emulator/http.ts";
import { startTested } from "../support/emulator.ts";

const INTERNAL_ERROR = { errors: [{ reason: "Internal server error" }] };
const REQUEST = { method: "GET", path: "/v4/vpcs", query: "", status: 200 };

/** A device that is always full. */
const FULL = "/dev/full";

test.runIf(existsSync(FULL))("once its log is full, the emulator answers 500 and goes on doing so", async () => {
  const { send, control, emulator } = await startTested({ requestLog: FULL, seed: { images: [{ label: "a" }] } });
  const origin = new URL(emulator.baseUrl).origin;
  const requests: [string, string][] = [
    ["POST", "/domains"],
    ["GET", "/vpcs"],
    ["PATCH", "/vpcs"],
    ["GET", "/nothing"],
    ["GET", "/vpcs/%zz"],
    ["PUT", "/../_upload/private/1"],
  ];
  for (const [method, path] of requests) {
    const { status, body, headers } = await send(method, path);
    expect([path, status, body]).toEqual([path, 500, INTERNAL_ERROR]);
    expect(headers.get("content-type")).toContain("application/json");
  }
  expect((await fetch(`${origin}/nothing`)).status).toBe(500);
  expect((await control("GET", "/events")).status).toBe(200);
});

test.runIf(existsSync(FULL))("a fault does not hide that the log is full", async () => {
  const { send } = await startTested({ requestLog: FULL, faults: [{ effect: { type: "html", status: 502 } }] });
  expect(await send("GET", "/vpcs")).toMatchObject({ status: 500, body: INTERNAL_ERROR });
});

test.runIf(existsSync(FULL))("a log says that it failed, and takes no more", () => {
  const log = new RequestLog(FULL);
  expect(log.failed).toBe(false);
  for (let time = 0; time < 2; time += 1) log.add(REQUEST);
  expect([log.failed, log.all().length]).toEqual([true, 2]);
  expect(() => log.close()).not.toThrow();
});

test("a log without a file never fails", () => {
  const log = new RequestLog(null);
  log.add(REQUEST);
  log.close();
  expect(log.failed).toBe(false);
});
