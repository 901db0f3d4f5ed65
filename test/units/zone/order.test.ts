/** What the order of a zone's changes costs, and what holds it together where delegations meet. */

import { expect, test } from "vitest";
import type { WireDomain, WireRecord } from "../../../src/api/wire.ts";
import type { Declared, Desired } from "../../../src/model/desired.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { makePlan } from "../../../src/plan/plan.ts";
import { units } from "../../../src/units/index.ts";
import type { RecordSpec } from "../../../src/units/zone/spec.ts";
import { growth, itemsWalkedEach, operationsOf } from "../../support/operations.ts";

type Entry = Pick<WireRecord, "type" | "name" | "target">;

const SPAN = { file: "tenon.yaml", start: 0, end: 0 };
const TIME = { created: "2026-01-01T00:00:00", updated: "2026-01-01T00:00:00" };
const SECONDS = { refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0 };

function liveZone(id: number, name: string, live: readonly Entry[]): { domain: WireDomain; records: WireRecord[] } {
  const domain: WireDomain = {
    ...{ id, domain: name, type: "master", status: "active", soa_email: "h@a.example" },
    ...{ description: "", group: "", master_ips: [], axfr_ips: [], tags: [], ...SECONDS, ...TIME },
  };
  const records = live.map((entry, index): WireRecord => {
    const zeros = { priority: 0, weight: 0, port: 0, protocol: null, service: null, tag: null };
    return { id: index, ...entry, ttl_sec: 300, ...zeros, ...TIME };
  });
  return { domain, records };
}

/** @param undeclared what b.example holds, which nothing declares; absent: it is not there */
function planOf(live: readonly Entry[], desired: readonly Entry[], undeclared?: readonly Entry[]): Plan {
  const specs = desired.map((entry) => ({
    ...entry,
    ttl_sec: 300,
    span: SPAN,
    note: null,
    lintOff: [],
  })) as RecordSpec[];
  const fields = { type: "master", status: "active" };
  const spec = { domain: "a.example", fields, records: specs, ignore: [], policy: "authoritative" };
  const names = { unit: "zone", address: "domain/a.example", key: "a.example", id: null, movedFrom: null };
  const declared = { ...names, protect: false, note: null, span: SPAN, spec } as Declared;
  const wanted: Desired = { owner: null, account: null, declared: [declared], removed: [], allow: [], lintOff: [] };
  const others = undeclared === undefined ? [] : [liveZone(2, "b.example", undeclared)];
  const items = [liveZone(1, "a.example", live), ...others];
  const found = { units: { zone: { items, total: items.length } } };
  return makePlan(wanted, found, units, {
    ...{ goal: "apply", nowMilliseconds: 0, targets: [], excludes: [], consents: [], maxChanges: null },
    ...{ takeOwnershipFrom: [], clone: false, account: null },
  });
}

function texts(from: number, to: number): Entry[] {
  return Array.from({ length: to - from }, (_, index) => ({
    type: "TXT",
    name: "www",
    target: `text ${from + index}`,
  }));
}

/** Beneath 4 if the cost is linear; a quadratic one is near 16. */
const MOST_FOR_FOUR_TIMES_AS_MANY = 6;

test("the order of one name's records costs in proportion to them: half of them replaced by fewer", async () => {
  const work = (count: number) => {
    // What goes is more than what comes, so that some are updates, some deletes.
    expect(planOf(texts(0, count), texts(count / 2, count + count / 4)).steps).toHaveLength(count / 2);
  };
  expect(await growth(400, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of live duplicates costs in proportion to them", async () => {
  const work = (count: number) => {
    const live = Array.from({ length: count }, () => texts(0, 1)).flat();
    expect(planOf(live, texts(0, 1)).steps).toHaveLength(count - 1);
  };
  expect(await growth(400, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many pointers to one name of many addresses that change costs in proportion to them", async () => {
  const addresses = (count: number, third: number) =>
    Array.from({ length: count }, (_, index): Entry => {
      return { type: "A", name: "pool", target: `10.${third}.${index >> 8}.${index & 255}` };
    });
  const pointers = (count: number, name: string) =>
    Array.from(
      { length: count },
      (_, index): Entry => ({ type: "MX", name: `${name}${index}`, target: "pool.a.example" }),
    );
  const work = (count: number) => {
    const live = [...addresses(count, 0), ...pointers(count, "old")];
    const { steps } = planOf(live, [...addresses(count, 1), ...pointers(count, "new")]);
    expect(steps).toHaveLength(2 * count);
  };
  expect(await growth(1_000, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many names beneath many servers of delegations that a new one hides costs in proportion to them", async () => {
  const hosts = (count: number) =>
    Array.from({ length: count }, (_, index): Entry => ({ type: "A", name: `h${index}.x.sub`, target: "192.0.2.1" }));
  const servers = (count: number) =>
    Array.from(
      { length: count },
      (_, index): Entry => ({ type: "NS", name: "x.sub", target: `ns${index}.other.example` }),
    );
  const cut: Entry = { type: "NS", name: "sub", target: "ns.other.example" };
  const work = (count: number) => {
    expect(planOf(hosts(count), [...hosts(count), ...servers(count), cut]).steps).toHaveLength(count + 1);
    expect(planOf([...hosts(count), ...servers(count), cut], hosts(count)).steps).toHaveLength(count + 1);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many names beneath a delegation that goes, with many servers behind aliases, costs in proportion to them", async () => {
  const hosts = (count: number, other: Partial<Entry>) =>
    Array.from({ length: count }, (_, index): Entry => {
      return { type: "A", name: `h${index}.sub`, target: "192.0.2.1", ...other };
    });
  const chain = (name: string): Entry[] => [
    { type: "CNAME", name, target: `${name}1.a.example` },
    { type: "CNAME", name: `${name}1`, target: `${name}2.a.example` },
    { type: "A", name: `${name}2`, target: "192.0.2.9" },
  ];
  const delegation = (count: number) => [
    ...chain("server"),
    ...Array.from({ length: count }, (_, index): Entry => {
      return { type: "NS", name: "sub", target: `s${index}.servers.a.example` };
    }),
    { type: "CNAME", name: "*.servers", target: "server.a.example" } as const,
  ];
  const work = (count: number) => {
    const plain = hosts(count, {});
    expect(planOf([...plain, ...delegation(count)], plain).steps).toHaveLength(count + 4);
    const aliases = [...hosts(count, { type: "CNAME", target: "pool.a.example" }), ...chain("pool")];
    expect(planOf(delegation(count), aliases).steps).toHaveLength(2 * count + 7);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many aliases in the place of a wildcard of many addresses costs in proportion to them", async () => {
  const chain: Entry[] = [
    { type: "CNAME", name: "k1.q", target: "k2.q.a.example" },
    { type: "CNAME", name: "k2.q", target: "k3.q.a.example" },
    { type: "A", name: "k3.q", target: "192.0.2.9" },
  ];
  const text: Entry = { type: "TXT", name: "q", target: "x" };
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const work = (count: number) => {
    const before = numbers(count).map((n): Entry => ({ type: "A", name: "*", target: `10.0.${n >> 8}.${n & 255}` }));
    const after = numbers(count).map((n): Entry => ({ type: "CNAME", name: `n${n}`, target: "k1.q.a.example" }));
    expect(planOf([text, ...before], [text, ...after, ...chain]).steps.length).toBeGreaterThan(count);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of a delegation to many servers within itself costs in proportion to them", async () => {
  const delegation = (count: number): Entry[] =>
    Array.from({ length: count }, (_, index): Entry[] => [
      { type: "NS", name: "sub", target: `ns${index}.sub.a.example` },
      { type: "A", name: `ns${index}.sub`, target: "192.0.2.1" },
    ]).flat();
  const work = (count: number) => {
    expect(planOf([], delegation(count)).steps).toHaveLength(2 * count);
    expect(planOf(delegation(count), []).steps).toHaveLength(2 * count);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of delegations that each lead to the next costs in proportion to them, and ends", async () => {
  const chain = (count: number): Entry[] => [
    ...Array.from({ length: count }, (_, index): Entry => {
      return { type: "NS", name: `c${index}`, target: `n.c${index + 1}.a.example` };
    }),
    { type: "A", name: `n.c${count}`, target: "192.0.2.1" },
  ];
  const work = (count: number) => {
    expect(planOf([], chain(count)).steps).toHaveLength(count + 1);
    expect(planOf(chain(count), []).steps).toHaveLength(count + 1);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
  work(12_000);
});

test("the order of many delegations to a name beneath one of many servers, none of which is there, costs in proportion to them", async () => {
  const delegations = (count: number): Entry[] =>
    Array.from({ length: count }, (_, index): Entry[] => [
      { type: "NS", name: `c${index}`, target: "x.big.a.example" },
      { type: "NS", name: "big", target: `m${index}.a.example` },
    ]).flat();
  const work = (count: number) => {
    expect(planOf([], delegations(count)).steps).toHaveLength(2 * count);
    expect(planOf(delegations(count), []).steps).toHaveLength(2 * count);
  };
  expect(await growth(200, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("how a delegation's servers are found is searched for once for all delegations that lead to it, or to one that does", async () => {
  const delegations: Entry[] = Array.from({ length: 400 }, (_, index): Entry[] => [
    { type: "NS", name: `c${index}`, target: `x${index}.big.a.example` },
    { type: "NS", name: `d${index}`, target: `x.c${index}.a.example` },
  ]).flat();
  const servers = (aliases: number): Entry[] =>
    Array.from({ length: 60 }, (_, server): Entry[] => [
      { type: "NS", name: "big", target: `s${server}-0.a.example` },
      ...Array.from({ length: aliases }, (_, index): Entry => {
        return { type: "CNAME", name: `s${server}-${index}`, target: `s${server}-${index + 1}.a.example` };
      }),
    ]).flat();
  const work = (aliases: number) => {
    expect(planOf(servers(aliases), [...servers(aliases), ...delegations]).steps).toHaveLength(800);
    expect(planOf([...servers(aliases), ...delegations], servers(aliases)).steps).toHaveLength(800);
  };
  work(1);
  const [short, long] = [await operationsOf(() => work(1)), await operationsOf(() => work(12))];
  expect(long / short).toBeLessThan(2);
});

test("the order of many names beneath a wildcard of many records, or a delegation to many servers, costs in proportion to them", async () => {
  const names = (count: number): Entry[] =>
    Array.from({ length: count }, (_, index) => ({ type: "A", name: `h${index}.sub`, target: "192.0.2.1" }));
  const wildcard = (count: number): Entry[] =>
    Array.from({ length: count }, (_, index) => ({
      type: "A",
      name: "*.sub",
      target: `10.0.${index >> 8}.${index & 255}`,
    }));
  const delegation = (count: number): Entry[] =>
    Array.from({ length: count }, (_, index) => ({ type: "NS", name: "sub", target: `h${index}.sub.a.example` }));
  const work = (count: number) => {
    expect(planOf(names(count), wildcard(count)).steps).toHaveLength(2 * count);
    expect(planOf(wildcard(count), names(count)).steps).toHaveLength(2 * count);
    expect(planOf(names(count), [...names(count), ...delegation(count)]).steps).toHaveLength(count);
    expect(planOf([...names(count), ...delegation(count)], names(count)).steps).toHaveLength(count);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many names that come to stand beneath a live wildcard costs in proportion to them", async () => {
  const wild = (name: string): Entry => ({ type: "A", name, target: "192.0.2.1" });
  const work = (count: number) => {
    const hosts = Array.from({ length: count }, (_, index) => wild(`h${index}.p`));
    const { steps } = planOf([wild("*")], [wild("*"), wild("*.p"), ...hosts]);
    expect(steps).toHaveLength(count + 1);
  };
  expect(await growth(150, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many wildcards beneath one that gets, or loses, many values costs in proportion to them", async () => {
  const values = (count: number) =>
    Array.from({ length: count }, (_, index): Entry => {
      return { type: "A", name: "*", target: `10.0.${index >> 8}.${index & 255}` };
    });
  const deeper = (count: number) =>
    Array.from({ length: count }, (_, index): Entry => ({ type: "A", name: `*.n${index}`, target: "192.0.2.2" }));
  const work = (count: number) => {
    const [one, all] = [values(1), [...values(count), ...deeper(count)]];
    expect(planOf(one, all).steps).toHaveLength(2 * count - 1);
    expect(planOf(all, one).steps).toHaveLength(2 * count - 1);
    expect(planOf([...one, ...deeper(count)], values(count)).steps).toHaveLength(2 * count - 1);
    expect(planOf(values(count), [...one, ...deeper(count)]).steps).toHaveLength(2 * count - 1);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
  expect(await growth(100, 4, work, itemsWalkedEach)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("the order of many names that move to a deeper wildcard of many values costs in proportion to them", async () => {
  const values = (count: number, name: string) =>
    Array.from({ length: count }, (_, index): Entry => {
      return { type: "A", name, target: `10.0.${index >> 8}.${index & 255}` };
    });
  const hosts = (count: number) =>
    Array.from({ length: count }, (_, index): Entry => ({ type: "A", name: `h${index}.p`, target: "192.0.2.2" }));
  const work = (count: number) => {
    const [narrow, wide] = [values(1, "*"), [...values(2, "*"), ...values(count, "*.p"), ...hosts(count)]];
    expect(planOf(narrow, wide).steps).toHaveLength(2 * count + 1);
    expect(planOf(wide, narrow).steps).toHaveLength(2 * count + 1);
  };
  expect(await growth(100, 4, work)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
  expect(await growth(100, 4, work, itemsWalkedEach)).toBeLessThan(MOST_FOR_FOUR_TIMES_AS_MANY);
});

test("aliases of deep names are looked up once each, whatever is asked of them", async () => {
  const work = (labels: number) => {
    const name = (index: number) => `n${index}${".b".repeat(labels)}`;
    const aliases = Array.from({ length: 200 }, (_, index): Entry => {
      return { type: "CNAME", name: name(index), target: `${name(index + 1)}.a.example` };
    });
    planOf(texts(0, 1), aliases);
  };
  const [shallow, deep] = [await operationsOf(() => work(1)), await operationsOf(() => work(50))];
  expect(deep / shallow).toBeLessThan(3);
});

test("an alias waits until the delegation that hides its target is gone", () => {
  const host: Entry = { type: "A", name: "host.sub", target: "192.0.2.1" };
  const { steps, gaps } = planOf(
    [host, { type: "NS", name: "sub", target: "ns.sub.a.example" }],
    [host, { type: "CNAME", name: "www", target: "host.sub.a.example" }],
  );
  expect(gaps).toEqual([]);
  expect(steps.map(({ id }) => id)).toEqual(["delete domain/a.example/sub/NS", "create domain/a.example/www/CNAME"]);
  expect(steps[1]?.after).toEqual(["delete domain/a.example/sub/NS"]);
});

test("which server of a delegation a pointer beneath it waits for does not depend on the order of the service's list", () => {
  const servers = ["z.a.example", "www.a.example"].map((target): Entry => ({ type: "NS", name: "sub", target }));
  const desired: Entry[] = [
    { type: "A", name: "*", target: "192.0.2.1" },
    { type: "A", name: "www", target: "192.0.2.1" },
    { type: "MX", name: "", target: "host.sub.b.example" },
  ];
  const stepsOf = (live: readonly Entry[]) => planOf([], desired, live).steps.map(({ id, after }) => ({ id, after }));
  expect(stepsOf(servers)).toContainEqual({
    id: "create domain/a.example/@/MX",
    after: [expect.stringContaining("/A")],
  });
  expect(stepsOf(servers.toReversed())).toEqual(stepsOf(servers));
});

test("what a long chain of new aliases waits for is found once for all pointers that change to lead to it", async () => {
  const answers = (name: string): Entry[] => [
    { type: "A", name, target: "192.0.2.9" },
    { type: "AAAA", name, target: "2001:db8::9" },
    { type: "TXT", name, target: "x" },
    { type: "MX", name, target: "mx.b.example" },
  ];
  const pointers = (target: string): Entry[] =>
    Array.from({ length: 400 }, (_, index) => ({ type: "CNAME", name: `p${index}`, target: `${target}.a.example` }));
  const work = (aliases: number) => {
    const chain = Array.from({ length: aliases }, (_, index): Entry => {
      return { type: "CNAME", name: `c${index}`, target: `c${index + 1}.a.example` };
    });
    const desired = [...answers("old"), ...chain, ...answers(`c${aliases}`), ...pointers("c0")];
    const { steps } = planOf([...answers("old"), ...pointers("old")], desired);
    expect(steps.filter(({ id }) => id.includes("/p"))).toHaveLength(400);
  };
  work(1);
  const [short, long] = [await operationsOf(() => work(1)), await operationsOf(() => work(10))];
  expect(long / short).toBeLessThan(2.5);
});

test("what many new aliases to names beneath a new wildcard wait for is found once for all of them, as if they led to one name", async () => {
  // It answers for the pointers' names on the other side.
  const live: Entry = { type: "CNAME", name: "*.z", target: "out.other.example" };
  const chain = Array.from({ length: 12 }, (_, index): Entry => {
    return { type: "CNAME", name: `c${index}`, target: index < 11 ? `c${index + 1}.a.example` : "end.other.example" };
  });
  const work = (targetOf: (index: number) => string) => {
    const pointers = Array.from({ length: 300 }, (_, index): Entry => {
      return { type: "CNAME", name: `p${index}.z`, target: `${targetOf(index)}.w.a.example` };
    });
    const all = [live, { type: "CNAME", name: "*.w", target: "c0.a.example" } as const, ...chain, ...pointers];
    expect(planOf([live], all).steps).toHaveLength(313);
    expect(planOf(all, [live]).steps).toHaveLength(313);
  };
  work(() => "x");
  const one = await operationsOf(() => work(() => "x"));
  const many = await operationsOf(() => work((index) => `x${index}`));
  expect(many / one).toBeLessThan(1.3);
});
