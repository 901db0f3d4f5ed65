/** A zone transfer that succeeds: how it may be cut into messages and segments, and what becomes of the records. */

import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer } from "dns-packet";
import { describe, expect, it } from "vitest";
import { type TransferResult, type TransferredRecord, transferZone } from "../../src/dns/transfer.ts";
import { address, message, rawRecord, type Script, soa, startScripted, ZONE } from "../support/scripted-nameserver.ts";

async function transferred(script: Script, zone = ZONE): Promise<TransferResult> {
  return transferZone({ zone, server: await startScripted(script) });
}

function records(result: TransferResult): readonly TransferredRecord[] {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.records;
}

function names(result: TransferResult): string[] {
  return records(result).map(({ name, data }) => `${name || "@"} ${data.type}`);
}

describe("a transfer", () => {
  it("asks for AXFR in class IN once, and closes the connection when it has the zone", async () => {
    const server = await startScripted((socket, { id }) => socket.write(message({ id, answers: [soa(), soa()] })));
    const result = await transferZone({ zone: "Example.COM.", server });
    expect(names(result)).toEqual(["@ SOA"]);
    expect(server.queries).toHaveLength(1);
    expect(server.queries[0]?.questions).toEqual([{ name: ZONE, type: "AXFR", class: "IN" }]);
    await server.idle();
  });

  it("reads every type that the service knows", async () => {
    const answers: Answer[] = [
      soa(),
      { type: "NS", name: ZONE, ttl: 60, data: "NS1.example.com" },
      { type: "A", name: "www.example.com", ttl: 61, data: "192.0.2.255" },
      { type: "AAAA", name: "www.example.com", ttl: 62, data: "2001:db8:0:0:0:0:0:1" },
      { type: "MX", name: ZONE, ttl: 63, data: { preference: 65_535, exchange: "MX.example.net" } },
      { type: "CNAME", name: "*.Dev.example.com", ttl: 64, data: "www.example.com" },
      { type: "TXT", name: ZONE, ttl: 65, data: [Buffer.from([0, 255]), Buffer.from("ü")] },
      { type: "PTR", name: "1.example.com", ttl: 0, data: "host.example.net" },
      {
        type: "SRV",
        name: "_sip._tcp.example.com",
        ttl: 66,
        data: { priority: 1, weight: 2, port: 65_535, target: "." },
      },
      { type: "CAA", name: ZONE, ttl: 67, data: { flags: 128, tag: "issue", value: "ca.example" } },
    ];
    const result = await transferred((socket, { id }) => {
      socket.write(message({ id, answers: [...answers, soa()] }));
    });
    expect(records(result).slice(1)).toEqual([
      { name: "", ttl: 60, data: { type: "NS", target: "ns1.example.com" } },
      { name: "www", ttl: 61, data: { type: "A", target: "192.0.2.255" } },
      { name: "www", ttl: 62, data: { type: "AAAA", target: "2001:db8::1" } },
      { name: "", ttl: 63, data: { type: "MX", priority: 65_535, target: "mx.example.net" } },
      { name: "*.dev", ttl: 64, data: { type: "CNAME", target: "www.example.com" } },
      { name: "", ttl: 65, data: { type: "TXT", target: "\0\xff\xc3\xbc" } },
      { name: "1", ttl: 0, data: { type: "PTR", target: "host.example.net" } },
      { name: "_sip._tcp", ttl: 66, data: { type: "SRV", priority: 1, weight: 2, port: 65_535, target: "" } },
      { name: "", ttl: 67, data: { type: "CAA", flags: 128, tag: "issue", target: "ca.example" } },
    ]);
    expect(result.ok && result.soa).toEqual({
      type: "SOA",
      mname: "ns1.example.com",
      rname: "hostmaster.example.com",
      serial: 1,
      refresh: 14_400,
      retry: 7_200,
      expire: 604_800,
      minimum: 300,
    });
  });

  it("keeps what it cannot read by type, so that it can be counted", async () => {
    const raw = [
      rawRecord(["_443", "_tcp", "example", "com"], 52, Buffer.from([3, 1, 1, 9])),
      rawRecord(["example", "com"], 65, Buffer.from([0, 1, 0])),
      rawRecord(["example", "com"], 65_280, Buffer.from("anything")),
    ];
    const result = await transferred((socket, { id }) => {
      socket.write(message({ id, answers: [soa()], raw }));
      socket.write(message({ id, answers: [soa()], question: null }));
    });
    expect(records(result).slice(1)).toEqual([
      { name: "_443._tcp", ttl: 300, data: { type: "other", code: 52, mnemonic: "TLSA" } },
      { name: "", ttl: 300, data: { type: "other", code: 65, mnemonic: "HTTPS" } },
      { name: "", ttl: 300, data: { type: "other", code: 65_280, mnemonic: "TYPE65280" } },
    ]);
  });

  it("takes a TTL with its highest bit set for 0", async () => {
    const raw = [rawRecord(["a", "example", "com"], 1, Buffer.from([192, 0, 2, 1]), 1, 0x8000_0001)];
    const result = await transferred((socket, { id }) => {
      socket.write(message({ id, answers: [soa()], raw }));
      socket.write(message({ id, answers: [soa()] }));
    });
    expect(records(result)[1]?.ttl).toBe(0);
  });

  it("compares names without letter case", async () => {
    const answers = [soa("EXAMPLE.com"), address("WWW.Example.Com"), soa("example.COM")];
    const result = await transferred((socket, { id }) => {
      socket.write(message({ id, question: "eXaMpLe.CoM", answers }));
    });
    // The two SOAs differ in letter case only.
    expect(names(result)).toEqual(["@ SOA", "www A"]);
  });

  it("drops what is outside the zone, and what is there twice", async () => {
    const text = (strings: string[]): Answer => ({ type: "TXT", name: ZONE, ttl: 1, data: strings });
    const answers = [
      soa(),
      address("a.example.com"),
      address("a.example.net"),
      address("notexample.com"),
      address("com"),
      { ...address("A.example.com"), ttl: 999 },
      address("a.example.com", "192.0.2.2"),
      text(["a", "b"]),
      // The same text, cut otherwise.
      text(["ab"]),
      text(["a", "c"]),
      soa("example.net"),
      soa(),
    ];
    const result = await transferred((socket, { id }) => socket.write(message({ id, answers })));
    expect(names(result)).toEqual(["@ SOA", "a A", "a A", "@ TXT", "@ TXT"]);
  });

  it("does not care what comes after the zone's end in messages of its own", async () => {
    const result = await transferred((socket, { id }) => {
      const end = message({ id, answers: [soa(), soa()] });
      socket.write(Buffer.concat([end, end, Buffer.from("nonsense")]));
    });
    expect(names(result)).toEqual(["@ SOA"]);
  });
});

describe("the messages of a transfer", () => {
  const parts = (id: number): Buffer[] => [
    message({ id, answers: [soa()] }),
    message({ id, answers: [address("a.example.com")], question: null }),
    message({ id }),
    message({ id, answers: [address("b.example.com"), address("c.example.com")] }),
    message({ id, answers: [soa()] }),
  ];
  const whole = ["@ SOA", "a A", "b A", "c A"];

  it("may come one by one, in one segment, or an octet at a time", async () => {
    const byOne = await transferred(async (socket, { id }) => {
      for (const part of parts(id)) {
        socket.write(part);
        await delay(2);
      }
    });
    expect(names(byOne)).toEqual(whole);
    const atOnce = await transferred((socket, { id }) => socket.write(Buffer.concat(parts(id))));
    expect(names(atOnce)).toEqual(whole);
    const byOctet = await transferred(async (socket, { id }) => {
      socket.setNoDelay(true);
      for (const octet of Buffer.concat(parts(id))) {
        socket.write(Buffer.from([octet]));
        await new Promise(setImmediate);
      }
    });
    expect(names(byOctet)).toEqual(whole);
  });

  it("may be cut in two anywhere", async () => {
    const cut = async (socket: Socket, octets: Buffer, at: number): Promise<void> => {
      socket.setNoDelay(true);
      socket.write(octets.subarray(0, at));
      await delay(1);
      socket.write(octets.subarray(at));
    };
    const length = Buffer.concat(parts(0)).length;
    for (let at = 1; at < length; at += 1) {
      const result = await transferred((socket, { id }) => void cut(socket, Buffer.concat(parts(id)), at));
      expect(names(result), `cut at ${at}`).toEqual(whole);
    }
  });

  it("may be thousands, one record each, or few, full to the brim", async () => {
    const count = 12_000;
    const one = await transferred((socket, { id }) => {
      socket.write(message({ id, answers: [soa()] }));
      for (let index = 0; index < count; index += 1)
        socket.write(message({ id, answers: [address(`h${index}.example.com`)] }));
      socket.write(message({ id, answers: [soa()] }));
    });
    expect(records(one)).toHaveLength(count + 1);
    const full = await transferred((socket, { id }) => {
      const text = Buffer.alloc(255, "x");
      const strings = Array.from({ length: 254 }, () => text);
      socket.write(message({ id, answers: [soa()] }));
      socket.write(message({ id, answers: [{ type: "TXT", name: ZONE, ttl: 1, data: strings }] }));
      socket.write(message({ id, answers: [soa()] }));
    });
    expect(names(full)).toEqual(["@ SOA", "@ TXT"]);
  });
});
