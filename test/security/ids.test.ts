import { expect, test } from "vitest";
import type { Desired } from "../../src/index.ts";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { Account } from "../support/account.ts";
import { growth } from "../support/operations.ts";
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
