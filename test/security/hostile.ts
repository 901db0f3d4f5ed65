/** A hostile repository, as a test writes it: its files, and what must come of it. */

import { symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { digestOf } from "../../src/render/plan-json.ts";
import { here as run } from "../cli/here.ts";
import { type Ended, emulator, envOf, expectPlain, folder } from "../cli/run.ts";

/** What an attacker would like to see. */
export const SECRET = "secret-that-is-not-theirs";

/** Anything that a terminal would act on or hide; line breaks are ours. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/u;

/** Escape sequences, a line of its own, a text that runs the other way, and a letter nobody sees. */
export const STEERING = "\u001b[2J\u001b]0;x\u0007\r\nNo changes.\u202e\u2066\u200b\u0085\u2028";

export function expectPlainText(text: string): void {
  const found = [...text.replaceAll("\n", "")].filter((character) => UNSAFE.test(character));
  expect(found.map((character) => character.codePointAt(0)?.toString(16))).toEqual([]);
}

/** A plan file with the digest that fits what it says by now: who forges one can reckon. */
export function withDigest(text: string): string {
  const file = JSON.parse(text) as { tenon: object };
  return JSON.stringify({ ...file, tenon: { ...file.tenon, digest: digestOf(file) } });
}

/** Two folders side by side: the project, and one with `secret.txt` that it has no business in. */
export async function besideSecret(files: Readonly<Record<string, string>>): Promise<string> {
  const placed = Object.entries(files).map(([file, text]) => [`project/${file}`, text]);
  const parent = await folder({ ...Object.fromEntries(placed), "outside/secret.txt": `${SECRET}\n` });
  // As an image would begin, so that nothing but its place speaks against it.
  await writeFile(join(parent, "outside/secret.gz"), Buffer.from([0x1f, 0x8b, 8, ...Buffer.from(SECRET)]));
  return join(parent, "project");
}

export function link(cwd: string, name: string, target: string): Promise<void> {
  return symlink(target, join(cwd, name));
}

/** Plans, and sees that it is refused before anything is sent, without a word of the secret. */
export async function refuse(
  cwd: string,
  words: readonly (string | RegExp)[],
  { code = 3, args = ["plan"], env = {} }: Partial<Refusal> = {},
): Promise<Ended> {
  const service = await emulator();
  const result = await run(args, { cwd, env: { ...envOf(service), ...env } });
  expectPlain(result, code, words);
  expect(service.requests).toEqual([]);
  expect(result.stderr).not.toContain(SECRET);
  return result;
}

interface Refusal {
  readonly code: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Trap {
  readonly port: number;
  /** `METHOD target` and the headers of whatever came, CONNECT included. */
  readonly caught: { readonly request: string; readonly headers: Readonly<Record<string, unknown>> }[];
}

/** The attacker's own machine. It takes whatever comes, and closes with the test. */
export async function trap(): Promise<Trap> {
  const caught: Trap["caught"] = [];
  const server: Server = createServer((incoming, response) => {
    caught.push({ request: `${incoming.method} ${incoming.url}`, headers: incoming.headers });
    incoming.resume().on("end", () => response.end("{}"));
  });
  server.on("connect", (incoming, socket) => {
    caught.push({ request: `CONNECT ${incoming.url}`, headers: incoming.headers });
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, caught };
}

/** The requests that write, as `POST /v4/vpcs`. */
export function writes({ requests }: Emulator): string[] {
  return requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}
