import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, open as openFile, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileContent } from "../../src/model/api.ts";
import { failureOf, open, type Script, serve } from "./scripted.ts";

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-upload-"));
  file = join(folder, "golden.img.gz");
  await writeFile(file, Buffer.alloc(300_000, "image"));
});

afterAll(() => rm(folder, { recursive: true }));

const storage = (script: Script) => serve(script);
const signed = (baseUrl: string): string => `${new URL(baseUrl).origin}/bucket/key?signature=SIGNED&expires=1`;

describe("an upload", () => {
  it("sends the file with its length and type, without the token", async () => {
    const server = await storage((_request, response) => response.writeHead(204).end());
    const { api, events } = await open(server.baseUrl);
    expect(await api.upload({ url: signed(server.baseUrl), file })).toEqual({ ok: true, body: {} });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "PUT", url: "/bucket/key?signature=SIGNED&expires=1" });
    expect(request?.headers).toMatchObject({ "content-type": "application/octet-stream", "content-length": "300000" });
    expect(request?.headers["transfer-encoding"]).toBeUndefined();
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.body.length).toBe(300_000);
    expect(JSON.stringify(events)).not.toContain("SIGNED");
    expect(api.requestCount).toBe(1);
  });

  it("begins anew from the first byte after a 503 and after a lost connection", async () => {
    const server = await storage((request, response, socket) => {
      if (request.number === 1) return void response.writeHead(503).end();
      if (request.number === 2) return void socket.destroy();
      response.writeHead(200).end();
    });
    const { api } = await open(server.baseUrl);
    expect((await api.upload({ url: signed(server.baseUrl), file })).ok).toBe(true);
    expect(server.requests.map((request) => request.body.length)).toEqual([300_000, 300_000, 300_000]);
  });

  it("that is refused says so without the storage's words or the signed URL", async () => {
    const server = await storage((_request, response) => response.writeHead(403).end("<Error>SIGNED</Error>"));
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.upload({ url: signed(server.baseUrl), file }));
    expect(failure).toMatchObject({ type: "refused", status: 403, effect: "none", attempts: 1 });
    expect(JSON.stringify(failure)).not.toMatch(/SIGNED|bucket/);
  });

  it("is not sent after a redirect", async () => {
    const other = await storage((_request, response) => response.writeHead(200).end());
    const server = await storage((_request, response) => response.writeHead(307, { location: other.baseUrl }).end());
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.upload({ url: signed(server.baseUrl), file }))).toMatchObject({
      type: "malformed",
      status: 307,
    });
    expect(other.requests).toEqual([]);
  });

  it("refused before all of it was sent ends then", async () => {
    const large = join(folder, "large.img.gz");
    const handle = await openFile(large, "w");
    await handle.truncate(200_000_000);
    await handle.close();
    let received = 0;
    const server = createServer((incoming, response) => {
      incoming.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      incoming.on("error", () => {});
      response.writeHead(403, { connection: "close" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { api } = await open(`http://127.0.0.1:${port}/v4`, { retryForSeconds: 0 });
    const failure = failureOf(await api.upload({ url: `http://127.0.0.1:${port}/x`, file: large }));
    server.closeAllConnections();
    server.close();
    expect(failure.type).toMatch(/refused|unreachable/);
    expect(received).toBeLessThan(200_000_000);
  });

  it("can be interrupted", async () => {
    const controller = new AbortController();
    const server = await storage(() => controller.abort());
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.upload({ url: signed(server.baseUrl), file }, controller.signal));
    expect(failure).toMatchObject({ type: "aborted", effect: "unknown" });
  });

  it.each([
    ["http://storage.example/x?signature=SIGNED", "not https"],
    ["file:///etc/passwd", "not https"],
    ["nonsense SIGNED", "not https"],
  ])("to %s is refused here", async (url, words) => {
    const { api } = await open("http://127.0.0.1:9/v4");
    const failure = failureOf(await api.upload({ url, file }));
    expect(failure).toMatchObject({ type: "refused", effect: "none", attempts: 0 });
    expect(failure.message).toContain(words);
    expect(failure.message).not.toContain("SIGNED");
  });

  it("of what is not there, not a file or too large is refused here", async () => {
    const { api } = await open("http://127.0.0.1:9/v4");
    const url = "http://127.0.0.1:9/x";
    const huge = join(folder, "huge.img.gz");
    const handle = await openFile(huge, "w");
    await handle.truncate(5 * 1024 ** 3 + 1);
    await handle.close();
    const message = async (path: string): Promise<string> => failureOf(await api.upload({ url, file: path })).message;
    expect(await message(join(folder, "none"))).toMatch(/cannot be read \(ENOENT\)$/);
    expect(await message(folder)).toMatch(/is not a file$/);
    expect(await message(huge)).toMatch(/larger than the service takes/);
    expect(api.requestCount).toBe(0);
  });

  it("holds the last bytes back where the file is not what was to be sent", async () => {
    const sha256 = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    const server = await storage((_request, response) => response.writeHead(200).end());
    const { api } = await open(server.baseUrl, { retryForSeconds: 60 });
    const send = (content: FileContent) => api.upload({ url: signed(server.baseUrl), file, content });
    expect(await send({ bytes: 300_000, sha256 })).toEqual({ ok: true, body: {} });
    expect(server.requests.map(({ body }) => body.length)).toEqual([300_000]);
    // One bit, in the middle of the file.
    const other = await send({ bytes: 300_000, sha256: sha256.replace(/^./, (first) => (first === "0" ? "1" : "0")) });
    const shorter = await send({ bytes: 299_999, sha256 });
    for (const failure of [failureOf(other), failureOf(shorter)]) {
      expect(failure).toMatchObject({ type: "refused", message: expect.stringContaining("plan again") });
      expect(failure.attempts).toBeLessThanOrEqual(1);
    }
    // No request was answered but the first: the second had no end, the third no beginning.
    expect(server.requests.filter(({ body }) => body.length === 300_000)).toHaveLength(1);
    expect(api.requestCount).toBe(2);
  });

  it("of several chunks arrives as it is, however slowly it is taken, and tells how much has been handed on", async () => {
    const large = join(folder, "random.img.gz");
    // Neither a whole number of chunks nor the same in any two of them.
    const original = randomBytes(9 * 1024 * 1024 + 12_345);
    await writeFile(large, original);
    const hash = createHash("sha256");
    const server = createServer(async (incoming, response) => {
      for await (const chunk of incoming) {
        hash.update(chunk as Buffer);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      response.writeHead(200).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { api } = await open(`http://127.0.0.1:${port}/v4`);
    const sha256 = createHash("sha256").update(original).digest("hex");
    const [told, totals]: [number[], Set<number>] = [[], new Set()];
    const progress = (sent: number, total: number): void => {
      told.push(sent);
      totals.add(total);
    };
    const content = { bytes: original.length, sha256 };
    const answer = await api.upload({ url: `http://127.0.0.1:${port}/x`, file: large, content, progress });
    server.close();
    expect(answer.ok).toBe(true);
    expect(hash.digest("hex")).toBe(sha256);
    expect(told).toEqual([...Array.from({ length: 9 }, (_, index) => (index + 1) * 1024 ** 2), original.length]);
    expect([...totals]).toEqual([original.length]);
  });

  it("of a file that is rewritten and grows while it is sent never sends as many bytes as the service waits for", async () => {
    const growing = join(folder, "growing.img.gz");
    // Whole chunks of a stream: the last of them is followed by one that belongs to nothing that was planned.
    const original = Buffer.alloc(320 * 65_536, "a");
    await writeFile(growing, original);
    const handle = await openFile(growing, "r+");
    let received = 0;
    const server = createServer((incoming) => {
      incoming.on("error", () => {});
      incoming.once("data", (first) => {
        received += first.length;
        incoming.on("data", (chunk) => {
          received += chunk.length;
        });
        incoming.pause();
        void handle.write(Buffer.alloc(original.length + 65_536, "b"), 0, null, 0).then(() => incoming.resume());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { api } = await open(`http://127.0.0.1:${port}/v4`, { retryForSeconds: 0 });
    const content = { bytes: original.length, sha256: createHash("sha256").update(original).digest("hex") };
    const failure = failureOf(await api.upload({ url: `http://127.0.0.1:${port}/x`, file: growing, content }));
    server.closeAllConnections();
    server.close();
    await handle.close();
    expect(failure.type).toBe("refused");
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(original.length);
  });

  it("of an empty file that was to be sent has its end", async () => {
    const empty = join(folder, "empty.img.gz");
    await writeFile(empty, "");
    const server = await storage((_request, response) => response.writeHead(200).end());
    const { api } = await open(server.baseUrl);
    const content = { bytes: 0, sha256: createHash("sha256").digest("hex") };
    expect((await api.upload({ url: signed(server.baseUrl), file: empty, content })).ok).toBe(true);
  });

  it("of a file that shrinks while it is sent fails without a retry", async () => {
    const shrinking = join(folder, "shrinking.img.gz");
    await writeFile(shrinking, Buffer.alloc(20_000_000));
    const handle = await openFile(shrinking, "r+");
    const server = createServer((incoming) => {
      incoming.on("error", () => {});
      incoming.once("data", () => {
        incoming.pause();
        void handle.truncate(1_000).then(() => incoming.resume());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { api } = await open(`http://127.0.0.1:${port}/v4`, { retryForSeconds: 0 });
    const failure = failureOf(await api.upload({ url: `http://127.0.0.1:${port}/x`, file: shrinking }));
    server.closeAllConnections();
    server.close();
    await handle.close();
    expect(failure).toMatchObject({ attempts: 1, message: "the file changed while it was being sent" });
  });
});
