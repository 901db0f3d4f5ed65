/** What tsc wrote becomes what people run: compiled schemas, and the command line in few files, for to open hundreds takes longer than most commands. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { schemaModule } from "./dist/files/schemas.js";
import { manifestSchema } from "./dist/manifest/schema.js";
import { units } from "./dist/units/index.js";

const ROOT = import.meta.dirname;

await compileSchemas(join(ROOT, "dist/validators"));
await bundle(join(ROOT, "dist/bin"));

/** Those that commands check files against. */
async function compileSchemas(folder) {
  const saved = ["plan", "live"].map((name) => readFileSync(join(ROOT, "schemas", `${name}.schema.json`), "utf8"));
  const modules = await Promise.all([
    schemaModule(manifestSchema(units), "all"),
    ...saved.map((text) => schemaModule(JSON.parse(text), "first")),
  ]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, code } of modules) writeFileSync(join(folder, file), code);
}

/** Every part that a command loads when it needs it stays a file of its own. */
async function bundle(folder) {
  rmSync(folder, { recursive: true, force: true });
  const build = await rolldown({
    input: { tenon: join(ROOT, "dist/cli/main.js") },
    platform: "node",
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await build.write({ dir: folder, format: "esm", chunkFileNames: "[name]-[hash].js" });
  await build.close();
  writeFileSync(join(folder, "LICENSES.txt"), licences(output.flatMap(({ moduleIds }) => moduleIds ?? [])));
}

/** Of the libraries that are in the bundle. */
function licences(modules) {
  const packages = new Set();
  for (const id of modules) {
    const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/"));
    if (found !== null) packages.add(found[0]);
  }
  const texts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file !== undefined && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "";
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
