/** Sending what is forbidden: the answer names the field, and the account is what it was before. */

import { expect } from "vitest";
import type { Tested } from "../support/emulator.ts";

/** Everything a client can read below these lists. */
const LISTS = ["/vpcs", "/vpcs/ips", "/domains", "/images", "/support/tickets"];

export interface Forbidden {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Of the error; null: it is about no field. */
  readonly field: string | null;
  /** Absent: any; given: this is the only error. */
  readonly reason?: string;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

export async function expectRefused({ send }: Tested, forbidden: Forbidden): Promise<void> {
  const { method, path, body, field, reason, status = 400, headers } = forbidden;
  const before = await everything(send);
  const answer = await send(method, path, body, headers);
  const request = `${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}`;
  expect(answer.status, request).toBe(status);
  const errors = answer.body.errors as { field?: string; reason: string }[];
  expect(
    errors.map((error) => error.field ?? null),
    request,
  ).toContain(field);
  if (reason !== undefined) expect(errors, request).toEqual([field === null ? { reason } : { reason, field }]);
  expect(await everything(send), request).toEqual(before);
}

async function everything(send: Tested["send"]): Promise<unknown[]> {
  const lists = await Promise.all(LISTS.map(async (path) => (await send("GET", path)).body));
  const domains = lists[2].data as { id: number }[];
  const records = await Promise.all(
    domains.map(async ({ id }) => (await send("GET", `/domains/${id}/records?page_size=500`)).body),
  );
  return [lists, records];
}
