/** Plan files that somebody has forged: what is shown of them, and what an apply of them does. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import type { Plan } from "../../src/index.ts";
import { open, parsePlanFile } from "../../src/index.ts";
import { renderPlanJson } from "../../src/render/index.ts";
import { shownSources } from "../../src/render/view.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";
import { change, plan, record } from "../render/plans.ts";
import { growth } from "../support/operations.ts";
import { withDigest, writes } from "./hostile.ts";

interface Saved {
  resource_changes: { address: string; change: { actions: string[]; after: Record<string, unknown> | null } }[];
  planned_values: unknown;
  tenon: { guards: object[]; steps: object[]; changes: Record<string, object>; requests: number; owner: string | null };
}

const FOREIGN = { id: 77, label: "theirs", region: "us-east", description: "not yours" };

/** An account with something of somebody else's, a project, and a plan that was forged after its review. */
async function forged(forge: (plan: Saved) => void, manifest: string = PROJECT): Promise<Applied> {
  const service = await emulator({
    seed: { vpcs: [FOREIGN, { id: 5, label: "old", region: "us-east", description: "x [tenon:edge]" }] } as never,
  });
  const cwd = await folder({ "tenon.yaml": manifest });
  const options = { cwd, env: envOf(service) };
  const plan = JSON.parse((await run(["plan", "--format", "json"], options)).stdout) as Saved;
  forge(plan);
  // The digest keeps nobody from forging: it is a sum of what the file says, without a key.
  await writeFile(join(cwd, "the.plan"), withDigest(JSON.stringify(plan)));
  service.clearRequests();
  const { code, stderr } = await run(["apply", "--yes", "--plan", "the.plan"], options);
  return { service, code, stderr };
}

interface Applied {
  readonly service: Emulator;
  readonly code: number | null;
  readonly stderr: string;
}

const WITHOUT_OWNER: string = PROJECT.replace("owner: edge\n", "");

test("changes and requests that were forged into a reviewed plan are never done", async () => {
  const { code, service } = await forged((plan) => {
    const [first] = plan.resource_changes;
    const extra = structuredClone(first);
    const key = "vpc/theirs";
    if (extra === undefined) throw new Error("the plan is empty");
    extra.address = key;
    extra.change = { actions: ["delete"], after: null, before: FOREIGN } as never;
    plan.resource_changes.push(extra);
    plan.tenon.changes[key] = { ...plan.tenon.changes[first?.address ?? ""] };
    plan.tenon.steps = plan.tenon.steps.map((step) => ({ ...step, method: "DELETE", path: ["vpcs", "77"] }));
    for (const change of plan.resource_changes)
      if (change.change.after !== null) change.change.after["note"] = "forged";
  }, WITHOUT_OWNER);
  // What the project says is not what the forged file shows, or it is done as the project says it.
  expect([0, 1, 5]).toContain(code);
  expect(writes(service).filter((request) => request.startsWith("DELETE"))).toEqual([]);
  expect(writes(service).filter((request) => request.includes("/77"))).toEqual([]);
});

test("a reviewed plan with a change taken out of it refuses that change", async () => {
  const { code, service, stderr } = await forged((plan) => {
    plan.resource_changes = plan.resource_changes.filter(({ address }) => address !== "vpc/prod");
  }, WITHOUT_OWNER);
  expect(code).toBe(5);
  expect(stderr).toContain("create vpc/prod");
  expect(writes(service)).toEqual([]);
});

test("consent that was forged into a reviewed plan does not count", async () => {
  const { code, service } = await forged((plan) => {
    expect(plan.tenon.guards).not.toEqual([]);
    plan.tenon.guards = plan.tenon.guards.map((guard) => ({ ...guard, consent: "given" }));
  });
  expect(code).toBe(4);
  expect(writes(service)).toEqual([]);
});

test("an owner that was forged into a reviewed plan takes nothing over", async () => {
  const { code, service } = await forged((plan) => {
    plan.tenon.owner = "edge";
  }, WITHOUT_OWNER);
  expect([0, 5]).toContain(code);
  expect(writes(service).filter((request) => /DELETE|\/77|\/5$/.test(request))).toEqual([]);
});

test("a program that passes a plan from a file to the library gets what its project says, or an error", async () => {
  const service = await emulator({ seed: { vpcs: [FOREIGN] } as never });
  const dir = await folder({ "tenon.yaml": PROJECT });
  const project = await open({ dir, baseUrl: service.baseUrl, token: "emulator-token" });
  try {
    const parsed = await parsePlanFile(renderPlanJson(await project.plan()));
    if (!parsed.ok) throw new Error("the plan file cannot be read");
    const { plan } = parsed;
    const steps = plan.steps.map((step) => ({ ...step, method: "DELETE", path: ["vpcs", String(FOREIGN.id)] }));
    const forgedInputs = { ...plan.inputs, takeOwnershipFrom: ["other"] };
    await expect(project.apply({ ...plan, inputs: forgedInputs })).rejects.toThrow("plan-differs");
    await expect(project.apply({ ...plan, goal: "destroy" })).rejects.toThrow("plan-differs");
    expect(writes(service)).toEqual([]);
    expect(await project.apply({ ...plan, steps: steps as never })).toMatchObject({ failed: 0, destroyed: 0 });
    expect(writes(service).filter((write) => write.endsWith(`/${FOREIGN.id}`))).toEqual([]);
  } finally {
    await project.close();
  }
});

const ZONE = { type: "master", soa_email: "a@a.example" };
const GOING = {
  domains: [{ id: 1, domain: "prod.example", ...ZONE, tags: ["tenon:me"] }],
  vpcs: [{ id: 2, label: "core", region: "us-east", description: "[tenon:me]" }],
};
const KEPT = { domain: "kept.example", ...ZONE, records: [{ type: "A", name: "www", target: "192.0.2.1" }] };
const LOGIN = { type: "A", name: "login", target: "198.51.100.66" };

const clone = (source: string, ...copies: string[]): object => ({
  ...{ type: "clone", source, copies },
  ...{ requests: 6, requests_without: 8, requestsWithout: 8 },
});

interface Forged extends Saved {
  tenon: Saved["tenon"] & { changes: Record<string, Record<string, unknown>>; strategies: object[] };
}

/** Plans, lets `forge` change the file, and takes it to `show` and to `apply`. */
async function shownAndApplied(seed: object, manifest: object, forge: (plan: Forged) => void) {
  const service = await emulator({ seed: seed as never });
  const cwd = await folder({ "tenon.yaml": JSON.stringify({ tenon: 1, owner: "me", ...manifest }) });
  const go = (...args: string[]) => run(args, { cwd, env: envOf(service) });
  const plan = JSON.parse((await go("plan", "--format", "json")).stdout) as Forged;
  forge(plan);
  await writeFile(join(cwd, "the.plan"), withDigest(JSON.stringify(plan)));
  service.clearRequests();
  const shown = [];
  for (const args of [[], ["--full"], ["--format", "markdown"]]) shown.push(await go("show", "the.plan", ...args));
  const { code } = await go("apply", "--yes", "--plan", "the.plan");
  return { shown, code, sent: writes(service) };
}

test("a plan in which a change has another place, name or sign than its values say is damaged", async () => {
  const records = [LOGIN, { type: "A", name: "going", target: "192.0.2.2" }];
  const manifest = {
    allow: [{ delete: "**" }, { bulk: "**" }],
    removed: [{ vpc: "core" }],
    vpcs: [{ label: "new", moved_from: "old", region: "us-east" }],
    domains: [{ domain: "prod.example", ...ZONE, records: [LOGIN, KEPT.records[0]] }],
  };
  const seed = {
    domains: [{ ...GOING.domains[0], records }],
    vpcs: [...GOING.vpcs, { id: 5, label: "old", region: "us-east", description: "[tenon:me]" }],
  };
  const made = "domain/prod.example/www/A";
  const gone = "domain/prod.example/going/A";
  const of = (plan: Forged, key: string) =>
    plan.resource_changes.find(({ address }) => address === key) as unknown as {
      previous_address: string;
      change: { actions: string[]; before: Record<string, unknown> | null; after: Record<string, unknown> | null };
    };
  const forgeries: readonly [string, string, (plan: Forged) => void][] = [
    [
      "vpc/core",
      "is not within vpc/all",
      (plan) => Object.assign(plan.tenon.changes["vpc/core"] ?? {}, { root: "vpc/all" }),
    ],
    [made, "is not within vpc/new", (plan) => Object.assign(plan.tenon.changes[made] ?? {}, { root: "vpc/new" })],
    ["vpc/core", "has values of another address", (plan) => (of(plan, "vpc/core").previous_address = "vpc/scratch")],
    ["vpc/new", "has values of another address", (plan) => (of(plan, "vpc/new").previous_address = "vpc/scratch")],
    [made, "has values of another address", (plan) => Object.assign(of(plan, made).change.after ?? {}, { name: "x" })],
    [gone, "has values that no create has", (plan) => (of(plan, gone).change.actions = ["create"])],
    [gone, "has values that no update has", (plan) => (of(plan, gone).change.actions = ["update"])],
    [made, "has values that no delete has", (plan) => (of(plan, made).change.actions = ["delete"])],
    [
      made,
      "has values that no create has",
      (plan) => {
        const { change } = of(plan, made);
        change.before = change.after;
      },
    ],
    [
      made,
      "has values that no update has",
      (plan) => Object.assign(of(plan, made).change, { actions: ["update"], before: of(plan, made).change.after }),
    ],
    [
      made,
      "was not within domain/other.example",
      (plan) => (of(plan, made).previous_address = "domain/other.example/x/A"),
    ],
    [
      gone,
      "was not within domain/other.example",
      (plan) => (of(plan, gone).previous_address = "domain/other.example/going/A"),
    ],
    [
      "vpc/core",
      "is there twice",
      (plan) => {
        plan.resource_changes.push(structuredClone(of(plan, "vpc/core")) as never);
      },
    ],
    [
      made,
      "says what is wanted and not what blocks it",
      (plan) =>
        Object.assign(plan.tenon.changes[made] ?? {}, { wanted: { ...of(plan, made).change, previous_address: null } }),
    ],
  ];
  for (const [key, words, forge] of forgeries) {
    const { shown, code, sent } = await shownAndApplied(seed, manifest, forge);
    for (const { code: refused, stderr } of shown) {
      expect([key, refused, stderr.replaceAll(/\s+/g, " ")]).toEqual([
        key,
        1,
        expect.stringContaining(`${key} ${words}`),
      ]);
    }
    expect([key, words, code, sent]).toEqual([key, words, 1, []]);
  }
  // What blocks a change is said as Tenon says it: an upload with when it ends, and with what a consent to its deletion names.
  for (const block of ["upload-in-progress", "upload-of-others"]) {
    const { shown, code } = await shownAndApplied(seed, manifest, (plan) => {
      const { change } = of(plan, made);
      Object.assign(plan.tenon.changes[made] ?? {}, {
        ...{
          blocked: { type: block, id: "private/1" },
          wanted: { ...structuredClone(change), previous_address: null },
        },
      });
      Object.assign(change, { actions: ["no-op"], after: change.before });
    });
    expect([...shown.map((one) => one.code), code]).toEqual([1, 1, 1, 1]);
    for (const { stderr } of shown) expect(stderr).toContain("error[plan-file-damaged]");
  }
  const honest = await shownAndApplied(seed, manifest, () => undefined);
  expect([honest.shown.map(({ code }) => code), honest.code]).toEqual([[0, 0, 0], 0]);
});

test("what a plan shows as a copy of another domain is one, or is shown as a whole", async () => {
  const copied = { domain: "new.example", ...ZONE, records: [{ type: "A", name: "x", target: "192.0.2.1" }] };
  const prod = { domain: "prod.example", ...ZONE, records: [LOGIN] };
  const also = { ...prod, domain: "also-new.example" };
  const { shown } = await shownAndApplied(GOING, { domains: [copied, prod, also] }, (plan) => {
    plan.tenon.strategies = [clone("domain/new.example", "domain/prod.example", "domain/also-new.example")];
  });
  for (const { stdout } of shown) expect(stdout.split("198.51.100.66").length - 1).toBeGreaterThanOrEqual(2);
  // Two new ones with the same records, each as a copy of the other, or of itself.
  const alike = { domains: [also, { ...also, domain: "third.example" }] };
  for (const to of ["domain/also-new.example", "domain/third.example"]) {
    const { shown: mutual } = await shownAndApplied({}, alike, (plan) => {
      plan.tenon.strategies = [
        clone("domain/third.example", "domain/also-new.example"),
        clone("domain/also-new.example", to),
      ];
    });
    for (const { stdout } of mutual) expect(stdout).toContain("198.51.100.66");
  }
});

test("a copy that a plan file names thousands of times is compared with its source once", async () => {
  const made = (domain: string, count: number) => [
    change(`domain/${domain}`, "domain", { after: { domain } }),
    ...Array.from({ length: count }, (_, index) =>
      change(`domain/${domain}/n${index}/A`, "domain_record", { after: record(`n${index}`, "A", "192.0.2.1") }),
    ),
  ];
  const forge = (count: number): Plan => {
    const changes = [...made("a.example", count), ...made("b.example", count)];
    const named = Array.from({ length: count }, () => "domain/b.example");
    const strategy = { type: "clone" as const, source: "domain/a.example", requests: 1, requestsWithout: 2 };
    const strategies = [{ ...strategy, copies: named }, ...named.map((copy) => ({ ...strategy, copies: [copy] }))];
    return plan(changes, { strategies });
  };
  expect(shownSources(forge(2))).toEqual(new Map([["domain/b.example", "domain/a.example"]]));
  expect(await growth(100, 4, (count) => shownSources(forge(count)))).toBeLessThan(6);
});

test("a reviewed plan covers a delete with the region and the range that it shows, and a change with the name that it shows", async () => {
  const vpc = { ...GOING.vpcs[0], subnets: [{ id: 3, label: "net", ipv4: "10.0.0.0/24" }] };
  const own = { region: "us-east", description: "[tenon:me]" };
  const kept = { id: 7, label: "kept", ...own, subnets: [{ id: 8, label: "gone", ipv4: "10.1.0.0/24" }] };
  const seed = { vpcs: [vpc, { id: 5, label: "old", ...own }, { id: 6, label: "moved", ...own }, kept] };
  const vpcs = [
    { label: "new", moved_from: "old", region: "us-east" },
    { label: "moved", region: "eu-west", description: "as it will be" },
    { label: "kept", region: "us-east", subnets: [] },
  ];
  const manifest = { allow: [{ delete: "**" }, { replace: "**" }], removed: [{ vpc: "core" }], vpcs };
  const forge =
    (address: string, values: object, more: object = {}) =>
    (plan: Forged) => {
      const found = plan.resource_changes.find((change) => change.address === address) as never as {
        change: { before: object };
      };
      Object.assign(found, more);
      Object.assign(found.change.before, values);
    };
  const forgeries: Record<string, (plan: Forged) => void> = {
    "": () => undefined,
    "a VPC's region": forge("vpc/core", { region: "eu-west" }),
    "a subnet's range": forge("vpc/core/subnet/net", { ipv4: "10.9.0.0/24" }),
    "a description that goes with a region": forge("vpc/moved", { description: "as it will be" }),
    "a former name": forge("vpc/new", { label: "scratch" }, { previous_address: "vpc/scratch" }),
    "the name of what a change is in": (plan) => {
      forge("vpc/kept", { label: "scratch" }, { previous_address: "vpc/scratch" })(plan);
      const found = plan.resource_changes.find(({ address }) => address === "vpc/kept");
      Object.assign(found?.change ?? {}, { actions: ["delete"], after: null });
    },
    "the same beside an entry that is as it should be": (plan) => {
      const honest = structuredClone(plan.resource_changes.find(({ address }) => address === "vpc/kept"));
      forgeries["the name of what a change is in"]?.(plan);
      if (honest !== undefined) plan.resource_changes.push(honest);
    },
    "a live name": forge("vpc/core", { label: "scratch" }, { previous_address: "vpc/scratch" }),
  };
  for (const [what, forgery] of Object.entries(forgeries)) {
    const { shown, code, sent } = await shownAndApplied(seed, manifest, forgery);
    expect([what, shown[0]?.code, code, sent.length > 0]).toEqual([what, 0, what === "" ? 0 : 5, what === ""]);
  }
});
