/** The small server of what runs on this machine: bugs, limits, and the text format of metrics. */

import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type HttpOptions, metricsText, serveHttp } from "../../src/watch/index.ts";

async function served(options: Omit<HttpOptions, "host" | "port">): Promise<string> {
  const server = await serveHttp({ host: "127.0.0.1", port: 0, ...options });
  onTestFinished(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

/** The status of a health check; 0: nobody answers. */
function health(base: string): Promise<number> {
  return fetch(`${base}/healthz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ status }) => status,
    () => 0,
  );
}

/** The answer with its head alone: the connection stays open until the server closes it. */
function opened(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, resolve).on("error", reject);
  });
}

test("an answer that throws is status 500 and reported, before and after its head, and the server goes on", async () => {
  const bugs: string[] = [];
  const base = await served({
    answer: (path) => {
      if (path === "/healthz") return { status: 200, text: "ok\n" };
      const bug = (): never => {
        throw new Error(`bug of ${path}`);
      };
      return path === "/stream" ? { type: "text/event-stream", begin: bug } : bug();
    },
    reportBug: (error) => bugs.push(error instanceof Error ? error.message : ""),
  });
  const broken = await fetch(`${base}/page`);
  expect([broken.status, await broken.text()]).toEqual([500, "internal error\n"]);
  await expect(fetch(`${base}/stream`).then((answer) => answer.text())).rejects.toThrow();
  expect(bugs).toEqual(["bug of /page", "bug of /stream"]);
  expect(await (await fetch(`${base}/healthz`)).text()).toBe("ok\n");
});

test("pages that stay open leave room for a health check, and one more than fit is refused until another ends", async () => {
  const base = await served({
    answer: (path) =>
      path === "/events"
        ? { type: "text/event-stream", begin: (response) => void response.write(": alive\n\n") }
        : { status: 200, text: "ok\n" },
  });
  const pages = await Promise.all(Array.from({ length: 40 }, () => opened(`${base}/events`)));
  const statuses = pages.map(({ statusCode }) => statusCode);
  expect([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 503).length]).toEqual([32, 8]);
  expect(await (await fetch(`${base}/healthz`)).text()).toBe("ok\n");
  pages.find(({ statusCode }) => statusCode === 200)?.destroy();
  await expect.poll(async () => (await opened(`${base}/events`)).statusCode).toBe(200);
});

test("connections that ask for nothing keep nobody away for long", async () => {
  const base = await served({ answer: () => ({ status: 200, text: "ok\n" }) });
  const { port } = new URL(base);
  for (let count = 0; count < 64; count += 1) {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write("GET /healthz HTTP/1.1\r\nhost:"));
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
  }
  await expect.poll(() => health(base), { timeout: 5_000 }).toBe(0);
  // Ten seconds, and one until the server looks.
  await expect.poll(() => health(base), { timeout: 60_000 }).toBe(200);
});

test("clients that do not take their answer keep nobody away for long", async () => {
  const page = Buffer.alloc(32 * 1024 * 1024, "a");
  const answer = (path: string) => ({ status: 200, text: path === "/" ? page : "ok\n" });
  const base = await served({ answer, takeMilliseconds: 3_000 });
  const pages = await Promise.all(Array.from({ length: 64 }, () => opened(base)));
  onTestFinished(() => pages.forEach((one) => void one.destroy()));
  await expect.poll(() => health(base), { timeout: 30_000 }).toBe(200);
  // On a busy machine one that takes it at once may be late, too.
  const whole = async () => (await (await fetch(base)).text()).length;
  await expect.poll(whole, { timeout: 30_000 }).toBe(page.length);
});

test("a request with a longer head than anything needs is refused", async () => {
  const base = await served({ answer: () => ({ status: 200, text: "ok\n" }) });
  expect((await fetch(base, { headers: { "x-long": "x".repeat(7_000) } })).status).toBe(200);
  expect((await fetch(base, { headers: { "x-long": "x".repeat(9_000) } })).status).toBe(431);
});

test("values of labels keep to their line, whatever is in them; a metric without samples is left out", () => {
  const text = metricsText([
    { name: "jobs", type: "gauge", help: "Jobs.", samples: [[{ worker: 'a"b\\c\nd', state: "x" }, 2]] },
    { name: "none", type: "counter", help: "None.", samples: [] },
    { name: "all", type: "counter", help: "All.", samples: [[{}, 0.5]] },
  ]);
  expect(text).toBe(
    [
      "# HELP jobs Jobs.\n# TYPE jobs gauge\n",
      'jobs{worker="a\\"b\\\\c\\nd",state="x"} 2\n',
      "# HELP all All.\n# TYPE all counter\nall 0.5\n",
    ].join(""),
  );
  const hostile = [[{ worker: "a\u001b[2J\u202eb" }, 1]] as const;
  const [, , shown] = metricsText([{ name: "jobs", type: "gauge", help: "Jobs.", samples: hostile }]).split("\n");
  expect(shown).toBe('jobs{worker="a\\\\u001b[2J\\\\u202eb"} 1');
});
