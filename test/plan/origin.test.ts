import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Kinds } from "../../src/model/kind.ts";
import type { Guard, Plan } from "../../src/model/plan.ts";
import { attributeOrigins } from "../../src/plan/compare-base.ts";
import { renderGuardsText } from "../../src/render/index.ts";
import { units } from "../../src/units/index.ts";
import { change, plan, record } from "../render/plans.ts";

const www = (target: string, rest: object = {}) =>
  change("domain/a.example/www/A", "domain_record", { after: record("www", "A", target), ...rest });
const originsOf = (told: ReturnType<typeof plan>) => told.changes.map(({ key, origin }) => `${key} ${origin}`);

describe("whose change it is", () => {
  it("is this change's if the base would not make it, and already pending if it would make the very same", () => {
    const vpc = change("vpc/a", "vpc", { after: { label: "a", region: "x" } });
    const told = attributeOrigins(plan([www("192.0.2.1"), vpc]), plan([vpc]), "main", new Kinds(units));
    expect(originsOf(told)).toEqual(["domain/a.example/www/A this-change", "vpc/a already-pending"]);
    expect(told.base).toEqual({ name: "main", withdrawn: [] });
  });

  it("does not depend on notes, places, reasons of blocks, or the order of fields", () => {
    const stale = { type: "stale-id", candidate: { id: 1, shown: {} } } as const;
    const one = change("vpc/a", "vpc", { after: { label: "a", region: "x" }, note: "n", span: null, blocked: stale });
    const other = change("vpc/a", "vpc", { after: { region: "x", label: "a" }, blocked: { type: "depends", on: [] } });
    expect(attributeOrigins(plan([one]), plan([other]), "main", new Kinds(units)).changes[0]?.origin).toBe(
      "already-pending",
    );
  });

  it("is this change's if the base was refused as a whole for another one, which would not have come then either", () => {
    const gone = change("vpc/gone", "vpc", { action: "delete", before: { label: "gone" }, after: null });
    const guard = { rule: "delete", address: "vpc/gone", count: null, of: null, origin: null } as const;
    const told = (consent: Guard["consent"]) =>
      attributeOrigins(
        plan([www("192.0.2.1")]),
        plan([www("192.0.2.1"), gone], { guards: [{ ...guard, consent }] }),
        "main",
        new Kinds(units),
      );
    expect(originsOf(told("missing"))).toEqual(["domain/a.example/www/A this-change"]);
    expect(told("missing").base?.withdrawn).toEqual([]);
    expect(originsOf(told("given"))).toEqual(["domain/a.example/www/A already-pending"]);
    expect(told("given").base?.withdrawn).toEqual([{ key: "vpc/gone", action: "delete" }]);
  });

  it("is this change's if the same object would become something else, and the other end is withdrawn", () => {
    const before = record("www", "A", "192.0.2.9");
    const told = attributeOrigins(
      plan([www("192.0.2.1", { before })]),
      plan([www("192.0.2.2", { before })]),
      "main",
      new Kinds(units),
    );
    expect(originsOf(told)).toEqual(["domain/a.example/www/A this-change"]);
    expect(told.base?.withdrawn).toEqual([{ key: "domain/a.example/www/A", action: "update" }]);
  });

  it("is this change's if it would be made in another object than at the base", () => {
    const vpc = { label: "a", region: "x" };
    const subnet = change("vpc/a/subnet/s", "subnet", { after: { label: "s", ipv4: "10.0.0.0/24" } });
    const made = change("vpc/a", "vpc", { after: vpc });
    const there = (id: number) => change("vpc/a", "vpc", { action: "no-op", id, before: vpc, after: vpc });
    const origin = (now: typeof made, then: typeof made) =>
      attributeOrigins(plan([now, subnet]), plan([then, subnet]), "main", new Kinds(units)).changes[1]?.origin;
    expect(origin(there(102), made)).toBe("this-change");
    expect(origin(there(102), there(101))).toBe("this-change");
    expect(origin(there(101), there(101))).toBe("already-pending");
    expect(origin(made, made)).toBe("already-pending");
  });

  it.each([
    ["action", { action: "replace" as const }],
    ["id", { id: 8 }],
    ["old name", { previousAddress: "vpc/b" }],
    ["before", { before: { label: "a", region: "z" } }],
  ])("depends on the %s", (_, rest) => {
    const one = change("vpc/a", "vpc", { before: { label: "a", region: "y" }, after: { label: "a", region: "x" } });
    const told = attributeOrigins(plan([one]), plan([{ ...one, ...rest }]), "main", new Kinds(units));
    expect(told.changes[0]?.origin).toBe("this-change");
    expect(told.base?.withdrawn).toHaveLength(1);
  });

  it("is this change's if a block hides what it may set free, in an object that it declares otherwise", () => {
    const interfaces = { type: "interfaces", interfaces: [] } as const;
    const staleId = { type: "stale-id", candidate: { id: 1, shown: {} } } as const;
    const gone = { action: "delete", before: { label: "a" }, after: null, blocked: interfaces } as const;
    const made = { after: { label: "a", region: "x" }, blocked: interfaces } as const;
    const origin = (now: object, was: object, changed: readonly string[]) =>
      attributeOrigins(
        plan([change("vpc/a", "vpc", now)]),
        plan([change("vpc/a", "vpc", was)]),
        "main",
        new Kinds(units),
        { changed: new Set(changed), hasOtherEnvironments: false },
      ).changes[0]?.origin;
    expect(origin(gone, gone, ["vpc/a"])).toBe("this-change");
    expect(origin(made, { ...made, blocked: staleId }, ["vpc/a"])).toBe("this-change");
    expect(origin(gone, gone, ["vpc/b"])).toBe("already-pending");
    expect(origin(made, { ...made, blocked: staleId }, [])).toBe("already-pending");
    expect(origin(made, made, ["vpc/a"])).toBe("already-pending");
  });

  it("is this change's if nobody has looked whether the base would be refused for a file or an environment", () => {
    const vpc = change("vpc/a", "vpc", { after: { label: "a", region: "x" } });
    const retired = change("image/old", "image", {
      action: "delete",
      before: { label: "old" },
      after: null,
      labels: ["retire"],
    });
    const upload = (sha256: string): Partial<Plan> => ({
      steps: [{ type: "upload", file: "a.img", content: { size: 1, sha256 } } as never],
    });
    const origins = (was: Plan, now: Plan, hasOtherEnvironments = false) =>
      originsOf(attributeOrigins(now, was, "main", new Kinds(units), { changed: new Set(), hasOtherEnvironments }));
    expect(origins(plan([vpc], upload("1")), plan([vpc], upload("2")))).toEqual(["vpc/a this-change"]);
    expect(origins(plan([vpc], upload("1")), plan([vpc], upload("1")))).toEqual(["vpc/a already-pending"]);
    expect(origins(plan([vpc]), plan([vpc], upload("1")))).toEqual(["vpc/a already-pending"]);
    const both = plan([vpc, retired]);
    expect(origins(both, both, true)).toEqual(["vpc/a this-change", "image/old this-change"]);
    expect(origins(both, both)).toEqual(["vpc/a already-pending", "image/old already-pending"]);
  });

  it("is this change's if the base would be refused as a whole, and this change is not", () => {
    const vpc = change("vpc/a", "vpc", { after: { label: "a", region: "x" } });
    const refusals = [{ code: "wrong-account", severity: "error" as const, summary: "another account", detail: "" }];
    const refused = plan([vpc], { refusals });
    const freed = attributeOrigins(plan([vpc]), refused, "main", new Kinds(units));
    expect(originsOf(freed)).toEqual(["vpc/a this-change"]);
    expect(freed.base).toEqual({ name: "main", withdrawn: [] });
    expect(originsOf(attributeOrigins(refused, refused, "main", new Kinds(units)))).toEqual(["vpc/a already-pending"]);
  });

  it.each([
    ["a block of it is gone", "blocked", "free", "this-change"],
    ["a guard of it has got consent", "delete", "free", "this-change"],
    ["it was protected and is no longer", "protect", "free", "this-change"],
    ["it was protected and now only lacks consent", "protect", "delete", "this-change"],
    ["a block of it is gone and a guard stays", "blocked", "delete", "this-change"],
    ["it is blocked now", "free", "blocked", "already-pending"],
    ["it lacks consent now", "free", "delete", "already-pending"],
    ["it lacks consent still", "delete", "delete", "already-pending"],
    ["it lacked consent and is blocked now", "delete", "blocked", "already-pending"],
  ] as const)("if %s", (_, was, is, origin) => {
    const subnet = { address: "vpc/gone/a", kind: "vpc_subnet", before: { label: "a" } } as const;
    const planOf = (state: "blocked" | "free" | "delete" | "protect") => {
      const blocked = state === "blocked" ? ({ type: "depends", on: [] } as const) : null;
      const changes = [
        change("vpc/gone", "vpc", { before: { label: "gone" }, blocked }),
        change(subnet.address, subnet.kind, { before: subnet.before, blocked }),
      ];
      if (state === "blocked" || state === "free") return plan(changes);
      const given: Guard = {
        rule: "replace",
        address: "vpc/gone",
        consent: "given",
        count: null,
        of: null,
        origin: null,
      };
      const missing = { ...given, rule: state, consent: state === "protect" ? "impossible" : "missing" } as const;
      return plan(changes, { guards: [given, missing] });
    };
    const told = attributeOrigins(planOf(is), planOf(was), "main", new Kinds(units));
    expect(told.changes.map((one) => one.origin)).toEqual([origin, origin]);
    expect(told.base?.withdrawn).toEqual([]);
  });

  it("is this change's if a renamed object was protected and is no longer", () => {
    const renamed = change("vpc/new", "vpc", {
      before: { label: "old" },
      after: { label: "new" },
      previousAddress: "vpc/old",
      labels: ["rename"],
    });
    const protect: Guard = {
      rule: "protect",
      address: "vpc/old",
      consent: "impossible",
      count: null,
      of: null,
      origin: null,
    };
    const base = plan([renamed], { guards: [protect] });
    expect(attributeOrigins(plan([renamed]), base, "main", new Kinds(units)).changes[0]?.origin).toBe("this-change");
    expect(attributeOrigins(base, base, "main", new Kinds(units)).changes[0]?.origin).toBe("already-pending");
  });

  it("of several equal changes takes as many for pending as the base would make", () => {
    const twin = (index: number) => www("192.0.2.1", { key: `domain/a.example/www/A[${index}]` });
    const told = attributeOrigins(
      plan([twin(1), twin(2), twin(3)]),
      plan([twin(1), twin(2)]),
      "main",
      new Kinds(units),
    );
    expect(told.changes.map(({ origin }) => origin)).toEqual(["already-pending", "already-pending", "this-change"]);
    const back = attributeOrigins(plan([twin(1)]), plan([twin(1), twin(2)]), "main", new Kinds(units));
    expect(back.base?.withdrawn).toHaveLength(1);
  });

  it("is nobody's where nothing is done, and what the base leaves alone is not withdrawn", () => {
    const same = { before: { label: "a" }, after: { label: "a" }, action: "no-op" as const };
    const told = attributeOrigins(
      plan([change("vpc/a", "vpc", same)]),
      plan([change("vpc/b", "vpc", same)]),
      "main",
      new Kinds(units),
    );
    expect(told.changes[0]?.origin).toBeNull();
    expect(told.base?.withdrawn).toEqual([]);
  });

  it("adds up: what is pending and what is withdrawn is what the base would do", () => {
    const some = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom("x", "y"), fc.boolean()));
    const planOf = (drawn: readonly (readonly [number, string, boolean])[]) =>
      plan(
        drawn.map(([name, region, isThere], index) =>
          change(`vpc/${name}`, "vpc", {
            key: `vpc/${name}[${index}]`,
            before: isThere ? { label: String(name) } : null,
            after: { label: String(name), region },
          }),
        ),
      );
    fc.assert(
      fc.property(some, some, (one, other) => {
        const told = attributeOrigins(planOf(one), planOf(other), "main", new Kinds(units));
        const pending = told.changes.filter(({ origin }) => origin === "already-pending").length;
        expect(pending + (told.base?.withdrawn.length ?? 0)).toBe(other.length);
        expect(
          attributeOrigins(planOf(one), planOf(one), "main", new Kinds(units)).changes.every(
            (c) => c.origin === "already-pending",
          ),
        ).toBe(true);
      }),
      { seed: 5 },
    );
  });
});

describe("whose guard it is", () => {
  const old = change("domain/a.example/old/A", "domain_record", { before: record("old", "A", "192.0.2.1") });
  const gone = change("vpc/gone", "vpc", { before: { label: "gone" } });
  const guard = (rule: Guard["rule"], address: string): Guard => {
    return { rule, address, consent: "missing", count: null, of: null, origin: null };
  };
  const guards = [
    guard("bulk", "domain/a.example"),
    guard("delete", "vpc/gone"),
    guard("max-changes", "*"),
    guard("protect", "vpc/gone"),
    guard("ns", "domain/elsewhere.example"),
  ];
  const told = (changes: Plan["changes"], before: Plan["changes"]) =>
    attributeOrigins(plan(changes, { guards }), plan(before), "main", new Kinds(units)).guards.map(
      ({ rule, origin }) => [rule, origin],
    );

  it("was pending if all changes were that have a part in it, and is this change's otherwise", () => {
    expect(told([old, gone], [gone])).toEqual([
      ["bulk", "this-change"],
      ["delete", "already-pending"],
      ["max-changes", "this-change"],
      ["protect", "already-pending"],
      ["ns", "this-change"],
    ]);
    expect(told([old, gone], [old, gone]).map(([, origin]) => origin)).toEqual([
      ...guards.slice(0, -1).map(() => "already-pending"),
      "this-change",
    ]);
  });

  it("is what the text says of it, whatever the changes are", () => {
    const lines = (origin: Guard["origin"]) => {
      const own = { ...guard("delete", "vpc/gone"), origin };
      const base = { name: "main", withdrawn: [] };
      return renderGuardsText(plan([{ ...gone, origin: "this-change" }], { guards: [own], base }), {
        colour: false,
        width: 200,
      });
    };
    expect(lines("already-pending")).toContain("no longer declared (already pending before this change)\n");
    expect(lines("this-change")).toContain("no longer declared\n");
  });
});
