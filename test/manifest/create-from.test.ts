import { expect, test } from "vitest";
import { writeZone } from "../../src/units/zone/manifest.ts";
import { declaredZone, loadText, places } from "./support.ts";

function domains(...entries: readonly string[]): string {
  return `domains:\n${entries.map((entry) => `  - { ${entry} }\n`).join("")}`;
}

test("a clone or a transfer needs neither type nor soa_email, and is written back", async () => {
  const result = await loadText(
    domains(
      "domain: a.example, create_from: { clone: Bücher.example. }",
      'domain: b.example, create_from: { axfr: "[2001:db8::53]:5353" }, status: disabled',
    ),
  );
  expect(result.diagnostics).toEqual([]);
  const [a, b] = [declaredZone(result).spec, declaredZone(result, 1).spec];
  expect(a.createFrom).toEqual({ type: "clone", domain: "xn--bcher-kva.example" });
  expect(a.fields).toEqual({ status: "active" });
  expect(a.records).toBe(null);
  expect(b.createFrom).toEqual({ type: "axfr", server: "[2001:db8::53]:5353" });
  expect(writeZone(a).body).toMatchObject({ create_from: { clone: "xn--bcher-kva.example" } });
});

test("what it cannot be is told at its place", async () => {
  const result = await loadText(
    domains(
      "domain: a.example, create_from: { clone: a.example }",
      "domain: b.example, create_from: { clone: 'a..example' }",
      "domain: c.example, create_from: { axfr: 192.0.2 }",
      "domain: d.example, create_from: { clone: a.example, axfr: ns1.example.net }",
      "domain: e.example, create_from: {}",
      "domain: f.example, type: slave, master_ips: [192.0.2.53], create_from: { clone: a.example }",
    ),
  );
  expect(places(result)).toEqual([
    "bad-create-from tenon.yaml:3:48",
    "bad-domain tenon.yaml:4:48",
    "bad-create-from tenon.yaml:5:47",
    "conflicting-keys tenon.yaml:6:59",
    "missing-key tenon.yaml:7:39",
    "create-from-slave tenon.yaml:8:78",
  ]);
});

test.each(["records: []", "use: [mail]", "zone_file: a.zone"])("beside %s it is refused", async (beside) => {
  const text = `record_sets: { mail: [{ type: MX, target: . }] }\n${domains(
    `domain: a.example, type: master, soa_email: h@a.example, create_from: { clone: b.example }, ${beside}`,
  )}`;
  expect(places(await loadText(text))).toContain("conflicting-keys tenon.yaml:4:77");
});
