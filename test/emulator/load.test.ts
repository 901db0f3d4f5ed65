/** What keeps a long-running emulator small and its lists cheap. How fast it is, `bench/emulator.mjs` measures. */

import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { RequestLog } from "../../src/emulator/http.ts";
import { type FilterFields, listAnswer } from "../../src/emulator/lists.ts";
import type { Call } from "../../src/emulator/route.ts";
import { EventLog, type Identified, Store, Table } from "../../src/emulator/store.ts";

const ZONE_RECORDS = 12_000;

function requestTo(path: string) {
  return { method: "GET", path, query: "", status: 200 };
}

test("the latest 100,000 requests are kept, older ones are let go", async () => {
  const requests = new RequestLog(null);
  const addOld = () => {
    const old = requestTo("/v4/0");
    requests.add(old);
    return new WeakRef(old);
  };
  const old = addOld();
  for (let count = 1; count <= 250_000; count += 1) requests.add(requestTo(`/v4/${count}`));
  expect(requests.all().length).toBe(100_000);
  expect([requests.all().at(0)?.path, requests.all().at(-1)?.path]).toEqual(["/v4/150001", "/v4/250000"]);
  // What was just made may not be collected before the next turn.
  await setImmediate();
  collectGarbage();
  expect(old.deref()).toBeUndefined();
});

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

test("the latest 1,000 events are kept, and ids go on", () => {
  const events = new EventLog(() => "2026-01-02T03:04:05");
  for (let id = 1; id <= 2_500; id += 1) events.emit("vpc_create", { id, label: "made" });
  expect(events.all().length).toBe(1_000);
  expect([events.all().at(0)?.id, events.all().at(-1)?.id]).toEqual([1_501, 2_500]);
});

test("changes are kept for a data file only", () => {
  const inMemory = new Store();
  for (let count = 0; count < 1_000; count += 1) inMemory.nextId("record");
  expect(inMemory.takeChanges()).toEqual([]);

  const kept = new Store();
  kept.nextId("record");
  kept.keepChanges();
  kept.nextId("domain");
  expect(kept.takeChanges()).toEqual([["settings", "domain", { id: "domain", value: 30_002 }]]);
  expect(kept.takeChanges()).toEqual([]);
});

test("only the rows of a page are made into what is sent", () => {
  let made = 0;
  const rows = Array.from({ length: ZONE_RECORDS }, (_, id) => ({ id, half: id % 2 === 0 ? "even" : "odd" }));
  const fields: FilterFields<(typeof rows)[number]> = new Map([["half", { get: (row) => row.half }]]);
  const toWire = ({ id }: { id: number }) => {
    made += 1;
    return { id };
  };
  const list = (query: string, filter?: string) =>
    listAnswer(callFor(query, filter), { rows, fields, toWire }).body as { data: { id: number }[]; results: number };
  expect(list("page=120").data.at(-1)).toEqual({ id: ZONE_RECORDS - 1 });
  expect(made).toBe(100);
  expect(list("page_size=25&page=2", '{"half":"odd"}')).toMatchObject({ results: ZONE_RECORDS / 2 });
  expect(made).toBe(125);
});

function callFor(query: string, filter: string | undefined): Call {
  return {
    ...{ params: {}, query: new URLSearchParams(query), filter, body: {}, files: [] },
    ...{ caller: null, remoteAddress: "127.0.0.1", host: undefined },
  };
}

interface Member extends Identified {
  readonly id: number;
  readonly team: string | null;
}

function teams(): Table<Member, "team"> {
  return new Table<Member, "team">({ team: (member) => member.team }, () => undefined);
}

test("a group is listed without a copy until it changes", () => {
  const table = teams();
  for (let id = 1; id <= ZONE_RECORDS; id += 1) table.put({ id, team: "red" });
  const listed = table.list("team", "red");
  expect(listed).toHaveLength(ZONE_RECORDS);
  expect(table.list("team", "red")).toBe(listed);
  table.put({ id: ZONE_RECORDS + 1, team: "blue" });
  expect(table.list("team", "red")).toBe(listed);

  table.put({ id: 1, team: "blue" });
  expect(table.list("team", "red").map(({ id }) => id)).toEqual(listed.slice(1).map(({ id }) => id));
  expect(listed).toHaveLength(ZONE_RECORDS);
  table.delete(2);
  expect(table.list("team", "red").at(0)?.id).toBe(3);
  expect(table.list("team", "blue").map(({ id }) => id)).toEqual([ZONE_RECORDS + 1, 1]);
});

test("groups of none, one and several hold what was put, moved and deleted", () => {
  const table = teams();
  const plain = new Map<number, string | null>();
  let random = 1;
  const next = (below: number): number => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  for (let step = 0; step < 1_000; step += 1) {
    const id = next(6);
    const team = [null, "red", "blue"][next(3)] ?? null;
    if (next(3) === 0) {
      table.delete(id);
      plain.delete(id);
    } else {
      table.put({ id, team });
      plain.set(id, team);
    }
    for (const name of ["red", "blue"]) {
      const expected = [...plain].filter(([, of]) => of === name).map(([of]) => of);
      const group = table.group("team", name);
      expect(group.size).toBe(expected.length);
      expect([...group.keys()].sort()).toEqual(expected.sort());
      expect(table.list("team", name)).toEqual([...group.values()]);
    }
    expect(table.size).toBe(plain.size);
  }
});
