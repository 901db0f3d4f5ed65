import { expect, test } from "vitest";
import type { Desired } from "../../src/index.ts";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { Account } from "../support/account.ts";
import { growth, operationsOf } from "../support/operations.ts";
import { expectPlainText } from "./hostile.ts";

const IMAGE = {
  ...{ label: "old", description: "", status: "available", type: "manual", is_public: false, size: 1, tags: [] },
  ...{
    created: "2026-01-02T03:04:05",
    updated: "2026-01-02T03:04:05",
    expiry: null,
    eol: null,
    vendor: null,
    region: "us-east",
  },
};

/** Ids that would be another path, another host, another request or another object's. */
const IDS = [
  "private/../../domains/5",
  "private/5/../../../domains/5",
  "../domains/5",
  "private/%2e%2e/%2e%2e/domains/5",
  "private\\..\\..\\domains\\5",
  "private/5?x=",
  "private/5#",
  "private/5/clone",
  "//evil.example/5",
  "private/5\r\nx-a: b",
  "private/",
  "",
  "..",
  "private/..",
  "\u202eprivate/5",
];

test("an image is deleted by an id that leads to no other path, whatever the service says its id is", async () => {
  const seed = { domains: [{ id: 5, domain: "kept.example" }], images: [{ label: "kept", size: 1 }] };
  const behind = await emulator({ seed: seed as never });
  const cwd = await folder({
    "tenon.yaml": 'tenon: 1\nremoved: [{ image: old }]\nallow: [{ delete: "*", reason: r }]\n',
  });
  for (const id of IDS) {
    const body = JSON.stringify({ data: [{ ...IMAGE, id }], page: 1, pages: 1, results: 1 });
    const service = await failing(behind, (request) => (request === "GET /v4/images" ? { status: 200, body } : null));
    const { code, stdout, stderr } = await run(["apply", "--yes", "--retry-for", "0s"], { cwd, env: envOf(service) });
    expectPlainText(stdout + stderr);
    expect([id, code === 0]).toEqual([id, false]);
    for (const request of service.requests.filter((one) => !one.startsWith("GET "))) {
      expect([id, request]).toEqual([id, expect.stringMatching(/^DELETE \/v4\/images\/[\w%]+$/)]);
    }
  }
  const left = async (path: string): Promise<unknown> =>
    (await fetch(`${behind.baseUrl}${path}`, { headers: { authorization: "Bearer emulator-token" } })).json();
  expect(await left("/domains")).toMatchObject({ results: 1 });
  expect(await left("/images")).toMatchObject({ results: 1 });
});

test("VPCs of one label are each compared with an entry alone, whatever else is in the account", async () => {
  const planned = async (entries: number): Promise<void> => {
    const labels = Array.from({ length: entries }, (_, index) => `l${index}`);
    const vpcs = labels.flatMap((label, entry) =>
      Array.from({ length: 20 }, (_, index) => ({ id: entry * 20 + index + 1, label, region: "us-east", subnets: [] })),
    );
    const account = await Account.open({ seed: { vpcs } });
    const declared = labels.map((label, index) => ({ label, region: "us-east", id: 9_000_000 + index }));
    const { desired } = await account.load(JSON.stringify({ tenon: 1, vpcs: declared }));
    expect((await account.plan(desired as Desired)).steps).toEqual([]);
    await account.close();
  };
  expect(await growth(15, 4, planned)).toBeLessThan(6);
}, 60_000);

test("domains of one name that are compared with an entry count together", async () => {
  const at = "2026-11-29T19:31:54";
  const label = "a".repeat(60);
  const zone = `${label}.${label}.${label}.example`;
  const planned = async (domains: number): Promise<number> => {
    const ids = Array.from({ length: domains }, (_, index) => index + 1);
    const none = {
      axfr_ips: [],
      master_ips: [],
      expire_sec: 0,
      refresh_sec: 0,
      retry_sec: 0,
      ttl_sec: 0,
      group: "",
      tags: [],
    };
    const domain = (id: number) => ({
      ...none,
      id,
      domain: zone,
      type: "master",
      soa_email: "a@a.example",
      status: "active",
      description: "",
      created: at,
      updated: at,
    });
    const rest = {
      port: 0,
      priority: 0,
      weight: 0,
      ttl_sec: 0,
      protocol: null,
      service: null,
      tag: null,
      created: at,
      updated: at,
    };
    const records = (of: number) =>
      Array.from({ length: 1_000 }, (_, index) => ({
        ...rest,
        id: of * 10_000 + index,
        type: "TXT",
        name: "",
        target: "x".repeat(1_000),
      }));
    const lists = {
      domains: ids.map(domain),
      images: [],
      vpcs: [],
      ...Object.fromEntries(ids.map((id) => [`domains/${id}/records`, records(id)])),
    };
    const head = {
      kind: "tenon-live",
      format_version: 2,
      read_at: `${at}.000Z`,
      served_at: `${at}.000Z`,
      host: "a.example",
      dialect: "node",
      account: null,
    };
    const patterns = Array.from({ length: 300 }, (_, index) => ({ type: "AAAA", name: `${index}.` }));
    const entry = {
      domain: zone,
      id: 777_777,
      type: "master",
      soa_email: "a@a.example",
      ignore: patterns,
      records: [],
    };
    const cwd = await folder({
      "tenon.yaml": JSON.stringify({ tenon: 1, owner: "edge", domains: [entry] }),
      "account.json": JSON.stringify({ ...head, lists, unread: [] }),
    });
    return operationsOf(() => run(["plan", "--live", "account.json", "--allow", "bulk=*"], { cwd }));
  };
  await planned(1);
  // The seventh is beyond what a plan compares, and what is left is to read the others.
  expect((await planned(20)) / (await planned(7))).toBeLessThan(2);
}, 60_000);
