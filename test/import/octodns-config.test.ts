import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ImportResult } from "../../src/import/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { folder } from "../manifest/support.ts";
import { codesOf, fileOf, importFiles } from "../support/imports.ts";
import { growth } from "../support/operations.ts";

const ZONE = "www: { type: A, value: 192.0.2.1 }\n";

function config(directory: string, more = "default_ttl: 7200"): string {
  return `manager: { max_workers: 2 }
providers:
  config: { class: octodns.provider.yaml.YamlProvider, directory: ${directory}, ${more} }
  dns: { class: octodns_bind.AxfrSource, host: ns.a.test }
zones:
  a.test.: { sources: [config], targets: [dns] }
`;
}

function remarksOf(result: ImportResult): string[] {
  const imported = result.ok ? result : result.imported;
  return (imported?.remarks ?? []).map(({ file, what, detail }) => `${file.split("/").at(-1)} ${what} ${detail}`);
}

/** Name → TTL, by its manifest. */
function ttlsOf(result: ImportResult): Record<string, unknown> {
  const manifest = parse(fileOf(result)) as { domains: { domain: string; records: JsonObject[] }[] };
  return Object.fromEntries(
    manifest.domains.flatMap(({ domain, records }) => records.map(({ ttl_sec }) => [domain, ttl_sec])),
  );
}

const options = { soaEmail: "a@a.test" };

describe("the configuration of octoDNS", () => {
  it.each(["production.yaml", "octodns.prod.yaml"])(
    "%s in a folder of zones is no zone, and says which TTL records have that say none",
    async (name) => {
      const root = folder({ "config/a.test.yaml": ZONE, [`config/${name}`]: config("./config") });
      const result = await importFiles("octodns", [join(root, "config")], options);
      expect(codesOf(result)).toEqual([]);
      expect(ttlsOf(result)).toEqual({ "a.test": 7200 });
      expect(remarksOf(result)).toEqual([
        `${name}  is octoDNS's configuration and no zone; records without a ttl get its default_ttl, 7200`,
      ]);
    },
  );

  it("gives the TTL of its only provider even where that keeps its zones elsewhere, and of several octoDNS's own", async () => {
    const two = `${config("elsewhere")}`.replace(
      "  dns: {",
      "  other: { class: octodns.provider.yaml.YamlProvider, directory: far, default_ttl: 300 }\n  dns: {",
    );
    for (const [text, ttl] of [[config("elsewhere"), 7200] as const, [two, 3600] as const]) {
      const root = folder({ "here/a.test.yaml": ZONE, "here/production.yaml": text, "elsewhere/b.test.yaml": ZONE });
      const result = await importFiles("octodns", [join(root, "here")], options);
      expect(ttlsOf(result)).toEqual({ "a.test": ttl });
    }
  });

  it("can be named instead of the folder, wherever it lies", async () => {
    const root = folder({
      "config/a.test.yaml": ZONE,
      "config/production.yaml": config("./config"),
      "top.yaml": config("config", "default_ttl: 300"),
      "else/absolute.yaml": "",
    });
    for (const [name, ttl] of [["config/production.yaml", 7200] as const, ["top.yaml", 300] as const]) {
      const result = await importFiles("octodns", [join(root, name)], options);
      expect(codesOf(result)).toEqual([]);
      expect(ttlsOf(result)).toEqual({ "a.test": ttl });
    }
  });

  it("beside its zones, all of them named, has each zone once", async () => {
    const root = folder({ "config/a.test.yaml": ZONE, "config/production.yaml": config("./config") });
    const paths = ["a.test.yaml", "production.yaml"].map((name) => join(root, "config", name));
    for (const named of [paths, [...paths].reverse(), [join(root, "config"), ...paths]]) {
      const result = await importFiles("octodns", named, options);
      expect(codesOf(result)).toEqual([]);
      expect(ttlsOf(result)).toEqual({ "a.test": 7200 });
      expect(result.ok && result.taken.domains[0]?.records).toHaveLength(1);
    }
  });

  it("with several folders has a TTL for each of them", async () => {
    const text = `providers:
  one: { class: octodns.provider.yaml.YamlProvider, directory: one, default_ttl: 300 }
  two: { class: octodns.provider.yaml.SplitYamlProvider, directory: two, default_ttl: env/TTL }
zones: { a.test.: {} }
`;
    const root = folder({ "one/a.test.yaml": ZONE, "two/b.test./www.yaml": ZONE, "octodns.yaml": text });
    const result = await importFiles("octodns", [join(root, "octodns.yaml")], options);
    expect(ttlsOf(result)).toEqual({ "a.test": 300, "b.test": 3600 });
    expect(codesOf(result)).toEqual(["default-ttl"]);
  });

  it("with many providers of one folder has that looked through once", async () => {
    const imported = async (count: number) => {
      const provider = "class: octodns.provider.yaml.YamlProvider, directory: zones, default_ttl";
      const providers = Array.from({ length: count }, (_, index) => {
        return `  p${index}: { ${provider}: ${index === 0 ? "env/TTL" : index === 1 ? 7200 : 300} }\n`;
      });
      const text = `providers:\n${providers.join("")}zones: { a.test.: {} }\n`;
      const root = folder({ "zones/a.test.yaml": ZONE, "octodns.yaml": text, "zones/octodns.yaml": text });
      return importFiles("octodns", [join(root, "octodns.yaml")], options);
    };
    const result = await imported(50);
    expect(ttlsOf(result)).toEqual({ "a.test": 7200 });
    expect(remarksOf(result)).toHaveLength(1);
    expect(await growth(50, 4, imported)).toBeLessThan(6);
  });

  it("with providers that name one folder through links has that looked through once", async () => {
    const provider = "class: octodns.provider.yaml.YamlProvider, default_ttl: 7200";
    const text = `providers:
  one: { ${provider}, directory: zones }
  two: { ${provider}, directory: a/zones }
  three: { ${provider}, directory: a/a/zones }
zones: { a.test.: {} }
`;
    const root = folder({ "zones/a.test.yaml": ZONE, "octodns.yaml": text, "zones/octodns.yaml": text });
    symlinkSync(".", join(root, "a"));
    const result = await importFiles("octodns", [join(root, "octodns.yaml")], options);
    expect(ttlsOf(result)).toEqual({ "a.test": 7200 });
    expect(remarksOf(result)).toHaveLength(1);
  });

  it.each([
    ["that names a folder which is not there", config("nowhere"), "unreadable-file"],
    ["that keeps no zones in YAML", "providers: { a: { class: x.Y } }\nzones: { a.test.: {} }\n", "no-zones"],
  ])("%s is an error", async (_, text, code) => {
    const path = join(folder({ "octodns.yaml": text }), "octodns.yaml");
    expect(codesOf(await importFiles("octodns", [path], options))).toEqual([code]);
  });

  it("is told from a zone with names like those in it", async () => {
    const text = "providers: { type: A, ttl: 300, value: 192.0.2.1 }\nzones: { type: A, ttl: 300, value: 192.0.2.1 }\n";
    const result = await importFiles("octodns", [folder({ "a.test.yaml": text })], options);
    expect(parse(fileOf(result)).domains[0].records).toHaveLength(2);
  });
});

describe("what octoDNS keeps beside its records", () => {
  it("and is named after no zone is left out and told", async () => {
    const root = folder({ "a.test.yaml": ZONE, "_skip.yaml": "a: [", "vars.yml": "x: 1\n" });
    const result = await importFiles("octodns", [root], options);
    expect(result.ok).toBe(true);
    expect(remarksOf(result)).toEqual([
      "_skip.yaml  is named after no zone and is left out",
      "vars.yml  is named after no zone and is left out",
    ]);
  });

  it("for itself is told, with its place", async () => {
    const text = `a: { type: A, ttl: 300, value: 192.0.2.1, octodns: { excluded: [x], healthcheck: { host: y } } }
b: { type: A, ttl: 300, value: 192.0.2.1, lenient: true, healthcheck: { path: / } }
c: { type: A, ttl: 300, value: 192.0.2.1, octodns: { included: [x], lenient: true, cloudflare: { proxied: true } } }
d: { type: A, ttl: 300, value: 192.0.2.1, octodns: { ignored: true } }
e: { type: A, ttl: 300, value: 192.0.2.1, octodns: { ignored: false } }
`;
    const result = await importFiles("octodns", [folder({ "a.test.yaml": text })], options);
    if (!result.ok) throw new Error("not imported");
    const told = result.remarks.map(({ what, span }) => {
      const line = span === null ? 0 : result.sources.position(span.file, span.start).line;
      return `${line} ${what}`;
    });
    expect(told).toEqual([
      "1 `octodns.excluded`",
      "1 `octodns.healthcheck`",
      "2 `lenient`",
      "2 `healthcheck`",
      "3 `octodns.included`",
      "3 `octodns.lenient`",
      "3 `octodns.cloudflare`",
      "4 `ignored`",
    ]);
    expect(result.taken.domains[0]?.records).toHaveLength(4);
  });

  it("ignored is whatever is true to Python", async () => {
    const ignored = ["1", "'false'", "'0'", "Yes", "ON", "fAlse", "[a]", "{ a: b }", "-2", "0.5", "n"];
    const taken = ["0", "0.0", "No", "off", "FALSE", "null", "~", "''", "[]", "{}", "", "0x0"];
    const lines = [...ignored, ...taken].map(
      (value, index) => `r${index}: { type: A, ttl: 300, value: 192.0.2.1, octodns: { ignored: ${value} } }\n`,
    );
    const result = await importFiles("octodns", [folder({ "a.test.yaml": lines.join("") })], options);
    if (!result.ok) throw new Error("not imported");
    const names = result.taken.domains[0]?.records?.map(({ name }) => name);
    expect(names?.sort()).toEqual(taken.map((_, index) => `r${ignored.length + index}`).sort());
  });

  it("for places and health is a loss", async () => {
    const text = "a: { type: A, ttl: 300, value: 192.0.2.1, geo: { AS: [192.0.2.2] } }\n";
    expect(codesOf(await importFiles("octodns", [folder({ "a.test.yaml": text })], options))).toEqual([
      "unsupported-records",
    ]);
  });
});

describe("records of octoDNS without a ttl", () => {
  it("are counted in one warning, for all zones", async () => {
    const root = folder({ "a.test.yaml": `${ZONE}b: { type: A, value: 192.0.2.1 }\n`, "b.test.yaml": ZONE });
    const result = await importFiles("octodns", [root], options);
    const found = (result.ok ? result.diagnostics : []).map(({ summary }) => summary);
    expect(found).toEqual(["3 records without a ttl get 3600, octoDNS's default"]);
  });
});

it("An apex that octoDNS has twice is called that.", async () => {
  const text = "'': { type: A, value: 192.0.2.1 }\n'': { type: A, value: 192.0.2.1 }\n";
  const result = await importFiles("octodns", [folder({ "a.test.yaml": text })], options);
  if (result.ok || result.imported === null) throw new Error("imported");
  expect(result.imported.diagnostics[0]?.summary).toBe("the apex is there twice");
});
