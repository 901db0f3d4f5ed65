/** The check of a project in each of its environments, with what was found told once. */

import { type Diagnostic, type LoadOptions, lintProject, type Project, Sources, type Span } from "../index.ts";
import { shellWord } from "../model/text.ts";
import type { ProjectFlags } from "./flags.ts";
import { exitOf, load } from "./project.ts";

/** At most this many environments are checked: each is a project to load. */
const MAX_CHECKED_ENVIRONMENTS = 100;
/** Characters of those environments once expanded: after this many, no further environment is loaded. */
const MAX_CHECKED_CHARACTERS: number = 64 * 1024 * 1024;

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
}

/** A project as one environment makes it. */
interface Run {
  /** null: no environment. */
  readonly environment: string | null;
  readonly project: Project | null;
  readonly fault: Parameters<typeof exitOf>[0];
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: Sources;
  readonly environments: readonly string[];
  readonly characters: number;
}

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
  reading: ReadOptions = {},
): Promise<Checked> {
  const first = await run(directory, flags, dialect, { environment: null, ...reading });
  if (flags.env !== undefined || first.environments.length === 0) return merge([first], "");
  const names = first.environments.slice(0, MAX_CHECKED_ENVIRONMENTS);
  const isComplete = !first.diagnostics.some(({ code }) => code === "missing-variable");
  const runs = isComplete ? [first] : [];
  let { characters } = first;
  let parsed = reading.parsed ?? first.project?.parsed;
  for (const environment of names) {
    if (characters > MAX_CHECKED_CHARACTERS) break;
    const options = { ...reading, environment, ...(parsed === undefined ? {} : { parsed }) };
    const next = await run(directory, { ...flags, env: environment }, dialect, options);
    runs.push(next);
    characters += next.characters;
    parsed = reading.parsed ?? next.project?.parsed;
  }
  const checked = runs.flatMap(({ environment }) => environment ?? []);
  return merge(runs, whereChecked(checked, first.environments.length - checked.length, isComplete));
}

/** `parsed`: of the run before, whose files need not be parsed again. */
async function run(
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string,
  { environment, ...reading }: ReadOptions & { readonly environment: string | null },
): Promise<Run> {
  const loaded = await load(directory, flags, dialect, { keepParsed: true, ...reading });
  const { project, diagnostics } = loaded;
  return {
    ...loaded,
    environment,
    diagnostics: project === null ? diagnostics : await lintProject(project, diagnostics),
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

function merge(runs: readonly Run[], where: string): Checked {
  const sources = new Sources();
  const findings = new Map<string, Finding>();
  for (const one of runs) {
    for (const file of one.sources.files()) sources.add(file, one.sources.text(file) ?? "");
    const counts = new Map<string, number>();
    for (const diagnostic of one.diagnostics) {
      const place = placeOf(diagnostic);
      const count = counts.get(place) ?? 0;
      counts.set(place, count + 1);
      const key = `${place} ${count}`;
      const known = findings.get(key);
      if (known === undefined) findings.set(key, { diagnostic, runs: [one] });
      else known.runs.push(one);
    }
  }
  const diagnostics = [...findings.values()].map((finding) => named(finding, runs));
  const faults = runs.map(({ fault }) => fault);
  const worst = faults.find((fault) => fault === "manifest") ?? faults.find((fault) => fault === "request") ?? null;
  return {
    diagnostics: runs.length === 1 ? diagnostics : inOrder(diagnostics, sources),
    sources,
    exitCode: exitOf(worst),
    declared: runs.flatMap(({ project }) => project?.desired.declared.length ?? []),
    where,
  };
}

/** The same problem has the same, whatever values the variables put into its words. */
function placeOf({ code, summary, span }: Diagnostic): string {
  return JSON.stringify(span === undefined ? [code, summary] : [code, span.file, span.start, span.end]);
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
