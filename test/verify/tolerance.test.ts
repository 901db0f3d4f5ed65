/** How much of what servers answer is compared with what is ignored. */

import { expect, it } from "vitest";
import type { DnsRecord } from "../../src/dns/record.ts";
import { type DeclaredZone, isVerified, verifyDeclared } from "../../src/verify/index.ts";
import { startAsked } from "../support/scripted-asked.ts";
import { address, soa } from "../support/scripted-nameserver.ts";

const SETS = 10;
const VALUES = 20;

/** Each of the sets has one declared value. @param tolerates what is asked of each value that is not */
function declared(patternCount: number, tolerates: (record: DnsRecord) => boolean): DeclaredZone {
  const records = Array.from(
    { length: SETS },
    (_, index): DnsRecord => ({ type: "A", name: `h${index}`, target: "192.0.2.1", ttl_sec: 0 }),
  );
  return {
    zone: "example.com",
    address: "domain/example.com",
    fields: {},
    records,
    isPart: false,
    patternCount,
    tolerates,
  };
}

/** At a server whose sets hold what is declared, and other values beside it. */
async function verified(patternCount: number) {
  let asked = 0;
  const server = await startAsked(({ text, send, reply }) => {
    const [name = "", type] = text.split(" ");
    const others = Array.from({ length: VALUES }, (_, index) => address(name, `10.0.0.${index}`));
    send(reply({ answers: type === "SOA" ? [soa(name)] : [address(name, "192.0.2.1"), ...others] }));
  });
  const tolerates = () => {
    asked += 1;
    return true;
  };
  const nameservers = [{ label: "ns", address: { host: server.host, port: server.port } }];
  const found = await verifyDeclared(
    [declared(patternCount, tolerates)],
    { nameservers, delegation: false, parents: null },
    {
      clock: { now: () => 0, sleep: () => Promise.resolve() },
      timeoutSeconds: 0,
      signal: new AbortController().signal,
    },
  );
  return { found, asked };
}

it("undeclared values are compared with what is ignored once each, though they are asked for over both transports", async () => {
  const { found, asked } = await verified(1_000);
  expect([isVerified(found), found.notes, asked]).toEqual([true, [], SETS * VALUES]);
});

it("undeclared values beyond what is compared with patterns count as different, and a note says so", async () => {
  const { found, asked } = await verified(1_000_000);
  expect(asked).toBeLessThan(100);
  expect(isVerified(found)).toBe(false);
  expect(found.problems.map(({ state }) => state)).toContain("different");
  expect(found.notes).toEqual([expect.stringContaining("count as different")]);
});

it("values of a zone that tolerates any are not counted", async () => {
  const { found, asked } = await verified(0);
  expect([isVerified(found), asked]).toEqual([true, 2 * SETS * VALUES]);
});
