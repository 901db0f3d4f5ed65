/** The check of a project in each of its environments, with what was found told once. */

import {
  CHECKED_ITEM_CHARACTERS,
  type Diagnostic,
  type LoadOptions,
  lintProject,
  MAX_CHECKED_CHARACTERS,
  MAX_CHECKED_ENVIRONMENTS,
  Sources,
  type Span,
  shareParsedFiles,
} from "../index.ts";
import { mapKey } from "../model/map-key.ts";
import { shellWord } from "../model/text.ts";
import type { ProjectFlags } from "./flags.ts";
import { exitOf, load } from "./project.ts";

export interface Checked {
  /** Errors and warnings, linter's included, in the order of the files. */
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
  /** Of what has errors. */
  readonly exitCode: ReturnType<typeof exitOf>;
  /** For each time that the project was loaded without errors, how many objects it declares. */
  readonly declared: readonly number[];
  /** What the project was checked in, for a person; empty if it has no environments, or one was named. */
  readonly where: string;
  /** The number of environments that were not checked, as all together would cost too much. */
  readonly unchecked: number;
}

/** What came of the check of a project as one environment makes it. The project itself is not kept: there may be a hundred. */
interface Run {
  /** null: no environment. */
  readonly environment: string | null;
  /** How many objects it declares; null: it has errors. */
  readonly declared: number | null;
  readonly fault: Parameters<typeof exitOf>[0];
  readonly environments: readonly string[];
  /** Whether a variable has no value, as none was given. */
  readonly isIncomplete: boolean;
  /** What the check cost, in characters. */
  readonly cost: number;
}

/** A run with what only its evaluation needs. */
interface FreshRun extends Run {
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
}

/** `parsed`: the files of other runs, which need not be parsed again. */
type ReadOptions = Pick<LoadOptions, "files" | "parsed">;

/**
 * Checks the project in the environment that `flags` name. If they name none: in each one that it has, and without one if its variables then
 * have values.
 * @param reading where its files are read, and what is known of them
 */
export async function checkEnvironments(
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string,
  { parsed = shareParsedFiles(), ...others }: ReadOptions = {},
): Promise<Checked> {
  const reading = { ...others, parsed };
  const first = await run(directory, flags, dialect, { environment: null, ...reading });
  const merging = new Merging();
  if (flags.env !== undefined || first.environments.length === 0) {
    merging.add(first);
    return merging.result("", 0);
  }
  const names = first.environments.slice(0, MAX_CHECKED_ENVIRONMENTS);
  if (!first.isIncomplete) merging.add(first);
  let { cost } = first;
  const checked: string[] = [];
  for (const environment of names) {
    if (cost > MAX_CHECKED_CHARACTERS) break;
    const next = await run(directory, { ...flags, env: environment }, dialect, { ...reading, environment });
    merging.add(next);
    checked.push(environment);
    cost += next.cost;
  }
  const unchecked = first.environments.length - checked.length;
  return merging.result(whereChecked(checked, unchecked, !first.isIncomplete), unchecked);
}

async function run(
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string,
  { environment, ...reading }: ReadOptions & { readonly environment: string | null },
): Promise<FreshRun> {
  const loaded = await load(directory, flags, dialect, reading);
  const { project, fault, sources, environments, characters, records } = loaded;
  const diagnostics = project === null ? loaded.diagnostics : await lintProject(project, loaded.diagnostics);
  return {
    environment,
    declared: project?.desired.declared.length ?? null,
    fault,
    environments,
    isIncomplete: diagnostics.some(({ code }) => code === "missing-variable"),
    cost: characters + CHECKED_ITEM_CHARACTERS * (records + diagnostics.length),
    diagnostics,
    sources,
  };
}

function whereChecked(names: readonly string[], unchecked: number, isComplete: boolean): string {
  const rest = unchecked === 0 ? "" : `; ${unchecked.toLocaleString("en")} more environments were not checked`;
  return `${isComplete ? "without --env, and " : ""}${withEach(names)}${rest}`;
}

const MAX_LISTED_ENVIRONMENTS = 10;

/** `with --env staging, --env production` */
function withEach(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED_ENVIRONMENTS;
  const listed = names.slice(0, MAX_LISTED_ENVIRONMENTS).map((name) => `--env ${shellWord(name)}`);
  return `with ${listed.join(", ")}${rest > 0 ? ` and ${rest.toLocaleString("en")} more` : ""}`;
}

interface Finding {
  readonly diagnostic: Diagnostic;
  readonly runs: Run[];
}

/** What the runs have found, each problem once. */
class Merging {
  readonly #runs: Run[] = [];
  readonly #sources: Sources = new Sources();
  readonly #findings: Map<string, Finding> = new Map();

  add({ diagnostics, sources, ...one }: FreshRun): void {
    this.#runs.push(one);
    for (const file of sources.files()) this.#sources.add(file, sources.text(file) ?? "");
    const counts = new Map<string, number>();
    for (const diagnostic of diagnostics) {
      const place = placeOf(diagnostic);
      const count = counts.get(place) ?? 0;
      counts.set(place, count + 1);
      const key = `${place} ${count}`;
      const known = this.#findings.get(key);
      if (known === undefined) this.#findings.set(key, { diagnostic, runs: [one] });
      else known.runs.push(one);
    }
  }

  result(where: string, unchecked: number): Checked {
    const runs = this.#runs;
    const diagnostics = [...this.#findings.values()].map((finding) => named(finding, runs));
    const faults = runs.map(({ fault }) => fault);
    const worst = faults.find((fault) => fault === "manifest") ?? faults.find((fault) => fault === "request") ?? null;
    return {
      diagnostics: runs.length === 1 ? diagnostics : inOrder(diagnostics, this.#sources),
      sources: this.#sources,
      exitCode: exitOf(worst),
      declared: runs.flatMap(({ declared }) => declared ?? []),
      where,
      unchecked,
    };
  }
}

/** The same problem has the same, whatever values the variables put into its words. */
function placeOf({ code, summary, span }: Diagnostic): string {
  return mapKey(JSON.stringify(span === undefined ? [code, summary] : [code, span.file, span.start, span.end]));
}

/** With the environments in which it was found, unless that is everywhere. */
function named({ diagnostic, runs }: Finding, all: readonly Run[]): Diagnostic {
  if (runs.length === all.length) return diagnostic;
  const names = runs.flatMap(({ environment }) => environment ?? []);
  const alone = runs.length > names.length ? ["without --env"] : [];
  const found = [...alone, ...(names.length === 0 ? [] : [withEach(names)])].join(", and ");
  return { ...diagnostic, detail: `${diagnostic.detail} Found ${found}.`.trim() };
}

function inOrder(diagnostics: readonly Diagnostic[], sources: Sources): Diagnostic[] {
  const order = new Map(sources.files().map((file, index) => [file, index]));
  const rank = (span: Span | undefined): number => (span === undefined ? -1 : (order.get(span.file) ?? order.size));
  return [...diagnostics].sort((a, b) => rank(a.span) - rank(b.span) || (a.span?.start ?? 0) - (b.span?.start ?? 0));
}
