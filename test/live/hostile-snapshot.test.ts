import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createApi, parsePlanFile } from "../../src/index.ts";
import { NOBODY, planTextFrom, snapshotText } from "../support/snapshot.ts";

type Loose = Record<string, unknown>;

let text: string;
beforeAll(async () => {
  const records = [
    { id: 5, type: "A" as const, name: "www", target: "192.0.2.1" },
    { id: 6, type: "A" as const, name: "mail", target: "192.0.2.2" },
  ];
  const service = await import("../../src/emulator/index.ts").then(({ startEmulator }) =>
    startEmulator({
      seed: {
        domains: [{ id: 1, domain: "a.example", soa_email: "a@example.com", records }],
        vpcs: [{ id: 1, label: "prod", region: "x", subnets: [{ id: 2, label: "web", ipv4: "10.0.0.0/24" }] }],
        nodes: [{ interfaces: [{ id: 3, subnet_id: 2, config_id: 4 }] }],
      },
    }),
  );
  const api = await createApi({ baseUrl: service.baseUrl, token: "emulator-token" });
  text = await snapshotText(api);
  await api.close();
  await service.close();
});

function changed(change: (file: Loose & { lists: Record<string, Loose[]> }) => void): string {
  const file = JSON.parse(text);
  change(file);
  return JSON.stringify(file);
}

async function codeOf(spoilt: string): Promise<string> {
  const { parseLiveFile } = await import("../../src/live/index.ts");
  const parsed = await parseLiveFile(spoilt);
  return parsed.ok ? "ok" : parsed.diagnostic.code;
}

describe("a snapshot that is not what was written", () => {
  it.each<[string, string, () => string]>([
    ["empty", "live-file-truncated", () => ""],
    ["cut in the middle", "live-file-truncated", () => text.slice(0, text.length / 2)],
    ["without its last brace", "live-file-truncated", () => text.trimEnd().slice(0, -1)],
    ["no JSON", "live-file-damaged", () => "snapshot"],
    ["a list", "live-file-damaged", () => "[]"],
    ["nested without an end", "live-file-damaged", () => "[".repeat(200_000)],
    ["something else in JSON", "live-file-foreign", () => "{}"],
    ["a plan", "live-file-foreign", () => '{"format_version":"1.2","resource_changes":[],"tenon":{}}'],
    ["of a newer tenon", "live-file-newer", () => text.replace('"format_version":2', '"format_version":3')],
    ["with a version that is no number", "live-file-damaged", () => text.replace('_version":2', '_version":"3"')],
    ["of a moment that never was", "live-file-damaged", () => text.replace("1970-01-01T", "1970-13-41T")],
    ["without a list of lists", "live-file-damaged", () => changed((file) => Object.assign(file, { lists: [] }))],
    [
      "with a list nobody knows",
      "live-file-damaged",
      () => changed(({ lists }) => Object.assign(lists, { nodes: [] })),
    ],
    ["with a path that leads elsewhere", "live-file-damaged", () => text.replace("domains/1/", "domains/../")],
    ["with an id twice", "live-file-damaged", () => text.replace('"id":6', '"id":5')],
    ["with an id that is not exact", "live-file-damaged", () => text.replace('"id":6', '"id":9007199254740993')],
    ["with a number without an end", "live-file-damaged", () => text.replace('"ttl_sec":0', '"ttl_sec":1e999')],
    ["with a fraction", "live-file-damaged", () => text.replace('"id":6', '"id":6.5')],
    ["with text for a number", "live-file-damaged", () => text.replace('"id":6', '"id":"6"')],
    ["with null for an object", "live-file-damaged", () => changed(({ lists }) => lists["vpcs"]?.push(null as never))],
    ["with a number for a name", "live-file-damaged", () => text.replace('"label":"web"', '"label":7')],
    ["with a prototype", "live-file-damaged", () => text.replace('"label":"web"', '"label":"web","__proto__":{}')],
    ["with a prototype among lists", "live-file-damaged", () => text.replace('"lists":{', '"lists":{"__proto__":[],')],
    ["with more than there may be", "live-file-damaged", () => changed((file) => Object.assign(file, { token: "x" }))],
  ])("is refused by name: %s", async (_, code, spoil) => {
    const spoilt = spoil();
    expect(spoilt).not.toBe(text);
    expect(await codeOf(spoilt)).toBe(code);
  });

  it("leaves every prototype as it is", async () => {
    await codeOf(text.replace('"lists":{', '"__proto__":{"polluted":1},"lists":{"__proto__":{"polluted":1},'));
    expect(({} as Loose)["polluted"]).toBeUndefined();
  });

  it("is no plan file, and says so", async () => {
    expect(await parsePlanFile(text)).toMatchObject({ ok: false });
  });

  it("that lacks a list is told by the plan that needs it", async () => {
    const without = changed(({ lists }) => delete lists["domains"]);
    const desired = { ...NOBODY, owner: "edge" };
    expect(await planTextFrom(without, desired, {})).toContain("the snapshot does not hold the list /domains");
  });

  it("is refused or planned, but never crashes, whatever value stands in whatever place", async () => {
    const values = fc.oneof(
      fc.constantFrom(null, true, -1, 0, 2 ** 53, "", "\u0000", "../..", "__proto__", "a".repeat(300), [], {}, [[]]),
      fc.string(),
      fc.integer(),
    );
    const counts = { refused: 0, planned: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat(), values, async (place, value) => {
        const file = JSON.parse(text);
        const places: [Loose, string][] = [];
        collect(file, places);
        const [object, key] = places[place % places.length] as [Loose, string];
        object[key] = value;
        const spoilt = JSON.stringify(file);
        if ((await codeOf(spoilt)) !== "ok") counts.refused += 1;
        else {
          await planTextFrom(spoilt, { ...NOBODY, owner: "edge" }, {});
          counts.planned += 1;
        }
      }),
      { seed: 5, numRuns: 300 },
    );
    expect(Math.min(counts.refused, counts.planned)).toBeGreaterThan(20);
  });
});

/** Every place of the file in which a value stands. */
function collect(value: unknown, places: [Loose, string][]): void {
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    places.push([value as Loose, key]);
    collect((value as Loose)[key], places);
  }
}
