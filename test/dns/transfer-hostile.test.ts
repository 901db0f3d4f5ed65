/** What hostile octets become: names that cannot be mistaken, messages that cannot loop, an answer whatever is sent. */

import dnsPacket, { type Answer } from "dns-packet";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MessageReading, type ResourceRecord, readMessage } from "../../src/dns/message.ts";
import { FrameReader, transferZone } from "../../src/dns/transfer.ts";
import { growth, operationsOf } from "../support/operations.ts";
import { address, message, rawName, rawRecord, soa, startScripted, ZONE } from "../support/scripted-nameserver.ts";

/** Twelve octets that announce so many answers and nothing else. */
function header(answers: number): Buffer {
  const octets = Buffer.alloc(12);
  octets.writeUInt16BE(0x8000, 2);
  octets.writeUInt16BE(answers, 6);
  return octets;
}

function readRaw(...records: readonly Buffer[]): MessageReading {
  return readMessage(Buffer.concat([header(records.length), ...records]));
}

function only(reading: MessageReading): ResourceRecord {
  if (!reading.ok) throw new Error(reading.detail);
  const record = reading.message.answers[0];
  if (record === undefined) throw new Error("no answer");
  return record;
}

const CNAME = 5;
const TXT = 16;

describe("a name of a message", () => {
  it.each([
    [["a.b", "example"], "a\\.b.example"],
    [["a", "b", "example"], "a.b.example"],
    [["a\\", "b"], "a\\\\.b"],
    [["A\xc3\x84"], "a\\195\\132"],
    [["\0", " ", "\x7f"], "\\000.\\032.\\127"],
    [['"@();$'], '\\"\\@\\(\\)\\;\\$'],
    [["*", "_Sip", "a/b+c-d"], "*._sip.a/b+c-d"],
    [["!#&'<=>?[]^`{|}~%,:"], "!#&'<=>?[]^`{|}~%,:"],
    [["x".repeat(63)], "x".repeat(63)],
    [[], ""],
  ])("of the labels %j is %s", (labels, text) => {
    const record = only(readRaw(rawRecord(labels, CNAME, rawName(labels))));
    expect(record.name).toBe(text);
    expect(record.data).toEqual({ type: "CNAME", target: text });
  });

  it("has 255 octets at most", () => {
    const labels = [...Array.from({ length: 3 }, () => "x".repeat(63)), "y".repeat(61)];
    expect(only(readRaw(rawRecord(labels, CNAME, rawName([])))).name).toHaveLength(253);
    const longer = [...labels.slice(0, 3), "y".repeat(62)];
    expect(readRaw(rawRecord(longer, CNAME, rawName([])))).toEqual({
      ok: false,
      detail: "a name is longer than 255 octets",
    });
  });

  const pointer = (offset: number): Buffer => Buffer.from([0xc0 | (offset >> 8), offset & 0xff]);
  const fixed = Buffer.from([0, CNAME, 0, 1, 0, 0, 0, 0, 0, 1, 0]);

  it("must not point at itself, forward, or into the header", () => {
    for (const target of [12, 13, 14, 500, 16_383, 0, 11]) {
      const reading = readRaw(Buffer.concat([pointer(target), fixed]));
      expect(reading, `at ${target}`).toEqual({ ok: false, detail: "a name points forward or at itself" });
    }
    // Two names that point at each other.
    const second = Buffer.concat([Buffer.from([1, 97]), pointer(12 + 2), fixed]);
    expect(readRaw(Buffer.concat([Buffer.from([1, 97]), pointer(16), fixed]), second).ok).toBe(false);
    // A pointer back to the middle of its own name.
    expect(readRaw(Buffer.concat([Buffer.from([1, 97, 1, 98]), pointer(14), fixed])).ok).toBe(false);
  });

  it("may point back through 127 pointers, and no more", () => {
    const chain = (length: number): MessageReading => {
      const links = Array.from({ length: length - 1 }, (_, index) =>
        pointer(12 + 11 + 10 + 1 + 2 * index - (index === 0 ? 1 : 2)),
      );
      const start = 12 + 11;
      const data = Buffer.concat([rawName(["a"]), ...links]);
      const first = rawRecord([], 999, data);
      // The data begins with the name `a`; each link points at the one before it, the first one at `a`.
      for (let index = 0; index < links.length; index += 1)
        pointer(index === 0 ? start : start + 3 + 2 * (index - 1)).copy(first, 11 + 3 + 2 * index);
      const last = Buffer.concat([pointer(start + 3 + 2 * (links.length - 1)), fixed]);
      return readRaw(first, last);
    };
    const read = chain(127);
    expect(read.ok && read.message.answers[1]?.name).toBe("a");
    expect(chain(128)).toEqual({ ok: false, detail: "a name has too many pointers" });
  });

  it("is read once, however many pointers lead to it", async () => {
    const empty = Buffer.from([0, 999 >> 8, 999 & 0xff, 0, 1, 0, 0, 0, 0, 0, 0]).subarray(1);
    const work = (labels: number) => () => {
      const first = rawRecord(
        Array.from({ length: labels }, () => "\u0001"),
        999,
        Buffer.alloc(0),
      );
      const read = readRaw(first, ...Array.from({ length: 3_000 }, () => Buffer.concat([pointer(12), empty])));
      expect(read.ok && read.message.answers.at(-1)?.name.split(".")).toHaveLength(labels);
    };
    expect((await operationsOf(work(120))) / (await operationsOf(work(1)))).toBeLessThan(2);
  });

  it("knows no other kinds of labels", () => {
    for (const length of [0x40, 0x80, 0xbf]) {
      const reading = readRaw(Buffer.concat([Buffer.from([length, 1, 0]), fixed]));
      expect(reading).toEqual({ ok: false, detail: "a label is of an unknown kind" });
    }
  });
});

describe("the data of a record", () => {
  it.each([
    ["an A of three octets", 1, [1, 2, 3]],
    ["an A of five octets", 1, [1, 2, 3, 4, 5]],
    ["an AAAA of four octets", 28, [1, 2, 3, 4]],
    ["an MX without a name", 15, [0, 10]],
    ["a CNAME with something behind its name", CNAME, [0, 0]],
    ["a CNAME whose name runs out", CNAME, [5, 97]],
    ["an SRV without a name", 33, [0, 1, 0, 1, 0, 1]],
    ["an SOA without numbers", 6, [0, 0]],
    ["a TXT whose text runs out", TXT, [3, 97, 98]],
    ["a TXT of nothing", TXT, []],
    ["a CAA whose tag runs out", 257, [0, 9, 105]],
    ["a CAA without a tag", 257, [0, 0]],
    ["a CAA with an odd tag", 257, [0, 1, 32]],
  ])("must not be %s", (_, type, octets) => {
    const record = rawRecord(["a"], type, Buffer.from(octets));
    expect(readRaw(record).ok).toBe(false);
    // Nor may it borrow from the record that follows.
    expect(readRaw(record, rawRecord(["b"], 1, Buffer.from([1, 2, 3, 4]))).ok).toBe(false);
  });

  it("must be there as far as it is announced", () => {
    const whole = rawRecord(["a"], 999, Buffer.from("data"));
    expect(readRaw(whole).ok).toBe(true);
    for (let length = 0; length < whole.length; length += 1)
      expect(readRaw(whole.subarray(0, length)).ok, `${length}`).toBe(false);
    expect(readRaw(Buffer.concat([whole, Buffer.from([0])])).ok).toBe(false);
  });

  it("takes four times the work for four times the names that are as long and as winding as can be", async () => {
    const long = rawName([...Array.from({ length: 126 }, () => "x"), "y"]);
    const first = rawRecord([], 999, long);
    const winding = Buffer.from([0xc0, 12 + 11, 0, CNAME, 0, 1, 0, 0, 0, 0, 0, 2, 0xc0, 12 + 11]);
    const read = (count: number) => {
      expect(readRaw(first, ...Array.from({ length: count }, () => winding)).ok).toBe(true);
    };
    // All that a message has room for.
    read(Math.floor((65_535 - 12 - first.length) / winding.length));
    expect(await growth(100, 4, read)).toBeLessThan(5);
  });
});

/** What dns-packet reads of a record's data, in the names of the service's fields. */
function fieldsOf(data: unknown): object {
  if (typeof data === "string") return { target: data };
  if (Array.isArray(data)) return { target: Buffer.concat(data as Buffer[]).toString("latin1") };
  const { exchange, preference, ...others } = data as { exchange?: string; preference?: number };
  return exchange === undefined ? others : { priority: preference, target: exchange };
}

describe("any octets", () => {
  it("are a message or none, and never an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
        const reading = readMessage(Buffer.concat([header(octets[0] ?? 0), octets]));
        expect(typeof reading.ok).toBe("boolean");
        readMessage(Buffer.from(octets));
      }),
      { numRuns: 3_000 },
    );
  });

  it("that dns-packet wrote are read as dns-packet reads them", () => {
    const label = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
    const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join("."));
    const ttl = fc.nat(0x7fffffff);
    const short = fc.nat(65_535);
    const answer: fc.Arbitrary<Answer> = fc.oneof(
      fc.record({ type: fc.constant("A" as const), name, ttl, data: fc.ipV4() }),
      fc.record({ type: fc.constantFrom("NS" as const, "CNAME" as const, "PTR" as const), name, ttl, data: name }),
      fc.record({
        type: fc.constant("MX" as const),
        name,
        ttl,
        data: fc.record({ preference: short, exchange: name }),
      }),
      fc.record({
        type: fc.constant("SRV" as const),
        name,
        ttl,
        data: fc.record({ priority: short, weight: short, port: short, target: name }),
      }),
      fc.record({
        type: fc.constant("TXT" as const),
        name,
        ttl,
        data: fc.array(
          fc.uint8Array({ maxLength: 255 }).map((octets) => Buffer.from(octets)),
          { minLength: 1, maxLength: 3 },
        ),
      }),
    );
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 10 }), fc.nat(65_535), (answers, id) => {
        const octets = dnsPacket.encode({ id, type: "response", answers });
        const theirs = dnsPacket.decode(octets);
        const ours = readMessage(octets);
        if (!ours.ok) throw new Error(ours.detail);
        expect(ours.message.id).toBe(theirs.id);
        expect(ours.message.answers.map(({ name, ttl, data }) => ({ name, ttl, data }))).toEqual(
          (theirs.answers ?? []).map(({ name, type, ...rest }) => ({
            name,
            ttl: "ttl" in rest ? rest.ttl : null,
            data: { type, ...fieldsOf("data" in rest ? rest.data : null) },
          })),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("come out of the frames as they went in, however they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        (messages, cuts) => {
          const stream = Buffer.concat(
            messages.map((octets) => Buffer.concat([Buffer.from([octets.length >> 8, octets.length & 0xff]), octets])),
          );
          const frames = new FrameReader();
          const found: Buffer[] = [];
          for (let offset = 0, index = 0; offset < stream.length; index += 1) {
            const size = cuts[index % cuts.length] ?? 1;
            found.push(...frames.push(stream.subarray(offset, offset + size)));
            offset += size;
          }
          expect(found).toEqual(messages.map((octets) => Buffer.from(octets)));
        },
      ),
    );
  });
});

describe("a transfer of which octets were changed", () => {
  it("always ends, with a zone or with a problem", async () => {
    const change = fc.record({ at: fc.nat(400), octet: fc.nat(255), kind: fc.constantFrom("set", "insert", "delete") });
    let changes: readonly { at: number; octet: number; kind: string }[] = [];
    const server = await startScripted((socket, { id }) => {
      const raw = [
        rawRecord(["t", "example", "com"], TXT, Buffer.from("\x03abc")),
        rawRecord(["example", "com"], 65, Buffer.alloc(9)),
      ];
      const octets = [
        ...message({ id, answers: [soa(), address("a.example.com")], raw }),
        ...message({
          id,
          answers: [{ type: "MX", name: ZONE, ttl: 1, data: { preference: 1, exchange: "m.test" } }, soa()],
        }),
      ];
      for (const { at, octet, kind } of changes) {
        const index = at % octets.length;
        if (kind === "set") octets[index] = octet;
        else if (kind === "insert") octets.splice(index, 0, octet);
        else octets.splice(index, 1);
      }
      socket.end(Buffer.from(octets));
    });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 0, maxLength: 4 }), async (drawn) => {
        changes = drawn;
        const result = await transferZone({ zone: ZONE, server, limits: { idleMilliseconds: 2_000 } });
        seen.add(result.ok ? "ok" : result.problem.code);
        if (result.ok) expect(result.records[0]?.data.type).toBe("SOA");
        else expect(result.problem.code).not.toBe("timeout");
      }),
      { numRuns: 400 },
    );
    expect([...seen]).toEqual(expect.arrayContaining(["ok", "malformed", "truncated"]));
  });

  it("always ends when it is nothing but noise", async () => {
    let noise = Buffer.alloc(0);
    const server = await startScripted((socket) => socket.end(noise));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), fc.boolean(), async (octets, announced) => {
        noise = Buffer.from(octets);
        // Half of the noise has a length before it that fits, so that it is looked at as a message.
        if (announced && noise.length >= 2) noise.writeUInt16BE(noise.length - 2, 0);
        const result = await transferZone({ zone: ZONE, server, limits: { idleMilliseconds: 2_000 } });
        expect(result.ok).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
