/** The files of a project: its root file, and those that `files:` names. */

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { isPrivate, isWithin } from "../model/containment.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import type { Sources } from "../model/source.ts";
import { type FoundFile, findFiles, isGlob, type PatternProblem } from "./files.ts";
import { MAX_FILE_BYTES, MAX_FILE_PATTERNS, MAX_FILES, MAX_PROJECT_BYTES } from "./limits.ts";
import { type ParseContext, type ParsedFile, parseFile } from "./parse.ts";
import { decode, fileProblem, readBounded } from "./read.ts";
import { ROOT_FILE } from "./root-file.ts";

/** @returns null if it cannot be read; that is reported */
export async function readManifest(
  path: string,
  file: string,
  sources: Sources,
  context: ParseContext,
): Promise<ParsedFile | null> {
  const real = await realpath(path).catch(() => path);
  const folder = dirname(path);
  const elsewhere = !isWithin(real, folder) ? "outside" : isPrivate(real, folder) ? "private" : null;
  // The others were looked at when they were found.
  if (elsewhere !== null && file === ROOT_FILE) {
    context.report({ ...fileProblem(file, elsewhere), fix: "Put the file itself into the folder." });
    return null;
  }
  const read = await readBounded(real);
  if (!read.ok) {
    context.report(read.problem === "too-large" ? tooLarge(file, read.size) : unreadable(file, read.problem));
    return null;
  }
  const { text, badOffset } = decode(read.bytes);
  sources.add(file, text);
  if (badOffset !== null) {
    context.report(notUtf8(file, badOffset));
    return null;
  }
  return parseFile(file, text, context);
}

function unreadable(file: string, problem: Parameters<typeof fileProblem>[1]): Diagnostic {
  return { ...fileProblem(file, problem), fix: "Check the file." };
}

function tooLarge(file: string, bytes: number): Diagnostic {
  const detail = `It has ${(bytes / 1024 ** 2).toFixed(1)} MiB; a manifest may have ${MAX_FILE_BYTES / 1024 ** 2}.`;
  return {
    code: "file-too-large",
    severity: "error",
    summary: `${file} is too large`,
    detail,
    fix: "Divide it into several files under `files`.",
  };
}

function notUtf8(file: string, offset: number): Diagnostic {
  const detail = "Here is a byte that is no part of a UTF-8 text.";
  const span = { file, start: offset, end: offset + 1 };
  return {
    code: "not-utf8",
    severity: "error",
    summary: "the file is not UTF-8",
    detail,
    fix: "Save the file as UTF-8.",
    span,
  };
}

export interface RootOfProject {
  /** Real path of the folder. */
  readonly root: string;
  readonly rootPath: string;
  readonly tree: JsonObject;
}

/** What `files:` names, sorted by path. Files that cannot be read are reported and stand as damaged. */
export async function readFurtherFiles(
  { root, rootPath, tree }: RootOfProject,
  sources: Sources,
  context: ParseContext,
): Promise<ParsedFile[]> {
  const list = tree["files"];
  if (!Array.isArray(list)) return [];
  const patterns = (list as readonly Json[]).map((pattern, index) => patternText(pattern, list, index, context));
  const broken = context.places.brokenKeys(list);
  const usable = patterns.map((pattern, index) => (broken.has(String(index)) ? "" : pattern));
  const found = await findFiles(root, rootPath, usable);
  for (const problem of found.problems) {
    const pattern = usable[problem.pattern] ?? "";
    if (pattern !== "" || problem.type === "too-many-patterns")
      context.report({ ...explain(problem, pattern), span: context.places.span(list, problem.pattern) });
  }
  return readAll(found.files, list, sources, context);
}

/** Like every text, a name such as `2026` is taken as it was written. What is no text at all is left to the schema. */
function patternText(pattern: Json, list: object, index: number, { places }: ParseContext): string {
  if (typeof pattern === "string") return pattern;
  return typeof pattern === "object" ? "" : (places.source(list, index) ?? String(pattern));
}

async function readAll(
  files: readonly FoundFile[],
  list: object,
  sources: Sources,
  context: ParseContext,
): Promise<ParsedFile[]> {
  const parsed: ParsedFile[] = [];
  let characters = 0;
  for (const { file, path, pattern } of files) {
    const withSpan = (diagnostic: Diagnostic): void =>
      context.report(
        diagnostic.span === undefined ? { ...diagnostic, span: context.places.span(list, pattern) } : diagnostic,
      );
    parsed.push(
      (await readManifest(path, file, sources, { ...context, report: withSpan })) ?? {
        file,
        tree: null,
        damaged: true,
      },
    );
    characters += sources.text(file)?.length ?? 0;
    if (characters > MAX_PROJECT_BYTES) {
      withSpan(projectTooLarge());
      parsed.push({ file, tree: null, damaged: true });
      break;
    }
  }
  return parsed;
}

function projectTooLarge(): Diagnostic {
  const detail = `The files of a project may have ${MAX_PROJECT_BYTES / 1024 ** 2} MiB together; those after this one are not read.`;
  return {
    code: "project-too-large",
    severity: "error",
    summary: "the project is too large",
    detail,
    fix: "Divide the project.",
  };
}

function explain(problem: PatternProblem, pattern: string): Diagnostic {
  switch (problem.type) {
    case "outside":
      return {
        ...fileProblem(pattern, "outside"),
        fix: "Write a path relative to the root file, with forward slashes and without `..`.",
      };
    case "file":
      return {
        ...fileProblem(problem.file, problem.problem),
        fix: "Put the file into the project folder, or change the pattern.",
      };
    case "too-many": {
      const detail = `A project may have ${MAX_FILES.toLocaleString("en")} files, and patterns look at a bounded number of folders.`;
      return {
        code: "too-many-files",
        severity: "error",
        summary: "too many files",
        detail,
        fix: "Write a narrower pattern.",
      };
    }
    case "too-many-patterns": {
      const detail = `\`files\` may have ${MAX_FILE_PATTERNS.toLocaleString("en")} patterns; this one and what follows are not looked at.`;
      return {
        code: "too-many-files",
        severity: "error",
        summary: "too many patterns under `files`",
        detail,
        fix: "Join patterns with stars.",
      };
    }
    case "no-match": {
      const detail = isGlob(pattern) ? "No file of the project fits the pattern." : "There is no such file.";
      return {
        code: "no-match",
        severity: "warning",
        summary: `${pattern} names no file`,
        detail,
        fix: "Correct the pattern, or remove it.",
      };
    }
  }
}
