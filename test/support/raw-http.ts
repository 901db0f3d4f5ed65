/** Bytes to a server as they are, and what comes back until the connection closes. */

import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import type { PlainAnswer } from "./emulator.ts";

const DEADLINE_MILLISECONDS = 10_000;

export interface Exchanged {
  /** Octets as characters. */
  readonly text: string;
  /** false: the deadline passed before. */
  readonly closed: boolean;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: PlainAnswer["body"];
}

/** @param write sends, at once or bit by bit */
export function exchange(
  port: number,
  write: Buffer | string | ((socket: Socket) => void),
  deadlineMilliseconds: number = DEADLINE_MILLISECONDS,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const end = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setTimeout(() => end(false), deadlineMilliseconds);
    socket.on("connect", () => (typeof write === "function" ? write(socket) : socket.write(write)));
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    // A reset is a closed connection too.
    socket.on("error", () => {});
    socket.on("close", () => end(true));
  });
}

/** Answers one after the other, as their content-length says. */
export function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.indexOf("\r\n\r\n");
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n");
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
    expect(status, `no answer: ${rest.slice(0, 200)}`).toBeDefined();
    if (status === "100") {
      rest = rest.slice(end + 4);
      continue;
    }
    const headers = new Map(
      lines.map((line) => [line.split(":")[0]?.toLowerCase() ?? "", line.replace(/^[^:]*: ?/, "")]),
    );
    const length = Number(headers.get("content-length") ?? 0);
    const body = Buffer.from(rest.slice(end + 4, end + 4 + length), "latin1").toString("utf8");
    answers.push({ status: Number(status), headers, body: body === "" ? null : JSON.parse(body) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

/** An error in the service's shape, with the headers that every answer carries. */
export function expectError({ status, headers, body }: RawAnswer, statuses: readonly number[]): void {
  expect(statuses).toContain(status);
  expect(Object.keys(body)).toEqual(["errors"]);
  expect(body.errors.length).toBeGreaterThan(0);
  for (const { reason } of body.errors) expect(reason).toMatch(/\S/);
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]) {
    expect([name, headers.get(name)]).toEqual([name, expect.stringMatching(/^\d+$/)]);
  }
}
