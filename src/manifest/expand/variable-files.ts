/** --var-file: YAML or JSON mappings of values, and what `terraform output -json` prints. */

import { createReadStream } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { isWithin, ledAway } from "../../model/containment.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import type { Sources } from "../../model/source.ts";
import { MAX_FILE_BYTES } from "../limits.ts";
import { type ParseContext, parseFile } from "../parse.ts";
import { decode } from "../read.ts";
import type { VariableFile, VariableValue } from "./variables.ts";

/** The files are named by whoever runs Tenon, so they may lie anywhere, and be pipes such as /dev/stdin. */
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
  if (await isLedAway(path)) {
    context.report(elsewhere(path));
    return null;
  }
  const bytes = await readAny(path).catch((error: NodeJS.ErrnoException) => {
    context.report(unusable(path, error.code));
    return null;
  });
  if (bytes === null) return null;
  if (bytes.length > MAX_FILE_BYTES) {
    context.report(tooLarge(path));
    return null;
  }
  const { text, badOffset } = decode(bytes);
  sources.add(path, text);
  if (badOffset !== null) {
    context.report({ ...unusable(path, undefined), detail: "It is not UTF-8." });
    return null;
  }
  const { tree, damaged } = parseFile(path, text, context);
  if (tree === null || damaged) return null;
  const isOutput = Object.keys(tree).length > 0 && Object.values(tree).every(isOutputEntry);
  return { name: basename(path), isOutput, values: valuesOf(tree, isOutput, context) };
}

/** Whether a link that may have come with a change leads to another file than was named. */
async function isLedAway(path: string): Promise<boolean> {
  const named = resolve(path);
  // What the shell hands over is no file of a project.
  if (isWithin(named, "/dev")) return false;
  const folder = isWithin(named, process.cwd()) ? process.cwd() : dirname(named);
  return (await ledAway(named, folder)) !== null;
}

function elsewhere(path: string): Diagnostic {
  return {
    code: "outside-project",
    severity: "error",
    summary: `cannot use ${path}`,
    detail: "It is a symbolic link that leads elsewhere; what lies there may be nobody's to show.",
    fix: "Name the file itself in --var-file.",
  };
}

/** One byte more than is allowed at most, so that what never ends does not matter. @throws if it cannot be read */
async function readAny(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: MAX_FILE_BYTES })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function unusable(path: string, errorCode: string | undefined): Diagnostic {
  const isMissing = errorCode === "ENOENT" || errorCode === "ENOTDIR";
  const what = errorCode === "EISDIR" ? "It is a folder." : "It cannot be read; check its permissions.";
  return {
    code: isMissing ? "file-not-found" : "unreadable-file",
    severity: "error",
    summary: `cannot use ${path}`,
    detail: isMissing ? "There is no such file." : what,
    fix: "Check --var-file.",
  };
}

function tooLarge(path: string): Diagnostic {
  return {
    code: "file-too-large",
    severity: "error",
    summary: `${path} is too large`,
    detail: `Files of variables may have ${MAX_FILE_BYTES / 1024 ** 2} MiB.`,
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
