/** Zones of random records: some hundred through the API, all of them asked for. TENON_SEED=N takes other ones. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { randomRecord } from "./random-records.ts";
import { compare } from "./zone-compare.ts";
import { checkZone, heldIn, makeZone, serveZone } from "./zone-judge.ts";

const SEED = Number(process.env["TENON_SEED"] ?? 1_035);

const RECORDS = 400;

/** A name refused, or one beside a CNAME: nothing else may be. */
const REFUSALS = new Set([
  "Record conflict - CNAMES must be unique",
  "A null MX must be the only MX record of its name",
]);

test.each([0, 1, 2])("random records, zone %i", async (zoneNumber) => {
  const [records = []] = fc.sample(fc.array(randomRecord, { minLength: RECORDS, maxLength: RECORDS, size: "max" }), {
    seed: SEED + zoneNumber,
    numRuns: 1,
  });
  const made = await makeZone({ domain: "example.com", ttl_sec: [0, 300, 14_400][zoneNumber] ?? 0 });
  for (const sent of records) {
    const answer = await made.send("POST", `/domains/${made.domain.id}/records`, sent);
    const reasons = (answer.body.errors ?? []).map(({ reason }: { reason: string }) => reason);
    expect([sent, answer.status === 200, reasons.filter((reason: string) => !REFUSALS.has(reason))]).toEqual([
      sent,
      reasons.length === 0,
      [],
    ]);
  }
  const listed = await made.records();
  expect(listed.length).toBeGreaterThan(RECORDS / 2);
  const zone = await made.zone();
  expect(await checkZone("example.com", zone)).toMatchObject({ ok: true });
  // Random sets are short: only a name server without an address is left out.
  const held = heldIn(zone, listed);
  expect(listed.filter((one) => !held.includes(one)).every(({ type }) => type === "NS")).toBe(true);
  for (const kind of ["nsd", "bind"] as const) {
    expect(await compare(await serveZone("example.com", zone, kind), made.domain, held)).toEqual([]);
  }
});
