import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { zoneFileName } from "../../src/files/folder.ts";
import { obstacles, writeProject } from "../../src/import/index.ts";
import { folder } from "../manifest/support.ts";

describe("the file of a zone", () => {
  it.each([
    ["example.com", "example.com.yaml"],
    ["con", "zone-con.yaml"],
    ["nul.example", "zone-nul.example.yaml"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example.yaml"],
  ])("%s is %s", (zone, file) => {
    expect(zoneFileName(zone, "yaml")).toBe(file);
  });

  it.each(["../x", "a/b", "..", ".hidden", "a\\b", "a\u0000b", "a.".repeat(120)])("%j stays in its folder", (zone) => {
    const file = zoneFileName(zone, "yaml");
    expect(file).toMatch(/^[a-z0-9_-][a-z0-9._-]*\.yaml$/);
    expect(file.length).toBeLessThan(256);
  });

  it("is another one for another zone", () => {
    const zones = ["a/b", "a_b", "a\\b", `${"a".repeat(210)}1`, `${"a".repeat(210)}2`];
    expect(new Set(zones.map((zone) => zoneFileName(zone, "yaml"))).size).toBe(zones.length);
  });
});

describe("writing a project", () => {
  const files = [
    { file: "tenon.yaml", text: "root\n" },
    { file: "zones/a.yaml", text: "a\n" },
  ];

  it("makes the folders that are not there, and leaves nothing beside the files", async () => {
    const out = join(folder({}), "deep/er");
    expect(await obstacles({ out, files, force: false })).toEqual([]);
    await writeProject({ out, files, force: false });
    expect(readdirSync(out, { recursive: true }).sort()).toEqual(["tenon.yaml", "zones", "zones/a.yaml"]);
  });

  it("has room for the file of the longest name, also while it is being written", async () => {
    const out = folder({});
    const file = zoneFileName("a.".repeat(126), "yaml");
    await writeProject({ out, files: [{ file, text: "a\n" }], force: false });
    expect(readdirSync(out)).toEqual([file]);
  });

  it("leaves nothing behind and overwrites nothing if a file turns up meanwhile", async () => {
    const out = folder({ "zones/a.yaml": "mine\n" });
    await expect(writeProject({ out, files, force: false })).rejects.toThrow("appeared meanwhile");
    expect(readdirSync(out, { recursive: true }).sort()).toEqual(["zones", "zones/a.yaml"]);
    expect(readFileSync(join(out, "zones/a.yaml"), "utf8")).toBe("mine\n");
  });

  it("leaves nothing behind if one of the files cannot be put in place", async () => {
    const out = folder({});
    mkdirSync(join(out, "zones/a.yaml"), { recursive: true });
    await expect(writeProject({ out, files, force: true })).rejects.toThrow();
    expect(readdirSync(out, { recursive: true }).sort()).toEqual(["zones", "zones/a.yaml"]);
  });
});
