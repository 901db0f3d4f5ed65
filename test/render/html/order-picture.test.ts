/** The order of steps as a picture: which boxes there are, what waits for what, and what hostile names do to it. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Kinds } from "../../../src/model/kind.ts";
import type { Barrier, Plan, RequestStep } from "../../../src/model/plan.ts";
import type { Report, StepReport } from "../../../src/model/report.ts";
import { MAX_BOXES, orderOf, orderPicture } from "../../../src/render/html/order-picture.ts";
import { units } from "../../../src/units/index.ts";
import { growth } from "../../support/operations.ts";
import { everything, plan } from "../plans.ts";

const KINDS = new Kinds(units);

function step(id: string, after: readonly string[] = [], rest: Partial<RequestStep> = {}): RequestStep {
  const root = /(?:domain|vpc|image)\/[^/]+/.exec(id)?.[0] ?? "";
  return {
    ...{ type: "request", id, unit: "zone", root, changes: [], after, method: "POST", path: ["domains"] },
    ...{ body: null, produces: null, lookup: null, expect: null, ...rest },
  };
}

function planOf(steps: readonly RequestStep[], rest: Partial<Plan> = {}): Plan {
  return plan([], { steps, ...rest });
}

/** Steps of some zones in an order, each after any of those before it, by way of barriers or not. */
const plans = fc
  .array(
    fc.record({
      verb: fc.constantFrom("create", "update", "delete"),
      zone: fc.nat(20),
      after: fc.array(fc.nat(1_000), { maxLength: 4 }),
      through: fc.boolean(),
    }),
    { minLength: 1, maxLength: 80 },
  )
  .map((drawn) => {
    const barriers: Barrier[] = [];
    const ids = drawn.map(({ verb, zone }, index) => `${verb} domain/z${zone}.example/n${index}/A`);
    const steps = drawn.map(({ after, through, verb }, index) => {
      const first = index === 0 ? [] : [...new Set(after.map((number) => ids[number % index] ?? ""))];
      const method = verb === "create" ? "POST" : verb === "update" ? "PUT" : "DELETE";
      if (!through || first.length === 0) return step(ids[index] ?? "", first, { method });
      const id = `barrier ${index}`;
      // A barrier may wait for another one, which is listed behind it.
      barriers.push({ id, after: [`${id} below`] }, { id: `${id} below`, after: first });
      return step(ids[index] ?? "", [id], { method });
    });
    return planOf(steps, { barriers });
  });

test("every step is in exactly one box", () => {
  fc.assert(
    fc.property(plans, (drawn) => {
      const { boxes, layers } = orderOf(drawn, KINDS, null);
      const held = boxes.flatMap(({ steps }) => steps.map(({ id }) => id));
      expect([...held].sort()).toEqual(drawn.steps.map(({ id }) => id).sort());
      expect(layers.flat().sort((a, b) => a - b)).toEqual([...boxes.keys()]);
      expect(boxes.length).toBeLessThanOrEqual(MAX_BOXES);
    }),
  );
});

/** What each step waits for, through barriers. */
function waitsOf({ steps, barriers }: Plan): Map<string, string[]> {
  const barrier = new Map(barriers.map(({ id, after }) => [id, after]));
  const resolve = (id: string): string[] => barrier.get(id)?.flatMap(resolve) ?? [id];
  return new Map(steps.map(({ id, after }) => [id, after.flatMap(resolve)]));
}

test("arrows lead forward, say all that waits, and none follows from others", () => {
  fc.assert(
    fc.property(plans, (drawn) => {
      const { boxes, layers, waits } = orderOf(drawn, KINDS, null);
      const layerOf = new Map(layers.flatMap((layer, index) => layer.map((box) => [box, index] as const)));
      const boxOf = new Map(boxes.flatMap(({ steps }, box) => steps.map(({ id }) => [id, box] as const)));
      for (const { from, to } of waits) expect(layerOf.get(from)).toBeLessThan(layerOf.get(to) ?? -1);
      const reaches = (from: number, to: number, skipped: unknown): boolean =>
        from === to ||
        waits.some((arrow) => arrow !== skipped && arrow.from === from && reaches(arrow.to, to, skipped));
      for (const arrow of waits) expect(reaches(arrow.from, arrow.to, arrow)).toBe(false);
      const wanted = new Set<string>();
      for (const [id, firsts] of waitsOf(drawn))
        for (const first of firsts) wanted.add(`${boxOf.get(first)} ${boxOf.get(id)}`);
      for (const pair of wanted) {
        const [from = 0, to = 0] = pair.split(" ").map(Number);
        expect(reaches(from, to, null)).toBe(true);
      }
      for (const { from, to } of waits) expect(wanted.has(`${from} ${to}`)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("a step is in the layer of the longest way to it", () => {
  const [a, b, c, d] = [
    "create domain/a.example",
    "create domain/b.example",
    "create domain/c.example",
    "create domain/d.example",
  ];
  const { layers, boxes } = orderOf(planOf([step(a), step(b, [a]), step(c), step(d, [b, c])]), KINDS, null);
  expect(layers.map((layer) => layer.map((box) => boxes[box]?.where))).toEqual([
    ["a.example", "c.example"],
    ["b.example"],
    ["d.example"],
  ]);
});

test("steps that are alike are one box, once there are too many of them", () => {
  const records = (zone: string, count: number) =>
    Array.from({ length: count }, (_, index) => step(`create domain/${zone}/n${index}/A`));
  const few = orderOf(planOf(records("a.example", 12)), KINDS, null);
  expect(few.boxes.map(({ what }) => what)).toEqual(Array.from({ length: 12 }, () => "record"));
  const many = orderOf(planOf([...records("a.example", 12), ...records("b.example", 3)]), KINDS, null);
  expect(many.boxes.map(({ what, where }) => `${what} ${where}`)).toEqual([
    "12 records a.example",
    "3 records b.example",
  ]);
  const all = Array.from({ length: 30 }, (_, zone) => records(`z${zone}.example`, 2)).flat();
  const { boxes } = orderOf(planOf([...all, step("delete domain/old.example", [], { method: "DELETE" })]), KINDS, null);
  expect(boxes.map(({ verb, what, where }) => `${verb} ${what} ${where}`)).toEqual([
    "create 60 records z0.example and 29 more",
    "delete domain old.example",
  ]);
});

test("12,000 steps are a picture of bounded size, whether they are wide or deep", () => {
  const wide = Array.from({ length: 12_000 }, (_, index) =>
    step(`create domain/z${index % 1_000}.example/n${index}/A`),
  );
  const deep = Array.from({ length: 12_000 }, (_, index) => {
    return step(`create domain/z${index}.example`, index === 0 ? [] : [`create domain/z${index - 1}.example`]);
  });
  expect(orderOf(planOf(wide), KINDS, null).boxes).toHaveLength(1);
  const order = orderOf(planOf(deep), KINDS, null);
  expect(order.depth).toBe(12_000);
  expect(order.boxes.length).toBeLessThanOrEqual(MAX_BOXES);
  expect(order.boxes.reduce((sum, { steps }) => sum + steps.length, 0)).toBe(12_000);
  const text = String(orderPicture(planOf(deep), KINDS, null));
  expect(text.length).toBeLessThan(200_000);
  expect(text).toContain("Layers 66 to 12,000");
  expect(text).toContain("The layers from 66 on are one column");
});

test("a barrier between thousands of steps takes no arrow for each pair of them", async () => {
  const through = (count: number): Plan => {
    const first = Array.from({ length: count }, (_, index) => step(`create domain/z${index}.example/a/A`));
    const second = Array.from({ length: count }, (_, index) =>
      step(`create domain/z${index}.example/b/CNAME`, ["all"]),
    );
    return planOf([...first, ...second], { barriers: [{ id: "all", after: first.map(({ id }) => id) }] });
  };
  expect(await growth(150, 4, (count) => orderPicture(through(count), KINDS, null))).toBeLessThan(5);
});

test("a gap is an arrow of its own and a word in the box that comes too early", () => {
  const [early, late] = ["delete domain/a.example/x/A", "create domain/a.example/x/CNAME"];
  const gap = { what: "x.a.example CNAME", wanted: late, before: early, root: "domain/a.example" };
  const drawn = planOf([step(early, [], { method: "DELETE" }), step(late, [early])], { gaps: [gap] });
  const text = String(orderPicture(drawn, KINDS, null));
  expect(text).toMatch(/<path class="arrow gap" data-from="1" data-to="0"/);
  expect(text).toContain("gap: x.a.example CNAME");
  expect(text).toContain("Without an answer meanwhile: x.a.example CNAME");
  expect(text).toContain("1 gap.");
});

test("of an apply each box says what became of its steps, and only steps with one outcome are together", () => {
  const steps = Array.from({ length: 20 }, (_, index) => step(`create domain/a.example/n${index}/A`));
  const reports = steps.map(({ id }, index): StepReport => {
    const outcome = index === 3 ? "failed" : "done";
    return { step: id, changes: [], outcome, id: null, recovered: false, failure: null, because: [] };
  });
  const report = { steps: reports } as unknown as Report;
  const { boxes } = orderOf(planOf(steps), KINDS, report);
  expect(boxes.map(({ what, outcome }) => `${what} ${outcome}`)).toEqual(["19 records done", "record failed"]);
  expect(String(orderPicture(planOf(steps), KINDS, report))).toMatch(/class="box create failed"/);
});

test("a plan file that somebody has spoilt is drawn as far as it goes", () => {
  const circle: Barrier[] = [
    { id: "x", after: ["y"] },
    { id: "y", after: ["x", "nowhere"] },
  ];
  const drawn = planOf(
    [step("create domain/a.example", ["x", "create domain/b.example"]), step("create domain/b.example")],
    {
      barriers: circle,
      gaps: [{ what: "w", wanted: "nowhere", before: "create domain/a.example", root: "domain/a.example" }],
    },
  );
  expect(orderOf(drawn, KINDS, null).boxes).toHaveLength(2);
  expect(String(orderPicture(drawn, KINDS, null))).toContain("a.example");
});

test("hostile names stay text, in the picture as in words", () => {
  const label = '</script><img src=x onerror="alert(1)">\u202e\u009b31m&amp;';
  const text = String(orderPicture(planOf([step(`create vpc/${label}`, [], { root: `vpc/${label}` })]), KINDS, null));
  expect(text).not.toMatch(/<\/?(script|img)/);
  expect(text).not.toMatch(/[\u202e\u009b]/);
  expect(text).toContain("\\u{202e}\\u{9b}31m&amp;amp;");
  expect(text).not.toMatch(/ (style|on[a-z]+)="/);
});

test("the picture has a name, its boxes have titles, and the same is there in words", () => {
  const text = String(orderPicture(everything(), KINDS, null));
  expect(text).toMatch(/<svg class="layered" role="img" aria-labelledby="order-title"/);
  expect(text).toContain('<title id="order-title">The order of 2 steps in 2 layers</title>');
  expect(text).toContain('<details class="picture-words"><summary>The order in words</summary>');
  expect(text).toContain("2.1 create record new.example/@/MX; waits for 1.1");
  expect(String(orderPicture(planOf([]), KINDS, null))).toBe("");
});

test("the whole picture of a small plan", async () => {
  const steps = [
    step("create domain/a.example"),
    ...Array.from({ length: 13 }, (_, index) =>
      step(`create domain/a.example/n${index}/A`, ["create domain/a.example"]),
    ),
    step("delete domain/b.example/x/A", [], { method: "DELETE", root: "domain/b.example" }),
    step("create domain/b.example/x/CNAME", ["delete domain/b.example/x/A"]),
    step("activate domain/a.example", ["all"], { method: "PUT" }),
  ];
  const drawn = planOf(steps, {
    barriers: [{ id: "all", after: steps.slice(0, 14).map(({ id }) => id) }],
    gaps: [
      {
        what: "x.b.example CNAME",
        wanted: "create domain/b.example/x/CNAME",
        before: "delete domain/b.example/x/A",
        root: "domain/b.example",
      },
    ],
  });
  await expect(String(orderPicture(drawn, KINDS, null))).toMatchFileSnapshot("../../golden/picture-order.html");
});
