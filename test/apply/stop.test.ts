import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/api/index.ts";
import type { Clock } from "../../src/model/clock.ts";
import { createRecord, plan, request, wait } from "./support/plans.ts";
import { applyTo, outcomes, QuickClock } from "./support/run.ts";
import { type Call, Service } from "./support/service.ts";

/** CI runners kill ten seconds after their signal: three are for the report. */
const DRAIN_MILLISECONDS = 7_000;

let service: Service;
let release: () => void;
let held: Promise<void>;
beforeEach(async () => {
  service = await Service.start();
  held = new Promise((resolve) => {
    release = resolve;
  });
});
afterEach(async () => {
  release();
  await service.stop();
});

/** Requests whose path ends so are not answered before `release` is called. */
function hold(end: string, onHold: (call: Call) => void): void {
  service.twist = async (call) => {
    if (call.path.at(-1) !== end) return null;
    onHold(call);
    await held;
    return null;
  };
}

/** Nothing is left to wait for but the requests themselves. */
class StoppedClock extends QuickClock {
  override sleep(_milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
  }
}

describe("the first signal", () => {
  test("lets what is in flight finish and starts nothing new", async () => {
    const interrupt = new AbortController();
    hold("slow", () => {
      interrupt.abort();
      setTimeout(release, 30);
    });
    const steps = [request("slow"), request("next"), request("after", { after: ["slow"] })];
    const options = { concurrency: 1, signal: interrupt.signal, clock: new StoppedClock() };
    const { report, events } = await applyTo(service, plan(steps), options);
    expect(outcomes(report)).toEqual({ slow: "done", next: "skipped", after: "skipped" });
    expect(report.steps.map((step) => step.because)).toEqual([[], [], []]);
    expect(report).toMatchObject({ interrupted: true, added: 1, skipped: 2, failed: 0 });
    expect(service.calls).toHaveLength(1);
    expect(events.filter((event) => event.type === "stopping")).toMatchObject([{ reason: "interrupted" }]);
  });

  test("aborts what is still in flight after the time that CI runners give", async () => {
    const interrupt = new AbortController();
    // The look may not have been sent by then; the POST must have been.
    hold("slow", (call) => call.method === "POST" && interrupt.abort());
    const clock = new QuickClock();
    const steps = [
      request("slow", { method: "POST", path: ["domains", "1", "slow"] }),
      request("look", { method: "GET", path: ["slow"] }),
    ];
    const { report, events } = await applyTo(service, plan(steps), { signal: interrupt.signal, clock });
    expect(clock.sleeps).toEqual([DRAIN_MILLISECONDS]);
    expect(outcomes(report)).toEqual({ slow: "unknown", look: "failed" });
    expect(report.steps.map((step) => step.failure?.type)).toEqual(["aborted", "aborted"]);
    expect(events.filter((event) => event.type === "stopping")).toMatchObject([
      { reason: "interrupted" },
      { reason: "drain-limit" },
    ]);
  });

  test("before anything was started leaves everything undone", async () => {
    const { report } = await applyTo(service, plan([request("a"), request("b")]), { signal: AbortSignal.abort() });
    expect(outcomes(report)).toEqual({ a: "skipped", b: "skipped" });
    expect(report.interrupted).toBe(true);
    expect(service.calls).toEqual([]);
  });

  test("ends a wait at once, since nothing is in flight between two looks", async () => {
    const interrupt = new AbortController();
    service.list(["images"]).push({ id: "private/1", status: "creating" });
    service.twist = () => {
      setTimeout(() => interrupt.abort(), 10);
      return null;
    };
    const { report } = await applyTo(service, plan([wait("wait")]), {
      signal: interrupt.signal,
      clock: new StoppedClock(),
    });
    expect(report.steps[0]).toMatchObject({ outcome: "failed", failure: { type: "aborted", effect: "none" } });
    expect(service.calls).toHaveLength(1);
  });

  test("still looks a lost POST up, but does not repeat it", async () => {
    const interrupt = new AbortController();
    service.twist = (call) => {
      if (call.method !== "POST") return null;
      interrupt.abort();
      return { type: "lose" };
    };
    /** Looks take no time, the drain does. */
    const clock: Clock = {
      now: () => Date.now(),
      sleep: (milliseconds, signal) =>
        milliseconds === DRAIN_MILLISECONDS ? systemClock.sleep(milliseconds, signal) : Promise.resolve(),
    };
    const { report } = await applyTo(service, plan([createRecord("www")]), { signal: interrupt.signal, clock });
    expect(outcomes(report)).toEqual({ www: "unknown" });
    expect(service.callsOf("POST")).toHaveLength(1);
    expect(service.callsOf("GET")).toHaveLength(2);
  });

  test("does not keep the process waiting once everything has ended", async () => {
    const interrupt = new AbortController();
    let drain: AbortSignal | undefined;
    const clock: Clock = {
      now: () => Date.now(),
      sleep: (milliseconds, signal) => {
        drain = signal;
        return systemClock.sleep(milliseconds, signal);
      },
    };
    hold("slow", () => {
      interrupt.abort();
      release();
    });
    await applyTo(service, plan([request("slow")]), { signal: interrupt.signal, clock });
    expect(drain?.aborted).toBe(true);
  });
});

describe("the second signal", () => {
  test("aborts requests in flight at once and looks nothing up", async () => {
    const interrupt = new AbortController();
    const abort = new AbortController();
    hold("records", () => {
      interrupt.abort();
      abort.abort();
    });
    const options = { signal: interrupt.signal, abort: abort.signal, clock: new StoppedClock() };
    const steps = [createRecord("www"), request("after", { after: ["www"] })];
    const { report, events } = await applyTo(service, plan(steps), options);
    expect(outcomes(report)).toEqual({ www: "unknown", after: "skipped" });
    expect(events.some((event) => event.type === "step-note")).toBe(false);
    expect(report.steps[0]?.failure).toMatchObject({ type: "aborted", effect: "unknown" });
    expect(report.interrupted).toBe(true);
    expect(service.calls.map((call) => call.method)).toEqual(["POST"]);
  });

  test("cuts the wait before the second look short", async () => {
    const abort = new AbortController();
    service.twist = ({ method }) => {
      if (method === "POST") return { type: "lose" };
      setTimeout(() => abort.abort(), 10);
      return null;
    };
    const { report } = await applyTo(service, plan([createRecord("www")]), {
      abort: abort.signal,
      clock: new StoppedClock(),
    });
    expect(outcomes(report)).toEqual({ www: "unknown" });
    expect(service.calls.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });
});
