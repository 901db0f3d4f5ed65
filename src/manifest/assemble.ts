/** Validated, expanded entries → the desired state; what only shows across entries is checked here. */

import type { Declared, Desired } from "../model/desired.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject, type UnitName } from "../model/resource.ts";
import type { LoadContext } from "../model/unit.ts";
import { loadAllow } from "./allow.ts";
import type { AssembleContext, Loaded } from "./entries.ts";
import { loadRemoved } from "./removed.ts";
import type { UnitForm } from "./schema.ts";

export interface AssembleInput {
  readonly root: JsonObject;
  readonly trees: readonly JsonObject[];
  /** Entries of a section, expanded. */
  entries(section: string): readonly JsonObject[];
}

export function assemble(
  input: AssembleInput,
  units: readonly UnitForm[],
  context: AssembleContext,
): { desired: Desired; loaded: Loaded[] } {
  const owner = textOrNull(input.root["owner"]);
  const loaded = units.flatMap((unit) => loadUnit(unit, input.entries(unit.spec.section), owner, context));
  checkDuplicates(loaded, context);
  checkMoves(loaded, context);
  const removed = loadRemoved(input.trees, units, loaded, context);
  const declared = loaded.map((one) => one.declared);
  return {
    desired: {
      owner,
      account: textOrNull(input.root["account"]),
      declared,
      removed,
      allow: loadAllow(input.root, context),
      lintOff: lintOff(input.root),
      lintOffSpans: lintOffSpans(input.root, context),
    },
    loaded,
  };
}

function loadUnit(
  unit: UnitForm,
  entries: readonly JsonObject[],
  owner: string | null,
  context: AssembleContext,
): Loaded[] {
  const loaded: Loaded[] = [];
  for (const entry of entries) {
    const lacks = context.incomplete.has(entry);
    const unitContext: LoadContext = {
      owner,
      allowedSeconds: context.allowedSeconds,
      span: (object, key) => context.places.span(object, key),
      report: (diagnostic) => {
        if (!lacks || diagnostic.code !== "missing-key") context.report(diagnostic);
      },
    };
    const declared = unit.spec.load(entry, unitContext);
    if (declared !== null) loaded.push({ declared, entry });
  }
  return loaded;
}

function checkDuplicates(loaded: readonly Loaded[], context: AssembleContext): void {
  const first = new Map<string, Declared>();
  for (const { declared } of loaded) {
    const known = first.get(declared.address);
    if (known === undefined) {
      first.set(declared.address, declared);
      continue;
    }
    const differ = declared.id !== null && known.id !== null && declared.id !== known.id;
    const why = differ
      ? " Addresses are made of names and labels, not of ids, so of one label one object can be declared."
      : "";
    context.report({
      code: "duplicate-entry",
      severity: "error",
      summary: `\`${declared.key}\` is declared twice`,
      detail: `${declared.address} may have one entry in all files of the project.${why}`,
      fix: differ
        ? "Rename one of the two objects, and declare it under its new label."
        : "Join the two, or remove one.",
      span: declared.span,
      related: [{ message: "first here", span: known.span }],
      address: declared.address,
    });
  }
}

/** `moved_from` leads from what is no longer declared to what is; anything else is ambiguous. */
function checkMoves(loaded: readonly Loaded[], context: AssembleContext): void {
  const byKey = new Map<string, Declared>(loaded.map(({ declared }) => [keyOf(declared.unit, declared.key), declared]));
  const sources = new Map<string, Loaded>();
  for (const one of loaded) {
    const { declared, entry } = one;
    if (declared.movedFrom === null) continue;
    const from = keyOf(declared.unit, declared.movedFrom);
    const span = context.places.span(entry, "moved_from");
    const [present, claimed] = [byKey.get(from), sources.get(from)];
    sources.set(from, claimed ?? one);
    if (present !== undefined)
      context.report({ ...moveDiagnostic(declared, present), span, address: declared.address });
    else if (claimed !== undefined) {
      context.report({
        code: "bad-move",
        severity: "error",
        summary: `two entries are moved from \`${declared.movedFrom}\``,
        detail: "One object cannot become two.",
        fix: "Keep `moved_from` in one of the two.",
        span,
        related: [{ message: "the other one", span: context.places.span(claimed.entry, "moved_from") }],
        address: declared.address,
      });
    }
  }
}

function moveDiagnostic(declared: Declared, present: Declared): Diagnostic {
  const chain = present === declared || present.movedFrom !== null;
  const detail = chain
    ? "Moves that follow each other, or lead in a circle, cannot be told apart once some of them are done."
    : `\`${declared.movedFrom}\` is still declared, so which live object is meant is open.`;
  return {
    code: "bad-move",
    severity: "error",
    summary: chain ? "a chain of moves" : `\`${declared.movedFrom}\` is still declared`,
    detail,
    fix: "Name the live objects by `id:` instead of `moved_from`.",
    related: [{ message: "declared here", span: present.span }],
  };
}

function keyOf(unit: UnitName, key: string): string {
  return `${unit} ${key}`;
}

/** `lint: { off: [code] }` of the root file. */
export function lintOff(root: JsonObject): readonly string[] {
  const off = isJsonObject(root["lint"]) ? root["lint"]["off"] : undefined;
  return Array.isArray(off) ? (off as readonly Json[]).filter((code) => typeof code === "string") : [];
}

function lintOffSpans(root: JsonObject, { places }: AssembleContext): ReadonlyMap<string, Span> {
  const off = isJsonObject(root["lint"]) ? root["lint"]["off"] : undefined;
  if (!Array.isArray(off)) return new Map();
  return new Map(off.map((code: Json, index) => [String(code), places.span(off, index)]));
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
