import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { type Fault, failing, oddService, refusal, respond } from "./odd-service.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "./run.ts";

const LISTS = { page: 1, pages: 1, results: 1 };

function json(value: unknown): Fault {
  return { status: 200, body: JSON.stringify(value) };
}

const NOT_THE_API = "Check the base URL: what answered does not speak this API.";

describe("an answer that is not the API's", () => {
  it.each<[string, Fault, string[]]>([
    [
      "an HTML page",
      { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Log in</h1>" },
      ["an HTML page (200)", "the base URL is wrong"],
    ],
    [
      "an HTML page of a 404",
      { status: 404, headers: { "content-type": "text/html" }, body: "<h1>Nope</h1>" },
      ["HTML page (404)"],
    ],
    [
      "a redirect",
      { status: 302, headers: { location: "http://127.0.0.1:9/" } },
      ["a redirect (302)", "redirects are not followed"],
    ],
    ["an empty answer", { status: 200 }, ["an empty answer (200)", NOT_THE_API]],
    ["half an answer", { status: 200, body: '{"data":[' }, ["not the JSON expected", NOT_THE_API]],
    ["null", json(null), [NOT_THE_API]],
    ["a list without its pages", json([]), [NOT_THE_API]],
    ["another object", json({ hello: "world" }), [NOT_THE_API]],
    ["data that is no list", json({ ...LISTS, data: {} }), [NOT_THE_API]],
    ["a list of nothing", json({ ...LISTS, data: [null] }), [NOT_THE_API]],
    ["items without an id", json({ ...LISTS, data: [{ domain: "example.com", label: "prod" }] }), [NOT_THE_API]],
    [
      "items of the wrong types",
      json({ ...LISTS, data: [{ id: {}, domain: 7, label: [], tags: 1, subnets: 1 }] }),
      [NOT_THE_API],
    ],
    ["pages that are no number", json({ page: 1, pages: "many", results: 1, data: [] }), [NOT_THE_API]],
    ["pages without an end", json({ page: 1, pages: 1e12, results: 1e14, data: [] }), [NOT_THE_API]],
    ["errors of another shape", { status: 400, body: '{"errors":"no"}' }, [NOT_THE_API]],
    ["a 404 in the API's words", refusal(404, "Not found"), ["Not found", "it has to end with the version"]],
  ])("is an error that says so: %s", async (_, fault, fragments) => {
    const service = await oddService((_, response) => respond(response, fault));
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const result = await run(["apply", "--yes", "--retry-for", "1s"], { cwd, env: envOf(service) });
    expectPlain(result, 1, [/^error: cannot read the list of /m, ...fragments]);
    expect(service.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  });

  it("and does not end, or is huge, is given up", async () => {
    const service = await oddService((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"data":["');
      const chunk = "x".repeat(1 << 20);
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once("drain", pour);
      };
      pour();
    });
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const result = await run(["plan", "--retry-for", "1s"], { cwd, env: envOf(service) });
    expectPlain(result, 1, ["larger than Tenon reads", "report the error: the limit is Tenon's own."]);
    expect(result.stderr).not.toContain(NOT_THE_API);
  });
});

/** @returns a fault for the first of each kind of request, and none for those that follow it */
function onceEach(kindOf: (request: string) => string | null, fault: Fault): (request: string) => Fault | null {
  const seen = new Set<string>();
  return (request) => {
    const kind = kindOf(request);
    if (kind === null || seen.has(kind)) return null;
    seen.add(kind);
    return fault;
  };
}

/** A write whose outcome is unknown is looked for, which takes its time: one of them will do. */
function methodOf(request: string): string {
  return request.split(" ", 1)[0] ?? "";
}

const BUSY = refusal(400, "Linode busy.");
const THROTTLED = refusal(429, "Too many requests", { "retry-after": "1" });
const HTML = { "content-type": "text/html" };

describe("a service that fails for a while", () => {
  it.each<[string, (request: string) => Fault | null]>([
    ["429 with an order to wait", onceEach(methodOf, THROTTLED)],
    ["429 as a load balancer says it", onceEach(() => "all", { status: 429, headers: HTML, body: "<h1>429</h1>" })],
    ["500 at first", onceEach(methodOf, refusal(500, "Internal server error"))],
    ["502 as a page", onceEach(methodOf, { status: 502, headers: HTML, body: "<h1>Bad gateway</h1>" })],
    ["400 busy, at each write", onceEach((request) => (request.startsWith("GET") ? null : request), BUSY)],
  ])("is asked again, and all is done once: %s", async (_, fault) => {
    const behind = await emulator();
    const service = await failing(behind, fault);
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    const { code, stdout } = await run(["apply", "--yes", "--concurrency", "2", "--retry-for", "20s"], options);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Resources: 5 added, ") });
    expect(service.requests.length).toBeGreaterThan(behind.requests.length);
    expect(behind.requests.filter(({ method }) => method === "POST")).toHaveLength(4);
    expect((await run(["plan", "--detailed-exitcode"], { ...options, env: envOf(behind) })).code).toBe(0);
  });
});

describe("a service that fails for ever", () => {
  it.each<[string, Fault, string[]]>([
    ["429", refusal(429, "Too many requests"), ["refuses further requests for now (429)", "Too many requests"]],
    ["429 for over an hour", refusal(429, "Too many requests", { "retry-after": "3601" }), ["(429)"]],
    ["500", refusal(500, "Internal server error"), ["the service failed (500)", "Internal server error"]],
    ["503 in maintenance", refusal(503, "Down", { "x-maintenance-mode": "all" }), ["in maintenance (503)"]],
  ])("is given up when the time for it is over: %s", async (_, fault, fragments) => {
    const service = await oddService((_, response) => respond(response, fault));
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const result = await run(["apply", "--yes", "--retry-for", "1s"], { cwd, env: envOf(service) });
    expectPlain(result, 1, [/^error: cannot read the list of /m, ...fragments]);
    expect(service.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  });

  it("at every write leaves a report with its words, and exits with 6", async () => {
    const behind = await emulator();
    const service = await failing(behind, (request) =>
      request.startsWith("GET ") ? null : refusal(500, "Internal server error"),
    );
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const result = await run(["apply", "--yes", "--retry-for", "1s"], { cwd, env: envOf(service) });
    expect(result.code).toBe(6);
    expect(result.stdout).toContain("Internal server error");
    expect(result.stdout).toMatch(/^Apply incomplete: /m);
    expect(result.stdout + result.stderr).not.toMatch(/\n\s+at /);
  });
});
