import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_POLL_INTERVAL_SECONDS } from "../../src/apply/perform.ts";
import type { Plan } from "../../src/model/plan.ts";
import { plan, request, upload, wait } from "./support/plans.ts";
import { applyTo, outcomes, QuickClock, TOKEN } from "./support/run.ts";
import { Service } from "./support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await Service.start();
});
afterEach(() => service.stop());

describe("an upload", () => {
  let root: string;
  let outside: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), "tenon-upload-")));
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), "tenon-outside-")));
    mkdirSync(path.join(root, "images"));
    writeFileSync(path.join(root, "images/golden.img.gz"), "image data");
    writeFileSync(path.join(outside, "secret"), "secret");
  });
  afterEach(() => {
    for (const folder of [root, outside]) rmSync(folder, { recursive: true });
  });

  function uploading(file: string): Plan {
    const create = request("create", {
      method: "POST",
      path: ["images", "upload"],
      body: { label: "golden" },
      produces: { ref: "image/golden", fields: { id: "image.id", upload_to: "upload_to" } },
    });
    const send = upload("send", { to: { ref: "image/golden", field: "upload_to" }, file, after: ["create"] });
    const ready = wait("ready", {
      path: ["images", { ref: "image/golden", field: "id" }],
      until: ["pending_upload"],
      after: ["send"],
    });
    return plan([create, send, ready]);
  }

  test("sends the file to the signed URL, without the token", async () => {
    const { report } = await applyTo(service, uploading("images/golden.img.gz"), { root });
    expect(outcomes(report)).toEqual({ create: "done", send: "done", ready: "done" });
    const sent = service.calls.find((call) => call.path[0] === "upload");
    expect(sent).toMatchObject({ method: "PUT", body: "image data", authorization: undefined });
    expect(service.calls[0]?.authorization).toBe(`Bearer ${TOKEN}`);
    expect(report.requestCount).toBe(3);
  });

  test("may follow a link within the project", async () => {
    symlinkSync("images/golden.img.gz", path.join(root, "link"));
    const { report } = await applyTo(service, uploading("link"), { root });
    expect(report.steps[1]?.outcome).toBe("done");
  });

  test.each([
    ["a link out of the project", "leak", /outside the project/],
    ["a folder that is a link", "way/secret", /outside the project/],
    ["a path that climbs out", "../OUTSIDE/secret", /outside the project/],
    ["an absolute path", process.execPath, /outside the project/],
    ["a folder", "images", /not a file/],
    ["a file that is not there", "missing", /ENOENT/],
  ])("is refused for %s", async (_, file, message) => {
    symlinkSync(path.join(outside, "secret"), path.join(root, "leak"));
    symlinkSync(outside, path.join(root, "way"));
    const { report } = await applyTo(service, uploading(file.replace("OUTSIDE", path.basename(outside))), { root });
    expect(outcomes(report)).toEqual({ create: "done", send: "failed", ready: "skipped" });
    expect(report.steps[1]?.failure).toMatchObject({ type: "refused", effect: "none" });
    expect(report.steps[1]?.failure?.message).toMatch(message);
    expect(service.calls.some((call) => call.path[0] === "upload")).toBe(false);
  });

  test.each([
    ["lost before it arrived", { type: "lose" }, "unknown"],
    ["lost after it arrived", { type: "lose-answer" }, "unknown"],
    ["answered with 500", { type: "answer", status: 500, text: "" }, "unknown"],
    ["answered with 403", { type: "answer", status: 403, text: "" }, "failed"],
  ] as const)("that is %s may have had an effect, or not", async (_, twist, outcome) => {
    service.twist = (call) => (call.path[0] === "upload" ? twist : null);
    const { report } = await applyTo(service, uploading("images/golden.img.gz"), { root });
    expect(outcomes(report)).toEqual({ create: "done", send: outcome, ready: "skipped" });
  });

  test("that the storage refuses fails its step, and says nothing about the token", async () => {
    service.twist = (call) => (call.path[0] === "upload" ? { type: "answer", status: 401, text: "expired" } : null);
    const { report, events } = await applyTo(service, uploading("images/golden.img.gz"), { root });
    expect(outcomes(report)).toEqual({ create: "done", send: "failed", ready: "skipped" });
    expect(events.some((event) => event.type === "stopping")).toBe(false);
    expect(JSON.stringify([report, events])).not.toContain("s3cr3t-signature");
  });
});

describe("a wait", () => {
  /** The image is available at the n-th look. */
  function availableAt(nth: number): void {
    const image = { id: "private/1", label: "golden" };
    service.list(["images"]).push({ ...image, status: "creating" });
    service.twist = (call) => {
      if (call.nth === nth - 1) service.list(["images"])[0] = { ...image, status: "available" };
      return null;
    };
  }

  test("is over at once when the field already has the value", async () => {
    availableAt(1);
    const clock = new QuickClock();
    const { report } = await applyTo(service, plan([wait("wait")]), { clock });
    expect(outcomes(report)).toEqual({ wait: "done" });
    expect(clock.sleeps).toEqual([]);
  });

  test("looks at growing intervals, up to a limit", async () => {
    availableAt(10);
    const clock = new QuickClock();
    const { report, events } = await applyTo(service, plan([wait("wait")]), { clock });
    expect(outcomes(report)).toEqual({ wait: "done" });
    const seconds = clock.sleeps.map((milliseconds) => milliseconds / 1000);
    expect(seconds[0]).toBe(1);
    expect(seconds.at(-1)).toBe(MAX_POLL_INTERVAL_SECONDS);
    expect(seconds).toEqual([...seconds].sort((a, b) => a - b));
    expect(report.requestCount).toBe(10);
    expect(events.find((event) => event.type === "step-note")).toMatchObject({
      note: "waiting",
      detail: 'status is "creating"',
    });
  });

  test("fails after its limit, not before", async () => {
    availableAt(1_000);
    const clock = new QuickClock();
    const begin = clock.now();
    const { report } = await applyTo(service, plan([wait("wait", { limitSeconds: 45 })]), { clock });
    expect((clock.now() - begin) / 1000).toBe(45);
    expect(report.steps[0]).toMatchObject({
      outcome: "failed",
      failure: {
        type: "unavailable",
        message: 'after 45 s, status is "creating"; run again, or give it more time with --image-timeout',
      },
    });
  });

  test("fails when what it waits for is gone", async () => {
    const { report } = await applyTo(service, plan([wait("wait")]));
    expect(report.steps[0]).toMatchObject({ outcome: "failed", failure: { status: 404 } });
  });
});
