/** Lists of the account as a page: tables to search and filter, with networks and zones as pictures. */

import type { InventoryItem } from "../../model/inventory.ts";
import type { ObjectId } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import type { Cell, Column } from "../listing.ts";
import { type Html, html } from "./markup.ts";
import { type InterfaceDrawing, type NetworkDrawing, networkPictures, networksOfInventory } from "./network-picture.ts";
import { renderPage } from "./page.ts";
import { filterBar, frame, picture, type Section } from "./sections.ts";
import { roomPerValue, valueHtml } from "./values.ts";
import { zoneMap, zonesOfInventory } from "./zone-map.ts";

export interface ListPage {
  readonly title: string;
  /** What the list was narrowed to, as flags and their values. */
  readonly narrowed: readonly (readonly [flag: string, value: string])[];
  readonly tables: readonly ListTable[];
  /** Of what pictures show; empty: there are none. */
  readonly items: readonly InventoryItem[];
  readonly attached: readonly AttachedAddress[];
}

export interface ListTable {
  /** As the command names it: `vpcs`. */
  readonly kind: string;
  readonly heading: string;
  readonly rows: readonly unknown[];
  /** Of these rows. */
  readonly columns: readonly Column<never>[];
  /** What stands there if there are no rows. */
  readonly none: string;
}

/** An entry of the account's list of addresses. */
export interface AttachedAddress {
  readonly subnet_id: number;
  readonly node_id: number;
  readonly interface_id: number;
  readonly active: boolean;
  readonly address: string | null;
  readonly address_range: string | null;
}

/** Newline-terminated. Linear in the number of rows. */
export function renderListHtml({ title, narrowed, tables, items, attached }: ListPage): string {
  const facts = narrowed.map(([flag, value]) => html`<span class="pair">${flag} <b>${value}</b></span> `);
  const states = [...new Set(tables.flatMap(({ rows }) => rows.flatMap((row) => stateOf(row) ?? [])))].sort();
  const isLong = tables.some(({ rows }) => rows.length > 1);
  const bar = filterBar({
    ...{ nouns: ["row", "rows"] as const, roots: null, isTree: false },
    states: states.map((state) => ({ value: state, text: STATES[state] })),
    kinds: tables.length > 1 ? tables.map(({ kind, heading }) => ({ value: kind, text: heading })) : [],
  });
  const body = frame({
    ...{ made: "tenon list", title, tallies: [] },
    facts: facts.length === 0 ? [] : [html`${facts}`],
    sections: [
      picture("networks-picture", "Address space", "Address space", networkPictures(networksOf(items, attached))),
      picture("zones-picture", "Zone map", "Zones: who points at whom", zoneMap(zonesOfInventory(items))),
      ...tables.map((table, index): Section => {
        const section = tableSection(table);
        return index === 0 && isLong ? { ...section, bar } : section;
      }),
    ],
  });
  return renderPage({ title, body });
}

type State = "here" | "owned" | "nobody";
const STATES: Readonly<Record<State, string>> = { here: "declared here", nobody: "nobody's", owned: "of an owner" };

/** Whose it is, if that is said of such rows. */
function stateOf(row: unknown): State | null {
  const { whose } = row as { whose?: unknown };
  if (typeof whose !== "string") return null;
  return whose === "here" || whose === "nobody" ? whose : "owned";
}

function tableSection({ kind, heading, rows, columns: own, none }: ListTable): Section {
  const columns = (own as readonly Column<unknown>[]).filter((column) => column.heading !== null);
  const head = columns.map((column) => html`<th scope="col">${column.heading ?? ""}</th>`);
  const table = html`<div class="table" tabindex="0" role="region" aria-label="${heading}"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${rows.map((row) => rowHtml(row, kind, columns, roomPerValue(rows.length)))}</tbody>
</table></div>`;
  return { id: kind, short: heading, heading, body: rows.length === 0 ? html`<p>${none}</p>` : table };
}

function rowHtml(row: unknown, kind: string, columns: readonly Column<unknown>[], room: number): Html {
  const state = stateOf(row);
  const cells = columns.map(({ heading, value, shown, whole }, index) => {
    const cell = cellHtml((whole ?? shown ?? value)(row), room);
    return index === 0
      ? html`<th scope="row" data-label="${heading ?? ""}">${cell}</th>`
      : html`<td data-label="${heading ?? ""}">${cell}</td>`;
  });
  return html`<tr class="row" data-kind="${kind}" data-state="${state ?? ""}">${cells}</tr>
`;
}

/** A longer value is broken where its column ends. */
const MAX_UNBROKEN_CHARACTERS = 40;

function cellHtml(cell: Cell, room: number): Html {
  if (cell === null || cell === "") return html`<span class="muted">-</span>`;
  if (typeof cell === "boolean") return html`${cell ? "yes" : "no"}`;
  if (typeof cell === "number") return html`${cell}`;
  return cell.length > MAX_UNBROKEN_CHARACTERS ? valueHtml(cell, room) : html`<span class="unbroken">${cell}</span>`;
}

/** The networks with what is known of their interfaces. */
function networksOf(items: readonly InventoryItem[], attached: readonly AttachedAddress[]): NetworkDrawing[] {
  const networks = networksOfInventory(items);
  if (attached.length === 0) return networks;
  const ids = new Map<string, ObjectId>(items.map(({ address, id }) => [address, id]));
  const bySubnet = groupBy(attached, ({ subnet_id }): ObjectId => subnet_id);
  return networks.map((network) => ({
    ...network,
    subnets: network.subnets.map((subnet) => {
      const own = bySubnet.get(ids.get(subnet.address) ?? "") ?? [];
      return { ...subnet, interfaces: own.map(interfaceOf) };
    }),
  }));
}

function interfaceOf({ node_id, interface_id, active, address, address_range }: AttachedAddress): InterfaceDrawing {
  return { node_id, interface_id, active, address: address ?? address_range };
}
