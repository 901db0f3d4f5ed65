/** The product against a service in trouble: whatever goes wrong on the way, the account fits the manifests in the end. */

import { expect, test } from "vitest";
import type { Fault, FaultEffect } from "../../src/emulator/index.ts";
import { Account, ALL_CONSENTS, changeList } from "../support/account.ts";

const MANIFEST = `tenon: 1
vpcs:
  - label: prod
    region: us-east
    subnets:
      - { label: web, ipv4: 10.0.1.0/24 }
      - { label: db, ipv4: 10.0.2.0/24 }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
      - { type: MX, target: mx.example.net., priority: 10 }
      - { type: TXT, target: "v=spf1 -all" }
`;

const EFFECTS: readonly FaultEffect[] = [
  { type: "status", status: 500 },
  { type: "status", status: 429, retryAfterSeconds: 0 },
  { type: "html", status: 502 },
  { type: "busy" },
  { type: "maintenance" },
  { type: "drop-before" },
  { type: "drop-after" },
  { type: "late", delayMilliseconds: 20 },
  { type: "late", delayMilliseconds: 20, status: "drop" },
  { type: "half-body" },
  { type: "bad-json" },
  { type: "slow-headers", delayMilliseconds: 30 },
  { type: "slow-body", durationMilliseconds: 30 },
];

const MAX_RUNS = 20;

/** One run as a user would start it; false if something is left to do. */
async function run(account: Account): Promise<boolean> {
  try {
    const { plan } = await account.converge(MANIFEST, { consents: ALL_CONSENTS });
    return changeList(plan).length === 0;
  } catch {
    // The service could not be read: the user runs it again.
    return false;
  }
}

/** Runs until nothing is left to do, then looks at the account without faults. */
async function reach(faults: readonly Fault[], faultSeed: number): Promise<void> {
  const account = await Account.open({ faults, faultSeed });
  try {
    let runs = 1;
    while (!(await run(account))) {
      runs += 1;
      expect(runs).toBeLessThan(MAX_RUNS);
    }
    const met = account.emulator.requests.flatMap(({ fault }) => fault ?? []);
    expect(met).not.toEqual([]);
    account.emulator.setFaults([]);
    expect((await account.list("vpcs")).map((vpc) => vpc["label"])).toEqual(["prod"]);
    const [domain] = await account.list<{ id: number }>("domains");
    expect(await account.list("domains", String(domain?.id), "records")).toHaveLength(3);
    const { plan } = await account.converge(MANIFEST);
    expect(changeList(plan)).toEqual([]);
  } finally {
    await account.close();
  }
}

test.concurrent.each([1, 2, 3])("runs under faults of every effect end in what is declared (seed %i)", (seed) =>
  reach(
    EFFECTS.map((effect) => ({ effect, rate: 0.02 })),
    seed,
  ),
);

test.concurrent.each(EFFECTS)("runs in which each sixth request meets $type end in what is declared", (effect) =>
  reach([{ effect, every: 6 }], 1),
);
