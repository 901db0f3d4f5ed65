import { writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { createApi } from "../../src/api/index.ts";
import { checkingShapes } from "../../src/api/shape.ts";
import { MAX_INFORMATIONAL_ANSWERS } from "../../src/api/undici.ts";
import { oddService } from "../cli/odd-service.ts";
import { envOf, expectPlain, folder, PROJECT, run } from "../cli/run.ts";

/** A process with so little memory dies of what is parsed before it is judged. */
const SMALL_HEAP = { NODE_OPTIONS: "--max-old-space-size=256" };
const ANSWER_BYTES = 60 * 1024 * 1024;
const PIECE_BYTES = 65_536;

test("an answer of sixty megabytes of brackets or of empty objects is refused while it comes", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  for (const [piece, words] of [
    ["[", "is nested more than 64 deep"],
    ["{},", "has more than 2,000,000 values"],
  ] as const) {
    const text = piece.repeat(PIECE_BYTES / piece.length);
    const start = piece === "[" ? "" : '{"page":1,"pages":1,"results":1,"data":[';
    const service = await oddService((_incoming, response) => {
      const pieces = Array.from({ length: ANSWER_BYTES / PIECE_BYTES }, () => text);
      // The reader leaves before the end.
      pipeline(Readable.from([start, ...pieces]), response).catch(() => {});
    });
    expectPlain(await run(["plan"], { cwd, env: { ...envOf(service), ...SMALL_HEAP } }), 1, [words]);
    // Asked once for each list: the same would only come again.
    expect(service.requests.length).toBeLessThan(4);
  }
});

test("brackets and commas within the texts of an answer, and in what is no JSON, are not counted", async () => {
  const target = `${"[".repeat(500)}"${"\\".repeat(501)}${",{".repeat(500)}`;
  const record = { id: 1, type: "TXT", name: "", target, ttl_sec: 0 };
  const service = await oddService((incoming, response) => {
    if (incoming.url?.includes("html")) response.writeHead(500).end(`<script>${"[".repeat(500)}</script>`);
    else response.end(JSON.stringify(record));
  });
  const api = await createApi({ baseUrl: service.baseUrl, token: "", retryForSeconds: 0 });
  onTestFinished(() => api.close());
  expect(await api.send({ method: "GET", path: ["domains"] })).toMatchObject({ ok: true, body: record });
  const page = await api.send({ method: "GET", path: ["html"] });
  expect(page).toMatchObject({ ok: false, failure: { type: "unavailable", status: 500 } });
});

/** A service with one domain. */
function zoneOf(domain: string, records: readonly object[]) {
  const tags = ["tenon:edge"];
  const zone = { id: 3, domain, type: "master", status: "active", tags, master_ips: [], axfr_ips: [] };
  return oddService((incoming, response) => {
    const { pathname: path, searchParams } = new URL(incoming.url ?? "", "http://localhost");
    const data: readonly object[] = path.endsWith("/records") ? records : path.endsWith("/domains") ? [zone] : [];
    const [page, size] = [Number(searchParams.get("page")), Number(searchParams.get("page_size"))];
    const pages = Math.max(1, Math.ceil(data.length / size));
    const part = data.slice((page - 1) * size, page * size);
    response.end(JSON.stringify({ data: part, page, pages, results: data.length }));
  });
}

test("an answer with thousands of records at one name that allow no other there is refused before a plan is made", async () => {
  const targets = Array.from({ length: 20 }, (_, index) => `192.0.2.${index}`);
  const cwd = await folder({
    "tenon.yaml": PROJECT.replace(
      "records:",
      `records:\n      - { type: A, name: x, targets: [${targets.join(", ")}] }`,
    ),
  });
  const lone = (type: string, target: string, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const name = index % 2 === 0 ? "x" : "X";
      return { id: index + 1, type, name, target: target === "" ? "" : `t${index}.${target}`, ttl_sec: 0 };
    });
  for (const records of [lone("CNAME", "example.net", 11), lone("MX", "", 11)]) {
    const service = await zoneOf("example.com", records);
    const ended = await run(["plan", "--allow", "bulk=*"], { cwd, env: envOf(service) });
    expectPlain(ended, 1, ["more than 10 records are at one name that allow no other there"]);
  }
  const few = await zoneOf("example.com", lone("CNAME", "example.net", 10));
  const { code, stdout } = await run(["plan", "--allow", "bulk=*"], { cwd, env: envOf(few) });
  expect([code, stdout]).toEqual([0, expect.stringContaining("10 to destroy")]);
});

test("an answer whose names are longer than a name, or have too many labels together, is refused before a plan is made", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const record = (id: number, name: string) => ({ id, type: "A", name, target: "192.0.2.1", ttl_sec: 0 });
  const deep = "a.".repeat(49);
  const short = Array.from({ length: 100 }, (_, index) => record(index, `${deep}${index}`));
  const long = `${"a.".repeat(200)}b`;
  for (const [records, domain, words] of [
    [[record(7, long)], "example.com", "(the object 7)"],
    [[], long, "has more than 255 characters"],
    [
      Array.from({ length: 20_000 }, (_, index) => record(index, `${deep}${index}`)),
      "example.com",
      "more than 800,000 labels",
    ],
    [short, "example.com", ""],
  ] as const) {
    const service = await zoneOf(domain, records);
    const ended = await run(["plan", "--allow", "bulk=*"], { cwd, env: envOf(service) });
    if (words !== "") expectPlain(ended, 1, [words]);
    else expect(ended.code).toBe(0);
  }
});

test("the labels of all lists that are read count together, and a list that is read again counts once", async () => {
  const name = `${"a.".repeat(50)}b`;
  const records = Array.from({ length: 9_000 }, (_, index) => ({
    id: index + 1,
    type: "A",
    name,
    target: "192.0.2.1",
    ttl_sec: 0,
  }));
  const list = async () => ({ ok: true, items: records }) as never;
  const api = checkingShapes({ requestCount: 0, get: list, list, limits: () => [], close: async () => {} });
  const read = async (id: string) => (await api.list({ path: ["domains", id, "records"] })).ok;
  // 450,000 of 1,600,000 each.
  for (const id of ["1", "1", "1", "1", "2", "3", "1"]) expect([id, await read(id)]).toEqual([id, true]);
  expect(await read("4")).toBe(false);
});

/** A service whose lists of `path` hold one object, and all others none. */
async function listing(path: string, object: object, more: Readonly<Record<string, unknown>> = {}) {
  return oddService((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? "", "http://localhost");
    const data = pathname === `/v4/${path}` ? [object] : [];
    response.end(JSON.stringify({ data, page: 1, pages: 1, results: data.length, ...more }));
  });
}

const SUBNET = { id: 5, label: "web", ipv4: "10.0.1.0/24", nodes: [] };
const VPC = { id: 3, label: "prod", region: "us-east", description: "", subnets: [] };

test("an answer with a text, a list or a page that is longer than the service keeps is refused before a plan is made", async () => {
  const cwd = await folder({
    "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east, subnets: [] }]\ndomains: []\n",
  });
  const zone = { id: 3, domain: "a.example", type: "master", status: "active", tags: [], master_ips: [], axfr_ips: [] };
  const long = "\u007f".repeat(65_537);
  for (const [path, object, words] of [
    ["vpcs", { ...VPC, description: long }, "`description` has more than 65,536 characters"],
    ["vpcs", { ...VPC, subnets: [{ ...SUBNET, ipv4: "hello" }] }, "`subnets[0].ipv4` is no IPv4 range"],
    ["vpcs", { ...VPC, subnets: [{ ...SUBNET, ipv4: "10.0.0.0/33" }] }, "`subnets[0].ipv4` is no IPv4 range"],
    ["vpcs", { ...VPC, subnets: [{ ...SUBNET, ipv4: "10.0.0.0/08" }] }, "`subnets[0].ipv4` is no IPv4 range"],
    [
      "vpcs",
      { ...VPC, subnets: Array.from({ length: 100_001 }, (_, index) => ({ ...SUBNET, id: index + 1 })) },
      "more than 100,000 subnets, nodes and interfaces",
    ],
    ["domains", { ...zone, tags: Array.from({ length: 10_001 }, () => "t") }, "`tags` has more than 10,000 values"],
  ] as const) {
    const service = await listing(path, object);
    const project = path === "vpcs" ? cwd : await folder({ "tenon.yaml": PROJECT });
    const { code, stdout, stderr } = await run(["plan"], { cwd: project, env: envOf(service) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(words);
  }
  const full = await oddService((_, response) => {
    const data = Array.from({ length: 501 }, (_value, index) => ({ ...VPC, id: index + 1, label: `v${index}` }));
    response.end(JSON.stringify({ data, page: 1, pages: 1, results: data.length }));
  });
  expectPlain(await run(["plan"], { cwd, env: envOf(full) }), 1, ["501 objects came on a page of 500"]);
});

test("an answer to a write with a text or a list that no object has is none, and the report says so", async () => {
  const cwd = await folder({
    "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east, description: new, subnets: [] }]\n",
  });
  for (const more of [{ label: "x".repeat(65_537) }, { subnets: Array.from({ length: 10_001 }, () => SUBNET) }]) {
    const service = await oddService((incoming, response) => {
      const isWrite = incoming.method === "PUT";
      response.end(JSON.stringify(isWrite ? { ...VPC, ...more } : { data: [VPC], page: 1, pages: 1, results: 1 }));
    });
    const { code, stdout } = await run(["apply", "--yes", "--retry-for", "0s"], { cwd, env: envOf(service) });
    expect(code).toBe(6);
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "a text of more than 65,536 characters, or a list of more than 10,000",
    );
    expect(stdout.length).toBeLessThan(5_000);
  }
});

test("what is read of one object before its delete is bounded, too", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nremoved: [{ vpc: prod }]\n" });
  const service = await oddService((incoming, response) => {
    const isOne = incoming.url?.startsWith("/v4/vpcs/3") === true;
    const more = { ...SUBNET, label: "x".repeat(70_000) };
    response.end(JSON.stringify(isOne ? { ...VPC, subnets: [more] } : { data: [VPC], page: 1, pages: 1, results: 1 }));
  });
  const { code, stdout } = await run(["apply", "--yes", "--retry-for", "0s"], { cwd, env: envOf(service) });
  expect(code).toBe(6);
  expect(service.requests.some((request) => request.startsWith("DELETE"))).toBe(false);
  expect(stdout.length).toBeLessThan(5_000);
});

test("characters that must be escaped count more, so that millions of them are refused before a plan is made", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\n" });
  for (const written of ["\u007f", "\\u007f"]) {
    const service = await oddService((_, response) => {
      const vpc = (id: number) => ({ ...VPC, id, label: `v${id}`, description: "~".repeat(65_000) });
      const data = Array.from({ length: 100 }, (_value, index) => vpc(index + 1));
      const page = JSON.stringify({ data, page: 1, pages: 1, results: data.length });
      response.end(page.replaceAll("~", () => written));
    });
    const ended = await run(["plan"], { cwd, env: { ...envOf(service), ...SMALL_HEAP } });
    expectPlain(ended, 1, ["longer than 256 MiB altogether", "counts as 64"]);
  }
});

test("an answer that comes in chunks of one byte takes no more memory than its bytes", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\n" });
  const service = await speaking((socket) => {
    // Undici passes each chunk on by itself, however many of them come at once.
    const chunks = Buffer.from("1\r\n \r\n".repeat(3_000_000));
    const text = JSON.stringify({ data: [VPC], page: 1, pages: 1, results: 1 });
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n");
    socket.write(chunks);
    socket.write(`${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`);
  });
  const ended = await run(["plan"], { cwd, env: { ...envOf(service), ...SMALL_HEAP } });
  // A slow machine says meanwhile that the account is read.
  const said = ended.stderr.replaceAll(/^Reading the account \(\d+ s\)\n/gm, "");
  expect({ code: ended.code, said }).toEqual({ code: 0, said: "" });
});

/** Speaks in the place of a service as soon as it has been asked. */
async function speaking(speak: (socket: Socket) => void): Promise<{ baseUrl: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      asked += 1;
      speak(socket);
    });
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { baseUrl: `http://127.0.0.1:${port}/v4`, asked: () => asked };
}

/** Until the other side is gone. */
function repeat(socket: Socket, text: string): void {
  const beat = setInterval(() => socket.write(text), 5);
  socket.on("close", () => clearInterval(beat));
}

test("a request and an upload end with an error when informational answers do not end, or headers come byte by byte", async () => {
  const file = join(await folder({}), "golden.img.gz");
  await writeFile(file, "content");
  const early = "HTTP/1.1 103 Early Hints\r\nretry-after: 1\r\n\r\n";
  const floods: readonly (readonly [(socket: Socket) => void, string])[] = [
    [(socket) => repeat(socket, early), "sends informational answers (1xx) without an end"],
    [(socket) => socket.write(early.repeat(100_000)), "sends informational answers (1xx) without an end"],
    [
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nx-a: ");
        repeat(socket, "x");
      },
      "did not answer in time",
    ],
    [(socket) => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${"x".repeat(100_000)}`), "the head of an answer of"],
  ];
  for (const [speak, words] of floods) {
    const service = await speaking(speak);
    const timeouts = { headers: 400, uploadStall: 400 };
    const api = await createApi({ baseUrl: service.baseUrl, token: "", retryForSeconds: 0, timeouts });
    onTestFinished(() => api.close());
    const url = service.baseUrl;
    for (const answer of [await api.send({ method: "GET", path: ["vpcs"] }), await api.upload({ url, file })]) {
      expect(answer.ok ? "" : answer.failure.message).toContain(words);
    }
    expect(service.asked()).toBe(2);
  }
});

test("the content of informational answers is not taken for that of the final one", async () => {
  const early = "HTTP/1.1 103 Early Hints\r\nretry-after: 3600\r\nx-ratelimit-remaining: 0\r\n\r\n";
  const body = JSON.stringify({ id: 1 });
  const service = await speaking((socket) => {
    socket.write(early.repeat(MAX_INFORMATIONAL_ANSWERS));
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
  const api = await createApi({ baseUrl: service.baseUrl, token: "", retryForSeconds: 0 });
  onTestFinished(() => api.close());
  expect(await api.send({ method: "GET", path: ["vpcs"] })).toEqual({ ok: true, body: { id: 1 } });
  const cut = await speaking((socket) => {
    socket.write(early);
    socket.destroySoon();
  });
  const other = await createApi({ baseUrl: cut.baseUrl, token: "", retryForSeconds: 0 });
  onTestFinished(() => other.close());
  // What only announced itself is no answer with a status.
  expect(await other.send({ method: "GET", path: ["vpcs"] })).toMatchObject({ ok: false, failure: { status: null } });
});
