/** `--changed-since`: what is compared, what is then read and planned, and what stays as it is. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { type Desired, findChangedSince, type Plan, type PlanRequest } from "../../src/index.ts";
import { Account, ALL_CONSENTS, changeList } from "../support/account.ts";
import { growth, operationsOf } from "../support/operations.ts";

/** The largest page that the service gives (OBSERVED: Pages, filters, limits). */
const PAGE = 500;
/** Names that one filter asks for (src/api/lists). */
const FILTER_NAMES = 50;

let account: Account;
beforeEach(async () => {
  account = await Account.open();
});
afterEach(() => account.close());

type Manifest = Record<string, unknown>;

async function desiredOf(manifest: Manifest): Promise<Desired> {
  const { desired, diagnostics } = await account.load(JSON.stringify({ tenon: 1, ...manifest }));
  if (desired === null) throw new Error(JSON.stringify(diagnostics.slice(0, 3)));
  return desired;
}

async function changed(now: Manifest, before: Manifest): Promise<readonly string[]> {
  return findChangedSince("main", await desiredOf(now), await desiredOf(before)).addresses;
}

async function planSince(now: Manifest, before: Manifest, more: Partial<PlanRequest> = {}): Promise<Plan> {
  const base = await desiredOf(before);
  const desired = await desiredOf(now);
  account.takeRequests();
  return account.plan(desired, { changedSince: findChangedSince("main", desired, base), ...more });
}

function zone(domain: string, ...targets: string[]): Manifest {
  return {
    domain,
    type: "master",
    soa_email: "hostmaster@example.com",
    records: targets.map((target, index) => ({ type: "A", name: `host${index}`, target })),
  };
}

const A = zone("a.example", "192.0.2.1", "192.0.2.2");
const B = zone("b.example", "192.0.2.1");
const VPC = { label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] };

test("what is written elsewhere, or in another order, is no change", async () => {
  const flipped = { records: A["records"], soa_email: A["soa_email"], type: "master", domain: "a.example" };
  expect(await changed({ domains: [B, flipped], vpcs: [VPC] }, { vpcs: [VPC], domains: [A, B] })).toEqual([]);
});

test("a default, a variable, a record set and a protection count at each object that they are used by", async () => {
  const mail = (priority: number) => ({ mail: [{ type: "MX", target: "mx.example.net.", priority }] });
  const used = { ...A, use: ["mail"] };
  expect(
    await changed({ record_sets: mail(10), domains: [used, B] }, { record_sets: mail(20), domains: [used, B] }),
  ).toEqual(["domain/a.example"]);
  const ttl = (ttl_sec: number) => ({ defaults: { record: { ttl_sec } }, domains: [A, B], vpcs: [VPC] });
  expect(await changed(ttl(3600), ttl(300))).toEqual(["domain/a.example", "domain/b.example"]);
  const region = (value: string) => ({
    variables: { region: { default: value } },
    vpcs: [{ ...VPC, region: "${var.region}" }],
    domains: [A],
  });
  expect(await changed(region("us-east"), region("us-west"))).toEqual(["vpc/prod"]);
  expect(await changed({ domains: [{ ...A, protect: true }, B] }, { domains: [A, B] })).toEqual(["domain/a.example"]);
  const subnet = { ...VPC, subnets: [{ label: "web", ipv4: "10.0.1.0/24", protect: true }] };
  expect(await changed({ vpcs: [subnet] }, { vpcs: [VPC] })).toEqual(["vpc/prod"]);
});

test("an entry that is new, gone, or moved to `removed` is a change, and another owner changes everything", async () => {
  expect(await changed({ domains: [B] }, { domains: [A] })).toEqual(["domain/a.example", "domain/b.example"]);
  expect(await changed({ removed: [{ domain: "a.example" }] }, { domains: [A] })).toEqual(["domain/a.example"]);
  expect(await changed({ owner: "edge", domains: [A], vpcs: [VPC] }, { domains: [A], vpcs: [VPC] })).toEqual([
    "domain/a.example",
    "vpc/prod",
  ]);
});

test("a consent that is new changes what it may free, by a glob or for what is declared no more; another account changes everything", async () => {
  const allow = (...consents: object[]) => ({
    owner: "edge",
    vpcs: [VPC, { ...VPC, label: "pair" }],
    domains: [A],
    allow: consents,
  });
  expect(await changed(allow({ delete: "vpc/legacy" }), allow())).toEqual(["vpc/legacy"]);
  expect(await changed(allow({ bulk: "vpc/p*" }), allow())).toEqual(["vpc/pair", "vpc/prod"]);
  expect(await changed(allow({ bulk: "domain/a.example/www/A" }), allow())).toEqual(["domain/a.example"]);
  expect(await changed(allow({ delete: "vpc/legacy" }), allow({ delete: "vpc/legacy" }))).toEqual([]);
  expect(await changed(allow(), allow({ delete: "vpc/legacy" }))).toEqual([]);
  const many = Array.from({ length: 101 }, (_, index) => ({ delete: `image/i${index}` }));
  expect(await changed(allow(...many), allow())).toEqual(expect.arrayContaining(["domain/a.example", "vpc/pair"]));
  expect(await changed({ account: "prod", domains: [A] }, { account: "other", domains: [A] })).toEqual([
    "domain/a.example",
  ]);
});

test("a prune that lacked consent is planned once a change gives it", async () => {
  await account.converge(JSON.stringify({ tenon: 1, owner: "edge", vpcs: [VPC, { ...VPC, label: "legacy" }] }));
  const before = { owner: "edge", vpcs: [VPC] };
  const now = { ...before, allow: [{ delete: "vpc/legacy", reason: "gone" }] };
  const plan = await planSince(now, before);
  expect(changeList(plan)).toEqual(["delete vpc/legacy", "delete vpc/legacy/subnet/web"]);
  expect(plan.guards.map(({ consent }) => consent)).toEqual(["given"]);
});

test("a consent that names a domain in Unicode is as good", async () => {
  const domain = { domain: "bücher.example", type: "master", soa_email: "hostmaster@example.com", records: [] };
  await account.converge(JSON.stringify({ tenon: 1, owner: "edge", domains: [domain] }));
  const now = { owner: "edge", allow: [{ delete: "domain/bücher.example" }] };
  const plan = await planSince(now, { owner: "edge" });
  expect(changeList(plan)).toEqual(["delete domain/xn--bcher-kva.example"]);
  expect(plan.guards.map(({ consent }) => consent)).toEqual(["given"]);
});

test("one record of 1,000 zones of 20 has changed: two requests, whatever else has drifted", async () => {
  await account.close();
  const names = Array.from({ length: 1_000 }, (_, index) => `z${index}.example`);
  // What the account has in the other zones is not read, so there is nothing in them: all of that has drifted.
  const domains = names.map((domain) => ({ domain, type: "master" as const, soa_email: "hostmaster@example.com" }));
  account = await Account.open({ seed: { tokens: [{ token: "emulator-token" }], domains } });
  const record_sets = {
    web: Array.from({ length: 20 }, (_, index) => ({ type: "A", name: `host${index}`, target: "192.0.2.1" })),
  };
  const common = { type: "master", soa_email: "hostmaster@example.com", use: ["web"] };
  const all = { record_sets, domains: [{ ...common, domain: names }] };
  const own = { ...common, domain: names[7], records: [{ type: "A", name: "new", target: "192.0.2.9" }] };
  const now = { record_sets, domains: [{ ...common, domain: names.toSpliced(7, 1) }, own] };
  const plan = await planSince(now, all);
  expect(account.takeRequests()).toEqual(["GET /domains", "GET /domains/30008/records"]);
  expect(changeList(plan)).toHaveLength(21);
  expect(plan.inputs.changedSince).toEqual({ name: "main", addresses: ["domain/z7.example"] });
  const nothing = await planSince(now, now);
  expect(account.takeRequests()).toEqual([]);
  expect(nothing.changes).toEqual([]);
});

test.each([1, 60, 120])("%d changed zones are found by filters, and each costs its own pages", async (count) => {
  const zones = Array.from({ length: 130 }, (_, index) => zone(`z${index}.example`));
  await account.converge(JSON.stringify({ tenon: 1, domains: zones }));
  const now = zones.map((one, index) => (index < count ? { ...one, soa_email: "dns@example.com" } : one));
  const plan = await planSince({ domains: now }, { domains: zones });
  expect(changeList(plan)).toHaveLength(count);
  const lists = account.takeRequests().filter((request) => request === "GET /domains");
  expect(lists.length).toBeLessThanOrEqual(Math.max(Math.ceil(count / FILTER_NAMES), Math.ceil(130 / PAGE)));
});

test("an entry that is gone is pruned if it carries the owner's tag, with consent; what was not read never is", async () => {
  const all = { owner: "edge", domains: [A, B, zone("c.example", "192.0.2.3")], vpcs: [VPC, { ...VPC, label: "old" }] };
  await account.converge(JSON.stringify({ tenon: 1, ...all }));
  // b.example is gone from the base already: a whole run would prune it, this one has not read it.
  const base = { ...all, domains: [A, zone("c.example", "192.0.2.3")] };
  const now = { ...all, domains: [A], vpcs: [VPC] };
  const plan = await planSince(now, base);
  expect(account.takeRequests().sort()).toEqual(["GET /domains", "GET /domains/30003/records", "GET /vpcs"]);
  expect(changeList(plan)).toEqual(["delete domain/c.example", "delete vpc/old", "delete vpc/old/subnet/web"]);
  expect(plan.guards.map(({ rule, address, consent }) => ({ rule, address, consent }))).toEqual([
    { rule: "delete", address: "domain/c.example", consent: "missing" },
    { rule: "delete", address: "vpc/old", consent: "missing" },
  ]);
  const agreed = await planSince(now, base, { consents: ALL_CONSENTS });
  const report = await account.apply(agreed);
  expect(report.destroyed).toBe(3);
  expect((await account.list("domains")).map(({ domain }) => domain)).toEqual(["a.example", "b.example"]);
});

test("several objects of the gone entry's label are each pruned, and none without the tag", async () => {
  const tagged = { owner: "edge", vpcs: [VPC] };
  await account.converge(JSON.stringify({ tenon: 1, ...tagged }));
  const body = { label: "prod", region: "us-east" };
  await account.api.send({ method: "POST", path: ["vpcs"], body: { ...body, description: "twin [tenon:edge]" } });
  await account.api.send({ method: "POST", path: ["vpcs"], body: { ...body, description: "somebody's" } });
  const plan = await planSince({ owner: "edge" }, tagged);
  expect(changeList(plan)).toEqual(["delete vpc/prod:101", "delete vpc/prod:101/subnet/web", "delete vpc/prod:102"]);
});

test("without an owner, or beside a target, an entry that is gone is left alone", async () => {
  await account.converge(JSON.stringify({ tenon: 1, domains: [A, B] }));
  expect(changeList(await planSince({ domains: [A] }, { domains: [A, B] }))).toEqual([]);
  expect(account.takeRequests()).toEqual([]);
  await account.converge(JSON.stringify({ tenon: 1, owner: "edge", domains: [A, B] }));
  const [now, base] = [
    { owner: "edge", domains: [zone("a.example", "192.0.2.7")] },
    { owner: "edge", domains: [A, B] },
  ];
  const plan = await planSince(now, base, { targets: ["domain/a.example"] });
  expect(changeList(plan)).toContain("update domain/a.example/host0/A");
  expect(changeList(plan).filter((line) => line.includes("b.example"))).toEqual([]);
});

test("a target and the change together select what both do", async () => {
  await account.converge(JSON.stringify({ tenon: 1, domains: [A, B] }));
  const now = { domains: [zone("a.example", "192.0.2.7", "192.0.2.2"), zone("b.example", "192.0.2.7")] };
  const plan = await planSince(
    now,
    { domains: [A, B] },
    { targets: ["domain/*/host0/A"], excludes: ["domain/b.example"] },
  );
  expect(changeList(plan)).toEqual(["update domain/a.example/host0/A"]);
});

test("a rename is followed, and the entry of the former label is not pruned", async () => {
  await account.converge(JSON.stringify({ tenon: 1, owner: "edge", vpcs: [VPC] }));
  const renamed = { owner: "edge", vpcs: [{ ...VPC, label: "main", moved_from: "prod" }] };
  const plan = await planSince(renamed, { owner: "edge", vpcs: [VPC] });
  expect(plan.inputs.changedSince?.addresses).toEqual(["vpc/main", "vpc/prod"]);
  expect(changeList(plan)).toEqual(["update vpc/main"]);
});

test("an entry that has not changed takes the object that another one lets go, within the same reads", async () => {
  const labelled = (label: string, more: Manifest = {}) => ({ ...VPC, label, ...more });
  await account.converge(JSON.stringify({ tenon: 1, owner: "edge", vpcs: [labelled("old"), labelled("other")] }));
  const [{ id }] = (await account.list("vpcs")) as [{ id: number }];
  const own = { ...labelled("old"), description: "taken" };
  const manifest = (...vpcs: object[]) => ({ owner: "edge", vpcs: [own, ...vpcs] });
  const drifted = { ...labelled("other"), description: "drifted" };
  const plan = await planSince(manifest(drifted), manifest(drifted, labelled("new", { id })));
  expect(account.takeRequests()).toEqual(["GET /vpcs"]);
  expect(changeList(plan)).toEqual(["update vpc/old"]);
  expect(plan.inputs.changedSince).toEqual({ name: "main", addresses: ["vpc/new"], affected: ["vpc/old"] });
});

test("beside the base, each change has its origin, and both plans share the reads", async () => {
  await account.converge(JSON.stringify({ tenon: 1, domains: [A, B] }));
  const second = (await account.list("domains", "30001", "records"))[1]?.["id"];
  await account.api.send({
    method: "PUT",
    path: ["domains", "30001", "records", String(second)],
    body: { target: "192.0.2.99" },
  });
  const now = { domains: [zone("a.example", "192.0.2.7", "192.0.2.2"), B] };
  const base = await desiredOf({ domains: [A, B] });
  const plan = await planSince(now, { domains: [A, B] }, { base: { name: "main", desired: base } });
  expect(account.takeRequests()).toEqual(["GET /domains", "GET /domains/30001/records"]);
  expect(
    plan.changes.filter(({ action }) => action !== "no-op").map(({ address, origin }) => [address, origin]),
  ).toEqual([
    ["domain/a.example/host0/A", "this-change"],
    ["domain/a.example/host1/A", "already-pending"],
  ]);
});

test("an address that is none, as a forged plan file may hold it, reads and prunes nothing", async () => {
  await account.converge(JSON.stringify({ tenon: 1, owner: "edge", domains: [A] }));
  const desired = await desiredOf({ owner: "edge" });
  account.takeRequests();
  const addresses = ["domain/%zz", "nothing/at/all", "domain", "__proto__"];
  const plan = await account.plan(desired, { changedSince: { name: "x", addresses } });
  expect(plan.changes).toEqual([]);
  expect(account.takeRequests()).toEqual([]);
});

test("four times the zones take some four times the comparisons", async () => {
  const many = (count: number) =>
    desiredOf({ domains: Array.from({ length: count }, (_, index) => zone(`z${index}.example`, "192.0.2.1")) });
  const sizes = new Map<number, readonly Desired[]>();
  for (const count of [100, 400]) sizes.set(count, [await many(count), await many(count)]);
  const compare = (count: number): void => {
    const [now, before] = sizes.get(count) ?? [];
    if (now === undefined || before === undefined) throw new Error("no such size");
    expect(findChangedSince("main", now, before).addresses).toEqual([]);
  };
  expect(await growth(100, 4, compare)).toBeLessThan(5);
});

test("a new consent is taken apart once, and not for each object that is declared", async () => {
  const names = Array.from({ length: 500 }, (_, index) => `d${index}.example`);
  const domains = [{ ...B, domain: names }];
  const before = await desiredOf({ domains });
  const operations = async (consents: number): Promise<number> => {
    const allow = Array.from({ length: consents }, (_, index) => ({
      delete: `domain/x*${index}`,
      until: "2020-01-01",
    }));
    const now = await desiredOf({ domains, allow });
    return operationsOf(() => findChangedSince("main", now, before));
  };
  await operations(10);
  const more = (await operations(90)) - (await operations(10));
  // To look whether it fits one object is one call.
  expect(more / 80 / names.length).toBeLessThan(1.5);
});
