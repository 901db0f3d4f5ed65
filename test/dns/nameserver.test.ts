/** Which servers are asked: those that were given, those of a zone, those of its parent. */

import { describe, expect, it } from "vitest";
import { givenServers, parentServers, type SystemResolver, zoneServers } from "../../src/dns/nameserver.ts";

describe("the servers of a zone", () => {
  const resolver: SystemResolver = {
    nameservers: async (zone) =>
      zone === "example.com" || zone === "com"
        ? ["NS2.example.net.", "ns1.example.net", "gone.example.net"]
        : Promise.reject({ code: "ENODATA" }),
    addresses: async (host) =>
      ({ "ns1.example.net": ["2001:db8::1", "192.0.2.1"], "ns2.example.net": ["2001:db8::2"] })[host] ??
      Promise.reject({ code: "ENOTFOUND" }),
  };

  it("are those of its NS, by IPv4 where there is one", async () => {
    expect(await zoneServers("example.com", resolver)).toEqual({
      ok: true,
      servers: [
        { label: "ns1.example.net (192.0.2.1)", address: { host: "192.0.2.1", port: 53 } },
        { label: "ns2.example.net (2001:db8::2)", address: { host: "2001:db8::2", port: 53 } },
      ],
      unasked: ["no address of the name server gone.example.net is found (ENOTFOUND)"],
    });
  });

  it("of the parent are those of the nearest zone above that has some", async () => {
    expect(await parentServers("a.b.com", resolver)).toMatchObject({
      ok: true,
      servers: [{ address: { host: "192.0.2.1" } }, {}],
    });
    expect(await parentServers("org", resolver)).toEqual({ ok: false, detail: "org has no parent but the root" });
    expect(await parentServers("x.org", resolver)).toMatchObject({
      ok: false,
      detail: expect.stringContaining("ENODATA"),
    });
  });

  it("may be given, as addresses or names, with or without a port", async () => {
    const texts = ["192.0.2.9", "192.0.2.9", "[2001:db8::9]:5353", "ns1.example.net:54", "2001:db8::9"];
    const found = await givenServers(texts, resolver);
    expect(found.ok ? found.servers.map(({ label }) => label) : []).toEqual([
      "192.0.2.9",
      "[2001:db8::9]:5353",
      "ns1.example.net:54 (192.0.2.1)",
      "2001:db8::9",
    ]);
    expect(await givenServers(["10.1"], resolver)).toMatchObject({ ok: false });
    expect(await givenServers(["nobody.example.net"], resolver)).toEqual({
      ok: false,
      detail: "no address of the name server nobody.example.net is found (ENOTFOUND)",
    });
  });

  it("may be given up to sixteen", async () => {
    const texts = Array.from({ length: 17 }, (_, index) => `192.0.2.${index}`);
    expect(await givenServers(texts, resolver)).toEqual({
      ok: false,
      detail: "17 addresses of name servers are given, and 16 is the limit",
    });
    expect(await givenServers(texts.slice(1), resolver)).toMatchObject({ ok: true });
  });

  it("are sixteen at most, and how many more there are is said", async () => {
    for (const [names, each] of [
      [20, 1],
      [5, 4],
    ] as const) {
      const many: SystemResolver = {
        nameservers: async () => Array.from({ length: names }, (_, index) => `ns${index}.example.net`),
        addresses: async (host) => Array.from({ length: each }, (_, at) => `192.0.${at}.${/\d+/.exec(host)?.[0]}`),
      };
      const found = await zoneServers("example.com", many);
      expect(found).toMatchObject({
        ok: true,
        unasked: ["4 more of its name servers are not asked: 16 is the limit"],
      });
      expect(found.ok ? found.servers.length : 0).toBe(16);
    }
  });

  it("are looked up for sixteen names at most, whatever a hostile zone lists", async () => {
    const asked: string[] = [];
    const hostile: SystemResolver = {
      nameservers: async () => Array.from({ length: 3_800 }, (_, index) => `ns${index}.victim.example`),
      addresses: async (host) => {
        asked.push(host);
        return Promise.reject({ code: "ENOTFOUND" });
      },
    };
    expect((await zoneServers("example.com", hostile)).ok).toBe(false);
    expect(asked).toHaveLength(16);
  });
});
