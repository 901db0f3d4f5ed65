/** What a parent says of a zone, beside what the zone's own servers say. */

import { describe, expect, it } from "vitest";
import { renderVerificationText } from "../../src/render/verification.ts";
import { type Asking, startAsked } from "../support/scripted-asked.ts";
import { address } from "../support/scripted-nameserver.ts";
import { FastClock, holder, hosts, named, verify } from "./support.ts";

describe("the delegation", () => {
  const NAMES = ["ns1.example.com", "ns2.example.net"];

  async function check(parent: (asking: Asking) => void, child: (asking: Asking) => void): Promise<string[]> {
    const [above, below] = [await startAsked(parent), await startAsked(child)];
    const { delegation } = await verify({
      zones: [{ ...hosts(0), zone: "example.com" }],
      nameservers: [named(below, "child")],
      delegation: { wanted: true, parents: [named(above, "parent")] },
    });
    return delegation.map(({ code, server, detail }) => `${code} at ${server}: ${detail}`);
  }

  const refers = ({ send, reply }: Asking, names = NAMES, glue = "192.0.2.53"): void =>
    send(
      reply({
        isAuthoritative: false,
        authorities: names.map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })),
        additionals: glue === "" ? [] : [address("ns1.example.com", glue)],
      }),
    );

  /** A delegation of whatever is asked for. */
  const refersTo = ({ text, send, reply }: Asking): void => {
    const [name = ""] = text.split(" ");
    send(
      reply({
        isAuthoritative: false,
        authorities: [{ type: "NS", name, ttl: 60, data: "ns.example.net" }],
      }),
    );
  };

  const holds = (asking: Asking): void => {
    const { text, send, reply } = asking;
    if (text === "example.com NS")
      send(reply({ answers: NAMES.map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })) }));
    else if (text === "ns1.example.com A") send(reply({ answers: [address("ns1.example.com", "192.0.2.53")] }));
    else if (text.endsWith("AAAA")) send(reply());
    else holder(asking);
  };

  it("is in order", async () => {
    expect(await check(refers, holds)).toEqual([]);
  });

  it("is told with twenty names of each side, and how many more there are", async () => {
    const names = Array.from({ length: 200 }, (_, index) => `n${String(index).padStart(3, "0")}.example.net`);
    const flooding = ({ send, reply }: Asking): void =>
      send(reply({ answers: names.map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })) }));
    expect(await check((asking) => refers(asking, ["ns1.example.net"], ""), flooding)).toEqual([
      `servers-differ at parent: The servers of example.com differ: only the parent names ns1.example.net; only the zone names ${names.slice(0, 20).join(", ")} and 180 more.`,
    ]);
  });

  it("is told with names up to a length, and twenty problems of a zone, whatever sixteen servers say", async () => {
    const long = (server: number) =>
      Array.from({ length: 30 }, (_, index) =>
        [`s${server}n${index}`, "x".repeat(60), "y".repeat(60), "z".repeat(60), "example"].join("."),
      );
    const below = await Promise.all(
      Array.from({ length: 16 }, (_, server) =>
        startAsked(({ send, reply }) =>
          send(reply({ answers: long(server).map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })) })),
        ),
      ),
    );
    const above = await Promise.all(
      [1, 2, 3].map((parent) => startAsked((asking) => refers(asking, long(-parent), ""))),
    );
    const { delegation } = await verify({
      zones: [{ ...hosts(0), zone: "example.com" }],
      nameservers: below.map((server, index) => named(server, `child${index}`)),
      delegation: { wanted: true, parents: above.map((server, index) => named(server, `parent${index}`)) },
    });
    expect(delegation).toHaveLength(21);
    expect(delegation.at(-1)?.detail).toMatch(/^\d+ more problems of example\.com are not listed\.$/);
    for (const { detail } of delegation) expect(detail.length).toBeLessThan(2_500);
    const shown = renderVerificationText(
      { ...(await verify({ zones: [] })), delegation: Array.from({ length: 300 }, () => delegation[0] as never) },
      { colour: false, width: 80 },
    );
    expect(shown).toContain("… and 200 more.\n");
    expect(shown.match(/^servers-differ /gm)).toHaveLength(100);
  });

  it("compares no thousands of addresses of a host, on either side", async () => {
    const addresses = Array.from({ length: 150 }, (_, index) => address("ns1.example.com", `10.0.0.${index}`));
    const flooding = (asking: Asking): void => {
      if (asking.text === "ns1.example.com A") asking.send(asking.reply({ answers: addresses }));
      else holds(asking);
    };
    expect(await check(refers, flooding)).toEqual([
      "unanswered at child: The server tells more than 100 addresses of ns1.example.com.",
    ]);
    const floodingAbove = ({ send, reply }: Asking): void =>
      send(
        reply({
          ...{ isAuthoritative: false, additionals: addresses },
          authorities: NAMES.map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })),
        }),
      );
    expect(await check(floodingAbove, holds)).toEqual([
      "glue-differs at parent: For ns1.example.com the parent has more than 100 addresses.",
    ]);
  });

  it("is not there where the answer is NXDOMAIN, or in another class", async () => {
    const denied = ({ send, reply }: Asking): void =>
      send(
        reply({
          ...{ isAuthoritative: false, rcode: 3 },
          authorities: NAMES.map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })),
        }),
      );
    expect(await check(denied, holds)).toEqual([
      "not-delegated at parent: The parent knows no delegation of example.com.",
    ]);
    const chaos = (asking: Asking): void => {
      const answers = NAMES.map((data) => ({ type: "NS", name: "example.com", ttl: 60, class: "CH", data }) as const);
      if (asking.text === "example.com NS") asking.send(asking.reply({ answers }));
      else holds(asking);
    };
    expect(await check(refers, chaos)).toEqual([
      "lame at child: The server does not answer for example.com: it holds no such zone.",
    ]);
  });

  it("is asked over TCP where UDP does not do", async () => {
    const cut = (asking: Asking): void =>
      asking.transport === "udp" ? asking.send(asking.reply({ isTruncated: true })) : refers(asking);
    expect(await check(cut, holds)).toEqual([]);
  });

  it("of many zones with one silent server, which is as silent in each, is given up after a few questions", async () => {
    const [silent, parent] = [await startAsked(() => {}), await startAsked((asking) => refersTo(asking))];
    const zones = Array.from({ length: 40 }, (_, index) => ({ ...hosts(0), zone: `z${index}.example` }));
    const { delegation } = await verify({
      zones,
      nameservers: [named(silent, "silent")],
      delegation: { wanted: true, parents: [named(parent, "parent"), named(silent, "silent")] },
    });
    // One question of each zone that is asked at a time, at most, beside those of the first round.
    expect(silent.asked.length).toBeLessThan(60);
    expect(new Set(delegation.map(({ zone, code }) => `${zone} ${code}`)).size).toBe(80);
  });

  it("ends with the time, however many zones are left", async () => {
    const late = new FastClock();
    const server = await startAsked((asking) => {
      void late.sleep(40_000);
      refersTo(asking);
    });
    const zones = Array.from({ length: 40 }, (_, index) => ({ ...hosts(0), zone: `z${index}.example` }));
    const { delegation } = await verify({
      zones,
      clock: late,
      nameservers: [],
      delegation: { wanted: true, parents: [named(server, "parent")] },
    });
    expect(server.asked.length).toBeLessThan(20);
    expect(delegation.filter(({ detail }) => detail.includes("the time was over")).length).toBeGreaterThan(20);
  });

  it("says which addresses a server of the zone did not tell", async () => {
    const forgetful = (asking: Asking): void => {
      if (!asking.text.startsWith("ns1.")) holds(asking);
    };
    const [above, below] = [await startAsked(refers), await startAsked(forgetful)];
    const { delegation } = await verify({
      zones: [{ ...hosts(0), zone: "example.com" }],
      nameservers: [named(below, "silent")],
      delegation: { wanted: true, parents: [named(above, "parent")] },
    });
    expect(delegation.map(({ code, server, detail }) => `${code} at ${server}: ${detail}`)).toEqual([
      "unanswered at silent: The server does not tell the addresses of ns1.example.com: no answer within 50 ms.",
    ]);
  });

  it("is asked at each parent that was given", async () => {
    const [good, below] = [await startAsked(refers), await startAsked(holds)];
    const ignorant = await startAsked(({ send, reply }) => send(reply({ rcode: 3 })));
    const { delegation } = await verify({
      zones: [{ ...hosts(0), zone: "example.com" }],
      nameservers: [named(below, "child")],
      delegation: { wanted: true, parents: [...[1, 2, 3, 4].map((n) => named(good, `p${n}`)), named(ignorant, "p5")] },
    });
    expect(delegation.map(({ code, server }) => `${code} at ${server}`)).toEqual(["not-delegated at p5"]);
  });

  it("says that it compares the addresses of sixteen servers, where there are more", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`);
    const all = (asking: Asking): void => {
      const answers = names.map((data) => ({ type: "NS" as const, name: "example.com", ttl: 60, data }));
      if (asking.text === "example.com NS") asking.send(asking.reply({ answers }));
      else if (asking.text.endsWith("AAAA")) asking.send(asking.reply());
      else holder(asking);
    };
    const glued = ({ send, reply }: Asking): void =>
      send(
        reply({
          isAuthoritative: false,
          authorities: names.map((data) => ({ type: "NS", name: "example.com", ttl: 60, data })),
          additionals: names.map((name) => address(name)),
        }),
      );
    expect(await check(glued, all)).toEqual([
      "unanswered at parent: The addresses of 4 more servers are not compared: 16 is the limit.",
    ]);
  });

  it("may be answered by the parent itself, if it holds the zone", async () => {
    expect(await check(holds, holds)).toEqual([]);
  });

  it.each<[string, (asking: Asking) => void, (asking: Asking) => void, string[]]>([
    [
      "other servers",
      (asking) => refers(asking, ["ns1.example.com"]),
      holds,
      ["servers-differ at parent: The servers of example.com differ: only the zone names ns2.example.net."],
    ],
    [
      "other glue",
      (asking) => refers(asking, NAMES, "192.0.2.99"),
      holds,
      ["glue-differs at parent: For ns1.example.com the parent has 192.0.2.99, the zone 192.0.2.53."],
    ],
    [
      "no glue",
      (asking) => refers(asking, NAMES, ""),
      holds,
      ["glue-missing at parent: The parent has no address of ns1.example.com, which is in the zone."],
    ],
    [
      "no delegation",
      ({ send, reply }) => send(reply({ rcode: 3 })),
      holds,
      ["not-delegated at parent: The parent knows no delegation of example.com."],
    ],
    [
      "a parent that fails",
      ({ send, reply }) => send(reply({ rcode: 2 })),
      holds,
      ["unanswered at parent: The parent's server does not tell: it answered SERVFAIL."],
    ],
    [
      "a lame server",
      refers,
      ({ send, reply }) => send(reply({ rcode: 5 })),
      ["lame at child: The server does not answer for example.com: it answered REFUSED."],
    ],
    [
      "a cache",
      refers,
      ({ text, send, reply }) =>
        send(
          reply({
            isAuthoritative: false,
            answers: text.endsWith("NS") ? [{ type: "NS", name: "example.com", ttl: 60, data: "ns1.example.com" }] : [],
          }),
        ),
      ["lame at child: The server does not answer for example.com: it holds no such zone."],
    ],
  ])("with %s is told", async (_, parent, child, expected) => {
    expect(await check(parent, child)).toEqual(expected);
  });

  it("of a hostile parent makes no more work than that of an honest one", async () => {
    const many = Array.from({ length: 900 }, (_, index) => `n${index}.example.com`);
    let asked = 0;
    const count = (asking: Asking): void => {
      asked += 1;
      holds(asking);
    };
    const told = await check(
      (asking) =>
        asking.transport === "udp" ? asking.send(asking.reply({ isTruncated: true })) : refers(asking, many),
      count,
    );
    expect(asked).toBeLessThan(50);
    expect(told.length).toBeLessThan(20);
  });
});
