import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Api } from "../../src/model/api.ts";
import { growth } from "../support/operations.ts";
import { change, createRecord, plan, RECORDS, request } from "./support/plans.ts";
import { applyTo, applyWith, outcomes } from "./support/run.ts";
import { Service } from "./support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await Service.start();
});
afterEach(() => service.stop());

const REFUSED = {
  type: "answer",
  status: 400,
  text: '{"errors":[{"field":"target","reason":"Invalid target"}]}',
} as const;

describe("apply", () => {
  test("sends the requests in order, with what earlier answers gave in their paths", async () => {
    const create = request("create", {
      method: "POST",
      path: ["domains"],
      body: { domain: "example.com" },
      produces: { ref: "domain/example.com", fields: { id: "id" } },
    });
    const path = ["domains", { ref: "domain/example.com", field: "id" }, "records"];
    const record = request("record", { method: "POST", path, body: { name: "www" }, after: ["create"] });
    const activate = request("activate", { path: path.slice(0, 2), body: { status: "active" }, after: ["filled"] });
    const { report, events } = await applyTo(
      service,
      plan([create, record, activate], [{ id: "filled", after: ["record"] }]),
    );
    expect(service.calls.map((call) => [call.method, call.path.join("/"), call.body])).toEqual([
      ["POST", "domains", '{"domain":"example.com"}'],
      ["POST", "domains/101/records", '{"name":"www"}'],
      ["PUT", "domains/101", '{"status":"active"}'],
    ]);
    expect(report).toMatchObject({ requestCount: 3, added: 3, failed: 0, interrupted: false, notices: [] });
    expect(report.steps.map((step) => [step.step, step.outcome, step.id])).toEqual([
      ["create", "done", 101],
      ["record", "done", 102],
      ["activate", "done", null],
    ]);
    expect(events.map((event) => event.type)).toEqual(
      Array.from({ length: 3 }, () => ["step-started", "step-done"]).flat(),
    );
  });

  test("skips what depends on a failed step and goes on with the rest", async () => {
    service.twist = (call) => (call.path.includes("bad") ? REFUSED : null);
    const steps = [
      request("bad"),
      request("good"),
      request("after", { after: ["filled"] }),
      request("last", { after: ["after"] }),
    ];
    const { report, events } = await applyTo(service, plan(steps, [{ id: "filled", after: ["bad", "good"] }]));
    expect(outcomes(report)).toEqual({ bad: "failed", good: "done", after: "skipped", last: "skipped" });
    expect(report.steps.map((step) => step.because)).toEqual([[], [], ["bad"], ["bad"]]);
    expect(report.steps[0]?.failure).toMatchObject({ type: "refused", effect: "none", status: 400 });
    expect(report).toMatchObject({ added: 1, failed: 1, skipped: 2, requestCount: 2 });
    expect(events.filter((event) => event.type === "step-skipped").map((event) => event.step)).toEqual([
      "after",
      "last",
    ]);
  });

  test("never runs more steps at once than it may, and that many if it can", async () => {
    service.twist = () => new Promise((resolve) => setTimeout(resolve, 5, null));
    const steps = Array.from({ length: 60 }, (_, index) => request(`r${index}`));
    await applyTo(service, plan(steps), { concurrency: 5 });
    expect(service.busiest).toBe(5);
    expect(service.calls).toHaveLength(60);
  });

  test("starts nothing more once the token is refused", async () => {
    service.twist = (call) =>
      call.path.includes("r1")
        ? { type: "answer", status: 401, text: '{"errors":[{"reason":"Invalid Token"}]}' }
        : null;
    const steps = Array.from({ length: 9 }, (_, index) => request(`r${index}`));
    const { report, events } = await applyTo(service, plan(steps), { concurrency: 1 });
    expect(service.calls).toHaveLength(2);
    expect(report.steps.map((step) => step.outcome)).toEqual(["done", "failed", ...Array(7).fill("skipped")]);
    expect(report.steps.slice(2).map((step) => step.because)).toEqual(Array(7).fill(["r1"]));
    expect(events.filter((event) => event.type === "stopping")).toMatchObject([{ reason: "unauthorised" }]);
    expect(report.interrupted).toBe(false);
  });

  test("goes on after a look whose answer is still as planned, and stops there when it is not", async () => {
    service.list(["vpcs"]).push({ id: 1, label: "prod" }, { id: 2, label: "other" });
    const look = (id: string): ReturnType<typeof request> =>
      request(`look ${id}`, {
        unit: "network",
        method: "GET",
        path: ["vpcs", id],
        body: null,
        expect: { label: "prod" },
      });
    const remove = (id: string): ReturnType<typeof request> =>
      request(`delete ${id}`, { method: "DELETE", path: ["vpcs", id], body: null, after: [`look ${id}`] });
    const steps = [look("1"), remove("1"), look("2"), remove("2"), look("3"), remove("3")];
    const { report } = await applyTo(service, plan(steps));
    expect(service.list(["vpcs"]).map((vpc) => vpc["id"])).toEqual([2]);
    expect(report.steps[2]).toMatchObject({
      outcome: "failed",
      failure: { type: "refused", effect: "none", message: "it is no longer what was planned; plan again" },
    });
    // The third is not there any more: nothing is left to look at, or to delete.
    expect(report.steps.map((step) => step.outcome)).toEqual(["done", "done", "failed", "skipped", "done", "done"]);
  });

  test("calls a PUT unknown whose connection was lost, and does not build on it", async () => {
    service.twist = (call) => (call.method === "PUT" ? { type: "lose-answer" } : null);
    const { report } = await applyTo(service, plan([request("a"), request("b", { after: ["a"] })]));
    expect(outcomes(report)).toEqual({ a: "unknown", b: "skipped" });
    expect(report).toMatchObject({ unknown: 1, skipped: 1 });
  });

  test("fails a step whose reference was never produced, and sends nothing for it", async () => {
    const lost = request("lost", { path: ["domains", { ref: "domain/example.com", field: "id" }] });
    const { report } = await applyTo(service, plan([lost]));
    expect(report.steps[0]?.failure?.message).toBe("no earlier answer gave the id of domain/example.com");
    expect(service.calls).toEqual([]);
  });

  test("reports each change by what became of all its steps", async () => {
    service.twist = (call) => (call.path.includes("bad") ? REFUSED : null);
    service.list(RECORDS).push({ id: "look" });
    const steps = [
      request("a", { changes: ["replace"] }),
      request("b", { changes: ["replace"], after: ["a"] }),
      request("bad", { changes: ["half"], after: ["c"] }),
      request("c", { changes: ["half"] }),
      request("look", { changes: ["looked"], method: "GET", body: null }),
      request("bad d", { path: ["bad"], changes: ["looked"], after: ["look"] }),
    ];
    const order = [steps[0], steps[1], steps[3], steps[2], steps[4], steps[5]].filter((step) => step !== undefined);
    const blocked = { type: "depends", on: [] } as const;
    const changes = [
      change("replace", { action: "replace" }),
      change("half", { action: "update" }),
      change("looked", { action: "delete" }),
      change("blocked", { blocked }),
      change("stepless", { action: "update" }),
      change("same", { action: "no-op" }),
    ];
    const { report } = await applyTo(service, plan(order, [], changes));
    expect(report.changes).toEqual([
      { key: "replace", outcome: "done" },
      { key: "half", outcome: "partial" },
      { key: "looked", outcome: "failed" },
      { key: "blocked", outcome: "blocked" },
      { key: "stepless", outcome: "skipped" },
    ]);
    expect(outcomes(report)).toMatchObject({ look: "done", "bad d": "failed" });
    expect(report).toMatchObject({ added: 1, destroyed: 1, changed: 0, failed: 2, skipped: 1, blocked: 1, unknown: 0 });
  });

  test("reports a bug as the failure of its step, after what was in flight has ended, and begins nothing new", async () => {
    let ended = false;
    const api = {
      send: async (sent: { path: readonly string[] }) => {
        if (sent.path.includes("bug")) throw new TypeError("a bug");
        await new Promise((resolve) => setTimeout(resolve, 20));
        ended = true;
        return { ok: true, body: {} };
      },
    } as unknown as Api;
    const { report } = await applyWith(api, plan([request("slow"), request("bug"), request("never")]), {
      concurrency: 2,
    });
    expect(report.steps.map(({ step, outcome }) => [step, outcome])).toEqual([
      ["slow", "done"],
      ["bug", "unknown"],
      ["never", "skipped"],
    ]);
    expect(report.steps[1]?.failure?.message).toBe("an error of Tenon, please report it: a bug");
    expect(ended).toBe(true);
  });

  test("does nothing for a plan without steps", async () => {
    const { report } = await applyTo(service, plan([]));
    expect(report).toMatchObject({ steps: [], changes: [], requestCount: 0, interrupted: false });
  });
});

describe("apply on a large plan", () => {
  /** Answers at once: what is counted is the loop, not HTTP. */
  const instant: Api = {
    requestCount: 0,
    get: async () => ({ ok: true, body: { id: 1 } }),
    send: async () => ({ ok: true, body: { id: 1 } }),
    list: async () => ({ ok: true, items: [], total: 0 }),
    upload: async () => ({ ok: true, body: {} }),
  };

  test("carries out 12,000 records before a barrier and 12,000 behind it, and four times as many with four times the work", async () => {
    const run = async (size: number): Promise<void> => {
      const creates = Array.from({ length: size }, (_, index) => createRecord(`c${index}`));
      const deletes = Array.from({ length: size }, (_, index) => request(`d${index}`, { after: ["created"] }));
      const large = plan([...creates, ...deletes], [{ id: "created", after: creates.map((step) => step.id) }]);
      const { report } = await applyWith(instant, large);
      expect(report.added).toBe(2 * size);
    };
    await run(12_000);
    expect(await growth(500, 4, run)).toBeLessThan(5);
  });
});
