/** Traces of a fleet's command in one process: what they say, and that a collector changes nothing else. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCollector } from "../support/collector.ts";
import { fleetOf } from "../support/fleet.ts";
import { freePort } from "../support/stores.ts";
import { run } from "./run.ts";

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";

test("a command and each of its accounts are spans that say what came of them, and no more", async () => {
  const { cwd, env, accounts } = await fleetOf(3);
  const collector = await startCollector();
  const given = { ...env, TOKEN_A2: "", [ENDPOINT]: collector.url, OTEL_RESOURCE_ATTRIBUTES: "team=edge" };
  const { code, stderr } = await run(["fleet", "plan"], { cwd, env: given });
  expect([code, stderr]).toEqual([1, ""]);
  expect(new Set(collector.paths)).toEqual(new Set(["POST /v1/traces"]));
  const spans = collector.spans();
  const root = spans.find(({ parentSpanId }) => parentSpanId === undefined);
  expect(root).toMatchObject({
    ...{ name: "fleet plan: command", status: { code: 2 } },
    attributes: {
      ...{ "tenon.fleet.command": "plan", "tenon.fleet.accounts": 3 },
      ...{ "tenon.fleet.outcome": "error", "tenon.fleet.exit_code": 1 },
    },
  });
  const children = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  expect(children.length).toBe(spans.length - 1);
  const said = children.map(({ name, attributes, status }) => ({ name, ...attributes, status: status.code }));
  const about = { name: "fleet plan: account", "tenon.fleet.command": "plan" };
  const pending = {
    "tenon.fleet.outcome": "pending",
    "tenon.fleet.exit_code": 2,
    "tenon.fleet.throttled": 0,
    status: 0,
  };
  const failed = { "tenon.fleet.outcome": "error", "tenon.fleet.exit_code": 1, status: 2 };
  const sent = (index: number) => ({ "tenon.fleet.requests": accounts[index]?.service.requests.length });
  expect(said.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
    { ...about, "tenon.fleet.account": "a1", ...pending, ...sent(0) },
    { ...about, "tenon.fleet.account": "a2", ...failed },
    { ...about, "tenon.fleet.account": "a3", ...pending, ...sent(2) },
  ]);
  const text = collector.text();
  expect(text).toContain("team");
  for (const kept of ["emulator-token", cwd, "a1.example", "grüße", "192.0.2.1", "127.0.0.1"]) {
    expect(text).not.toContain(kept);
  }
});

test("an account whose project cannot be read is a failed span without the text of the error", async () => {
  const { cwd, env } = await fleetOf(1);
  await writeFile(join(cwd, "project/tenon.yaml"), "tenon: 1\nsecret-key: [\n");
  const collector = await startCollector();
  const { code } = await run(["fleet", "validate"], { cwd, env: { ...env, [ENDPOINT]: `${collector.url}/` } });
  expect(code).toBe(3);
  const outcomes = collector.spans().map(({ attributes }) => attributes["tenon.fleet.outcome"]);
  expect(outcomes).toEqual(["invalid", "invalid"]);
  expect(collector.text()).not.toContain("secret-key");
});

test("nothing is sent where no collector is named, or traces are switched off", async () => {
  const { cwd, env } = await fleetOf(1);
  const collector = await startCollector();
  await run(["fleet", "plan"], { cwd, env });
  await run(["fleet", "plan"], { cwd, env: { ...env, [ENDPOINT]: collector.url, OTEL_SDK_DISABLED: "true" } });
  expect(collector.paths).toEqual([]);
});

const WARNING =
  /^warning: the collector of OTEL_EXPORTER_OTLP_ENDPOINT does not take the traces; nothing else is changed by that\n$/;

test("a collector that is down, refuses, hangs or never ends its answer is said once, and changes nothing else", async () => {
  const { cwd, env } = await fleetOf(2);
  const expected = await run(["fleet", "plan", "--detailed-exitcode"], { cwd, env });
  expect(expected).toMatchObject({ code: 2, stderr: "" });
  const timers: NodeJS.Timeout[] = [];
  onTestFinished(() => {
    for (const timer of timers) clearInterval(timer);
  });
  const collectors = [
    `http://127.0.0.1:${await freePort()}`,
    (await startCollector((response) => void response.writeHead(400).end("no"))).url,
    (await startCollector(() => {})).url,
    (
      await startCollector((response) => {
        response.writeHead(200);
        timers.push(setInterval(() => response.write(" "), 100));
      })
    ).url,
  ];
  for (const url of collectors) {
    const found = await run(["fleet", "plan", "--detailed-exitcode"], { cwd, env: { ...env, [ENDPOINT]: url } });
    expect(found).toEqual({ ...expected, stderr: expect.stringMatching(WARNING) });
  }
});

test("what is no address of a collector is said, and there are no traces", async () => {
  const { cwd, env } = await fleetOf(1);
  for (const address of ["collector:4318", "nowhere"]) {
    const { code, stderr } = await run(["fleet", "plan"], { cwd, env: { ...env, [ENDPOINT]: address } });
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: there are no traces: OTEL_EXPORTER_OTLP_ENDPOINT /),
    ]);
  }
});

test("the libraries are loaded only where a collector is named", async () => {
  const watch = join(import.meta.dirname, "loaded.cjs");
  const { cwd, env } = await fleetOf(1);
  const loaded = async (more: Readonly<Record<string, string>>): Promise<boolean> => {
    const given = { ...env, ...more, NODE_OPTIONS: `--require=${watch}` };
    const { stderr } = await run(["fleet", "validate"], { cwd, env: given });
    return stderr.includes("opentelemetry-");
  };
  const collector = await startCollector();
  expect(await loaded({})).toBe(false);
  expect(await loaded({ [ENDPOINT]: collector.url })).toBe(true);
});
