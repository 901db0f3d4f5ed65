/** Zones as a map of who points at whom. */

import type { Change } from "../../model/change.ts";
import type { InventoryItem } from "../../model/inventory.ts";
import type { LeftAlone } from "../../model/plan.ts";
import { type Json, nameInAddress, type Values } from "../../model/resource.ts";
import { compareNatural, groupBy } from "../../model/text.ts";
import type { Mark } from "../view.ts";
import { type DrawnBox, draw, inWords, numberBoxes, place, someOf } from "./drawing.ts";
import { type Html, html, NOTHING } from "./markup.ts";
import {
  columnsOfMap,
  graphOf,
  type MapEdge,
  type MapNode,
  type RecordDrawing,
  type ZoneDrawing,
  type ZoneGraph,
} from "./zone-graph.ts";

const DOMAIN = "domain";
const RECORD = "domain_record";

/**
 * The zones of a plan with all of their records, no-ops included. A record whose name or target changes is two: one goes, the other comes.
 * @param leftAlone as the plan says it: where records are left alone, what is not in the plan need not be missing
 */
export function zonesOfChanges(changes: readonly Change[], leftAlone: readonly LeftAlone[]): ZoneDrawing[] {
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

// The drawing.

/** Of what a box stands for, so many are named. */
const MAX_NAMED = 12;
/** Of a box that more arrows leave, each label says where to. */
const MAX_PLAIN_LABELS = 2;

/**
 * Static SVG within a `<div class="picture" data-picture>`: names, or of many zones the zones, and what they point at by name or address,
 * in the account, outside and missing.
 * @returns nothing if nothing points at anything
 */
export function zoneMap(zones: readonly ZoneDrawing[]): Html {
  const graph = graphOf(zones);
  const { nodes, edges } = graph;
  if (nodes.length === 0) return NOTHING;
  const columns = columnsOfMap(graph);
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
      classes: [classOf(node), node.mark],
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
    const classes = [classOf(to), edge.mark];
    const isOneOfMany = (leaving.get(edge.from) ?? []).length > MAX_PLAIN_LABELS;
    return {
      from: edge.from,
      to: edge.to,
      classes,
      label: isOneOfMany ? `${typesText(edge)} → ${to.name}` : typesText(edge),
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

/** `name` is one of the changes' lines. */
function classOf({ kind }: MapNode): string {
  return kind === "name" ? "inside" : kind;
}

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

function summaryText({ zones, pointers, nodes, undrawn, missing, isFolded }: ZoneGraph): Html {
  const many = (number: number, one: string, several: string): string =>
    `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
  return html`<p>${many(pointers, "record points", "records point")} at a name or an address, in ${many(zones, "zone", "zones")}. ${
    isFolded
      ? `Zones that point at the same are one box; what most records point at is shown by itself, in ${nodes.length} boxes.`
      : "Each name is a box, each type of record a line to what it points at."
  }${nodes.some(({ kind }) => kind === "outside") ? " What is outside is in none of these zones." : ""}${
    missing === 0
      ? ""
      : ` ${many(missing, "record points at a name", "records point at names")} for which nothing in the account answers: dashed red.`
  }${undrawn === 0 ? "" : ` The arrows of ${many(undrawn, "record", "records")} are left out.`}</p>`;
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
