import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { obstacles, type ProjectFile } from "../../src/import/index.ts";
import { folder } from "../manifest/support.ts";
import { importFiles } from "../support/imports.ts";
import { growth } from "../support/operations.ts";

const ZONE = "$TTL 1h\n@ A 192.0.2.1\n";

async function filesOf(names: readonly string[], split: boolean): Promise<readonly ProjectFile[]> {
  const root = folder(Object.fromEntries(names.map((name) => [`${name}.zone`, ZONE])));
  const paths = names.map((name) => join(root, `${name}.zone`));
  const result = await importFiles("zone", paths, { soaEmail: "a@a.test", split });
  if (!result.ok) throw new Error("not imported");
  return result.files;
}

function write(out: string, files: readonly ProjectFile[]): void {
  mkdirSync(join(out, "zones"), { recursive: true });
  for (const { file, text } of files) writeFileSync(join(out, file), text);
}

async function codesAt(out: string, files: readonly ProjectFile[], force: boolean): Promise<string[]> {
  return (await obstacles({ out, files, force })).map(({ code }) => code);
}

describe("files of an older import", () => {
  it("whose domains are gone stop an import that would load them, --force or not", async () => {
    const out = folder({});
    write(out, await filesOf(["a.test", "gone.test"], true));
    const files = await filesOf(["a.test", "new.test"], true);
    const [found, ...others] = await obstacles({ out, files, force: true });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: "stale-file", severity: "error" });
    expect(found?.detail).toContain("zones/gone.test.yaml. The root file loads zones/*.yaml");
    expect(await codesAt(out, files, false)).toEqual(["file-exists", "stale-file"]);
    expect(readdirSync(join(out, "zones"))).toEqual(["a.test.yaml", "gone.test.yaml"]);
  });

  it("that nothing would load any more stop an import into one file", async () => {
    const out = folder({});
    write(out, await filesOf(["a.test", "b.test"], true));
    const [found] = await obstacles({ out, files: await filesOf(["a.test"], false), force: true });
    expect(found?.code).toBe("stale-file");
    expect(found?.detail).toContain("zones/a.test.yaml, zones/b.test.yaml. Nothing would load them any more");
  });

  it("that are all written again are no obstacle to --force", async () => {
    const out = folder({});
    const files = await filesOf(["a.test", "b.test"], true);
    write(out, files);
    expect(await codesAt(out, files, true)).toEqual([]);
  });
});

describe("files that belong to no project", () => {
  it("are none of an import into one file: a folder of octoDNS may be called zones, too", async () => {
    const out = folder({ "zones/a.test.yaml": "'': { type: A, value: 192.0.2.1 }\n", "tenon.yaml": "tenon: 1\n" });
    const files = await filesOf(["a.test"], false);
    expect(await codesAt(out, files, true)).toEqual([]);
    writeFileSync(join(out, "tenon.yaml"), "# once zones/*.yaml\ntenon: 1\nfiles: [other/*.yaml]\n");
    expect(await codesAt(out, files, true)).toEqual([]);
    writeFileSync(join(out, "tenon.yaml"), "zones/*.yaml: [\n");
    expect(await codesAt(out, files, true)).toEqual([]);
  });

  it("are loaded all the same if a file for each domain stands beside them", async () => {
    const out = folder({ "zones/notes.yaml": "mine\n", "zones/.hidden.yaml": "x\n", "zones/README.md": "x\n" });
    const [found] = await obstacles({ out, files: await filesOf(["a.test"], true), force: true });
    expect(found).toMatchObject({ code: "stale-file", detail: expect.stringMatching(/^zones\/notes\.yaml\. /) });
    expect(readFileSync(join(out, "zones/notes.yaml"), "utf8")).toBe("mine\n");
  });

  it("are named up to fifty", async () => {
    const names = Array.from({ length: 60 }, (_, index) => `zones/z${String(index).padStart(2, "0")}.yaml`);
    const out = folder(Object.fromEntries(names.map((name) => [name, "x\n"])));
    const [found] = await obstacles({ out, files: await filesOf(["a.test"], true), force: true });
    expect(found?.detail).toContain("zones/z49.yaml and 10 more.");
  });
});

it("reads the root file that would be replaced in linear time", { timeout: 60_000 }, async () => {
  const files = await filesOf(["a.test"], false);
  const folders = new Map(
    [500, 2_000].map((count) => {
      const lines = Array.from({ length: count }, (_, index) => `k${index}: 1`);
      return [count, folder({ "tenon.yaml": `# zones/*.yaml\n${lines.join("\n")}\n` })];
    }),
  );
  expect(await growth(500, 4, (count) => codesAt(folders.get(count) as string, files, true))).toBeLessThan(6);
});
