import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Admission } from "../../src/api/index.ts";
import { closedPort, error, failureOf, html, json, open, serve, TOKEN } from "./scripted.ts";

const GET = { method: "GET", path: ["domains", "1"] } as const;
const POST = { method: "POST", path: ["domains"], body: { domain: "example.com" } } as const;

describe("a request", () => {
  it("carries the token, JSON and an ASCII filter to the path below the base URL", async () => {
    const server = await serve((_request, response) => json(response, 200, { id: 1 }));
    const { api, events } = await open(`${server.baseUrl}/`);
    const filter = { label: "Zürich \u007f 𝄞" };
    const answer = await api.send({
      method: "PUT",
      path: ["images", "private/1"],
      query: { a: "b c" },
      filter,
      body: { x: "ü" },
    });
    expect(answer).toEqual({ ok: true, body: { id: 1 } });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "PUT", url: "/v4/images/private%2F1?a=b+c", body: '{"x":"ü"}' });
    expect(request?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(request?.headers["content-type"]).toBe("application/json");
    expect(request?.headers["x-filter"]).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(String(request?.headers["x-filter"]))).toEqual(filter);
    expect(api.requestCount).toBe(1);
    expect(JSON.stringify(events)).not.toContain(TOKEN);
  });

  it("without a token is sent without a credential", async () => {
    const server = await serve((_request, response) => json(response, 200, {}));
    const { api } = await open(server.baseUrl, { token: "" });
    await api.send(GET);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("with a token that cannot be a header fails without showing it", async () => {
    const { api } = await open("http://127.0.0.1:9/v4", { token: "secret\nX-Injected: 1" });
    const failure = failureOf(await api.send(POST));
    expect(failure).toMatchObject({ effect: "none", attempts: 1 });
    expect(failure.message).toContain("the token holds characters");
    expect(JSON.stringify(failure)).not.toContain("secret");
  });

  it("never lets an id climb out of its place in the path", async () => {
    const server = await serve((_request, response) => json(response, 200, {}));
    const { api } = await open(server.baseUrl);
    for (const id of ["..", ".", ""]) {
      expect(failureOf(await api.send({ method: "GET", path: ["images", id] }))).toMatchObject({ attempts: 0 });
    }
    // Encoded it would stay in its place, unless something on the way decodes it.
    for (const id of ["../account?x#y", "private/../1", "private/1/clone", "1 ", "1\r\n", "%2e"]) {
      expect(failureOf(await api.send({ method: "GET", path: ["images", id] })).message).toMatch(/^an id holds/);
    }
    await api.send({ method: "GET", path: ["images", "private/15"] });
    expect(server.requests.map((request) => request.url)).toEqual(["/v4/images/private%2F15"]);
  });
});

describe("a right that cannot be asked for", () => {
  it("is thrown, and keeps no other request back", async () => {
    const server = await serve((_request, response) => json(response, 200, { id: 1 }));
    let isLost = true;
    const admit = async (): Promise<Admission> => {
      if (isLost) throw new Error("nobody knows");
      return { lasts: () => true };
    };
    const { api } = await open(server.baseUrl, { concurrency: 1, admit });
    await expect(api.send(POST)).rejects.toThrow("nobody knows");
    expect((await api.send(GET)).ok).toBe(true);
    isLost = false;
    expect((await api.send(POST)).ok).toBe(true);
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });
});

describe("an admission that is over before the first byte is sent", () => {
  it("is asked for anew, and nothing is sent until one lasts; of a request that only reads nothing is asked", async () => {
    const server = await serve((_request, response) => json(response, 200, { id: 1 }));
    const asked: number[] = [];
    const admit = async (): Promise<Admission> => {
      asked.push(server.requests.length);
      const isGood = asked.length === 3;
      return { lasts: () => isGood };
    };
    const { api } = await open(server.baseUrl, { admit });
    expect((await api.send(GET)).ok).toBe(true);
    expect(asked).toEqual([]);
    expect((await api.send(POST)).ok).toBe(true);
    expect(asked).toEqual([1, 1, 1]);
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  it("has no effect, and ends as an interrupted request does when it is not given again", async () => {
    const server = await serve((_request, response) => json(response, 200, { id: 1 }));
    let asked = 0;
    const admit = async (): Promise<Admission | null> => {
      asked += 1;
      return asked === 1 ? { lasts: () => false } : null;
    };
    const { api } = await open(server.baseUrl, { admit });
    expect(failureOf(await api.send(POST))).toMatchObject({ type: "aborted", effect: "none" });
    expect(server.requests).toEqual([]);
  });
});

describe("a request that is confirmed", () => {
  const DELETE = { method: "DELETE", path: ["domains", "1"] } as const;

  it("is so after each wait of more than five seconds, and ends as it would without", async () => {
    const server = await serve((_request, response) => json(response, 503, { errors: [{ reason: "Busy" }] }));
    const { api } = await open(server.baseUrl, { retryForSeconds: 600 });
    let asked = 0;
    const confirm = async () => {
      asked += 1;
      return { ok: true as const, seenMillisecondsAgo: 0 };
    };
    const failure = failureOf(await api.send({ ...DELETE, confirm }));
    const attempts = server.requests.length;
    expect(failure).toEqual({ ...failureOf(await api.send(DELETE)), attempts });
    expect(attempts).toBeGreaterThan(20);
    expect(asked).toBeGreaterThan(15);
  });

  it("is so at once if that was seen before, and is given up where each look is too old by its turn", async () => {
    const server = await serve((_request, response) => json(response, 200, {}));
    const { api, clock } = await open(server.baseUrl);
    let asked = 0;
    const confirm = async () => {
      asked += 1;
      await clock.sleep(6_000);
      return { ok: true as const, seenMillisecondsAgo: asked > 5 ? 4_000 : 6_000 };
    };
    expect((await api.send({ ...DELETE, confirm, seenMillisecondsAgo: 4_000 })).ok).toBe(true);
    expect([asked, server.requests.length]).toEqual([0, 1]);
    const failure = failureOf(await api.send({ ...DELETE, confirm, seenMillisecondsAgo: 6_000 }));
    expect(failure).toMatchObject({ type: "unavailable", effect: "none", attempts: 0 });
    expect(failure.message).toContain("more than 5 s to let the request through after a look at the object, 5 times");
    expect([asked, server.requests.length]).toEqual([5, 1]);
    // What counts is the age of what was seen, however long the service took to answer.
    expect((await api.send({ ...DELETE, confirm, seenMillisecondsAgo: 6_000 })).ok).toBe(true);
    expect([asked, server.requests.length]).toEqual([6, 2]);
  });

  it("is not sent again if it may not be, and nobody knows what an attempt without an answer has done", async () => {
    for (const [status, effect] of [
      [429, "none"],
      [502, "unknown"],
    ] as const) {
      const server = await serve((_request, response) => html(response, status, { "retry-after": "6" }));
      const { api } = await open(server.baseUrl);
      const why = failureOf(await api.send({ method: "GET", path: ["."] }));
      expect(failureOf(await api.send({ ...DELETE, confirm: async () => ({ ok: false, failure: why }) }))).toEqual({
        ...why,
        effect,
      });
      expect(server.requests.map(({ method }) => method).every((method) => method === "DELETE")).toBe(true);
    }
  });

  it("keeps its place, and what it is asked for gets a turn though only one request goes at a time", async () => {
    const server = await serve(({ method, number }, response) => {
      if (number === 1) json(response, 429, { errors: [{ reason: "Too many" }] }, { "retry-after": "6" });
      else json(response, 200, { method });
    });
    const { api } = await open(server.baseUrl, { concurrency: 1 });
    const confirm = async () => {
      const answer = await api.send(GET);
      return answer.ok ? { ok: true as const, seenMillisecondsAgo: 0 } : answer;
    };
    expect((await api.send({ ...DELETE, confirm })).ok).toBe(true);
    expect(server.requests.map(({ method }) => method)).toEqual(["DELETE", "GET", "DELETE"]);
  });
});

describe("a refusal", () => {
  it.each([400, 401, 403, 404, 405])("%i is final, keeps the service's words and had no effect", async (status) => {
    const server = await serve((_request, response) => error(response, status, "Because I say so.", "ttl_sec"));
    const { api } = await open(server.baseUrl);
    for (const request of [GET, POST]) {
      const failure = failureOf(await api.send(request));
      expect(failure).toMatchObject({ type: "refused", effect: "none", status, attempts: 1 });
      expect(failure.errors).toEqual([{ reason: "Because I say so.", field: "ttl_sec" }]);
      expect(failure.message).toMatch(
        status === 403 ? /ttl_sec: Because I say so; this needs the scope \S+$/ : /ttl_sec: Because I say so$/,
      );
    }
  });

  it("of a deletion because it is gone already is success", async () => {
    const server = await serve((_request, response) => error(response, 404, "Not found"));
    const { api } = await open(server.baseUrl);
    const gone = { ok: true, body: {}, alreadyGone: true };
    expect(await api.send({ method: "DELETE", path: ["domains", "1"] })).toEqual(gone);
  });

  it("of a deletion that was tried before, and may have been carried out then, is no word of others", async () => {
    const server = await serve((request, response) =>
      request.number === 1 ? error(response, 502, "Bad gateway") : error(response, 404, "Not found"),
    );
    const { api } = await open(server.baseUrl);
    expect(await api.send({ method: "DELETE", path: ["domains", "1"] })).toEqual({ ok: true, body: {} });
  });

  it("with an HTML page is no proof that a deleted object is gone", async () => {
    const server = await serve((_request, response) => html(response, 404));
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.send({ method: "DELETE", path: ["domains", "1"] }));
    expect(failure).toMatchObject({ type: "malformed", effect: "none", status: 404 });
    expect(failure.message).toContain("HTML page (404)");
  });

  it("that repeats the token or floods us with words is cleaned and cut", async () => {
    const reason = `${TOKEN} ${"x".repeat(5_000_000)}`;
    const server = await serve((_request, response) =>
      json(response, 400, { errors: Array.from({ length: 200 }, (_, i) => ({ reason: i === 0 ? reason : "more" })) }),
    );
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.send(POST));
    expect(failure.errors).toHaveLength(20);
    expect(JSON.stringify(failure)).not.toContain(TOKEN);
    expect(JSON.stringify(failure).length).toBeLessThan(5_000);
  });

  it("in another shape than API.md's is malformed", async () => {
    const server = await serve((_request, response) => json(response, 400, { errors: "nope" }));
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.send(POST))).toMatchObject({
      type: "malformed",
      effect: "none",
      status: 400,
      errors: [],
    });
  });
});

describe("an answer that is not JSON", () => {
  it("as an HTML page with 200 is not asked for again", async () => {
    const server = await serve((_request, response) => html(response, 200));
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.send(GET));
    expect(failure).toMatchObject({ type: "malformed", effect: "none", attempts: 1 });
    expect(failure.message).toContain("base URL is wrong");
    expect(failureOf(await api.send(POST))).toMatchObject({ type: "malformed", effect: "unknown", attempts: 1 });
  });

  it("as broken JSON is asked for three times, a POST once", async () => {
    const server = await serve((_request, response) => response.writeHead(200).end('{"id": 1'));
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.send(GET))).toMatchObject({ type: "malformed", attempts: 3, effect: "none" });
    expect(failureOf(await api.send(POST))).toMatchObject({ type: "malformed", attempts: 1, effect: "unknown" });
  });

  it("as a redirect is not followed", async () => {
    const other = await serve((_request, response) => json(response, 200, {}));
    const server = await serve((_request, response) => response.writeHead(302, { location: other.baseUrl }).end());
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.send(GET)).message).toContain("a redirect (302)");
    expect(other.requests).toEqual([]);
  });
});

describe("nobody there", () => {
  it("is retried for 30 seconds, a POST too, and says what was refused", async () => {
    // The proxy refuses: what counts is whose address it was to be.
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${await closedPort()}` };
    const { api, clock } = await open("https://api.example.com/v4", { environment });
    const failure = failureOf(await api.send(POST));
    expect(failure).toMatchObject({ type: "unreachable", effect: "none", status: null });
    expect(failure.message).toBe("api.example.com refuses connections (ECONNREFUSED)");
    expect(failure.nobodyListens).toBeUndefined();
    expect(clock.slept.reduce((a, b) => a + b)).toBe(30_000);
    expect(failure.attempts).toBe(clock.slept.length + 1);
  });

  it("beyond a proxy that never answers is said once connecting has taken too long, and nothing was sent", async () => {
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => void sockets.add(socket.on("error", () => {}))).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    const options = { environment, timeouts: { connect: 300 }, retryForSeconds: 0 };
    const { api } = await open("https://api.example.com/v4", options);
    expect(failureOf(await api.send(POST))).toMatchObject({
      type: "unreachable",
      effect: "none",
      message: "the proxy does not connect to api.example.com: Proxy response missing: it took too long",
    });
  });

  it.each(["127.0.0.1", "localhost", "127.7.7.7"])("on this machine (%s) is told after 2 seconds", async (host) => {
    const port = await closedPort();
    const { api, clock } = await open(`http://${host}:${port}/v4`);
    const failure = failureOf(await api.send(POST));
    expect(failure).toMatchObject({ type: "unreachable", effect: "none", status: null, nobodyListens: true });
    expect(failure.message).toBe(`${host}:${port} refuses connections (ECONNREFUSED)`);
    expect(clock.slept.reduce((a, b) => a + b)).toBe(2_000);
  });

  it("on this machine is waited for as long as --retry-for says", async () => {
    const { api, clock } = await open(`http://127.0.0.1:${await closedPort()}/v4`, { retryForSeconds: 60 });
    expect(failureOf(await api.send(GET))).toMatchObject({ nobodyListens: true });
    expect(clock.slept.reduce((a, b) => a + b)).toBe(60_000);
  });

  it("any more, once the service on this machine has answered, is retried for 5 minutes", async () => {
    const server = await serve((_request, response) => json(response, 200, {}));
    const { api, clock } = await open(server.baseUrl);
    await api.send(GET);
    await server.stop();
    expect(failureOf(await api.send(GET))).toMatchObject({ nobodyListens: true });
    expect(clock.slept.reduce((a, b) => a + b)).toBe(300_000);
  });

  it("is not retried with --retry-for 0", async () => {
    const { api } = await open(`http://127.0.0.1:${await closedPort()}/v4`, { retryForSeconds: 0 });
    expect(failureOf(await api.send(GET))).toMatchObject({ attempts: 1 });
  });

  it("names a host that has no address", async () => {
    const { api } = await open("https://no-such-host.invalid/v4", { retryForSeconds: 0 });
    const failure = failureOf(await api.send(POST));
    expect(failure).toMatchObject({ type: "unreachable", effect: "none" });
    expect(failure.message).toMatch(/^the name no-such-host\.invalid cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)$/);
  });
});

describe("a long answer", () => {
  const LONG = { id: 1, text: "x".repeat(2_000) };
  const list = Array.from({ length: 200 }, () => LONG);

  it("is parsed apart from others that came with it, so that the process hears signals in between", async () => {
    const body = Buffer.from(JSON.stringify({ list }));
    const held: (() => void)[] = [];
    const server = await serve((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      response.write(body.subarray(0, -1), () => {
        held.push(() => response.end(body.subarray(-1)));
        // What came before is read meanwhile, so that all last bytes come in one turn.
        if (held.length === 8) setTimeout(() => held.map((end) => end()), 100);
      });
    });
    const { api } = await open(server.baseUrl);
    const order: string[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        expect(await api.send(GET)).toMatchObject({ ok: true });
        order.push("parsed");
        setImmediate(() => order.push("turn"));
      }),
    );
    // An answer may come to its caller one turn later than it was parsed.
    expect(order.filter((one) => one === "turn").length).toBeGreaterThanOrEqual(5);
  });

  it("is not parsed if it was to be read and is not wanted any more, and is if it tells what was written", async () => {
    const server = await serve((_request, response) => json(response, 200, { list }));
    const results = [GET, POST].map(async (request) => {
      const controller = new AbortController();
      const { api } = await open(server.baseUrl, {
        observe: ({ type }) => {
          if (type === "answered") controller.abort();
        },
      });
      return api.send(request, controller.signal);
    });
    const [read, written] = await Promise.all(results);
    expect(read).toMatchObject({ ok: false, failure: { type: "aborted", effect: "none" } });
    expect(written).toMatchObject({ ok: true, body: { list } });
  });
});
