import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { Progress, sayBeside, WaitNotices } from "../../src/cli/progress.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import type { ApiEvent } from "../../src/index.ts";
import { envOf, folder, PROJECT, run } from "./run.ts";

function retrying(path: string, waitSeconds: number, reason = "host refuses connections"): ApiEvent {
  return {
    type: "retrying",
    method: "GET",
    path,
    attempt: 5,
    waitSeconds,
    reason,
    maintenance: false,
    waitsInLimiter: false,
  };
}

function answered(path: string, status: number | null): ApiEvent {
  return { type: "answered", method: "GET", path, status, milliseconds: 1 };
}

function told(events: readonly ApiEvent[], now: () => number = () => 0): string[] {
  const waiting = new WaitNotices(now);
  return events.flatMap((event) => waiting.report(event) ?? []);
}

describe("a wait", () => {
  it("is told once, however many requests wait for the same cause, and its end once", () => {
    const paths = ["/vpcs", "/domains", "/images"];
    expect(
      told([
        ...paths.map((path) => retrying(path, 1)),
        ...paths.map((path) => retrying(path, 7)),
        ...paths.map((path) => answered(path, null)),
        ...paths.map((path) => retrying(path, 14)),
        ...paths.map((path) => answered(path, 200)),
        answered("/domains", 200),
      ]),
    ).toEqual(["Waiting: host refuses connections; trying again.", "The service answers again."]);
  });

  it("for another cause is another line, and a short one none", () => {
    expect(told([retrying("/a", 7, "x"), retrying("/a", 7, "y\u001b"), retrying("/a", 4.9, "z")])).toEqual([
      "Waiting: x; trying again.",
      "Waiting: y\\u{1b}; trying again.",
    ]);
  });

  it("is not over because other requests are answered, or with an error of the same kind", () => {
    expect(told([retrying("/a", 7), answered("/b", 200), answered("/a", 503)])).toHaveLength(1);
    expect(told([retrying("/a", 7), answered("/b", 200), answered("/a", 404)])).toHaveLength(2);
  });

  it("that comes again is told again after a minute, not before", () => {
    let now = 0;
    const waiting = new WaitNotices(() => now);
    expect(waiting.report(retrying("/a", 7))).not.toBeNull();
    now = 59_999;
    expect(waiting.report(retrying("/a", 7))).toBeNull();
    now = 60_000;
    expect(waiting.report(retrying("/a", 7))).not.toBeNull();
  });

  it("for a rate limit names the limit and how long, not the requests that ran into it", () => {
    const throttled: ApiEvent = { type: "throttled", endpoint: "GET /domains", waitSeconds: 41.2, because: "refused" };
    const refused: ApiEvent = {
      ...(retrying("/domains", 41.2, "429") as ApiEvent & { type: "retrying" }),
      waitsInLimiter: true,
    };
    expect(told([answered("/domains", 429), refused, throttled])).toEqual([
      "Waiting 42 s: the rate limit of GET /domains is used up.",
    ]);
  });

  it("that a storage host orders is told, although it is under no limit of the service", () => {
    const line = "Waiting: the upload to h was answered with 429; trying again.";
    expect(
      told([answered("(upload)", 429), retrying("(upload)", 600, "the upload to h was answered with 429")]),
    ).toEqual([line]);
  });
});

/** A terminal that only records. */
function recorder(isTerminal: boolean): { terminal: Terminal; said: () => string } {
  let text = "";
  const look = { colour: false, width: 20, isTerminal };
  const say = (more: string): void => {
    text += more;
  };
  const terminal = { environment: {}, results: look, messages: look, canAsk: false, print: say, say } as unknown;
  return { terminal: terminal as Terminal, said: () => text };
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("progress", () => {
  it("on a terminal is one line within its width, which others do not write into, and which goes", async () => {
    const { terminal, said } = recorder(true);
    const progress = new Progress(terminal);
    progress.show("Reading: 1 of 4,000 lists");
    await pause(700);
    sayBeside(terminal, "note");
    await pause(300);
    progress.end();
    sayBeside(terminal, "after");
    const line = "Reading: 1 of 4,000";
    expect(said()).toBe(`\r\u001b[K${line}\r\u001b[Knote\n\r\u001b[K${line}\r\u001b[Kafter\n`);
  });

  it("is cut by columns, not by letters: a wide one would wrap, and could not be rewritten", async () => {
    const { terminal, said } = recorder(true);
    const progress = new Progress(terminal);
    progress.show(`${"域".repeat(9)}x${"域".repeat(9)}`);
    await pause(700);
    progress.end();
    // Twenty columns, the last of which stays free.
    expect(said()).toBe(`\r\u001b[K${"域".repeat(9)}x\r\u001b[K`);
  });

  it("without a terminal writes no escape sequence, and nothing at once", async () => {
    const { terminal, said } = recorder(false);
    const progress = new Progress(terminal);
    progress.show("Reading");
    await pause(500);
    sayBeside(terminal, "note");
    progress.end();
    expect(said()).toBe("note\n");
  });
});

it("a service that is away is one line, not one for each request", async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(503, { "content-type": "application/json", "retry-after": "5" });
    response.end('{"errors":[{"reason":"Away"}]}');
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v4`;
  const { stderr } = await run(["plan", "--retry-for", "7s"], { cwd, env: envOf({ baseUrl }) });
  expect(requests).toBeGreaterThan(3);
  expect(stderr.match(/^Waiting: .*$/gm)).toHaveLength(1);
  expect(stderr).toMatch(/^Waiting: .*Away.*; trying again\.$/m);
});
