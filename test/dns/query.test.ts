/** One question to one server: what is asked, what counts as its answer, and that it always ends. */

import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type DnsAnswer,
  type NameserverClient,
  openNameserver,
  type QueryLimits,
  type QueryResult,
} from "../../src/dns/query.ts";
import { type AskedNameserver, type Asking, startAsked } from "../support/scripted-asked.ts";
import { address } from "../support/scripted-nameserver.ts";

const QUESTION = { name: "www.example.com", type: "A" } as const;
const ANSWERS = [address(QUESTION.name, "192.0.2.7")];

/** Short, as nothing here is far away. */
const QUICK: Partial<QueryLimits> = { udpAttemptMilliseconds: 60, connectMilliseconds: 1_000, answerMilliseconds: 200 };

function client(server: { host: string; port: number }, limits: Partial<QueryLimits> = QUICK): NameserverClient {
  const opened = openNameserver(server, { limits });
  onTestFinished(() => opened.close());
  return opened;
}

async function ask(
  transport: "udp" | "tcp",
  script: (asking: Asking) => void,
): Promise<{ result: QueryResult; server: AskedNameserver }> {
  const server = await startAsked(script);
  return { result: await client(server).ask(QUESTION, transport), server };
}

function answered(result: QueryResult): DnsAnswer {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.answer;
}

function problem(result: QueryResult): string {
  if (result.ok) throw new Error("answered");
  return `${result.problem.code}: ${result.problem.detail}`;
}

function data(result: QueryResult): unknown[] {
  return answered(result).answers.map((record) => record.data);
}

describe.each(["udp", "tcp"] as const)("over %s", (transport) => {
  it("the question is plain: no recursion, 1232 octets of EDNS, a number that changes", async () => {
    const server = await startAsked(({ send, reply }) => send(reply({ answers: ANSWERS })));
    const asking = client(server);
    for (let count = 0; count < 8; count += 1) {
      expect(data(await asking.ask(QUESTION, transport))).toEqual([{ type: "A", target: "192.0.2.7" }]);
    }
    expect(new Set(server.asked.map(({ query }) => query.id)).size).toBeGreaterThan(4);
    const [{ query, text } = { query: null, text: "" }] = server.asked;
    expect(text).toBe("www.example.com A");
    expect(query).toMatchObject({
      flag_rd: false,
      opcode: "QUERY",
      additionals: [{ type: "OPT", udpPayloadSize: 1232 }],
    });
  });

  it.each([
    [2, "SERVFAIL"],
    [3, "NXDOMAIN"],
    [5, "REFUSED"],
  ])("response code %i is an answer", async (rcode) => {
    const { result } = await ask(transport, ({ send, reply }) => send(reply({ rcode, isAuthoritative: false })));
    expect(answered(result)).toMatchObject({ rcode, isAuthoritative: false, answers: [] });
  });

  it("an error may leave the question out, an answer may not", async () => {
    const error = await ask(transport, ({ send, reply }) => send(reply({ rcode: 1, questions: [] })));
    expect(answered(error.result).rcode).toBe(1);
    const answer = await ask(transport, ({ send, reply }) => send(reply({ answers: ANSWERS, questions: [] })));
    expect(answer.result.ok).toBe(false);
  });

  it("a referral comes with its servers and their addresses", async () => {
    const { result } = await ask(transport, ({ send, reply }) =>
      send(
        reply({
          isAuthoritative: false,
          authorities: [{ type: "NS", name: "sub.example.com", ttl: 60, data: "NS.Sub.example.com" }],
          additionals: [address("ns.sub.example.com", "192.0.2.53")],
        }),
      ),
    );
    const answer = answered(result);
    expect(answer.isAuthoritative).toBe(false);
    expect(answer.authorities).toMatchObject([
      { name: "sub.example.com", ttl: 60, data: { type: "NS", target: "ns.sub.example.com" } },
    ]);
    expect(answer.additionals).toMatchObject([{ name: "ns.sub.example.com", data: { target: "192.0.2.53" } }]);
  });

  it("an answer that is cut off says so over UDP, and is none over TCP", async () => {
    const { result } = await ask(transport, ({ send, reply }) => send(reply({ isTruncated: true })));
    if (transport === "udp") expect(answered(result).isTruncated).toBe(true);
    else expect(problem(result)).toBe("malformed: the answer over TCP is cut off");
  });

  it("nothing that listens is told at once, and not when the limits are over", async () => {
    const long = 600_000;
    const limits = { udpAttemptMilliseconds: long, connectMilliseconds: long, answerMilliseconds: long };
    const result = await client({ host: "127.0.0.1", port: 1 }, limits).ask(QUESTION, transport);
    expect(problem(result)).toMatch(/^unreachable: .*\(ECONNREFUSED\)$/);
  });

  it("a server that hangs is given up", async () => {
    const { result, server } = await ask(transport, () => {});
    expect(problem(result)).toBe(`timeout: no answer within ${transport === "udp" ? 180 : 200} ms`);
    expect(server.asked).toHaveLength(transport === "udp" ? 3 : 1);
  });

  it("closing ends what is under way, and whatever comes later", async () => {
    const server = await startAsked(() => {});
    const asking = client(server, {});
    const results = [asking.ask(QUESTION, transport), asking.ask(QUESTION, transport)];
    await expect.poll(() => server.asked.length).toBe(2);
    asking.close();
    for (const result of [...results, asking.ask(QUESTION, transport)]) {
      expect(problem(await result)).toBe("aborted: it was interrupted");
    }
  });

  it("whatever octets come back, there is a result in time", async () => {
    let octets = Buffer.alloc(0);
    const server = await startAsked(({ send, reply, transport }) => {
      const whole = reply({ answers: ANSWERS });
      for (const [index, octet] of octets.entries())
        if (index % 2 === 1) whole[(octets[index - 1] ?? 0) % whole.length] = octet;
      send(transport === "udp" ? whole : whole.subarray(0, Math.max(3, whole.length - ((octets[0] ?? 0) % 5))));
    });
    const asking = client(server, { ...QUICK, udpAttempts: 1, udpAttemptMilliseconds: 20, answerMilliseconds: 20 });
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 8 }), async (drawn) => {
        octets = Buffer.from(drawn);
        const result = await asking.ask(QUESTION, transport);
        if (!result.ok) expect(["timeout", "malformed", "unreachable"]).toContain(result.problem.code);
      }),
      { numRuns: 40 },
    );
  });
});

describe("over UDP", () => {
  it("a lost question is sent again", async () => {
    const { result, server } = await ask("udp", ({ index, send, reply }) => {
      if (index === 2) send(reply({ answers: ANSWERS }));
    });
    expect(data(result)).toEqual([{ type: "A", target: "192.0.2.7" }]);
    expect(new Set(server.asked.map(({ query }) => query.id)).size).toBe(1);
  });

  it("forged answers are passed over, and the true one still counts", async () => {
    const forged = [address(QUESTION.name, "203.0.113.66")];
    const { result } = await ask("udp", ({ query, send, sendFromElsewhere, reply }) => {
      send(reply({ id: query.id ^ 1, answers: forged }));
      sendFromElsewhere(reply({ answers: forged }));
      send(reply({ type: "query", answers: forged }));
      send(reply({ questions: [{ type: "A", class: "IN", name: "mail.example.com" }], answers: forged }));
      send(reply({ questions: [{ type: "AAAA", class: "IN", name: QUESTION.name }], answers: forged }));
      send(reply({ questions: [{ type: "A", class: "CH", name: QUESTION.name }], answers: forged }));
      send(reply({ answers: forged }).subarray(0, -1));
      send(Buffer.alloc(0));
      send(reply({ answers: ANSWERS }));
    });
    expect(data(result)).toEqual([{ type: "A", target: "192.0.2.7" }]);
  });

  it("forged answers alone are none", async () => {
    const { result } = await ask("udp", ({ query, send, sendFromElsewhere, reply }) => {
      send(reply({ id: query.id ^ 0xff00, answers: ANSWERS }));
      sendFromElsewhere(reply({ answers: ANSWERS }));
    });
    expect(problem(result)).toBe("timeout: no answer within 180 ms; 3 unrelated datagrams were ignored");
  });

  it("a flood of forged answers ends it", async () => {
    const server = await startAsked(({ query, send, reply }) => {
      for (let count = 0; count < 40; count += 1) send(reply({ id: query.id ^ 1, answers: ANSWERS }));
    });
    const result = await client(server, { ...QUICK, maxIgnoredDatagrams: 20 }).ask(QUESTION, "udp");
    expect(problem(result)).toBe("malformed: more than 20 answers to other questions");
  });
});

describe("over TCP", () => {
  it("an answer may come octet by octet", async () => {
    const { result } = await ask("tcp", ({ socket, reply }) => {
      const octets = [...reply({ answers: ANSWERS })];
      const next = (): void => {
        const octet = octets.shift();
        if (octet !== undefined) socket?.write(Buffer.from([octet]), () => setImmediate(next));
      };
      next();
    });
    expect(data(result)).toHaveLength(1);
  });

  it("dripping does not stretch the time", async () => {
    const { result } = await ask("tcp", ({ socket, reply }) => {
      const octets = [...reply({ answers: ANSWERS })];
      const timer = setInterval(() => socket?.write(Buffer.from([octets.shift() ?? 0])), 30);
      socket?.on("close", () => clearInterval(timer));
    });
    expect(problem(result)).toBe("timeout: no answer within 200 ms");
  });

  it("many questions take one connection", async () => {
    const server = await startAsked(({ send, reply }) => send(reply({ answers: ANSWERS })));
    const asking = client(server);
    for (let count = 0; count < 50; count += 1) expect((await asking.ask(QUESTION, "tcp")).ok).toBe(true);
    expect(server.connections()).toBe(1);
  });

  it("a connection that the server has closed meanwhile is made again, once", async () => {
    const server = await startAsked(({ index, send, reply, socket }) => {
      if (index < 3) send(reply({ answers: ANSWERS }));
      if (index !== 0) socket?.destroy();
    });
    const asking = client(server);
    expect((await asking.ask(QUESTION, "tcp")).ok).toBe(true);
    expect((await asking.ask(QUESTION, "tcp")).ok).toBe(true);
    expect((await asking.ask(QUESTION, "tcp")).ok).toBe(true);
    expect(problem(await asking.ask(QUESTION, "tcp"))).toMatch(/^unreachable: /);
  });

  it.each([
    ["closed", "unreachable: the server closed the connection without an answer"],
    ["reset", /^unreachable: the (connection failed \(ECONNRESET\)|server closed)/],
  ])("a connection that is %s within an answer has none", async (how, expected) => {
    const { result } = await ask("tcp", ({ socket, reply }) => {
      socket?.write(reply({ answers: ANSWERS }).subarray(0, 20), () =>
        how === "reset" ? socket.resetAndDestroy() : socket.end(),
      );
    });
    expect(problem(result)).toMatch(expected);
  });

  it("what is no answer to the question ends it, and the connection with it", async () => {
    const server = await startAsked(({ index, query, send, reply }) =>
      send(reply({ id: index === 0 ? query.id ^ 1 : query.id, answers: ANSWERS })),
    );
    const asking = client(server);
    expect(problem(await asking.ask(QUESTION, "tcp"))).toBe(
      "malformed: an answer's message ID differs from the query's",
    );
    expect((await asking.ask(QUESTION, "tcp")).ok).toBe(true);
    expect(server.connections()).toBe(2);
  });

  it("a second answer, to nothing, is not kept for the next question", async () => {
    const server = await startAsked(({ index, query, send, reply }) => {
      const surplus = reply({ id: (query.id + 1) & 0xffff, answers: [address(QUESTION.name, "203.0.113.66")] });
      send(index === 0 ? Buffer.concat([reply({ answers: ANSWERS }), surplus]) : reply({ answers: ANSWERS }));
    });
    const opened = openNameserver(server, {
      limits: QUICK,
      drawId: (
        (id) => () =>
          id++
      )(7),
    });
    onTestFinished(() => opened.close());
    for (let count = 0; count < 2; count += 1) {
      expect(data(await opened.ask(QUESTION, "tcp"))).toEqual([{ type: "A", target: "192.0.2.7" }]);
    }
    expect(server.connections()).toBe(2);
  });
});

it("a server is an address, as names were looked up before", () => {
  expect(() => openNameserver({ host: "ns1.example.com", port: 53 })).toThrow(RangeError);
});

it.each(["255.255.255.255", "0.0.0.0"])(
  "an address that the system refuses (%s) is a server that cannot be reached",
  async (host) => {
    const opened = openNameserver({ host, port: 9 }, { limits: { udpAttemptMilliseconds: 50, udpAttempts: 1 } });
    onTestFinished(() => opened.close());
    for (const transport of ["udp", "tcp"] as const) {
      const result = await opened.ask({ name: "example.com", type: "A" }, transport);
      expect(result).toMatchObject({ ok: false });
    }
  },
);
