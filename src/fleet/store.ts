/**
 * What the workers of a fleet share: a queue of wake-ups, records that are compared and set, and a lock for each account with a counter that
 * only grows. Redis and PostgreSQL stand behind it.
 */

import type { Telemetry } from "bullmq";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { FleetQueue } from "./queue.ts";

/** The most octets of a record: the text and document of some fifty thousand changes. */
export const MAX_RECORD_OCTETS: number = 64 * 1024 * 1024;

/** A lock that says that it lasts longer is nobody's: a lease is of an hour at most. */
export const MAX_LOCK_MILLISECONDS: number = 24 * 60 * 60 * 1000;
/** How long a record is kept that nobody writes again, where nothing else is said. */
export const RECORD_LIFETIME_MILLISECONDS: number = 7 * 24 * 60 * 60 * 1000;

/** A record as it was read. */
export interface StoredRecord {
  /** From 1, by one with each write. */
  readonly version: number;
  /** null: it is longer than it may be. Whatever wrote it was not Tenon. */
  readonly text: string | null;
}

/** The right to act for an account, until the time to live is over or another one has it. */
export interface Fence {
  readonly account: string;
  /** Larger than that of every earlier holder. */
  readonly count: number;
}

export interface FleetStore {
  readonly queue: FleetQueue;
  /**
   * @param maxOctets the text of a longer one is not sent. Default: MAX_RECORD_OCTETS, which is the most
   * @returns null: there is none, or it is too old
   */
  read(key: string, maxOctets?: number): Promise<StoredRecord | null>;
  /** The versions of records, 0 for those that there are not, in the order of the keys. */
  versions(keys: readonly string[]): Promise<number[]>;
  /**
   * @param expected the version that is replaced; 0: there must be none
   * @param fence without this right nothing is written
   * @param lifetimeMilliseconds from now on, unless it is written again; null: for good. Default: RECORD_LIFETIME_MILLISECONDS
   * @returns false: another was faster, or the right is lost
   */
  write(
    key: string,
    text: string,
    expected: number,
    fence: Fence | null,
    lifetimeMilliseconds?: number | null,
  ): Promise<boolean>;
  /** Lets the lifetime of a record begin anew. @returns false: there is no such record */
  renew(key: string, lifetimeMilliseconds: number): Promise<boolean>;
  /** @returns null: another one has it */
  lock(account: string, milliseconds: number): Promise<Fence | null>;
  /** Also after its time has run out, as long as nobody else has got the lock. @returns false: somebody has */
  extend(fence: Fence, milliseconds: number): Promise<boolean>;
  unlock(fence: Fence): Promise<void>;
  /** Wakes an account up every so often; 0: no longer. */
  schedule(account: string, milliseconds: number): Promise<void>;
  /** The accounts that are woken up every so often. */
  scheduled(): Promise<string[]>;
  close(): Promise<void>;
}

/** What a store reports while it is used. */
export interface StoreObserver {
  /** Called when the store does not answer any more, with the reason, and with null when it does again. */
  unreachable(reason: string | null): void;
}

export type OpenedStore =
  | { readonly ok: true; readonly store: FleetStore }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface StoreOptions {
  /** Keeps fleets apart that share a server. */
  readonly prefix: string;
  /** So long an account is a worker's that says nothing. */
  readonly leaseMilliseconds: number;
  /** Nothing is written. Default: false. */
  readonly readsOnly?: boolean;
  readonly observer: StoreObserver;
  /** What records the queue's work; absent: nothing does. */
  readonly telemetry?: Telemetry;
}

const PREFIX = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

export function isPrefix(text: string): boolean {
  return PREFIX.test(text);
}

/** The engines by the scheme of their address. */
const SCHEMES: Readonly<Record<string, "redis" | "postgres">> = {
  "redis:": "redis",
  "rediss:": "redis",
  "valkey:": "redis",
  "valkeys:": "redis",
  "postgres:": "postgres",
  "postgresql:": "postgres",
};

export interface StoreAddress {
  readonly engine: "redis" | "postgres";
  readonly url: string;
  /** Without user and password, as messages may show it. */
  readonly shown: string;
}

/** @returns null: it is not the address of a store */
export function parseStoreAddress(text: string): StoreAddress | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const engine = SCHEMES[url.protocol];
  if (engine === undefined || url.hostname === "") return null;
  if (engine === "redis") url.protocol = /^(?:rediss|valkeys):$/.test(url.protocol) ? "rediss:" : "redis:";
  return { engine, url: url.href, shown: `${url.protocol}//${url.host}` };
}

// What is wrong with a store.

/** Reasons of the system and of the servers, in words. */
const REASONS: readonly (readonly [RegExp, string, string])[] = [
  [
    /\bTooLongAnswer\b/,
    "it sends more than anything that a fleet keeps there",
    "Look what others have put into the queue's tables.",
  ],
  [/\bOOM\b/, "its memory is full", "Give it more memory, or look what else lies there."],
  [/\bREADONLY\b|read-only transaction/, "it is a replica now", "Name the primary."],
  [/\bMISCONF\b|\b53100\b/, "it cannot write to its disk", "Look into the server's log."],
  [/\bLOADING\b|\b57P03\b/, "it is still loading its data", "Wait."],
  [/ECONNREFUSED/, "nobody listens there", "Start the server, or correct the address."],
  [/ENOTFOUND|EAI_AGAIN/, "the host name is not known", "Correct the address."],
  [
    /ETIMEDOUT|timeout expired|timed? ?out/i,
    "the server does not answer",
    "Look whether a firewall is between, and whether the server is well.",
  ],
  [
    /WRONGPASS|NOAUTH|invalid password|invalid username-password|password authentication failed|no password/i,
    "the server refuses the user or the password",
    "Correct them in the queue's address (TENON_QUEUE).",
  ],
  [
    /NOPERM|permission denied/i,
    "the user may not do what a queue needs",
    "Give the user the rights: docs/how-to/run-many-accounts.md names those in PostgreSQL.",
  ],
  [/does not exist/, "the database or the user is not there", "Make it, or correct the address."],
  [
    /certificate|self.signed|altname|UNABLE_TO_/i,
    "the server's certificate is not trusted",
    "Name the file of your own certificate authority in NODE_EXTRA_CA_CERTS.",
  ],
  [
    /SSL|TLS|EPROTO|wrong version number|packet length too long|ECONNRESET|Connection is closed|Connection terminated/i,
    "the connection is closed by the server",
    "Look whether it expects TLS (rediss://, sslmode=require) or does not.",
  ],
];

/** What went wrong, and what to do. What a server writes is not repeated: it may be anything. */
export function reasonOf(error: unknown): { readonly reason: string; readonly fix: string } {
  const text = error instanceof Error ? `${codeOf(error)} ${error.message} ${causesOf(error)}` : "";
  const known = REASONS.find(([pattern]) => pattern.test(text));
  if (known !== undefined) return { reason: known[1], fix: known[2] };
  const code = error instanceof Error ? codeOf(error) : "";
  return { reason: /^\w{1,40}$/.test(code) ? `it fails with ${code}` : "it fails", fix: "Look into the server's log." };
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Node tries several addresses of a host: what is wrong with each is within. */
function causesOf(error: Error): string {
  if (!(error instanceof AggregateError)) return "";
  return error.errors.map((one) => (one instanceof Error ? `${codeOf(one)} ${one.message}` : "")).join(" ");
}

export function storeFails({ shown }: StoreAddress, error: unknown): Diagnostic {
  const { reason, fix } = reasonOf(error);
  const summary = `the queue at ${shown} cannot be used: ${reason}`;
  return { code: "queue-unreachable", severity: "error", summary, detail: "", fix };
}

/** A server that answers, and that a fleet cannot use. */
export function unfit(summary: string, fix: string, detail: string = ""): Diagnostic {
  return { code: "queue-unfit", severity: "error", summary, detail, fix };
}
