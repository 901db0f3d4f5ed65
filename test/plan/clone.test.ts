/** Domains made as copies of one: what it costs, what comes of it, and what an interrupted or refused copy leaves behind. */

import { afterEach, expect, test } from "vitest";
import type { Seed } from "../../src/emulator/index.ts";
import { type Api, applyPlan, type Desired, findUnreviewed, type Plan, systemClock } from "../../src/index.ts";
import { Account, ALL_CONSENTS } from "../support/account.ts";
import { message, soa, startScripted } from "../support/scripted-nameserver.ts";

let account: Account;
afterEach(() => account.close());

const RECORDS = [
  { type: "A", targets: ["192.0.2.1", "192.0.2.2"] },
  { type: "MX", target: "mx1.example.net.", priority: 10 },
  { type: "MX", target: "mx2.example.net.", priority: 20 },
  { type: "TXT", target: 'v=spf1 "quoted" -all; \\ ☂' },
  { type: "TXT", name: "_dmarc", target: "v=DMARC1; p=reject" },
  { type: "CNAME", name: "www", target: "web.example.net." },
  { type: "CAA", tag: "issue", target: ";" },
  { type: "SRV", service: "sip", protocol: "tcp", target: ".", priority: 0, weight: 0, port: 0 },
  { type: "A", name: "*", target: "192.0.2.3" },
  { type: "AAAA", target: "2001:db8::1" },
  { type: "TXT", name: "old", target: "x", ttl_sec: 300 },
];
/** One entry has two targets. */
const RECORDS_OF_EACH = 12;

function parked(count: number, fields: Record<string, unknown> = {}): string {
  const domain = Array.from({ length: count }, (_, index) => `parked-${index}.example`);
  const entry = { domain, type: "master", soa_email: "h@example.com", tags: ["parked"], records: RECORDS, ...fields };
  return JSON.stringify({ tenon: 1, owner: "edge", domains: [entry] });
}

async function desiredOf(manifest: string): Promise<Desired> {
  const { desired, diagnostics } = await account.load(manifest);
  if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  return desired;
}

/** All domains with their records, without what is the service's to choose. */
async function contents(): Promise<unknown> {
  const domains = await account.list<Record<string, unknown>>("domains");
  const whole = await Promise.all(
    domains.map(async ({ id, created: _created, updated: _updated, ...domain }) => {
      const records = await account.list<Record<string, unknown>>("domains", String(id), "records");
      const values = records.map(({ id: _id, created: _made, updated: _changed, ...record }) => JSON.stringify(record));
      return { ...domain, records: values.sort() };
    }),
  );
  return whole.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

test("a hundred parked domains of twelve records take 15 + 2·99 requests, and are what --no-clone would make", async () => {
  account = await Account.open();
  const desired = await desiredOf(parked(100));
  const plain = await account.plan(desired, { clone: false });
  expect([plain.requestCount, plain.strategies]).toEqual([100 * (RECORDS_OF_EACH + 3), []]);
  const plan = await account.plan(desired);
  expect(plan.requestCount).toBe(RECORDS_OF_EACH + 2 + 2 * 99 + 1);
  expect(plan.strategies).toMatchObject([{ type: "clone", source: "domain/parked-0.example" }]);
  expect(plan.strategies[0]?.copies).toHaveLength(99);
  expect(plan.strategies[0]).toMatchObject({ requests: 213, requestsWithout: 1500 });
  account.takeRequests();
  const report = await account.apply(plan);
  expect(account.takeRequests()).toHaveLength(213);
  expect([report.added, report.failed, report.skipped]).toEqual([100 * (RECORDS_OF_EACH + 1), 0, 0]);
  const cloned = await contents();
  expect((await account.plan(desired)).steps).toEqual([]);
  await account.close();
  account = await Account.open();
  await account.apply(await account.plan(desired, { clone: false }));
  expect(cloned).toEqual(await contents());
});

/** Passes requests on; `after` may do something to what a clone has made before anybody hears of it. */
function watching(api: Api, after: (id: number) => Promise<object>): Api {
  return {
    get requestCount() {
      return api.requestCount;
    },
    get: (request, signal) => api.get(request, signal),
    list: (request, signal) => api.list(request, signal),
    upload: (request, signal) => api.upload(request, signal),
    send: async (request, signal) => {
      const answer = await api.send(request, signal);
      if (!answer.ok || request.path.at(-1) !== "clone") return answer;
      const { id } = answer.body as { id: number };
      return { ok: true, body: { ...(answer.body as object), ...(await after(id)) } as never };
    },
  };
}

test("whether the service copies status, tags and texts or does not, every copy ends as declared", async () => {
  const source = { description: "kept by the source", group: "one" };
  for (const changed of [
    { status: "active", tags: [] },
    { status: "disabled", tags: ["strange", "tenon:edge"], description: "", ttl_sec: 300 },
  ]) {
    account = await Account.open();
    const manifest = JSON.parse(parked(3)) as { domains: Record<string, unknown>[] };
    const [entry] = manifest.domains;
    manifest.domains = [
      { ...entry, ...source, domain: "first.example" },
      { ...entry, domain: ["second.example", "third.example"] },
    ];
    const desired = await desiredOf(JSON.stringify(manifest));
    const api = watching(account.api, async (id) => {
      await account.api.send({ method: "PUT", path: ["domains", String(id)], body: changed });
      return changed;
    });
    const plan = await account.plan(desired);
    expect(plan.strategies).toHaveLength(1);
    await applyPlan({ plan, api, root: account.folder, concurrency: 8, clock: systemClock, journal: null });
    expect((await account.plan(desired)).changes.filter(({ action }) => action !== "no-op")).toEqual([]);
    const domains = await account.list<{ domain: string; description: string; group: string }>("domains");
    expect(
      domains.filter(({ description, group }) => `${description}${group}` !== "").map(({ domain }) => domain),
    ).toEqual(["first.example"]);
    if (changed.status === "active") await account.close();
  }
});

test("a name that another account has fails alone: the source is activated all the same, and the next run clones no more from it", async () => {
  const seed = {
    other_accounts: [{ domains: [{ domain: "parked-2.example", type: "master", soa_email: "x@example.com" }] }],
  };
  account = await Account.open({ seed: seed as unknown as Seed });
  const desired = await desiredOf(parked(4));
  const report = await account.apply(await account.plan(desired));
  const failed = report.steps
    .filter(({ outcome }) => outcome !== "done")
    .map(({ step, outcome }) => `${outcome} ${step}`);
  expect(failed).toEqual(["failed clone domain/parked-2.example", "skipped activate domain/parked-2.example"]);
  const domains = await account.list<{ domain: string; status: string }>("domains");
  expect(domains.map(({ domain, status }) => `${domain} ${status}`)).toEqual([
    "parked-0.example active",
    "parked-1.example active",
    "parked-3.example active",
  ]);
  const again = await account.plan(desired);
  expect([again.strategies, again.requestCount]).toEqual([[], RECORDS_OF_EACH + 3]);
});

test("wherever cloning is cut off, the next run goes on with what is there, and sends one request more at most", {
  timeout: 60_000,
}, async () => {
  let whole = 1;
  for (let cut = 0; cut <= whole; cut += 1) {
    account = await Account.open();
    const desired = await desiredOf(parked(4));
    const plan = await account.plan(desired);
    whole = plan.steps.length;
    await account.apply(firstSteps(plan, cut));
    const rest = await account.plan(desired, { consents: ALL_CONSENTS });
    expect(findUnreviewed(rest, plan)).toEqual([]);
    expect(rest.steps.length, `after ${cut} of ${whole}`).toBeLessThanOrEqual(whole - cut + 1);
    const report = await account.apply(rest);
    expect(report.steps.filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect((await account.plan(desired)).steps).toEqual([]);
    if (cut < whole) await account.close();
  }
  expect(whole).toBe(RECORDS_OF_EACH + 2 + 3 * 2);
});

function firstSteps(plan: Plan, count: number): Plan {
  const steps = plan.steps.slice(0, count);
  const wanted = new Set(steps.flatMap((step) => step.after));
  return { ...plan, steps, barriers: plan.barriers.filter((barrier) => wanted.has(barrier.id)) };
}

test("a copy whose correction failed is corrected by the next run, whatever it has brought with it", async () => {
  account = await Account.open();
  const manifest = JSON.parse(parked(1)) as { domains: Record<string, unknown>[] };
  const [entry] = manifest.domains;
  const set = { description: "of the first", axfr_ips: ["192.0.2.53"], ttl_sec: 300 };
  manifest.domains = [
    { ...entry, ...set, domain: "first.example" },
    { ...entry, domain: ["second.example", "third.example"] },
    { ...entry, domain: "zero.example", description: "", axfr_ips: [], ttl_sec: 0, tags: [] },
  ];
  const desired = await desiredOf(JSON.stringify(manifest));
  const plan = await account.plan(desired);
  expect(plan.strategies[0]?.copies.length).toBeGreaterThan(1);
  const clones = plan.steps.filter(({ id }) => !id.startsWith("activate "));
  await account.apply({ ...plan, steps: clones });
  await account.apply(await account.plan(desired, { consents: ALL_CONSENTS }));
  const domains = await account.list<Record<string, unknown>>("domains");
  const shown = domains.map(({ domain, description, axfr_ips, ttl_sec, tags }) => [
    domain,
    description,
    axfr_ips,
    ttl_sec,
    tags,
  ]);
  expect(shown).toEqual([
    ["first.example", "of the first", ["192.0.2.53"], 300, ["parked", "tenon:edge"]],
    ["second.example", "", [], 0, ["parked", "tenon:edge"]],
    ["third.example", "", [], 0, ["parked", "tenon:edge"]],
    ["zero.example", "", [], 0, ["tenon:edge"]],
  ]);
});

test("a long chain of clones, and many clones of one large domain, are planned in linear size", async () => {
  account = await Account.open();
  const chain = Array.from({ length: 3000 }, (_, index) => ({
    domain: `z${index}.example`,
    create_from: { clone: `z${index + 1}.example` },
  }));
  const last = { domain: "z3000.example", type: "master", soa_email: "h@example.com", records: RECORDS };
  const chained = await account.plan(await desiredOf(JSON.stringify({ tenon: 1, domains: [...chain, last] })));
  expect(chained.steps).toHaveLength(2 * 3000 + RECORDS_OF_EACH + 2);
  const records = Array.from({ length: 2000 }, (_, index) => ({ type: "A", name: `h${index}`, target: "192.0.2.1" }));
  const copies = Array.from({ length: 300 }, (_, index) => ({
    domain: `c${index}.example`,
    create_from: { clone: "z3000.example" },
  }));
  const many = await account.plan(
    await desiredOf(JSON.stringify({ tenon: 1, domains: [...copies, { ...last, records }] })),
  );
  const edges = [...many.steps, ...many.barriers].reduce((sum, { after }) => sum + after.length, 0);
  expect(edges).toBeLessThan(5 * many.steps.length);
});

test("many clones of a domain that stays wait for one point, at which all its changes are done", async () => {
  const source = { domain: "source.example", type: "master", soa_email: "h@example.com" };
  const copies = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      domain: `c${index}.example`,
      create_from: { clone: "source.example" },
    }));
  const manifest = (clones: number, hosts: number, fields: object) => {
    const records = Array.from({ length: hosts }, (_, index) => ({
      type: "A",
      name: `h${index}`,
      target: "192.0.2.1",
    }));
    return JSON.stringify({ tenon: 1, domains: [...copies(clones), { ...source, ...fields, records }] });
  };
  account = await Account.open({ seed: { domains: [{ ...source, records: [] }] } as unknown as Seed });
  for (const fields of [{}, { description: "changed" }]) {
    const { steps, barriers } = await account.plan(await desiredOf(manifest(300, 400, fields)));
    const edges = [...steps, ...barriers].reduce((sum, { after }) => sum + after.length, 0);
    expect(edges).toBeLessThan(3 * steps.length);
  }
  const few = await account.plan(await desiredOf(manifest(2, 3, { description: "changed" })));
  const content = few.steps.map(({ id }) => id).filter((id) => id.includes("source.example"));
  expect(content).toHaveLength(4);
  const clones = few.steps.filter(({ id }) => id.startsWith("clone "));
  expect(clones.map(({ after }) => after)).toEqual([
    ["all of content domain/source.example"],
    ["all of content domain/source.example"],
  ]);
  expect(few.barriers).toEqual([{ id: "all of content domain/source.example", after: content.sort() }]);
  expect(await account.apply(few)).toMatchObject({ failed: 0, skipped: 0 });
  const hosts = (await account.list<{ domain: string; id: number }>("domains")).map(async ({ id }) => {
    return (await account.list("domains", String(id), "records")).length;
  });
  expect(await Promise.all(hosts)).toEqual([3, 3, 3]);
});

test("a thousand domains of the same records are grouped in linear time, and each clone waits for one barrier", async () => {
  account = await Account.open();
  const plan = await account.plan(await desiredOf(parked(1000)));
  expect(plan.requestCount).toBe(RECORDS_OF_EACH + 2 + 2 * 999 + 1);
  const clones = plan.steps.filter(({ id }) => id.startsWith("clone "));
  expect(clones.every(({ after }) => after.length <= 2)).toBe(true);
});

test("create_from clone keeps what it does not state, takes other owners' tags off, and puts ours on", async () => {
  const old = { type: "master", soa_email: "old@example.com" };
  const seed = {
    domains: [
      {
        domain: "old.example",
        ...old,
        description: "kept",
        tags: ["site", "tenon:other"],
        records: [{ type: "A", target: "192.0.2.1" }],
      },
    ],
  };
  account = await Account.open({ seed: seed as unknown as Seed });
  const manifest = {
    tenon: 1,
    owner: "edge",
    domains: [{ domain: "new.example", create_from: { clone: "OLD.example" }, ttl_sec: 300 }],
  };
  const desired = await desiredOf(JSON.stringify(manifest));
  const plan = await account.plan(desired);
  expect(plan.steps.map(({ id }) => id)).toEqual(["clone domain/new.example", "activate domain/new.example"]);
  // What an apply that is cut off between the two needs to go on.
  expect(plan.warnings.map(({ detail }) => detail).join()).toContain("--take-ownership-from=other");
  const report = await account.apply(plan);
  expect(report.failed).toBe(0);
  const domains = await account.list<Record<string, unknown>>("domains");
  expect(domains.find(({ domain }) => domain === "new.example")).toMatchObject({
    description: "kept",
    soa_email: "old@example.com",
    ttl_sec: 300,
    status: "active",
    tags: ["site", "tenon:edge"],
  });
  expect((await account.plan(desired)).steps).toEqual([]);
});

test("create_from axfr brings the zone in once, and leaves its records alone from then on", async () => {
  const server = await startScripted((socket, { id }) => {
    const address = { type: "A", name: "www.example.com", ttl: 300, data: "192.0.2.1" } as const;
    socket.end(message({ id, answers: [soa(), address, soa()] }));
  });
  account = await Account.open();
  const axfr = `${server.host}:${server.port}`;
  const manifest = {
    tenon: 1,
    owner: "edge",
    domains: [{ domain: "example.com", create_from: { axfr }, ttl_sec: 300 }],
  };
  const desired = await desiredOf(JSON.stringify(manifest));
  const plan = await account.plan(desired);
  expect(plan.warnings.map(({ code }) => code)).toEqual(["served-while-made"]);
  expect(plan.steps.map(({ id }) => id)).toEqual(["import domain/example.com", "activate domain/example.com"]);
  const report = await account.apply(plan);
  expect([report.failed, server.queries.length]).toEqual([0, 1]);
  const [domain] = await account.list<Record<string, unknown>>("domains");
  expect(domain).toMatchObject({ tags: ["tenon:edge"], ttl_sec: 300, soa_email: "hostmaster@example.com" });
  expect(await account.list("domains", String(domain?.["id"]), "records")).toHaveLength(1);
  expect((await account.plan(desired)).steps).toEqual([]);
});

test("a server that refuses the transfer makes nothing, and the failure says why", async () => {
  const server = await startScripted((socket, { id }) => socket.end(message({ id, rcode: 5 })));
  account = await Account.open();
  const axfr = `${server.host}:${server.port}`;
  const manifest = { tenon: 1, domains: [{ domain: "example.com", create_from: { axfr } }] };
  const report = await account.apply(await account.plan(await desiredOf(JSON.stringify(manifest))));
  expect(report.steps.map(({ outcome }) => outcome)).toEqual(["failed", "skipped"]);
  expect(report.steps[0]?.failure?.message).toMatch(/transfer/);
  expect(await account.list("domains")).toEqual([]);
});
