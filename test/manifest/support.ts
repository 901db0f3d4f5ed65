/** Projects in temporary folders, loaded with the real units. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type LoadOptions, type LoadResult, loadProject } from "../../src/manifest/load.ts";
import type { UnitForm } from "../../src/manifest/schema.ts";
import type { Declared } from "../../src/model/desired.ts";
import { imageSpec } from "../../src/units/image/manifest.ts";
import { networkSpec } from "../../src/units/network/manifest.ts";
import { zoneSpec } from "../../src/units/zone/index.ts";
import type { RecordSpec, ZoneSpec } from "../../src/units/zone/spec.ts";

export const UNITS: readonly UnitForm[] = [
  { name: "network", spec: networkSpec as UnitForm["spec"] },
  { name: "zone", spec: zoneSpec as UnitForm["spec"] },
  { name: "image", spec: imageSpec as UnitForm["spec"] },
];

export const ALLOWED_SECONDS: readonly number[] = [
  300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200,
];

export type Files = Readonly<Record<string, string | Buffer>>;

/** A folder that is gone after the test. */
export function folder(files: Files): string {
  const root = mkdtempSync(join(tmpdir(), "tenon-manifest-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
  return root;
}

export function load(directory: string, options: Partial<LoadOptions> = {}): Promise<LoadResult> {
  return loadProject({ directory, allowedSeconds: ALLOWED_SECONDS, ...options }, UNITS);
}

export function loadFiles(files: Files, options: Partial<LoadOptions> = {}): Promise<LoadResult> {
  return load(folder(files), options);
}

/** One file, `tenon: 1` put before it. */
export function loadText(text: string, options: Partial<LoadOptions> = {}): Promise<LoadResult> {
  return loadFiles({ "tenon.yaml": `tenon: 1\n${text}` }, options);
}

/** `code file:line:column` of each, errors and warnings. */
export function places({ diagnostics, sources }: LoadResult): string[] {
  return diagnostics.map(({ code, span }) => {
    if (span === undefined) return code;
    const { line, column } = sources.position(span.file, span.start);
    return `${code} ${span.file}:${line}:${column}`;
  });
}

export function codes({ diagnostics }: LoadResult): string[] {
  return diagnostics.map(({ code }) => code);
}

/** A domain of that name with these lines under it, indented by four. */
export function domain(lines: string, name = "example.com"): string {
  const head = `domains:\n  - domain: ${name}\n    type: master\n    soa_email: hostmaster@example.com\n`;
  return head + lines.replace(/^(?=.)/gm, "    ");
}

/** A domain with these records, each in flow style. */
export function zone(...records: string[]): string {
  return domain(
    records.length === 0 ? "records: []\n" : `records:\n${records.map((record) => `  - { ${record} }\n`).join("")}`,
  );
}

export function declaredZone(result: LoadResult, index = 0): Declared<ZoneSpec> {
  const zones = result.project?.desired.declared.filter(({ unit }) => unit === "zone") ?? [];
  const found = zones[index];
  if (found === undefined) throw new Error(`No zone: ${JSON.stringify(result.diagnostics, null, 2)}`);
  return found as Declared<ZoneSpec>;
}

export function records(result: LoadResult, index = 0): Omit<RecordSpec, "span" | "note" | "lintOff">[] {
  return (declaredZone(result, index).spec.records ?? []).map(
    ({ span: _span, note: _note, lintOff: _off, ...values }) => values,
  );
}
