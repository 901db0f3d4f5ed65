import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { guardedLookup, ServiceNetworks } from "../../src/api/upload.ts";

const FAR = new URL("https://203.0.113.7/v4");

/** What a connection to the name would be made with. */
function addressOf(name: string, service: URL): Promise<unknown> {
  // As of a name that says nothing of itself: where it leads is seen by its address alone.
  return promisify(guardedLookup(new ServiceNetworks(service).reach))(name, {});
}

test("a name is refused by the address that it leads to, unless the service is there", async () => {
  await expect(addressOf("localhost", FAR)).rejects.toMatchObject({
    code: "FORBIDDEN_ADDRESS",
    message: "this machine",
  });
  await expect(addressOf("10.0.0.5", FAR)).rejects.toMatchObject({ message: "the network 10.0.0.0/8" });
  expect(await addressOf("localhost", new URL("http://127.0.0.1:1/v4"))).toMatch(/^(127\.0\.0\.1|::1)$/);
  expect(await addressOf("10.0.0.5", new URL("https://10.9.9.9/v4"))).toBe("10.0.0.5");
});

test("what a name cannot be resolved to is the error of the system", async () => {
  await expect(addressOf("x..invalid", FAR)).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
});

test("the service's networks are those of its base URL and of its connections, and the Internet is open to every service", () => {
  const { reach } = new ServiceNetworks(new URL("http://localhost:1/v4"));
  expect([reach("127.0.0.1"), reach("10.0.0.1")]).toEqual([null, "the network 10.0.0.0/8"]);
  for (const host of ["storage.example.com", "198.41.0.4", "[2001:503:ba3e::2:30]", "::ffff:198.41.0.4"]) {
    expect([host, new ServiceNetworks(FAR).reach(host)]).toEqual([host, null]);
  }
  const named = new ServiceNetworks(new URL("https://api.corp.example/v4"));
  expect(named.reach("10.0.0.5")).toBe("the network 10.0.0.0/8");
  named.connected("203.0.113.7");
  expect(named.reach("10.0.0.5")).toBe("the network 10.0.0.0/8");
  named.connected("::ffff:10.1.1.1");
  expect([named.reach("10.0.0.5"), named.reach("192.168.0.1"), named.reach("localhost")]).toEqual([
    null,
    "the network 192.168.0.0/16",
    "this machine",
  ]);
});

test("what a name resolves to opens no network to uploads", () => {
  // Names of this machine, beside those that are known to be, in the place of one that its owner lets lead here.
  const lines = existsSync("/etc/hosts") ? readFileSync("/etc/hosts", "utf8").split("\n") : [];
  const leadHere = lines.filter((line) => /^(?:127\.|::1\s)/.test(line)).flatMap((line) => line.split(/\s+/).slice(1));
  const names = leadHere.filter((name) => /^[a-z0-9.-]+$/.test(name) && name !== "localhost" && name !== hostname());
  for (const name of [...names, "api.example.com"]) {
    const { reach } = new ServiceNetworks(new URL(`https://${name}/v4`));
    const found = [reach("127.0.0.1"), reach("169.254.169.254")];
    expect([name, ...found]).toEqual([name, "this machine", "the network linkLocal"]);
  }
});
