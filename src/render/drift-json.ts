/** Drift as JSON for programs: one document, one object a line. */

import { type Drift, type DriftObject, hasDrift } from "../model/drift.ts";
import { jsonText } from "../model/json-text.ts";
import type { Json } from "../model/resource.ts";
import { sortKeys } from "./view.ts";

/** Of schemas/drift.schema.json. */
const DRIFT_FORMAT_VERSION = 1;

/** Newline-terminated. */
export function renderDriftJson(drift: Drift): string {
  const { owner, targets, excludes, objects, summary } = drift;
  const head = { format_version: DRIFT_FORMAT_VERSION, drift: hasDrift(drift), owner, targets, excludes, summary };
  const parts = Object.entries(head).map(([key, value]) => `${jsonText(key)}:${jsonText(value)}`);
  const lines = objects.map((object) => jsonText(sortKeys(objectJson(object))));
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n]`;
  return `{\n${[...parts, `"objects":${list}`].join(",\n")}\n}\n`;
}

function objectJson({ key, address, liveAddress, root, kind, status, id, labels, fields, note }: DriftObject): Json {
  return {
    key,
    address,
    live_address: liveAddress,
    root,
    kind,
    status,
    id,
    labels,
    fields: fields.map(({ name, declared, live }) => ({ name, declared, live })),
    note,
  };
}
