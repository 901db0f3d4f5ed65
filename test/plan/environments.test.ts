/** What other environments declare of what would go. */

import { expect, test } from "vitest";
import type { Declared } from "../../src/model/desired.ts";
import type { Guard } from "../../src/model/plan.ts";
import { declaredElsewhere, mayGoByMistake, nameOtherEnvironments } from "../../src/plan/environments.ts";
import { change, declared, desired } from "./changes.ts";

function guard(rule: Guard["rule"], address: string, consent: Guard["consent"] = "missing"): Guard {
  return { rule, address, consent, count: null, of: null, origin: null };
}

const gone = (address: string, id: string) => change({ address, kind: "image", action: "delete", id });
const HERE = { ...desired(), owner: "edge" };

test("only a deletion without consent names the environments that declare the object, sorted", () => {
  const declares = new Set(["image/a", "image/b"]);
  const others = [
    { name: "z", declares },
    { name: "b", declares },
    { name: "c", declares: new Set<string>() },
    { name: "d", declares: null },
    { name: null, declares },
  ];
  const all = [
    guard("delete", "image/a"),
    guard("delete", "image/b", "given"),
    guard("delete", "image/c"),
    guard("replace", "image/a"),
    guard("protect", "image/a", "impossible"),
  ];
  const told = nameOtherEnvironments(all, others);
  expect(told).toEqual([{ ...all[0], declaredUnder: ["b", "z"] }, ...all.slice(1)]);
});

test("an entry of another environment means an object by its label, its former label or its id, whatever the plan calls it", () => {
  const changes = [gone("image/old:private%2F1", "private/1"), gone("image/plain", "private/2")];
  const inDoubt = mayGoByMistake({ guards: changes.map(({ address }) => guard("delete", address)), changes });
  expect(inDoubt).toEqual(changes);
  const found = (more: Partial<Declared>, address = "image/new", rest: object = {}) => {
    const entry = { ...declared(address, false), ...more };
    return [...declaredElsewhere(inDoubt, HERE, { ...desired(entry), owner: "edge", ...rest })];
  };
  expect(found({})).toEqual([]);
  expect(found({}, "image/old")).toEqual(["image/old:private%2F1"]);
  expect(found({}, "image/plain")).toEqual(["image/plain"]);
  expect(found({ movedFrom: "old" })).toEqual(["image/old:private%2F1"]);
  expect(found({ id: "private/2" })).toEqual(["image/plain"]);
  expect(found({ id: "private/2" }, "vpc/new")).toEqual([]);
  expect(found({}, "image/plain", { owner: "edge-c" })).toEqual([]);
  expect(found({}, "image/plain", { account: "other" })).toEqual([]);
});

test("an entry that both environments have alike means the same object in both", () => {
  const replaced = [
    change({ address: "image/a", kind: "image", action: "replace", id: "private/1", labels: ["retire"] }),
  ];
  const here = { ...HERE, declared: [declared("image/a", false)] };
  const there = (spec: unknown) => ({ ...here, declared: [{ ...declared("image/a", false), spec }] });
  expect([...declaredElsewhere(replaced, here, there(here.declared[0]?.spec))]).toEqual([]);
  expect([...declaredElsewhere(replaced, here, there({ file: "other" }))]).toEqual(["image/a"]);
});
