/** One object as text and JSON: in the account beside what the project makes of it. */

import isEqual from "fast-deep-equal";
import { annotationText } from "../model/annotations.ts";
import type { Block, Change } from "../model/change.ts";
import type { Inspection, InventoryItem } from "../model/inventory.ts";
import type { Kinds } from "../model/kind.ts";
import type { Json, JsonObject, ObjectId, Values } from "../model/resource.ts";
import { compareText, jsonText } from "../model/text.ts";
import { blockText } from "./blocks.ts";
import { createPaint, shownValue } from "./change-lines.ts";
import { objectLines } from "./drift.ts";
import { renderGuardsText, type TextOptions } from "./plan-text.ts";
import {
  columnsOf,
  DEFAULT_WIDTH_COLUMNS,
  escapeText,
  padded,
  shorten,
  usableWidth,
  wrap,
  wrapItems,
} from "./terminal.ts";
import { count, sortKeys } from "./view.ts";

/** What is there, and what becomes of it. At least one of the two is not null. */
interface Side {
  readonly live: InventoryItem | null;
  readonly change: Change | null;
}

/** Records that share an address are told apart by their ids. */
function sidesOf({ live, changes }: Inspection): Side[] {
  const byId = new Map<ObjectId | null, InventoryItem>(live.map((item) => [item.id, item]));
  const sides = changes.map((change): Side => {
    const item = byId.get(change.id) ?? null;
    byId.delete(change.id);
    return { live: item, change };
  });
  return [...sides, ...[...byId.values()].map((item) => ({ live: item, change: null }))];
}

const INDENT = 2;
/** At most so many objects in it that differ are shown; the rest is counted. */
const MAX_DIFFERING = 40;

/** Newline-terminated. A field that differs begins with `~`. */
export function renderInspectionText(
  inspection: Inspection,
  { colour, width = DEFAULT_WIDTH_COLUMNS }: TextOptions,
  kinds: Kinds,
): string {
  const paint = createPaint(colour);
  const columns = usableWidth(width);
  const { address, plan, root } = inspection;
  const blocks = sidesOf(inspection).map((side): string[] => [
    paint.bold(headOf(side, escapeText(address))),
    ...factsOf(side, inspection, columns),
    "",
    ...tableOf(side, columns).map((line) => (line.startsWith(DIFFERS) ? paint.warn(line) : line)),
  ]);
  const guards =
    plan === null ? [] : plan.guards.filter((guard) => address === root || isWithin(guard.address, address));
  const asked = plan === null ? "" : renderGuardsText({ ...plan, guards }, { colour, width }, kinds);
  return [...blocks.map((lines) => lines.join("\n")), contentsText(inspection, columns, kinds), asked.trimEnd()]
    .filter((text) => text !== "")
    .join("\n\n")
    .concat("\n");
}

function isWithin(address: string, other: string): boolean {
  return address === other || address.startsWith(`${other}/`);
}

function headOf({ live, change }: Side, address: string): string {
  const id = live?.id ?? change?.id ?? null;
  return id === null ? `${address}, not in the account` : `${address}, id ${escapeText(String(id))}`;
}

function factsOf({ live, change }: Side, inspection: Inspection, columns: number): string[] {
  const { isProtected, mayBePruned } = inspection;
  const facts = [
    `whose: ${live === null ? ownerText(change) : whoseText(live)}`,
    ...(isProtected ? ["protect: true: it is never deleted or replaced"] : []),
    ...(change === null ? [] : [`apply: ${actionText(change)}`]),
    ...(mayBePruned ? ["apply: may prune it, as it carries the project's tag and nothing declares it"] : []),
    ...(change?.note == null ? [] : [`note: ${escapeText(change.note)}`]),
    ...(change?.annotations === undefined ? [] : [`entry: ${escapeText(annotationText(change.annotations))}`]),
  ];
  const blocked = change?.blocked ?? null;
  return [
    ...facts.flatMap((fact) => wrap(fact, columns, INDENT)),
    ...(blocked === null ? [] : blockLines(blocked, columns)),
  ];
}

function blockLines(blocked: Block, columns: number): string[] {
  const { reason, items, fix } = blockText(blocked, columns - 2 * INDENT);
  return [
    ...wrap(`blocked: ${reason}`, columns, INDENT),
    ...items.flatMap((item) => wrap(item, columns, 2 * INDENT)),
    ...(fix === "" ? [] : wrap(fix, columns, INDENT)),
  ];
}

function ownerText(change: Change | null): string {
  const owner = change?.before?.["owner"] ?? null;
  return owner === null ? "declared here" : `declared here, and tagged for the owner ${escapeText(String(owner))}`;
}

function whoseText({ declared, owner }: InventoryItem): string {
  const tag = owner === null ? "no owner's tag" : `tagged for the owner ${escapeText(owner)}`;
  if (declared === null) return `${tag} (there is no project)`;
  return declared ? `declared here, ${tag}` : `not declared here, ${tag}`;
}

function actionText({ action, labels, previousAddress, replaceFields }: Change): string {
  const renamed = previousAddress === null ? "" : `, in the account it is ${escapeText(previousAddress)}`;
  const because = labels.length === 0 ? "" : ` (${labels.join(", ")})`;
  switch (action) {
    case "no-op":
      return "leaves it as it is";
    case "create":
      return "makes it";
    case "update":
      return `changes it in place${because}${renamed}`;
    case "replace":
      return `deletes it and makes it anew, for its ${replaceFields.map(escapeText).join(", ")}${because}${renamed}`;
    case "delete":
      return `deletes it${because}`;
  }
}

// The fields, a line each: as they are, and as an apply leaves them.

const DIFFERS = "~ ";
const SAME = "  ";
const NOTHING = "-";
const BETWEEN = "  ";

interface Field {
  readonly name: string;
  /** undefined: it has none. */
  readonly live: Json | undefined;
  readonly declared: Json | undefined;
  readonly differs: boolean;
}

/** Those that can be declared first; of what else the service says, only what is there. */
function fieldsOf({ live, change }: Side): Field[] {
  const before: Values = change?.before ?? {};
  const after: Values = change?.after ?? {};
  const compared = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(compareText);
  const both = change !== null && change.before !== null && change.after !== null;
  const fields = compared.map((name) => ({
    ...{ name, live: before[name], declared: after[name] },
    differs: both && !isEqual(before[name] ?? null, after[name] ?? null),
  }));
  const others = Object.keys(live?.values ?? {}).filter((name) => !compared.includes(name));
  return [
    ...fields,
    ...others.map((name) => ({ name, live: live?.values[name], declared: undefined, differs: false })),
  ];
}

function tableOf(side: Side, columns: number): string[] {
  const fields = fieldsOf(side);
  const isCompared = side.change !== null && side.change.after !== null;
  const names = fields.reduce((most, { name }) => Math.max(most, columnsOf(escapeText(name))), "FIELD".length);
  const room = columns - DIFFERS.length - names - BETWEEN.length;
  const each = isCompared ? Math.floor((room - BETWEEN.length) / 2) : room;
  const shown = (value: Json | undefined): string => {
    if (value === undefined) return "";
    if (value === null) return NOTHING;
    const { text, bytes } = shownValue(value);
    return shorten(text, each, bytes);
  };
  const rows = [
    { mark: SAME, name: "FIELD", live: "IN THE ACCOUNT", declared: "DECLARED" },
    ...fields.map((field) => ({
      mark: field.differs ? DIFFERS : SAME,
      name: escapeText(field.name),
      live: shown(field.live),
      declared: shown(field.declared),
    })),
  ];
  const values = rows.reduce((most, row) => Math.max(most, columnsOf(row.live)), 0);
  return rows.map(({ mark, name, live, declared }) => {
    const start = `${mark}${padded(name, names)}${BETWEEN}`;
    return (isCompared ? `${start}${padded(live, values)}${BETWEEN}${declared}` : `${start}${live}`).trimEnd();
  });
}

function contentsText({ contents, plan }: Inspection, columns: number, kinds: Kinds): string {
  if (contents === null) return "";
  const { live, declared, differing } = contents;
  const words = kinds.of(contents.kind).words;
  const there = `${count(live, ...words)} in the account`;
  if (plan === null) return `${there}.`;
  const head = `${there}, ${declared} declared${differing.length === 0 ? "." : `, ${differing.length} differ:`}`;
  const shown = differing.slice(0, MAX_DIFFERING).flatMap((object) => objectLines(object, 0, columns, kinds));
  const rest = differing.length - MAX_DIFFERING;
  return [head, ...shown, ...(rest > 0 ? wrapItems([`and ${rest} more: tenon drift shows all`], columns, 0) : [])].join(
    "\n",
  );
}

// JSON for programs.

/** The version of `schemas/show.schema.json`. */
const SHOW_FORMAT_VERSION = 1;

/** Newline-terminated. */
export function renderInspectionJson(inspection: Inspection): string {
  const { address, kind, root, isProtected, mayBePruned, contents, plan } = inspection;
  const guards = (plan?.guards ?? []).filter((guard) => address === root || isWithin(guard.address, address));
  const document = {
    ...{ format_version: SHOW_FORMAT_VERSION, address, kind, root, protect: isProtected, may_be_pruned: mayBePruned },
    objects: sidesOf(inspection).map(objectJson),
    guards: guards.map(({ rule, address: guarded, consent }) => ({ rule, address: guarded, consent })),
    contents:
      contents === null
        ? null
        : {
            ...{ kind: contents.kind, live: contents.live, declared: plan === null ? null : contents.declared },
            differing: contents.differing.map(({ key, status, id }) => ({ key, status, id })),
          },
  };
  return `${jsonText(document, 2)}\n`;
}

function objectJson(side: Side): JsonObject {
  const { live, change } = side;
  const differing = fieldsOf(side).flatMap(({ name, differs }) => (differs ? [name] : []));
  return {
    id: live?.id ?? change?.id ?? null,
    whose: live?.whose ?? null,
    declared: live === null ? change !== null : live.declared,
    owner: live?.owner ?? null,
    action: change?.action ?? null,
    labels: change?.labels ?? [],
    blocked: change?.blocked?.type ?? null,
    note: change?.note ?? null,
    ...(change?.annotations === undefined ? {} : { annotations: { ...change.annotations } }),
    live: sortKeys(live === null ? (change?.before ?? null) : { ...live.values, ...change?.before }) ?? null,
    wanted: sortKeys(change?.after ?? null) ?? null,
    differing,
  };
}
