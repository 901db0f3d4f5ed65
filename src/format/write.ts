/** Data → the text of a manifest, in the form that `tenon fmt` keeps. */

import type { Consent, Declared, Desired, Removed } from "../model/desired.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { jsonText } from "../model/text.ts";
import type { Unit, WrittenEntry } from "../model/unit.ts";
import { escapeYaml, isPlainlyVisible } from "../render/terminal.ts";
import { layOut, type SectionForm, textOf } from "./layout.ts";

interface WriteOptions {
  /** Of all units: how their sections are laid out. */
  readonly units: readonly { readonly spec: SectionForm }[];
  /** Whether records are sorted, and those that differ by their target alone are joined. */
  readonly arrangesRecords: boolean;
  /** For the first line, without its `#`. */
  readonly comment?: string;
}

/**
 * Newline-terminated. What is not plainly visible is escaped.
 * @param manifest its texts are written as they are: references are not escaped here
 */
export async function writeManifest(manifest: JsonObject, options: WriteOptions): Promise<string> {
  const yaml = await import("yaml");
  const document = new yaml.Document(manifest, { aliasDuplicateObjects: false });
  const sections = options.units.map(({ spec }) => spec);
  layOut(document, yaml, { sections, isNew: true, arrangesRecords: options.arrangesRecords });
  yaml.visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && !isPlainlyVisible(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  const text = escapeYaml(textOf(document, yaml));
  return options.comment === undefined ? text : `# ${options.comment}\n${text}`;
}

// The desired state as one manifest, with every default, variable and record set put in.

/**
 * A manifest, newline-terminated, as YAML or JSON. Put in a folder as tenon.yaml, it has the same desired state. Files that it names
 * (`upload`) are not part of it. What is not plainly visible is escaped.
 */
export async function renderDesired(
  desired: Desired,
  units: readonly WritableUnit[],
  format: "text" | "json",
): Promise<string> {
  const manifest = manifestOf(desired, units);
  if (format === "json") return `${jsonText(manifest, 2)}\n`;
  return writeManifest(manifest, { units, arrangesRecords: false });
}

// Declared objects → the manifest entries that declare them, from the units' specs and under the API's field names.

/** The part of a unit that is needed to write its entries. */
type WritableUnit = Pick<Unit, "name"> & {
  readonly spec: SectionForm & Pick<Unit["spec"], "write">;
};

/** An entry has no undefined values. A key that it leaves out is unmanaged, or has the manifest's default. */
type Entry = Record<string, Json>;

/**
 * A whole manifest with the same desired state: variables, defaults and record sets are put in, and each domain has an entry. Entries keep
 * the order of the manifests.
 */
function manifestOf(desired: Desired, units: readonly WritableUnit[]): JsonObject {
  const sections = units.map(({ name, spec }) => {
    const declared = desired.declared.filter((entry) => entry.unit === name);
    return [spec.section, declared.map((entry) => entryOf(entry, spec.write(entry.spec)))] as const;
  });
  const removedKeys = new Map(units.map(({ name, spec }) => [name, spec.removedKey]));
  const manifest = {
    tenon: 1,
    owner: desired.owner,
    account: desired.account,
    lint: desired.lintOff.length === 0 ? null : { off: desired.lintOff },
    ...Object.fromEntries(sections),
    removed: desired.removed.map((entry) => removedEntry(entry, removedKeys.get(entry.unit) ?? entry.unit)),
    allow: desired.allow.map(allowEntry),
  } as Readonly<Record<string, Json>>;
  const stated = Object.entries(manifest).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return escapeReferences(Object.fromEntries(stated)) as JsonObject;
}

/** Escapes each `${`, which a manifest would read as the start of a reference. */
export function escapeReferences(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map((item: Json) => escapeReferences(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeReferences(item as Json)]));
}

/** The entry of one declared object, under the keys of its section. */
export function entryOf({ id, movedFrom, protect, note, annotations }: Declared, { head, body }: WrittenEntry): Entry {
  return {
    ...head,
    ...(id === null ? {} : { id }),
    ...(movedFrom === null ? {} : { moved_from: movedFrom }),
    ...(protect ? { protect } : {}),
    ...(note === null ? {} : { note }),
    ...annotations,
    ...body,
  };
}

function removedEntry({ key, id, destroy, ignore }: Removed, removedKey: string): Entry {
  return {
    [removedKey]: key,
    ...(id === null ? {} : { id }),
    ...(destroy ? {} : { destroy }),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map((pattern) => ({ ...pattern })) }),
  };
}

function allowEntry({ rule, address, until, reason }: Consent): Entry {
  return { [rule]: address, ...(until === null ? {} : { until }), ...(reason === null ? {} : { reason }) };
}
