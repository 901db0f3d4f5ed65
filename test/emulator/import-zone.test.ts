/** What a transferred zone becomes in the API: mailboxes, times, and what has no place there. */

import { describe, expect, it } from "vitest";
import type { RecordData } from "../../src/dns/message.ts";
import { TRANSFER_LIMITS, type TransferredRecord } from "../../src/dns/transfer.ts";
import { importDomain, importRecords, mailboxOf } from "../../src/emulator/domain-import.ts";
import { secondsRounding } from "../../src/emulator/fields.ts";
import type { Call, Service } from "../../src/emulator/route.ts";
import { Store } from "../../src/emulator/store.ts";
import { startScripted } from "../support/scripted-nameserver.ts";

const CONTEXT = { domain: "example.com", roundSeconds: secondsRounding("node", "nearest") };

function record(name: string, data: RecordData, ttl = 300): TransferredRecord {
  return { name, ttl, data };
}

function imported(...records: readonly TransferredRecord[]) {
  const zone = importRecords(records, CONTEXT);
  if (!zone.ok) throw new Error(zone.detail);
  return zone;
}

/** Why the last of these records is left out; null if it is not. */
function reasonFor(...records: readonly TransferredRecord[]): string | null {
  const { leftOut } = imported(...records);
  expect(leftOut.length).toBeLessThanOrEqual(1);
  const last = records.at(-1);
  if (leftOut[0] !== undefined) expect(leftOut[0].name).toBe(last?.name);
  return leftOut[0]?.reason ?? null;
}

const mx = (target: string, priority = 10): RecordData => ({ type: "MX", priority, target });
const cname = (target: string): RecordData => ({ type: "CNAME", target });
const a: RecordData = { type: "A", target: "192.0.2.1" };
const text = (octets: string): RecordData => ({ type: "TXT", target: octets });
const caa = (tag: string, value: string, flags = 0): RecordData => ({
  type: "CAA",
  flags,
  tag,
  target: Buffer.from(value).toString("latin1"),
});
const srv = (target: string): RecordData => ({ type: "SRV", priority: 0, weight: 0, port: 0, target });

describe("the mailbox of an SOA", () => {
  it.each([
    ["hostmaster.example.com", "hostmaster@example.com"],
    ["jane\\.doe.Example.com", "jane.doe@example.com"],
    ["Jane\\+dns.example.com", "Jane+dns@example.com"],
    ["a\\092b.example.com", "a\\b@example.com"],
    ["root.localhost", "root@localhost"],
    ["", null],
    ["root", null],
    ["jane\\.doe", null],
    ["admin\\@example.com", null],
    ["two\\032words.example.com", null],
    ["u\\195\\164.example.com", null],
    ["admin.ex\\.ample.com", null],
  ])("%s is %s", (rname, mailbox) => {
    expect(mailboxOf(rname)).toBe(mailbox);
  });

  it("is read in one way only where there is none: in two for each octet, this would not end", () => {
    expect(mailboxOf("\\000".repeat(63))).toBeNull();
    expect(mailboxOf(`${"a\\.".repeat(80)}`)).toBeNull();
  });
});

describe("what an import leaves out", () => {
  it("is what the service has itself: SOA and NS of the apex, and no other NS", () => {
    const ns: RecordData = { type: "NS", target: "ns1.other.example" };
    expect(reasonFor(record("", ns))).toBe("the service has its own");
    expect(reasonFor(record("sub", ns))).toBeNull();
    expect(reasonFor(record("*", ns))).toBe("Invalid hostname");
  });

  it("is of a type that the service does not have", () => {
    const { leftOut } = imported(record("x", { type: "other", code: 44, mnemonic: "SSHFP" }));
    expect(leftOut).toEqual([{ name: "x", type: "SSHFP", reason: "the service has no records of this type" }]);
  });

  it("is text that is not UTF-8", () => {
    expect(reasonFor(record("t", text("\xc3\x28")))).toBe("its text is not UTF-8");
    expect(reasonFor(record("t", text("\xef\xbb\xbf")))).toBeNull();
    expect(imported(record("t", text("\xef\xbb\xbfx"))).records[0]?.target).toBe("\ufeffx");
    expect(imported(record("t", text("\xc3\xbc"))).records[0]?.target).toBe("ü");
  });

  it("is what the rules of the API refuse", () => {
    expect(reasonFor(record("", mx("mx.test", 256)))).toBe("Must be between 0 and 255");
    expect(reasonFor(record("a\\.b", a))).toBe("Name contains invalid characters; Invalid hostname");
    expect(reasonFor(record("x", cname("a\\.b.test")))).toBe("Invalid hostname");
    expect(reasonFor(record("x", cname("")))).toBe("Invalid hostname");
    expect(reasonFor(record("x".repeat(101), a))).not.toBeNull();
    expect(reasonFor(record("", caa("contactemail", "a@example.com")))).toMatch(/^Must be one of issue/);
    expect(reasonFor(record("sip", srv("a.test")))).toBe("its name does not begin with _service._protocol");
    expect(reasonFor(record("", cname("a.test")))).toBe("Record conflict - CNAMES must be unique");
    expect(reasonFor(record("X", a), record("x", cname("a.test")))).toBe("Record conflict - CNAMES must be unique");
    expect(reasonFor(record("x", cname("a.test")), record("x", a))).toBe("Record conflict - CNAMES must be unique");
    expect(reasonFor(record("x", mx("")), record("x", mx("mx.test")))).toMatch(/null MX/);
  });

  it("is not a CAA record with the critical flag: only the flag goes", () => {
    const { records, leftOut } = imported(record("", caa("issue", ";", 128)));
    expect(leftOut).toEqual([]);
    expect(records[0]).toMatchObject({ type: "CAA", tag: "issue", target: ";" });
  });
});

describe("the times of an import", () => {
  it("are rounded as the API rounds, and 0 becomes the least one, not the default", () => {
    const ttls = [0, 1, 299, 301, 2_000, 1_000_000_000];
    const { records } = imported(...ttls.map((ttl, index) => record(`h${index}`, a, ttl)));
    expect(records.map(({ ttl_sec }) => ttl_sec)).toEqual([300, 300, 300, 300, 3_600, 2_419_200]);
  });

  it("on which a client waits are limited as a whole", async () => {
    const server = await startScripted(() => {});
    const store = new Store();
    const service = { store, settings: { roundSeconds: CONTEXT.roundSeconds } } as unknown as Service;
    const body = { domain: "example.com", remote_nameserver: `${server.host}:${server.port}` };
    const limits = { ...TRANSFER_LIMITS, totalMilliseconds: 100 };
    const answer = await importDomain(service, { body } as unknown as Call, limits);
    const reason = "The zone could not be transferred from the nameserver: it took more than 100 ms";
    expect(answer).toEqual({ status: 400, body: { errors: [{ reason }] } });
    expect(store.size).toBe(0);
    await server.idle();
  });
});
