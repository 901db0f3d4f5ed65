/** A project folder → its desired state, or every error there is in it. */

import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Desired } from "../model/desired.ts";
import { type Diagnostic, hasErrors } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { Sources } from "../model/source.ts";
import { assemble } from "./assemble.ts";
import { coerceScalars } from "./coerce.ts";
import { arrange } from "./collect.ts";
import { type Loaded, sectionEntries } from "./entries.ts";
import { interpolateFile } from "./expand/interpolate.ts";
import { collectRecordSets, expandDomains } from "./expand/records.ts";
import { readVariableFiles } from "./expand/variable-files.ts";
import { resolveVariables, type Variables } from "./expand/variables.ts";
import type { ParseContext, ParsedFile } from "./parse.ts";
import { Places } from "./places.ts";
import { readFurtherFiles, readManifest } from "./project-files.ts";
import { fileProblem } from "./read.ts";
import { isOwnKey, ROOT_ONLY_KEYS, type UnitForm } from "./schema.ts";
import { checkUploadFile } from "./upload-file.ts";
import { type Validator, validateTree, validatorOf } from "./validate.ts";

export const ROOT_FILE = "tenon.yaml";

export interface LoadOptions {
  /** The project folder, or the path of its root file. */
  readonly directory: string;
  /** --env */
  readonly environment?: string;
  /** --var */
  readonly variables?: Readonly<Record<string, string>>;
  /** --var-file, in the order given. */
  readonly variableFiles?: readonly string[];
  /** Seconds that the service keeps as they are, ascending, without 0. */
  readonly allowedSeconds: readonly number[];
}

export interface Project {
  /** Absolute real path of the folder. */
  readonly root: string;
  readonly desired: Desired;
  readonly sources: Sources;
}

export interface LoadResult {
  /** null if there are errors. */
  readonly project: Project | null;
  /**
   * Where errors lie: in the manifest, or only in what was asked for: a folder that is no project, `--env`, `--var`,
   * `--var-file`, a variable left without a value.
   */
  readonly fault: "manifest" | "request" | null;
  /** Errors and warnings, in the order of the files. */
  readonly diagnostics: Diagnostic[];
  readonly sources: Sources;
}

/** Never throws for what a manifest says; collects every error instead of stopping at the first. */
export async function loadProject(options: LoadOptions, units: readonly UnitForm[]): Promise<LoadResult> {
  const found: Findings = { manifest: [], request: [] };
  const sources = new Sources();
  const loaded = await new Loading(options, units, sources, found).run();
  const fault = hasErrors(found.manifest) ? "manifest" : hasErrors(found.request) ? "request" : null;
  return {
    project: loaded === null || fault !== null ? null : { ...loaded, sources },
    fault,
    diagnostics: arrange([...found.request, ...found.manifest], sources.files()),
    sources,
  };
}

interface Findings {
  readonly manifest: Diagnostic[];
  readonly request: Diagnostic[];
}

class Loading {
  readonly #options: LoadOptions;
  readonly #units: readonly UnitForm[];
  readonly #sources: Sources;
  readonly #places: Places = new Places();
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #reportRequest: (diagnostic: Diagnostic) => void;

  constructor(options: LoadOptions, units: readonly UnitForm[], sources: Sources, found: Findings) {
    this.#options = options;
    this.#units = units;
    this.#sources = sources;
    this.#report = (diagnostic) => found.manifest.push(diagnostic);
    this.#reportRequest = (diagnostic) => found.request.push(diagnostic);
  }

  async run(): Promise<{ root: string; desired: Desired } | null> {
    const rootPath = await this.#findRoot();
    if (rootPath === null) return null;
    const root = dirname(rootPath);
    const context: ParseContext = { yaml: await import("yaml"), places: this.#places, report: this.#report };
    const rootFile = await readManifest(rootPath, ROOT_FILE, this.#sources, context);
    if (rootFile?.tree == null) return null;
    const variables = await this.#variables(rootFile.tree, rootFile.damaged, context);
    this.#interpolate(rootFile, variables, !rootFile.damaged);
    const further = await readFurtherFiles({ root, rootPath, tree: rootFile.tree }, this.#sources, context);
    for (const file of further) this.#interpolate(file, variables, !rootFile.damaged);
    const files = [rootFile, ...further];
    const incomplete = await this.#validate(files);
    const sound = files.flatMap(({ tree, damaged }): JsonObject[] => (tree === null || damaged ? [] : [tree]));
    const { desired, loaded } = this.#assemble(rootFile.tree, sound, incomplete, sound.length === files.length);
    await this.#checkFiles(root, loaded);
    return { root, desired };
  }

  async #findRoot(): Promise<string | null> {
    const given = resolve(this.#options.directory);
    try {
      const path = (await stat(given)).isDirectory() ? join(await realpath(given), ROOT_FILE) : given;
      if (basename(path) !== ROOT_FILE) this.#reportRequest(notRootFile(this.#options.directory));
      else if ((await lstat(path).catch(() => null)) === null) this.#reportRequest(noRootFile(this.#options.directory));
      else return join(await realpath(dirname(path)), ROOT_FILE);
    } catch {
      const problem = fileProblem(this.#options.directory, "missing");
      this.#reportRequest({
        ...problem,
        code: "no-project",
        fix: "Name the project folder, or its root file tenon.yaml.",
      });
    }
    return null;
  }

  async #variables(tree: JsonObject, damaged: boolean, context: ParseContext): Promise<Variables> {
    const forFiles = { ...context, report: this.#reportRequest };
    const files = await readVariableFiles(this.#options.variableFiles ?? [], this.#sources, forFiles);
    const inputs = { environment: this.#options.environment ?? null, files, assigned: this.#options.variables ?? {} };
    // What a damaged root file declares is a guess: nothing is said about it.
    const [report, reportRequest] = damaged ? [() => {}, () => {}] : [this.#report, this.#reportRequest];
    return resolveVariables(tree, inputs, { places: this.#places, report, reportRequest });
  }

  #interpolate(file: ParsedFile, variables: Variables, variablesKnown: boolean): void {
    if (file.tree === null) return;
    const report = file.damaged ? () => {} : this.#report;
    interpolateFile(file.tree, { places: this.#places, sources: this.#sources, variables, variablesKnown, report });
  }

  async #validate(files: readonly ParsedFile[]): Promise<Set<object>> {
    const validator: Validator = await validatorOf(this.#units);
    const incomplete = new Set<object>();
    for (const [index, { tree, damaged }] of files.entries()) {
      if (tree === null || damaged) continue;
      coerceScalars(tree, validator.schema, this.#places);
      for (const object of validateTree(tree, validator, this.#places, this.#report)) incomplete.add(object);
      if (index > 0) this.#checkRootOnly(tree);
    }
    return incomplete;
  }

  #checkRootOnly(tree: JsonObject): void {
    for (const key of ROOT_ONLY_KEYS.filter((name) => Object.hasOwn(tree, name))) {
      const detail = `\`${key}\` holds for the whole project, so it stands in its root file, ${ROOT_FILE}.`;
      const span = this.#places.keySpan(tree, key);
      this.#report({
        code: "root-only-key",
        severity: "error",
        summary: `\`${key}\` belongs into the root file`,
        detail,
        fix: "Move it there.",
        span,
      });
    }
  }

  #assemble(
    root: JsonObject,
    trees: readonly JsonObject[],
    incomplete: ReadonlySet<object>,
    complete: boolean,
  ): { desired: Desired; loaded: Loaded[] } {
    const setsKnown =
      complete &&
      !trees.some((tree) => incomplete.has(tree) || incomplete.has((tree["record_sets"] ?? tree) as object));
    const expand = { places: this.#places, setsKnown, incomplete, report: this.#report };
    const files = trees.map((tree) => ({ tree }));
    const domains = expandDomains(files, collectRecordSets(files, expand), expand);
    const entries = (section: string): readonly JsonObject[] =>
      section === "domains" ? domains.entries : sectionEntries(trees, section);
    const context = {
      places: this.#places,
      allowedSeconds: this.#options.allowedSeconds,
      incomplete: new Set([...incomplete, ...domains.incomplete]),
      report: this.#report,
    };
    return assemble({ root, trees, entries }, this.#units, context);
  }

  async #checkFiles(root: string, loaded: readonly Loaded[]): Promise<void> {
    for (const { declared, entry } of loaded) {
      const unit = this.#units.find(({ name }) => name === declared.unit);
      for (const file of unit?.spec.files?.(declared) ?? []) {
        const problem = file === "" ? null : await checkUploadFile(root, file);
        const span = this.#spanOfText(entry, file) ?? declared.span;
        if (problem !== null) this.#report({ ...problem, span, address: declared.address });
      }
    }
  }

  /** Where an entry says `text`, at whatever depth. */
  #spanOfText(value: JsonObject, text: string): Diagnostic["span"] | null {
    for (const key of Object.keys(value)) {
      const item = value[key] as Json;
      if (typeof item === "string" && item.replace(/^(\.\/)+/, "") === text) return this.#places.span(value, key);
      if (typeof item !== "object" || item === null || isOwnKey(key)) continue;
      const found = this.#spanOfText(item as JsonObject, text);
      if (found !== null) return found;
    }
    return null;
  }
}

function noRootFile(given: string): Diagnostic {
  return {
    code: "no-project",
    severity: "error",
    summary: `there is no ${ROOT_FILE} in ${given}`,
    detail: `A project is a folder whose root file is ${ROOT_FILE}.`,
    fix: "Name another folder, or write one that begins with `tenon: 1`.",
  };
}

function notRootFile(given: string): Diagnostic {
  const detail = `The root file of a project is called ${ROOT_FILE}; other manifests are named under its \`files\`.`;
  return {
    code: "no-project",
    severity: "error",
    summary: `${given} is not the root file of a project`,
    detail,
    fix: "Name the project folder instead.",
  };
}
