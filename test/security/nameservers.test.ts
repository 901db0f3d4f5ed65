import { createSocket } from "node:dgram";
import { expect, onTestFinished, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { oddService } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const ZONE = (server: string): string => `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
      - { type: NS, target: ${server} }
      - { type: A, name: www, target: 192.0.2.1 }
`;

/** A socket that counts what it gets, and answers nothing. */
async function silentServer(): Promise<{ readonly port: number; readonly seen: Buffer[] }> {
  const seen: Buffer[] = [];
  const socket = createSocket("udp4", (message) => void seen.push(message));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  return { port: socket.address().port, seen };
}

test("no nameserver is asked without --verify, --live or --nameserver, and those given are the only ones asked", async () => {
  const { port, seen } = await silentServer();
  const cwd = await folder({ "tenon.yaml": ZONE("127.0.0.1.nip.example.") });
  expect((await run(["validate"], { cwd })).code).toBe(0);
  expect((await run(["plan"], { cwd, env: envOf(await emulator()) })).code).toBe(0);
  expect(seen).toEqual([]);
  const args = ["zone", "check", "--live", "--nameserver", `127.0.0.1:${port}`, "--verify-timeout", "0s"];
  expect((await run(args, { cwd, env: { TENON_TOKEN: "emulator-token" } })).code).toBe(1);
  expect(seen.length).toBeGreaterThan(0);
  // A question holds the names of the zone, and nothing else of ours.
  for (const message of seen) expect(message.toString("latin1")).not.toContain("emulator-token");
  for (const message of seen) expect(message.length).toBeLessThan(512);
});

test("no service and no path of the web is asked for what a zone names: a nameserver is asked over DNS alone", async () => {
  const service = await oddService((_, response) => response.end("{}"));
  const { port } = new URL(service.baseUrl);
  const cwd = await folder({ "tenon.yaml": ZONE("ns1.example.com.") });
  const args = ["zone", "check", "--live", "--nameserver", `127.0.0.1:${port}`, "--verify-timeout", "0s"];
  expect((await run(args, { cwd })).code).not.toBe(0);
  expect(service.requests).toEqual([]);
});
