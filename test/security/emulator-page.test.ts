import { request } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { serveHttp, serveWatch, WatchStatus } from "../../src/watch/index.ts";
import { emulator, ended, start } from "../cli/run.ts";

type Headers = Readonly<Record<string, string>>;

interface Got {
  readonly status: number;
  readonly text: string;
}

const TOKEN: Headers = { authorization: "Bearer emulator-token" };
const JSON_BODY: Headers = { "content-type": "application/json" };
const CONTROL: Headers = { "x-tenon-emulator": "yes" };

/** Any headers at all, Host among them, which `fetch` does not let a caller choose. */
function ask(port: number, method: string, path: string, headers: Headers, body = ""): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject).end(body);
  });
}

async function statuses(served: Emulator, headers: readonly Headers[]): Promise<number[]> {
  const found: number[] = [];
  for (const more of headers) found.push((await ask(served.port, "GET", "/v4/vpcs", { ...TOKEN, ...more })).status);
  return found;
}

test("the emulator answers no request for another host name, such as one of DNS rebinding", async () => {
  const served = await emulator();
  const { port } = served;
  const body = JSON.stringify({ label: "stolen", region: "us-east" });
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example:80"]) {
    for (const path of ["/v4/vpcs", "/_emulator/requests", "/nothing", "/v4/%zz", "/_upload/private/1?signature=x"]) {
      const { status, text } = await ask(port, "GET", path, { host, ...TOKEN, ...CONTROL });
      expect([host, path, status]).toEqual([host, path, 403]);
      expect(text).toContain("--host-name");
    }
    const made = await ask(port, "POST", "/v4/vpcs", { host, ...TOKEN, ...JSON_BODY }, body);
    expect([host, made.status]).toEqual([host, 403]);
  }
  for (const host of ["x@127.0.0.1", "127.0.0.1/x", "[::1", "127.0.0.1:80:80", "a b", "169.254.169.254"]) {
    expect([host, ...(await statuses(served, [{ host }]))]).toEqual([
      host,
      expect.toSatisfy((code) => code === 403 || code === 400),
    ]);
  }
  // Neither in the log, which the pages would fill, nor in the account.
  expect(served.requests.filter(({ status }) => status !== 400)).toEqual([]);
  const hosts = [
    "127.0.0.1",
    `127.0.0.1:${port}`,
    "localhost",
    `LOCALHOST:${port}`,
    "localhost.",
    "[::1]:9",
    "127.9.9.9",
  ];
  expect(
    await statuses(
      served,
      hosts.map((host) => ({ host })),
    ),
  ).toEqual(hosts.map(() => 200));
  expect(JSON.parse((await ask(port, "GET", "/v4/vpcs", TOKEN)).text)).toMatchObject({ results: 0 });
});

test("the emulator answers no page of another origin, whatever it calls itself", async () => {
  const served = await emulator();
  const { port } = served;
  const host = `127.0.0.1:${port}`;
  const foreign = [
    "https://evil.example",
    "null",
    "http://localhost:3000",
    `http://127.0.0.1:${port}.evil.example`,
    "file://",
  ];
  for (const origin of foreign) {
    const made = await ask(
      port,
      "POST",
      "/v4/vpcs",
      { origin, ...TOKEN, ...JSON_BODY },
      '{"label":"a","region":"us-east"}',
    );
    expect([origin, made.status]).toEqual([origin, 403]);
    expect([origin, (await ask(port, "GET", "/_emulator/requests", { origin, ...CONTROL })).status]).toEqual([
      origin,
      403,
    ]);
  }
  // What a page asks for without an Origin: pictures, scripts, links.
  for (const site of ["cross-site", "same-site"]) {
    expect((await ask(port, "GET", "/v4/images", { "sec-fetch-site": site })).status).toBe(403);
  }
  expect(served.requests).toEqual([]);
  const own = [
    { origin: `http://${host}`, host },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "same-origin" },
    {},
  ];
  expect(await statuses(served, own)).toEqual([200, 200, 200, 200]);
});

test("paths beside the API need a header that no form and no image can send", async () => {
  const { port } = await emulator({ now: () => 0 });
  const clock = (headers: Headers, path = "/_emulator/clock"): Promise<Got> =>
    ask(port, "POST", path, { ...JSON_BODY, ...headers }, '{"advance_seconds":60}');
  // With a percent sign in its spelling, too.
  const refused = [await clock({}), await clock({}, "/%5femulator/clock")];
  for (const path of ["/_emulator/requests", "/_emulator/events"]) refused.push(await ask(port, "GET", path, {}));
  for (const { status, text } of refused) {
    expect(status).toBe(403);
    expect(text).toContain("X-Tenon-Emulator");
  }
  expect(JSON.parse((await clock(CONTROL)).text)).toEqual({ now: "1970-01-01T00:01:00" });
});

test("the command line says which host names the emulator answers to, and on which address it listens", async () => {
  const child = start(["emulate", "--host", "0.0.0.0", "--host-name", "emulator", "--host-name", "api.test"]);
  const end = ended(child);
  const first = await new Promise<string>((resolve) => child.stdout.once("data", (text: string) => resolve(text)));
  const port = Number(/^listening on http:\/\/127\.0\.0\.1:(\d+)\/v4\n$/.exec(first)?.[1]);
  const hosts = ["emulator:8080", "API.test", `127.0.0.1:${port}`, "other", "emulator.example"];
  const found: number[] = [];
  for (const host of hosts) found.push((await ask(port, "GET", "/v4/vpcs", { host, ...TOKEN })).status);
  expect(found).toEqual([200, 200, 200, 403, 403]);
  child.kill("SIGTERM");
  expect(await end).toMatchObject({ code: 0, stderr: "" });
});

test("an emulator that listens elsewhere is called by the address that was reached, and names it for uploads", async () => {
  const served = await emulator({ host: "0.0.0.0", hostNames: ["emulator"] });
  const body = '{"label":"a","region":"us-east"}';
  for (const host of [`127.0.0.1:${served.port}`, "emulator:9090"]) {
    const { text } = await ask(served.port, "POST", "/v4/images/upload", { host, ...TOKEN, ...JSON_BODY }, body);
    expect(JSON.parse(text).upload_to).toMatch(`http://${host}/_upload/private/`);
  }
  expect(served.baseUrl).toBe(`http://127.0.0.1:${served.port}/v4`);
});

/** So many requests with long queries that a log of their number alone would hold fifty megabytes. */
const LONG_QUERIES = 1_500;
const QUERY_BYTES = 30_000;
const MAX_LOG_BYTES = 32 * 1024 ** 2;

test("the emulator's log is bounded in bytes, and a body that needs no token is small", async () => {
  const served = await emulator();
  const one = `GET /v4/x?${"q".repeat(QUERY_BYTES)} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  await new Promise<void>((resolve, reject) => {
    const socket = connect(served.port, "127.0.0.1");
    socket
      .resume()
      .on("error", reject)
      .on("close", () => resolve());
    const more = (left: number): void => {
      if (left === 0) socket.write("GET /v4/x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
      else if (socket.write(one.repeat(10))) setImmediate(more, left - 10);
      else socket.once("drain", () => more(left - 10));
    };
    more(LONG_QUERIES);
  });
  const kept = served.requests;
  expect(kept.reduce((sum, { path, query }) => sum + path.length + query.length, 0)).toBeLessThanOrEqual(MAX_LOG_BYTES);
  // The latest are there.
  expect(kept.length).toBeGreaterThan(1_000);
  expect(kept.at(-1)).toMatchObject({ path: "/v4/x", query: "", status: 404 });
  const large = JSON.stringify({ faults: ["x".repeat(100_000)] });
  expect((await ask(served.port, "POST", "/_emulator/faults", { ...JSON_BODY, ...CONTROL }, large)).status).toBe(413);
});

test("a watch that listens on this machine alone answers no request for another host name", async () => {
  const options = { status: new WatchStatus(), everyMilliseconds: 1000, version: "1", now: () => 0 };
  for (const [host, foreign] of [
    ...["127.0.0.1", "127.1", "0x7f.1", "2130706433", "::ffff:127.0.0.1", "localhost"].map(
      (name) => [name, 403] as const,
    ),
    ["0.0.0.0", 200],
  ] as const) {
    const served = await serveWatch({ ...options, host, port: 0 });
    const got = async (name: string) => (await ask(served.port, "GET", "/metrics", { host: name })).status;
    const own = [`127.0.0.1:${served.port}`, "localhost", "[::1]:9464"];
    for (const name of own) expect([host, name, await got(name)]).toEqual([host, name, 200]);
    for (const name of ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "evil.example:9464"])
      expect([host, name, await got(name)]).toEqual([host, name, foreign]);
    // Under the name that it was told to listen on, however unusual, it was meant.
    const named = `${host.includes(":") ? `[${host}]` : host}:${served.port}`;
    expect([named, await got(named)]).toEqual([named, 200]);
    await served.close();
  }
});

test("an image or a frame of another site gets no answer of a watch or a status page, and a link to it does", async () => {
  const server = await serveHttp({ host: "127.0.0.1", port: 0, answer: () => ({ status: 200, text: "ok\n" }) });
  onTestFinished(() => server.close());
  for (const [site, destination, status] of [
    ["cross-site", "image", 403],
    ["same-site", "empty", 403],
    ["cross-site", "iframe", 403],
    ["cross-site", "document", 200],
    ["same-origin", "empty", 200],
    ["none", "document", 200],
  ] as const) {
    const headers = { "sec-fetch-site": site, "sec-fetch-dest": destination };
    expect([site, destination, (await ask(server.port, "GET", "/events", headers)).status]).toEqual([
      site,
      destination,
      status,
    ]);
  }
});
