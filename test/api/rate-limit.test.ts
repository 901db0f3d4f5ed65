import { describe, expect, it } from "vitest";
import { createLimiter } from "../../src/api/limiter.ts";
import { endpointOf } from "../../src/api/rate-limit.ts";
import { growth, itemsWalkedEach } from "../support/operations.ts";
import { html, JumpingClock, json, open, serve } from "./scripted.ts";
import { LIMIT, WINDOW_MILLISECONDS, Window } from "./window.ts";

const creates = Array.from({ length: 1_000 }, (_, index) => ({
  method: "POST" as const,
  path: ["domains", "12", "records"],
  body: { type: "A", name: `n${index}` },
}));

it("a clock that is set back while a request waits makes the wait no longer", async () => {
  let begun = 0;
  const server = await serve((_request, response) => {
    begun += 1;
    if (begun > 2) json(response, 200, { id: 1 });
    else json(response, 429, { errors: [{ reason: "Too many requests" }] }, { "retry-after": "2" });
  });
  const jumping = new JumpingClock();
  let back = 0;
  const clock = {
    now: () => jumping.now() - back,
    sleep: (milliseconds: number, signal?: AbortSignal) => {
      back += 3_600_000;
      return jumping.sleep(milliseconds, signal);
    },
  };
  const { api } = await open(server.baseUrl, { clock });
  const start = jumping.now();
  expect((await api.get({ path: ["domains"] })).ok).toBe(true);
  expect(jumping.now() - start).toBeLessThan(10_000);
});

it("requests that one signal ends while they wait are let go in a time that is linear in them", async () => {
  const options = { clock: new JumpingClock(), concurrency: 1, random: () => 1, reportThrottled: () => {} };
  const work = async (count: number): Promise<void> => {
    const limiter = createLimiter(options);
    const first = await limiter.acquire("GET /domains", null, undefined);
    const stop = new AbortController();
    const waiting = Array.from({ length: count }, () => limiter.acquire("GET /domains", null, stop.signal));
    const last = limiter.acquire("GET /domains", null, undefined);
    stop.abort();
    expect((await Promise.all(waiting)).every((permit) => permit === null)).toBe(true);
    // Whoever still waits is not forgotten.
    first?.release(null);
    expect(await last).not.toBeNull();
  };
  expect(await growth(100, 4, work, itemsWalkedEach)).toBeLessThan(5);
});

it("a clock that is set back makes no wait longer: neither one that begins afterwards, nor one whose timer is replaced", async () => {
  const jumping = new JumpingClock();
  let back = 0;
  const clock = {
    now: () => jumping.now() - back,
    sleep: (milliseconds: number, signal?: AbortSignal) => jumping.sleep(milliseconds, signal),
  };
  const limiter = createLimiter({ clock, concurrency: 8, random: () => 1, reportThrottled: () => {} });
  const refuse = async (endpoint: string, seconds: string): Promise<void> => {
    const permit = await limiter.acquire(endpoint, null, undefined);
    permit?.release({ status: 429, headers: { "retry-after": seconds } });
  };
  const begun = jumping.now();
  await refuse("GET /domains", "5");
  back += 3_600_000;
  const domains = limiter.acquire("GET /domains", null, undefined);
  back += 3_600_000;
  await refuse("GET /vpcs", "2");
  const vpcs = limiter.acquire("GET /vpcs", null, undefined);
  expect(await Promise.all([domains, vpcs])).not.toContain(null);
  expect(jumping.now() - begun).toBeLessThan(10_000);
});

describe("1,000 creates against 100 in 10 seconds", () => {
  it.each([
    ["up", Math.ceil],
    ["down", Math.floor],
    ["to the nearest", Math.round],
  ])(
    "over HTTP, with a reset rounded %s, meet few 429s and take little more than the least time",
    async (_name, round) => {
      const window = new Window(round);
      const clock = new JumpingClock();
      const server = await serve((_request, response) => {
        const { status, headers } = window.take(clock.now());
        json(response, status, status === 200 ? { id: 1 } : { errors: [{ reason: "Too many requests" }] }, headers);
      });
      const { api } = await open(server.baseUrl, { clock });
      const begin = clock.now();
      const answers = await Promise.all(creates.map((create) => api.send(create)));
      expect(answers.every((answer) => answer.ok)).toBe(true);
      expect(window.served).toBe(1_000);
      expect(window.refused).toBeLessThanOrEqual(10);
      const least = 9 * WINDOW_MILLISECONDS;
      expect(clock.now() - begin).toBeLessThanOrEqual(least * 1.1);
      expect(api.limits()).toMatchObject([{ endpoint: "POST /domains/*/records", limit: LIMIT, remaining: 0 }]);
    },
  );

  it("with latency, and answers that overtake each other, stay as close", async () => {
    const window = new Window(Math.ceil);
    const clock = new JumpingClock("immediate");
    const limiter = createLimiter({ concurrency: 8, clock, random: () => 0.5, reportThrottled: () => {} });
    let seed = 7;
    const latency = (): number => {
      seed = (seed * 16_807) % 2_147_483_647;
      return 10 + (seed % 80);
    };
    const begin = clock.now();
    const create = async (): Promise<void> => {
      for (let place: number | null = null, status = 0; status !== 200; ) {
        const pass = await limiter.acquire("POST /domains", place, undefined);
        if (pass === null) throw new Error("not aborted");
        place = pass.place;
        await clock.sleep(latency());
        const taken = window.take(clock.now());
        await clock.sleep(latency());
        pass.release(taken);
        status = taken.status;
      }
    };
    await Promise.all(creates.map(create));
    expect(window.served).toBe(1_000);
    expect(window.refused).toBeLessThanOrEqual(10);
    expect(clock.now() - begin).toBeLessThanOrEqual(9 * WINDOW_MILLISECONDS * 1.1 + 2_000);
  });
});

describe("the limiter", () => {
  it("has no more requests in flight than allowed, and lets them go in order", async () => {
    let [inFlight, most] = [0, 0];
    const order: string[] = [];
    const server = await serve((request, response) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      order.push(request.url);
      setTimeout(() => {
        inFlight -= 1;
        json(response, 200, {});
      }, 5);
    });
    const { api } = await open(server.baseUrl, { concurrency: 3 });
    const ids = Array.from({ length: 30 }, (_, index) => String(index + 1));
    await Promise.all(ids.map((id) => api.send({ method: "GET", path: ["domains", id] })));
    expect(most).toBe(3);
    const sorted = [...order].sort((a, b) => Number(a.split("/").at(-1)) - Number(b.split("/").at(-1)));
    for (const [index, url] of order.entries()) expect(Math.abs(sorted.indexOf(url) - index)).toBeLessThan(3);
  });

  it("keeps back only the endpoint that is used up, and tells how long", async () => {
    const server = await serve((request, response) => {
      const used = request.method === "POST" ? { "x-ratelimit-remaining": "0", "retry-after": "30" } : {};
      json(response, 200, {}, used);
    });
    const { api, clock, events } = await open(server.baseUrl, { concurrency: 1 });
    const begin = clock.now();
    const post = { method: "POST" as const, path: ["domains"], body: {} };
    await api.send(post);
    const second = api.send(post).then(() => clock.now() - begin);
    await api.send({ method: "GET", path: ["domains", "1"] });
    expect(await second).toBe(30_000);
    // By their order, because the clock jumps whenever the machine is slow.
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "GET", "POST"]);
    const throttled = events.filter((event) => event.type === "throttled");
    expect(throttled).toEqual([{ type: "throttled", endpoint: "POST /domains", waitSeconds: 30, because: "used-up" }]);
  });

  it("sends a single request after a 429 without headers, before the others follow", async () => {
    const server = await serve((request, response) => {
      if (request.number <= 10) return html(response, 429);
      json(response, 200, {});
    });
    const { api } = await open(server.baseUrl);
    const gets = Array.from({ length: 50 }, () => api.send({ method: "GET", path: ["domains", "1"] }));
    const answers = await Promise.all(gets);
    expect(answers.every((answer) => answer.ok)).toBe(true);
    // 8 went out before anyone knew, then one at a time.
    expect(api.requestCount).toBe(60);
  });

  it("lets a refused request keep its place in the queue", async () => {
    const server = await serve((request, response) => {
      if (request.number === 1) return html(response, 429);
      json(response, 200, {});
    });
    const { api } = await open(server.baseUrl, { concurrency: 1 });
    await Promise.all(["1", "2", "3"].map((id) => api.send({ method: "GET", path: ["domains", id] })));
    expect(server.requests.map((request) => request.url.at(-1))).toEqual(["1", "1", "2", "3"]);
  });

  it("is not held up for long by headers that make no sense", async () => {
    const server = await serve((_request, response) =>
      json(
        response,
        200,
        {},
        { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "999999999999", "retry-after": "999999999" },
      ),
    );
    const { api, clock } = await open(server.baseUrl);
    const begin = clock.now();
    await api.send({ method: "GET", path: ["vpcs"] });
    await api.send({ method: "GET", path: ["vpcs"] });
    expect(clock.now() - begin).toBeLessThanOrEqual(3_600_000);
  });

  it("uses the service's own clock when only the time of the reset is told", async () => {
    const server = await serve((_request, response) =>
      json(
        response,
        200,
        {},
        {
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "1000000020",
          date: new Date(1_000_000_000_000).toUTCString(),
        },
      ),
    );
    const { api, clock } = await open(server.baseUrl);
    const begin = clock.now();
    await api.send({ method: "GET", path: ["vpcs"] });
    await api.send({ method: "GET", path: ["vpcs"] });
    expect(clock.now() - begin).toBe(20_000);
  });

  it("forgets who is interrupted while waiting for a turn", async () => {
    const server = await serve((_request, response) =>
      json(response, 200, {}, { "x-ratelimit-remaining": "0", "retry-after": "600" }),
    );
    const controller = new AbortController();
    const { api } = await open(server.baseUrl, {
      clock: { now: () => 0, sleep: () => new Promise(() => {}) },
    });
    await api.send({ method: "POST", path: ["vpcs"], body: {} });
    const waiting = api.send({ method: "POST", path: ["vpcs"], body: {} }, controller.signal);
    controller.abort();
    expect(await waiting).toMatchObject({ failure: { type: "aborted", effect: "none", attempts: 0 } });
    expect(server.requests).toHaveLength(1);
  });
});

describe("an endpoint", () => {
  it.each([
    ["GET", ["domains"], "GET /domains"],
    ["PUT", ["domains", "12", "records", "7"], "PUT /domains/*/records/*"],
    ["POST", ["images", "upload"], "POST /images/upload"],
    ["GET", ["images", "private/12"], "GET /images/*"],
    ["GET", ["vpcs", "ips"], "GET /vpcs/ips"],
  ] as const)("%s %j is counted as %s", (method, path, endpoint) => {
    expect(endpointOf(method, path)).toBe(endpoint);
  });
});
