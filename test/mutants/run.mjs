/**
 * Plants seeded mistakes anywhere in src, one at a time in a copy, and runs the tests that execute the place: the share that they notice
 * is the score. Not in the list of `npm test`: `npm run test:mutants`, with `-- --sample N --seed N`, and for one
 * part of src `--only PART-OF-ITS-PATH --tests FOLDER,FOLDER`.
 */

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";
import { EQUIVALENT } from "./equivalent.mjs";
import { mutate, sitesOf, watch } from "./sites.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MIN_SCORE_PERCENT = 85;
const DEFAULT_SAMPLE = 200;
/** A smaller sample fails if it would fall so low by chance once in twenty times: each change of the source draws another one. */
const ONE_IN_TWENTY_DEVIATIONS = 1.645;
const DEFAULT_SEED = 20_261_122;

/** What runs in a browser, or beside a server of a queue: test:system alone has these. */
const IN_SYSTEM =
  /^src\/(?:render\/html\/client\/|fleet\/(?:activity|bullmq|digest|open-store|postgres|redis|submit|token|worker)\.ts$|cli\/(?:commands\/)?fleet-(?:metrics|queue|status|worker)\.ts$)/;

/** Of the tests that execute a place the nearest are run: what only the hundredth notices is as good as unnoticed. */
const MAX_TEST_FILES = 25;
/** They assert whole plans, and lie near nothing: they are run after the nearest. */
const TESTS_OF_EVERYTHING = ["test/cases/cases.test.ts", "test/property/resolution.test.ts"];
/** Most mistakes are noticed by one of these, and then the others need not run. */
const FIRST_TEST_FILES = 5;

/** A mistake that keeps the tests from ending is noticed; a machine that is too busy to end them would look the same. */
const LIMIT_MILLISECONDS = 240_000;
const NOTICED = new Set(["killed", "endless"]);

const { values } = parseArgs({
  options: {
    sample: { type: "string" },
    seed: { type: "string" },
    only: { type: "string" },
    tests: { type: "string" },
  },
});
/** Processes of tests that run, each the first of its group. */
const groups = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    for (const pid of groups) endGroup(pid);
    rmSync(base, { recursive: true, force: true });
    process.exit(1);
  });
}
const base = mkdtempSync(join(tmpdir(), "tenon-mutants-"));
try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  rmSync(base, { recursive: true, force: true });
}

async function main() {
  const sites = draw(allSites(), Number(values.sample ?? DEFAULT_SAMPLE), Number(values.seed ?? DEFAULT_SEED));
  const workers = Array.from({ length: availableParallelism() }, (_, index) => copyTo(join(base, `copy-${index}`)));
  const executing = await testsThatExecute(sites, workers[0]);
  const left = sites.entries();
  const results = [];
  await Promise.all(
    workers.map(async (copy) => {
      for (const [number, site] of left) {
        const tests = executing[number] ?? [];
        const outcome = tests.length === 0 ? "UNTESTED" : await outcomeOf(copy, site, tests);
        process.stdout.write(`${outcome.padEnd(8)} ${site.file}:${site.line} ${site.name}\n`);
        results.push({ site, isKilled: NOTICED.has(outcome) });
      }
    }),
  );
  return report(results);
}

function allSites() {
  const files = readdirSync(join(ROOT, "src"), { recursive: true })
    .map((file) => `src/${file.split(sep).join("/")}`)
    .filter((file) => file.endsWith(".ts") && file.includes(values.only ?? "") && !IN_SYSTEM.test(file))
    .sort();
  const sites = files.flatMap((file) => sitesOf(file, readFileSync(join(ROOT, file), "utf8")));
  const known = new Set(EQUIVALENT.map(({ file, code, name }) => JSON.stringify([file, code, name])));
  return sites.filter(({ file, start, end, name }) => {
    const code = readFileSync(join(ROOT, file), "utf8").slice(start, end);
    return !known.has(JSON.stringify([file, code, name]));
  });
}

/** Each folder of src in turn gives one, so that a large one does not crowd out the others. */
function draw(sites, count, seed) {
  const random = generator(seed);
  const folders = Object.values(groupBy(sites, ({ file }) => folderOf(file)));
  const drawn = [];
  for (let turn = 0; drawn.length < count && folders.some((folder) => folder.length > 0); turn += 1) {
    const folder = folders[turn % folders.length];
    if (folder.length > 0) drawn.push(...folder.splice(Math.floor(random() * folder.length), 1));
  }
  return drawn;
}

/** Mulberry32: the same places for the same seed. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function groupBy(items, keyOf) {
  const groups = {};
  for (const item of items) {
    const key = keyOf(item);
    groups[key] ??= [];
    groups[key].push(item);
  }
  return groups;
}

function folderOf(file) {
  const [, first = "", second] = file.split("/");
  return second === undefined ? "src" : first;
}

/** What tests need of the project. */
function copyTo(folder) {
  mkdirSync(folder);
  for (const part of ["src", "dist", "test", "schemas", "completions", "examples", "docs", "bench"]) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  const pages = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    "action.yml",
  ];
  for (const part of [...pages, "package.json", "tsconfig.json", ".ci"]) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `import base from ${JSON.stringify(join(ROOT, "vitest.config.ts"))};
export default { test: { ...base.test, globalSetup: [], maxWorkers: Number(process.env.TENON_MUTANT_WORKERS ?? 1),
  setupFiles: process.env.TENON_MUTANT_HITS ? ["test/mutants/executed.ts"] : [],
  // All but the file with the mistake is as it was: half the time of a run would go into transforming it again.
  experimental: { fsModuleCache: true, fsModuleCachePath: ${JSON.stringify(join(folder, "cache"))} } } };\n`,
  );
  return folder;
}

/** Number of a site → the test files that execute it, the nearest first. */
async function testsThatExecute(sites, copy) {
  const hits = join(base, "hits");
  mkdirSync(hits);
  const ofFile = groupBy([...sites.entries()], ([, { file }]) => file);
  for (const [file, entries] of Object.entries(ofFile)) {
    const numbered = entries.map(([number, site]) => ({ number, site }));
    write(copy, file, watch(readFileSync(join(ROOT, file), "utf8"), numbered));
  }
  const main = join(copy, "dist/cli/main.js");
  const [shebang, ...lines] = readFileSync(main, "utf8").split("\n");
  const recorder = JSON.stringify(join(copy, "test/mutants/executed-by-child.mjs"));
  writeFileSync(main, [shebang, `import ${recorder};`, ...lines].join("\n"));
  const workers = String(availableParallelism() + 1);
  const environment = { TENON_MUTANT_HITS: hits, TENON_MUTANT_WORKERS: workers };
  const { status, output } = await vitest(copy, values.tests?.split(",") ?? [], environment, null);
  for (const file of Object.keys(ofFile)) write(copy, file, readFileSync(join(ROOT, file), "utf8"));
  cpSync(join(ROOT, "dist/cli/main.js"), main);
  if (status !== 0)
    process.stdout.write(`Tests fail without any mistake; they are left out.\n${output.slice(-4_000)}\n`);
  const files = readHits(hits);
  return sites.map(({ file }, number) => {
    const names = files
      .filter(({ executed, failed }) => !failed && executed.includes(number))
      .sort((a, b) => near(b.file, file) - near(a.file, file) || a.executed.length - b.executed.length)
      .map((one) => relative(copy, one.file));
    const nearest = names.filter((name) => !TESTS_OF_EVERYTHING.includes(name)).slice(0, MAX_TEST_FILES);
    return [...nearest, ...TESTS_OF_EVERYTHING.filter((name) => names.includes(name))];
  });
}

/**
 * Of each test file what it executed itself (`ID.json`), and what the processes that it started did (`ID.children`, a number a line).
 * @returns {{ file: string, executed: number[], failed: boolean }[]}
 */
function readHits(folder) {
  const names = readdirSync(folder);
  const children = (id) => {
    const name = `${id}.children`;
    return names.includes(name) ? readFileSync(join(folder, name), "utf8").trim().split("\n").map(Number) : [];
  };
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => {
      const own = JSON.parse(readFileSync(join(folder, name), "utf8"));
      return { ...own, executed: [...new Set([...own.executed, ...children(name.slice(0, -".json".length))])] };
    });
}

/** The source, and what tsc makes of it: tests of the command line run dist in a process of its own. */
function write(copy, file, source) {
  writeFileSync(join(copy, file), source);
  const options = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  };
  const { outputText } = ts.transpileModule(source, { compilerOptions: options, fileName: file });
  writeFileSync(join(copy, file.replace(/^src/, "dist").replace(/\.ts$/, ".js")), outputText);
}

/** How many folders' names they share. */
function near(testFile, file) {
  const folders = file.split("/").slice(1, -1);
  return folders.filter((folder) => testFile.split(sep).includes(folder)).length;
}

async function outcomeOf(copy, site, tests) {
  const source = readFileSync(join(ROOT, site.file), "utf8");
  write(copy, site.file, mutate(source, site));
  let outcome = "SURVIVED";
  for (const some of [tests.slice(0, FIRST_TEST_FILES), tests.slice(FIRST_TEST_FILES)]) {
    if (outcome !== "SURVIVED" || some.length === 0) break;
    const { status } = await vitest(copy, ["--bail", "1", ...some], {}, LIMIT_MILLISECONDS);
    if (status !== 0) outcome = status === null ? "endless" : "killed";
  }
  write(copy, site.file, source);
  return outcome;
}

function vitest(cwd, args, environment, limit) {
  return new Promise((resolve, reject) => {
    const program = join(ROOT, "node_modules/vitest/vitest.mjs");
    const env = { ...process.env, TENON_PROPERTY_RUNS: "50", TENON_PROPERTY_SHRINK: "no", ...environment };
    // Not the bundle: mistakes reach the files that tsc wrote.
    env.TENON_TEST_MAIN = "dist/cli/main.js";
    const child = spawn(process.execPath, [program, "run", ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    groups.add(child.pid);
    const timer = limit === null ? undefined : setTimeout(() => endGroup(child.pid), limit);
    let output = "";
    const keep = (part) => {
      output = (output + part).slice(-20_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", reject);
    child.on("close", (status) => {
      clearTimeout(timer);
      endGroup(child.pid);
      groups.delete(child.pid);
      resolve({ status, output });
    });
  });
}

/** A mistake may leave one of its workers in a loop without an end, and that one outlives it. */
function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

function report(results) {
  const folders = groupBy(results, ({ site }) => folderOf(site.file));
  for (const [folder, ofFolder] of Object.entries(folders).sort()) {
    const killed = ofFolder.filter(({ isKilled }) => isKilled).length;
    process.stdout.write(`${folder.padEnd(10)} ${killed} of ${ofFolder.length}\n`);
  }
  const killed = results.filter(({ isKilled }) => isKilled).length;
  const percent = (killed * 100) / results.length;
  const least = leastPercent(results.length);
  process.stdout.write(
    `${killed} of ${results.length} mutants killed: ${percent.toFixed(1)} %, at least ${least.toFixed(1)} % must be\n`,
  );
  return percent >= least;
}

function leastPercent(count) {
  if (count >= DEFAULT_SAMPLE) return MIN_SCORE_PERCENT;
  const deviation = Math.sqrt((MIN_SCORE_PERCENT * (100 - MIN_SCORE_PERCENT)) / count);
  return MIN_SCORE_PERCENT - ONE_IN_TWENTY_DEVIATIONS * deviation;
}
