/** Networks as bars of address space: subnets, what is free between them, and attached interfaces. */

import {
  addressOf,
  blockAt,
  blocksOf,
  cidrOf,
  contains,
  gapsWithin,
  PRIVATE_BLOCKS,
  type Range,
  readRange,
  sizeOf,
  smallestAround,
} from "../../dns/ipv4-range.ts";
import type { AttachedInterface, Change } from "../../model/change.ts";
import type { InventoryItem } from "../../model/inventory.ts";
import type { Address, Json } from "../../model/resource.ts";
import { compareNatural, groupBy } from "../../model/text.ts";
import { cut, escapeText, fits } from "../terminal.ts";
import type { Mark } from "../view.ts";
import { someOf } from "./drawing.ts";
import { type Html, html, join, NOTHING } from "./markup.ts";

/** A VPC as it is, or as a plan leaves it. */
export interface NetworkDrawing {
  readonly address: Address;
  readonly label: string;
  readonly region: string | null;
  /** What becomes of the VPC itself; `none`: it stays, or is only listed. */
  readonly mark: Mark;
  /** In no order. Ranges may overlap: what goes stands beside what comes in its place. */
  readonly subnets: readonly SubnetDrawing[];
}

export interface SubnetDrawing {
  readonly address: Address;
  readonly label: string;
  /** CIDR as the service or a manifest says it: may be no range at all. */
  readonly ipv4: string;
  /** `replace`: it is the new range, and `before` the old one. */
  readonly mark: Mark;
  /** The range before, if it is another one. */
  readonly before: string | null;
  readonly isBlocked: boolean;
  /** How many interfaces are attached; null: not known. */
  readonly attached: number | null;
  /** Those that are known one by one. */
  readonly interfaces: readonly InterfaceDrawing[];
}

export interface InterfaceDrawing {
  readonly node_id: number;
  readonly interface_id: number;
  readonly active: boolean;
  /** An address, or a range; null: not known. */
  readonly address: string | null;
}

/** Up to so many networks each have their table open. */
const MAX_OPEN_TABLES = 3;
const MAX_DRAWN_AT_ONCE = 20;
/** Of a subnet's interfaces, and of the blocks that a free range is made of, so many are named. */
const MAX_NAMED_INTERFACES = 20;
const MAX_NAMED_BLOCKS = 4;

const VPC = "vpc";
const SUBNET = "vpc_subnet";

/** The networks of a plan, no-ops included. */
export function networksOfChanges(changes: readonly Change[]): NetworkDrawing[] {
  const own = changes.filter(({ kind }) => kind === VPC || kind === SUBNET);
  return [...groupBy(own, ({ root }) => root)].map(([root, inside]): NetworkDrawing => {
    const vpc = inside.find(({ kind }) => kind === VPC);
    const values = vpc?.after ?? vpc?.before;
    const attached = attachedOf(inside);
    return {
      address: root,
      label: textOf(values?.["label"]) ?? root.slice(VPC.length + 1),
      region: textOf(values?.["region"]),
      mark: vpc === undefined ? "none" : markOf(vpc),
      subnets: inside.flatMap((change) => (change.kind === SUBNET ? [subnetOfChange(change, attached)] : [])),
    };
  });
}

/** A plan looks at the interfaces that stop a change, and at no others. */
function attachedOf(changes: readonly Change[]): ReadonlyMap<Address, readonly AttachedInterface[]> {
  const all = changes.flatMap(({ blocked }) => (blocked?.type === "interfaces" ? blocked.interfaces : []));
  const each = new Map(all.map((one) => [one.interface_id, one]));
  return groupBy(each.values(), ({ subnet }) => subnet);
}

function subnetOfChange(change: Change, attached: ReadonlyMap<Address, readonly AttachedInterface[]>): SubnetDrawing {
  const { address, before, after, blocked, range } = change;
  const values = after ?? before;
  const [ipv4, old] = [textOf(values?.["ipv4"]) ?? "", textOf(before?.["ipv4"])];
  const interfaces = attached.get(change.previousAddress ?? address) ?? attached.get(address) ?? [];
  return {
    address,
    label: textOf(values?.["label"]) ?? address,
    ipv4,
    mark: markOf(change),
    before: old === ipv4 ? null : old,
    isBlocked: blocked !== null,
    attached: range?.attached ?? (interfaces.length === 0 ? null : interfaces.length),
    interfaces,
  };
}

function markOf({ action }: Change): Mark {
  return action === "no-op" ? "none" : action;
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** The networks of an account's list. */
export function networksOfInventory(items: readonly InventoryItem[]): NetworkDrawing[] {
  const own = items.filter(({ kind }) => kind === VPC || kind === SUBNET);
  return [...groupBy(own, ({ root }) => root)].map(([root, inside]): NetworkDrawing => {
    const vpc = inside.find(({ kind }) => kind === VPC);
    return {
      address: root,
      label: vpc?.name ?? textOf(inside[0]?.values["vpc"]) ?? root.slice(VPC.length + 1),
      region: textOf(vpc?.values["region"]),
      mark: "none",
      subnets: inside.flatMap(({ kind, address, name, values }): SubnetDrawing[] => {
        if (kind !== SUBNET) return [];
        const { ipv4, interfaces } = values;
        const stays = { mark: "none", before: null, isBlocked: false, interfaces: [] } as const;
        const attached = typeof interfaces === "number" ? interfaces : null;
        return [{ address, label: name, ipv4: textOf(ipv4) ?? "", attached, ...stays }];
      }),
    };
  });
}

/**
 * A figure for each network, with a bar for each block in which it has subnets. Of a plan, networks that stay as they are come last.
 * Some n log n in the subnets.
 * @returns nothing if there are no networks
 */
export function networkPictures(networks: readonly NetworkDrawing[]): Html {
  const sorted = [...networks].sort((a, b) => compareNatural(a.label, b.label) || compareNatural(a.address, b.address));
  const isChanged = ({ mark, subnets }: NetworkDrawing): boolean =>
    mark !== "none" || subnets.some((subnet) => subnet.mark !== "none" || subnet.isBlocked);
  const changed = sorted.filter(isChanged);
  const [first, rest] = changed.length === 0 ? [sorted, []] : [changed, sorted.filter((one) => !isChanged(one))];
  if (first.length === 0) return NOTHING;
  const isOpen = first.length <= MAX_OPEN_TABLES;
  const others =
    rest.length === 0
      ? null
      : html`<details class="networks${crowdClass(rest)}"><summary>${rest.length.toLocaleString("en")} ${rest.length === 1 ? "network stays as it is" : "networks stay as they are"}</summary>${rest.map((one) => networkFigure(one, false))}</details>`;
  return html`<div class="networks${crowdClass(first)}">${first.map((one) => networkFigure(one, isOpen))}</div>${others}`;
}

/** A browser draws those of many that are in sight. */
function crowdClass({ length }: readonly NetworkDrawing[]): string {
  return length > MAX_DRAWN_AT_ONCE ? " in-sight" : "";
}

const SIGNS: Readonly<Record<Mark, string>> = { create: "+ ", update: "~ ", delete: "- ", replace: "± ", none: "" };
const WORDS: Readonly<Record<Mark, string>> = {
  create: "to be made",
  update: "changes",
  delete: "to be deleted",
  replace: "to be made anew",
  none: "",
};

function networkFigure(network: NetworkDrawing, isOpen: boolean): Html {
  const { label, region, mark, subnets } = network;
  const bars = barsOf(subnets);
  const unread = subnets.filter(({ ipv4, before }) => readRange(ipv4) === null && readRange(before ?? "") === null);
  const none = subnets.length === 0 ? html`<p class="quiet">It has no subnets.</p>` : null;
  return html`<figure class="${`network ${mark}`}">
<figcaption><b>${SIGNS[mark]}${label}</b>${region === null ? "" : ` in ${region}`}${mark === "none" ? "" : `, ${WORDS[mark]}`}</figcaption>
${none}${bars.map(barElement)}${subnets.length === 0 ? null : rangesTable(bars, unread, isOpen)}
</figure>
`;
}

// Bars: where the subnets of one block are now, and where they are then.

/** The ranges of a network in one block of RFC 1918. */
export interface Bar {
  /** The smallest CIDR block that contains all of its ranges, now and then. */
  readonly within: Range;
  /** One if no range comes or goes. Of none two subnets overlap, unless the service has such ones. */
  readonly lanes: readonly Lane[];
  /** Ranges that no subnet has then, in order. */
  readonly free: readonly Range[];
  readonly subnets: readonly SubnetDrawing[];
}

export interface Lane {
  /** `now`, `then`, or nothing if the two are alike. */
  readonly name: string;
  readonly segments: readonly Segment[];
}

/** In per cent of the bar. */
export interface Segment {
  readonly x: number;
  readonly width: number;
  readonly range: Range;
  /** null: it is free. */
  readonly subnet: SubnetDrawing | null;
}

interface Placed {
  readonly subnet: SubnetDrawing;
  readonly range: Range;
}

export function barsOf(subnets: readonly SubnetDrawing[]): Bar[] {
  const now = subnets.flatMap((subnet) => placedAt(subnet, rangeNow(subnet)));
  const then = subnets.flatMap((subnet) => placedAt(subnet, rangeThen(subnet)));
  const blockOf = ({ range }: Placed): string => cidrOf(blockAround(range));
  const [nowIn, thenIn] = [groupBy(now, blockOf), groupBy(then, blockOf)];
  const blocks = [...new Set([...nowIn.keys(), ...thenIn.keys()])].sort(compareNatural);
  return blocks.map((block) => barOf(nowIn.get(block) ?? [], thenIn.get(block) ?? []));
}

function placedAt(subnet: SubnetDrawing, text: string | null): Placed[] {
  const range = text === null ? null : readRange(text);
  return range === null ? [] : [{ subnet, range }];
}

function rangeNow({ mark, before, ipv4 }: SubnetDrawing): string | null {
  return mark === "create" ? null : (before ?? ipv4);
}

/** What is blocked stays as it is. */
function rangeThen(subnet: SubnetDrawing): string | null {
  if (subnet.isBlocked) return rangeNow(subnet);
  return subnet.mark === "delete" ? null : subnet.ipv4;
}

const OTHER_PREFIX = 8;

function blockAround(range: Range): Range {
  const size = sizeOf(OTHER_PREFIX);
  const other = blockAt(Math.floor(range.first / size) * size, OTHER_PREFIX);
  return PRIVATE_BLOCKS.find((block) => contains(block, range)) ?? (contains(other, range) ? other : blockAt(0, 0));
}

function barOf(now: readonly Placed[], then: readonly Placed[]): Bar {
  const both = [...now, ...then];
  const within = smallestAround(both.map(({ range }) => range));
  const scale = scaleOf(
    within,
    both.map(({ range }) => range),
  );
  const free = gapsWithin(
    within,
    then.map(({ range }) => range),
  );
  const isAlike = now.length === then.length && now.every(({ range }, index) => sameRange(range, then[index]?.range));
  const isBoth = !isAlike && now.length > 0 && then.length > 0;
  const lanes = isBoth
    ? [...lanesOf("now", now, within, scale), ...lanesOf("then", then, within, scale)]
    : lanesOf("", then.length > 0 ? then : now, within, scale);
  const subnets = [...new Set(both.map(({ subnet }) => subnet))];
  return { within, lanes, free, subnets };
}

function sameRange(one: Range, other: Range | undefined): boolean {
  return one.first === other?.first && one.last === other.last;
}

/** Of subnets that overlap, which the service should not have, so many are drawn beneath each other; the table lists all. */
const MAX_LANES = 20;

/** Subnets side by side with what is free between them; those that overlap others on lanes beneath. */
function lanesOf(name: string, placed: readonly Placed[], within: Range, scale: Scale): Lane[] {
  const rows: Placed[][] = [];
  for (const one of [...placed].sort((a, b) => a.range.first - b.range.first || b.range.last - a.range.last)) {
    const row = rows.find((own) => (own.at(-1)?.range.last ?? -1) < one.range.first) ?? [];
    if (row.length === 0 && rows.length < MAX_LANES) rows.push(row);
    row.push(one);
  }
  const segmentOf = (range: Range, subnet: SubnetDrawing | null): Segment => {
    const x = scale(range.first);
    return { x, width: scale(range.last + 1) - x, range, subnet };
  };
  return rows.map((row, index): Lane => {
    const gaps =
      index > 0
        ? []
        : gapsWithin(
            within,
            placed.map(({ range }) => range),
          );
    const segments = [
      ...row.map(({ range, subnet }) => segmentOf(range, subnet)),
      ...gaps.map((range) => segmentOf(range, null)),
    ];
    return { name: index === 0 ? name : "", segments: segments.sort((a, b) => a.x - b.x) };
  });
}

/** Where an address is on a bar, in per cent. */
type Scale = (address: number) => number;

const LEAST_USED_PER_CENT = 1.2;
const LEAST_FREE_PER_CENT = 0.4;
/** Of the bar, so much at most is given to what would be too small to be seen. */
const MOST_USED_PER_CENT = 60;
const MOST_FREE_PER_CENT = 15;

/**
 * In proportion, but no part between two neighbouring borders is too small to be seen: what the small ones get in addition, the others have
 * less, each by the same factor. Both lanes of a bar share the scale.
 */
function scaleOf(within: Range, ranges: readonly Range[]): Scale {
  const borders = [
    ...new Set([within.first, within.last + 1, ...ranges.flatMap(({ first, last }) => [first, last + 1])]),
  ];
  borders.sort((a, b) => a - b);
  const index = new Map(borders.map((border, at) => [border, at]));
  const change = new Int32Array(borders.length + 1);
  for (const { first, last } of ranges) {
    change[index.get(first) as number] = (change[index.get(first) as number] as number) + 1;
    change[index.get(last + 1) as number] = (change[index.get(last + 1) as number] as number) - 1;
  }
  const parts: { readonly size: number; readonly least: number; width: number }[] = [];
  const number = borders.length - 1;
  const used = Math.min(LEAST_USED_PER_CENT, MOST_USED_PER_CENT / number);
  const free = Math.min(LEAST_FREE_PER_CENT, MOST_FREE_PER_CENT / number);
  let open = 0;
  for (let at = 0; at < number; at += 1) {
    open += change[at] as number;
    const size = (borders[at + 1] as number) - (borders[at] as number);
    parts.push({ size, least: open > 0 ? used : free, width: 0 });
  }
  let [room, left] = [100, within.last - within.first + 1];
  for (const part of [...parts].sort((a, b) => a.size / a.least - b.size / b.least)) {
    part.width = Math.max(part.least, (part.size / left) * room);
    room -= part.width;
    left -= part.size;
  }
  const places = [0];
  for (const { width } of parts) places.push((places.at(-1) as number) + width);
  return (address) => Math.round(Math.min(100, places[index.get(address) as number] as number) * 1_000) / 1_000;
}

// As HTML.

const LANE_HEIGHT = 40;
/** A narrower segment has one line of text, and one that is not `WIDE` has none on a phone. */
const SHORT_PER_CENT = 9.5;
const WIDE_PER_CENT = 22;
/** Of its text, on a bar of usual width; of fewer than so many, nobody could read anything. */
const COLUMNS_PER_CENT = 0.95;
const LEAST_COLUMNS = 4;
/** A bar of more subnets is wider than a phone, and one of many than any screen: it scrolls. */
const CROWDS: readonly (readonly [more: number, name: string])[] = [
  [160, "crowd"],
  [60, "many"],
  [12, "some"],
];

function barElement({ within, lanes, free, subnets }: Bar): Html {
  const all = addressesIn(within);
  const left = free.reduce((sum, range) => sum + addressesIn(range), 0);
  const changes = subnets.some(({ mark, isBlocked }) => !isBlocked && mark !== "none" && mark !== "update");
  const number = left === 0 ? "no address" : `${left.toLocaleString("en")} of ${all.toLocaleString("en")} addresses`;
  const title = `${cidrOf(within)}: ${number} ${changes ? "will be" : left === 0 ? "is" : "are"} free`;
  const [, crowd] = CROWDS.find(([more]) => subnets.length > more) ?? [0, "few"];
  const shown = new Set(lanes.flatMap(({ segments }) => segments.map(({ subnet }) => subnet)));
  const hidden = subnets.filter((subnet) => !shown.has(subnet)).length;
  const rest =
    hidden === 0
      ? null
      : html`<p class="quiet">${hidden.toLocaleString("en")} more overlap these, and are not drawn.</p>`;
  const drawn = lanes.map(({ name, segments }) => {
    const label = `${name === "" ? "" : `${name}: `}${subnets.length} ${subnets.length === 1 ? "subnet" : "subnets"}, ${title}`;
    return html`${name === "" ? null : html`<span class="lane-name">${name}</span>`}<svg class="bar" role="img" aria-label="${label}" width="100%" height="${LANE_HEIGHT}">${segments.map(segmentElement)}</svg>`;
  });
  return html`<div class="space"><p>${title}</p><div class="bars"${crowd === "few" ? null : html` tabindex="0" role="group" aria-label="${title}"`}><div class="${crowd}">${drawn}<div class="ends"><span>${addressOf(within.first)}</span><span>${addressOf(within.last)}</span></div></div></div>${rest}</div>
`;
}

/** What is free is the ground of the bar, and said where there is room. */
function segmentElement({ x, width, range, subnet }: Segment): Html | null {
  const columns = Math.floor(width * COLUMNS_PER_CENT);
  if (subnet === null) {
    if (columns <= LEAST_COLUMNS) return null;
    const lines = ["free", width < SHORT_PER_CENT ? "" : numberText(range)];
    const title = `free: ${freeText(range)}, ${addressesText(range)}`;
    return html`<svg class="free${sizeOfText(width)}" x="${x}%" width="${width}%"><title>${title}</title>${textElements(lines)}</svg>`;
  }
  const { mark, label, isBlocked, attached } = subnet;
  const lines = [
    columns < LEAST_COLUMNS ? "" : beginning(`${SIGNS[mark]}${label}`, columns),
    width < SHORT_PER_CENT ? "" : `${rangeText(range)}${attachedText(subnet, " · ")}`,
  ];
  return html`<svg class="subnet ${mark}${isBlocked ? " blocked" : ""}${sizeOfText(width)}" x="${x}%" width="${width}%"><title>${subnetTitle(subnet, range)}</title><rect width="100%" height="100%"/>${
    attached ? html`<rect class="attached" y="${LANE_HEIGHT - 4}" width="100%" height="4"/>` : null
  }${textElements(lines)}</svg>`;
}

function beginning(text: string, columns: number): string {
  const escaped = escapeText(text);
  return fits(escaped, columns) ? escaped : `${cut(escaped, columns - 1)}…`;
}

function sizeOfText(width: number): string {
  return width < WIDE_PER_CENT ? " short" : "";
}

function textElements(lines: readonly string[]): Html {
  return join(lines.map((line, at) => (line === "" ? null : html`<text x="5" y="${16 + at * 15}">${line}</text>`)));
}

function addressesIn({ first, last }: Range): number {
  return last - first + 1;
}

function addressesText(range: Range): string {
  const number = addressesIn(range);
  return `${number.toLocaleString("en")} ${number === 1 ? "address" : "addresses"}`;
}

function rangeText(range: Range): string {
  return blocksOf(range).map(cidrOf).join(", ");
}

function freeText(range: Range): string {
  return someOf(blocksOf(range).map(cidrOf), MAX_NAMED_BLOCKS);
}

function subnetTitle(subnet: SubnetDrawing, range: Range): string {
  const becomes = becomesText(subnet);
  return `${subnet.label}: ${rangeText(range)}, ${addressesText(range)}${attachedText(subnet, ", ")}${becomes === "" ? "" : `; ${becomes}`}`;
}

function attachedText({ attached }: SubnetDrawing, before: string): string {
  return attached === null || attached === 0 ? "" : `${before}${attached.toLocaleString("en")} attached`;
}

function becomesText({ mark, before, ipv4, isBlocked }: SubnetDrawing): string {
  const moves = before === null ? "" : `: ${before} becomes ${ipv4}`;
  return `${WORDS[mark]}${moves}${isBlocked ? `${mark === "none" ? "" : ", "}blocked` : ""}`;
}

/** In the order of addresses, with what is free between; what is no range comes last. */
function rangesTable(bars: readonly Bar[], unread: readonly SubnetDrawing[], isOpen: boolean): Html {
  const all = [...bars.flatMap(({ subnets }) => subnets), ...unread];
  const hasInterfaces = all.some(({ attached }) => attached !== null);
  const own = [...new Set(bars.flatMap(({ subnets }) => subnets))].flatMap((subnet) => {
    const range = readRange(subnet.ipv4) ?? readRange(subnet.before ?? "");
    return range === null ? [] : [{ first: range.first, row: subnetRow(subnet, range, hasInterfaces) }];
  });
  const gaps = bars.flatMap(({ free }) =>
    free.map((range) => ({ first: range.first, row: freeRow(range, hasInterfaces) })),
  );
  const rows = [...own, ...gaps].sort((a, b) => a.first - b.first).map(({ row }) => row);
  const others = unread.map((subnet) => subnetRow(subnet, null, hasInterfaces));
  return html`<details class="ranges"${isOpen ? OPEN : null}><summary>The ranges as a table</summary><div class="table-frame" tabindex="0" role="group" aria-label="Ranges"><table><thead><tr><th scope="col">Range</th><th scope="col">Addresses</th><th scope="col">Subnet</th>${hasInterfaces ? INTERFACES : null}</tr></thead><tbody>
${join([...rows, ...others])}</tbody></table></div></details>`;
}

const INTERFACES: Html = html`<th scope="col">Interfaces</th>`;
const OPEN: Html = html` open`;

function subnetRow(subnet: SubnetDrawing, range: Range | null, hasInterfaces: boolean): Html {
  const { label, ipv4, mark, isBlocked } = subnet;
  const becomes = becomesText(subnet);
  const [shown, number] = range === null ? [`${ipv4} (no range)`, ""] : [rangeText(range), numberText(range)];
  return html`<tr class="${mark}${isBlocked ? " blocked" : ""}"><td>${shown}</td><td>${number}</td><td>${SIGNS[mark]}${label}${becomes === "" ? "" : ` (${becomes})`}</td>${hasInterfaces ? html`<td>${interfacesText(subnet)}</td>` : null}</tr>
`;
}

function freeRow(range: Range, hasInterfaces: boolean): Html {
  return html`<tr class="free"><td>${freeText(range)}</td><td>${numberText(range)}</td><td>free</td>${hasInterfaces ? html`<td></td>` : null}</tr>
`;
}

function numberText(range: Range): string {
  return addressesIn(range).toLocaleString("en");
}

function interfacesText({ attached, interfaces }: SubnetDrawing): string {
  const named = interfaces.map(({ node_id, interface_id, active, address }) => {
    return `node ${node_id}, interface ${interface_id}${address === null ? "" : `, ${address}`}${active ? "" : ", inactive"}`;
  });
  const listed = named.length === 0 ? "" : `: ${someOf(named, MAX_NAMED_INTERFACES).replaceAll(", node ", "; node ")}`;
  return attached === null ? "" : `${attached.toLocaleString("en")}${listed}`;
}
