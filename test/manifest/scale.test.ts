import { expect, test } from "vitest";
import { recordLimit } from "../../src/manifest/limits.ts";
import { folder as projectFolder, run } from "../cli/run.ts";
import { growth, operationsOf } from "../support/operations.ts";
import { codes, declaredZone, folder, load, loadText, zone } from "./support.ts";

function inline(count: number): string {
  return zone(
    ...Array.from(
      { length: count },
      (_, index) => `type: A, name: host-${index}, target: 10.0.${index >> 8}.${index & 255}, ttl_sec: 300`,
    ),
  );
}

function shared(domains: number): string {
  const names = Array.from({ length: domains }, (_, index) => `d${index}.example`).join(", ");
  const records = Array.from({ length: 12 }, (_, index) => `{ type: TXT, name: t${index}, target: "x \${zone}" }`).join(
    ", ",
  );
  return `defaults: { domain: { type: master, soa_email: "a@\${zone}" } }\nrecord_sets: { s: [${records}] }\ndomains: [{ domain: [${names}], use: [s] }]\n`;
}

test("12,000 inline records load whole, one more is refused", async () => {
  const result = await loadText(inline(12_000));
  expect(result.diagnostics).toEqual([]);
  expect(declaredZone(result).spec.records).toHaveLength(12_000);
  expect(codes(await loadText(inline(12_001)))).toEqual(["too-many-records"]);
});

test("60,000 records are validated in a heap of 60 MB, for what was read of a domain goes once the domain is loaded", async () => {
  const records = Array.from({ length: 6_000 }, (_, index) => {
    return `      - { type: A, name: host-${index}, target: 192.0.2.1 }\n`;
  }).join("");
  const domains = Array.from(
    { length: 10 },
    (_, index) => `  - domain: zone${index}.example\n    records:\n${records}`,
  );
  const manifest = `tenon: 1\ndefaults: { domain: { type: master, soa_email: h@example.com } }\ndomains:\n${domains.join("")}`;
  const cwd = await projectFolder({ "tenon.yaml": manifest });
  const ended = await run(["validate"], { cwd, env: { NODE_OPTIONS: "--max-old-space-size=60" } });
  expect(ended).toEqual({ code: 0, stdout: "The manifest is valid: 10 declared.\n", stderr: "" });
});

test("four times the records take some four times the work", async () => {
  expect(await growth(250, 4, (count) => loadText(inline(count)))).toBeLessThan(6);
});

test("four times the domains of a record set take some four times the work", async () => {
  expect(await growth(50, 4, (count) => loadText(shared(count)))).toBeLessThan(6);
  expect((await loadText(shared(1_000))).project?.desired.declared).toHaveLength(1_000);
});

test("thousands of errors are all reported, each with as much work as the first", async () => {
  const bad = (count: number): string =>
    zone(...Array.from({ length: count }, (_, index) => `type: A, name: n${index}, bogus: 1, target: nope`));
  const result = await loadText(bad(3_000));
  expect(codes(result).filter((code) => code === "unknown-key")).toHaveLength(3_000);
  expect(codes(result).filter((code) => code === "bad-address")).toHaveLength(3_000);
  expect(await growth(100, 4, (count) => loadText(bad(count)))).toBeLessThan(6);
});

test("a set of many records for many domains is refused before it is expanded for any of them", async () => {
  const records = Array.from({ length: 1_001 }, (_, index) => `{ type: TXT, name: t${index}, target: x }`).join(", ");
  const text = (domains: number): string => {
    const names = Array.from({ length: domains }, (_, index) => `d${index}.example`).join(", ");
    return `defaults: { domain: { type: master, soa_email: a@b.example } }\nrecord_sets: { s: [${records}] }\ndomains: [{ domain: [${names}], use: [s] }]\n`;
  };
  expect(codes(await loadText(text(1_000)))).toEqual(["too-many-records"]);
  const [refused, accepted] = [
    await operationsOf(() => loadText(text(1_000))),
    await operationsOf(() => loadText(text(10))),
  ];
  expect(refused).toBeLessThan(accepted);
  // Some 50,000 characters; 1,001 records for each, and two for the domain itself.
  expect(codes(await loadText(text(119)))).toEqual([]);
  expect(codes(await loadText(text(120)))).toEqual(["too-many-records"]);
});

test("domains by the ten thousand, without a record, are as many as there is room for", async () => {
  const text = (count: number): string => {
    const names = Array.from({ length: count }, (_, index) => `${index}.a`).join(",");
    return `domains: [{ domain: [${names}], type: slave }]\n`;
  };
  expect(codes(await loadText(text(60_001)))).toEqual(["too-many-records"]);
});

test("a project may have as many records as its files have room for, from 120,000 to 300,000", () => {
  const limits = [0, 959_999, 1_000_008, 2_400_000, 100_000_000].map((characters) => recordLimit({ characters }));
  expect(limits).toEqual([120_000, 120_000, 125_001, 300_000, 300_000]);
});

test("a zone file for many domains is refused when the first has told how many records there would be", async () => {
  const zoneFile = Array.from({ length: 2_001 }, (_, index) => `h${index} 300 IN A 192.0.2.1`).join("\n");
  const project = (domains: number): string => {
    const names = Array.from({ length: domains }, (_, index) => `d${index}.example`).join(", ");
    const manifest = `tenon: 1\ndomains: [{ domain: [${names}], type: master, soa_email: a@b.example, zone_file: z.zone }]\n`;
    return folder({ "tenon.yaml": manifest, "z.zone": `${zoneFile}\n` });
  };
  const [many, few] = [project(500), project(5)];
  expect(codes(await load(many))).toEqual(["too-many-records"]);
  expect(await operationsOf(() => load(many))).toBeLessThan(await operationsOf(() => load(few)));
});
