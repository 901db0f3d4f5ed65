/** What becomes of each request that writes, whatever becomes of its answer: nothing is there twice, and nobody is told a guess. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createApi } from "../../src/index.ts";
import type { Clock } from "../../src/model/clock.ts";
import {
  attachFiles,
  checkAttachments,
  closeTicket,
  openTicket,
  replyToTicket,
  type TicketRequest,
} from "../../src/tickets/index.ts";
import { emulator } from "../cli/run.ts";
import { faults } from "../cli/stage.ts";
import { tested } from "../support/emulator.ts";

/** Six seconds are 150 ms. */
const QUICK = 40;
const CLOCK: Clock = {
  now: Date.now,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds / QUICK)),
};

const ID = 7;
const SEED = { tickets: [{ id: ID, summary: "No answer", description: "x", replies: [{ description: "Hello." }] }] };

type Tested = ReturnType<typeof tested>;

interface Writing {
  readonly name: string;
  /** Of its POST. */
  readonly path: string;
  /** @returns what became of it */
  run(request: TicketRequest): Promise<string>;
  /** How often it is there. */
  count(api: Tested): Promise<number>;
}

const WRITINGS: readonly Writing[] = [
  {
    name: "open",
    path: "/support/tickets",
    run: async (request) => {
      const text = { summary: "Späte Antwort", description: "日本語\nzwei Zeilen" };
      return (await openTicket(request, { ...text, entity: null }, { again: false })).outcome;
    },
    count: async ({ send }) => (await send("GET", "/support/tickets")).body.results - 1,
  },
  {
    name: "reply",
    path: "/support/tickets/7/replies",
    run: async (request) => (await replyToTicket(request, ID, "Any news?", { again: false })).outcome,
    count: async ({ send }) => (await send("GET", "/support/tickets/7/replies")).body.results - 1,
  },
  {
    name: "attach",
    path: "/support/tickets/7/attachments",
    run: async (request) => {
      const folder = await mkdtemp(join(tmpdir(), "tenon-attach-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, "trace.txt"), "a".repeat(200_000));
      const checked = await checkAttachments([join(folder, "trace.txt")]);
      if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
      const attached = await attachFiles(request, ID, checked.files, { again: false });
      return attached.outcome === "done" ? (attached.files[0]?.outcome ?? "") : attached.outcome;
    },
    count: async ({ send }) => (await send("GET", "/support/tickets/7")).body.attachments.length,
  },
  {
    name: "close",
    path: "/support/tickets/7/close",
    run: async (request) => (await closeTicket(request, ID)).outcome,
    count: async ({ send }) => ((await send("GET", "/support/tickets/7")).body.status === "closed" ? 1 : 0),
  },
];

/** What is to come of it: the outcome, how often its POST is sent, and how often it is there. */
interface Cell {
  readonly fault: string;
  readonly outcome: "done" | "failed" | "unknown";
  readonly posts: number;
  readonly there: 0 | 1;
}

const CELLS: readonly Cell[] = [
  // The answer is lost, and the work was done: it is found, and nothing is sent again.
  { fault: "drop=after", outcome: "done", posts: 1, there: 1 },
  { fault: "half-body", outcome: "done", posts: 1, there: 1 },
  { fault: "bad-json", outcome: "done", posts: 1, there: 1 },
  // It is done after the answer: the second look finds it.
  { fault: "late=40", outcome: "done", posts: 1, there: 1 },
  { fault: "late=40,drop=before", outcome: "done", posts: 1, there: 1 },
  // The answer is lost, and nothing was done: it is sent once more, after two looks.
  { fault: "drop=before,times=1", outcome: "done", posts: 2, there: 1 },
  { fault: "status=500,times=1", outcome: "done", posts: 2, there: 1 },
  { fault: "status=408,times=1", outcome: "done", posts: 2, there: 1 },
  { fault: "html=200,times=1", outcome: "done", posts: 2, there: 1 },
  { fault: "html=502,times=1", outcome: "done", posts: 2, there: 1 },
  { fault: "maintenance,times=1", outcome: "done", posts: 2, there: 1 },
  // And no third time.
  { fault: "drop=before", outcome: "unknown", posts: 2, there: 0 },
  { fault: "status=503", outcome: "unknown", posts: 2, there: 0 },
  // It surely had no effect, and passes: it is sent again.
  { fault: "status=429,retry-after=1,times=2", outcome: "done", posts: 3, there: 1 },
  { fault: "busy,times=1", outcome: "done", posts: 2, there: 1 },
  // It is refused.
  { fault: "status=400", outcome: "failed", posts: 1, there: 0 },
  { fault: "status=401", outcome: "failed", posts: 1, there: 0 },
  { fault: "status=403", outcome: "failed", posts: 1, there: 0 },
  { fault: "status=404", outcome: "failed", posts: 1, there: 0 },
  { fault: "status=413", outcome: "failed", posts: 1, there: 0 },
];

async function world({ path }: Writing, ...specs: readonly string[]) {
  const service = await emulator({ seed: SEED, ...faults(...specs.map((spec) => `${spec},method=POST,path=${path}`)) });
  const connection = { baseUrl: service.baseUrl, token: "emulator-token", retryForSeconds: 1 };
  const api = await createApi({ ...connection, clock: CLOCK });
  onTestFinished(() => api.close());
  const posts = () => service.requests.filter(({ method }) => method === "POST").length;
  return { service, api, posts };
}

describe.each(WRITINGS)("$name", (writing) => {
  test.each(CELLS)("whose POST meets $fault ends as $outcome, and is there $there times", async (cell) => {
    const { service, api, posts } = await world(writing, cell.fault);
    const outcome = await writing.run({ api, clock: CLOCK });
    expect({ outcome, posts: posts() }).toEqual({ outcome: cell.outcome, posts: cell.posts });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await writing.count(tested(service))).toBe(cell.there);
  });

  test("whose answer is lost is not sent again where nobody can look", async () => {
    const { service, api, posts } = await world(writing, "drop=after");
    let isLost = false;
    const blind: TicketRequest["api"] = {
      requestCount: 0,
      get: (request, signal) =>
        isLost ? api.get({ ...request, path: ["nowhere"] }, signal) : api.get(request, signal),
      list: (request, signal) =>
        isLost ? api.list({ ...request, path: ["nowhere"] }, signal) : api.list(request, signal),
      upload: (request, signal) => api.upload(request, signal),
      send: (request, signal) => {
        isLost = true;
        return api.send(request, signal);
      },
    };
    expect(await writing.run({ api: blind, clock: CLOCK })).toBe("unknown");
    expect({ posts: posts(), there: await writing.count(tested(service)) }).toEqual({ posts: 1, there: 1 });
  });

  test("that is interrupted while its answer is looked for is not sent again", async () => {
    const { service, api, posts } = await world(writing, "drop=before");
    const stop = new AbortController();
    const note = (): void => stop.abort();
    expect(await writing.run({ api, clock: CLOCK, stop: stop.signal, note })).toBe("unknown");
    expect({ posts: posts(), there: await writing.count(tested(service)) }).toEqual({ posts: 1, there: 0 });
  });
});

test("what is there twice, because a lost request was carried out after its repeat was sent, is named", async () => {
  const writing = WRITINGS[0] as Writing;
  const { service, api } = await world(writing, "late=1000,nth=1", "slow-headers=2000,nth=2");
  const text = { summary: "Twice", description: "x", entity: null };
  const opened = await openTicket({ api, clock: CLOCK }, text, { again: false });
  const ids = (await tested(service).send("GET", "/support/tickets")).body.data.map(({ id }: { id: number }) => id);
  expect(ids).toHaveLength(3);
  const [, first, second] = ids;
  expect(opened).toMatchObject({ outcome: "done", value: { id: first }, others: [{ id: second }] });
});
