import { spawnSync } from "node:child_process";
import { connect } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { CrashProxy } from "./crash-proxy.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Sends two requests that make something, and is gone at once. */
const SENDS_AND_DIES = `
  const { connect } = require("node:net");
  const body = (label) => JSON.stringify({ label, region: "us-east" });
  const text = (label) => "POST /v4/vpcs HTTP/1.1\\r\\nhost: service\\r\\nauthorization: Bearer emulator-token\\r\\n" +
    "content-type: application/json\\r\\ncontent-length: " + body(label).length + "\\r\\n\\r\\n" + body(label);
  let left = 2;
  for (const label of ["first", "second"]) {
    const socket = connect(Number(process.argv[1]), "127.0.0.1");
    socket.write(text(label), () => --left === 0 && process.kill(process.pid, "SIGKILL"));
  }
`;

test("what a killed process sent, and the proxy had not read by then, never reaches the service", async () => {
  const emulator = await startEmulator({});
  closing.push(() => emulator.close());
  const proxy = await CrashProxy.start(emulator.port);
  closing.push(() => proxy.close());
  const strike = vi.fn(async () => {});
  proxy.set({ point: "before", isTarget: () => true, strike });
  // Nothing is accepted while this waits.
  const port = new URL(proxy.baseUrl).port;
  expect(spawnSync(process.execPath, ["-e", SENDS_AND_DIES, port]).signal).toBe("SIGKILL");
  await proxy.settled();
  expect(proxy.arrived).toHaveLength(2);
  expect(strike).toHaveBeenCalledTimes(1);
  proxy.set(null);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(proxy.arrived).toEqual([]);
  expect(proxy.reached).toEqual([]);
});

test("an answer to a connection that is gone by then is dropped, and not waited for", async () => {
  const emulator = await startEmulator({});
  closing.push(() => emulator.close());
  const proxy = await CrashProxy.start(emulator.port);
  closing.push(() => proxy.close());
  proxy.set(null);
  proxy.holdMilliseconds = 100;
  const body = JSON.stringify({ label: "first", region: "us-east" });
  const head = `POST /v4/vpcs HTTP/1.1\r\nhost: service\r\nauthorization: Bearer emulator-token\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  const socket = connect(Number(new URL(proxy.baseUrl).port), "127.0.0.1");
  socket.write(`${head}\r\n\r\n${body}`);
  await vi.waitFor(() => expect(proxy.reached).toHaveLength(1));
  socket.destroy();
  await proxy.settled();
  expect(proxy.problems).toEqual([]);
});
