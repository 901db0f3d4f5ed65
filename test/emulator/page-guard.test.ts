import { expect, test } from "vitest";
import { asHost, hostName, refusePage } from "../../src/emulator/http.ts";

function isAnswered(host: string, localAddress: string, names: readonly string[] = []): boolean {
  return refusePage({ headers: { host }, socket: { localAddress } }, new Set(names)) === null;
}

test("the address that was reached is a host, in every spelling of it, and no other address is", () => {
  expect(isAnswered("172.17.0.2:8080", "::ffff:172.17.0.2")).toBe(true);
  expect(isAnswered("172.17.0.2", "172.17.0.2")).toBe(true);
  expect(isAnswered("[FD00:0:0::2]:8080", "fd00::2")).toBe(true);
  expect(isAnswered("172.17.0.3:8080", "172.17.0.2")).toBe(false);
  expect(isAnswered("[fd00::3]", "fd00::2")).toBe(false);
});

test("a name is taken in any letter case, with any port and with a final dot, and whole", () => {
  for (const host of ["emulator", "EMULATOR:1", "emulator.", "emulator.:80"]) {
    expect([host, isAnswered(host, "172.17.0.2", ["emulator"])]).toEqual([host, true]);
  }
  for (const host of ["emulator.example", "xemulator", "emulator@x", "emulator/x", "", "[emulator]"]) {
    expect([host, isAnswered(host, "172.17.0.2", ["emulator"])]).toEqual([host, false]);
  }
});

test("an address stands in a URL as it must", () => {
  expect(["127.0.0.1", "::1", "::ffff:10.0.0.1"].map(asHost)).toEqual(["127.0.0.1", "[::1]", "10.0.0.1"]);
  expect([hostName("LocalHost.:80"), hostName("[0:0::1]"), hostName("a b")]).toEqual(["localhost", "[::1]", null]);
});
