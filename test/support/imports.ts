/** Imports as the command line makes them, into folders that are gone after the test. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type ImportResult, importProject, writeProject } from "../../src/import/index.ts";
import { type Api, allowedSeconds } from "../../src/index.ts";

export interface LiveImportOptions {
  readonly owner?: string | null;
  readonly domains?: readonly string[];
  readonly vpcs?: readonly string[];
  readonly images?: boolean;
  readonly split?: boolean;
}

export function importAccount(api: Api, options: LiveImportOptions = {}): Promise<ImportResult> {
  const { owner = null, domains = [], vpcs = [], images = false, split = false } = options;
  return importProject({
    source: { from: "live", api, owner, selection: { domains, vpcs, images }, watch: {} },
    allowedSeconds: allowedSeconds("node"),
    split,
    skipUnsupported: false,
  });
}

/** From files of Terraform. */
export function importStates(paths: readonly string[], options: LiveImportOptions = {}): Promise<ImportResult> {
  const { owner = null, domains = [], vpcs = [], images = false, split = false } = options;
  return importProject({
    source: { from: "terraform", paths, selection: { domains, vpcs, images }, owner },
    allowedSeconds: allowedSeconds("node"),
    split,
    skipUnsupported: false,
  });
}

export interface IrImportOptions extends Omit<FileImportOptions, "domain"> {
  readonly domains?: readonly string[];
}

/** From the intermediate JSON of DNSControl. */
export function importIr(
  paths: readonly string[],
  { domains = [], soaEmail, split = false, skipUnsupported = false }: IrImportOptions = {},
): Promise<ImportResult> {
  return importProject({
    source: { from: "dnscontrol", paths, domains, soaEmail: soaEmail ?? null, owner: null },
    allowedSeconds: allowedSeconds("node"),
    split,
    skipUnsupported,
  });
}

export interface FileImportOptions {
  readonly domain?: string;
  readonly soaEmail?: string;
  readonly split?: boolean;
  readonly skipUnsupported?: boolean;
}

export function importFiles(
  from: "zone" | "octodns",
  paths: readonly string[],
  { domain, soaEmail, split = false, skipUnsupported = false }: FileImportOptions = {},
): Promise<ImportResult> {
  return importProject({
    source: { from, paths, domain: domain ?? null, soaEmail: soaEmail ?? null, owner: null },
    allowedSeconds: allowedSeconds("node"),
    split,
    skipUnsupported,
  });
}

/** @throws if there is nothing to write */
export async function written(result: ImportResult): Promise<string> {
  if (!result.ok) throw new Error(JSON.stringify(result, null, 1).slice(0, 5_000));
  const out = await mkdtemp(join(tmpdir(), "tenon-import-"));
  onTestFinished(() => rm(out, { recursive: true, force: true }));
  await writeProject({ out, files: result.files, force: false });
  return out;
}

export function fileOf(result: ImportResult, file = "tenon.yaml"): string {
  if (!result.ok) throw new Error(JSON.stringify(result, null, 1).slice(0, 5_000));
  return result.files.find((one) => one.file === file)?.text ?? "";
}

/** Codes of what was said. */
export function codesOf(result: ImportResult): string[] {
  const imported = result.ok ? result : result.imported;
  return (imported?.diagnostics ?? []).map(({ code }) => code).sort();
}
