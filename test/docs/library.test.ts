/** The README's example of the library compiles against the package, runs, and prints what its comments say. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

function blockAfter(readme: string, mark: string): string {
  const text = new RegExp(`<!-- ${mark} -->\\n\`\`\`\\w+\\n(.*?)\`\`\``, "s").exec(readme)?.[1];
  if (text === undefined) throw new Error(`the README has no block ${mark}`);
  return text;
}

test("the README's example of the library compiles, runs, and prints what its comments say", async () => {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const example = blockAfter(readme, "library");
  const folder = await mkdtemp(join(tmpdir(), "tenon-library-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "node_modules"));
  await symlink(ROOT, join(folder, "node_modules/tenon"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "tenon.yaml"), blockAfter(readme, "file: tenon.yaml"));
  const file = join(folder, "example.ts");
  await writeFile(file, example);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    typeRoots: [join(ROOT, "node_modules/@types")],
    types: ["node"],
  };
  const program = ts.createProgram([file], options);
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
  expect(problems).toEqual([]);
  program.emit();
  const { stdout } = await promisify(execFile)(process.execPath, ["example.js"], { cwd: folder, env: {} });
  const said = [...example.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
  expect(said.length).toBeGreaterThan(2);
  expect(stdout.trimEnd().split("\n")).toEqual(said);
});

test("each sub-path of the package leads to a built module and its types", async () => {
  const { exports } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  };
  const modules = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [{ path, ...target }],
  );
  const paths = [
    ".",
    "./emulator",
    "./export",
    "./format",
    "./import",
    "./live",
    "./render",
    "./tickets",
    "./verify",
    "./watch",
  ];
  expect(modules.map(({ path }) => path)).toEqual(paths);
  for (const { path, types, default: file } of modules) {
    expect([path, (await readFile(join(ROOT, types), "utf8")).length > 0]).toEqual([path, true]);
    expect([path, Object.keys(await import(join(ROOT, file))).length > 0]).toEqual([path, true]);
  }
});
