/** Checks the import rules of .dependency-cruiser.cjs, and that there was something to check. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";

process.chdir(join(import.meta.dirname, ".."));
const { forbidden, options } = createRequire(import.meta.url)("../.dependency-cruiser.cjs");
const tsConfig = extractTSConfig(options.tsConfig.fileName);
const result = await cruise(["src"], { ...options, ruleSet: { forbidden }, validate: true }, undefined, { tsConfig });
const { modules, summary } = result.output;

const sources = modules.filter((module) => module.source.startsWith("src/") && module.source.endsWith(".ts"));
const imports = sources.flatMap((module) => module.dependencies);
const typeImports = imports.filter((dependency) => dependency.dependencyTypes.includes("type-only"));
for (const { rule, from, to } of summary.violations) {
  const { comment } = forbidden.find(({ name }) => name === rule.name);
  process.stderr.write(`${rule.name}: ${from} → ${to}\n  ${comment}\n`);
}
process.stdout.write(
  `${sources.length} modules, ${imports.length} imports (${typeImports.length} of types), ${summary.violations.length} violations\n`,
);
// With a TypeScript it does not know, dependency-cruiser finds no module, or no import, and is content with that.
if (sources.length === 0 || typeImports.length === 0) {
  process.stderr.write("dependency-cruiser saw no modules or no type imports: the rules were not checked\n");
  process.exitCode = 1;
}
if (summary.violations.length > 0) process.exitCode = 1;
