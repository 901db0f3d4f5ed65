import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Report } from "../../src/index.ts";
import { Account, HASTY_CLOCK } from "../support/account.ts";

const SEED = { disks: [{ id: 7, label: "disk", size: 1024 }] };
const PROJECT = `tenon: 1
owner: edge
vpcs: [{ label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.0.0/24 }] }]
images: [{ label: golden, description: base, capture: { disk_id: 7 } }]
domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, target: 192.0.2.1 }] }]
`;

let account: Account;

beforeEach(async () => {
  account = await Account.open({ seed: SEED as never });
});

afterEach(() => account.close());

/** Two runs that planned at the same moment, one applied after the other. */
async function applyTwice(): Promise<[Report, Report]> {
  const { desired } = await account.load(PROJECT);
  if (desired === null) throw new Error("does not load");
  const plans = [await account.plan(desired), await account.plan(desired)] as const;
  const first = await account.apply(plans[0], { clock: HASTY_CLOCK });
  return [first, await account.apply(plans[1], { clock: HASTY_CLOCK })];
}

async function idsOf(...path: string[]): Promise<string[]> {
  return (await account.list(...path)).map(({ id }) => String(id));
}

describe("an equal VPC or image that another run made at the same time", () => {
  test("is told with both ids by the run that ends last, and left to a person", async () => {
    const [first, second] = await applyTwice();
    expect(first.surprises).toEqual([]);
    const [vpcs, images] = [await idsOf("vpcs"), await idsOf("images")];
    expect([vpcs.length, images.length]).toEqual([2, 2]);
    const told = second.surprises.filter((surprise) => surprise.includes("at the same time"));
    expect(told.toSorted()).toEqual([
      expect.stringMatching(new RegExp(`equal image at the same time: this run ${images[1]}, they ${images[0]};`)),
      expect.stringMatching(new RegExp(`equal vpc at the same time: this run ${vpcs[1]}, they ${vpcs[0]};`)),
    ]);
    expect(account.emulator.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
  });

  test("is looked for once, and only where a person would have to choose", async () => {
    const { desired } = await account.load(PROJECT);
    if (desired === null) throw new Error("does not load");
    const plan = await account.plan(desired);
    account.takeRequests();
    await account.apply(plan, { clock: HASTY_CLOCK });
    const lists = account.takeRequests().filter((request) => /^GET .*(vpcs|images|domains|records)$/.test(request));
    expect(lists.toSorted()).toEqual(["GET /images", "GET /vpcs"]);
  });
});
