/** What needs more of the system than Node: named pipes, a shell, and /proc. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { loadProject } from "../../src/index.ts";
import { MAIN } from "../cli/run.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-posix-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a file of variables may be a pipe, as a shell makes one of <(a command)", async () => {
  const manifest = "tenon: 1\nvariables: { region: {} }\nvpcs: [{ label: a, region: '${var.region}' }]\n";
  writeFileSync(join(folder, "tenon.yaml"), manifest);
  const pipe = join(folder, "values");
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'printf "region: eu-west\\n" > "$0"', pipe]);
  const result = await loadProject({ directory: folder, variableFiles: [pipe], allowedSeconds: [300] });
  writer.kill();
  expect(result.diagnostics).toEqual([]);
  expect(result.project?.desired.declared[0]?.spec).toMatchObject({ region: "eu-west" });
});

test("a manifest that is a pipe is refused without being read", async () => {
  writeFileSync(join(folder, "tenon.yaml"), "tenon: 1\nfiles: [pipe.yaml]\n");
  execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
  const { diagnostics } = await loadProject({ directory: folder, allowedSeconds: [300] });
  expect(diagnostics.map(({ code }) => code)).toEqual(["unreadable-file"]);
});

test("the emulator listens on IPv6, and is called by that address", async () => {
  const emulator = await startEmulator({ host: "::1" });
  try {
    expect(emulator.baseUrl).toBe(`http://[::1]:${emulator.port}/v4`);
    const answer = await fetch(`${emulator.baseUrl}/vpcs`, { headers: { authorization: "Bearer emulator-token" } });
    expect(answer.status).toBe(200);
  } finally {
    await emulator.close();
  }
});

test("a lock of the emulator whose process number another process has now is taken over", async () => {
  const data = join(folder, "account.log");
  writeFileSync(`${data}.lock`, JSON.stringify({ pid: process.pid, start: "1" }));
  await (await startEmulator({ data })).close();
});

/** Of a resolver that answers nothing: a name is asked for again after some seconds. */
async function silentResolver(): Promise<{ readonly address: string; readonly asked: () => number }> {
  const socket = createSocket("udp4");
  let asked = 0;
  socket.on("message", () => {
    asked += 1;
  });
  const address = "127.0.1.53";
  await new Promise<void>((resolve, reject) => socket.once("error", reject).bind(53, address, resolve));
  onTestFinished(() => void socket.close());
  return { address, asked: () => asked };
}

/** Another resolver for one process takes a right that root has, but not in every container. */
const mayMount = spawnSync("unshare", ["--mount", "true"]).status === 0;

test.runIf(mayMount).each([
  ["the name servers of zones", ["zone", "check", "--live"]],
  ["the service", ["plan"]],
])("a signal ends a command while the system looks for the addresses of %s", async (_, args) => {
  const { address, asked } = await silentResolver();
  const zones = Array.from(
    { length: 40 },
    (_, index) => `{ domain: z${index}.example, type: master, soa_email: a@b.example }`,
  );
  writeFileSync(join(folder, "tenon.yaml"), `tenon: 1\ndomains: [${zones.join(", ")}]\n`);
  writeFileSync(join(folder, "resolv.conf"), `nameserver ${address}\n`);
  const script = 'mount --bind resolv.conf /etc/resolv.conf && exec "$@"';
  const env = {
    PATH: process.env["PATH"],
    TENON_TOKEN: "a-token-of-nobody",
    TENON_BASE_URL: "https://api.nobody.example/v4",
  };
  const child = spawn("unshare", ["--mount", "sh", "-c", script, "sh", process.execPath, MAIN, ...args], {
    cwd: folder,
    env,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
  await expect.poll(asked, { timeout: 30_000 }).toBeGreaterThan(0);
  // What has begun at once is asked for by now.
  await sleep(1_000);
  const before = asked();
  child.kill("SIGTERM");
  expect([143, "SIGTERM"]).toContain(await ended);
  // Whoever waits for the lookup sees it tried again.
  expect(asked()).toBe(before);
});

test("a signal ends the language server together with the process that computes for it", async () => {
  const environments = Array.from({ length: 40_000 }, (_, index) => `  e${index}: {}\n`).join("");
  const manifest = `tenon: 1\nenvironments:\n${environments}`;
  writeFileSync(join(folder, "tenon.yaml"), manifest);
  const child = spawn(process.execPath, [MAIN, "lsp"], { cwd: folder, stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const uri = pathToFileURL(folder).href;
  const workspaceFolders = [{ uri, name: "p" }];
  send({
    id: 1,
    method: "initialize",
    params: { processId: process.pid, capabilities: {}, workspaceFolders, rootUri: null },
  });
  send({ method: "initialized", params: {} });
  const textDocument = { uri: `${uri}/tenon.yaml`, languageId: "yaml", version: 1, text: manifest };
  send({ method: "textDocument/didOpen", params: { textDocument } });
  const own = `/proc/${child.pid}/task/${child.pid}/children`;
  const computing = (): number => Number(readFileSync(own, "utf8").trim().split(" ")[0]);
  await expect.poll(computing, { timeout: 20_000 }).toBeGreaterThan(0);
  const analyst = computing();
  /** In hundredths of a second. */
  const busy = (): number => Number(readFileSync(`/proc/${analyst}/stat`, "utf8").split(") ")[1]?.split(" ")[11]);
  await expect.poll(busy, { timeout: 20_000 }).toBeGreaterThan(100);
  const ended = new Promise((resolve) => child.on("close", (_, signal) => resolve(signal)));
  child.kill("SIGTERM");
  expect(await ended).toBe("SIGTERM");
  const isThere = (): boolean => {
    const stat = existsSync(`/proc/${analyst}`) ? readFileSync(`/proc/${analyst}/stat`, "utf8") : ") Z";
    return !stat.includes(") Z");
  };
  await expect.poll(isThere, { timeout: 2_000 }).toBe(false);
});
