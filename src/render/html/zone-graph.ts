/** Who points at whom: the names of few zones each by itself, of many zones those that point alike together. */

import { canonicalIp } from "../../dns/ip.ts";
import { absoluteName, parentOf, relativeName } from "../../dns/name.ts";
import { isRecordType, type RecordType, rulesOf } from "../../dns/record.ts";
import { ZoneTree } from "../../dns/zone-tree.ts";
import type { Address } from "../../model/resource.ts";
import { compareNatural, compareText, groupBy } from "../../model/text.ts";
import type { Mark } from "../view.ts";

export interface ZoneDrawing {
  readonly address: Address;
  /** In punycode, lower-case, without a final dot. */
  readonly domain: string;
  /** What becomes of the domain itself; `none`: it stays, or is only listed. */
  readonly mark: Mark;
  /** Whether all of its records are known: a name in it that has none is missing then. */
  readonly isComplete: boolean;
  readonly records: readonly RecordDrawing[];
}

export interface RecordDrawing {
  /** Relative to the zone; `@`: the apex. */
  readonly name: string;
  readonly type: string;
  /** A name is absolute, lower-case, without a final dot. */
  readonly target: string;
  readonly mark: Mark;
}

// Pointers: which record points at what.

/**
 * - `name`: in a zone of the account. `missing`: in one, and nothing answers for it there.
 * - `address`, `outside`: where resolvers go next is not in the account.
 */
type TargetKind = "name" | "missing" | "address" | "outside";

interface Pointer {
  readonly owner: string;
  readonly zone: string;
  readonly type: RecordType;
  readonly target: string;
  readonly kind: TargetKind;
  /** Of a target that is a name: its zone. */
  readonly targetZone: string | null;
  readonly mark: Mark;
}

/** The records with a target that is an address or a name; the root says that there is none. Linear in the records, times the labels of a name. */
function pointersOf(zones: readonly ZoneDrawing[]): Pointer[] {
  const byDomain = new Map(zones.map((zone) => [zone.domain, zone]));
  const trees = new Map<string, ZoneTree<{ readonly name: string; readonly type: RecordType }>>();
  const treeOf = (zone: ZoneDrawing) => {
    const known = trees.get(zone.domain);
    if (known !== undefined) return known;
    // What goes answers no more.
    const staying = zone.records.flatMap(({ name, type, mark }) =>
      mark !== "delete" && isRecordType(type) ? [{ name: name === "@" ? "" : name, type }] : [],
    );
    const tree = new ZoneTree("", staying, ({ type }) => type);
    trees.set(zone.domain, tree);
    return tree;
  };
  const zoneOf = (name: string): ZoneDrawing | null => {
    for (let above = name; above !== ""; above = parentOf(above)) {
      const found = byDomain.get(above);
      if (found !== undefined) return found;
    }
    return null;
  };
  const kindOf = (target: string, zone: ZoneDrawing | null): TargetKind => {
    if (zone === null) return "outside";
    if (zone.mark === "delete") return "missing";
    if (!zone.isComplete) return "name";
    const [tree, name] = [treeOf(zone), relativeName(target, zone.domain) ?? ""];
    return tree.cutAbove(name) === null && tree.answeringName(name) === null ? "missing" : "name";
  };
  return zones.flatMap((zone) =>
    zone.records.flatMap(({ name, type, target, mark }): Pointer[] => {
      if (!isRecordType(type) || target === "") return [];
      const owner = absoluteName(name === "@" ? "" : name, zone.domain);
      const { target: format } = rulesOf(type);
      const own = { owner, zone: zone.domain, type, mark };
      if (format === "ipv4" || format === "ipv6") {
        return [{ ...own, target: canonicalIp(target) ?? target, kind: "address", targetZone: null }];
      }
      if (format !== "name") return [];
      const targetZone = zoneOf(target);
      return [{ ...own, target, kind: kindOf(target, targetZone), targetZone: targetZone?.domain ?? null }];
    }),
  );
}

// Nodes: the names of few zones each by itself; of many zones the targets that most point at, and zones that point alike together.

/** More names than this are drawn by zone. */
const MAX_NAMES = 60;
/**
 * Of many targets so many of each kind are by themselves, those first that most records point at. The fewer there are, the more zones point
 * alike: these numbers are tried in order until there is room for all groups of zones.
 */
const TARGETS_OF_KIND: readonly number[] = [16, 8, 4, 2, 1, 0];
/** Names for which nothing answers are mistakes, and are shown whatever there is room for. */
const MAX_MISSING = 8;
const MAX_ZONE_GROUPS = 16;
const MAX_ARROWS = 240;
export interface ZoneGraph {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  /** Records of arrows that there is no room for. */
  readonly undrawn: number;
  /** All records with an address or a name as their target. */
  readonly pointers: number;
  readonly zones: number;
  readonly missing: number;
  readonly isFolded: boolean;
}

export interface MapNode {
  readonly kind: TargetKind | "zones";
  readonly name: string;
  /** How many zones, names or addresses it stands for. */
  readonly count: number;
  /** Of a group: some of what it stands for. */
  readonly members: readonly string[];
  readonly mark: Mark;
  /** Records within it that point at something else within it. */
  readonly inner: number;
  /** Records that point at it. */
  readonly pointedAt: number;
}

export interface MapEdge {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Types with how many records of each, the most frequent first. */
  readonly types: readonly (readonly [RecordType, number])[];
  /** `create` or `delete` if all of its records come, or go. */
  readonly mark: Mark;
}

interface Node {
  readonly key: string;
  readonly kind: MapNode["kind"];
  readonly name: string;
  readonly members: Set<string>;
}

export function graphOf(zones: readonly ZoneDrawing[]): ZoneGraph {
  const pointers = pointersOf(zones);
  const names = new Set(pointers.flatMap(({ owner, target }) => [owner, target]));
  const isFolded = names.size > MAX_NAMES;
  const { ownerKey, targetKey, groups } = isFolded ? foldZones(pointers) : NOT_FOLDED;
  const nodes = new Map<string, Node>();
  const nodeOf = (key: string, kind: Node["kind"], name: string, member: string): number => {
    const group = groups.get(key) ?? key;
    const node = nodes.get(group) ?? { key: group, kind, name, members: new Set() };
    nodes.set(group, node);
    node.members.add(member);
    return indexOf(group);
  };
  const indices = new Map<string, number>();
  const indexOf = (key: string): number => {
    const index = indices.get(key) ?? indices.size;
    indices.set(key, index);
    return index;
  };
  const inner: number[] = [];
  const pointedAt: number[] = [];
  const edges = new Map<string, { from: number; to: number; records: Pointer[] }>();
  for (const pointer of pointers) {
    const [own, other] = [ownerKey(pointer), targetKey(pointer)];
    const from = own.startsWith("zone ")
      ? nodeOf(own, "zones", pointer.zone, pointer.zone)
      : nodeOf(own, "name", pointer.owner, pointer.owner);
    const to = other === own ? from : nodeOf(other, pointer.kind, pointer.target, pointer.target);
    pointedAt[to] = (pointedAt[to] ?? 0) + 1;
    if (from === to) inner[from] = (inner[from] ?? 0) + 1;
    else {
      const key = `${from} ${to}`;
      const edge = edges.get(key) ?? { from, to, records: [] };
      edges.set(key, edge);
      edge.records.push(pointer);
    }
  }
  const marks = new Map(zones.map(({ domain, mark }) => [domain, mark]));
  const all = [...edges.values()].map(edgeOf).sort((a, b) => b.count - a.count || a.from - b.from || a.to - b.to);
  const drawn = all.slice(0, MAX_ARROWS);
  return {
    nodes: [...nodes.values()].map((node, index) => {
      return { ...mapNode(node, marks), inner: inner[index] ?? 0, pointedAt: pointedAt[index] ?? 0 };
    }),
    edges: drawn.sort((a, b) => a.from - b.from || a.to - b.to),
    undrawn: all.slice(MAX_ARROWS).reduce((sum, { count }) => sum + count, 0),
    pointers: pointers.length,
    zones: zones.length,
    missing: pointers.filter(({ kind, mark }) => kind === "missing" && mark !== "delete").length,
    isFolded,
  };
}

/** The keys of nodes. */
interface Folding {
  ownerKey(pointer: Pointer): string;
  targetKey(pointer: Pointer): string;
  /** The key of a zone's node → that of its group. */
  readonly groups: ReadonlyMap<string, string>;
}

const NOT_FOLDED: Folding = { ownerKey: ({ owner }) => owner, targetKey: ({ target }) => target, groups: new Map() };

function foldZones(pointers: readonly Pointer[]): Folding {
  const byTarget = groupBy(pointers, ({ target }) => target);
  const targets = [...byTarget].map(([target, own]) => ({ target, kind: (own[0] as Pointer).kind, count: own.length }));
  let folding = NOT_FOLDED;
  for (const most of TARGETS_OF_KIND) {
    const alone = frequentTargets(targets, most);
    const ownerKey = ({ owner, zone }: Pointer): string => alone.get(owner) ?? `zone ${zone}`;
    // A zone is where arrows begin: what it has by itself stays within it, and names elsewhere that few point at are counted.
    const targetKey = ({ kind, target, targetZone, zone, owner }: Pointer): string =>
      alone.get(target) ??
      (kind === "name" && targetZone === zone && !alone.has(owner) ? `zone ${zone}` : `other ${kind}`);
    const groups = groupZones(pointers, ownerKey, targetKey);
    folding = { ownerKey, targetKey, groups };
    if (new Set(groups.values()).size <= MAX_ZONE_GROUPS) break;
  }
  return folding;
}

interface Target {
  readonly target: string;
  readonly kind: TargetKind;
  /** How many records point at it. */
  readonly count: number;
}

/** The targets that are by themselves, by their names: the key of a node. */
function frequentTargets(targets: readonly Target[], most: number): Map<string, string> {
  const found = new Map<string, string>();
  for (const [kind, own] of groupBy(targets, (one) => one.kind)) {
    const sorted = own.sort((a, b) => b.count - a.count || compareNatural(a.target, b.target));
    // A name that one record points at says no more than its zone does.
    const worth = kind === "name" ? sorted.filter(({ count }) => count > 1) : sorted;
    const room = kind === "missing" ? MAX_MISSING : most;
    // One more is no shorter said than shown.
    for (const { target } of worth.slice(0, worth.length === room + 1 ? room + 1 : room))
      found.set(target, `target ${target}`);
  }
  return found;
}

const OTHER_ZONES = "zone  others";

/** Zones that point at the same, by records of the same types, are one node. @returns the key of a zone's node → that of its group */
function groupZones(
  pointers: readonly Pointer[],
  ownerKey: (pointer: Pointer) => string,
  targetKey: (pointer: Pointer) => string,
): Map<string, string> {
  const isOfZone = (key: string): boolean => key.startsWith("zone ");
  const byZone = groupBy(
    pointers.filter((pointer) => isOfZone(ownerKey(pointer))),
    ownerKey,
  );
  const alike = groupBy(byZone, ([key, own]) => {
    const ways = own.map((pointer) => {
      const target = targetKey(pointer);
      return `${pointer.type} ${target === key ? "itself" : target}`;
    });
    return [...new Set(ways)].sort(compareText).join("\n");
  });
  const sized = [...alike.values()].map((members) => ({
    members: members.map(([key]) => key).sort(compareNatural),
    count: members.reduce((sum, [, own]) => sum + own.length, 0),
  }));
  sized.sort((a, b) => b.count - a.count || compareNatural(a.members[0] ?? "", b.members[0] ?? ""));
  const groups = new Map<string, string>();
  for (const [index, { members }] of sized.entries()) {
    for (const key of members) groups.set(key, index < MAX_ZONE_GROUPS ? (members[0] ?? key) : OTHER_ZONES);
  }
  return groups;
}

function edgeOf({ from, to, records }: { from: number; to: number; records: readonly Pointer[] }): MapEdge {
  const types = [...groupBy(records, ({ type }) => type)].map(([type, own]) => [type, own.length] as const);
  const [mark = "none"] = records.map((record) => record.mark);
  return {
    ...{ from, to, count: records.length },
    types: types.sort((a, b) => b[1] - a[1] || compareText(a[0], b[0])),
    mark: records.every((record) => record.mark === mark) ? mark : "none",
  };
}

const OTHERS: Readonly<Record<MapNode["kind"], readonly [one: string, many: string]>> = {
  zones: ["zone", "zones"],
  name: ["name in the account", "names in the account"],
  missing: ["missing name", "missing names"],
  address: ["address", "addresses"],
  outside: ["name outside", "names outside"],
};

function mapNode(
  { key, kind, name, members }: Node,
  marks: ReadonlyMap<string, Mark>,
): Omit<MapNode, "inner" | "pointedAt"> {
  const sorted = [...members].sort(compareNatural);
  const number = sorted.length.toLocaleString("en");
  const [mark = "none"] = sorted.map((member) => marks.get(member) ?? "none");
  const isAlike = sorted.every((member) => (marks.get(member) ?? "none") === mark);
  const isOther = key.startsWith("other ") || key === OTHER_ZONES;
  const words = OTHERS[kind][sorted.length === 1 ? 0 : 1];
  return {
    kind,
    name: sorted.length === 1 ? (sorted[0] ?? name) : isOther ? `${number} other ${words}` : `${number} ${words} alike`,
    count: sorted.length,
    members: sorted.length === 1 ? [] : sorted,
    mark: kind === "zones" || kind === "name" ? (isAlike ? mark : "none") : "none",
  };
}

// Columns: every arrow leads to the right, but for those that close a circle.

/**
 * The longest way to each node from one that nothing points at; what points at nothing else is in the last column. Zones that point at each
 * other make a circle, which is opened where it is closed first.
 */
export function columnsOfMap({ nodes, edges }: ZoneGraph): number[][] {
  const after = groupBy(edges, ({ from }) => from);
  const state = new Uint8Array(nodes.length);
  // Each node behind all that it points at, but for what closes a circle.
  const finished: number[] = [];
  const closing = new Set<MapEdge>();
  for (const root of nodes.keys()) {
    if (state[root] !== 0) continue;
    const path = [{ node: root, next: 0 }];
    state[root] = 1;
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const edge = after.get(top.node)?.[top.next];
      top.next += 1;
      if (edge === undefined) {
        finished.push(top.node);
        state[top.node] = 2;
        path.pop();
      } else if (state[edge.to] === 0) {
        state[edge.to] = 1;
        path.push({ node: edge.to, next: 0 });
      } else if (state[edge.to] === 1) closing.add(edge);
    }
  }
  const column = new Int32Array(nodes.length);
  for (const node of finished.reverse()) {
    for (const edge of after.get(node) ?? []) {
      if (!closing.has(edge)) column[edge.to] = Math.max(column[edge.to] as number, (column[node] as number) + 1);
    }
  }
  const last = column.reduce((most, one) => Math.max(most, one), 0);
  const order = [...nodes.keys()].sort((a, b) => compareNatural(nodes[a]?.name ?? "", nodes[b]?.name ?? "") || a - b);
  const columns = Array.from({ length: last + 1 }, (): number[] => []);
  for (const node of order) columns[after.has(node) ? (column[node] as number) : last]?.push(node);
  return columns;
}
