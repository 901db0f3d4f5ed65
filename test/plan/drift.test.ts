import { describe, expect, it } from "vitest";
import { hasDrift } from "../../src/model/change.ts";
import { driftOf } from "../../src/plan/drift.ts";
import { change, everything, plan, record } from "../render/plans.ts";

const VPC = { label: "a", region: "x", description: "", owner: "edge" };
const statusesOf = (...changes: Parameters<typeof plan>[0]) =>
  driftOf(plan(changes)).objects.map(({ status }) => status);

describe("drift", () => {
  it("is what an apply would change, seen from the account", () => {
    const { objects, summary } = driftOf(
      plan([
        change("vpc/c", "vpc", { before: VPC }),
        change("vpc/a", "vpc", { before: VPC, after: { ...VPC, description: "d" } }),
        change("vpc/b", "vpc", { after: VPC }),
        change("vpc/d", "vpc", { before: VPC, after: VPC, action: "no-op" }),
      ]),
    );
    expect(objects.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "vpc/a changed",
      "vpc/b missing",
      "vpc/c unexpected",
    ]);
    expect(objects[0]?.fields).toEqual([{ name: "description", declared: "d", live: "" }]);
    expect(objects[1]?.fields).toContainEqual({ name: "region", declared: "x", live: null });
    expect(objects[2]?.fields).toContainEqual({ name: "region", declared: null, live: "x" });
    expect(summary).toEqual({ changed: 1, missing: 1, unexpected: 1, unadopted: 0 });
  });

  it("is not what only lacks our tag; values beside that are", () => {
    const before = { ...VPC, owner: null };
    const adopt = { labels: ["adopt"] as const, before };
    const only = driftOf(plan([change("vpc/a", "vpc", { ...adopt, after: VPC })]));
    expect(only.objects[0]?.status).toBe("unadopted");
    expect(hasDrift(only)).toBe(false);
    const [object] = driftOf(plan([change("vpc/a", "vpc", { ...adopt, after: { ...VPC, region: "y" } })])).objects;
    expect(object).toMatchObject({ status: "changed", fields: [{ name: "region", declared: "y", live: "x" }] });
  });

  it("is a tag that should be gone", () => {
    const released = change("vpc/a", "vpc", { before: VPC, after: { ...VPC, owner: null }, labels: ["release"] });
    expect(statusesOf(released)).toEqual(["changed"]);
  });

  it("is there although its change is blocked or needs consent", () => {
    const blocked = { blocked: { type: "depends" as const, on: ["vpc/x"] } };
    expect(statusesOf(change("domain/a/x/A", "domain_record", { before: record("x", "A", "1"), ...blocked }))).toEqual([
      "unexpected",
    ]);
  });

  it("has one object for each change that does something", () => {
    const all = everything();
    const open = all.changes.filter(({ action }) => action !== "no-op").map(({ key }) => key);
    expect(driftOf(all).objects.map(({ key }) => key)).toEqual(open.sort());
  });
});
