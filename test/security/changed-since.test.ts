import { join } from "node:path";
import { expect, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { type Desired, findChangedSince } from "../../src/index.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { Account } from "../support/account.ts";

const ROOT = "tenon: 1\nowner: edge\nfiles: [m.yaml]\nallow: [{ delete: 'vpc/*' }, { delete: 'image/*' }]\n";
/** @param description with or without the owner's tag */
function seedOf(description: string): NonNullable<EmulatorOptions["seed"]> {
  const vpc = (id: number, label: string) => {
    const subnets = [{ label: "web", ipv4: `10.0.${id}.0/24` }];
    return { id, label, region: "us-east", description, subnets };
  };
  const image = (label: string, month: number) =>
    ({ label, description, status: "available", created: `2026-0${month}-01T00:00:00` }) as const;
  return {
    vpcs: [vpc(101, "net1"), vpc(102, "net2"), vpc(103, "other")],
    images: [image("golden-1", 1), image("golden-2", 2), image("golden-3", 3), image("lone", 4)],
  };
}

/** Drifted, and no matter of any change here. */
const OTHER = "  - { label: other, region: us-east, description: drifted }\n";
const LONE = "  - { label: lone, capture: { disk_id: 1 }, description: drifted }\n";
const GOLDEN = "  - { label: golden-3, family: golden, keep: 2, capture: { disk_id: 1 } }\n";
const IMAGES = `images:\n${GOLDEN}${LONE}`;

interface Case {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  /** What of both is this change's. */
  readonly brings: readonly string[];
  readonly root?: string;
}

const CASES: readonly Case[] = [
  {
    what: "the entry with the id that another entry's `removed` means is taken away",
    before: `vpcs:\n${OTHER}  - { label: net3, id: 101, region: us-east }\nremoved: [{ vpc: net1 }]\n`,
    after: `vpcs:\n${OTHER}removed: [{ vpc: net1 }]\n`,
    brings: ["delete vpc/net1", "delete vpc/net1/subnet/web"],
  },
  {
    what: "the same in a project without an owner",
    before: `vpcs:\n${OTHER}  - { label: net3, id: 101, region: us-east }\nremoved: [{ vpc: net1 }]\n`,
    after: `vpcs:\n${OTHER}removed: [{ vpc: net1 }]\n`,
    brings: ["delete vpc/net1", "delete vpc/net1/subnet/web"],
    root: ROOT.replace("owner: edge\n", ""),
  },
  {
    what: "the entry goes that renames an object",
    before: `vpcs:\n${OTHER}  - { label: net3, moved_from: net1, region: us-east }\n`,
    after: `vpcs:\n${OTHER}`,
    brings: ["delete vpc/net1", "delete vpc/net1/subnet/web"],
  },
  {
    what: "`moved_from` is taken off the entry that renames an object",
    before: `vpcs:\n${OTHER}  - { label: net3, moved_from: net1, region: us-east }\n`,
    after: `vpcs:\n${OTHER}  - { label: net3, region: us-east }\n`,
    brings: ["create vpc/net3", "delete vpc/net1", "delete vpc/net1/subnet/web"],
  },
  {
    what: "a family is taken off its entry",
    before: IMAGES,
    after: IMAGES.replace("family: golden, keep: 2, ", ""),
    brings: ["delete image/golden-2"],
  },
  {
    what: "an image of a family's name takes a place in it, and says nothing of the family",
    before: IMAGES,
    after: `${IMAGES}  - { label: golden-1, capture: { disk_id: 1 } }\n`,
    brings: ["delete image/golden-2"],
  },
];

test("what a change sets free is in the plan of what has changed, though its entry has not", async () => {
  for (const { what, before, after, brings, root = ROOT } of CASES) {
    const place = await folder({
      ...{ "main/tenon.yaml": root, "main/m.yaml": `tenon: 1\n${before}` },
      ...{ "head/tenon.yaml": root, "head/m.yaml": `tenon: 1\n${after}` },
    });
    const service = await emulator({ seed: seedOf(root === ROOT ? "[tenon:edge]" : "") });
    const options = { cwd: join(place, "head"), env: envOf(service) };
    for (const flag of ["--base", "--changed-since"]) {
      const { code, stdout } = await here(["plan", flag, "../main", "--format", "json"], options);
      const { resource_changes, tenon } = JSON.parse(stdout) as Planned;
      const found = resource_changes.flatMap(({ address, change: { actions } }) =>
        tenon.changes[address]?.origin === "this-change" ? actions.map((action) => `${action} ${address}`) : [],
      );
      const removed = found.filter((one) => !/^(?:update|no-op)/.test(one));
      expect([what, flag, code, removed.sort()]).toEqual([what, flag, 0, brings]);
    }
    // What is no matter of the change stays out of the run that is narrowed to it, and the rest is carried out.
    service.clearRequests();
    expect((await here(["plan", "--changed-since", "../main", "--out", "a.plan"], options)).code).toBe(0);
    const reads = service.requests.length;
    const pin = ["--pin", "--changed-since", "../main"];
    const applied = await here(["apply", "--yes", "--plan", "a.plan", ...pin], options);
    expect([what, applied.code, applied.stdout]).toEqual([what, 0, expect.stringContaining("destroyed")]);
    expect(reads).toBe(1);
    const sent = service.requests
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${path}`);
    expect(sent.filter((one) => one.startsWith("DELETE"))).not.toEqual([]);
    expect(sent.filter((one) => /vpcs\/103|private\/4/.test(one))).toEqual([]);
  }
});

interface Planned {
  readonly resource_changes: readonly {
    readonly address: string;
    readonly change: { readonly actions: readonly string[] };
  }[];
  readonly tenon: { readonly changes: Readonly<Record<string, { readonly origin: string }>> };
}

test("the entries of a family are read once, however many images it lets go", async () => {
  const reads = async (count: number, hasFamilyChanged: boolean): Promise<number> => {
    const image = (label: string) => ({ label, description: "[tenon:edge]", status: "available" }) as const;
    const labels = Array.from({ length: count }, (_, index) => `g-${index}`);
    const old = labels.map((label) => image(label.replace("g-", "g-z")));
    const account = await Account.open({ seed: { images: [...labels.map(image), ...old] } });
    const desiredOf = async (note: string) => {
      const family = labels.map((label) => ({ label, family: "g", keep: 1, note: hasFamilyChanged ? note : "" }));
      const images = [...family, { label: "lone", note }];
      return (await account.load(JSON.stringify({ tenon: 1, owner: "edge", images }))).desired as Desired;
    };
    const [now, base] = [await desiredOf("a"), await desiredOf("b")];
    let looks = 0;
    const declared = now.declared.map((entry) => ({
      ...entry,
      get address() {
        looks += 1;
        return entry.address;
      },
    }));
    await account.plan({ ...now, declared } as Desired, { changedSince: findChangedSince("main", now, base) });
    await account.close();
    return looks;
  };
  for (const hasFamilyChanged of [true, false]) {
    expect((await reads(80, hasFamilyChanged)) / (await reads(20, hasFamilyChanged))).toBeLessThan(6);
  }
});
