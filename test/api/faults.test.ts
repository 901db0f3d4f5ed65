import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Method } from "../../src/model/api.ts";
import { error, failureOf, html, JumpingClock, json, open, type Script, serve } from "./scripted.ts";

const request = (method: Method) =>
  method === "POST" ? { method, path: ["domains"], body: { domain: "a.example" } } : { method, path: ["domains", "1"] };

/** What the first request meets; the others are answered. */
const SLOW_FAULTS: Record<string, Script> = {
  "an answer that never begins": () => {},
  "an answer that stops in the middle": (_request, response) => {
    response.writeHead(200, { "content-length": "100" }).write('{"id":');
  },
  "an answer that drips for ever": (_request, response) => {
    response.writeHead(200, { "content-length": "100000" });
    const drip = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(drip));
  },
};

const FAULTS: Record<string, Script> = {
  ...SLOW_FAULTS,
  "a reset before any answer": (_request, _response, socket) => socket.resetAndDestroy(),
  "a connection closed without an answer": (_request, _response, socket) => socket.destroy(),
  "half a body": (_request, response, socket) => {
    response.writeHead(200, { "content-length": "100" }).write('{"id":');
    setTimeout(() => socket.destroy(), 20);
  },
  "half a chunked body": (_request, response, socket) => {
    response.writeHead(200, { connection: "close" }).write('{"id":');
    setTimeout(() => socket.destroy(), 20);
  },
  "status 408": (_request, response) => error(response, 408, "Request timeout"),
  "status 500": (_request, response) => error(response, 500, "Internal server error"),
  "status 502 with HTML": (_request, response) => html(response, 502),
  "status 503": (_request, response) => error(response, 503, "Service unavailable"),
};

const TIMEOUTS = { headers: 200, body: 200, total: 600 };

describe.each(Object.entries(FAULTS))("%s", (name, fault) => {
  const methods = name in SLOW_FAULTS ? (["PUT"] as const) : (["GET", "PUT", "DELETE"] as const);

  it.each(methods)("makes a %s be repeated", async (method) => {
    const server = await serve((received, response, socket) => {
      if (received.number === 1) return fault(received, response, socket);
      json(response, 200, { id: 1 });
    });
    const { api, events } = await open(server.baseUrl, { timeouts: TIMEOUTS });
    expect(await api.send(request(method))).toEqual({ ok: true, body: { id: 1 } });
    expect(server.requests).toHaveLength(2);
    expect(events.map((event) => event.type)).toEqual(["sent", "answered", "retrying", "sent", "answered"]);
  });

  it("leaves the outcome of a POST unknown, and does not repeat it", async () => {
    const server = await serve(fault);
    const { api } = await open(server.baseUrl, { timeouts: TIMEOUTS });
    const failure = failureOf(await api.send(request("POST")));
    expect(failure).toMatchObject({ effect: "unknown", attempts: 1 });
    expect(["unavailable", "unreachable", "malformed"]).toContain(failure.type);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a passing error that surely had no effect", () => {
  const harmless: Record<string, Script> = {
    "a busy object": (_request, response) => error(response, 400, "Node busy."),
    "too many requests": (_request, response) => error(response, 429, "Too many requests"),
    "too many requests, as HTML": (_request, response) => html(response, 429),
  };

  it.each(Object.entries(harmless))("%s makes a POST be repeated", async (_name, script) => {
    const server = await serve((received, response, socket) => {
      if (received.number < 4) return script(received, response, socket);
      json(response, 200, { id: 1 });
    });
    const { api } = await open(server.baseUrl);
    expect(await api.send(request("POST"))).toEqual({ ok: true, body: { id: 1 } });
    expect(server.requests).toHaveLength(4);
  });

  it.each(Object.entries(harmless))("%s that stays ends after five minutes", async (_name, script) => {
    const server = await serve(script);
    const { api, clock } = await open(server.baseUrl);
    const before = clock.now();
    const failure = failureOf(await api.send(request("POST")));
    expect(failure).toMatchObject({ type: "unavailable", effect: "none" });
    expect(clock.now() - before).toBeGreaterThan(200_000);
    expect(clock.now() - before).toBeLessThanOrEqual(300_000);
  });

  it("is told from a field that merely ends in the word", async () => {
    const server = await serve((_request, response) => error(response, 400, "Label must not be busybody", "label"));
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.send(request("POST")))).toMatchObject({ type: "refused", attempts: 1 });
  });
});

describe("waiting", () => {
  it("grows, and stops when --retry-for is used up", async () => {
    const server = await serve((_request, response) => error(response, 500, "Internal server error"));
    const { api, clock } = await open(server.baseUrl, { retryForSeconds: 10 });
    const failure = failureOf(await api.send(request("PUT")));
    expect(clock.slept).toEqual([500, 1000, 2000, 4000, 2500]);
    expect(failure).toMatchObject({ type: "unavailable", effect: "unknown", status: 500, attempts: 6 });
    expect(failure.message).toBe("the service failed (500): Internal server error");
  });

  it("counts what further attempts take, and not the first one", async () => {
    const clock = new JumpingClock();
    const server = await serve((_request, response) => {
      clock.pass(3_000);
      error(response, 500, "Internal server error");
    });
    const { api } = await open(server.baseUrl, { retryForSeconds: 10, clock });
    expect(failureOf(await api.send(request("PUT")))).toMatchObject({ attempts: 4 });
    expect(clock.slept).toEqual([500, 1000, 2000]);
  });

  it("honours Retry-After as seconds and as a date", async () => {
    const { clock: preview } = await open("http://127.0.0.1:9/v4");
    const date = new Date(preview.now() + 7_000 + 20_000).toUTCString();
    const server = await serve((received, response) => {
      if (received.number === 1) return json(response, 503, {}, { "retry-after": "7" });
      if (received.number === 2) return json(response, 503, {}, { "retry-after": date });
      json(response, 200, {});
    });
    const { api, clock } = await open(server.baseUrl);
    expect((await api.send(request("GET"))).ok).toBe(true);
    expect(clock.slept).toEqual([7_000, 20_000]);
  });

  it("does not take the time to the rate limit's reset for an order", async () => {
    const headers = { "retry-after": "119", "x-ratelimit-reset": "1790000119", "x-ratelimit-remaining": "5" };
    const server = await serve((received, response) => json(response, received.number === 1 ? 500 : 200, {}, headers));
    const { api, clock } = await open(server.baseUrl);
    expect((await api.send(request("GET"))).ok).toBe(true);
    expect(clock.slept).toEqual([500]);
  });

  it("for the rate limit costs nothing of the time for failures", async () => {
    // A 503, ten minutes in the queue of a used-up limit, and more 503s than two attempts could meet.
    const used = { "x-ratelimit-remaining": "0", "x-ratelimit-limit": "100", "retry-after": "600" };
    const server = await serve((received, response) => {
      const again = received.url.endsWith("/2");
      if (again) return json(response, 200, {}, { ...used, "x-ratelimit-reset": "1790000600" });
      json(response, received.number < 6 ? 503 : 200, {});
    });
    const { api, clock } = await open(server.baseUrl, { concurrency: 1 });
    const before = clock.now();
    const first = api.send(request("GET"));
    await api.send({ method: "GET", path: ["domains", "2"] });
    expect(await first).toEqual({ ok: true, body: {} });
    expect(clock.now() - before).toBeGreaterThan(600_000);
  });

  it.each(["GET", "POST"] as const)("as long as a 429 orders is done by a %s, and told", async (method) => {
    const server = await serve((received, response) => {
      if (received.number > 1) return json(response, 200, { id: 1 });
      json(response, 429, { errors: [{ reason: "Too many requests" }] }, { "retry-after": "900" });
    });
    const { api, clock, events } = await open(server.baseUrl, { retryForSeconds: 5 });
    const before = clock.now();
    expect(await api.send(request(method))).toEqual({ ok: true, body: { id: 1 } });
    expect(clock.now() - before).toBe(900_000);
    expect(events).toContainEqual(expect.objectContaining({ type: "throttled", waitSeconds: 900, because: "refused" }));
  });

  it("is refused to a 429 that orders more than an hour, and the limit is named", async () => {
    const server = await serve((_request, response) => html(response, 429, { "retry-after": "86400" }));
    const { api, clock } = await open(server.baseUrl);
    const failure = failureOf(await api.send(request("POST")));
    expect(failure).toMatchObject({ type: "unavailable", effect: "none", status: 429, attempts: 1 });
    expect(failure.message).toContain("; the service orders a wait of 86400 s; Tenon waits at most 3600 s");
    // Those behind it are not kept waiting for it either.
    expect(failureOf(await api.send(request("POST"))).attempts).toBe(1);
    expect(clock.slept.every((milliseconds) => milliseconds <= 1_000)).toBe(true);
  });

  it("on order after order ends after two hours", async () => {
    const server = await serve((_request, response) => html(response, 429, { "retry-after": "600" }));
    const { api, clock } = await open(server.baseUrl);
    const before = clock.now();
    expect(failureOf(await api.send(request("GET")))).toMatchObject({ status: 429, attempts: 13 });
    expect(clock.now() - before).toBe(2 * 3_600_000);
  });

  it.each([429, 503])(
    "on answers of %i that order no wait ends with the budget, and pauses between attempts",
    async (status) => {
      for (const after of ["0", "0.001", "Mon, 01 Jan 2024 00:00:00 GMT"]) {
        const server = await serve((_request, response) => html(response, status, { "retry-after": after }));
        const { api, clock } = await open(server.baseUrl, { retryForSeconds: 60 });
        const before = clock.now();
        const failure = failureOf(await api.send(request("GET")));
        expect(failure).toMatchObject({ type: "unavailable", status });
        expect(failure.attempts).toBeLessThan(20);
        expect(clock.now() - before).toBeLessThan(120_000);
      }
    },
  );

  it("through a maintenance says so, and gives up at once if that will take longer than the budget", async () => {
    const headers = { "x-maintenance-mode": "all" };
    const server = await serve((received, response) => {
      const wait = received.number === 1 ? "60" : "3600";
      json(response, 503, { errors: [{ reason: "Maintenance" }] }, { ...headers, "retry-after": wait });
    });
    const { api, clock, events } = await open(server.baseUrl);
    const failure = failureOf(await api.send(request("GET")));
    expect(failure).toMatchObject({ type: "unavailable", maintenance: true, attempts: 2 });
    expect(failure.message).toContain("in maintenance (503)");
    expect(clock.slept).toEqual([60_000]);
    expect(events).toContainEqual(expect.objectContaining({ type: "retrying", maintenance: true, waitSeconds: 60 }));
  });

  it("a refusal after an attempt that was lost leaves the effect unknown", async () => {
    const server = await serve((received, response, socket) => {
      if (received.number === 1) return void socket.destroy();
      error(response, 400, "No");
    });
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.send(request("PUT")))).toMatchObject({
      type: "refused",
      effect: "unknown",
      attempts: 2,
    });
  });
});

describe("an interruption", () => {
  it("before anything was sent has no effect", async () => {
    const server = await serve((_request, response) => json(response, 200, {}));
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.send(request("POST"), AbortSignal.abort()));
    expect(failure).toMatchObject({ type: "aborted", effect: "none", attempts: 0 });
    expect(server.requests).toEqual([]);
  });

  it("in flight ends at once, and a POST may have had an effect", async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort());
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.send(request("POST"), controller.signal))).toMatchObject({
      type: "aborted",
      effect: "unknown",
    });
  });

  it("while it waits for a retry ends the waiting", async () => {
    const controller = new AbortController();
    const server = await serve((_request, response) => error(response, 500, "Internal server error"));
    const { api } = await open(server.baseUrl, {
      observe: (event) => {
        if (event.type === "retrying") controller.abort();
      },
    });
    expect(failureOf(await api.send(request("GET"), controller.signal))).toMatchObject({
      type: "aborted",
      attempts: 1,
    });
  });
});

describe("a peer that does not speak HTTP", () => {
  it("is reported as such", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.on("data", () => socket.write("220 mail.example ESMTP\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { api } = await open(`http://127.0.0.1:${port}/v4`);
    const failure = failureOf(await api.send(request("GET")));
    const secure = await open(`https://127.0.0.1:${port}/v4`);
    const tls = failureOf(await secure.api.send(request("POST")));
    for (const socket of sockets) socket.destroy();
    server.close();
    expect(failure).toMatchObject({ type: "malformed", attempts: 3, effect: "none" });
    expect(failure.message).toMatch(/does not speak HTTP/);
    expect(tls).toMatchObject({ type: "unreachable", effect: "none", attempts: 1 });
    expect(tls.message).toMatch(/^no TLS connection to 127\.0\.0\.1:\d+ \(ERR_SSL_WRONG_VERSION_NUMBER\)$/);
  });
});
