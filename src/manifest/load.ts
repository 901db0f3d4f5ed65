/** A project folder → its desired state, or every error there is in it. */

import { dirname } from "node:path";
import type { Desired, NamedFile } from "../model/desired.ts";
import { type Diagnostic, Sources } from "../model/diagnostic.ts";
import type { PlanInputs } from "../model/plan.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { arrangeGroups, assemble, Findings, type Loaded, lintOff, sectionEntries } from "./assemble.ts";
import { type ExpandContext, expandDomains } from "./expand.ts";
import { findRootFile, type ReadContext, ROOT_FILE, readFurtherFiles, readManifest } from "./files.ts";
import { interpolateFile } from "./interpolate.ts";
import { Budget } from "./limits.ts";
import { type ParsedFile, ParsedFiles } from "./parse.ts";
import { Places } from "./positions.ts";
import { ON_DISK, type ProjectFiles, resolveInside } from "./read.ts";
import { collectRecordSets } from "./record-sets.ts";
import { judgeRequires } from "./requires.ts";
import { isOwnKey, ROOT_ONLY_KEYS, type UnitForm } from "./schema.ts";
import { checkUploadFile } from "./upload-file.ts";
import { coerceScalars, type Validator, validateTree, validatorOf } from "./validate.ts";
import { environmentNames, readVariableFiles, resolveVariables, type Variables } from "./variables.ts";
import type { ZoneFiles } from "./zone-files.ts";

export interface LoadOptions {
  /** The project folder, or the path of its root file. */
  readonly directory: string;
  /** Where its manifests and zone files are read; default: on the disk. */
  readonly files?: ProjectFiles;
  /** --env */
  readonly environment?: string;
  /** --var */
  readonly variables?: Readonly<Record<string, string>>;
  /** --var-file, in the order given. */
  readonly variableFiles?: readonly string[];
  /** The values that a saved plan was made with: they count as given again. */
  readonly saved?: PlanInputs["variables"];
  /** --skip-unsupported: records of a zone file that the service cannot hold are left out, with a warning. */
  readonly skipUnsupported?: boolean;
  /**
   * Loads the project as it was at another time, with today's flags: values of variables that it does not declare are ignored, and files to
   * upload need not exist.
   */
  readonly past?: boolean;
  /** true: `variables`, `variableFiles` and `saved` count only where the project has no value of its own, as they were given for another environment. */
  readonly fillsOnly?: boolean;
  /** The project is to be loaded once more, as it was at another time: the result holds what was parsed. */
  readonly keepParsed?: boolean;
  /** `parsed` of the project as it is now: a file with the same text is not parsed again. */
  readonly parsed?: object;
  /** YYYY-MM-DD, UTC: the day by which dates of entries are past. Absent: none is. */
  readonly today?: string;
  /** The version of Tenon that `requires` is judged for. Default: that of this package. */
  readonly version?: string;
  /** Seconds that the service keeps as they are, ascending, without 0. */
  readonly allowedSeconds: readonly number[];
}

export interface Project {
  /** Absolute real path of the folder. */
  readonly root: string;
  readonly desired: Desired;
  readonly sources: Sources;
  /** The names of its `environments:`, in the order of the root file. */
  readonly environments: readonly string[];
  /** What the project was loaded with, beside its files. */
  readonly inputs: Pick<PlanInputs, "environment" | "variables" | "skipUnsupported">;
  /** With `keepParsed`: for `parsed` of the other time. */
  readonly parsed?: object;
}

export interface LoadResult {
  /** null if there are errors. */
  readonly project: Project | null;
  /**
   * Where the errors lie: "manifest", or "request" if only the request is wrong: a folder that is no project, `--env`, `--var`,
   * `--var-file`, a variable left without a value.
   */
  readonly fault: "manifest" | "request" | null;
  /** Errors and warnings, in the order of the files. */
  readonly diagnostics: Diagnostic[];
  readonly sources: Sources;
  /** The names under `environments:`, also where there are errors; empty if the root file cannot be read. */
  readonly environments: readonly string[];
  /** Characters of the project's files and of all that was put in, whether or not there are errors: a measure of the work. */
  readonly characters: number;
  /** Records of the project once expanded, whether or not there are errors; each domain counts as two more. */
  readonly records: number;
}

/** Never throws for what a manifest says; collects every error instead of stopping at the first. */
export async function loadProject(options: LoadOptions, units: readonly UnitForm[]): Promise<LoadResult> {
  const found: Found = { manifest: new Findings(), request: new Findings() };
  const sources = new Sources();
  const loading = new Loading(options, units, sources, found);
  const loaded = await loading.run();
  const fault = faultOf(found);
  return {
    project: loaded === null || fault !== null ? null : { ...loaded, sources },
    fault,
    diagnostics: arranged(found, sources),
    sources,
    environments: loading.environments,
    characters: loading.characters,
    records: loading.records,
  };
}

export interface ManifestsResult extends Pick<LoadResult, "fault" | "diagnostics" | "sources"> {
  /** null if one of the manifests has errors. The root file comes first. */
  readonly manifests: readonly ManifestFile[] | null;
}

export interface ManifestFile {
  /** Relative to the project, forward slashes. */
  readonly file: string;
  /** Real path, inside the project folder. */
  readonly path: string;
}

/** The manifests of a project as texts, in `sources`: only their syntax is checked. */
export async function readManifests(options: LoadOptions): Promise<ManifestsResult> {
  const found: Found = { manifest: new Findings(), request: new Findings() };
  const sources = new Sources();
  const files = await new Loading(options, [], sources, found).readTexts();
  const fault = faultOf(found);
  return { manifests: fault === null ? files : null, fault, diagnostics: arranged(found, sources), sources };
}

interface Found {
  readonly manifest: Findings;
  readonly request: Findings;
}

function faultOf({ manifest, request }: Found): LoadResult["fault"] {
  return manifest.hasErrors ? "manifest" : request.hasErrors ? "request" : null;
}

function arranged({ manifest, request }: Found, sources: Sources): Diagnostic[] {
  return arrangeGroups([...request.groups(), ...manifest.groups()], sources.files());
}

class Loading {
  readonly #options: LoadOptions;
  readonly #units: readonly UnitForm[];
  readonly #sources: Sources;
  readonly #parsed: ParsedFiles | undefined;
  readonly #files: ProjectFiles;
  readonly #places: Places;
  readonly #budget: Budget = new Budget();
  #environments: readonly string[] = [];
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #reportRequest: (diagnostic: Diagnostic) => void;

  constructor(options: LoadOptions, units: readonly UnitForm[], sources: Sources, found: Found) {
    this.#options = options;
    const { parsed, keepParsed = false, files = ON_DISK } = options;
    this.#files = files;
    this.#parsed = parsed instanceof ParsedFiles ? parsed : keepParsed ? new ParsedFiles() : undefined;
    this.#places = this.#parsed?.places ?? new Places();
    this.#units = units;
    this.#sources = sources;
    this.#report = (diagnostic) => found.manifest.add(diagnostic);
    this.#reportRequest = (diagnostic) => found.request.add(diagnostic);
  }

  get environments(): readonly string[] {
    return this.#environments;
  }

  get characters(): number {
    return this.#sources.characters + this.#budget.spent;
  }

  get records(): number {
    return this.#budget.records;
  }

  async run(): Promise<Omit<Project, "sources"> | null> {
    const rootPath = await findRootFile(this.#options.directory, this.#reportRequest, this.#files);
    if (rootPath === null) return null;
    const root = dirname(rootPath);
    const context = this.#readContext();
    const rootFile = await this.#readRoot(rootPath, context);
    if (rootFile?.tree == null) return null;
    this.#environments = environmentNames(rootFile.tree);
    const { variables, given } = await this.#variables(rootFile.tree, rootFile.damaged, context);
    this.#interpolate(rootFile, variables, !rootFile.damaged);
    const further = await readFurtherFiles({ root, rootPath, tree: rootFile.tree }, this.#sources, context);
    for (const file of further) this.#interpolate(file, variables, !rootFile.damaged);
    const files = [rootFile, ...further];
    const incomplete = await this.#validate(files);
    const sound = files.flatMap(({ tree, damaged }): JsonObject[] => (tree === null || damaged ? [] : [tree]));
    const setsKnown = sound.length === files.length && !sound.some((tree) => lacksRecordSets(tree, incomplete));
    const expand = {
      ...this.#zoneFiles(root, rootFile.tree),
      today: this.#options.today,
      places: this.#places,
      sources: this.#sources,
      budget: this.#budget,
      setsKnown,
      incomplete,
    };
    const assembled = await this.#assemble(rootFile.tree, sound, expand);
    const named = this.#options.past === true ? [] : await this.#checkFiles(root, assembled.loaded);
    const { today } = this.#options;
    const desired = {
      ...assembled.desired,
      ...(named.length === 0 ? {} : { files: named }),
      ...(today === undefined ? {} : { today }),
    };
    const { environment = null, skipUnsupported = false } = this.#options;
    const inputs = { environment, variables: given, skipUnsupported };
    return {
      root,
      desired,
      environments: this.#environments,
      inputs,
      ...(this.#parsed === undefined ? {} : { parsed: this.#parsed }),
    };
  }

  /** Resolves variables only for the names under `files:`, so a variable without a value is not reported. */
  async readTexts(): Promise<ManifestFile[] | null> {
    const rootPath = await findRootFile(this.#options.directory, this.#reportRequest, this.#files);
    if (rootPath === null) return null;
    const root = dirname(rootPath);
    const context = this.#readContext();
    const rootFile = await this.#readRoot(rootPath, context);
    if (rootFile?.tree == null) return null;
    const { environment = null, variables: assigned = {}, variableFiles = [] } = this.#options;
    const files = await readVariableFiles(variableFiles, new Sources(), { ...context, report: this.#reportRequest });
    const silent = { places: this.#places, sources: this.#sources, report: () => {}, reportRequest: () => {} };
    const variables = resolveVariables(rootFile.tree, { environment, files, assigned }, silent);
    interpolateFile(rootFile.tree, { ...silent, variables, variablesKnown: false, budget: this.#budget });
    const further = await readFurtherFiles({ root, rootPath, tree: rootFile.tree }, this.#sources, context);
    const resolved = await Promise.all(
      further.map(async ({ file }) => ({ file, found: await resolveInside(root, file, this.#files) })),
    );
    return [
      { file: ROOT_FILE, path: await this.#files.realpath(rootPath) },
      ...resolved.flatMap(({ file, found }) => (found.ok ? [{ file, path: found.path }] : [])),
    ];
  }

  /** @returns null if it cannot be read, or requires another version of Tenon: then nothing else is reported */
  async #readRoot(path: string, context: ReadContext): Promise<ParsedFile | null> {
    const problems: Diagnostic[] = [];
    const report = (diagnostic: Diagnostic): void => void problems.push(diagnostic);
    const file = await readManifest(path, ROOT_FILE, this.#sources, { ...context, report });
    const verdict = file?.tree == null ? null : await judgeRequires(file.tree, this.#options.version, this.#places);
    const isOther = verdict?.code === "other-version";
    for (const problem of isOther ? [] : problems) this.#report(problem);
    if (verdict !== null) this.#report(verdict);
    return isOther ? null : file;
  }

  #readContext(): ReadContext {
    const shared = { files: this.#files, places: this.#places, budget: this.#budget, report: this.#report };
    return this.#parsed === undefined ? shared : { ...shared, parsed: this.#parsed };
  }

  /** `given`: the variables whose values come from the command line or a saved plan, not from the project. */
  async #variables(
    tree: JsonObject,
    damaged: boolean,
    context: ReadContext,
  ): Promise<{ variables: Variables; given: PlanInputs["variables"] }> {
    const forFiles = { ...context, report: this.#reportRequest };
    const files = await readVariableFiles(this.#options.variableFiles ?? [], this.#sources, forFiles);
    const { environment = null, variables: wanted = {}, saved = {}, past = false, fillsOnly = false } = this.#options;
    const assigned = past ? declaredOnly(wanted, tree) : wanted;
    const inputs = { environment, files, assigned, saved, fillsOnly };
    // What a damaged root file declares is a guess: problems of its variables are not reported.
    const [report, reportRequest] = damaged ? [() => {}, () => {}] : [this.#report, this.#reportRequest];
    const variables = resolveVariables(tree, inputs, { places: this.#places, report, reportRequest });
    const names = new Set([...Object.keys(saved), ...files.flatMap(({ values }) => [...values.keys()])]);
    for (const name of Object.keys(assigned)) names.add(name);
    const given = [...names].sort().flatMap((name) => {
      const value = variables.get(name);
      return value === null || value === undefined ? [] : [[name, value] as const];
    });
    return { variables, given: Object.fromEntries(given) };
  }

  #interpolate(file: ParsedFile, variables: Variables, variablesKnown: boolean): void {
    if (file.tree === null) return;
    const report = file.damaged ? () => {} : this.#report;
    const shared = { places: this.#places, sources: this.#sources, budget: this.#budget };
    interpolateFile(file.tree, { ...shared, variables, variablesKnown, report });
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

  /** The module that reads zone files is imported when the first domain names one. */
  #zoneFiles(root: string, tree: JsonObject): Pick<ExpandContext, "zoneFile" | "report"> {
    const report = this.#report;
    const shared = {
      root,
      files: this.#files,
      sources: this.#sources,
      places: this.#places,
      lintOff: lintOff(tree),
      report,
      budget: this.#budget,
    };
    const options = { ...shared, skipUnsupported: this.#options.skipUnsupported ?? false };
    let zoneFiles: Promise<ZoneFiles> | null = null;
    const create = async (): Promise<ZoneFiles> => new (await import("./zone-files.ts")).ZoneFiles(options);
    const zoneFile: ExpandContext["zoneFile"] = async (domain, zone, stated, sharing) => {
      zoneFiles ??= create();
      return (await zoneFiles).records(domain, zone, stated, sharing);
    };
    return { zoneFile, report };
  }

  async #assemble(
    root: JsonObject,
    trees: readonly JsonObject[],
    expand: ExpandContext,
  ): Promise<{ desired: Desired; loaded: Loaded[] }> {
    const files = trees.map((tree) => ({ tree }));
    const domains = expandDomains(files, collectRecordSets(files, expand), expand);
    const entries = (section: string): Iterable<JsonObject> | AsyncIterable<JsonObject> =>
      section === "domains" ? domains : sectionEntries(trees, section);
    const context = {
      places: this.#places,
      allowedSeconds: this.#options.allowedSeconds,
      incomplete: expand.incomplete,
      report: this.#report,
    };
    return assemble({ root, trees, entries }, this.#units, context);
  }

  async #checkFiles(root: string, loaded: readonly Loaded[]): Promise<NamedFile[]> {
    const named: NamedFile[] = [];
    for (const { declared, entry } of loaded) {
      const unit = this.#units.find(({ name }) => name === declared.unit);
      for (const file of unit?.spec.files?.(declared) ?? []) {
        const problem = file === "" ? null : await checkUploadFile(root, file);
        const span = this.#spanOfText(entry, file) ?? declared.span;
        named.push({ address: declared.address, file, span });
        if (problem !== null) this.#report({ ...problem, span, address: declared.address });
      }
    }
    return named;
  }

  /** The span of the value `text` in an entry, at whatever depth. */
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

function declaredOnly(assigned: Readonly<Record<string, string>>, tree: JsonObject): Record<string, string> {
  const declared = isJsonObject(tree["variables"]) ? tree["variables"] : {};
  return Object.fromEntries(Object.entries(assigned).filter(([name]) => Object.hasOwn(declared, name)));
}

/** Whether the file may have had record sets that validation took out. */
function lacksRecordSets(tree: JsonObject, incomplete: ReadonlySet<object>): boolean {
  return incomplete.has(tree) || incomplete.has((tree["record_sets"] ?? tree) as object);
}
