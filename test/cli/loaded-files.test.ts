/** What a command loads before it begins: few files, and only the libraries that it needs. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emulator, envOf, folder, run } from "./run.ts";

const MINIMAL = `tenon: 1
domains:
  - { domain: a.example, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: 192.0.2.1 }] }
`;

const WATCH = join(import.meta.dirname, "loaded.cjs");
const FLEET = "fleet: 1\naccounts: [{ name: a, project: ., token: { env: TENON_TOKEN } }]\n";

/** For NODE_OPTIONS: these files are executed before the command. */
function requiring(files: readonly string[]): Record<string, string> {
  return { NODE_OPTIONS: files.map((file) => `--require=${file}`).join(" ") };
}

/** @returns its path */
async function fileOf(code: string): Promise<string> {
  return join(await folder({ "code.cjs": code }), "code.cjs");
}

interface Loaded {
  readonly files: number;
  /** Names of packages, sorted. */
  readonly libraries: readonly string[];
  /** Files of undici, within its folder `lib`. */
  readonly undici: readonly string[];
  /** All files that the bundles were made of. */
  readonly sources: readonly string[];
  /** Of Node's own modules those that `node -e 0` does not load, sorted. */
  readonly ofNode: readonly string[];
}

/** @param more files that are executed before the command */
async function loadedBy(args: readonly string[], manifest: string = MINIMAL, ...more: string[]): Promise<Loaded> {
  const env = { ...envOf(await emulator()), ...requiring([WATCH, ...more]) };
  const { code, stderr } = await run(args, { cwd: await folder({ "tenon.yaml": manifest, "fleet.yaml": FLEET }), env });
  expect(code).toBe(0);
  const { files, ofNode } = parse(stderr);
  const maps = files.map((file) => `${file}.map`).filter(existsSync);
  const sources = maps.flatMap((map) => JSON.parse(readFileSync(map, "utf8")).sources as string[]);
  const found = sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
  const undici = sources.flatMap((source) => /\/undici\/lib\/(.*)$/.exec(source)?.[1] ?? []);
  const bare = new Set(
    parse(spawnSync(process.execPath, ["-r", WATCH, "-e", "0"], { encoding: "utf8" }).stderr).ofNode,
  );
  return {
    ...{ files: files.length, libraries: [...new Set(found)].sort(), undici, sources },
    ofNode: ofNode.filter((name) => !bare.has(name)).sort(),
  };
}

/** What loaded.cjs writes. */
function parse(stderr: string): { readonly files: readonly string[]; readonly ofNode: readonly string[] } {
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
}

const READING = [
  ...["commander", "fast-deep-equal", "fastest-levenshtein", "get-east-asian-width", "ipaddr.js", "picocolors"],
];

/** Of Node's own modules those that take long to load. */
const COSTLY = [
  ...["assert", "child_process", "cluster", "crypto", "dgram", "dns", "dns/promises", "http", "http2", "https"],
  ...["inspector", "os", "readline", "readline/promises", "stream/web", "tls", "tty", "v8", "vm"],
  ...["worker_threads", "zlib"],
];

test("--version and --help load the parser of the command line alone", async () => {
  for (const flag of ["--version", "--help"]) {
    const { files, libraries, ofNode } = await loadedBy([flag]);
    expect({ files, libraries }).toEqual({ files: 2, libraries: ["commander"] });
    expect(ofNode.filter((name) => COSTLY.includes(name))).toEqual([]);
  }
});

test("validate loads no client and no server", async () => {
  const { ofNode, ...loaded } = await loadedBy(["validate"]);
  expect(loaded).toMatchObject({ files: 5, libraries: READING, undici: [] });
  expect(ofNode.filter((name) => COSTLY.includes(name))).toEqual([]);
});

test("the yaml library is loaded for what is unusual in a manifest", async () => {
  const { libraries } = await loadedBy(["validate"], `${MINIMAL}x-text: |\n  two\n  lines\n`);
  expect(libraries).toEqual([...READING, "yaml"].sort());
});

test("the library that reads ranges of versions is loaded for a project that requires one", async () => {
  const { libraries } = await loadedBy(["validate"], `${MINIMAL}requires: ">=0.1"\n`);
  expect(libraries).toEqual([...READING, "semver"].sort());
});

test("plan loads the client, of undici only what sends requests, and of Node only what undici needs", async () => {
  const { files, libraries, undici, sources, ofNode } = await loadedBy(["plan"]);
  expect(sources.filter((source) => /src\/cli\/(base|git)\.ts$/.test(source))).toEqual([]);
  expect({ files, libraries }).toEqual({ files: 7, libraries: [...READING, "undici"].sort() });
  expect(undici).toContain("dispatcher/pool.js");
  expect(undici.filter((file) => /fetch\/index|websocket\/|cache|mock|interceptor/.test(file))).toEqual([]);
  expect(ofNode.filter((name) => COSTLY.includes(name))).toEqual(["assert", "v8"]);
});

test("a small plan does not load the tables of languages to format a number", async () => {
  const watch = `Number.prototype.toLocaleString = () => { throw new Error("formatted"); };`;
  const env = { ...envOf(await emulator()), ...requiring([await fileOf(watch)]) };
  const { code } = await run(["plan"], { cwd: await folder({ "tenon.yaml": MINIMAL }), env });
  expect(code).toBe(0);
});

test("emulate loads nothing of what reads a project", async () => {
  const stop = `const { write } = process.stdout;
process.stdout.write = function (...words) {
  setTimeout(() => process.kill(process.pid, "SIGTERM"), 100);
  return write.apply(this, words);
};`;
  const { sources } = await loadedBy(["emulate"], MINIMAL, await fileOf(stop));
  expect(sources.filter((source) => /src\/(manifest|plan|lint|units)\//.test(source))).toEqual([]);
});

test("an error of Tenon's own shows the places in the code, not those in the bundle", async () => {
  const broken = "process.stdout.write = () => { throw new Error('broken'); };";
  const env = { ...requiring([await fileOf(broken)]), TENON_DEBUG: "1" };
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
