import { execFileSync } from "node:child_process";
import {
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createApi } from "../../src/api/index.ts";
import { type Journal, type JournalOptions, openJournal } from "../../src/apply/journal.ts";
import type { Json } from "../../src/model/resource.ts";
import { change, createRecord, plan, request, upload } from "./support/plans.ts";
import { applyTo, applyWith, outcomes, QuickClock, TOKEN } from "./support/run.ts";
import { Service } from "./support/service.ts";

const HEADER = {
  version: "0.1.0",
  actor: "ada",
  commit: "0123abc",
  host: "api.example",
  ...{ account: null, environment: null, owner: null },
  goal: "apply" as const,
};

let service: Service;
let root: string;
let outside: string;
beforeEach(async () => {
  service = await Service.start();
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "tenon-journal-")));
  outside = realpathSync(mkdtempSync(path.join(tmpdir(), "tenon-outside-")));
});
afterEach(async () => {
  await service.stop();
  for (const folder of [root, outside]) rmSync(folder, { recursive: true });
});

function options(fields: Partial<JournalOptions> = {}): JournalOptions {
  return { root, path: null, startedMilliseconds: Date.UTC(2026, 10, 21, 9, 49, 4), header: HEADER, ...fields };
}

async function opened(fields: Partial<JournalOptions> = {}): Promise<Journal> {
  const result = await openJournal(options(fields));
  if (!result.ok) throw new Error(result.diagnostic.detail);
  return result.journal;
}

async function refusal(fields: Partial<JournalOptions> = {}): Promise<string> {
  const result = await openJournal(options(fields));
  if (result.ok) throw new Error(`It was opened: ${result.journal.path}`);
  return `${result.diagnostic.code}: ${result.diagnostic.summary}`;
}

interface Line {
  readonly type: string;
  readonly step?: string;
  readonly [key: string]: unknown;
}

function lines(file: string): readonly Line[] {
  const text = readFileSync(file, "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line): Line => JSON.parse(line));
}

/** A disk takes its time: a request that does not wait for it is sent meanwhile. */
const SYNC_MILLISECONDS = 20;

/**
 * What a machine that loses its power would still have: what was written when a sync began that has ended. The sync is the real one.
 * @returns those lines, and what ends the watch
 */
async function watchSync(file: string): Promise<{ onDisk(): readonly Line[]; restore(): void }> {
  const handle = await open(file, "r");
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  let onDisk: readonly Line[] = [];
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
    const written = lines(file);
    await delay(SYNC_MILLISECONDS);
    await sync.call(this);
    onDisk = written;
  });
  return { onDisk: () => onDisk, restore: () => spy.mockRestore() };
}

describe("the journal's file", () => {
  test("lies below the project, is named after the start, and only its owner can read it", async () => {
    const journal = await opened();
    await journal.close();
    expect(path.relative(root, journal.path)).toBe(".tenon/journal/2026-11-21T09-49-04.000Z.jsonl");
    expect(statSync(journal.path).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(journal.path)).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(root, ".tenon")).mode & 0o777).toBe(0o700);
    expect(lines(journal.path)).toEqual([
      { type: "run", format_version: 1, started: "2026-11-21T09:49:04.000Z", ...HEADER },
    ]);
  });

  test("keeps itself out of git, but not against what a person wrote", async () => {
    await (await opened()).close();
    const ignore = path.join(root, ".tenon", ".gitignore");
    expect(readFileSync(ignore, "utf8")).toBe("*\n");
    writeFileSync(ignore, "!*\n");
    await (await opened({ startedMilliseconds: Date.UTC(2026, 10, 21, 9, 49, 5) })).close();
    expect(readFileSync(ignore, "utf8")).toBe("!*\n");
  });

  test("is another one for a run that starts in the same millisecond", async () => {
    const journals = [await opened(), await opened(), await opened()];
    await Promise.all(journals.map((journal) => journal.close()));
    expect(new Set(journals.map((journal) => journal.path)).size).toBe(3);
    expect(readdirSync(path.join(root, ".tenon/journal"))).toHaveLength(3);
  });

  test("may be named by the user, within the project or outside, and is appended to", async () => {
    for (const file of [path.join(outside, "deep/run.jsonl"), path.join(root, "logs/run.jsonl")]) {
      await (await opened({ path: file })).close();
      await (await opened({ path: file })).close();
      expect(lines(file)).toHaveLength(2);
    }
  });

  test("is not appended to a line that was cut off, which would take the run with it", async () => {
    const file = path.join(root, "run.jsonl");
    writeFileSync(file, '{"type":"run","format_version":1,"commit":nul');
    const result = await openJournal(options({ path: file }));
    expect(result.ok ? "" : result.diagnostic.detail).toContain("it ends within a line, where a run was cut off");
    expect(readFileSync(file, "utf8")).toBe('{"type":"run","format_version":1,"commit":nul');
  });

  test.each([
    ["a manifest", "tenon: 1\nvpcs: []\n"],
    ["a plan", '{"format_version":1,"changes":[]}\n'],
    ["a report", '{"type":"report","format_version":2}\n'],
    ["no text", Buffer.from([0xff, 0, 10])],
  ])("is appended to no file that is something else: %s", async (_, content) => {
    const file = path.join(root, "tenon.yaml");
    writeFileSync(file, content);
    const result = await openJournal(options({ path: file }));
    expect(result.ok ? "" : result.diagnostic.detail).toContain("the file is there, and is no journal");
    expect(readFileSync(file)).toEqual(Buffer.from(content));
  });

  test("becomes its owner's alone if it was open to others", async () => {
    const named = path.join(root, "run.log");
    writeFileSync(named, "");
    chmodSync(named, 0o666);
    await (await opened({ path: named })).close();
    expect(statSync(named).mode & 0o777).toBe(0o600);
  });

  test.each([".tenon", ".tenon/journal"])("is refused when %s is a symbolic link", async (link) => {
    mkdirSync(path.dirname(path.join(root, link)), { recursive: true });
    symlinkSync(outside, path.join(root, link));
    expect(await refusal()).toBe(`journal-symlink: ${link} is a symbolic link`);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("is refused when a link of the project leads a path of the user's elsewhere", async () => {
    symlinkSync(outside, path.join(root, "logs"));
    writeFileSync(path.join(outside, "victim"), "kept");
    symlinkSync(path.join(outside, "victim"), path.join(root, "run.jsonl"));
    symlinkSync(path.join(outside, "new"), path.join(root, "dangling.jsonl"));
    expect(await refusal({ path: path.join(root, "logs/run.jsonl") })).toBe("journal-symlink: logs is a symbolic link");
    expect(await refusal({ path: path.join(root, "run.jsonl") })).toBe("journal-symlink: run.jsonl is a symbolic link");
    expect(await refusal({ path: path.join(root, "dangling.jsonl") })).toMatch(/^journal-symlink/);
    expect(readFileSync(path.join(outside, "victim"), "utf8")).toBe("kept");
    expect(readdirSync(outside)).toEqual(["victim"]);
  });

  test("is refused where no folder can be made, without waiting for ever", async () => {
    expect(await refusal({ path: "/proc/tenon/deeper/run.jsonl" })).toBe(
      "journal-unwritable: the journal's folder cannot be created",
    );
  });

  test("is refused through a project folder that is itself reached by a link", async () => {
    const project = path.join(outside, "project");
    symlinkSync(root, project);
    symlinkSync(outside, path.join(root, ".tenon"));
    const given = path.join(project, ".tenon/run.jsonl");
    expect(await refusal({ root: project, path: given })).toBe("journal-symlink: .tenon is a symbolic link");
    rmSync(path.join(root, ".tenon"));
    await (await opened({ root: project, path: given })).close();
    expect(lines(path.join(root, ".tenon/run.jsonl"))).toHaveLength(1);
  });

  test("is refused when it cannot be made", async () => {
    writeFileSync(path.join(root, ".tenon"), "a file, not a folder");
    expect(await refusal()).toBe("journal-unwritable: the journal's folder cannot be created");
    expect(await refusal({ path: outside })).toBe("journal-unwritable: the journal cannot be written");
    expect(await refusal({ path: "/dev/full" })).toBe("journal-unwritable: the journal cannot be written");
  });
});

describe("the journal of a run", () => {
  test("holds the intent of each request before the service sees it, and its outcome after", async () => {
    const journal = await opened();
    const seen: string[][] = [];
    service.twist = ({ method }) => {
      // The list at the end is of no step.
      if (method !== "GET") seen.push(lines(journal.path).map((line) => `${line.type} ${line.step ?? ""}`.trim()));
      return null;
    };
    const steps = [createRecord("a"), request("b", { after: ["a"] })];
    await applyTo(service, plan(steps), { journal });
    await journal.close();
    const begin = ["run", "change", "change", "begin", "intent a"];
    expect(seen).toEqual([begin, [...begin, "outcome a", "intent b"]]);
    expect(
      lines(journal.path)
        .slice(-2)
        .map((line) => line.type),
    ).toEqual(["outcome", "end"]);
    expect(lines(journal.path).at(-1)).toMatchObject({ interrupted: false, notices: [] });
    expect(lines(journal.path)[4]).toMatchObject({
      reason: "step",
      method: "POST",
      path: ["domains", "1", "records"],
      body: { type: "A", name: "a", target: "192.0.2.1" },
    });
    expect(lines(journal.path)[5]).toMatchObject({ outcome: "done", id: 101, recovered: false, failure: null });
  });

  test("and the report count what was sent: each attempt, each page of a look, each upload", async () => {
    const listed = (page: number) => JSON.stringify({ data: [{ id: page }], page, pages: 2, results: 2 });
    service.twist = ({ method, nth }) => {
      if (method === "PUT" && nth < 2) return { type: "answer", status: 503, text: "{}" };
      if (method === "POST" && nth === 0) return { type: "lose" };
      return method === "GET" ? { type: "answer", status: 200, text: listed(1 + (nth % 2)) } : null;
    };
    const clock = new QuickClock();
    const api = await createApi({ baseUrl: service.baseUrl, token: TOKEN, clock, pageSize: 1, concurrency: 1 });
    await api.list({ path: ["before"] });
    const before = service.calls.length;
    const journal = await opened();
    const { report } = await applyWith(api, plan([createRecord("a"), request("b", { after: ["a"] })]), { journal });
    await Promise.all([journal.close(), api.close()]);
    const sent = service.calls.length - before;
    expect(outcomes(report)).toEqual({ a: "done", b: "done" });
    // The POST and its repeat, three looks of two pages each, and three attempts of the PUT.
    expect([sent, report.requestCount, lines(journal.path).at(-1)?.["requestCount"]]).toEqual([11, 11, 11]);
  });

  test("has each intent on the disk itself, not only written, before the service sees the request", async () => {
    const journal = await opened();
    const disk = await watchSync(journal.path);
    const seen: string[] = [];
    service.twist = ({ method }) => {
      const intents = disk.onDisk().filter((line) => line.type === "intent");
      seen.push(`${method}, on disk: ${intents.map((line) => `${line["reason"]} ${line.step}`).join(", ")}`);
      return method === "POST" && seen.length === 1 ? { type: "lose" } : null;
    };
    try {
      const steps = [createRecord("a"), request("b", { method: "PUT", after: ["a"] })];
      await applyTo(service, plan(steps), { journal });
    } finally {
      disk.restore();
    }
    await journal.close();
    expect(seen.filter((line) => !line.startsWith("GET"))).toEqual([
      "POST, on disk: step a",
      "POST, on disk: step a, repeat a",
      "PUT, on disk: step a, repeat a, step b",
    ]);
  });

  test("holds the values before the run, of what is to change only", async () => {
    const journal = await opened();
    const before = { target: "192.0.2.9" };
    const changes = [change("a", { action: "update", id: 7, before }), change("same", { action: "no-op", before })];
    await applyTo(service, plan([request("a")], [], changes), { journal });
    await journal.close();
    expect(lines(journal.path).filter((line) => line.type === "change")).toEqual([
      {
        ...{ type: "change", key: "a", kind: "domain_record", root: "domain/example.com" },
        ...{ action: "update", id: 7, before, after: null },
      },
    ]);
  });

  test("is no pipe, whether somebody reads it or not", async () => {
    const pipe = path.join(outside, "pipe");
    execFileSync("mkfifo", [pipe]);
    const summary = "the journal cannot be written";
    expect(await openJournal(options({ path: pipe }))).toMatchObject({ ok: false, diagnostic: { summary } });
    const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    expect(await openJournal(options({ path: pipe }))).toMatchObject({ ok: false, diagnostic: { summary } });
    await reader.close();
  });

  test("holds the intent of what recovery does", async () => {
    const journal = await opened();
    service.twist = (call) => (call.method === "POST" && call.nth === 0 ? { type: "lose" } : null);
    await applyTo(service, plan([createRecord("a")]), { journal });
    await journal.close();
    const intents = lines(journal.path).filter((line) => line.type === "intent");
    expect(intents.map((line) => line["reason"])).toEqual(["step", "repeat"]);
  });

  test("holds neither the token nor a signed URL, even if the service repeats the URL in an error", async () => {
    writeFileSync(path.join(root, "golden.img.gz"), "data");
    const journal = await opened();
    const create = request("create", {
      method: "POST",
      path: ["images", "upload"],
      body: { label: "golden" },
      produces: { ref: "image/golden", fields: { id: "image.id", to: "upload_to" } },
    });
    const send = upload("send", { to: { ref: "image/golden", field: "to" }, file: "golden.img.gz", after: ["create"] });
    const reason = `no such thing: ${service.signedUrl}`;
    service.twist = (call) =>
      call.path.includes("bad")
        ? { type: "answer", status: 400, text: JSON.stringify({ errors: [{ reason }] }) }
        : null;
    const { report } = await applyTo(service, plan([create, send, request("bad", { after: ["send"] })]), {
      journal,
      root,
    });
    await journal.close();
    expect(outcomes(report)).toEqual({ create: "done", send: "done", bad: "failed" });
    expect(service.callsOf("PUT")).toContain("upload");
    const text = readFileSync(journal.path, "utf8");
    expect(text).toContain("[redacted]");
    expect(text).not.toContain("s3cr3t-signature");
    expect(text).not.toContain(TOKEN);
  });

  test("stops the run when it can no longer be written, before the next request", async () => {
    const journal = await opened();
    const failing: Journal = {
      ...journal,
      path: journal.path,
      conceal: () => undefined,
      close: () => journal.close(),
      record: (entry) =>
        entry.type === "intent" && entry.step === "b" ? Promise.resolve("ENOSPC") : journal.record(entry),
    };
    const steps = [request("a"), request("b"), request("c")];
    const { report, events } = await applyTo(service, plan(steps), { journal: failing, concurrency: 1 });
    await journal.close();
    expect(outcomes(report)).toEqual({ a: "done", b: "failed", c: "skipped" });
    expect(report.steps[1]?.failure?.message).toBe("the journal cannot be written: ENOSPC");
    expect(service.calls).toHaveLength(1);
    expect(events.filter((event) => event.type === "stopping")).toMatchObject([{ reason: "journal" }]);
  });

  test("keeps thousands of entries in the order of their writing", async () => {
    const journal = await opened();
    const written = Array.from({ length: 5000 }, (_, index) => `step ${index} \u2028 \ud83d\ude00`);
    const problems = await Promise.all(
      written.map((key) =>
        journal.record({
          ...{ type: "change", key, kind: "vpc", root: "vpc/a", action: "create", id: null },
          ...{ before: null, after: null },
        } as const),
      ),
    );
    await journal.close();
    expect(new Set<Json>(problems)).toEqual(new Set([null]));
    expect(
      lines(journal.path)
        .slice(1)
        .map((line) => line["key"]),
    ).toEqual(written);
  });
});

test("a journal that is closed holds its file open no longer", async () => {
  const journal = await opened();
  const entry = { type: "end", at: "2026-11-22T00:00:00Z" } as unknown as Parameters<Journal["record"]>[0];
  expect(await journal.record(entry)).toBeNull();
  await journal.close();
  expect(await journal.record(entry)).toMatch(/closed|EBADF|bad file descriptor/i);
});
