/** What a plan and an apply cost, counted in requests at the service, never in time. */

import { afterEach, expect, test } from "vitest";
import type { Seed } from "../../src/emulator/index.ts";
import { Account, ALL_CONSENTS } from "../support/account.ts";
import { growth } from "../support/operations.ts";

/** The largest page that the service gives (OBSERVED: Pages, filters, limits). */
const PAGE = 500;

let account: Account;
afterEach(() => account.close());

/** ⌈items/PAGE⌉, an empty list counted as one. */
function pages(items: number): number {
  return Math.max(1, Math.ceil(items / PAGE));
}

async function planRequests(manifest: unknown): Promise<string[]> {
  const { desired, diagnostics } = await account.load(JSON.stringify(manifest));
  if (desired === null) throw new Error(JSON.stringify(diagnostics.slice(0, 3)));
  account.takeRequests();
  const plan = await account.plan(desired);
  expect(plan.steps).toEqual([]);
  return account.takeRequests();
}

async function applyRequests(manifest: unknown): Promise<string[]> {
  const { desired, diagnostics } = await account.load(JSON.stringify(manifest));
  if (desired === null) throw new Error(JSON.stringify(diagnostics.slice(0, 3)));
  const plan = await account.plan(desired, { consents: ALL_CONSENTS });
  account.takeRequests();
  const report = await account.apply(plan);
  const requests = account.takeRequests();
  expect(report.failed + report.skipped + report.unknown).toBe(0);
  expect(plan.requestCount).toBe(requests.length);
  return requests;
}

function zone(domain: string, records: number): Record<string, unknown> {
  const list = Array.from({ length: records }, (_, index) => ({
    type: "A",
    name: `host-${index}`,
    target: "192.0.2.1",
  }));
  return { domain, type: "master", soa_email: "h@example.com", records: list };
}

test("a no-op plan costs ⌈D/P⌉ + D·⌈R/P⌉ + ⌈V/P⌉ requests, lists only", async () => {
  const domains = [
    ...Array.from({ length: 520 }, (_, index) => zone(`zone-${index}.example`, index % 3)),
    zone("big.example", 2 * PAGE + 1),
    zone("exact.example", PAGE),
  ];
  const vpcs = Array.from({ length: PAGE + 1 }, (_, index) => ({
    label: `vpc-${index}`,
    region: "us-east",
    subnets: [{ label: "a", ipv4: "10.0.0.0/24" }],
  }));
  account = await Account.open({ seed: { domains, vpcs } as unknown as Seed });
  const requests = await planRequests({ tenon: 1, domains, vpcs });
  const records = 520 * pages(2) + pages(2 * PAGE + 1) + pages(PAGE);
  expect(requests).toHaveLength(pages(domains.length) + records + pages(vpcs.length));
  expect(requests.every((request) => /^GET \/(domains|vpcs|domains\/\d+\/records)$/.test(request))).toBe(true);
});

test("each part is read only if the manifest or an owner needs it", async () => {
  const seed = { domains: [zone("one.example", 3)], vpcs: [{ label: "v", region: "us-east" }] } as unknown as Seed;
  account = await Account.open({ seed });
  expect(await planRequests({ tenon: 1, vpcs: [{ label: "v", region: "us-east" }] })).toEqual(["GET /vpcs"]);
  expect(await planRequests({ tenon: 1, domains: [zone("one.example", 3)] })).toEqual([
    "GET /domains",
    expect.stringMatching(/^GET \/domains\/\d+\/records$/),
  ]);
  const { records: _, ...unmanaged } = zone("one.example", 0);
  expect(await planRequests({ tenon: 1, domains: [unmanaged] })).toEqual(["GET /domains"]);
  expect((await planRequests({ tenon: 1, owner: "me" })).sort()).toEqual(["GET /domains", "GET /images", "GET /vpcs"]);
});

test("a few domains of an account with many are asked for by name", async () => {
  const domains = Array.from({ length: 4 * PAGE }, (_, index) => zone(`zone-${index}.example`, 0));
  account = await Account.open({ seed: { domains } as unknown as Seed });
  const { records: _, ...last } = zone(`zone-${4 * PAGE - 1}.example`, 0);
  expect(await planRequests({ tenon: 1, domains: [last] })).toEqual(["GET /domains", "GET /domains"]);
});

test("a VPC with its subnets is one POST, and one list that tells whether another run made it as well", async () => {
  account = await Account.open();
  const subnets = Array.from({ length: 20 }, (_, index) => ({ label: `s-${index}`, ipv4: `10.0.${index}.0/24` }));
  const vpcs = [{ label: "prod", region: "us-east", subnets }];
  expect(await applyRequests({ tenon: 1, vpcs })).toEqual(["POST /vpcs", "GET /vpcs"]);
});

test("deleting a domain of 12,000 records is two looks and one DELETE", async () => {
  account = await Account.open({ seed: { domains: [zone("big.example", 12_000)] } as unknown as Seed });
  const removed = [{ domain: "big.example" }];
  expect(await applyRequests({ tenon: 1, removed })).toEqual([
    expect.stringMatching(/^GET \/domains\/\d+$/),
    expect.stringMatching(/^GET \/domains\/\d+\/records$/),
    expect.stringMatching(/^DELETE \/domains\/\d+$/),
  ]);
});

test("deleting a VPC is a look and one DELETE, whatever its subnets", async () => {
  const subnets = Array.from({ length: 20 }, (_, index) => ({ label: `s-${index}`, ipv4: `10.0.${index}.0/24` }));
  account = await Account.open({ seed: { vpcs: [{ id: 7, label: "old", region: "us-east", subnets }] } });
  expect(await applyRequests({ tenon: 1, removed: [{ vpc: "old" }] })).toEqual(["GET /vpcs/7", "DELETE /vpcs/7"]);
});

test("a changed record, a renamed record and a renamed subnet are one PUT each", async () => {
  const live = { ...zone("one.example", 0), id: 1, records: [] as unknown[] };
  live.records = [
    { id: 11, type: "A", name: "www", target: "192.0.2.1" },
    { id: 12, type: "TXT", name: "old", target: "words" },
  ];
  const vpc = { id: 2, label: "prod", region: "us-east", subnets: [{ id: 21, label: "web", ipv4: "10.0.1.0/24" }] };
  account = await Account.open({ seed: { domains: [live], vpcs: [vpc] } as unknown as Seed });
  const records = [
    { type: "A", name: "www", target: "192.0.2.2" },
    { type: "TXT", name: "new", target: "words" },
  ];
  const { id: _, ...declared } = live;
  const requests = await applyRequests({
    tenon: 1,
    domains: [{ ...declared, records }],
    vpcs: [{ label: "prod", region: "us-east", subnets: [{ label: "front", ipv4: "10.0.1.0/24" }] }],
  });
  expect(requests.sort()).toEqual(["PUT /domains/1/records/11", "PUT /domains/1/records/12", "PUT /vpcs/2/subnets/21"]);
});

test("a new zone of R records is R + 3 requests: created disabled, filled, activated, listed once more", async () => {
  account = await Account.open();
  const requests = await applyRequests({ tenon: 1, domains: [zone("new.example", 300)] });
  expect(requests).toHaveLength(303);
  expect(requests[0]).toBe("POST /domains");
  expect(requests.at(-2)).toMatch(/^PUT \/domains\/\d+$/);
  expect(requests.at(-1)).toMatch(/^GET \/domains\/\d+\/records$/);
  expect(requests.slice(1, -2).every((request) => /^POST \/domains\/\d+\/records$/.test(request))).toBe(true);
});

test("four times the zones, or four times the records, take some four times the work: to load, to read, to plan, to apply and to plan again", async () => {
  // All of it in one count, the emulator's own work included: no stage may grow faster than the rest.
  const whole = async (zones: number, records: number): Promise<void> => {
    account = await Account.open();
    const domains = Array.from({ length: zones }, (_, index) => zone(`z${index}.example`, records));
    await applyRequests({ tenon: 1, domains });
    await planRequests({ tenon: 1, domains });
    await account.close();
  };
  expect(await growth(8, 4, (count) => whole(count, 5))).toBeLessThan(5);
  expect(await growth(25, 4, (count) => whole(2, count))).toBeLessThan(5);
}, 120_000);
