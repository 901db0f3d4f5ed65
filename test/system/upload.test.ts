/** Uploads of files that only Linux has, and of large ones: how far they are, and how much memory they take. Needs script (util-linux). */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { failureOf, open } from "../api/scripted.ts";
import { emulator, folder, MAIN, run } from "../cli/run.ts";

test("an upload of a file whose reading fails names that, closes the connection, and is not tried again", async () => {
  // The kernel refuses to read the speed of the loopback interface, though it is a file of 4096 bytes.
  const unreadable = "/sys/class/net/lo/speed";
  const seen = { requests: 0, whole: 0 };
  const closed: Promise<void>[] = [];
  const server = createServer((incoming, response) => {
    seen.requests += 1;
    incoming.on("error", () => {});
    incoming.on("end", () => {
      seen.whole += 1;
      response.writeHead(200).end();
    });
    incoming.resume();
  }).on("connection", (socket) => {
    closed.push(new Promise((resolve) => socket.on("close", () => resolve())));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const { api } = await open(`http://127.0.0.1:${port}/v4`, { retryForSeconds: 60 });
  const failure = failureOf(await api.upload({ url: `http://127.0.0.1:${port}/x`, file: unreadable }));
  await Promise.all(closed);
  server.close();
  expect(failure).toMatchObject({
    type: "refused",
    status: null,
    attempts: 1,
    message: "the file cannot be read (EINVAL)",
  });
  expect(seen.requests).toBeLessThanOrEqual(1);
  expect(seen.whole).toBe(0);
});

const MANIFEST = "tenon: 1\nimages:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n";
const MEBIBYTE = 1024 ** 2;

/** Members that follow one another: quickly made, however large. */
async function project(member: Buffer, count: number): Promise<string> {
  const cwd = await folder({ "tenon.yaml": MANIFEST });
  writeFileSync(join(cwd, "golden.img.gz"), Buffer.concat(Array.from({ length: count }, () => member)));
  return cwd;
}

/** The emulator, whose storage takes an upload as `read` does. Once it is read, the emulator gets a small image in its place. */
async function storage(read: (data: IncomingMessage) => Promise<unknown>): Promise<Record<string, string>> {
  const { origin } = new URL((await emulator()).baseUrl);
  const server = createServer(async (incoming, response) => {
    const { method = "GET", url = "/" } = incoming;
    const { host, connection: _connection, "content-length": _length, ...headers } = incoming.headers;
    const isData = !url.startsWith("/v4/");
    const body = isData ? gzipSync("disk") : Buffer.concat(await incoming.toArray());
    if (isData) await read(incoming);
    const answer = await fetch(`${origin}${url}`, {
      ...{ method, headers: headers as Record<string, string> },
      ...(method === "GET" ? {} : { body }),
    });
    const text = (await answer.text()).replaceAll(origin, `http://${host}`);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as { port: number };
  return { TENON_BASE_URL: `http://127.0.0.1:${port}/v4`, TENON_TOKEN: "emulator-token" };
}

/** Takes so many seconds for a body of so many bytes, as evenly as its chunks allow. */
function slowly(seconds: number, bytes: number): (data: IncomingMessage) => Promise<void> {
  return async (data) => {
    const begin = performance.now();
    let taken = 0;
    for await (const chunk of data) {
      taken += (chunk as Buffer).length;
      await delay(Math.max(0, begin + (taken / bytes) * seconds * 1000 - performance.now()));
    }
  };
}

describe("an upload that takes its time", () => {
  test("has a line on a terminal for the check and for the upload, with bytes, rate and the time left, and within its width", async () => {
    const member = gzipSync(Buffer.alloc(64 * MEBIBYTE), { level: 1 });
    const cwd = await project(member, 48);
    const env = { ...(await storage(slowly(5, member.length * 48))), PATH: process.env["PATH"], TERM: "xterm" };
    const command = `stty cols 80 && ${process.execPath} ${MAIN} apply --yes`;
    const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { cwd, env });
    const [parts, [code]] = await Promise.all([child.stdout.setEncoding("utf8").toArray(), once(child, "close")]);
    const drawn = parts
      .join("")
      .split("\r\u001b[K")
      .map((text) => text.split("\r\n")[0] ?? "");
    expect(code).toBe(0);
    const left = String.raw`\d+\.\d MiB, \d+\.\d [KM]iB/s, \d+ s left`;
    expect(drawn).toContainEqual(
      expect.stringMatching(String.raw`^Checking \d+\.\d of \d+\.\d MiB.*; golden\.img\.gz`),
    );
    expect(drawn).toContainEqual(
      expect.stringMatching(new RegExp(String.raw`^Uploading \d+\.\d of ${left}; 1 of 3 steps done`)),
    );
    for (const line of drawn.filter((text) => /^(Checking|Uploading)/.test(text))) expect(line.length).toBeLessThan(80);
  });

  test("has a line every ten seconds without a terminal, and no escape sequence", async () => {
    const bytes = 8 * MEBIBYTE;
    const member = gzipSync(Buffer.alloc(bytes), { level: 0 });
    const cwd = await project(member, 2);
    const { code, stderr } = await run(["apply", "--yes"], { cwd, env: await storage(slowly(23, 2 * bytes)) });
    expect(code).toBe(0);
    const lines = stderr.split("\n").filter((line) => line.startsWith("Uploading"));
    expect(lines.length).toBeGreaterThanOrEqual(2);
    expect(lines[0]).toMatch(
      /^Uploading \d+\.\d of 16\.0 MiB, \d+\.\d [KM]iB\/s, \d+ s left; 1 of 3 steps done \(\d+ s\)$/,
    );
    expect(stderr).not.toContain("\u001b");
  });
});

describe("the memory of an apply", () => {
  /** Of the whole process, in MiB; see bench/usage.cjs. */
  async function peakOf(cwd: string): Promise<number> {
    const usage = join(cwd, "usage.json");
    const env = await storage((data) => data.forEach(() => {}));
    const watched = { NODE_OPTIONS: `--require=${join(import.meta.dirname, "../../bench/usage.cjs")}` };
    const { code, stderr } = await run(["apply", "--yes"], {
      cwd,
      env: { ...env, ...watched, TENON_BENCH_USAGE: usage },
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return (JSON.parse(await readFile(usage, "utf8")) as { mebibytes: number }).mebibytes;
  }

  test("does not grow with the file, nor with what it holds", async () => {
    const small = await peakOf(await project(gzipSync(Buffer.alloc(4 * MEBIBYTE), { level: 0 }), 2));
    const stored = await peakOf(await project(gzipSync(Buffer.alloc(64 * MEBIBYTE), { level: 0 }), 12));
    const sparse = await peakOf(await project(gzipSync(Buffer.alloc(64 * MEBIBYTE), { level: 9 }), 64));
    // 768 MiB, and 4 GiB of zeros. V8 lets 64 MiB of buffers stand that are not used any more.
    expect(stored - small).toBeLessThan(128);
    expect(sparse - small).toBeLessThan(128);
  });
});
