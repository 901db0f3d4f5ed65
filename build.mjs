/** What tsc wrote becomes what people run: compiled schemas, and the command line in few files, for to open hundreds takes longer than most commands. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { rolldown } from "rolldown";
import { minifySync } from "rolldown/experimental";
import { schemaModule } from "./dist/files/schemas.js";
import { manifestSchema } from "./dist/manifest/schema.js";
import { units } from "./dist/units/index.js";

const ROOT = import.meta.dirname;
const DIST = join(ROOT, "dist");

/** Those that commands check files against. */
async function compileSchemas(folder) {
  const saved = ["plan", "live"].map((name) => readFileSync(join(ROOT, "schemas", `${name}.schema.json`), "utf8"));
  const modules = await Promise.all([
    schemaModule(manifestSchema(units), "all"),
    ...saved.map((text) => schemaModule(JSON.parse(text), "first")),
  ]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, code } of modules) writeFileSync(join(folder, file), minified(file, code));
}

function minified(file, source) {
  const { code, errors } = minifySync(file, source, { module: false });
  if (errors.length > 0) throw new Error(errors[0].message);
  return code;
}

/** A part that only some commands load stays a file of its own; what most of them load together is one file. */
async function bundle(folder) {
  rmSync(folder, { recursive: true, force: true });
  const graph = new ModuleGraph();
  const build = await rolldown({
    input: { tenon: join(DIST, "cli/main.js") },
    platform: "node",
    preserveEntrySignatures: false,
    plugins: [graph.plugin(), partOfUndici()],
    onLog(level, log) {
      // What the library loads late, the command line has in a file with what it needs at once.
      if (level === "warn" && log.code !== "INEFFECTIVE_DYNAMIC_IMPORT") throw new Error(log.message);
    },
  });
  const { output } = await build.write({
    dir: folder,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    minify: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
    codeSplitting: { includeDependenciesRecursively: false, groups: graph.groups() },
  });
  await build.close();
  writeFileSync(join(folder, "LICENSES.txt"), licences(output.flatMap(({ moduleIds }) => moduleIds ?? [])));
}

/** Files of modules that are loaded together, with what they import from the start. */
const GROUPS = [
  { name: "start", of: ["cli/main.js"] },
  {
    name: "project",
    of: [
      ...["cli/commands/validate.js", "cli/commands/plan.js", "cli/commands/apply.js"],
      ...["manifest/load.js", "lint/lint.js", "manifest/assemble.js"],
    ],
  },
  { name: "client", of: ["api/index.js", "api/shape.js"] },
];

/** Which module imports which, to be known before modules are put into files. */
class ModuleGraph {
  #imports = new Map();
  #assigned = null;

  plugin() {
    const moduleParsed = ({ id, importedIds }) => {
      this.#imports.set(id, importedIds);
    };
    return { name: "module-graph", moduleParsed };
  }

  /** As rolldown takes them. */
  groups() {
    return GROUPS.map(({ name }) => ({ name, test: (id) => this.#groupOf(id) === name }));
  }

  /** The first group that needs the module from its start. */
  #groupOf(id) {
    this.#assigned ??= this.#assign();
    return this.#assigned.get(id);
  }

  #assign() {
    const assigned = new Map();
    for (const { name, of } of GROUPS) {
      const left = of.map((file) => join(DIST, file));
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        if (assigned.has(id)) continue;
        if (id.startsWith(DIST + sep) && !this.#imports.has(id)) throw new Error(`${id} is not in the bundle`);
        assigned.set(id, name);
        for (const next of this.#imports.get(id) ?? []) left.push(next);
      }
    }
    return assigned;
  }
}

/** Of undici only what sends requests: to load its fetch, its WebSocket and its caches takes longer than all else that a small plan does. */
function partOfUndici() {
  const id = "\0undici";
  const from = (file) => JSON.stringify(join(ROOT, "node_modules/undici/lib", file));
  // As undici's own entry does it: a proxy is asked with `connect`.
  const code = `import api from ${from("api/index.js")};
import Dispatcher from ${from("dispatcher/dispatcher.js")};
Object.assign(Dispatcher.prototype, api);
export { default as Agent } from ${from("dispatcher/agent.js")};
export { default as EnvHttpProxyAgent } from ${from("dispatcher/env-http-proxy-agent.js")};
export { default as Pool } from ${from("dispatcher/pool.js")};`;
  return {
    name: "part-of-undici",
    resolveId: (source) => (source === "undici" ? id : null),
    load: (module) => (module === id ? code : null),
  };
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

await compileSchemas(join(DIST, "validators"));
await bundle(join(DIST, "bin"));
