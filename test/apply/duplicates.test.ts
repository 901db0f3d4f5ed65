import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CopiedList, judgeDuplicates, type Rival, resolveCopyDuplicates } from "../../src/apply/duplicates.ts";
import type { Context } from "../../src/apply/step.ts";
import { applyPlan, type Plan, type Report } from "../../src/index.ts";
import type { Api } from "../../src/model/api.ts";
import type { Lookup } from "../../src/model/plan.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import type { Unit } from "../../src/model/unit.ts";
import { network } from "../../src/units/network/index.ts";
import { zone } from "../../src/units/zone/index.ts";
import { Account, changeList } from "../support/account.ts";
import { createRecord, plan as planOf, request } from "./support/plans.ts";
import { applyTo, DrainClock, QuickClock } from "./support/run.ts";
import { Service } from "./support/service.ts";

const ZONE = { domain: "a.example", type: "master", soa_email: "a@a.example" };
const SEED = { disks: [{ id: 7, label: "disk", size: 1024 }], domains: [{ id: 30, ...ZONE }] };
const VPC = "vpcs: [{ label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.0.0/24 }] }]";
const IMAGE = "images: [{ label: golden, description: base, capture: { disk_id: 7 } }]";
const zoneOf = (more = "") => `domains:
  - domain: a.example
    type: master
    soa_email: a@a.example
    ${more}
    records: [{ type: A, name: www, target: 192.0.2.1 }, { type: TXT, name: "*", target: "[x] \\"é\\"" }]`;
const ALL = ["tenon: 1", "owner: edge", VPC, IMAGE, zoneOf()].join("\n");

let account: Account;

beforeEach(async () => {
  account = await Account.open({ seed: SEED as never });
});

afterEach(() => account.close());

async function plansOf(project: string, count: number): Promise<readonly Plan[]> {
  const { desired, diagnostics } = await account.load(project);
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  const plans: Plan[] = [];
  for (let index = 0; index < count; index += 1) plans.push(await account.plan(desired));
  return plans;
}

const LISTS = { vpc: ["vpcs"], image: ["images"], record: ["domains", "30", "records"] } as const;

async function idsOf(kind: keyof typeof LISTS): Promise<(number | string)[]> {
  const items = await account.list<{ id: number | string }>(...LISTS[kind]);
  return items.map(({ id }) => id);
}

interface Hooks {
  /** Before each list that the run reads, in the order of its lists of this path. */
  readonly beforeList?: (path: string, nth: number) => Promise<void>;
  readonly beforeSend?: (call: string) => Promise<void>;
  readonly signal?: AbortSignal;
}

async function apply(plan: Plan, { beforeList, beforeSend, signal }: Hooks = {}): Promise<Report> {
  const counts = new Map<string, number>();
  const api: Api = {
    get requestCount() {
      return account.api.requestCount;
    },
    get: async (request, abort) => {
      await beforeSend?.(`GET ${request.path.join("/")}`);
      return account.api.get(request, abort);
    },
    send: async (request, abort) => {
      await beforeSend?.(`${request.method} ${request.path.join("/")}`);
      return account.api.send(request, abort);
    },
    list: async (request, abort) => {
      const path = request.path.join("/");
      const nth = counts.get(path) ?? 0;
      counts.set(path, nth + 1);
      await beforeList?.(path, nth);
      return account.api.list(request, abort);
    },
    upload: (request, abort) => account.api.upload(request, abort),
  };
  const clock = signal === undefined ? new QuickClock() : new DrainClock(signal);
  const stop = signal === undefined ? {} : { signal };
  return applyPlan({ plan, api, root: account.folder, concurrency: 8, clock, journal: null, ...stop });
}

/** Another run makes a VPC like that of the project, or another one of its label. */
async function makeVpc(fields: JsonObject = {}): Promise<number> {
  const body = { label: "prod", region: "us-east", description: "[tenon:edge]", ...fields };
  const subnets = [{ label: "web", ipv4: "10.0.0.0/24" }];
  const answer = await account.api.send({ method: "POST", path: ["vpcs"], body: { subnets, ...body } });
  if (!answer.ok) throw new Error(answer.failure.message);
  return (answer.body as { id: number }).id;
}

const VPC_ONLY = ["tenon: 1", "owner: edge", VPC].join("\n");

test("an older image that never becomes available is waited for as long as one's own, and no longer", async () => {
  const entry = "label: golden, description: base, upload: { file: i.img.gz, region: us-east }";
  const { desired } = await account.load({
    "tenon.yaml": `tenon: 1\nowner: edge\nimages: [{ ${entry} }]\n`,
    "i.img.gz": gzipSync("i"),
  });
  const plan = await account.plan(desired as never, { imageTimeoutSeconds: 60 });
  const [create] = plan.steps;
  if (create?.type !== "request" || create.body === null) throw new Error("the plan begins with no request");
  expect((await account.api.send({ method: "POST", path: ["images", "upload"], body: create.body })).ok).toBe(true);
  let lists = 0;
  const report = await apply(plan, {
    beforeList: async () => {
      lists += 1;
    },
  });
  expect(report).toMatchObject({ failed: 0, duplicates: 1 });
  expect(report.notices).toEqual([expect.stringContaining("the older one cannot be used yet; plan again")]);
  // In an hour there would be hundreds of them.
  expect(lists).toBeLessThan(20);
});

describe("two runs that make the same at the same time", () => {
  test("leave one VPC, one image and one of each record: the run that came later takes its own away", async () => {
    const [one, two, next] = (await plansOf(ALL, 2)) as [Plan, Plan, undefined];
    expect(next).toBeUndefined();
    const first = await apply(one);
    expect(first).toMatchObject({ notices: [], duplicates: 0, failed: 0 });
    const before = { vpc: await idsOf("vpc"), image: await idsOf("image"), record: await idsOf("record") };
    const second = await apply(two);
    const after = { vpc: await idsOf("vpc"), image: await idsOf("image"), record: await idsOf("record") };
    expect(after).toEqual(before);
    expect(second).toMatchObject({ duplicates: 0, failed: 0, skipped: 0, unknown: 0 });
    expect(second.notices.toSorted()).toEqual([
      expect.stringMatching(
        /^create domain\/a\.example\/\*\/TXT.*: another run made an equal record first; .* goes on with \d+$/,
      ),
      expect.stringMatching(/^create domain\/a\.example\/www\/A.*: another run made an equal record first/),
      expect.stringMatching(
        new RegExp(`^create image/golden: another run made an equal image first; .* goes on with ${before.image[0]}$`),
      ),
      expect.stringMatching(
        new RegExp(`^create vpc/prod: another run made an equal VPC first; .* goes on with ${before.vpc[0]}$`),
      ),
    ]);
    // What it goes on with is what its report names.
    const ids = second.steps.filter(({ id }) => id !== null).map(({ id }) => String(id));
    expect(ids.toSorted()).toEqual([...before.vpc, ...before.image, ...before.record].map(String).toSorted());
    const [vpc] = await account.list<{ subnets: readonly { id: number }[] }>("vpcs");
    const parts = second.steps.flatMap((step) => (step.parts === undefined ? [] : [step.parts]));
    expect(parts).toEqual([{ "vpc/prod/subnet/web": vpc?.subnets[0]?.id }]);
    const [last] = await plansOf(ALL, 1);
    expect(changeList(last as Plan)).toEqual([]);
  });

  test("leave one of each when there are three of them", async () => {
    const plans = await plansOf(ALL, 3);
    for (const plan of plans) expect(await apply(plan)).toMatchObject({ duplicates: 0 });
    expect([await idsOf("vpc"), await idsOf("image"), await idsOf("record")].map((ids) => ids.length)).toEqual([
      1, 1, 2,
    ]);
  });

  test("the run that came first waits until the other has taken its own away", async () => {
    const [plan] = (await plansOf(VPC_ONLY, 1)) as [Plan];
    let younger = 0;
    const report = await apply(plan, {
      beforeList: async (_, nth) => {
        if (nth === 0) younger = await makeVpc();
        if (nth === 3) await account.api.send({ method: "DELETE", path: ["vpcs", String(younger)] });
      },
    });
    expect(report).toMatchObject({ duplicates: 0, notices: [] });
    expect(await idsOf("vpc")).not.toContain(younger);
  });

  test("the run that came first does not end with 0 while the younger one is there, and never deletes it", async () => {
    const [plan] = (await plansOf(VPC_ONLY, 1)) as [Plan];
    let younger = 0;
    const report = await apply(plan, {
      beforeList: async (_, nth) => {
        if (nth === 0) younger = await makeVpc();
      },
    });
    expect(await idsOf("vpc")).toHaveLength(2);
    expect(report).toMatchObject({ duplicates: 1, failed: 0, added: 2 });
    expect(report.notices).toEqual([
      expect.stringMatching(new RegExp(`equal VPCs: \\d+, ${younger}; the younger one has not been deleted yet`)),
    ]);
  });

  test("an image of another run that is still being made is waited for, and nothing is deleted before it is there", async () => {
    const upload = { label: "golden", region: "us-east", description: "base [tenon:edge]" };
    const [plan] = (await plansOf(["tenon: 1", "owner: edge", IMAGE].join("\n"), 1)) as [Plan];
    const answer = await account.api.send({ method: "POST", path: ["images", "upload"], body: upload });
    const theirs = String(answer.ok ? (answer.body as unknown as { image: { id: string } }).image.id : "");
    const deleted: string[] = [];
    const report = await apply(plan, {
      beforeSend: async (call) => {
        if (call.startsWith("DELETE")) deleted.push(call);
      },
    });
    // Nobody ever sends its data.
    expect(deleted).toEqual([]);
    expect(report).toMatchObject({ duplicates: 1 });
    expect(report.notices).toEqual([expect.stringContaining("the older one cannot be used yet")]);
    expect(report.notices[0]).toContain(theirs);
  });

  test.each([
    ["another subnet is in it", { subnets: [{ label: "db", ipv4: "10.0.9.0/24" }] }],
    ["it is in another region", { region: "eu-west" }],
    ["it is another owner's", { description: "[tenon:other]" }],
  ])("both are told and left if %s", async (_, fields) => {
    const [plan] = (await plansOf(VPC_ONLY, 1)) as [Plan];
    const older = await makeVpc(fields);
    const report = await apply(plan);
    expect(await idsOf("vpc")).toHaveLength(2);
    expect(report.duplicates).toBe(1);
    expect(report.notices).toEqual([expect.stringContaining(`VPC ${older} has the same name; they are not equal`)]);
  });

  test("what somebody has attached a node to meanwhile is not deleted, although it came later", async () => {
    const [plan] = (await plansOf(VPC_ONLY, 1)) as [Plan];
    await makeVpc();
    const attach = async (): Promise<void> => {
      const vpcs = await account.list<{ subnets: { id: number }[] }>("vpcs");
      const subnet_id = vpcs[1]?.subnets[0]?.id ?? 0;
      await account.emulator.attach({ subnet_id, node_id: 1, interface_id: 2, active: true, config_id: 3 });
    };
    // After the list, before the delete: the last look finds it.
    const looks: string[] = [];
    const report = await apply(plan, {
      beforeSend: async (call) => {
        looks.push(call);
        if (/^GET vpcs\/\d+$/.test(call) && looks.filter((seen) => seen.startsWith("GET")).length === 1) await attach();
      },
    });
    expect(looks.filter((call) => call.startsWith("DELETE"))).toEqual([]);
    expect(await idsOf("vpc")).toHaveLength(2);
    expect(report.duplicates).toBe(1);
    expect(report.notices).toEqual([expect.stringContaining("is already in use")]);
  });

  test("nothing is deleted if the older one is gone by then", async () => {
    const [plan] = (await plansOf(VPC_ONLY, 1)) as [Plan];
    const older = await makeVpc();
    let gone = false;
    const report = await apply(plan, {
      beforeSend: async (call) => {
        if (gone || call !== `GET vpcs/${older}`) return;
        gone = true;
        await account.api.send({ method: "DELETE", path: ["vpcs", String(older)] });
      },
    });
    expect(gone).toBe(true);
    expect(await idsOf("vpc")).toHaveLength(1);
    expect(report).toMatchObject({ duplicates: 0, notices: [] });
  });

  test("a run that is stopped between the look and the delete leaves both, for the next plan to tell", async () => {
    const [plan] = (await plansOf(VPC_ONLY, 1)) as [Plan];
    await makeVpc();
    const interrupt = new AbortController();
    const report = await apply(plan, {
      signal: interrupt.signal,
      beforeList: async () => interrupt.abort(),
    });
    expect(report).toMatchObject({ interrupted: true, duplicates: 1 });
    expect(report.notices).toEqual([expect.stringContaining("the run was stopped")]);
    expect(await idsOf("vpc")).toHaveLength(2);
  });

  test("in an additive zone an equal record of somebody else stays, also if the POST was sent twice", async () => {
    const service = await Service.start();
    try {
      service.twist = ({ method, nth }) => {
        if (method === "POST" && nth === 0) return { type: "lose" };
        if (method === "GET" && nth === 2) service.add(["domains", "1", "records"], EQUAL);
        return null;
      };
      const step = createRecord("www");
      if (step.lookup === null) throw new Error("it has a lookup");
      const { report } = await applyTo(service, planOf([{ ...step, lookup: { ...step.lookup, additive: true } }]));
      expect(service.callsOf("DELETE")).toEqual([]);
      expect(service.list(["domains", "1", "records"])).toHaveLength(2);
      expect(report.duplicates).toBe(1);
    } finally {
      await service.stop();
    }
  });

  test("records of an additive zone say that they may have company", async () => {
    const [additive] = await plansOf(["tenon: 1", "owner: edge", zoneOf("records_policy: additive")].join("\n"), 1);
    const [sole] = await plansOf(["tenon: 1", "owner: edge", zoneOf()].join("\n"), 1);
    const flags = (plan: Plan | undefined) =>
      plan?.steps.flatMap((step) =>
        step.type === "request" && step.lookup !== null ? [step.lookup.additive === true] : [],
      );
    expect(flags(additive)).toEqual([true, true]);
    expect(flags(sole)).toEqual([false, false]);
  });

  test("each collection is listed once, as the plan has announced", async () => {
    const vpcs = Array.from({ length: 30 }, (_, index) => `{ label: net-${index}, region: us-east }`);
    const [plan] = (await plansOf(`tenon: 1\nvpcs: [${vpcs.join(", ")}]\n${zoneOf()}`, 1)) as [Plan];
    account.takeRequests();
    const report = await apply(plan);
    const lists = account.takeRequests().filter((call) => call.startsWith("GET"));
    expect(lists.toSorted()).toEqual(["GET /domains/30/records", "GET /vpcs"]);
    expect(plan.requestCount).toBe(30 + 2 + 2);
    expect(report.requestCount).toBe(plan.requestCount);
  });

  test.each([
    ["", 0],
    [", though the other has taken a part of its own away before this run lists the source", 1],
  ])("what a copy of a zone took over from both runs is there once in the end%s", async (_, early) => {
    const names = ["one", "two", "three"];
    const records =
      "[{ type: A, name: www, target: 192.0.2.1 }, { type: A, name: img, target: 192.0.2.2 }, { type: TXT, name: é, target: x }]";
    const zones = names.map((name) => {
      return `{ domain: ${name}.example, type: master, soa_email: a@a.example, records: ${records} }`;
    });
    const [plan] = (await plansOf(`tenon: 1\ndomains: [${zones.join(", ")}]`, 1)) as [Plan];
    let source: readonly string[] = [];
    const others: string[][] = [];
    const report = await apply(plan, {
      // The other run fills the same zone just before it is copied, and takes its own away while this run waits at its end.
      beforeSend: async (call) => {
        if (source.length > 0 || !call.endsWith("/clone")) return;
        source = [...(call.split(" ")[1] ?? "").split("/").slice(0, 2), "records"];
        for (const { id: _, ...body } of await account.list<JsonObject>(...source)) {
          const answer = await account.api.send({ method: "POST", path: source, body });
          if (answer.ok) others.push([...source, String((answer.body as JsonObject)["id"])]);
        }
      },
      beforeList: async (path, nth) => {
        if (path !== source.join("/")) return;
        for (const other of nth === 0 ? others.slice(0, early) : others)
          await account.api.send({ method: "DELETE", path: other });
      },
    });
    expect(others).toHaveLength(3);
    expect(report).toMatchObject({ duplicates: 0, failed: 0 });
    for (const { id } of await account.list<{ id: number }>("domains")) {
      if (id !== 30) expect(await account.list("domains", String(id), "records")).toHaveLength(3);
    }
    const [next] = await plansOf(`tenon: 1\ndomains: [${zones.join(", ")}]`, 1);
    expect(changeList(next as Plan)).toEqual([]);
  });

  test("many records of one zone are compared once each, not each with each", async () => {
    const service = await Service.start();
    try {
      const count = 500;
      let compared = 0;
      const duplicateKey = ({ match }: Lookup, item = match as JsonObject): string => {
        compared += 1;
        return String(item["name"]);
      };
      const unit = { name: "zone", kinds: zone.kinds, duplicateKey, likeness: () => "equal" } as unknown as Unit;
      const steps = Array.from({ length: count }, (_, index) => createRecord(`r${index}`));
      const { report } = await applyTo(service, planOf(steps), { units: [unit] });
      expect(report.added).toBe(count);
      expect(compared).toBeGreaterThan(0);
      expect(compared).toBeLessThanOrEqual(2 * count);
    } finally {
      await service.stop();
    }
  });

  test("the records of a copy of a zone are compared once each, too", async () => {
    const count = 500;
    const items = Array.from({ length: count }, (_, index) => ({ id: index + 1, name: `r${index}` }));
    let compared = 0;
    const duplicateKey = ({ match }: Lookup, item = match as JsonObject): string => {
      compared += 1;
      return String(item["name"]);
    };
    const unit = { name: "zone", kinds: zone.kinds, duplicateKey } as unknown as Unit;
    const about = { unit, isOwn: true, repeated: false, readyLimitSeconds: 0 };
    const made = items.map(({ id, name }) => ({ ...about, step: createRecord(name), id }));
    const twice = { id: count + 1, name: "r7" };
    const sent: unknown[] = [];
    const api = {
      list: async () => ({ ok: true, items: [...items, twice] }),
      send: async (call: unknown) => {
        sent.push(call);
        return { ok: true };
      },
    };
    const aborted = new AbortController().signal;
    const context = { api, aborting: aborted, stopping: aborted, note: () => {}, intent: async () => null };
    const listener = { report: () => {}, goOnWith: () => {}, severalRemain: () => {}, rivalSeen: () => {} };
    const copied: CopiedList = { path: ["domains", "2", "records"], made };
    await resolveCopyDuplicates(copied, context as unknown as Context, listener);
    expect(sent).toEqual([{ method: "DELETE", path: ["domains", "2", "records", String(count + 1)] }]);
    expect(compared).toBeLessThanOrEqual(2 * count + 1);
  });
});

const EQUAL = { type: "A", name: "www", target: "192.0.2.1" };

describe("who came first", () => {
  const STEP = request("x", { lookup: { kind: "vpc", path: ["vpcs"], filter: null, match: {}, known: [] } });

  /** Runs look in any order, each several times, and do at once what they are told. */
  test("leaves exactly one of any number of equal objects, in whatever order the runs look", () => {
    const runs = fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(runs, fc.array(fc.nat(5), { maxLength: 40 }), fc.boolean(), (ids, looks, isImage) => {
        const idOf = (id: number) => (isImage ? `private/${id}` : id);
        const there = new Set(ids);
        for (const turn of [...looks, ...ids.keys(), ...ids.keys()]) {
          const id = ids[turn % ids.length] as number;
          if (!there.has(id)) continue;
          const rivals: Rival[] = [...there]
            .filter((other) => other !== id)
            .map((other) => ({ id: idOf(other), likeness: "equal", wasThere: false }));
          const verdict = judgeDuplicates(
            { id: idOf(id), isOwn: true, repeated: false, step: STEP, unit: network },
            "equal",
            rivals,
            false,
          );
          if (verdict.type === "yield") there.delete(id);
        }
        expect([...there]).toEqual([Math.min(...ids)]);
      }),
    );
  });

  test.each([
    ["what was only recognised", { isOwn: false }, "equal", "equal", 7, "stuck"],
    ["what somebody uses", {}, "used", "equal", 7, "stuck"],
    ["for one that differs", {}, "equal", "different", 7, "stuck"],
    ["for one that cannot be used yet", {}, "equal", "unready", 7, "wait"],
    ["for a younger one", {}, "equal", "equal", 9, "wait"],
    ["for one whose id says nothing of its age", {}, "equal", "equal", "private/abc", "stuck"],
    ["for one that had another name", { wasThere: true }, "equal", "equal", 7, "stuck"],
    ["within a reviewed plan", { isReviewed: true }, "equal", "equal", 7, "stuck"],
  ] as const)("never gives up %s", (_, about, own, likeness, id, type) => {
    const { isOwn, wasThere, isReviewed } = { isOwn: true, wasThere: false, isReviewed: false, ...about };
    const made = { id: 8, isOwn, repeated: false, step: STEP, unit: network };
    expect(judgeDuplicates(made, own, [{ id, likeness, wasThere }], isReviewed).type).toBe(type);
  });

  test("gives up what was sent twice for the older one, within a reviewed plan as well", () => {
    const made = { id: 8, isOwn: true, repeated: true, step: STEP, unit: network };
    expect(judgeDuplicates(made, "equal", [{ id: 7, likeness: "equal", wasThere: false }], true).type).toBe("yield");
  });
});
