import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../src/model/resource.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder, run } from "../cli/run.ts";
import { tested } from "../support/emulator.ts";
import { type FixtureRecord, fixtureRecords, manifestOf } from "../support/records.ts";

const DOMAIN = "example.org";
const FIELDS = ["type", "name", "target", "ttl_sec", "priority", "weight", "port", "service", "protocol", "tag"];
const ALLOWED_SECONDS = [
  300, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200,
];

/** As the service says it (OBSERVED: Records): no final dots, the apex empty, the parts of an SRV's name beside it. */
function asSent(record: FixtureRecord): string {
  const srv = record.type === "SRV" ? /^_([^.]+)\._(.+)$/.exec(record.name) : null;
  const isText = record.type === "TXT" || record.type === "CAA";
  const values: Record<string, unknown> = {
    ...{ priority: 0, weight: 0, port: 0, service: srv?.[1] ?? null, protocol: srv?.[2] ?? null, tag: null },
    ...record,
    target: isText ? record.target : record.target.replace(/\.$/, ""),
    ttl_sec: nearest(record.ttl_sec),
  };
  return JSON.stringify(FIELDS.map((field) => values[field]));
}

function nearest(seconds: number): number {
  if (seconds === 0) return 0;
  return ALLOWED_SECONDS.reduce((best, next) => (Math.abs(next - seconds) <= Math.abs(best - seconds) ? next : best));
}

function asRead(record: JsonObject): string {
  return JSON.stringify(FIELDS.map((field) => record[field]));
}

describe("a real person's zone of 262 records", () => {
  it.each(["nearest", "up"] as const)(
    "arrives record by record at a service that rounds TTLs %s, and then nothing is left to do",
    async (ttlRounding) => {
      const records = await fixtureRecords("example.org.records.json");
      expect(records).toHaveLength(262);
      const service = await emulator({ ttlRounding });
      const options = {
        cwd: await folder({ "tenon.yaml": manifestOf(DOMAIN, records, 7200) }),
        env: envOf(service),
      };
      const applied = await here(["apply", "--yes"], options);
      expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("Resources: 263 added, ") });
      const planned = await here(["plan", "--detailed-exitcode"], options);
      expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No changes\. /m) });

      const { send } = tested(service);
      const [domain] = (await send("GET", "/domains")).body.data;
      const { body } = await send("GET", `/domains/${domain.id}/records?page_size=500`);
      expect(body.data.map(asRead).sort()).toEqual(records.map(asSent).sort());
    },
  );

  it("is what the demo holds, with TTLs that the service keeps", async () => {
    const demo = new URL("../../examples/demo/zones/example.org.yaml", import.meta.url);
    const fixture = await fixtureRecords("example.org.records.json");
    const records = fixture.map((record) => ({ ...record, ttl_sec: nearest(record.ttl_sec) }));
    expect(parse(await readFile(demo, "utf8"))).toEqual(parse(manifestOf(DOMAIN, records, 7200)));
  });
});

describe("tenon demo", () => {
  it("plays to its end in a folder of its own, and ends with nothing to do", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: [not, mine]\n" });
    const { code, stdout, stderr } = await run(["demo"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nNo changes\. Your infrastructure matches the configuration\.\n$/);
    expect(stdout.match(/^\$ tenon /gm)).toHaveLength(5);
    expect(stdout + stderr).not.toMatch(/\n\s+at /);
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toContain("not, mine");
  });
});
