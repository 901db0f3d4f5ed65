import { expect, test } from "vitest";
import type { Drift, DriftObject, DriftStatus } from "../../src/model/change.ts";
import type { Clock } from "../../src/model/clock.ts";
import { type Look, type WatchNews, WatchStatus, watchDrift } from "../../src/watch/index.ts";

const EVERY_MILLISECONDS = 300_000;

function object(key: string, status: DriftStatus = "missing", live: string | null = null): DriftObject {
  return {
    ...{ key, address: key, liveAddress: null, root: key, kind: "vpc", status, id: null, labels: [], note: null },
    fields: [{ name: "region", declared: "us-east", live }],
  };
}

function drift(...objects: readonly DriftObject[]): Look {
  const summary = { changed: 0, missing: 0, unexpected: 0, unadopted: 0 };
  for (const { status } of objects) summary[status] += 1;
  const found: Drift = { owner: "edge", targets: [], excludes: [], changedSince: null, objects, summary };
  return { ok: true, drift: found };
}

function outage(message: string, cause?: string): Look {
  return { ok: false, message, ...(cause === undefined ? {} : { cause }) };
}

function shown(news: WatchNews): string {
  if (news.type === "unreadable") return `! ${news.message}`;
  const { appeared, resolved, wasUnreadable } = news;
  const changes = [...appeared.map(({ key, status }) => `+${key} ${status}`), ...resolved.map(({ key }) => `-${key}`)];
  return `${wasUnreadable ? "again " : ""}[${changes.join(", ")}]`;
}

interface Watched {
  readonly printed: string[];
  readonly posted: string[];
  readonly problems: (string | null)[];
  readonly startedAt: number[];
  readonly status: WatchStatus;
  readonly failed: Look | null;
}

/** @param takes how long each look takes, in milliseconds */
async function watched(
  looks: readonly Look[],
  { receiver = () => null, takes = 0 }: { receiver?: (post: number) => string | null; takes?: number } = {},
): Promise<Watched> {
  const end = new AbortController();
  let now = 0;
  const clock: Clock = {
    now: () => now,
    sleep: async (milliseconds) => {
      now += Math.max(milliseconds, 0);
    },
  };
  const [printed, posted, problems, startedAt] = [
    [] as string[],
    [] as string[],
    [] as (string | null)[],
    [] as number[],
  ];
  const status = new WatchStatus();
  let posts = 0;
  const failed = await watchDrift({
    ...{ everyMilliseconds: EVERY_MILLISECONDS, clock, signal: end.signal, status },
    look: async () => {
      const look = looks[startedAt.length];
      startedAt.push(now);
      now += takes;
      if (look === undefined) end.abort();
      return look ?? outage("not looked at");
    },
    print: (news) => printed.push(shown(news)),
    post: async (news) => {
      const problem = receiver(posts);
      posts += 1;
      if (problem === null) posted.push(shown(news));
      return problem;
    },
    reportPost: (problem) => problems.push(problem),
  });
  return { printed, posted, problems, startedAt, status, failed };
}

test("only what is new is printed and posted, also where an object drifts otherwise than before", async () => {
  const [a, b] = [object("vpc/a"), object("vpc/b", "changed", "us-west")];
  const found = await watched([
    drift(),
    drift(a),
    drift(a),
    drift(a, b),
    drift(a, object("vpc/b", "changed", "eu-west")),
    drift(b),
    drift(),
    drift(),
  ]);
  expect(found.printed).toEqual([
    ...["[]", "[+vpc/a missing]", "[+vpc/b changed]", "[+vpc/b changed]", "[+vpc/b changed, -vpc/a]", "[-vpc/b]"],
  ]);
  // That there is no drift is worth a line, and no post.
  expect(found.posted).toEqual(found.printed.slice(1));
  expect(found.failed).toBeNull();
});

test("an outage is told once, and so is its end, with all that happened meanwhile", async () => {
  const down = outage("error: nobody answers");
  const found = await watched([
    drift(),
    down,
    down,
    outage("error: 503"),
    drift(object("vpc/a")),
    drift(object("vpc/a")),
  ]);
  expect(found.printed).toEqual(["[]", "! error: nobody answers", "! error: 503", "again [+vpc/a missing]"]);
  // A chat need not hear of each other way in which a service that comes and goes fails.
  expect(found.posted).toEqual([found.printed[1], found.printed[3]]);
  expect(found.status.looks).toEqual({ done: 3, failed: 3 });
});

test("an outage that is put into other words at each look is told once; another cause is told beside it", async () => {
  const found = await watched([
    drift(),
    outage("error: the list of VPCs", "service"),
    outage("error: the list of domains", "service"),
    outage("error: bad YAML"),
    outage("error: bad YAML, elsewhere"),
    outage("error: the list of images", "service"),
    drift(),
  ]);
  expect(found.printed).toEqual([
    ...["[]", "! error: the list of VPCs", "! error: bad YAML", "! error: bad YAML, elsewhere"],
    ...["! error: the list of images", "again []"],
  ]);
});

test("what a webhook did not take is part of the next post, and its failure is told once", async () => {
  const [a, b, c] = [object("vpc/a"), object("vpc/b"), object("vpc/c")];
  const looks = [drift(a), drift(a, b), drift(a, b, c), drift(b, c), drift(b, c)];
  const found = await watched(looks, {
    receiver: (post) => (post < 3 ? `it answered with status ${post < 2 ? 500 : 502}` : null),
  });
  expect(found.posted).toEqual(["[+vpc/b missing, +vpc/c missing]"]);
  expect(found.problems).toEqual(["it answered with status 500", "it answered with status 502", null]);
  expect(found.status.posts).toEqual({ done: 1, failed: 3 });
});

test("a watch whose first look fails ends with it, for something is set up wrong", async () => {
  const found = await watched([outage("error: no token is set"), drift()]);
  expect(found).toMatchObject({ failed: outage("error: no token is set"), printed: [], posted: [], startedAt: [0] });
});

test("looks begin at equal distances, and one that takes too long is followed by the next at once", async () => {
  const quick = await watched([drift(), drift()], { takes: 60_000 });
  expect(quick.startedAt).toEqual([0, 300_000, 600_000]);
  const slow = await watched([drift(), drift()], { takes: 400_000 });
  expect(slow.startedAt).toEqual([0, 400_000, 800_000]);
});

test("an object that only lacks the owner's tag is printed, and not posted", async () => {
  const found = await watched([drift(), drift(object("vpc/a", "unadopted")), drift()]);
  expect(found.printed).toEqual(["[]", "[+vpc/a unadopted]", "[-vpc/a]"]);
  expect(found.posted).toEqual([]);
});

test("an object whose drift is over is posted as such, also where it still lacks the owner's tag", async () => {
  const found = await watched([
    drift(),
    drift(object("vpc/a", "changed", "us-west"), object("vpc/b", "unadopted")),
    drift(object("vpc/a", "unadopted"), object("vpc/b", "unadopted")),
  ]);
  expect(found.printed).toEqual(["[]", "[+vpc/a changed, +vpc/b unadopted]", "[+vpc/a unadopted]"]);
  expect(found.posted).toEqual(["[+vpc/a changed]", "[-vpc/a]"]);
});

test("a post and the wait after it are one stretch in which signals are handled", async () => {
  const end = new AbortController();
  const events: string[] = [];
  await watchDrift({
    ...{ everyMilliseconds: EVERY_MILLISECONDS, signal: end.signal, status: new WatchStatus() },
    clock: {
      now: () => 0,
      sleep: async () => {
        events.push("wait");
        if (events.length > 6) end.abort();
      },
    },
    handlingSignals: async (work) => {
      events.push("begin");
      await work();
      events.push("end");
    },
    look: async () => drift(object("vpc/a", "missing", String(events.length))),
    print: () => undefined,
    post: async () => {
      events.push("post");
      return null;
    },
  });
  const stretch = ["begin", "post", "wait", "end"];
  expect(events).toEqual([...stretch, ...stretch]);
});
