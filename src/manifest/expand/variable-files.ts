/** --var-file: YAML or JSON mappings of values, and what `terraform output -json` prints. */

import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import type { Sources } from "../../model/source.ts";
import { type ParseContext, parseFile } from "../parse.ts";
import { decode, fileProblem, readBounded } from "../read.ts";
import type { VariableFile, VariableValue } from "./variables.ts";

/** The files are named by whoever runs Tenon, so they may lie anywhere. */
export async function readVariableFiles(
  paths: readonly string[],
  sources: Sources,
  context: ParseContext,
): Promise<VariableFile[]> {
  const files: VariableFile[] = [];
  for (const path of paths) {
    const file = await readVariableFile(path, sources, context);
    if (file !== null) files.push(file);
  }
  return files;
}

async function readVariableFile(path: string, sources: Sources, context: ParseContext): Promise<VariableFile | null> {
  const read = await readBounded(await realpath(path).catch(() => path));
  if (!read.ok) {
    context.report(problemDiagnostic(path, read));
    return null;
  }
  const { text, badOffset } = decode(read.bytes);
  sources.add(path, text);
  if (badOffset !== null) {
    context.report({ ...problemDiagnostic(path, { problem: "unreadable" }), detail: "It is not UTF-8." });
    return null;
  }
  const { tree, damaged } = parseFile(path, text, context);
  if (tree === null || damaged) return null;
  const isOutput = Object.keys(tree).length > 0 && Object.values(tree).every(isOutputEntry);
  return { name: basename(path), isOutput, values: valuesOf(tree, isOutput, context) };
}

function problemDiagnostic(
  path: string,
  read: { problem: "too-large" } | { problem: Parameters<typeof fileProblem>[1] },
): Diagnostic {
  if (read.problem !== "too-large") return { ...fileProblem(path, read.problem), fix: "Check --var-file." };
  const detail = "Files of variables may have 8 MiB.";
  return {
    code: "file-too-large",
    severity: "error",
    summary: `${path} is too large`,
    detail,
    fix: "Check --var-file.",
  };
}

/** `{"value": …, "type": …, "sensitive": …}`, as `terraform output -json` wraps every output. */
function isOutputEntry(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, "value") && Object.hasOwn(value, "sensitive");
}

function valuesOf(tree: JsonObject, isOutput: boolean, { places }: ParseContext): Map<string, VariableValue> {
  const values = new Map<string, VariableValue>();
  for (const name of Object.keys(tree)) {
    const entry = tree[name];
    const [container, key] = isOutput && isJsonObject(entry) ? [entry, "value"] : [tree, name];
    const value = container[key] ?? null;
    if (value !== null) values.set(name, { value, source: places.source(container, key) });
  }
  return values;
}
