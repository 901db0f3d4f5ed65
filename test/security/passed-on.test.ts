/** What is made to be passed on: a chat's messages, a pull request's comment, a job's summary. Somebody has put the token into the manifest. */

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/model/secret.ts";
import { here } from "../cli/here.ts";
import { emulator, ended, envOf, folder, start } from "../cli/run.ts";

const TOKEN = "emulator-token";
/** Ends within the token where a line of a chat, of 200 columns, is cut. */
const CUT = `${"x".repeat(170)} ${TOKEN}`;
const MANIFEST = `tenon: 1
owner: edge
vpcs:
  - { label: prod, region: us-east, description: "pass ${CUT}", note: "it is ${TOKEN}" }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
      - { type: TXT, name: key, target: "v=${TOKEN}" }
      - { type: A, name: www, target: 192.0.2.1 }
`;

/** No piece that a cut leaves either. */
function expectNone(text: string): void {
  expect(text).not.toContain("emulator-");
  expect(text).toContain("[redacted]");
}

test("a token that stands in a manifest is in no step summary and no markdown of a plan, drift or apply", async () => {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": MANIFEST });
  for (const [args, code] of [
    [["plan"], 0],
    [["plan", "--format", "markdown"], 0],
    [["drift", "--format", "markdown"], 2],
    [["apply", "--format", "markdown"], 1],
    [["apply", "--format", "markdown", "--yes", "--max-changes", "1"], 4],
    [["apply", "--format", "markdown", "--yes"], 0],
  ] as const) {
    const summary = join(await folder({}), "summary.md");
    const env = { ...envOf(service), GITHUB_STEP_SUMMARY: summary };
    const result = await here(args, { cwd, env });
    expect([args, result.code, result.stderr]).toEqual([args, code, expect.any(String)]);
    if (args.some((word) => word === "markdown")) expect(result.stdout).not.toContain("emulator-");
    const written = await readFile(summary, "utf8");
    if (code === 0 && args[0] === "apply") expect(written).not.toContain("emulator-");
    else expectNone(written);
  }
});

test("a token that stands in a manifest is in no message of a webhook, also where a line is cut", async () => {
  const service = await emulator();
  const messages: string[] = [];
  const chat = createServer(async (request, response) => {
    messages.push((await request.setEncoding("utf8").toArray()).join(""));
    response.end("ok");
  }).listen(0, "127.0.0.1");
  await once(chat, "listening");
  onTestFinished(() => void chat.close());
  const TENON_WEBHOOK = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/hook`;
  const cwd = await folder({ "tenon.yaml": MANIFEST });
  const child = start(["drift", "--watch", "--every", "5s"], { cwd, env: { ...envOf(service), TENON_WEBHOOK } });
  await expect.poll(() => messages.join(""), { timeout: 30_000 }).toContain("vpc/prod");
  child.kill("SIGTERM");
  const { stdout, stderr } = await ended(child);
  expectNone(messages.join(""));
  expect(stdout + stderr).not.toContain("emulator-");
});

test("data without the token is the very data, and of the rest every text and key is redacted in each spelling", () => {
  const token = 'a"b/c-0123456789';
  const plain = { a: [{ b: "x" }], c: null, d: 1 };
  const secret = new Secret(token);
  expect(secret.hideIn(plain)).toBe(plain);
  expect(secret.hideIn({ [`k ${token}`]: [plain, `<${encodeURIComponent(token)}>`] })).toEqual({
    "k [redacted]": [plain, "<[redacted]>"],
  });
});
