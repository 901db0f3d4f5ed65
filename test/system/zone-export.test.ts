/** `tenon zone export`: every zone it writes is accepted by named-checkzone, and served as the API lists it. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { exportDeclared, exportLive } from "../../src/format/index.ts";
import { createApi, type Desired } from "../../src/index.ts";
import { selectZones } from "../../src/verify/index.ts";
import { envOf, folder, run } from "../cli/run.ts";
import { loadFolder } from "../support/account.ts";
import { fixtureRecords, manifestOf } from "../support/records.ts";
import { randomRecord } from "./random-records.ts";
import { compare } from "./zone-compare.ts";
import { checkZone, heldIn, makeZone, serveZone } from "./zone-judge.ts";

const OPTIONS = { nameservers: [], serial: null, nowMilliseconds: Date.UTC(2026, 10, 21) };
const SEED = Number(process.env["TENON_SEED"] ?? 1_035);
const RECORDS = 300;

/** All of them but those that are copies of a master's, or whose other part is another project's. */
async function expectAccepted(desired: Desired | null): Promise<number> {
  if (desired === null) throw new Error("the project does not load");
  const selected = selectZones(desired, []);
  if (!selected.ok) throw new Error(selected.diagnostic.detail);
  let count = 0;
  for (const { zone, fields, records, isPart } of selected.zones) {
    if (fields["type"] === "slave" || records === null || isPart) continue;
    const result = exportDeclared(desired, zone, OPTIONS);
    if (!result.ok || !("exported" in result)) throw new Error(JSON.stringify(result));
    expect([zone, await checkZone(zone, result.exported.text)]).toEqual([zone, expect.objectContaining({ ok: true })]);
    count += 1;
  }
  return count;
}

describe("of manifests", () => {
  test("every zone of the examples is accepted", async () => {
    const examples = join(import.meta.dirname, "../../examples");
    let count = 0;
    for (const { name, parentPath } of await readdir(examples, { withFileTypes: true, recursive: true })) {
      if (name !== "tenon.yaml") continue;
      const { desired } = await loadFolder(parentPath);
      if (desired?.declared.some(({ unit }) => unit === "zone")) count += await expectAccepted(desired);
    }
    expect(count).toBeGreaterThan(3);
  });

  test("real zones are accepted", async () => {
    const names = (await readdir(new URL("../fixtures/zones", import.meta.url))).filter((name) =>
      name.endsWith(".records.json"),
    );
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const zone = name.replace(".records.json", "");
      const path = await folder({ "tenon.yaml": manifestOf(zone, await fixtureRecords(name), 3_600) });
      expect(await expectAccepted((await loadFolder(path)).desired)).toBe(1);
    }
  });
});

describe("of the account", () => {
  it.each([0, 1, 2])("random zones are accepted, and served as they are, zone %i", async (zoneNumber) => {
    const [records = []] = fc.sample(fc.array(randomRecord, { minLength: RECORDS, maxLength: RECORDS, size: "max" }), {
      seed: SEED + zoneNumber,
      numRuns: 1,
    });
    const made = await makeZone({ ttl_sec: [0, 300, 14_400][zoneNumber] ?? 0 });
    for (const sent of records) await made.send("POST", `/domains/${made.domain.id}/records`, sent);
    const listed = await made.records();
    const held = heldIn(await made.zone(), listed);
    const { baseUrl } = made.emulator;
    const api = await createApi({ baseUrl, token: "emulator-token" });
    const result = await exportLive(api, "example.com", OPTIONS).finally(() => api.close());
    if (!result.ok) throw new Error(JSON.stringify(result));
    const { text, notes } = result.exported;
    expect(await checkZone("example.com", text)).toMatchObject({ ok: true });
    expect(await compare(await serveZone("example.com", text), made.domain, held)).toEqual([]);
    // Nothing is left out without a word.
    const lines = text.match(/^\S+ +\d* *IN /gm)?.length ?? 0;
    const leftOut = notes.filter(({ code }) => code === "record-left-out").length;
    expect(lines).toBe(listed.length - leftOut + 1 + 5);
  });

  it("the command writes what a nameserver serves; Unicode names are found", async () => {
    const made = await makeZone({ domain: "xn--bcher-kva.example" });
    await made.add(
      { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 },
      { type: "MX", target: "mx.example.net", priority: 5 },
      { type: "TXT", name: "t", target: `"quoted" ; \\ é ${"z".repeat(700)}` },
    );
    const { code, stdout, stderr } = await run(["zone", "export", "Bücher.example."], { env: envOf(made.emulator) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await checkZone("xn--bcher-kva.example", stdout)).toMatchObject({ ok: true });
    expect(await compare(await serveZone("xn--bcher-kva.example", stdout), made.domain, await made.records())).toEqual(
      [],
    );
    const file = join(await folder({}), "zone");
    const written = await run(["zone", "export", "bücher.example", "--out", file], { env: envOf(made.emulator) });
    expect(written).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await readFile(file, "utf8")).toBe(stdout);
  });

  it("what cannot stand in a zone is told, and the rest loads", async () => {
    const made = await makeZone();
    await made.add(
      { type: "TXT", name: "twice", target: "same" },
      { type: "TXT", name: "twice", target: "same" },
      { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 },
      { type: "A", name: "www", target: "192.0.2.2", ttl_sec: 3_600 },
      { type: "NS", target: "ns.example.com" },
    );
    const { code, stdout, stderr } = await run(["zone", "export", "example.com"], { env: envOf(made.emulator) });
    expect(code).toBe(0);
    const said = stderr.replace(/\s+/g, " ");
    expect(said).toContain("twice TXT");
    expect(said).toContain("its host is in the zone");
    expect(said).toContain("the TTLs of www A differ");
    expect(stdout).not.toContain("ns.example.com");
    expect(await checkZone("example.com", stdout)).toMatchObject({ ok: true });
  });
});
