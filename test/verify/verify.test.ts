/** Asking servers until everything is there: rounds, silent servers, time-outs, interrupts, and what is kept and listed. */

import { getEventListeners, setMaxListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { SystemResolver } from "../../src/dns/nameserver.ts";
import { type DnsQuery, openNameserver, type QueryResult, queryFailure } from "../../src/dns/query.ts";
import type { DnsRecord } from "../../src/dns/record.ts";
import { isVerified, type Verification } from "../../src/model/verification.ts";
import { renderVerificationText } from "../../src/render/verification.ts";
import { type Asking, startAsked } from "../support/scripted-asked.ts";
import { address } from "../support/scripted-nameserver.ts";
import { FastClock, holder, hosts, NO_RESOLVER, named, PATIENT, verify } from "./support.ts";

describe("asking", () => {
  it("takes each set at each server once, over UDP and over TCP", async () => {
    const [one, two] = [await startAsked(holder), await startAsked(holder)];
    const told: string[] = [];
    const result = await verify({
      nameservers: [named(one, "one"), named(two, "two")],
      progress: ({ there, total }) => told.push(`${there}/${total}`),
    });
    expect(result).toMatchObject({
      asked: 12,
      there: 12,
      problems: [],
      zones: [{ zone: "example.com", servers: ["one", "two"] }],
    });
    expect(isVerified(result)).toBe(true);
    expect(told.at(-1)).toBe("12/12");
    for (const server of [one, two]) {
      const questions = ["example.com SOA", "h0.example.com A", "h1.example.com A"];
      const all = server.asked.map(({ text, transport }) => `${transport} ${text}`).sort();
      expect(all).toEqual([...questions.map((text) => `tcp ${text}`), ...questions.map((text) => `udp ${text}`)]);
    }
  });

  it("goes on with what is missing, ever more slowly, until it is there", async () => {
    let rounds = 0;
    const server = await startAsked((asking) => {
      if (asking.text.startsWith("h1") && asking.transport === "tcp") rounds += 1;
      if (asking.text.startsWith("h1") && rounds < 4) asking.send(asking.reply({ rcode: 3 }));
      else holder(asking);
    });
    const clock = new FastClock();
    const result = await verify({ nameservers: [named(server)], timeoutMilliseconds: 60_000, clock });
    expect(isVerified(result)).toBe(true);
    expect(clock.sleeps.slice(0, 3)).toEqual([1_000, 2_000, 4_000]);
    expect(server.asked.filter(({ text }) => text.startsWith("h0"))).toHaveLength(2);
  });

  it("ends with the time, and says what is missing", async () => {
    const server = await startAsked((asking) =>
      asking.text.startsWith("h1") ? asking.send(asking.reply()) : holder(asking),
    );
    const clock = new FastClock();
    const result = await verify({ nameservers: [named(server)], timeoutMilliseconds: 40_000, clock });
    expect(clock.sleeps).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 10_000]);
    expect(result.problems.map(({ name, transport, state, expected }) => [name, transport, state, expected])).toEqual([
      ["h1.example.com", "tcp", "missing", ["192.0.2.1"]],
      ["h1.example.com", "udp", "missing", ["192.0.2.1"]],
    ]);
    expect(isVerified(result)).toBe(false);
  });

  it("of a silent server is given up for a round after a few questions", async () => {
    const silent = await startAsked(() => {});
    const good = await startAsked(holder);
    const result = await verify({ zones: [hosts(300)], nameservers: [named(silent, "silent"), named(good, "good")] });
    expect(silent.asked.length).toBeLessThan(20);
    expect(result).toMatchObject({ asked: 1_204, there: 602 });
    expect(new Set(result.problems.map(({ server, state }) => `${server} ${state}`))).toEqual(
      new Set(["silent not-answering"]),
    );
    expect(result.silent.map(({ server, transport }) => `${server} ${transport}`)).toEqual([
      "silent tcp",
      "silent udp",
    ]);
    expect(renderVerificationText(result, { colour: false, width: 80 }).split("\n")).toEqual([
      "silent did not answer over UDP and TCP: no answer within 50 ms",
      "",
      "Not verified: 602 of 1204 answers at 2 name servers are not there.",
      "",
    ]);
  });

  it("of a server that answers once is not told as of a silent one", async () => {
    const server = await startAsked((asking) => (asking.text.startsWith("h0") ? undefined : holder(asking)));
    // Long enough for what is answered on a busy machine.
    const limits = { udpAttempts: 1, udpAttemptMilliseconds: 1_000, answerMilliseconds: 1_000 };
    const open = ({ address }: { address: Parameters<typeof openNameserver>[0] }) =>
      openNameserver(address, { limits });
    const result = await verify({ nameservers: [named(server)], open });
    expect(result).toMatchObject({ there: 4, silent: [] });
    expect(renderVerificationText(result, { colour: false })).toMatch(/^not answering h0\.example\.com A\n/);
  });

  it("is told with what was expected and what was found, whatever of both is empty", async () => {
    const server = await startAsked((asking) => {
      if (asking.text === "h0.example.com A") asking.send(asking.reply({ rcode: 3 }));
      else if (asking.text === "h1.example.com A") {
        asking.send(asking.reply({ answers: [address("h1.example.com", "192.0.2.99")] }));
      } else holder(asking);
    });
    const result = await verify({ zones: [hosts(3)], nameservers: [named(server, "ns1")] });
    expect(renderVerificationText(result, { colour: false, width: 80 }).split("\n")).toEqual([
      "missing h0.example.com A",
      "  expected: 192.0.2.1",
      "  found: nothing",
      "  at ns1 over udp and tcp",
      "different h1.example.com A",
      "  expected: 192.0.2.1",
      "  found: 192.0.2.99",
      "  at ns1 over udp and tcp",
      "",
      "Not verified: 4 of 8 answers at 1 name server are not there.",
      "",
    ]);
  });

  it("ends with a count of all that went wrong, one or several", () => {
    const nothing: Verification = {
      ...{ zones: [], asked: 0, there: 0, silent: [], problems: [], delegation: [], unasked: [], notes: [] },
      interrupted: false,
    };
    const closing = (changes: Partial<Verification>): string | undefined =>
      renderVerificationText({ ...nothing, ...changes }, { colour: false, width: 200 })
        .trimEnd()
        .split("\n")
        .at(-1);
    const problem = { zone: "example.com", code: "lame", server: "ns1", detail: "It is lame." } as const;
    const unasked = { zone: "example.com", detail: "It has no name server." };
    expect(closing({})).toBe("Verified: there was nothing to ask for.");
    expect(closing({ asked: 2, there: 2 })).toBe("Verified: 2 answers at 0 name servers, all as they must be.");
    expect(closing({ asked: 2, there: 2, hasUncompared: true })).toBe(
      "Verified: 2 answers at 0 name servers, as they must be but for what is not compared.",
    );
    expect(closing({ delegation: [problem] })).toBe("Not verified: 1 problem of delegation.");
    expect(closing({ delegation: [problem, problem] })).toBe("Not verified: 2 problems of delegation.");
    expect(closing({ unasked: [unasked] })).toBe("Not verified: 1 zone could not be asked for at every server.");
    expect(closing({ unasked: [unasked, unasked], interrupted: true })).toBe(
      "Not verified: 1 zone could not be asked for at every server; interrupted.",
    );
  });

  it("leaves no listener on the signal: neither asking nor the delegation, done or interrupted", async () => {
    const server = await startAsked(holder);
    const stop = new AbortController();
    const request = {
      nameservers: [named(server)],
      delegation: { wanted: true, parents: [named(server, "parent")] },
      signal: stop.signal,
    };
    await verify(request);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    const failing: SystemResolver = { ...NO_RESOLVER, nameservers: () => Promise.reject(new Error("none")) };
    await verify({ ...request, resolver: failing, delegation: { wanted: true, parents: null } });
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    stop.abort();
    await verify(request);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  it("ends at once when it is interrupted", async () => {
    const server = await startAsked(() => {});
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const running = verify({
      nameservers: [named(server)],
      signal: stop.signal,
      timeoutMilliseconds: 60_000,
      // Whoever waited for this server would wait longer than a test may take.
      open: ({ address }) => openNameserver(address, { limits: PATIENT }),
    });
    await expect.poll(() => server.asked.length).toBeGreaterThan(0);
    stop.abort();
    expect(await running).toMatchObject({ interrupted: true, there: 0 });
  });

  it("looks no further name servers up once it is interrupted, and waits for no lookup", async () => {
    const stop = new AbortController();
    const asked: string[] = [];
    const never: SystemResolver = {
      nameservers: (zone) => {
        asked.push(zone);
        return new Promise(() => {});
      },
      addresses: () => new Promise(() => {}),
    };
    const zones = Array.from({ length: 100 }, (_, index) => hosts(1, `z${index}.example`));
    const running = verify({
      zones,
      resolver: never,
      signal: stop.signal,
      delegation: { wanted: true, parents: null },
    });
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    const before = asked.length;
    stop.abort();
    const found = await running;
    expect(asked.length).toBe(before);
    expect(found).toMatchObject({ interrupted: true, zones: [] });
    expect(found.unasked).toHaveLength(100);
    expect(isVerified(found)).toBe(false);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  it("is not verified where the delegation was not asked for, because it was interrupted", async () => {
    const server = await startAsked(holder);
    const stop = new AbortController();
    const zones = Array.from({ length: 20 }, (_, index) => ({ ...hosts(0), zone: `z${index}.example` }));
    const never: SystemResolver = {
      ...NO_RESOLVER,
      nameservers: () => {
        stop.abort();
        return new Promise(() => {});
      },
    };
    const found = await verify({
      ...{ zones, signal: stop.signal, resolver: never, nameservers: [named(server)] },
      delegation: { wanted: true, parents: null },
    });
    expect(found).toMatchObject({ there: 40, problems: [], interrupted: true });
    expect(new Set(found.unasked.map(({ zone }) => zone)).size).toBe(20);
    expect(isVerified(found)).toBe(false);
  });

  it("is interrupted also where the one question that was left is about the delegation", async () => {
    const server = await startAsked(holder);
    const stop = new AbortController();
    const parent = await startAsked(() => stop.abort());
    const found = await verify({
      ...{ zones: [hosts(0)], signal: stop.signal, nameservers: [named(server)] },
      delegation: { wanted: true, parents: [named(parent, "parent")] },
    });
    expect(found).toMatchObject({ problems: [], unasked: [], interrupted: true });
    expect(isVerified(found)).toBe(false);
  });

  it("has the values of each set once, and none beyond a length", async () => {
    const records = Array.from({ length: 300 }, (_, index): DnsRecord => {
      return { type: "TXT", name: `t${index}`, target: "é".repeat(4_000), ttl_sec: 0 };
    });
    const zones = [{ ...hosts(0), records, zone: "example.com" }];
    const silent = await Promise.all(
      Array.from({ length: 16 }, () => startAsked(({ send, reply }) => send(reply({ rcode: 5 })))),
    );
    const found = await verify({ zones, nameservers: silent.map((server, index) => named(server, `ns${index}`)) });
    const values = found.problems.flatMap(({ expected }) => expected);
    expect(found.problems).toHaveLength(301 * 16 * 2);
    expect(values.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(found.problems.at(-2)?.detail).toContain("its values are left out");
  });

  it("of thousands of undeclared values of one answer asks for few whether they may be there, and says that the set is different", async () => {
    let asked = 0;
    const tolerates = () => {
      asked += 1;
      return true;
    };
    const answers = Array.from({ length: 1_000 }, (_, index) =>
      address("h0.example.com", `10.0.${index >> 8}.${index & 255}`),
    );
    const server = await startAsked(({ text, send, reply, transport }) => {
      if (text !== "h0.example.com A") holder({ text, send, reply } as Asking);
      else if (transport === "udp") send(reply({ isTruncated: true }));
      else send(reply({ answers }));
    });
    const found = await verify({ zones: [{ ...hosts(1), tolerates }], nameservers: [named(server)] });
    expect(asked).toBeLessThanOrEqual(100);
    expect(found.problems).toMatchObject([{ name: "h0.example.com", transport: "tcp", state: "different" }]);
    expect(found.problems[0]?.detail).toContain("more than 100 of its values are not declared");
  });

  it("keeps no values beyond a length of what servers answer, round by round", async () => {
    const records = Array.from({ length: 30_000 }, (_, index): DnsRecord => {
      return { type: "TXT", name: `t${index}`, target: "x", ttl_sec: 0 };
    });
    const answerTo = ({ name, type }: DnsQuery): QueryResult => ({
      ok: true,
      answer: {
        ...{ rcode: 0, isAuthoritative: true, isTruncated: false, authorities: [], additionals: [] },
        answers: type === "TXT" ? [{ name, class: 1, ttl: 0, data: { type, target: "y".repeat(1_000) } }] : [],
      },
    });
    const rounds: number[] = [];
    const found = await verify({
      zones: [{ ...hosts(0), records }],
      nameservers: [{ label: "ns", address: { host: "192.0.2.1", port: 53 } }],
      timeoutMilliseconds: 2_000,
      open: () => {
        rounds.push(0);
        return { ask: async (query) => answerTo(query), close: () => {} };
      },
    });
    expect(rounds.length).toBeGreaterThan(1);
    const characters = found.problems.flatMap((verdict) => verdict.found).reduce((sum, { length }) => sum + length, 0);
    // What one round has kept is no part of what the next one may keep.
    expect(characters).toBeGreaterThan(30 * 1024 * 1024);
    expect(characters).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(found.problems.filter(({ detail }) => detail.includes("its values are left out")).length).toBe(
      60_000 - found.problems.filter((verdict) => verdict.found.length > 0).length,
    );
  });

  it("lists a hundred thousand problems, those at servers that answer before all others, and counts the rest", async () => {
    const zones = Array.from({ length: 3 }, (_, index) => hosts(3_000, `z${index}.example`));
    const labels = ["refusing", ...Array.from({ length: 15 }, (_, index) => `silent${index}`)];
    const refused: QueryResult = {
      ok: true,
      answer: {
        ...{ rcode: 5, isAuthoritative: false, isTruncated: false },
        ...{ answers: [], authorities: [], additionals: [] },
      },
    };
    const found = await verify({
      zones,
      nameservers: labels.map((label, index) => ({ label, address: { host: `192.0.2.${index}`, port: 53 } })),
      open: ({ label }) => ({
        ask: async () => (label === "refusing" ? refused : queryFailure("timeout", "no answer")),
        close: () => {},
      }),
    });
    const asked = 3 * 3_001 * 16 * 2;
    expect(found).toMatchObject({ asked, there: 0 });
    expect(found.problems).toHaveLength(100_000);
    expect(found.problems.filter(({ server }) => server === "refusing")).toHaveLength(3 * 3_001 * 2);
    const places = found.problems.map(({ zone, name, type, server, transport }) =>
      [zone, name, type, server, transport].join(" "),
    );
    expect(places).toEqual([...places].sort());
    expect(found.notes).toEqual([`${asked - 100_000} more answers that are not there are not listed.`]);
    expect(found.silent).toHaveLength(15 * 2);
    const text = renderVerificationText(found, { colour: false, width: 200 });
    expect(text.match(/^not authoritative /gm)).toHaveLength(100);
    expect(text).toContain(`Not verified: ${asked} of ${asked} answers at 16 name servers are not there.`);
  });

  it("for 1,000 sets uses few connections", async () => {
    const server = await startAsked(holder);
    const result = await verify({ zones: [hosts(1_000)], nameservers: [named(server)] });
    expect(isVerified(result)).toBe(true);
    expect(server.connections()).toBeLessThanOrEqual(4);
  });

  it("of a zone whose servers nobody knows is told", async () => {
    const result = await verify({});
    expect(result.unasked).toEqual([
      { zone: "example.com", detail: "The system's resolver finds no name servers of example.com (ENOTFOUND)." },
    ]);
    expect(isVerified(result)).toBe(false);
  });

  it("of a zone is not verified while one of its servers has no address, whatever the others say", async () => {
    const server = await startAsked(holder);
    const result = await verify({
      resolver: {
        nameservers: async () => ["ns1.example.net", "ns2.example.net"],
        addresses: async (host) => (host === "ns1.example.net" ? ["192.0.2.53"] : []),
      },
      open: () => openNameserver(server),
    });
    expect(result).toMatchObject({ asked: 6, there: 6, problems: [] });
    expect(isVerified(result)).toBe(false);
    expect(renderVerificationText(result, { colour: false, width: 80 }).split("\n")).toEqual([
      "not asked example.com: The name server ns2.example.net has no address.",
      "",
      "Not verified: 1 zone could not be asked for at every server.",
      "",
    ]);
  });
});

describe("a part of a zone", () => {
  it("is asked for its own names, and neither for the zone's SOA nor for its delegation", async () => {
    const texts: string[] = [];
    const server = await startAsked(({ text, send, reply }) => {
      texts.push(text);
      send(reply({ answers: [address("h0.example.com", "192.0.2.1")] }));
    });
    const request = {
      nameservers: [named(server, "server")],
      delegation: { wanted: true, parents: [named(server, "parent")] },
    };
    const { delegation } = await verify({
      ...request,
      zones: [{ ...hosts(1), zone: "example.com", isPart: true }],
    });
    expect([[...new Set(texts)], delegation]).toEqual([["h0.example.com A"], []]);
    await verify({ ...request, zones: [{ ...hosts(1), zone: "example.com" }] });
    expect([...new Set(texts)]).toEqual(expect.arrayContaining(["example.com SOA", "example.com NS"]));
  });
});
