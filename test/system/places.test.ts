import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { folder } from "../cli/run.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What is compiled, in a folder of its own. */
async function copyOfTree(): Promise<string> {
  const copy = await folder({});
  for (const part of [
    "src",
    "schemas",
    "package.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ".dependency-cruiser.cjs",
  ])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  cpSync(join(ROOT, ".ci/imports.mjs"), join(copy, ".ci/imports.mjs"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const COMMAND = `/** \`tenon hello\`: greets. */

import type { Command } from "commander";
import { EXIT, type Finish } from "../exit.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Greet somebody.")
    .argument("<name>", "who")
    .action((name: string) => {
      terminal.print(\`hello \${name}\\n\`);
      finish(EXIT.done);
    });
}
`;

const ENTRY = `  {
    name: "hello",
    usage: "<name>",
    summary: "greet somebody",
    access: "nothing",
    load: async () => (await import("./commands/hello.ts")).define,
  },
`;

it("a new command is one file under src/cli/commands and one entry of the list in src/cli/program.ts", async () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  expect(contributing).toContain(
    "A new command: one file under `src/cli/commands`, one entry of the list in `src/cli/program.ts`",
  );
  const copy = await copyOfTree();
  writeFileSync(join(copy, "src/cli/commands/hello.ts"), COMMAND);
  const program = join(copy, "src/cli/program.ts");
  const text = readFileSync(program, "utf8");
  const first = "export const COMMANDS: readonly CommandEntry[] = [\n";
  expect(text).toContain(first);
  writeFileSync(program, text.replace(first, first + ENTRY));
  const node = (...args: readonly string[]): string =>
    execFileSync(process.execPath, args, { cwd: copy, encoding: "utf8", stdio: "pipe" });
  node("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json");
  expect(node(".ci/imports.mjs")).toMatch(/ 0 violations/);
  expect(node("dist/cli/main.js", "hello", "world")).toBe("hello world\n");
  expect(node("dist/cli/main.js", "--help")).toMatch(/^ {2}hello <name> +greet somebody$/m);
  expect(node("dist/cli/main.js", "help", "hello")).toContain("Greet somebody.");
});

/** Puts `entry` before the line that `before` begins. */
function insert(copy: string, file: string, before: string, entry: string): void {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  expect(text.split(before)).toHaveLength(2);
  writeFileSync(path, text.replace(before, entry + before));
}

interface Tool {
  /** What the command prints, which exits with the code. */
  run(code: number, ...args: readonly string[]): string;
}

/** The command line of the copy, in a project folder, against the emulator of the copy. */
async function builtTool(copy: string, files: Readonly<Record<string, string>>): Promise<Tool> {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
    cwd: copy,
    stdio: "pipe",
  });
  const imports = execFileSync(process.execPath, [".ci/imports.mjs"], { cwd: copy, encoding: "utf8", stdio: "pipe" });
  expect(imports).toMatch(/ 0 violations/);
  const main = join(copy, "dist/cli/main.js");
  const emulator = spawn(process.execPath, [main, "emulate"]);
  onTestFinished(() => void emulator.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => {
    let text = "";
    emulator.stdout.on("data", (octets: Buffer) => {
      text += octets.toString();
      const found = /http:\S+\/v4/.exec(text);
      if (found !== null) resolve(found[0]);
    });
  });
  const cwd = await folder(files);
  const env = { PATH: process.env["PATH"], TENON_BASE_URL: url, TENON_TOKEN: "emulator-token" };
  return {
    run(code, ...args) {
      const ended = spawnSync(process.execPath, [main, ...args], { cwd, env, encoding: "utf8" });
      expect({ code: ended.status, stderr: ended.status === code ? "" : ended.stderr }).toEqual({ code, stderr: "" });
      return ended.stdout;
    },
  };
}

const URI = `  URI: { code: 256, values: ["priority", "weight"], target: "octets", required: ["priority", "weight"] },
`;

const EMULATED_URI = `  URI: { target: "value", values: ["priority", "weight"], required: ["priority", "weight"] },
`;

it("a new type of record is one entry of the table in src/dns/record.ts and one of the emulator's in src/emulator/store.ts", async () => {
  const contributing = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  expect(contributing).toContain(
    "A new type of record: one entry of the table in `src/dns/record.ts`, and one of the emulator's own in `src/emulator/store.ts`",
  );
  const copy = await copyOfTree();
  insert(copy, "src/dns/record.ts", '  PTR: { code: 12, values: [], target: "name" },\n', URI);
  insert(copy, "src/emulator/store.ts", '  PTR: { target: "name", values: [], required: [] },\n', EMULATED_URI);
  const domain = "domain: example.com, type: master, soa_email: hostmaster@example.com";
  const tool = await builtTool(copy, {
    "tenon.yaml": `tenon: 1\ndomains: [{ ${domain}, zone_file: example.zone, records: [
      { type: URI, name: _ftp._tcp, priority: 10, weight: 1, target: "ftp://ftp.example.com/public" } ] }]\n`,
    "example.zone": `_http._tcp 3600 IN URI 10 1 "https://www.example.com/path"
_ldap._tcp 3600 IN TYPE256 \\# 19 000a0001 6c6461703a2f2f6c6461702e612e62\n`,
    "wrong/tenon.yaml": `tenon: 1\ndomains: [{ ${domain}, records: [{ type: URI, port: 1, target: x }] }]\n`,
  });
  tool.run(0, "validate");
  expect(tool.run(2, "plan", "--detailed-exitcode")).toMatch(
    /\+ _http\._tcp +URI +10 1 "https:\/\/www\.example\.com\/path"/,
  );
  tool.run(0, "apply", "--yes");
  tool.run(0, "plan", "--detailed-exitcode");
  const exported = tool.run(0, "zone", "export", "example.com");
  expect(exported).toMatch(/^_ftp\._tcp +IN URI +10 1 "ftp:\/\/ftp\.example\.com\/public"$/m);
  expect(exported).toMatch(/^_http\._tcp +3600 IN URI +10 1 "https:\/\/www\.example\.com\/path"$/m);
  expect(exported).toMatch(/^_ldap\._tcp +3600 IN URI +10 1 "ldap:\/\/ldap\.a\.b"$/m);
  tool.run(3, "validate", "wrong");
}, 240_000);
