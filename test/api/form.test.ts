import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FormFile } from "../../src/model/api.ts";
import { failureOf, open, type Script, serve } from "./scripted.ts";

const TEXT = "a".repeat(200_000);

async function world(script: Script) {
  const folder = await mkdtemp(join(tmpdir(), "tenon-form-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "trace.txt");
  await writeFile(file, TEXT);
  const server = await serve(script);
  const { api } = await open(server.baseUrl);
  const content = { bytes: TEXT.length, sha256: createHash("sha256").update(TEXT).digest("hex") };
  const form: FormFile = { field: "file", file, name: "bild ü 日本.txt", content };
  const path = ["support", "tickets", "7", "attachments"];
  return { file, server, send: () => api.send({ method: "POST", path, form }) };
}

const OK: Script = (_request, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}");

describe("a form with a file", () => {
  it("is sent with its length, the file's name in UTF-8, and the token", async () => {
    const { server, send } = await world(OK);
    expect(await send()).toMatchObject({ ok: true, body: {} });
    const [request] = server.requests;
    const type = String(request?.headers["content-type"]);
    const [, boundary] = /^multipart\/form-data; boundary=(tenon-[0-9a-f]{64})$/.exec(type) ?? [];
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="bild ü 日本.txt"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    const body = `${head}${TEXT}\r\n--${boundary}--\r\n`;
    expect(request?.body.toString()).toBe(body);
    expect(request?.headers).toMatchObject({ "content-length": String(Buffer.byteLength(body)) });
    expect(request?.headers.authorization).toMatch(/^Bearer /);
  });

  it("begins anew after a 429, and is not repeated after a lost connection", async () => {
    const { server, send } = await world((request, response, socket) => {
      if (request.number === 1) return void response.writeHead(429, { "retry-after": "1" }).end('{"errors":[]}');
      socket.destroy();
    });
    expect(failureOf(await send())).toMatchObject({ type: "unreachable", effect: "unknown" });
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
  });

  it.each<[string, (file: string) => Promise<unknown> | unknown]>([
    ["was rewritten", (file) => writeFile(file, "b".repeat(TEXT.length))],
    ["has grown", (file) => writeFile(file, `${TEXT}more`)],
    ["was cut", (file) => writeFile(file, TEXT.slice(1))],
    ["was emptied", (file) => writeFile(file, "")],
    ["is gone", (file) => rm(file)],
    ["is a folder now", (file) => rm(file).then(() => execFileSync("mkdir", [file]))],
    ["is a pipe now", (file) => rm(file).then(() => execFileSync("mkfifo", [file]))],
    ["is a link now", (file) => rm(file).then(() => symlink("/etc/passwd", file))],
  ])("is never sent whole if the file %s since it was checked", async (_, change) => {
    const { server, file, send } = await world(OK);
    await change(file);
    expect(failureOf(await send())).toMatchObject({ type: "refused", status: null, attempts: 1 });
    const [request] = server.requests;
    expect(request?.body.includes("--\r\n") ?? false).toBe(false);
  });
});
