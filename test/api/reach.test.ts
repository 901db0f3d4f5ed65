import { promisify } from "node:util";
import { expect, test } from "vitest";
import { guardedLookup, uploadReach } from "../../src/api/upload.ts";

const FAR = new URL("https://203.0.113.7/v4");

/** What a connection to the name would be made with. */
function addressOf(name: string, service: URL): Promise<unknown> {
  // As of a name that says nothing of itself: where it leads is seen by its address alone.
  return promisify(guardedLookup(uploadReach(service)))(name, {});
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

test("the service's networks are those of its name, too, and the Internet is open to every service", async () => {
  const reach = uploadReach(new URL("http://localhost:1/v4"));
  expect([await reach("127.0.0.1"), await reach("10.0.0.1")]).toEqual([null, "the network 10.0.0.0/8"]);
  for (const host of ["storage.example.com", "198.41.0.4", "[2001:503:ba3e::2:30]", "::ffff:198.41.0.4"]) {
    expect([host, await uploadReach(FAR)(host)]).toEqual([host, null]);
  }
});
