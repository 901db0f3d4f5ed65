/** Zones as a map of who points at whom. */

import { canonicalIp } from "../../dns/ip.ts";
import { absoluteName, parentOf, relativeName } from "../../dns/name.ts";
import { isRecordType, type RecordType, rulesOf } from "../../dns/record.ts";
import { ZoneTree } from "../../dns/zone-tree.ts";
import type { Change } from "../../model/change.ts";
import type { InventoryItem } from "../../model/inventory.ts";
import type { LeftAlone } from "../../model/plan.ts";
import { type Address, type Json, nameInAddress, type Values } from "../../model/resource.ts";
import { compareNatural, compareText, groupBy } from "../../model/text.ts";
import type { Mark } from "../view.ts";
import { type DrawnBox, draw, inWords, numberBoxes, place, someOf } from "./drawing.ts";
import { type Html, html, NOTHING } from "./markup.ts";

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

const DOMAIN = "domain";
const RECORD = "domain_record";

/**
 * The zones of a plan with all of their records, no-ops included. A record whose name or target changes is two: one goes, the other comes.
 * @param leftAlone as the plan says it: where records are left alone, what is not in the plan need not be missing
 */
export function zonesOfChanges(changes: readonly Change[], leftAlone: readonly LeftAlone[] = []): ZoneDrawing[] {
  const isWhole = !leftAlone.some(({ kind, count }) => kind === RECORD && count > 0);
  const own = changes.filter(({ kind }) => kind === DOMAIN || kind === RECORD);
  return [...groupBy(own, ({ root }) => root)].map(([root, inside]): ZoneDrawing => {
    const domain = inside.find(({ kind }) => kind === DOMAIN);
    const values = domain?.after ?? domain?.before;
    const records = inside.filter(({ kind }) => kind === RECORD);
    const isServedHere = domain !== undefined && domain.part !== true && values?.["type"] !== "slave";
    return {
      address: root,
      domain: nameInAddress(root, DOMAIN) ?? root,
      mark: domain === undefined || domain.action === "no-op" ? "none" : domain.action,
      isComplete: isWhole && isServedHere && records.length > 0,
      records: records.flatMap(recordsOfChange),
    };
  });
}

function recordsOfChange({ before, after, action }: Change): RecordDrawing[] {
  const [old, own] = [recordOf(before, "delete"), recordOf(after, before === null ? "create" : "none")];
  if (old === null || own === null) return own === null ? (old === null ? [] : [old]) : [own];
  const isMoved = old.name !== own.name || old.type !== own.type || old.target !== own.target;
  return isMoved && action !== "no-op" ? [old, { ...own, mark: "create" }] : [own];
}

function recordOf(values: Values | null, mark: Mark): RecordDrawing | null {
  if (values === null) return null;
  const name = textOf(values["name"]);
  return { name: name === "" ? "@" : name, type: textOf(values["type"]), target: textOf(values["target"]), mark };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The zones of an account's list. */
export function zonesOfInventory(items: readonly InventoryItem[]): ZoneDrawing[] {
  const own = items.filter(({ kind }) => kind === DOMAIN || kind === RECORD);
  return [...groupBy(own, ({ root }) => root)].map(([root, inside]): ZoneDrawing => {
    const domain = inside.find(({ kind }) => kind === DOMAIN);
    const records = inside.filter(({ kind }) => kind === RECORD);
    return {
      address: root,
      domain: domain?.name ?? (textOf(records[0]?.values["domain"]) || (nameInAddress(root, DOMAIN) ?? root)),
      mark: "none",
      isComplete: records.length > 0 && domain?.values["type"] !== "slave",
      records: records.flatMap(({ values }) => recordOf(values, "none") ?? []),
    };
  });
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
/** Of what a box stands for, so many are named. */
const MAX_NAMED = 12;
/** Of a box that more arrows leave, each label says where to. */
const MAX_PLAIN_LABELS = 2;

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

// The drawing.

/**
 * Static SVG within a `<div class="picture" data-picture>`: names, or of many zones the zones, and what they point at by name or address,
 * in the account, outside and missing.
 * @returns nothing if nothing points at anything
 */
export function zoneMap(zones: readonly ZoneDrawing[]): Html {
  const graph = graphOf(zones);
  const { nodes, edges } = graph;
  if (nodes.length === 0) return NOTHING;
  const columns = columnsOf(graph);
  const lines = nodes.map(nodeLines);
  const placed = place({ lines: lines.map(({ length }) => length), columns, arrows: edges, hasPorts: true });
  const numbers = numberBoxes(columns, placed);
  const leaving = groupBy(edges, ({ from }) => from);
  return html`${summaryText(graph)}
${draw({
  id: "zones",
  title: `Who points at whom: ${graph.pointers.toLocaleString("en")} records of ${graph.zones.toLocaleString("en")} zones`,
  boxes: nodes.map((node, index): DrawnBox => {
    const title = [
      `${numbers[index]} ${node.name}`,
      KINDS[node.kind],
      pointedText(node),
      someOf(node.members, MAX_NAMED),
    ];
    return {
      classes: [node.kind, node.mark],
      number: "",
      lines: lines[index] ?? [],
      title: title.filter((text) => text !== "").join("; "),
    };
  }),
  columns: columns.map((_, index) =>
    index === columns.length - 1 ? "What is pointed at" : index === 0 ? "Who points" : "",
  ),
  arrows: edges.map((edge) => {
    const [from, to] = [nodes[edge.from] as MapNode, nodes[edge.to] as MapNode];
    const classes = [to.kind, edge.mark];
    const isOneOfMany = (leaving.get(edge.from) ?? []).length > MAX_PLAIN_LABELS;
    return {
      from: edge.from,
      to: edge.to,
      classes,
      label: isOneOfMany ? `${typesText(edge)} ${to.name}` : typesText(edge),
      title: `${from.name} → ${to.name}: ${typesText(edge)}`,
    };
  }),
  placed,
  words: mapInWords(graph),
})}`;
}

const KINDS: Readonly<Record<MapNode["kind"], string>> = {
  zones: "",
  name: "",
  missing: "nothing answers for it",
  address: "",
  outside: "outside",
};

function nodeLines(node: MapNode): string[] {
  const { name, kind, members, inner } = node;
  const below = [
    ...(KINDS[kind] === "" ? [] : [KINDS[kind]]),
    ...(inner === 0 ? [] : [`${inner.toLocaleString("en")} within`]),
    ...(node.pointedAt - inner > 1 ? [pointedText(node)] : []),
  ];
  return [
    name,
    ...(members.length === 0 ? [] : [`${members[0]}, …`]),
    ...(below.length === 0 ? [] : [below.join(" · ")]),
  ];
}

function pointedText({ pointedAt, inner }: MapNode): string {
  const number = pointedAt - inner;
  return number === 0 ? "" : `${number.toLocaleString("en")} ${number === 1 ? "points" : "point"} here`;
}

/** `MX ×3, A` */
function typesText({ types, mark }: MapEdge): string {
  const sign = mark === "create" ? "+ " : mark === "delete" ? "- " : "";
  return (
    sign + types.map(([type, number]) => (number === 1 ? type : `${type} ×${number.toLocaleString("en")}`)).join(", ")
  );
}

/**
 * The longest way to each node from one that nothing points at; what points at nothing else is in the last column. Zones that point at each
 * other make a circle, which is opened where it is closed first.
 */
function columnsOf({ nodes, edges }: ZoneGraph): number[][] {
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

function summaryText({ zones, pointers, nodes, undrawn, missing, isFolded }: ZoneGraph): Html {
  const many = (number: number, one: string, several: string): string =>
    `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
  return html`<p>${many(pointers, "record points", "records point")} at a name or an address, in ${many(zones, "zone", "zones")}. ${
    isFolded
      ? `Zones that point at the same are one box; what most records point at is shown by itself, in ${nodes.length} boxes.`
      : "Each name is a box, each type of record a line to what it points at."
  }${missing === 0 ? "" : ` ${many(missing, "record points at a name", "records point at names")} for which nothing in the account answers: dashed red.`}${
    undrawn === 0 ? "" : ` The arrows of ${many(undrawn, "record", "records")} are left out.`
  }</p>`;
}

function mapInWords({ nodes, edges }: ZoneGraph): Html {
  const after = groupBy(edges, ({ from }) => from);
  const order = [...nodes.keys()].sort((a, b) => compareNatural(nodes[a]?.name ?? "", nodes[b]?.name ?? "") || a - b);
  return inWords("Who points at whom, in words", [
    html`<ul>${order.flatMap((index) => {
      const own = after.get(index);
      const { name, members } = nodes[index] as MapNode;
      if (own === undefined) return [];
      const whose = members.length === 0 ? "" : ` (${someOf(members, MAX_NAMED)})`;
      return [
        html`<li>${name}${whose} points at<ul>${own.map((edge) => {
          const to = nodes[edge.to] as MapNode;
          const kind = KINDS[to.kind] === "" ? "" : ` (${KINDS[to.kind]})`;
          return html`<li>${to.name}${kind} by ${typesText(edge)}</li>`;
        })}</ul></li>`,
      ];
    })}</ul>`,
  ]);
}
