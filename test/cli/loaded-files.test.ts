/** What a command loads before it begins: few files, and only the libraries that it needs. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { emulator, envOf, folder, run } from "./run.ts";

const MINIMAL = `tenon: 1
domains:
  - { domain: a.example, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: 192.0.2.1 }] }
`;

const FLEET = "fleet: 1\naccounts: [{ name: a, project: ., token: { env: TENON_TOKEN } }]\n";

/** Writes the URL of each module to stderr as it is loaded. */
const HOOKS = `import { writeSync } from "node:fs";
export async function load(url, context, next) {
  if (url.startsWith("file:")) writeSync(2, "loaded " + url + "\\n");
  return next(url, context);
}`;

function preloaded(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

interface Loaded {
  readonly files: number;
  /** Names of packages, sorted. */
  readonly libraries: readonly string[];
  /** Files of undici, within its folder `lib`. */
  readonly undici: readonly string[];
  /** All files that the bundles were made of. */
  readonly sources: readonly string[];
}

/** @param more code that is executed before the command */
async function loadedBy(args: readonly string[], manifest: string = MINIMAL, more: string = ""): Promise<Loaded> {
  const register = `import { register } from "node:module";
${more}
register("data:text/javascript," + encodeURIComponent(${JSON.stringify(HOOKS)}));`;
  const env = { ...envOf(await emulator()), ...preloaded(register) };
  const { code, stderr } = await run(args, { cwd: await folder({ "tenon.yaml": manifest, "fleet.yaml": FLEET }), env });
  expect(code).toBe(0);
  const files = [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, url]) => fileURLToPath(url as string));
  const maps = files.map((file) => `${file}.map`).filter(existsSync);
  const sources = maps.flatMap((map) => JSON.parse(readFileSync(map, "utf8")).sources as string[]);
  const found = sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
  const undici = sources.flatMap((source) => /\/undici\/lib\/(.*)$/.exec(source)?.[1] ?? []);
  return { files: files.length, libraries: [...new Set(found)].sort(), undici, sources };
}

const READING = ["commander", "fast-deep-equal", "fastest-levenshtein", "ipaddr.js", "picocolors"];

test("--version and --help load the parser of the command line alone", async () => {
  for (const flag of ["--version", "--help"]) {
    expect(await loadedBy([flag])).toMatchObject({ files: 2, libraries: ["commander"] });
  }
});

test("validate loads no client and no server", async () => {
  expect(await loadedBy(["validate"])).toMatchObject({ files: 4, libraries: READING, undici: [] });
});

test("the yaml library is loaded for what is unusual in a manifest", async () => {
  const { libraries } = await loadedBy(["validate"], `${MINIMAL}x-text: |\n  two\n  lines\n`);
  expect(libraries).toEqual([...READING, "yaml"].sort());
});

test("the library that reads ranges of versions is loaded for a project that requires one", async () => {
  const { libraries } = await loadedBy(["validate"], `${MINIMAL}requires: ">=0.1"\n`);
  expect(libraries).toEqual([...READING, "semver"].sort());
});

test("plan loads the client, and of undici only what sends requests", async () => {
  const { files, libraries, undici, sources } = await loadedBy(["plan"]);
  expect(sources.filter((source) => /src\/cli\/(base|git)\.ts$/.test(source))).toEqual([]);
  expect({ files, libraries }).toEqual({ files: 6, libraries: [...READING, "undici"].sort() });
  expect(undici).toContain("dispatcher/pool.js");
  expect(undici.filter((file) => /fetch\/index|websocket\/|cache|mock|interceptor/.test(file))).toEqual([]);
});

test("a small plan loads no HTTP/2 of Node's, and does not load its tables of languages to format a number", async () => {
  const watch = `Number.prototype.toLocaleString = () => { throw new Error("formatted"); };
process.on("exit", () => process.stderr.write(process.moduleLoadList.filter((name) => /http2/.test(name)).join() + " loaded\\n"));`;
  const env = { ...envOf(await emulator()), ...preloaded(watch) };
  const { code, stderr } = await run(["plan"], { cwd: await folder({ "tenon.yaml": MINIMAL }), env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^ loaded$/m) });
});

test("emulate loads nothing of what reads a project", async () => {
  const stop = `const { write } = process.stdout;
process.stdout.write = function (...words) {
  setTimeout(() => process.kill(process.pid, "SIGTERM"), 100);
  return write.apply(this, words);
};`;
  const { sources } = await loadedBy(["emulate"], MINIMAL, stop);
  expect(sources.filter((source) => /src\/(manifest|plan|lint|units)\//.test(source))).toEqual([]);
});

test("an error of Tenon's own shows the places in the code, not those in the bundle", async () => {
  const broken = "process.stdout.write = () => { throw new Error('broken'); };";
  const env = { ...preloaded(broken), TENON_DEBUG: "1" };
  const { code, stderr } = await run(["validate"], { cwd: await folder({ "tenon.yaml": MINIMAL }), env });
  expect(code).toBe(1);
  expect(stderr).toContain("unexpected: broken");
  expect(stderr).toMatch(/src\/cli\/commands\/validate\.ts:\d+:\d+/);
});

test("a command of a fleet that uses no queue loads none of the engines", async () => {
  const { libraries } = await loadedBy(["fleet", "plan"]);
  expect(libraries.filter((name) => ["bullmq", "ioredis", "msgpackr", "pg"].includes(name))).toEqual([]);
  expect(libraries).toContain("undici");
});
