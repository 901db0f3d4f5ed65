import { describe, expect, it } from "vitest";
import type { ObservedLimit } from "../../src/model/api.ts";
import type { Step } from "../../src/model/plan.ts";
import { rateOf } from "../../src/plan/pace.ts";

function step(...path: string[]): Step {
  return {
    type: "request",
    id: path.join("/"),
    unit: "zone",
    root: "domain/a.example",
    changes: [],
    after: [],
    method: "POST",
    path,
    body: null,
    produces: null,
    lookup: null,
    expect: null,
  };
}

const RECORDS = step("domains", "7", "records");
const told = (endpoint: string, limit: number | null, windowSeconds: number | null): ObservedLimit => ({
  endpoint,
  limit,
  windowSeconds,
});

describe("the limit that an apply will meet", () => {
  it("is the one of what its steps are about", () => {
    const limits = [told("GET /domains", 800, 120), told("GET /images", 20, 60), told("GET /vpcs", 15, 120)];
    expect(rateOf(limits, [RECORDS])).toEqual({ requests: 800, seconds: 120 });
    expect(rateOf(limits, [step("images")])).toEqual({ requests: 20, seconds: 60 });
    expect(rateOf(limits, [])).toBeNull();
  });

  it("is the tightest of several", () => {
    const limits = [told("GET /domains", 800, 120), told("GET /domains/*/records", 200, 60)];
    expect(rateOf(limits, [RECORDS])).toEqual({ requests: 200, seconds: 60 });
    expect(rateOf([...limits].reverse(), [RECORDS])).toEqual({ requests: 200, seconds: 60 });
  });

  it("has the length of a window that another endpoint opened, if the limit is the same", () => {
    const limits = [told("GET /domains", 100, null), told("GET /vpcs", 100, 10), told("GET /images", 20, 60)];
    expect(rateOf(limits, [RECORDS])).toEqual({ requests: 100, seconds: 10 });
  });

  it("has the length of a window of the same collection before that of others, and else the shortest", () => {
    const others = [told("GET /vpcs", 100, 60), told("GET /images", 100, 30)];
    const own = [told("GET /domains", 100, 10), told("GET /domains/*/records", 100, null)];
    expect(rateOf([...own, ...others], [RECORDS])).toEqual({ requests: 100, seconds: 10 });
    expect(rateOf([told("GET /domains", 100, null), ...others], [RECORDS])).toEqual({ requests: 100, seconds: 30 });
  });

  it("is none if nothing is known of it", () => {
    expect(rateOf([], [RECORDS])).toBeNull();
    expect(rateOf([told("GET /domains", null, 10), told("GET /vpcs", 100, null)], [RECORDS])).toBeNull();
    expect(rateOf([told("GET /domains", 0, 10)], [RECORDS])).toBeNull();
  });
});
