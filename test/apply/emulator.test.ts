import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApi } from "../../src/api/index.ts";
import { openJournal } from "../../src/apply/journal.ts";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { lookup, plan, request, upload, wait } from "./support/plans.ts";
import { applyWith, outcomes } from "./support/run.ts";

const HEADER = {
  version: "0.1.0",
  actor: null,
  commit: null,
  host: "127.0.0.1",
  ...{ account: null, environment: null, owner: null },
  goal: "apply" as const,
};
/** Enough for the journal's batches and the service's pages, few enough to be quick. */
const RECORD_COUNT = 1_500;

let emulator: Emulator;
let root: string;
beforeEach(async () => {
  emulator = await startEmulator({});
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "tenon-apply-")));
});
afterEach(async () => {
  await emulator.close();
  rmSync(root, { recursive: true });
});

describe("apply against the emulator", () => {
  test("makes a zone, fills it, activates it, and writes everything down", async () => {
    const api = await createApi({ baseUrl: emulator.baseUrl, token: "emulator-token" });
    const body = { domain: "example.com", type: "master", soa_email: "a@example.com", status: "disabled" };
    const create = request("create", {
      method: "POST",
      path: ["domains"],
      body,
      produces: { ref: "domain/example.com", fields: { id: "id" } },
      lookup: lookup("domain", ["domains"], { domain: "example.com" }),
    });
    const zone = ["domains", { ref: "domain/example.com", field: "id" }];
    const records = Array.from({ length: RECORD_COUNT }, (_, index) => {
      const record = { type: "A", name: `host-${index}`, target: "192.0.2.1" };
      return request(`record ${index}`, {
        method: "POST",
        path: [...zone, "records"],
        body: record,
        after: ["create"],
      });
    });
    const activate = request("activate", { path: zone, body: { status: "active" }, after: ["filled"] });
    const filled = { id: "filled", after: records.map((step) => step.id) };
    const startedMilliseconds = Date.now();
    const opened = await openJournal({ root, path: null, startedMilliseconds, header: HEADER });
    if (!opened.ok) throw new Error(opened.diagnostic.detail);
    const { journal } = opened;
    const { report } = await applyWith(api, plan([create, ...records, activate], [filled]), { root, journal });
    await journal.close();
    expect(report).toMatchObject({ added: RECORD_COUNT + 2, failed: 0, requestCount: RECORD_COUNT + 2, notices: [] });
    const listed = await api.list({ path: ["domains", String(report.steps[0]?.id), "records"] });
    expect(listed.ok && listed.total).toBe(RECORD_COUNT);
    const domain = await api.send({ method: "GET", path: ["domains", String(report.steps[0]?.id)] });
    expect(domain).toMatchObject({ ok: true, body: { status: "active" } });
    // The header, a change, an intent and an outcome per step, and the end.
    expect(readFileSync(journal.path, "utf8").trimEnd().split("\n")).toHaveLength(3 * (RECORD_COUNT + 2) + 3);
    await api.close();
  });

  test("uploads an image and waits until it is available", async () => {
    const api = await createApi({ baseUrl: emulator.baseUrl, token: "emulator-token" });
    writeFileSync(path.join(root, "golden.img.gz"), gzipSync("a raw disk image"));
    const create = request("create", {
      unit: "image",
      method: "POST",
      path: ["images", "upload"],
      body: { label: "golden", region: "us-east" },
      produces: { ref: "image/golden", fields: { id: "image.id", upload_to: "upload_to" } },
      lookup: lookup("image", ["images"], { label: "golden" }),
    });
    const file = "golden.img.gz";
    const send = upload("send", { to: { ref: "image/golden", field: "upload_to" }, file, after: ["create"] });
    const ready = wait("ready", { path: ["images", { ref: "image/golden", field: "id" }], after: ["send"] });
    const { report } = await applyWith(api, plan([create, send, ready]), { root });
    expect(outcomes(report)).toEqual({ create: "done", send: "done", ready: "done" });
    const image = await api.send({ method: "GET", path: ["images", String(report.steps[0]?.id)] });
    expect(image).toMatchObject({ ok: true, body: { label: "golden", status: "available" } });
    await api.close();
  });
});
