import { describe, expect, test } from "vitest";
import { manifestSchema } from "../../src/manifest/schema.ts";
import { writeZone } from "../../src/units/zone/manifest.ts";
import { codes, declaredZone, domain, loadFiles, loadText, places, UNITS, zone } from "./support.ts";

describe("lint: { off: … }", () => {
  test("holds for the project, a domain or a record", async () => {
    const text = `lint: { off: [mixed-ttl] }\ndefaults: { domain: { lint: { off: [by-default] } } }\n${domain(
      "records:\n  - { type: A, target: 192.0.2.1, lint: { off: [a-b, c1] } }\n",
    )}  - { domain: b.example, type: master, soa_email: h@b.example, lint: { off: [of-domain] } }\n`;
    const result = await loadText(text);
    expect(result.diagnostics).toEqual([]);
    expect(result.project?.desired.lintOff).toEqual(["mixed-ttl"]);
    expect(declaredZone(result).spec.lintOff).toEqual(["by-default"]);
    expect(declaredZone(result).spec.records?.[0]?.lintOff).toEqual(["a-b", "c1"]);
    expect(declaredZone(result, 1).spec.lintOff).toEqual(["of-domain"]);
  });

  test("may hold anything in a file that has an error of syntax", async () => {
    for (const code of ["[{ a: 1 }]", "{ a: [b] }", "x${${-d]", "[]", "1, null"]) {
      const { diagnostics } = await loadText(`lint: { off: [${code}] }\nvpcs: [{ label: a, region: b }\n`);
      expect([code, diagnostics.some(({ severity }) => severity === "error")]).toEqual([code, true]);
    }
  });

  test("is written back where it stands", async () => {
    const lines =
      "lint: { off: [x-y] }\nignore: [{ preset: external-dns, txt_prefix: a- }]\nrecords:\n  - { type: A, target: 192.0.2.1, lint: { off: [a-b] } }\n  - { type: A, name: b, target: 192.0.2.1 }\n";
    const { body } = writeZone(declaredZone(await loadText(domain(lines))).spec);
    expect(body).toMatchObject({
      lint: { off: ["x-y"] },
      ignore: [{ preset: "external-dns", txt_prefix: "a-" }],
      records: [{ lint: { off: ["a-b"] } }, {}],
    });
    expect(JSON.stringify(body).match(/lint/g)).toHaveLength(2);
  });

  test("has kebab-case codes, a known key, and stands for the project in the root file only", async () => {
    expect(places(await loadText("lint: { off: [Mixed_TTL, ok-1] }\n"))).toEqual(["bad-format tenon.yaml:2:15"]);
    expect(codes(await loadText("lint: { of: [a] }\n"))).toEqual(["unknown-key"]);
    expect(codes(await loadText("lint: [a]\n"))).toEqual(["wrong-type"]);
    expect(codes(await loadText(zone("type: A, target: 192.0.2.1, lint: { off: a }")))).toEqual(["wrong-type"]);
    const files = { "tenon.yaml": "tenon: 1\nfiles: [b.yaml]\n", "b.yaml": "tenon: 1\nlint: { off: [a] }\n" };
    expect(places(await loadFiles(files))).toEqual(["root-only-key b.yaml:2:1"]);
  });
});

describe("ignore presets", () => {
  test("are words of a list, and a record of theirs that is declared is an error", async () => {
    expect(codes(await loadText(domain("ignore: [{ preset: acm }]\n")))).toEqual(["unknown-value"]);
    expect(codes(await loadText(domain("ignore: [{ txt_prefix: a }]\n")))).toEqual(["bad-format"]);
    const records =
      "records:\n  - { type: TXT, name: _acme-challenge.www, target: x }\n  - { type: CNAME, name: _acme-challenge, target: x.example. }\n  - { type: TXT, name: r, target: heritage=external-dns }\n";
    const result = await loadText(domain(`ignore: [{ preset: acme }, { preset: external-dns }]\n${records}`));
    expect(places(result)).toEqual(["declared-and-ignored tenon.yaml:8:9", "declared-and-ignored tenon.yaml:10:9"]);
  });
});

test("editors are offered every builder and its parts", () => {
  const text = JSON.stringify(manifestSchema(UNITS));
  for (const part of [
    "subdomain_policy",
    "validation_methods",
    "mechanisms",
    "selector",
    "ptr",
    "zone_file",
    "reverse",
  ])
    expect(text).toContain(`"${part}":{"title"`);
});
