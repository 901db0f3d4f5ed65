import { describe, expect, it } from "vitest";
import { renderPlanText } from "../../src/render/index.ts";
import { durationText, requestsText } from "../../src/render/view.ts";
import { change, plan } from "./plans.ts";

const PACE = { requests: 100, seconds: 10 };

describe("how long an apply takes", () => {
  it("is said at the limit that the service reported", () => {
    expect(requestsText({ requestCount: 1000, pace: PACE })).toBe(
      "Applying this takes 1000 requests: about 1 min 40 s, if the limit is the one that the service reported while reading: 100 requests per 10 s.",
    );
    expect(requestsText({ requestCount: 101, pace: PACE })).toContain(": about 11 s, if ");
  });

  it("is no question within the limit, nor if none was told", () => {
    expect(requestsText({ requestCount: 100, pace: PACE })).toBe(
      "Applying this takes 100 requests, within the limit that the service reported while reading: 100 requests per 10 s.",
    );
    expect(requestsText({ requestCount: 1000, pace: null })).toBe("Applying this takes 1000 requests.");
    expect(requestsText({ requestCount: 0, pace: PACE })).toBe("Applying this takes 0 requests.");
  });

  it("is in units that people think in", () => {
    expect([0, 0.2, 59, 60, 61, 100, 3599, 3600, 3661, 7261].map(durationText)).toEqual([
      "0 s",
      "1 s",
      "59 s",
      "1 min",
      "1 min 1 s",
      "1 min 40 s",
      "59 min 59 s",
      "1 h",
      "1 h 2 min",
      "2 h 2 min",
    ]);
  });

  it("is in the text of a plan, within the width of a terminal", () => {
    const made = change("vpc/a", "vpc", { after: { label: "a" } });
    const text = renderPlanText(plan([made], { pace: PACE, requestCount: 1000 }), { colour: false, width: 80 });
    expect(text).toContain(
      "\nApplying this takes 1000 requests: about 1 min 40 s, if the limit is the one\n   that the",
    );
    expect(text).toMatch(/\n\nPlan: 1 to add, 0 to change, 0 to destroy\.\n$/);
  });
});
