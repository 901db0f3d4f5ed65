/** The values of a project's variables: default < environment < saved plan < --var-file < --var. */

import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { whereNamedLinkLeads } from "../files/paths.ts";
import { type Diagnostic, type Sources, type Span, suggest } from "../model/diagnostic.ts";
import type { GivenValue } from "../model/plan.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { listNames, nearest, shellWord } from "../model/text.ts";
import { MAX_ENVIRONMENT_CHARACTERS, MAX_FILE_BYTES } from "./limits.ts";
import { type ParseContext, parseFile } from "./parse.ts";
import { newMapping, type Places } from "./positions.ts";
import { decode } from "./read.ts";
import { isOwnKey } from "./schema.ts";

type VariableValue = GivenValue;

/** `null`: declared, but without a value; that was reported. */
export type Variables = ReadonlyMap<string, VariableValue | null>;

interface VariableInputs {
  readonly environment: string | null;
  /** In the order given; later ones win. */
  readonly files: readonly VariableFile[];
  readonly assigned: Readonly<Record<string, string>>;
  /** Values of a saved plan. --var-file and --var override them; apply then refuses the plan if a value differs from the saved one. */
  readonly saved?: Readonly<Record<string, VariableValue>>;
  /** true: what a saved plan, --var-file and --var give counts only where the project itself has no value. */
  readonly fillsOnly?: boolean;
}

interface VariableFile {
  readonly name: string;
  /** The file is the output of `terraform output -json`, which may have values that this project does not declare. */
  readonly isOutput: boolean;
  readonly values: ReadonlyMap<string, VariableValue>;
}

interface VariableContext {
  readonly places: Places;
  report(diagnostic: Diagnostic): void;
  /** Reports a problem with what the command line or a saved plan asks for (--env, --var-file, --var), not with the manifest. */
  reportRequest(diagnostic: Diagnostic): void;
}

/** @param root the root file, not validated yet: values of the wrong shape are skipped here, and reported by validation */
export function resolveVariables(root: JsonObject, inputs: VariableInputs, context: VariableContext): Variables {
  const declared = isJsonObject(root["variables"]) ? root["variables"] : {};
  const names = Object.keys(declared);
  const values = new Map<string, VariableValue>();
  for (const name of names) {
    const declaration = declared[name];
    if (isJsonObject(declaration) && Object.hasOwn(declaration, "default")) {
      take(values, name, declaration, "default", context);
    }
  }
  fromEnvironments(root, inputs.environment, names, values, context);
  const own = inputs.fillsOnly === true ? new Map(values) : [];
  fromSaved(inputs.saved ?? {}, names, values, context);
  for (const file of inputs.files) fromFile(file, names, values, context);
  fromAssignments(inputs.assigned, names, values, context);
  for (const [name, value] of own) values.set(name, value);
  const { environment } = inputs;
  const isUnknown = environment !== null && !environmentNames(root).includes(environment);
  // What a misspelt environment would have set is not missing.
  return complete(root, declared, values, isUnknown ? { ...context, reportRequest: () => {} } : context);
}

function take(
  values: Map<string, VariableValue>,
  name: string,
  container: JsonObject,
  key: string,
  context: VariableContext,
): void {
  const value = container[key] ?? null;
  if (value === null) return;
  const reference = findReference(value);
  if (reference !== null) context.report(nestedReference(context.places.span(container, key)));
  const literal = mapText(value, context.places, (text) => text.replaceAll("$${", "${"));
  values.set(name, { value: literal, source: context.places.source(container, key) });
}

function findReference(value: Json): string | null {
  if (typeof value === "string") return /(^|[^$])\$\{/.test(value) ? value : null;
  if (typeof value !== "object" || value === null) return null;
  for (const item of Object.values(value)) {
    const found = findReference(item as Json);
    if (found !== null) return found;
  }
  return null;
}

function nestedReference(span: Span): Diagnostic {
  return {
    code: "nested-variable",
    severity: "error",
    summary: "a variable cannot refer to another",
    detail: "References are resolved in values of the manifest, not in `variables` and `environments` themselves.",
    fix: "Write the value out.",
    span,
  };
}

function fromEnvironments(
  root: JsonObject,
  chosen: string | null,
  names: readonly string[],
  values: Map<string, VariableValue>,
  context: VariableContext,
): void {
  const environments = isJsonObject(root["environments"]) ? root["environments"] : {};
  const known = environmentNames(root);
  const declared = new Set(names);
  if (chosen !== null && !known.includes(chosen)) context.reportRequest(unknownEnvironment(chosen, known));
  for (const environment of known) {
    if (environment.length > MAX_ENVIRONMENT_CHARACTERS) {
      context.report(longEnvironment(context.places.keySpan(environments, environment)));
    }
    const entry = environments[environment];
    const assigned = isJsonObject(entry) && isJsonObject(entry["variables"]) ? entry["variables"] : {};
    for (const name of Object.keys(assigned)) {
      if (!declared.has(name)) context.report(undeclared(name, names, context.places.keySpan(assigned, name)));
      else if (environment === chosen) take(values, name, assigned, name, context);
    }
  }
}

function longEnvironment(span: Span): Diagnostic {
  const detail = `It has at most ${MAX_ENVIRONMENT_CHARACTERS} characters: a plan repeats it for each object.`;
  return {
    code: "too-long",
    severity: "error",
    summary: "the name of the environment is too long",
    detail,
    fix: "Shorten it.",
    span,
  };
}

/** The names that `--env` may have, in the order of the root file. */
export function environmentNames(root: JsonObject): string[] {
  const environments = isJsonObject(root["environments"]) ? root["environments"] : {};
  return Object.keys(environments).filter((name) => !isOwnKey(name));
}

function unknownEnvironment(name: string, known: readonly string[]): Diagnostic {
  const detail =
    known.length === 0 ? "The root file has no `environments`." : `The root file has: ${listNames(known)}.`;
  const best = nearest(name, known);
  const none = known.length === 0 ? "Leave --env out, or add `environments`." : "Name one of them, or leave --env out.";
  const fix = best === null ? none : `Did you mean \`${best}\`?`;
  return { code: "unknown-environment", severity: "error", summary: `unknown environment \`${name}\``, detail, fix };
}

function undeclared(name: string, names: readonly string[], span: Span | null): Diagnostic {
  const { fix, ...rest } = suggest(name, names);
  return {
    code: "unknown-variable",
    severity: "error",
    summary: `unknown variable \`${name}\``,
    detail: `\`${name}\` is not declared under \`variables\` in the root file.`,
    fix: fix || `Add \`${name}: {}\` to \`variables\`.`,
    ...rest,
    ...(span === null ? {} : { span }),
  };
}

function fromSaved(
  saved: Readonly<Record<string, VariableValue>>,
  names: readonly string[],
  values: Map<string, VariableValue>,
  context: VariableContext,
): void {
  for (const name of Object.keys(saved)) {
    const value = saved[name];
    if (names.includes(name) && value !== undefined) values.set(name, value);
    else
      context.reportRequest({
        ...undeclared(name, names, null),
        detail: `The plan file sets \`${name}\`, which is not declared under \`variables\` any more.`,
        fix: "Plan again.",
      });
  }
}

function fromFile(
  file: VariableFile,
  names: readonly string[],
  values: Map<string, VariableValue>,
  context: VariableContext,
): void {
  for (const [name, value] of file.values) {
    if (names.includes(name)) values.set(name, value);
    else if (!file.isOutput) {
      const diagnostic = undeclared(name, names, null);
      context.reportRequest({
        ...diagnostic,
        severity: "warning",
        detail: `${file.name} sets it. ${diagnostic.detail}`,
      });
    }
  }
}

function fromAssignments(
  assigned: Readonly<Record<string, string>>,
  names: readonly string[],
  values: Map<string, VariableValue>,
  context: VariableContext,
): void {
  for (const name of Object.keys(assigned)) {
    if (names.includes(name)) values.set(name, textValue(assigned[name] ?? ""));
    else
      context.reportRequest({
        ...undeclared(name, names, null),
        detail: `--var sets \`${name}\`, which is not declared under \`variables\`.`,
      });
  }
}

/** Text of the command line: a number or boolean where the field wants one, the text itself elsewhere. */
function textValue(text: string): VariableValue {
  if (text === "true" || text === "false") return { value: text === "true", source: text };
  if (/^-?\d{1,15}$/.test(text)) return { value: Number(text), source: text };
  return { value: text, source: null };
}

function complete(
  root: JsonObject,
  declared: JsonObject,
  values: ReadonlyMap<string, VariableValue>,
  context: VariableContext,
): Variables {
  const variables = new Map<string, VariableValue | null>();
  const settings = environmentsSetting(root);
  for (const name of Object.keys(declared)) {
    const value = values.get(name) ?? null;
    variables.set(name, value);
    if (value === null)
      context.reportRequest(withoutValue(name, settings.get(name) ?? [], context.places.keySpan(declared, name)));
  }
  return variables;
}

/** Variable → the environments that set it. One pass, as there may be thousands of variables and of environments. */
function environmentsSetting(root: JsonObject): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>();
  const environments = isJsonObject(root["environments"]) ? root["environments"] : {};
  for (const environment of environmentNames(root)) {
    const entry = environments[environment];
    const assigned = isJsonObject(entry) && isJsonObject(entry["variables"]) ? entry["variables"] : {};
    for (const name of Object.keys(assigned)) {
      const known = settings.get(name);
      if (known === undefined) settings.set(name, [environment]);
      else known.push(environment);
    }
  }
  return settings;
}

function withoutValue(name: string, environments: readonly string[], span: Span): Diagnostic {
  const choices =
    environments.length === 0
      ? ""
      : ` Environments that set it: ${environments.map((word) => `--env ${shellWord(word)}`).join(", ")}.`;
  return {
    code: "missing-variable",
    severity: "error",
    summary: `variable \`${name}\` has no value`,
    detail: `It has no default, and neither --env nor --var-file nor --var gives it a value.${choices}`,
    fix: `Pass --var ${name}=VALUE, or give it a \`default\`.`,
    span,
  };
}

// --var-file: YAML or JSON mappings of values, and what `terraform output -json` prints.

/**
 * Whoever runs Tenon names the files, so they may lie anywhere (see `whereNamedLinkLeads` for symbolic links), and may be pipes such as /dev/stdin.
 */
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
  // A pull request could bring such a link to have secrets shown.
  if ((await whereNamedLinkLeads(path)) !== null) {
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
  const { tree, damaged } = await parseFile(path, text, context);
  if (tree === null || damaged) return null;
  const isOutput = Object.keys(tree).length > 0 && Object.values(tree).every(isOutputEntry);
  return { name: basename(path), isOutput, values: valuesOf(tree, isOutput, context) };
}

function elsewhere(path: string): Diagnostic {
  return {
    code: "outside-project",
    severity: "error",
    summary: `cannot use ${path}`,
    detail:
      "A symbolic link leads outside the working folder or into a folder of git or Tenon. Tenon does not read it, because its content could appear in output.",
    fix: "Name the file itself in --var-file.",
  };
}

/** Reads at most one byte more than the limit, so that an endless stream does no harm. @throws if it cannot be read */
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

// Texts inside values, replaced wherever they stand.

/** A copy whose texts with a `${` are replaced. Parts that need no change are shared with the original, and places are kept. */
export function mapText(value: Json, places: Places, replace: (text: string) => string): Json {
  if (typeof value === "string") return value.includes("${") ? replace(value) : value;
  if (typeof value !== "object" || value === null) return value;
  let clone: Record<string, Json> | null = null;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, Json>)[key] as Json;
    const replaced = mapText(item, places, replace);
    if (replaced === item) continue;
    clone ??= copyOf(value, places);
    clone[key] = replaced;
  }
  return (clone as Json | null) ?? value;
}

function copyOf(value: object, places: Places): Record<string, Json> {
  const clone = (Array.isArray(value) ? [...value] : newMapping(value)) as Record<string, Json>;
  places.copy(clone, value);
  return clone;
}
