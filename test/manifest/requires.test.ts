/** `requires:` in the root file: another version of Tenon refuses before it judges anything else. */

import { describe, expect, test } from "vitest";
import { readManifests } from "../../src/manifest/load.ts";
import { expectPlain, folder as projectFolder, run } from "../cli/run.ts";
import { ALLOWED_SECONDS, codes, folder, loadFiles, loadText, places, zone } from "./support.ts";

const SOUND = zone("type: A, target: 192.0.2.1");

describe("a version of Tenon", () => {
  test.each([
    ['">=0.2 <1"', "0.2.0"],
    ['">=0.2 <1"', "0.99.3"],
    // What is on its way to a version of the range.
    ['">=0.2 <1"', "0.2.0-rc.1"],
    ["^0.2", "0.2.7"],
    ["~0.2.3", "0.2.9"],
    ["0.2.x || 0.4.x", "0.4.1"],
    ["0.10", "0.10.4"],
    ["1", "1.9.0"],
    ['"*"', "7.0.0"],
  ])("that %s allows loads the project: %s", async (range, version) => {
    const { project, diagnostics } = await loadText(`requires: ${range}\n${SOUND}`, { version });
    expect(diagnostics).toEqual([]);
    expect(project).not.toBeNull();
  });

  test.each([
    ['">=0.2 <1"', "0.1.0"],
    ['">=0.2 <1"', "1.0.0"],
    ['">=0.2 <1"', "1.0.0-rc.1"],
    ["^0.2", "0.3.0"],
    // As it is written, and not as a number.
    ["0.10", "0.1.0"],
    ["1", "0.1.0"],
  ])("that %s does not allow refuses it by name: %s", async (range, version) => {
    const result = await loadText(`requires: ${range}\n${SOUND}`, { version });
    expect(result).toMatchObject({ project: null, fault: "manifest" });
    expect(places(result)).toEqual(["other-version tenon.yaml:2:11"]);
    expect(result.diagnostics[0]?.summary).toBe(
      `this project requires Tenon ${range.replaceAll('"', "")}, and this is Tenon ${version}`,
    );
  });

  test("that does not fit says nothing of what it may not know: keys, formats, files, variables, syntax", async () => {
    const files = {
      "tenon.yaml": `tenon: 2\nrequires: ">=2"\nnetworks: [{ label: prod }]\nvpcs: [{ labl: "\${var.nothing}" }]\nfiles: [nothing.yaml, broken.yaml]\n`,
      "broken.yaml": "tenon: 1\nvpcs: [\n",
    };
    const options = { environment: "unknown", variables: { also: "unknown" }, version: "0.1.0" };
    expect(places(await loadFiles(files, options))).toEqual(["other-version tenon.yaml:2:11"]);
    // So it is the requirement that kept them back.
    const now = await loadFiles({ ...files, "tenon.yaml": files["tenon.yaml"].replace(">=2", "*") }, options);
    expect(new Set(codes(now)).size).toBeGreaterThan(4);
  });

  test("that does not fit says nothing of the root file's own syntax", async () => {
    const text = `tenon: 1\nrequires: ">=2"\nvpcs: []\nvpcs: []\n`;
    expect(places(await loadFiles({ "tenon.yaml": text }))).toEqual(["other-version tenon.yaml:2:11"]);
    expect(codes(await loadFiles({ "tenon.yaml": text.replace(">=2", "*") }))).toEqual(["duplicate-key"]);
  });

  test("that does not fit does not format the project either", async () => {
    const directory = folder({ "tenon.yaml": `tenon: 1\nrequires: ">=99"\n${SOUND}` });
    const result = await readManifests({ directory, allowedSeconds: ALLOWED_SECONDS });
    expect(result).toMatchObject({ manifests: null, fault: "manifest" });
    expect(result.diagnostics).toMatchObject([{ code: "other-version" }]);
  });

  test("is this package's if none is named", async () => {
    expect((await loadText(`requires: ">=0.1"\n${SOUND}`)).project).not.toBeNull();
    expect(codes(await loadText(`requires: "<0.1"\n${SOUND}`))).toEqual(["other-version"]);
  });
});

describe("a range", () => {
  test.each([
    ["words", "It cannot be read."],
    ['">=0.2 <"', "It cannot be read."],
    ['">=0.2, <1"', "Conditions are separated by a space"],
    ['"~> 0.2"', "means something else in Terraform"],
    ['"${var.version}"', "cannot refer to one"],
    ["true", "It cannot be read."],
    ['">=𝟎.2 \\u202e"', "It cannot be read."],
  ])("that is none is an error at its place, beside all others: %s", async (range, words) => {
    const text = `variables: { version: { default: "1" } }\nrequires: ${range}\nnetworks: []\n`;
    const result = await loadText(text, { version: "0.1.0" });
    expect(places(result)).toEqual(["bad-version-range tenon.yaml:3:11", "unknown-key tenon.yaml:4:1"]);
    expect(result.diagnostics[0]?.detail).toContain(words);
  });

  test("that is longer than any that is meant is not read", async () => {
    for (const range of [">=0.1 ".repeat(100), `${" ".repeat(50_000)}1`, "1 || ".repeat(10_000)]) {
      const { diagnostics } = await loadText(`requires: "${range}"\n`, { version: "0.1.0" });
      expect(diagnostics).toMatchObject([{ code: "bad-version-range", detail: "It has more than 200 characters." }]);
    }
  });

  test.each([
    ["nothing", ["empty-value"]],
    ['""', ["too-short"]],
    ["[1]", ["wrong-type"]],
    ["{ tenon: 1 }", ["wrong-type"]],
  ])("of a wrong type is left to the schema: %s", async (value, expected) => {
    expect(codes(await loadText(`requires: ${value === "nothing" ? "" : value}\n${SOUND}`))).toEqual(expected);
  });

  test("belongs into the root file, and is judged nowhere else", async () => {
    const result = await loadFiles({
      "tenon.yaml": "tenon: 1\nfiles: [more.yaml]\n",
      "more.yaml": 'tenon: 1\nrequires: ">=99"\n',
    });
    expect(places(result)).toEqual(["root-only-key more.yaml:2:1"]);
  });

  test("that is not quoted, although YAML wants it, is a syntax error that says so", async () => {
    const { diagnostics } = await loadText(`requires: >=0.2 <1\n${SOUND}`);
    expect(diagnostics[0]?.fix).toContain("uote");
  });
});

test.each([["validate"], ["plan"], ["apply", "--yes"], ["fmt"], ["show", "--expanded"]])(
  "tenon %s of another version ends with exit code 3, before it connects",
  async (...args) => {
    const cwd = await projectFolder({ "tenon.yaml": `tenon: 1\nrequires: ">=99 <100"\nnetworks: []\n` });
    const words = [
      "error[other-version]: this project requires Tenon >=99 <100, and this is Tenon 0",
      "tenon.yaml:2:11",
    ];
    expectPlain(await run(args, { cwd }), 3, words);
  },
);
