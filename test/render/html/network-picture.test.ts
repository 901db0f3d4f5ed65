/** Networks as bars: where subnets are on them, what is free between, and what a plan makes of both. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cidrOf, readRange } from "../../../src/dns/ipv4-range.ts";
import type { InventoryItem } from "../../../src/model/inventory.ts";
import {
  type Bar,
  barsOf,
  type NetworkDrawing,
  networkPictures,
  networksOfChanges,
  networksOfInventory,
  type Segment,
  type SubnetDrawing,
} from "../../../src/render/html/network-picture.ts";
import type { Mark } from "../../../src/render/view.ts";
import { growth } from "../../support/operations.ts";
import { change } from "../plans.ts";

function subnet(ipv4: string, rest: Partial<SubnetDrawing> = {}): SubnetDrawing {
  const none = { before: null, isBlocked: false, attached: null, interfaces: [] };
  return { address: `vpc/v/subnet/${ipv4}`, label: ipv4, ipv4, mark: "none", ...none, ...rest };
}

function network(subnets: readonly SubnetDrawing[], rest: Partial<NetworkDrawing> = {}): NetworkDrawing {
  return { address: "vpc/prod", label: "prod", region: "us-east", mark: "none", subnets, ...rest };
}

/** Subnets that do not overlap, each with a mark. */
const subnetLists = fc
  .uniqueArray(
    fc.tuple(
      fc.nat(255),
      fc.integer({ min: 16, max: 29 }),
      fc.constantFrom<Mark>("none", "create", "delete", "update"),
    ),
    { minLength: 1, maxLength: 60, selector: ([octet]) => octet },
  )
  .map((drawn) => drawn.map(([octet, prefix, mark]) => subnet(`10.${octet}.0.0/${prefix}`, { mark })));

function segmentsOf({ lanes }: Bar): Segment[] {
  return lanes.flatMap(({ segments }) => segments);
}

const ROUNDING = 0.002;

describe("bars", () => {
  test("segments of a lane are side by side within the bar and fill it, and none is too small to be seen", () => {
    fc.assert(
      fc.property(subnetLists, (subnets) => {
        for (const { lanes } of barsOf(subnets)) {
          for (const { segments } of lanes) {
            let next = 0;
            for (const { x, width, subnet: own } of segments) {
              expect(Math.abs(x - next)).toBeLessThan(ROUNDING);
              expect(width).toBeGreaterThan(own === null ? 0.04 : 0.2);
              next = x + width;
            }
            expect(Math.abs(next - 100)).toBeLessThan(ROUNDING);
          }
        }
      }),
    );
  });

  test("segments are in proportion: a larger range has no smaller segment, and without small ones each has its share", () => {
    fc.assert(
      fc.property(subnetLists, (subnets) => {
        for (const bar of barsOf(subnets)) {
          for (const { segments } of bar.lanes) {
            const own = segments.filter((one) => one.subnet !== null);
            const sorted = [...own].sort((a, b) => a.range.last - a.range.first - (b.range.last - b.range.first));
            for (let at = 1; at < sorted.length; at += 1) {
              expect(sorted[at]?.width).toBeGreaterThan((sorted[at - 1]?.width ?? 0) - ROUNDING);
            }
          }
        }
      }),
    );
    const [bar] = barsOf([subnet("10.0.0.0/24"), subnet("10.0.1.0/24"), subnet("10.0.2.0/23")]);
    expect(segmentsOf(bar as Bar).map(({ x, width }) => [x, width])).toEqual([
      [0, 25],
      [25, 25],
      [50, 50],
    ]);
  });

  test("what is free and what subnets have then is all that there is", () => {
    fc.assert(
      fc.property(subnetLists, (subnets) => {
        const size = ({ first, last }: { first: number; last: number }): number => last - first + 1;
        const bars = barsOf(subnets);
        const within = bars.reduce((sum, bar) => sum + size(bar.within), 0);
        const free = bars.flatMap((bar) => bar.free).reduce((sum, range) => sum + size(range), 0);
        const staying = subnets.filter(({ mark }) => mark !== "delete");
        const used = staying.reduce((sum, { ipv4 }) => {
          const range = readRange(ipv4);
          return sum + (range === null ? 0 : size(range));
        }, 0);
        expect(free + used).toBe(within);
      }),
    );
  });

  test("a bar for each block of private addresses; what is no range has none", () => {
    const bars = barsOf([subnet("192.168.1.0/24"), subnet("10.1.0.0/16"), subnet("172.16.0.0/24"), subnet("x")]);
    expect(bars.map(({ within }) => cidrOf(within))).toEqual(["10.1.0.0/16", "172.16.0.0/24", "192.168.1.0/24"]);
  });

  test("where ranges come, go or change, there is a lane for now and one for then, on one scale", () => {
    const [bar] = barsOf([
      subnet("10.0.0.0/23", { mark: "replace", before: "10.0.0.0/24" }),
      subnet("10.0.2.0/24"),
      subnet("10.0.3.0/24", { mark: "create" }),
      subnet("10.0.4.0/24", { mark: "delete" }),
      subnet("10.0.5.0/24", { mark: "delete", isBlocked: true }),
      subnet("10.0.6.0/24", { mark: "create", isBlocked: true }),
    ]);
    const shown = bar?.lanes.map(({ name, segments }) => {
      const own = segments.filter((one) => one.subnet !== null);
      return [name, own.map(({ range, x }) => `${cidrOf(range)} ${x}`)];
    });
    expect(shown).toEqual([
      ["now", ["10.0.0.0/24 0", "10.0.2.0/24 25", "10.0.4.0/24 50", "10.0.5.0/24 62.5"]],
      ["then", ["10.0.0.0/23 0", "10.0.2.0/24 25", "10.0.3.0/24 37.5", "10.0.5.0/24 62.5"]],
    ]);
    expect(bar?.free.map(cidrOf)).toEqual(["10.0.4.0/24", "10.0.6.0/23"]);
  });

  test("subnets that overlap, which the service should not have, are on lanes beneath each other", () => {
    const [bar] = barsOf([subnet("10.0.0.0/22"), subnet("10.0.1.0/24"), subnet("10.0.3.0/24")]);
    const lanes = bar?.lanes.map(({ segments }) => segments.filter((one) => one.subnet !== null).length);
    expect(lanes).toEqual([1, 2]);
  });

  test("of many subnets that overlap some are drawn, and the table names all", async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        subnet("10.0.0.0/24", { label: `s${index}`, address: `vpc/v/subnet/s${index}` }),
      );
    const [bar] = barsOf(many(500));
    expect(bar?.lanes).toHaveLength(20);
    expect(bar?.subnets).toHaveLength(500);
    expect(String(networkPictures([network(many(500))]))).toContain("480 more overlap these, and are not drawn.");
    expect(String(networkPictures([network(many(20))]))).not.toContain("are not drawn");
    expect(await growth(200, 4, (count) => barsOf(many(count)))).toBeLessThan(6);
  });
});

describe("as HTML", () => {
  test("free space is said in CIDR and in addresses", () => {
    const text = String(networkPictures([network([subnet("10.0.0.0/24"), subnet("10.0.3.0/24")])]));
    expect(text).toContain("10.0.0.0/22: 512 of 1,024 addresses are free");
    expect(text).toContain("<td>10.0.1.0/24, 10.0.2.0/24</td><td>512</td><td>free</td>");
    expect(text).toContain("<span>10.0.0.0</span><span>10.0.3.255</span>");
    const full = String(networkPictures([network([subnet("10.0.0.0/24")])]));
    expect(full).toContain("10.0.0.0/24: no address is free");
    expect(String(networkPictures([network([])]))).toContain("It has no subnets.");
    expect(String(networkPictures([]))).toBe("");
  });

  test("attached interfaces are counted and named, and what becomes of a subnet is said in words", () => {
    const held = subnet("10.0.0.0/24", {
      ...{ label: "web", mark: "delete", isBlocked: true, attached: 2 },
      interfaces: [
        { node_id: 7, interface_id: 70, active: true, address: "10.0.0.2" },
        { node_id: 8, interface_id: 80, active: false, address: null },
      ],
    });
    const text = String(networkPictures([network([held], { mark: "update" })]));
    expect(text).toContain("2: node 7, interface 70, 10.0.0.2; node 8, interface 80, inactive");
    expect(text).toContain("- web (to be deleted, blocked)");
    expect(text).toContain('class="subnet delete blocked"');
    expect(text).toContain("<b>~ prod</b> in us-east, changes");
  });

  test("networks that stay as they are come behind those that change, in the natural order of their labels", () => {
    const still = (label: string) => network([subnet("10.0.0.0/24")], { label, address: `vpc/${label}` });
    const text = String(
      networkPictures([still("a"), network([subnet("10.0.0.0/24", { mark: "create" })], { label: "b" })]),
    );
    expect(text.indexOf("<b>b</b>")).toBeLessThan(text.indexOf("1 network stays as it is"));
    expect(text.indexOf("1 network stays as it is")).toBeLessThan(text.indexOf("<b>a</b>"));
    const listed = String(networkPictures([still("n10"), still("n2")]));
    expect(listed.indexOf("n2")).toBeLessThan(listed.indexOf("n10"));
    expect(listed).not.toContain("as it is");
  });

  test("hostile labels and ranges stay text", () => {
    const label = '</script><img src=x onerror="alert(1)">\u202e\u0085';
    const text = String(
      networkPictures([network([subnet("10.0.0.0/24", { label }), subnet(label)], { label, region: label })]),
    );
    expect(text).not.toMatch(/<\/?(script|img)/);
    expect(text).not.toMatch(/[\u202e\u0085]/);
    expect(text).not.toMatch(/ (style|on[a-z]+)="/);
    expect(text).toContain("(no range)");
  });

  test("the work and the text grow as the networks and their subnets do", async () => {
    const many = (count: number): NetworkDrawing[] =>
      Array.from({ length: count }, (_, index) =>
        network(
          Array.from({ length: 50 }, (__, at) => subnet(`10.${at}.${index % 250}.0/24`, { attached: at % 3 })),
          { label: `n${index}`, address: `vpc/n${index}` },
        ),
      );
    expect(await growth(8, 4, (count) => networkPictures(many(count)))).toBeLessThan(5);
    const wide = (count: number): NetworkDrawing[] => {
      return [network(Array.from({ length: count }, (_, at) => subnet(`10.${at >> 8}.${at & 255}.0/28`)))];
    };
    expect(await growth(100, 4, (count) => networkPictures(wide(count)))).toBeLessThan(6);
    expect(String(networkPictures(many(200))).length).toBeLessThan(6_000_000);
  });
});

test("the whole picture of some networks", async () => {
  const interfaces = Array.from({ length: 22 }, (_, index) => ({
    ...{ node_id: 100 + index, interface_id: 200 + index, active: index !== 1 },
    address: index === 2 ? null : `10.0.0.${index + 2}`,
  }));
  const changed = network(
    [
      subnet("10.0.0.0/23", { label: "web", mark: "replace", before: "10.0.0.0/24", attached: 22, interfaces }),
      subnet("10.0.2.0/24", { label: "a label that is much longer than its bar", mark: "update", attached: 0 }),
      subnet("10.0.3.248/29", { label: "tiny", mark: "create" }),
      subnet("10.0.8.0/21", { label: "large", attached: 1 }),
      subnet("172.16.4.0/24", { label: "moves", mark: "replace", before: "10.0.7.0/24" }),
      subnet("192.168.0.0/24", { label: "goes", mark: "delete" }),
      subnet("11.1.0.0/24", { label: "public" }),
      subnet("nonsense", { label: "unread" }),
    ],
    { mark: "replace" },
  );
  const still = network([subnet("10.0.0.0/24")], { label: "still", address: "vpc/still", region: null });
  const empty = network([], { label: "empty", address: "vpc/empty", mark: "create" });
  await expect(String(networkPictures([still, empty, changed]))).toMatchFileSnapshot(
    "../../golden/picture-networks.html",
  );
});

describe("what is drawn", () => {
  test("of a plan: every network with its subnets, and the interfaces that a block names", () => {
    const one = { subnet: "vpc/prod/subnet/web", subnet_id: 4, node_id: 7, interface_id: 9, active: true };
    const changes = [
      change("vpc/prod", "vpc", {
        ...{
          before: { label: "prod", region: "us-east" },
          after: { label: "prod", region: "us-east" },
          action: "no-op",
        },
      }),
      change("vpc/prod/subnet/web", "vpc_subnet", {
        before: { label: "web", ipv4: "10.0.0.0/24" },
        blocked: { type: "interfaces", interfaces: [{ ...one, config_id: null, address: "10.0.0.2" }] },
      }),
      change("vpc/prod/subnet/db", "vpc_subnet", {
        ...{
          before: { label: "db", ipv4: "10.0.1.0/24" },
          after: { label: "db", ipv4: "10.0.2.0/24" },
          action: "replace",
        },
        range: { becomes: "moves", attached: 0 },
      }),
    ];
    expect(networksOfChanges(changes)).toEqual([
      {
        ...{ address: "vpc/prod", label: "prod", region: "us-east", mark: "none" },
        subnets: [
          {
            ...{ address: "vpc/prod/subnet/web", label: "web", ipv4: "10.0.0.0/24", mark: "delete", before: null },
            ...{ isBlocked: true, attached: 1, interfaces: [{ ...one, config_id: null, address: "10.0.0.2" }] },
          },
          {
            ...{
              address: "vpc/prod/subnet/db",
              label: "db",
              ipv4: "10.0.2.0/24",
              mark: "replace",
              before: "10.0.1.0/24",
            },
            ...{ isBlocked: false, attached: 0, interfaces: [] },
          },
        ],
      },
    ]);
  });

  test("of a list: every network with its subnets and how many interfaces each has", () => {
    const item = (kind: string, name: string, values: InventoryItem["values"]): InventoryItem => ({
      ...{ kind, address: kind === "vpc" ? "vpc/prod" : `vpc/prod/subnet/${name}`, root: "vpc/prod", id: 1, name },
      ...{ declared: null, owner: null, whose: "nobody", values },
    });
    const items = [
      item("vpc", "prod", { label: "prod", region: "eu-west" }),
      item("vpc_subnet", "web", { vpc: "prod", ipv4: "10.0.0.0/24", interfaces: 3 }),
    ];
    expect(networksOfInventory(items)).toEqual([
      network([subnet("10.0.0.0/24", { label: "web", address: "vpc/prod/subnet/web", attached: 3 })], {
        region: "eu-west",
      }),
    ]);
    // A list of subnets alone.
    expect(networksOfInventory(items.slice(1))).toMatchObject([
      { label: "prod", region: null, subnets: [{ label: "web" }] },
    ]);
  });
});
