/** A zone transfer that fails: what it is called, and that it ends in time with nothing left open. */

import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type TransferLimits, type TransferProblem, transferZone } from "../../src/dns/transfer.ts";
import {
  address,
  framed,
  type MessageParts,
  message,
  rawRecord,
  type Script,
  soa,
  startScripted,
  ZONE,
} from "../support/scripted-nameserver.ts";

async function problem(script: Script, limits: Partial<TransferLimits> = {}): Promise<TransferProblem> {
  const server = await startScripted(script);
  const result = await transferZone({ zone: ZONE, server, limits });
  if (result.ok) throw new Error(`transferred ${result.records.length} records`);
  // The client lets go of the connection by itself.
  await server.idle();
  return result.problem;
}

/** The problem after these messages, in one segment, on a connection that stays open. */
function problemWith(...messages: readonly Omit<MessageParts, "id">[]): Promise<TransferProblem> {
  return problem((socket, { id }) => {
    socket.write(Buffer.concat(messages.map((parts) => message({ id, ...parts }))));
  });
}

describe("a server that does not want to", () => {
  it("is told apart by its response code", async () => {
    expect(await problemWith({ rcode: 5 })).toEqual({
      code: "refused",
      detail: "the server answered REFUSED; transfers may not be allowed from here",
    });
    expect(await problemWith({ rcode: 9 })).toEqual({
      code: "not-authoritative",
      detail: "the server answered NOTAUTH",
    });
    expect(await problemWith({ rcode: 2 })).toEqual({ code: "failed", detail: "the server answered SERVFAIL" });
    expect(await problemWith({ rcode: 3 })).toEqual({ code: "failed", detail: "the server answered NXDOMAIN" });
    expect(await problemWith({ rcode: 1, question: null })).toEqual({
      code: "failed",
      detail: "the server answered FORMERR",
    });
    expect(await problemWith({ rcode: 15 })).toEqual({ code: "failed", detail: "the server answered code 15" });
  });

  it("may also change its mind in the middle", async () => {
    expect(await problemWith({ answers: [soa(), address("a.example.com")] }, { rcode: 5 })).toMatchObject({
      code: "refused",
    });
  });
});

describe("an answer that is none", () => {
  const malformed = (detail: string): TransferProblem => ({ code: "malformed", detail });
  const zone = [soa(), soa()];

  it("has another number", async () => {
    const found = await problem((socket, { id }) => socket.write(message({ id: id ^ 1, answers: zone })));
    expect(found).toEqual(malformed("an answer's message ID differs from the query's"));
  });

  it("has another question, or more than one", async () => {
    const other = malformed("a message answers another question");
    expect(await problemWith({ question: "example.net", answers: zone })).toEqual(other);
    expect(await problemWith({ questionType: "IXFR", answers: zone })).toEqual(other);
    const two = await problem((socket, { id }) => {
      const question = message({ id }).subarray(2 + 12);
      const octets = Buffer.concat([message({ id }).subarray(2), question]);
      octets.writeUInt16BE(2, 4);
      socket.write(framed(octets));
    });
    expect(two).toEqual(other);
  });

  it("is a question, or a notification", async () => {
    const none = malformed("a message is no answer");
    expect(await problemWith({ type: "query", answers: zone })).toEqual(none);
    expect(await problemWith({ flags: 4 << 11, answers: zone })).toEqual(none);
  });

  it("does not begin with the zone's SOA", async () => {
    const none = malformed("the answer does not begin with the zone's SOA");
    expect(await problemWith({ answers: [address("a.example.com"), soa(), soa()] })).toEqual(none);
    expect(await problemWith({ answers: [soa("example.net"), soa(), soa()] })).toEqual(none);
    expect(await problemWith({})).toEqual(none);
  });

  it("has an SOA elsewhere in the zone, ends with another one, or goes on after it", async () => {
    expect(await problemWith({ answers: [soa("sub.example.com"), soa()] })).toEqual(
      malformed("an SOA is not at the zone's apex"),
    );
    expect(await problemWith({ answers: [soa()] }, { answers: [soa(ZONE, { serial: 2 })] })).toEqual(
      malformed("the zone ends with another SOA than it began with"),
    );
    expect(await problemWith({ answers: [soa(), soa(ZONE, { minimum: 301 })] })).toEqual(
      malformed("the zone ends with another SOA than it began with"),
    );
    expect(await problemWith({ answers: [...zone, address("a.example.com")] })).toEqual(
      malformed("records follow after the zone's end"),
    );
  });

  it("has records of another class", async () => {
    const chaos = rawRecord(["a", "example", "com"], 1, Buffer.from([192, 0, 2, 1]), 3);
    expect(await problemWith({ answers: [soa()], raw: [chaos] })).toEqual(malformed("a record is not of class IN"));
  });

  it("is no DNS", async () => {
    const http = await problem((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect(http.code).toBe("truncated");
    expect(await problem((socket) => socket.write(Buffer.alloc(2)))).toEqual(
      malformed("a message is shorter than its header"),
    );
  });
});

describe("a zone that is cut off", () => {
  const closed = { code: "truncated", detail: "the server closed the connection before the zone's end" };

  it("ends before its closing SOA, also after the first SOA alone, as an answer to IXFR would", async () => {
    expect(await problem((socket, { id }) => socket.end(message({ id, answers: [soa()] })))).toEqual(closed);
    expect(await problem((socket) => socket.end())).toEqual(closed);
  });

  it("ends within a message", async () => {
    const cut = await problem((socket, { id }) => {
      socket.end(message({ id, answers: [soa(), soa()] }).subarray(0, -1));
    });
    expect(cut).toEqual(closed);
  });

  it("says so by the TC bit", async () => {
    expect(await problemWith({ flags: 1 << 9, answers: [soa(), soa()] })).toEqual({
      code: "truncated",
      detail: "the server says that its answer is cut off",
    });
  });

  it("is lost by a reset", async () => {
    const lost = await problem((socket, { id }) => {
      socket.write(message({ id, answers: [soa()] }));
      // With the data hardly there, the system may report the reset as an end.
      setTimeout(() => socket.resetAndDestroy(), 100);
    });
    expect(lost).toEqual({ code: "unreachable", detail: "the connection failed (ECONNRESET)" });
  });
});

describe("a limit", () => {
  it("on time ends a server that accepts and says nothing, or stops in the middle", async () => {
    const quiet = { code: "timeout", detail: "nothing came for 50 ms" };
    expect(await problem(() => {}, { idleMilliseconds: 50 })).toEqual(quiet);
    const stops: Script = (socket, { id }) => socket.write(message({ id, answers: [soa()] }));
    expect(await problem(stops, { idleMilliseconds: 50 })).toEqual(quiet);
  });

  it("on the whole time ends a server that sends an octet now and then", async () => {
    let sent = 0;
    const drip: Script = async (socket, { id }) => {
      for (const octet of message({ id, answers: [soa(), soa()] })) {
        if (socket.destroyed) return;
        socket.write(Buffer.from([octet]));
        sent += 1;
        await delay(20);
      }
    };
    const found = await problem(drip, { idleMilliseconds: 10_000, totalMilliseconds: 200 });
    expect(found).toEqual({ code: "timeout", detail: "it took more than 200 ms" });
    // One each 20 ms, and another before the end of the connection is seen.
    expect(sent).toBeLessThanOrEqual(200 / 20 + 2);
  });

  it("on bytes, messages and records ends a server that never does", async () => {
    const endless: Script = (socket, { id }) => {
      const more = message({
        id,
        answers: Array.from({ length: 1_000 }, (_, index) => address(`h${index}.example.com`)),
      });
      socket.write(message({ id, answers: [soa()] }));
      const write = (): void => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on("drain", write);
      write();
    };
    expect(await problem(endless, { maxBytes: 500_000 })).toEqual({
      code: "too-large",
      detail: "it is larger than 500000 bytes",
    });
    expect(await problem(endless, { maxMessages: 5 })).toEqual({
      code: "too-large",
      detail: "it takes more than 5 messages",
    });
    expect(await problem(endless, { maxRecords: 2_500 })).toEqual({
      code: "too-large",
      detail: "it has more than 2500 records",
    });
  });

  it("counts messages that hold nothing, and records that are not kept", async () => {
    const empty: Script = (socket, { id }) => {
      socket.write(message({ id, answers: [soa()] }));
      for (let index = 0; index < 200; index += 1) socket.write(message({ id }));
    };
    expect(await problem(empty, { maxMessages: 100 })).toMatchObject({ code: "too-large" });
    const foreign: Script = (socket, { id }) => {
      socket.write(message({ id, answers: [soa(), ...Array.from({ length: 100 }, () => address("example.net"))] }));
    };
    expect(await problem(foreign, { maxRecords: 100 })).toMatchObject({ code: "too-large" });
  });
});

describe("a server that cannot be reached", () => {
  it("is one that nobody listens at, or whose name does not exist", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    server.close();
    await once(server, "close");
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await transferZone({ zone: ZONE, server: { host: "127.0.0.1", port } })).toEqual({
      ok: false,
      problem: { code: "unreachable", detail: "the connection failed (ECONNREFUSED)" },
    });
    const unknown = await transferZone({ zone: ZONE, server: { host: "nowhere.invalid", port: 53 } });
    expect(unknown).toMatchObject({ ok: false, problem: { code: expect.stringMatching(/^(unreachable|timeout)$/) } });
  });

  it("is one that does not answer in time", async () => {
    // 192.0.2.0/24 is for documentation: nobody answers there, or the network says at once that it knows no way.
    const result = await transferZone({
      zone: ZONE,
      server: { host: "192.0.2.1", port: 53 },
      limits: { connectMilliseconds: 50 },
    });
    expect(result).toMatchObject({ ok: false, problem: { code: expect.stringMatching(/^(unreachable|timeout)$/) } });
  });
});

describe("the caller", () => {
  it("can end it, before and in the middle", async () => {
    const server = await startScripted((socket, { id }) => socket.write(message({ id, answers: [soa()] })));
    const aborted = { ok: false, problem: { code: "aborted", detail: "it was interrupted" } };
    expect(await transferZone({ zone: ZONE, server, signal: AbortSignal.abort() })).toEqual(aborted);
    expect(server.queries).toHaveLength(0);
    expect(await transferZone({ zone: ZONE, server, signal: AbortSignal.timeout(50) })).toEqual(aborted);
    expect(server.queries).toHaveLength(1);
    await server.idle();
  });

  it("must name a zone", async () => {
    const server = { host: "127.0.0.1", port: 53 };
    for (const zone of ["", ".", "a..b", "a b", `${"x".repeat(64)}.test`, "bücher.example"]) {
      await expect(transferZone({ zone, server }), zone).rejects.toThrow(RangeError);
    }
  });
});
