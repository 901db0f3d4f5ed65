/** Plants mistakes in plan/, one at a time in a copy, and demands that the properties notice each. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIMIT_MILLISECONDS = 180_000;
/** A counterexample holds a whole account. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

/** Each `find` must stand exactly once in its file. */
const MUTANTS = [
  {
    name: "what is equal is updated all the same",
    file: "src/plan/diff.ts",
    find: 'isEqual(after, before) ? "no-op" : "update"',
    replace: '"update"',
  },
  {
    name: "interfaces do not block a delete",
    file: "src/units/network/diff.ts",
    find: "interfaces.length > 0 ?",
    replace: "interfaces.length < 0 ?",
  },
  {
    name: "changes are in the order of the account",
    file: "src/plan/diff.ts",
    find: "[...groups.keys()].sort(compareText)",
    replace: "[...groups.keys()]",
  },
  {
    name: "changes of one address share a key",
    file: "src/plan/diff.ts",
    find: "key: `${address}[${index}]`",
    replace: "key: address + (index < 0)",
  },
  {
    name: "other owners' objects are pruned",
    file: "src/plan/match.ts",
    find: "candidates.unclaimed().filter(({ identity }) => identity.owner === desired.owner)",
    replace: "candidates.unclaimed().filter(({ identity }) => identity.owner !== null)",
  },
  {
    name: "a family keeps one image more than it has places for",
    file: "src/units/image/family.ts",
    find: 'return places >= 0 ? "kept" : "retired";',
    replace: 'return places >= -1 ? "kept" : "retired";',
  },
  {
    name: "a family keeps its oldest images",
    file: "src/units/image/family.ts",
    find: "[...others].sort(newestFirst)",
    replace: "[...others].sort(newestFirst).reverse()",
  },
  {
    name: "labels are claimed before ids",
    file: "src/plan/match.ts",
    find: "[...declared].sort((a, b) => rank(a) - rank(b))",
    replace: "declared",
  },
  {
    name: "what is released is deleted",
    file: "src/plan/match.ts",
    find: "if (entry.destroy) return deletion(",
    replace: "if (entry.destroy || true) return deletion(",
  },
  {
    name: "what is claimed already may be claimed again",
    file: "src/plan/match.ts",
    find: "(this.#byKey.get(key) ?? []).filter((candidate) => !this.claimed.has(candidate))",
    replace: "(this.#byKey.get(key) ?? [])",
  },
  {
    name: "what takes a slot does not wait until it is free",
    file: "src/plan/edges.ts",
    find: "return exclusive ? [...before.exclusive, ...before.shared] : before.exclusive",
    replace: "return []",
  },
  {
    name: "required steps are not waited for",
    file: "src/plan/edges.ts",
    find: "addKnown(first, byId.get(id))",
    replace: "byId.get(id)",
  },
  {
    name: "what depends on a blocked change is tried all the same",
    file: "src/plan/select.ts",
    find: "[index, ...dependents(index)]",
    replace: "[index]",
  },
  {
    name: "what only one of several can keep is not said",
    file: "src/plan/gaps.ts",
    find: "if (kept.has(what)) continue;",
    replace: "if (kept.has(what) || kept !== null) continue;",
  },
  {
    name: "names come to stand beneath a wildcard in any order",
    file: "src/units/zone/wildcard-cutovers.ts",
    find: 'if (cutover === "hide") this.#facts.awaits(change.key, event);',
    replace: 'if (cutover === "hide") continue;',
  },
  {
    name: "an old place does not wait for the new one",
    file: "src/units/zone/ordering.ts",
    find: "for (const event of endEvents) for (const key of providers) facts.precedes(key, event);",
    replace: "",
  },
  {
    name: "a pointer does not wait for its target",
    file: "src/units/zone/pointers.ts",
    find: 'facts.awaitsAll(record.key, neededBy(after, zone, transition, "comes"));',
    replace: 'neededBy(after, zone, transition, "comes");',
  },
  {
    name: "copies do not wait for the records of their source",
    file: "src/units/zone/steps.ts",
    find: "{ ...NO_FACTS, resolution: needing(source) }",
    replace: "NO_FACTS",
  },
];

const base = mkdtempSync(join(tmpdir(), "tenon-mutants-"));
let survived = 0;
try {
  for (const part of ["src", "test", "schemas"]) cpSync(join(ROOT, part), join(base, part), { recursive: true });
  writeFileSync(join(base, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(
    join(base, "vitest.config.ts"),
    'export default { test: { include: ["test/property/{converge,resolution}.test.ts"] } };\n',
  );
  symlinkSync(join(ROOT, "node_modules"), join(base, "node_modules"));
  // A mutant that no longer fits its source is a mistake of seconds, not one to hear of after minutes.
  for (const mutant of MUTANTS) mutated(mutant);
  // Without a mistake the copy must pass, or every mutant would seem to be killed.
  const untouched = runProperties();
  if (untouched.status !== 0) {
    process.stderr.write(untouched.output);
    throw new Error("The properties fail without any mutant");
  }
  for (const mutant of MUTANTS) survived += plant(mutant) ? 0 : 1;
} finally {
  rmSync(base, { recursive: true, force: true });
}
process.stdout.write(`${MUTANTS.length - survived} of ${MUTANTS.length} mutants killed\n`);
process.exitCode = survived === 0 ? 0 : 1;

function plant(mutant) {
  const path = join(base, mutant.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, mutated(mutant));
  const isKilled = !properties();
  writeFileSync(path, source);
  process.stdout.write(`${isKilled ? "killed  " : "SURVIVED"} ${mutant.name}\n`);
  return isKilled;
}

/** The source with its mistake. */
function mutated({ file, find, replace }) {
  const source = readFileSync(join(base, file), "utf8");
  return substitute(source, find, replace, file);
}

function substitute(source, find, replace, file) {
  if (source.split(find).length !== 2) throw new Error(`${file} does not hold this exactly once: ${find}`);
  return source.replace(find, () => replace);
}

/** Whether the properties hold. One that never comes to an end is one that does not hold. */
function properties() {
  return runProperties().status === 0;
}

function runProperties() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, "node_modules/vitest/vitest.mjs"), "run"],
    {
      cwd: base,
      env: { ...process.env, TENON_PROPERTY_RUNS: "499", TENON_PROPERTY_SHRINK: "no" },
      timeout: LIMIT_MILLISECONDS,
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      maxBuffer: MAX_OUTPUT_BYTES,
    },
  );
  return { status, output: `${stdout}${stderr}` };
}
