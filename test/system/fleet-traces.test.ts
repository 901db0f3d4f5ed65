/** Traces of a fleet's command and of its workers, over a real queue: one tree from who asked to who ran it. */

import { Queue } from "bullmq";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ended, run, start } from "../cli/run.ts";
import { type ReceivedSpan, startCollector } from "../support/collector.ts";
import { fleetOf } from "../support/fleet.ts";
import { startedWorker } from "../support/fleet-worker.ts";
import { type StoreServer, startPostgres, startRedis } from "../support/stores.ts";

const PASSWORD = "queue-password";
const ENGINES = {
  redis: () => startRedis({ login: `redis://:${PASSWORD}@`, args: ["--requirepass", PASSWORD] }),
  postgres: startPostgres,
} as const;

/** Every attribute that may leave a process. */
const ATTRIBUTES = new Set([
  ...["command", "accounts", "account", "outcome", "exit_code", "requests", "throttled"].map(
    (name) => `tenon.fleet.${name}`,
  ),
  ...["bullmq.queue.name", "bullmq.queue.operation", "bullmq.job.name", "bullmq.job.id"],
]);

/** As `parent > child`, sorted, with the account where one is named. */
function edgesOf(spans: readonly ReceivedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const nameOf = ({ name, attributes }: ReceivedSpan): string => {
    const account = attributes["tenon.fleet.account"];
    return account === undefined ? name : `${name} ${account}`;
  };
  const edges = spans.map((span) => {
    const parent = span.parentSpanId === undefined ? "" : nameOf(byId.get(span.parentSpanId) ?? span);
    return `${parent} > ${nameOf(span)}`;
  });
  return [...new Set(edges)].sort();
}

for (const [engine, startServer] of Object.entries(ENGINES)) {
  describe(engine, () => {
    let server: StoreServer;
    beforeAll(async () => {
      server = await startServer();
    });
    afterAll(() => server.stop());

    test("what a worker runs is below what waits for it, and an idle worker says nothing", async () => {
      const { cwd, env, accounts } = await fleetOf(2);
      const collector = await startCollector();
      const options = { cwd, env: { ...env, TENON_QUEUE: server.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } };
      expect(await run(["fleet", "prepare"], options)).toMatchObject({ code: 0 });
      const worker = await startedWorker(options, ["--lease", "2s"]);
      const planned = await run(["fleet", "plan"], options);
      expect([planned.code, planned.stderr]).toEqual([0, ""]);
      worker.child.kill("SIGTERM");
      expect((await worker.end).code).toBe(143);

      const spans = collector.spans();
      // The worker's other looks into the queue begin no trace.
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      const queue = spans.find(({ name }) => name.startsWith("getNextJob "))?.name.replace("getNextJob ", "");
      // On a busy machine wake-ups are sent once more.
      expect(edgesOf(spans).filter((edge) => !edge.startsWith("fleet plan: command > add"))).toEqual(
        [
          " > fleet plan: command",
          `fleet plan: command > close ${queue}`,
          ...["a1", "a2"].flatMap((name) => [
            `fleet plan: command > fleet plan: account ${name}`,
            `fleet plan: account ${name} > fleet plan: run ${name}`,
            `fleet plan: account ${name} > add ${queue}.${name}`,
            `add ${queue}.${name} > getNextJob ${queue}`,
            `add ${queue}.${name} > complete ${queue}`,
          ]),
        ].sort(),
      );
      for (const { name, service } of accounts) {
        const ran = spans.find(
          (span) => span.name === "fleet plan: run" && span.attributes["tenon.fleet.account"] === name,
        );
        expect(ran).toMatchObject({
          kind: 5,
          attributes: {
            ...{ "tenon.fleet.outcome": "pending", "tenon.fleet.exit_code": 2, "tenon.fleet.throttled": 0 },
            "tenon.fleet.requests": service.requests.length,
          },
        });
      }
      const sent = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
      expect([...sent].filter((name) => !ATTRIBUTES.has(name))).toEqual([]);
      const hidden = ["emulator-token", PASSWORD, cwd, "www", "grüße", "a1.example", "192.0.2.1", "127.0.0.1"];
      for (const text of hidden) expect(collector.text()).not.toContain(text);
    });

    test("who traces and who does not can work together, and a collector that hangs changes nothing", async () => {
      const { cwd, env } = await fleetOf(2);
      const collector = await startCollector();
      const hanging = await startCollector(() => {});
      const queueEnv = { ...env, TENON_QUEUE: server.url };
      const traced = (url: string) => ({ ...queueEnv, OTEL_EXPORTER_OTLP_ENDPOINT: url });
      const args = ["--prefix", "mixed"];
      expect(await run(["fleet", "prepare"], { env: queueEnv })).toMatchObject({ code: 0 });

      const plain = await startedWorker({ cwd, env: queueEnv }, ["--lease", "2s", ...args]);
      const expected = await run(["fleet", "plan", ...args], { cwd, env: queueEnv });
      expect(expected).toMatchObject({ code: 0, stderr: "" });
      expect(await run(["fleet", "plan", ...args], { cwd, env: traced(collector.url) })).toEqual(expected);
      expect(edgesOf(collector.spans()).filter((edge) => edge.endsWith("fleet plan: run a1"))).toEqual([]);
      plain.child.kill("SIGTERM");
      expect((await plain.end).code).toBe(143);

      const other = await startedWorker({ cwd, env: traced(hanging.url) }, ["--lease", "2s", ...args]);
      expect(await run(["fleet", "plan", ...args], { cwd, env: queueEnv })).toEqual(expected);
      other.child.kill("SIGTERM");
      expect((await other.end).code).toBe(143);
      expect(other.said().match(/does not take the traces/g)).toHaveLength(1);
      // Nobody who asked records anything: each run is a trace of its own.
      const roots = edgesOf(hanging.spans()).filter((edge) => edge.startsWith(" > "));
      expect(roots).toEqual([" > fleet plan: run a1", " > fleet plan: run a2"]);
    });
  });
}

test("wake-ups that are sent again belong to the command, and not to the account that came first", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const { cwd, env } = await fleetOf(2);
  const collector = await startCollector();
  const options = { cwd, env: { ...env, TENON_QUEUE: server.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } };
  const child = start(["fleet", "plan"], options);
  const planned = ended(child);
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (text: string) => {
      if (text.includes("No worker has taken anything yet")) resolve();
    });
  });
  const worker = await startedWorker(options, ["--lease", "2s"]);
  expect((await planned).code).toBe(0);
  worker.child.kill("SIGTERM");
  await worker.end;
  const added = edgesOf(collector.spans()).filter((edge) => edge.includes(" > add "));
  expect(added).toEqual([
    ...["a1", "a2"].map((name) => `fleet plan: account ${name} > add wake-ups.${name}`),
    ...["a1", "a2"].map((name) => `fleet plan: command > add wake-ups.${name}`),
  ]);
});

test("a job with a forged trace is a wake-up like any other", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const { cwd, env } = await fleetOf(1);
  const collector = await startCollector();
  const queueEnv = { ...env, TENON_QUEUE: server.url };
  const traced = { ...queueEnv, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const worker = await startedWorker({ cwd, env: traced }, ["--lease", "2s", "--workers", "1"]);
  const queue = new Queue("wake-ups", { prefix: "tenon:fleet", connection: { host: "127.0.0.1", port: server.port } });
  const forged = ["{", '{"traceparent": 1}', `00-${"0".repeat(32)}-${"0".repeat(16)}-01`, "x".repeat(1_000_000)];
  for (const metadata of forged) await queue.add("a1", {}, { telemetry: { metadata } });
  await queue.close();
  expect(await run(["fleet", "plan"], { cwd, env: queueEnv })).toMatchObject({ code: 0, stderr: "" });
  worker.child.kill("SIGTERM");
  expect((await worker.end).code).toBe(143);
  expect(worker.said()).not.toMatch(/lost|put back|warning/);
  expect(edgesOf(collector.spans())).toEqual([" > fleet plan: run a1"]);
});
