/**
 * What a span of a fleet's command stands for and says: which account, which command, what came of it, and how many requests that took. It holds
 * no text of a manifest or a service.
 */

import type { Telemetry } from "bullmq";
import type { ApiEvent } from "../index.ts";
import { didWell, type FleetCommand } from "../model/fleet.ts";
import { EXIT } from "./exit.ts";

export interface FleetTracing {
  /** What the queue records by itself; null: nothing. */
  readonly telemetry: Telemetry | null;
  /** @param work what happens within the span; its own spans are children of this one */
  span<Result>(start: SpanStart, work: (span: FleetSpan) => Promise<Result>): Promise<Result>;
  /** The span under way, as other processes name it: a `traceparent` of W3C Trace Context. null: there is none. */
  current(): string | null;
  /** Sends what is left. Waits for a named limit at most, and never throws. */
  close(): Promise<void>;
}

/** `command`: all of a fleet's command. `account`: one account, until it is done. `run`: what a worker does for it. */
export type SpanStart =
  | { readonly type: "command"; readonly command: FleetCommand; readonly accounts: number }
  | { readonly type: "account"; readonly command: FleetCommand; readonly account: string }
  /** @param parent as `current` gave it to the process that asked; null: nobody did */
  | {
      readonly type: "run";
      readonly command: FleetCommand;
      readonly account: string;
      readonly parent: string | null;
    };

/** What a span may say. No other attribute leaves the process. */
export interface SpanAttributes {
  readonly "tenon.fleet.command"?: FleetCommand;
  readonly "tenon.fleet.accounts"?: number;
  readonly "tenon.fleet.account"?: string;
  readonly "tenon.fleet.outcome"?: string;
  readonly "tenon.fleet.exit_code"?: number;
  readonly "tenon.fleet.requests"?: number;
  readonly "tenon.fleet.throttled"?: number;
}

/** Why a span ends that has no exit code. */
type EndWithoutCode = "not-run" | "overtaken" | "postponed";

const OUTCOMES: ReadonlyMap<number, string> = new Map(Object.entries(EXIT).map(([name, code]) => [code, name]));

/** Collects what a span says at its end. */
export class FleetSpan {
  #requests = 0;
  #throttled = 0;
  #hasSent = false;
  #end: SpanAttributes = {};
  /** Whether what the span stands for needs a person. */
  isFailed = false;

  /** What the client of an account does. */
  observe(event: ApiEvent): void {
    this.#hasSent = true;
    if (event.type === "sent") this.#requests += 1;
    if (event.type === "answered" && event.status === 429) this.#throttled += 1;
  }

  /** @param outcome an exit code, or why there is none */
  end(outcome: number | EndWithoutCode): void {
    if (typeof outcome === "string") {
      this.#end = { "tenon.fleet.outcome": outcome };
      return;
    }
    this.isFailed = !didWell(outcome);
    this.#end = { "tenon.fleet.outcome": OUTCOMES.get(outcome) ?? "unknown", "tenon.fleet.exit_code": outcome };
  }

  get attributes(): SpanAttributes {
    if (!this.#hasSent) return this.#end;
    return { ...this.#end, "tenon.fleet.requests": this.#requests, "tenon.fleet.throttled": this.#throttled };
  }
}
