/** `--webhook` of a fleet's run: one message where accounts failed, and none otherwise. */

import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openNotices } from "../../src/cli/webhook.ts";
import type { FinishedRun } from "../../src/model/fleet.ts";
import { renderTransitionMessage } from "../../src/render/fleet-message.ts";
import { fleetOf } from "../support/fleet.ts";
import { here, terminalOf } from "./here.ts";
import { expectPlain } from "./run.ts";

/** @param status of each answer */
async function receiver(status: number) {
  const texts: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (more) => {
      body += more;
    });
    request.on("end", () => {
      texts.push(JSON.parse(body).text);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { texts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/secret` };
}

test("a run posts once which accounts failed, and nothing where all did well", async () => {
  const { cwd, env } = await fleetOf(4);
  const hook = await receiver(200);
  const well = await here(["fleet", "plan", "--webhook", hook.url], { cwd, env });
  expect([well.code, well.stderr, hook.texts]).toEqual([0, "", []]);
  const given = { ...env, TOKEN_A2: "", TOKEN_A4: "", TENON_WEBHOOK: hook.url };
  expect((await here(["fleet", "plan"], { cwd, env: given })).code).toBe(1);
  expect(hook.texts).toEqual([
    "Tenon: fleet plan: Fleet: 4 accounts: 2 pending, 2 failed.\n```\n" +
      "a2  error: no token is set: TOKEN_A2 is empty\na4  error: no token is set: TOKEN_A4 is empty\n```",
  ]);
});

test("a webhook that refuses is said, without its address, and changes nothing else; one that cannot be one is an error", async () => {
  const { cwd, env } = await fleetOf(1);
  const hook = await receiver(500);
  const args = ["fleet", "plan", "--webhook"];
  const failed = await here([...args, hook.url], { cwd, env: { ...env, TOKEN_A1: "" } });
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("warning: the webhook did not take the message: it answered with status 500");
  expect(failed.stdout + failed.stderr).not.toContain("secret");
  expectPlain(await here([...args, "http://example.com/secret"], { cwd, env }), 1, ["webhook", "https"]);
  // As of a variable that is not set; TENON_WEBHOOK may be empty.
  expectPlain(await here([...args, ""], { cwd, env }), 1, [
    "the address of the webhook cannot be used: it is not a URL",
  ]);
  expect((await here(["fleet", "plan"], { cwd, env: { ...env, TENON_WEBHOOK: "" } })).code).not.toBe(1);
});

test("an address that cannot be one is refused before saved plans are deleted", async () => {
  const { cwd, env } = await fleetOf(2);
  expect((await here(["fleet", "plan", "--out", "plans"], { cwd, env })).code).toBe(0);
  const refused = ["fleet", "plan", "--out", "plans", "--webhook", "http://example.com/secret"];
  expectPlain(await here(refused, { cwd, env }), 1, ["webhook", "https"]);
  expect((await readdir(join(cwd, "plans"))).sort()).toEqual(["a1.plan", "a2.plan"]);
});

test("an account is spoken of when it begins to fail and when it is well again, as text", () => {
  const run = (code: number, headline = "no changes"): FinishedRun => ({
    ...{ command: "plan", worker: "w", at: 0, milliseconds: 1, requests: 1, throttled: 0, code, headline },
  });
  const spoken = (before: number | null, after: number) =>
    renderTransitionMessage("a1", before === null ? null : run(before), run(after)) !== null;
  expect([spoken(null, 0), spoken(0, 2), spoken(1, 3)]).toEqual([false, false, false]);
  expect([spoken(null, 1), spoken(2, 4), spoken(6, 0)]).toEqual([true, true, true]);
  const text = JSON.parse(
    renderTransitionMessage("a1", run(0), run(1, "error: <!channel> ``` \u001b[2J")) ?? "{}",
  ).text;
  expect(text).toBe("Tenon: account a1 begins to fail:\n```\nplan: error: &lt;!channel&gt; ''' \\u{1b}[2J\n```");
});

test("messages wait in their order for a webhook that is slow, and what is more than can wait is reported as not taken", async () => {
  const texts: string[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer(async (request, response) => {
    texts.push(JSON.parse((await request.setEncoding("utf8").toArray()).join("")).text);
    await released;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  let reported = "";
  const terminal = terminalOf({}, (_, text) => {
    reported += text;
  });
  const notices = await openNotices(terminal, `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`);
  notices.post('{"text":"first"}');
  await expect.poll(() => texts).toEqual(["first"]);
  for (let count = 1; count <= 102; count += 1) notices.post(`{"text":"${count}"}`);
  const refused = "warning: the webhook did not take the message: too many messages wait\n";
  expect(reported).toBe(refused.repeat(2));
  release();
  await notices.close(new AbortController().signal);
  expect(texts).toEqual(["first", ...Array.from({ length: 100 }, (_, index) => `${index + 1}`)]);
  expect(reported).toBe(refused.repeat(2));
});
