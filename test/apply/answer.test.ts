import { describe, expect, test } from "vitest";
import { resultOf } from "../../src/apply/step.ts";
import { type Failure, isUnclear } from "../../src/model/api.ts";
import type { Unit } from "../../src/model/unit.ts";
import { request } from "./support/plans.ts";

function failure(fields: Partial<Failure>): Failure {
  return {
    type: "refused",
    effect: "none",
    status: 400,
    errors: [],
    message: "no",
    maintenance: false,
    attempts: 1,
    ...fields,
  };
}

describe("a failed request", () => {
  test.each([
    ["POST", { effect: "unknown", status: null, type: "unreachable" }, true],
    ["PUT", { effect: "unknown", status: 502, type: "unavailable" }, true],
    ["POST", { effect: "none", status: 200, type: "malformed" }, true],
    ["POST", { effect: "none", status: 404, type: "malformed" }, false],
    ["POST", { effect: "none", status: 429, type: "unavailable" }, false],
    ["GET", { effect: "unknown", status: null, type: "unreachable" }, false],
  ] as const)("%s with %o may have had an effect: %s", (method, fields, unclear) => {
    expect(isUnclear(method, failure(fields))).toBe(unclear);
  });

  test("with 404 is done if it was to delete, and failed if it was to change", () => {
    const gone = { ok: false, failure: failure({ status: 404 }) } as const;
    const unit = {} as Unit;
    expect(resultOf(request("a", { method: "DELETE" }), gone, unit).outcome).toBe("done");
    expect(resultOf(request("a", { method: "PUT" }), gone, unit).outcome).toBe("failed");
    expect(resultOf(request("a", { method: "GET" }), gone, unit).outcome).toBe("failed");
  });

  test("with 404 that is no answer of the service proves nothing", () => {
    const page = { ok: false, failure: failure({ status: 404, type: "malformed" }) } as const;
    expect(resultOf(request("a", { method: "DELETE" }), page, {} as Unit).outcome).toBe("failed");
  });
});
