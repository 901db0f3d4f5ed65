/** Hand-built reports: with only what matters to a test spelt out. */

import type { Failure } from "../../src/model/api.ts";
import type { Report, StepReport } from "../../src/model/report.ts";

export const CLASH: Failure = {
  type: "refused",
  effect: "none",
  status: 400,
  errors: [{ reason: "Record conflict - CNAMES must be unique", field: "name" }],
  message: "name: Record conflict - CNAMES must be unique (400)",
  maintenance: false,
  attempts: 1,
};
export const DOWN: Failure = {
  type: "unavailable",
  effect: "unknown",
  status: 503,
  errors: [],
  message: "the service is not available",
  maintenance: true,
  attempts: 5,
};

export function step(id: string, rest: Partial<StepReport>): StepReport {
  return { step: id, changes: [], outcome: "done", id: null, recovered: false, failure: null, because: [], ...rest };
}

export function report(rest: Partial<Report>): Report {
  return {
    steps: [],
    changes: [],
    added: 0,
    changed: 0,
    destroyed: 0,
    failed: 0,
    skipped: 0,
    unknown: 0,
    blocked: 0,
    duplicates: 0,
    requestCount: 0,
    interrupted: false,
    notices: [],
    ...rest,
  };
}

export const PARTIAL: Report = report({
  steps: [
    step("create domain/new.example", { changes: ["domain/new.example"], id: 12 }),
    step("create domain/new.example/www/CNAME", {
      changes: ["domain/new.example/www/CNAME"],
      outcome: "failed",
      failure: CLASH,
    }),
    step("activate domain/new.example", {
      changes: ["domain/new.example"],
      outcome: "skipped",
      because: ["create domain/new.example/www/CNAME"],
    }),
    step("create vpc/a", { changes: ["vpc/a"], outcome: "unknown", failure: DOWN }),
    step("create vpc/b", { changes: ["vpc/b"], outcome: "skipped" }),
    step("create vpc/c", { changes: ["vpc/c"], id: 4, recovered: true }),
  ],
  changes: [
    { key: "vpc/c", outcome: "done" },
    { key: "vpc/prod/subnet/web", outcome: "blocked" },
    { key: "vpc/b", outcome: "skipped" },
    { key: "vpc/a", outcome: "unknown" },
    { key: "domain/new.example", outcome: "partial" },
    { key: "domain/new.example/www/CNAME", outcome: "failed" },
  ],
  added: 1,
  failed: 2,
  skipped: 1,
  unknown: 1,
  blocked: 1,
  requestCount: 9,
  notices: ["two VPCs are called a: ids 4 and 5"],
});
