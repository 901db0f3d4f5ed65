/** Zones as a map: which records are arrows, which targets are missing, and how thousands of them are one picture. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InventoryItem } from "../../../src/model/inventory.ts";
import {
  columnsOfMap,
  graphOf,
  type RecordDrawing,
  type ZoneDrawing,
  type ZoneGraph,
} from "../../../src/render/html/zone-graph.ts";
import { zoneMap, zonesOfChanges, zonesOfInventory } from "../../../src/render/html/zone-map.ts";
import { growth } from "../../support/operations.ts";
import { change, record } from "../plans.ts";

function zone(
  domain: string,
  records: readonly (readonly [string, string, string])[],
  rest: Partial<ZoneDrawing> = {},
): ZoneDrawing {
  const drawn = records.map(([name, type, target]): RecordDrawing => ({ name, type, target, mark: "none" }));
  return { address: `domain/${domain}`, domain, mark: "none", isComplete: true, records: drawn, ...rest };
}

function arrowsOf({ nodes, edges }: ZoneGraph): string[] {
  return edges.map(({ from, to, types }) => {
    const by = types.map(([type, count]) => `${type}×${count}`).join("+");
    return `${nodes[from]?.name} ${by} ${nodes[to]?.name}${nodes[to]?.kind === "name" ? "" : ` (${nodes[to]?.kind})`}`;
  });
}

describe("few zones", () => {
  test("each name and target is a node, and each record with a target an arrow", () => {
    const a = zone("a.example", [
      ["@", "A", "192.0.2.1"],
      ["www", "CNAME", "a.example"],
      ["@", "MX", "mail.outside.test"],
      ["@", "MX", "mx.b.example"],
      ["_sip._tcp", "SRV", "gone.b.example"],
      ["@", "TXT", "v=spf1 -all"],
      ["@", "CAA", "letsencrypt.org"],
    ]);
    const b = zone("b.example", [
      ["mx", "AAAA", "2001:DB8::1"],
      ["mx", "AAAA", "2001:db8:0::2"],
      ["@", "MX", ""],
    ]);
    const graph = graphOf([a, b]);
    expect(arrowsOf(graph)).toEqual(
      [
        "a.example A×1 192.0.2.1 (address)",
        "a.example MX×1 mail.outside.test (outside)",
        "a.example MX×1 mx.b.example",
        "www.a.example CNAME×1 a.example",
        "mx.b.example AAAA×1 2001:db8::1 (address)",
        "mx.b.example AAAA×1 2001:db8::2 (address)",
        "_sip._tcp.a.example SRV×1 gone.b.example (missing)",
      ].sort((x, y) => order(graph, x) - order(graph, y)),
    );
    expect(graph).toMatchObject({ pointers: 7, missing: 1, undrawn: 0, isFolded: false });
  });

  test("a name is missing only in a zone whose records are all known, and where no wildcard and no delegation answers", () => {
    const pointing = zone("a.example", [
      ["1", "CNAME", "x.wild.b.example"],
      ["2", "CNAME", "host.cut.b.example"],
      ["3", "CNAME", "x.unknown.example"],
      ["4", "CNAME", "above.b.example"],
      ["5", "CNAME", "x.b.example"],
      ["6", "CNAME", "x.sub.b.example"],
    ]);
    const b = zone("b.example", [
      ["*.wild", "A", "192.0.2.1"],
      ["cut", "NS", "ns.outside.test"],
      ["deep.above", "A", "192.0.2.1"],
    ]);
    const unknown = zone("unknown.example", [["@", "A", "192.0.2.1"]], { isComplete: false });
    const graph = graphOf([pointing, b, unknown, zone("sub.b.example", [["@", "A", "192.0.2.1"]])]);
    const missing = graph.nodes.flatMap(({ kind, name }) => (kind === "missing" ? [name] : []));
    expect(missing.sort()).toEqual(["x.b.example", "x.sub.b.example"]);
  });

  test("what goes answers no more, and its own arrows are marked", () => {
    const records: RecordDrawing[] = [
      { name: "www", type: "CNAME", target: "web.a.example", mark: "none" },
      { name: "web", type: "A", target: "192.0.2.1", mark: "delete" },
      { name: "new", type: "A", target: "192.0.2.2", mark: "create" },
    ];
    const graph = graphOf([zone("a.example", [], { records })]);
    const kinds = graph.nodes.map(({ name, kind }) => `${name} ${kind}`);
    expect(kinds).toContain("web.a.example missing");
    expect(graph.edges.map(({ mark }) => mark).sort()).toEqual(["create", "delete", "none"]);
    expect(graph.missing).toBe(1);
  });

  test("arrows lead to the right but for those that close a circle, and what points at nothing is in the last column", () => {
    const graph = graphOf([
      zone("a.example", [
        ["1", "CNAME", "2.a.example"],
        ["2", "CNAME", "3.a.example"],
        ["3", "CNAME", "1.a.example"],
        ["3", "A", "192.0.2.1"],
      ]),
    ]);
    const columns = columnsOfMap(graph).map((column) => column.map((node) => graph.nodes[node]?.name));
    expect(columns).toEqual([["1.a.example"], ["2.a.example"], ["3.a.example"], ["192.0.2.1"]]);
  });
});

/** The place of an arrow among those of a graph: tests name arrows in the order in which they think of them. */
function order(graph: ZoneGraph, arrow: string): number {
  return arrowsOf(graph).indexOf(arrow);
}

const TARGETS = ["192.0.2.1", "192.0.2.2", "mail.outside.test", "z1.example", "www.z2.example", "gone.z3.example"];
const zoneLists = fc
  .array(fc.array(fc.tuple(fc.nat(3), fc.nat(5), fc.nat(200)), { maxLength: 8 }), { maxLength: 40 })
  .map((lists) =>
    lists.map((list, index) =>
      zone(
        `z${index}.example`,
        list.map(([name, target, spread]): readonly [string, string, string] => {
          const to = spread > 100 ? `h${spread}.z${spread % 50}.example` : (TARGETS[target] ?? "");
          return [name === 0 ? "@" : `n${name}`, /^\d/.test(to) ? "A" : "CNAME", to];
        }),
      ),
    ),
  );

describe("any zones", () => {
  test("every record with a target is counted once: in an arrow, within a node, or as not drawn", () => {
    fc.assert(
      fc.property(zoneLists, (zones) => {
        const { nodes, edges, undrawn, pointers } = graphOf(zones);
        const drawn = edges.reduce((sum, { count }) => sum + count, 0);
        const inner = nodes.reduce((sum, node) => sum + node.inner, 0);
        expect(drawn + inner + undrawn).toBe(pointers);
        expect(pointers).toBe(zones.reduce((sum, { records }) => sum + records.length, 0));
        for (const { types, count } of edges) expect(types.reduce((sum, [, number]) => sum + number, 0)).toBe(count);
      }),
    );
  });

  test("each node is in one column, no arrow leads to another place of its column, and the picture is the same whatever the order of the zones", () => {
    fc.assert(
      fc.property(zoneLists, (zones) => {
        const graph = graphOf(zones);
        const columns = columnsOfMap(graph);
        expect(columns.flat().sort((a, b) => a - b)).toEqual([...graph.nodes.keys()]);
        const names = (one: ZoneGraph): string[] =>
          one.nodes.map(({ name, kind, count }) => `${name} ${kind} ${count}`).sort();
        expect(names(graphOf([...zones].reverse()))).toEqual(names(graph));
        expect(arrowsOf(graphOf([...zones].reverse())).sort()).toEqual(arrowsOf(graph).sort());
      }),
    );
  });
});

function brands(count: number): ZoneDrawing[] {
  return Array.from({ length: count }, (_, index) =>
    zone(`brand${index + 1}.example`, [
      ["@", "A", `192.0.2.${(index % 4) + 1}`],
      ["web", "A", `198.51.100.${(index % 200) + 1}`],
      ["www", "CNAME", `brand${index + 1}.example`],
      ["@", "MX", "mx1.brand1.example"],
      ["@", "MX", index % 3 === 0 ? "mx2.brand1.example" : "mail.outside.test"],
      ["shop", "CNAME", `stores${index % 30}.cdn.test`],
      ["app", "CNAME", `www.brand${(index % 50) + 1}.example`],
      ...(index % 97 === 96 ? ([["gone", "CNAME", "nothing.brand2.example"]] as const) : []),
      ...(index === 0
        ? ([
            ["mx1", "A", "203.0.113.1"],
            ["mx2", "A", "203.0.113.2"],
          ] as const)
        : []),
      ["h1", "A", `198.51.100.${((index * 3) % 250) + 1}`],
      ["h2", "A", `198.51.100.${((index * 7) % 250) + 1}`],
      ["_dmarc", "TXT", "v=DMARC1; p=none"],
    ]),
  );
}

describe("a thousand zones", () => {
  test("are a bounded picture: zones that point alike together, what most records point at by itself, the rest counted", () => {
    const graph = graphOf(brands(1_000));
    expect(graph.isFolded).toBe(true);
    expect(graph.nodes.length).toBeLessThan(60);
    const groups = graph.nodes.filter(({ kind }) => kind === "zones");
    expect(groups.length).toBeLessThanOrEqual(17);
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
    const named = graph.nodes.map(({ name }) => name);
    expect(named).toEqual(
      expect.arrayContaining(["mx1.brand1.example", "mail.outside.test", "nothing.brand2.example"]),
    );
    expect(graph.nodes.find(({ name }) => name === "mx1.brand1.example")?.pointedAt).toBe(1_000);
    expect(graph.missing).toBe(10);
    const text = String(zoneMap(brands(1_000)));
    expect(text.length).toBeLessThan(200_000);
    expect(text).toContain("10 records point at names for which nothing in the account answers");
  });

  test("take work in proportion", async () => {
    expect(await growth(60, 4, (count) => zoneMap(brands(count)))).toBeLessThan(6);
    const inOne = (count: number): ZoneDrawing => {
      const names = Array.from(
        { length: count },
        (_, index) => [`n${index}`, "CNAME", `n${index + 1}.a.example`] as const,
      );
      return zone("a.example", names);
    };
    expect(await growth(60, 4, (count) => zoneMap([inOne(count)]))).toBeLessThan(6);
  });
});

describe("as HTML", () => {
  test("hostile names and targets stay text", () => {
    const label = '</title></script><img src=x onerror="alert(1)">\u202e\u009b';
    const text = String(zoneMap([zone("a.example", [[label, "CNAME", label]]), zone(label, [["@", "A", label]])]));
    expect(text).not.toMatch(/<\/?(script|img)/);
    expect(text).not.toMatch(/[\u202e\u009b]/);
    expect(text).not.toMatch(/ (style|on[a-z]+)="/);
  });

  test("a missing name is said in words, and a map of nothing is nothing", () => {
    const text = String(zoneMap([zone("a.example", [["www", "CNAME", "web.a.example"]])]));
    expect(text).toContain("1 record points at a name for which nothing in the account answers");
    expect(text).toMatch(/class="box missing none"/);
    expect(text).toContain("<li>web.a.example (nothing answers for it) by CNAME</li>");
    expect(text).toContain('role="img" aria-labelledby="zones-title"');
    expect(String(zoneMap([zone("a.example", [["@", "TXT", "x"]])]))).toBe("");
  });
});

describe("the whole picture", () => {
  test("of a few zones", async () => {
    const records: RecordDrawing[] = [
      { name: "old", type: "A", target: "192.0.2.7", mark: "delete" },
      { name: "new", type: "A", target: "192.0.2.8", mark: "create" },
      { name: "@", type: "A", target: "192.0.2.1", mark: "none" },
      { name: "@", type: "MX", target: "mx.b.example", mark: "none" },
      { name: "@", type: "MX", target: "mail.outside.test", mark: "none" },
      { name: "x", type: "CNAME", target: "y.a.example", mark: "none" },
      { name: "y", type: "CNAME", target: "x.a.example", mark: "none" },
      { name: "www", type: "CNAME", target: "a.example", mark: "none" },
      { name: "shop", type: "CNAME", target: "gone.b.example", mark: "none" },
    ];
    const b = zone("b.example", [["mx", "A", "192.0.2.25"]], { mark: "update" });
    await expect(String(zoneMap([zone("a.example", [], { records }), b]))).toMatchFileSnapshot(
      "../../golden/picture-zones.html",
    );
  });

  test("of many zones", async () => {
    await expect(String(zoneMap(brands(120)))).toMatchFileSnapshot("../../golden/picture-zones-many.html");
  });
});

describe("what is drawn", () => {
  const moved = change("domain/a.example/www/CNAME", "domain_record", {
    ...{ before: record("www", "CNAME", "old.outside.test"), after: record("www", "CNAME", "new.outside.test") },
  });
  const changes = [
    change("domain/a.example", "domain", {
      ...{
        before: { domain: "a.example", type: "master" },
        after: { domain: "a.example", type: "master" },
        action: "no-op",
      },
    }),
    moved,
    change("domain/a.example/@/A", "domain_record", {
      ...{ before: record("", "A", "192.0.2.1", 300), after: record("", "A", "192.0.2.1", 600) },
    }),
    change("domain/s.example", "domain", { after: { domain: "s.example", type: "slave" } }),
  ];

  test("of a plan: a record that points elsewhere goes and comes, one that only changes otherwise stays", () => {
    const [a, s] = zonesOfChanges(changes, []);
    expect(a).toEqual({
      ...{ address: "domain/a.example", domain: "a.example", mark: "none", isComplete: true },
      records: [
        { name: "www", type: "CNAME", target: "old.outside.test", mark: "delete" },
        { name: "www", type: "CNAME", target: "new.outside.test", mark: "create" },
        { name: "@", type: "A", target: "192.0.2.1", mark: "none" },
      ],
    });
    expect(s).toMatchObject({ domain: "s.example", mark: "create", isComplete: false });
    const others = [
      change("domain/s.example/@/A", "domain_record", { after: record("", "A", "192.0.2.1") }),
      change("domain/part.example", "domain", {
        ...{ before: { domain: "part.example", type: "master" }, after: { domain: "part.example", type: "master" } },
        ...{ action: "no-op", part: true },
      }),
      change("domain/part.example/shop/A", "domain_record", { after: record("shop", "A", "192.0.2.1") }),
    ];
    // Of a slave and of a part others have records, too.
    expect(zonesOfChanges([...changes, ...others], []).map(({ isComplete }) => isComplete)).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("of a plan that leaves records alone nobody can say what is missing", () => {
    const leftAlone = [{ kind: "domain_record", count: 2, reason: "ignored" }] as const;
    expect(zonesOfChanges(changes, leftAlone)[0]?.isComplete).toBe(false);
  });

  test("of a list: every zone with its records", () => {
    const item = (kind: string, name: string, values: InventoryItem["values"]): InventoryItem => ({
      ...{ kind, address: "domain/a.example", root: "domain/a.example", id: 1, name, declared: null },
      ...{ owner: null, whose: "nobody", values },
    });
    const items = [
      item("domain", "a.example", { domain: "a.example", type: "master" }),
      item("domain_record", "www", { domain: "a.example", ...record("www", "CNAME", "web.a.example") }),
    ];
    expect(zonesOfInventory(items)).toEqual([zone("a.example", [["www", "CNAME", "web.a.example"]])]);
    expect(zonesOfInventory(items.slice(0, 1))[0]?.isComplete).toBe(false);
  });
});
