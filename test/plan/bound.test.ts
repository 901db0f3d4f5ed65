/** The reviewed plan as an upper bound: what was shown may still be done, in whatever steps are left; nothing else may. */

import { describe, expect, test } from "vitest";
import type { Change } from "../../src/model/change.ts";
import { Kinds } from "../../src/model/kind.ts";
import { exceedsReviewedPlan } from "../../src/plan/review.ts";
import { units } from "../../src/units/index.ts";
import { growth, itemsWalkedEach } from "../support/operations.ts";
import { a, change, record } from "./changes.ts";

function outside(now: Change[], reviewed: Change[]): string[] {
  return exceedsReviewedPlan(now, reviewed, new Kinds(units)).map(({ key }) => key);
}

const vpc = { label: "v", region: "us-east", description: "words", owner: null };

test("a plan is within itself, and outside the empty one; no-ops and blocked changes are within anything", () => {
  const changes = [
    record("www", "create", { after: a("www", "192.0.2.1") }),
    record("old", "delete", { before: a("old", "192.0.2.1") }),
    change({ address: "vpc/v", action: "update", before: vpc, after: { ...vpc, description: "others" } }),
    change({ address: "vpc/w", action: "replace", before: vpc, after: { ...vpc, region: "us-west" } }),
    change({ address: "image/i", action: "delete", before: { label: "i" } }),
    change({ address: "domain/b.example", action: "create", after: { domain: "b.example", status: "active" } }),
  ];
  expect(outside(changes, changes)).toEqual([]);
  expect(outside(changes, [])).toEqual(changes.map(({ key }) => key));
  const idle: Change[] = changes.map((one) => ({ ...one, action: "no-op" }));
  expect(outside(idle, [])).toEqual([]);
  const blocked = changes.map((one) => ({ ...one, blocked: { type: "depends", on: [] } as const }));
  expect(outside(blocked, [])).toEqual([]);
});

test("what was blocked because it was not known which object it is about allows nothing, nor does what depends on it", () => {
  const goes = (blocked: Change["blocked"]) => [
    change({ address: "vpc/v", action: "delete", before: vpc, blocked }),
    change({
      address: "vpc/v/s",
      action: "delete",
      before: { label: "s" },
      blocked: blocked && { type: "depends", on: ["vpc/v"] },
    }),
  ];
  expect(outside(goes(null), goes({ type: "interfaces", interfaces: [] }))).toEqual([]);
  expect(outside(goes(null), goes({ type: "ambiguous", candidates: [] }))).toEqual(["vpc/v", "vpc/v/s"]);
  expect(outside(goes(null), goes({ type: "stale-id", candidate: { id: 1, shown: {} } }))).toEqual([
    "vpc/v",
    "vpc/v/s",
  ]);
});

test("a no-op that was shown allows nothing", () => {
  const shown = [
    change({ address: "vpc/v", action: "no-op", before: vpc, after: vpc }),
    record("www", "no-op", { before: a("www", "192.0.2.1"), after: a("www", "192.0.2.1") }),
  ];
  expect(outside([change({ address: "vpc/v", action: "delete", before: vpc })], shown)).toEqual(["vpc/v"]);
  expect(outside([record("www", "delete", { before: a("www", "192.0.2.1") })], shown)).toEqual([
    "domain/a.example/www/A",
  ]);
  expect(outside([record("www", "create", { after: a("www", "192.0.2.1") })], shown)).toEqual([
    "domain/a.example/www/A",
  ]);
});

test("a zone that is deleted has no more records than were shown to go with it", () => {
  const goes = (records: number | null) =>
    change({
      address: "domain/b.example",
      action: "delete",
      before: { domain: "b.example" },
      ...(records === null ? {} : { holds: { records, ignored: 0 } }),
    });
  for (const [now, shown, within] of [
    [11, 2, false],
    [3, 2, false],
    [2, 2, true],
    [1, 2, true],
    [11, null, true],
  ] as const) {
    expect([now, shown, outside([goes(now)], [goes(shown)]).length === 0]).toEqual([now, shown, within]);
  }
});

describe("records, by what comes to a zone and what leaves it", () => {
  const comes = record("www", "create", { after: a("www", "192.0.2.1") });
  const leaves = record("old", "delete", { before: a("old", "192.0.2.1") });

  test("a create that would now overwrite a record nobody saw is outside", () => {
    const now = [record("www", "update", { before: a("www", "192.0.2.66"), after: a("www", "192.0.2.1") })];
    expect(outside(now, [comes])).toHaveLength(1);
  });

  test("an update that would now overwrite something else than was shown is outside", () => {
    const shown = [record("www", "update", { before: a("www", "192.0.2.9"), after: a("www", "192.0.2.1") })];
    const now = [record("www", "update", { before: a("www", "192.0.2.9", 300), after: a("www", "192.0.2.1") })];
    expect(outside(now, shown)).toHaveLength(1);
  });

  test("half of an update that somebody else has done is within: only the create, or only the delete, is left", () => {
    const shown = [record("www", "update", { before: a("www", "192.0.2.9"), after: a("www", "192.0.2.1") })];
    expect(outside([comes], shown)).toEqual([]);
    const goes = record("www", "delete", { before: a("www", "192.0.2.9") });
    const there = a("www", "192.0.2.1");
    expect(outside([goes, record("www", "no-op", { before: there, after: there })], shown)).toEqual([]);
  });

  test("what was only to become something else may not go for good", () => {
    const shown = [record("www", "update", { before: a("www", "192.0.2.1"), after: a("www", "192.0.2.1", 300) })];
    expect(outside([record("www", "delete", { before: a("www", "192.0.2.1") })], shown)).toHaveLength(1);
  });

  test("a delete and a create that have become one rename are within; one of the two alone is not enough", () => {
    const now = [record("www", "update", { before: a("old", "192.0.2.1"), after: a("www", "192.0.2.1") })];
    expect(outside(now, [comes, leaves])).toEqual([]);
    expect(outside(now, [comes])).toHaveLength(1);
    expect(outside(now, [leaves])).toHaveLength(1);
  });

  test("another value, TTL, name, type or zone is outside", () => {
    for (const after of [
      a("www", "192.0.2.2"),
      a("www", "192.0.2.1", 300),
      a("ww", "192.0.2.1"),
      { ...a("www", "192.0.2.1"), type: "TXT" },
    ]) {
      expect(outside([record("www", "create", { after })], [comes])).toHaveLength(1);
    }
    expect(
      outside([record("www", "create", { after: a("www", "192.0.2.1"), zone: "b.example" })], [comes]),
    ).toHaveLength(1);
  });

  test("where one of two equal records was shown to go, the other may not go as well", () => {
    const kept = { ...leaves, key: "kept", action: "no-op" as const, after: leaves.before };
    expect(outside([leaves, kept], [leaves, kept])).toEqual([]);
    expect(outside([leaves, { ...leaves, key: "other" }], [leaves, kept])).toHaveLength(2);
  });

  test("what was to come may not leave, and what was to leave may not come", () => {
    expect(outside([record("www", "delete", { before: a("www", "192.0.2.1") })], [comes])).toHaveLength(1);
    expect(outside([record("old", "create", { after: a("old", "192.0.2.1") })], [leaves])).toHaveLength(1);
  });

  test("the order of fields in the file does not matter", () => {
    const shown = { ...comes, after: { ttl_sec: 0, target: "192.0.2.1", type: "A", name: "www" } };
    expect(outside([comes], [shown])).toEqual([]);
  });
});

test("the lists of a change are compared in one pass", async () => {
  const tagged = (count: number) =>
    change({
      address: "domain/a.example",
      action: "update",
      id: 7,
      before: { tags: Array.from({ length: count }, (_, index) => `t${index}`) },
      after: { tags: [] },
    });
  const sizes = new Map([100, 400].map((count) => [count, tagged(count)]));
  const compare = (count: number): void => {
    const one = sizes.get(count) as Change;
    expect(outside([one], [one])).toEqual([]);
  };
  expect(await growth(100, 4, compare)).toBeLessThan(5);
});

test("changes that a file shows of one value are compared in a time that is linear in them", async () => {
  const before = a("www", "192.0.2.1");
  const shown = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      record("www", "update", { before, after: a("www", `10.0.${index}.1`) }),
    );
  const gone = record("www", "delete", { before });
  const compare = (count: number): void => {
    const leaves = Array.from({ length: count }, () => gone);
    expect(exceedsReviewedPlan(leaves, shown(count), new Kinds(units))).toHaveLength(count);
  };
  expect(await growth(100, 4, compare, itemsWalkedEach)).toBeLessThan(5);
  expect(await growth(100, 4, compare)).toBeLessThan(5);
});

test("deletes of many objects of one address are compared in a time that is linear in them", async () => {
  const compare = (count: number): void => {
    const going = Array.from({ length: count }, (_, index) =>
      change({ address: "vpc/v/subnet/web", action: "delete", id: index + 1, before: { label: "web" } }),
    );
    expect(exceedsReviewedPlan(going.toReversed(), going, new Kinds(units))).toEqual([]);
    expect(exceedsReviewedPlan(going, going.slice(1), new Kinds(units))).toEqual(going.slice(0, 1));
  };
  expect(await growth(100, 4, compare)).toBeLessThan(6);
});

describe("VPCs, domains and images, which stay themselves while their fields change", () => {
  const created = change({
    address: "domain/a.example",
    action: "create",
    after: { domain: "a.example", status: "active", description: "x" },
  });
  const west = { ...vpc, region: "us-west" };
  const replaced = change({ address: "vpc/v", action: "replace", before: vpc, after: west });

  test("a zone that was created and not yet activated may be activated, and nothing else be done to it", () => {
    const before = { domain: "a.example", status: "disabled", description: "x" };
    const finish = change({
      address: "domain/a.example",
      action: "update",
      before,
      after: { ...before, status: "active" },
    });
    expect(outside([finish], [created])).toEqual([]);
    const more = change({
      address: "domain/a.example",
      action: "update",
      before,
      after: { ...before, status: "active", description: "y" },
    });
    expect(outside([more], [created])).toHaveLength(1);
  });

  test("of a replace, the create may be left; a delete is covered, an update of its fields is, another region is not", () => {
    expect(outside([change({ address: "vpc/v", action: "create", after: west })], [replaced])).toEqual([]);
    expect(
      outside([change({ address: "vpc/v", action: "create", after: { ...west, region: "eu" } })], [replaced]),
    ).toHaveLength(1);
    expect(
      outside(
        [change({ address: "vpc/v", action: "replace", before: vpc, after: { ...west, region: "eu" } })],
        [replaced],
      ),
    ).toHaveLength(1);
  });

  test("a description that a replace only keeps may be lost between its halves, one that it changes may not", () => {
    const create = change({ address: "vpc/v", action: "create", after: { ...west, description: "" } });
    const kept = change({ address: "vpc/v", action: "replace", before: { ...west, region: "us-east" }, after: west });
    expect(outside([create], [kept])).toEqual([]);
    const changed = { ...kept, before: { ...west, region: "us-east", description: "other words" } };
    expect(outside([create], [changed])).toHaveLength(1);
    expect(outside([create], [change({ address: "vpc/v", action: "create", after: west })])).toHaveLength(1);
  });

  test("neither a create nor an update covers a replace or a delete", () => {
    const shown = [
      change({ address: "vpc/v", action: "create", after: west }),
      change({ address: "vpc/v", action: "update", before: { ...west, description: "y" }, after: west }),
    ];
    expect(outside([replaced], shown)).toHaveLength(1);
    expect(outside([change({ address: "vpc/v", action: "delete", before: vpc })], shown)).toHaveLength(1);
  });

  test("an upload that was begun and left may be made again by a plan that showed the create", () => {
    const after = { label: "i", description: "", owner: "me", upload: { file: "f", region: "r" }, cloud_init: false };
    const before = { label: "i", description: "", owner: "me" };
    const shown = [change({ address: "image/i", action: "create", after })];
    const again = change({ address: "image/i", action: "replace", labels: ["unfinished"], before, after });
    expect(outside([again], shown)).toEqual([]);
    expect(outside([{ ...again, labels: [] }], shown)).toHaveLength(1);
    expect(outside([{ ...again, after: { ...after, upload: { file: "g", region: "r" } } }], shown)).toHaveLength(1);
  });

  test("an update covers its fields, not others, and not another end", () => {
    const shown = [
      change({ address: "vpc/v", action: "update", before: vpc, after: { ...vpc, description: "new", owner: "me" } }),
    ];
    const update = (after: object) =>
      change({ address: "vpc/v", action: "update", before: vpc, after: { ...vpc, ...after } });
    expect(outside([update({ description: "new" })], shown)).toEqual([]);
    expect(outside([update({ description: "newer" })], shown)).toHaveLength(1);
    expect(outside([update({ label: "w" })], shown)).toHaveLength(1);
  });

  test("a field that had the value already in the reviewed plan was not shown to change", () => {
    const shown = [change({ address: "vpc/v", action: "update", before: vpc, after: { ...vpc, owner: "me" } })];
    const drifted = change({
      address: "vpc/v",
      action: "update",
      before: { ...vpc, description: "by hand" },
      after: vpc,
    });
    expect(outside([drifted], shown)).toHaveLength(1);
  });

  test("a slave that was shown to become a master may be served again once it is one, and only then", () => {
    const slave = { domain: "a.example", type: "slave", status: "active" };
    const master = { ...slave, type: "master" };
    const shown = [change({ address: "domain/a.example", action: "update", before: slave, after: master })];
    const served = (before: object) =>
      change({ address: "domain/a.example", action: "update", before: { ...master, ...before }, after: master });
    expect(outside([served({ status: "disabled" })], shown)).toEqual([]);
    expect(outside([served({ type: "slave", status: "disabled" })], shown)).toHaveLength(1);
    const other = [{ ...served({ description: "by hand" }), after: { ...master, description: "" } }];
    expect(outside(other, shown)).toHaveLength(1);
  });

  test("what one request makes is never there half-made: any object of its name is somebody else's", () => {
    for (const [address, after] of [
      ["vpc/v", vpc],
      ["vpc/v/a", { label: "a", ipv4: "10.0.0.0/24" }],
      ["image/i", { label: "i", description: "words", owner: null }],
    ] as const) {
      const found = change({ address, action: "update", before: { ...after, description: "theirs" }, after });
      expect(outside([found], [change({ address, action: "create", after })])).toEqual([address]);
    }
  });

  test("a domain that was to be made is only finished while it is disabled, and neither adopted nor taken over", () => {
    const after = { domain: "a.example", status: "active", description: "x", owner: "me" };
    const shown = [change({ address: "domain/a.example", action: "create", after })];
    const found = (before: object, labels: Change["labels"] = []) =>
      change({ address: "domain/a.example", action: "update", labels, before: { ...after, ...before }, after });
    // What a copy that saves requests is before its PUT.
    expect(outside([found({ status: "disabled", description: "of the source" })], shown)).toEqual([]);
    expect(outside([found({ status: "active", description: "theirs" })], shown)).toHaveLength(1);
    expect(outside([found({ status: "disabled" }, ["adopt"])], shown)).toHaveLength(1);
    expect(outside([found({ status: "disabled" }, ["take-over"])], shown)).toHaveLength(1);
  });

  test("a domain that begins as a copy is finished if it has the tag of its source, and is not turned off", () => {
    const found = (before: { status: string; owner: string | null }, labels: Change["labels"], status = "active") => [
      change({
        address: "domain/a.example",
        action: "update",
        labels,
        before: { domain: "a.example", description: "of the source", ...before },
        after: { domain: "a.example", status, owner: "me", description: "" },
      }),
    ];
    const copied = (status: string) => {
      const after = { domain: "a.example", status, owner: "me", description: "", create_from: { clone: "b.example" } };
      return [change({ address: "domain/a.example", action: "create", after })];
    };
    expect(outside(found({ status: "disabled", owner: "me" }, []), copied("active"))).toEqual([]);
    expect(outside(found({ status: "active", owner: "me" }, []), copied("active"))).toEqual([]);
    expect(outside(found({ status: "active", owner: "me" }, [], "disabled"), copied("disabled"))).toHaveLength(1);
    expect(outside(found({ status: "active", owner: null }, ["adopt"]), copied("active"))).toHaveLength(1);
    expect(outside(found({ status: "disabled", owner: "you" }, ["take-over"]), copied("active"))).toHaveLength(1);
    expect(outside(found({ status: "active", owner: null }, []), copied("active"))).toHaveLength(1);
  });

  test("the source of a clone goes only if the clone is made now", () => {
    const source = (action: Change["action"]) =>
      change({ address: "domain/old.example", action, before: { domain: "old.example", owner: "me" } });
    const clone = (rest: Partial<Change>) =>
      change({
        address: "domain/new.example",
        action: "create",
        after: { domain: "new.example", owner: "me" },
        ...rest,
      });
    const after = { domain: "new.example", owner: "me", create_from: { clone: "old.example" } };
    const shown = [clone({ after }), source("delete")];
    const outsideWith = (now: Partial<Change> | null) =>
      outside([...(now === null ? [] : [clone(now)]), source("delete")], shown).filter((key) => key.includes("old"));
    expect(outsideWith({ after })).toEqual([]);
    expect(outsideWith({ after, blocked: { type: "depends", on: [] } })).toHaveLength(1);
    expect(outsideWith(null)).toHaveLength(1);
    for (const owner of ["me", null]) {
      const before = { domain: "new.example", owner };
      expect(outsideWith({ action: "update", labels: ["adopt"], before })).toHaveLength(1);
      expect(outsideWith({ action: "no-op", before, after: before })).toHaveLength(1);
    }
  });

  test("what was shown to go as an unfinished upload may not go once it is finished", () => {
    const before = { label: "golden", description: "" };
    const after = { ...before, upload: { file: "f", region: "r" } };
    const goes = (labels: Change["labels"]) =>
      change({ address: "image/golden", action: "delete", id: "private/1", labels, before });
    const anew = (labels: Change["labels"]) => ({ ...goes(labels), action: "replace" as const, after });
    expect(outside([goes(["unfinished"])], [goes(["unfinished"])])).toEqual([]);
    expect(outside([goes([])], [goes(["unfinished"])])).toEqual(["image/golden"]);
    expect(outside([anew(["unfinished"])], [anew(["unfinished"])])).toEqual([]);
    expect(outside([anew([])], [anew(["unfinished"])])).toEqual(["image/golden"]);
    const made = change({ address: "image/golden", action: "no-op", id: "private/2", before, after: before });
    const rest = (labels: Change["labels"]) => ({
      ...goes(labels),
      address: "image/golden:1",
      key: "image/golden:1",
      replacedBy: "image/golden",
    });
    expect(outside([made, rest(["unfinished"])], [anew(["unfinished"])])).toEqual([]);
    expect(outside([made, rest([])], [anew(["unfinished"])])).toEqual(["image/golden:1"]);
  });

  test("an update covers the object that it showed, and no other one of the same name", () => {
    const adopt = (id: number, owner: string | null) =>
      change({
        address: "vpc/v",
        action: "update",
        id,
        before: { ...vpc, owner },
        after: { ...vpc, owner: "me" },
      });
    expect(outside([adopt(123, null)], [adopt(123, null)])).toEqual([]);
    expect(outside([adopt(456, null)], [adopt(123, null)])).toHaveLength(1);
    expect(outside([adopt(123, "other")], [adopt(123, null)])).toHaveLength(1);
  });

  test("another object of the same label may neither go nor be made anew", () => {
    const gone = (id: number) => change({ address: "vpc/v", action: "delete", id, before: vpc });
    expect(outside([gone(7)], [gone(7)])).toEqual([]);
    expect(outside([gone(8)], [gone(7)])).toHaveLength(1);
    const anew = (id: number) => change({ address: "vpc/v", action: "replace", id, before: vpc, after: west });
    expect(outside([anew(7)], [anew(7)])).toEqual([]);
    expect(outside([anew(8)], [anew(7)])).toHaveLength(1);
  });

  test("an image goes only if all images are made now that were shown to be made", () => {
    const image = { label: "golden", description: "" };
    const created = change({ address: "image/new", action: "create", after: image });
    const gone = change({ address: "image/old", action: "delete", before: image });
    const replaced = change({
      address: "image/golden",
      action: "replace",
      id: "private/1",
      before: image,
      after: image,
    });
    const rest = change({
      ...replaced,
      address: "image/golden:1",
      key: "image/golden:1",
      action: "delete",
      after: null,
    });
    const there = (address: string) =>
      change({ address, action: "no-op", id: "private/2", before: image, after: image });
    expect(outside([created, gone], [created, gone])).toEqual([]);
    expect(outside([there("image/new"), gone], [created, gone])).toEqual(["image/old"]);
    expect(outside([gone], [created, gone])).toEqual(["image/old"]);
    expect(outside([{ ...created, blocked: { type: "image-source-missing" } }, gone], [created, gone])).toEqual([
      "image/old",
    ]);
    expect(outside([there("image/golden"), rest], [replaced])).toEqual(["image/golden:1"]);
    expect(outside([there("image/golden"), gone], [replaced, gone])).toEqual(["image/old"]);
    const begun = { type: "upload-in-progress", id: "private/2", until: null, address: "image/new" } as const;
    const awaited = change({ ...there("image/new"), action: "update", blocked: begun });
    expect(outside([there("image/new"), gone], [awaited, gone])).toEqual(["image/old"]);
    // What can be made anew from its manifest goes, so that a run that was cut off is completed.
    const vpcs = [
      change({ address: "vpc/new", action: "create", after: vpc }),
      change({ ...gone, address: "vpc/old", kind: "vpc" }),
    ];
    expect(outside(vpcs.slice(1), vpcs)).toEqual([]);
  });

  test("another kind at the same address covers nothing", () => {
    const shown = [{ ...change({ address: "vpc/v", action: "delete", before: vpc }), kind: "image" as const }];
    expect(outside([change({ address: "vpc/v", action: "delete", before: vpc })], shown)).toHaveLength(1);
  });
});
