/** What API.md forbids of records. */

import { expect, test } from "vitest";
import { rule } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const RECORDS = "/domains/5/records";
const MX = { type: "MX", target: "mx.example.net" } as const;
const SRV = {
  type: "SRV",
  service: "sip",
  protocol: "tcp",
  target: "sip",
  priority: 1,
  weight: 1,
  port: 5060,
} as const;
const CAA = { type: "CAA", tag: "issue", target: "ca.example" } as const;

/** Records 1 (MX), 2 (SRV) and 3 (CAA) are there to be changed. */
function start(): Promise<Tested> {
  const records = [
    { id: 1, ...MX },
    { id: 2, ...SRV },
    { id: 3, ...CAA },
  ];
  return startTested({ seed: { domains: [{ id: 5, domain: "old.example", records }] } });
}

const create = (body: unknown, field: string) => ({ method: "POST", path: RECORDS, body, field });
const update = (id: number, body: unknown, field: string) => ({ method: "PUT", path: `${RECORDS}/${id}`, body, field });

rule("Domain record: type", async () => {
  const tested = await start();
  await expectRefused(tested, create({ target: "mx.example.net" }, "type"));
  await expectRefused(tested, create({ type: "SSHFP", target: "x" }, "type"));
  await expectRefused(tested, create({ type: "mx", target: "mx.example.net" }, "type"));
  await expectRefused(tested, update(1, { type: "NS" }, "type"));
});

rule(["Domain record: name", "Limits: Record name"], async () => {
  const tested = await start();
  const name = `${"a".repeat(50)}.${"b".repeat(50)}`;
  await expectRefused(tested, create({ ...MX, name }, "name"));
  await expectRefused(tested, update(1, { name }, "name"));
});

rule(["Domain record: target", "Limits: Record target"], async () => {
  const tested = await start();
  await expectRefused(tested, create({ type: "TXT", target: "x".repeat(65_536) }, "target"));
  for (const [type, target] of [
    ["A", "192.0.2.1."],
    ["AAAA", "2001:db8::1."],
    ["CAA", "ca.example."],
  ]) {
    await expectRefused(tested, create({ type, target, tag: "issue" }, "target"));
  }
});

rule("Domain record: ttl_sec", async () => {
  const tested = await start();
  await expectRefused(tested, create({ ...MX, ttl_sec: "300" }, "ttl_sec"));
  await expectRefused(tested, update(1, { ttl_sec: true }, "ttl_sec"));
});

rule(["Domain record: priority", "Limits: Record priority"], async () => {
  const tested = await start();
  for (const priority of [-1, 256, 1.5, "1"]) {
    await expectRefused(tested, create({ ...MX, priority }, "priority"));
    await expectRefused(tested, update(1, { priority }, "priority"));
  }
  await expectRefused(tested, create({ ...SRV, priority: undefined }, "priority"));
});

rule(["Domain record: weight", "Domain record: port", "Limits: Record weight and port"], async () => {
  const tested = await start();
  for (const field of ["weight", "port"]) {
    await expectRefused(tested, create({ ...SRV, [field]: 65_536 }, field));
    await expectRefused(tested, create({ ...SRV, [field]: undefined }, field));
    await expectRefused(tested, update(2, { [field]: -1 }, field));
    await expectRefused(tested, update(2, { [field]: null }, field));
  }
});

rule(["Domain record: protocol", "Domain record: service"], async () => {
  const tested = await start();
  await expectRefused(tested, create({ ...SRV, service: undefined }, "service"));
  await expectRefused(tested, update(2, { service: null }, "service"));
  for (const field of ["protocol", "service"]) {
    await expectRefused(tested, update(2, { [field]: "a b" }, field));
  }
});

rule("Domain record: tag", async () => {
  const tested = await start();
  await expectRefused(tested, create({ ...CAA, tag: undefined }, "tag"));
  await expectRefused(tested, create({ ...CAA, tag: "contactemail" }, "tag"));
  await expectRefused(tested, update(3, { tag: null }, "tag"));
});

rule("Limits: Active records per domain", async () => {
  const records = Array.from({ length: 12_000 }, (_, index) => ({ type: "TXT", target: `${index}` }) as const);
  const { send } = await startTested({ seed: { domains: [{ id: 5, domain: "full.example", records }] } });
  expect((await send("POST", RECORDS, { type: "TXT", target: "one more" })).status).toBe(400);
  const { body } = await send("GET", RECORDS);
  expect(body.results).toBe(12_000);
  await send("DELETE", `${RECORDS}/${body.data[0].id}`);
  expect((await send("POST", RECORDS, { type: "TXT", target: "one more" })).status).toBe(200);
});

test("what is just within the limits of a record is taken", async () => {
  const { send } = await start();
  const name = `${"a".repeat(49)}.${"b".repeat(50)}`;
  for (const body of [
    { type: "TXT", name, target: "x".repeat(65_535) },
    { ...MX, priority: 255, target: "mx.example.net." },
    { ...SRV, priority: 0, weight: 65_535, port: 65_535 },
    { ...CAA, tag: "iodef" },
  ]) {
    expect((await send("POST", RECORDS, body)).status).toBe(200);
  }
});
