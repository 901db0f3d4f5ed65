/** What is answered instead of any work: by the service in trouble, or by a load balancer before it. */

import { STATUS_CODES } from "node:http";
import { JSON_TYPE } from "../errors.ts";
import type { FaultEffect } from "./fault.ts";

export interface FaultAnswer {
  readonly status: number;
  /** null: the header that is there already is taken away. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string;
}

const HTML_TYPE = { "content-type": "text/html" };

/** Worded as observed of the public service, where that is known. */
const REASONS: Readonly<Record<number, string>> = {
  429: "Too many requests",
  500: "Internal server error",
};

/** null: the work is done as ever, and something becomes of its answer. The answer to a drop is never seen. */
export function answerInstead(effect: FaultEffect): FaultAnswer | null {
  switch (effect.type) {
    case "status":
      return refusal(effect.status, reasonOf(effect.status), retryAfter(effect.retryAfterSeconds));
    case "html":
      return page(effect.status);
    case "busy":
      return refusal(400, "Linode busy.");
    case "maintenance":
      return refusal(503, "The service is in maintenance", { "x-maintenance-mode": "all,Maintenance" });
    case "drop-before":
      return refusal(500, reasonOf(500));
    case "drop-after":
    case "late":
    case "half-body":
    case "bad-json":
    case "slow-headers":
    case "slow-body":
      return null;
  }
}

/** A load balancer's page: it knows nothing of the service's shapes. */
export function page(status: number): FaultAnswer {
  const title = `${status} ${STATUS_CODES[status] ?? "Error"}`;
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`;
  return { status, headers: HTML_TYPE, body };
}

function refusal(status: number, reason: string, headers: FaultAnswer["headers"] = {}): FaultAnswer {
  return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: JSON.stringify({ errors: [{ reason }] }) };
}

function reasonOf(status: number): string {
  return REASONS[status] ?? STATUS_CODES[status] ?? "Error";
}

function retryAfter(seconds: number | null | undefined): FaultAnswer["headers"] {
  return seconds === undefined ? {} : { "retry-after": seconds === null ? null : String(seconds) };
}
