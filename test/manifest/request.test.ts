import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codes, folder, load } from "./support.ts";

const GOOD = "tenon: 1\nvariables: { region: {} }\nvpcs: [{ label: a, region: '${var.region}' }]\n";

describe("files of variables", () => {
  test("say for themselves why they cannot be read", async () => {
    const root = folder({ "tenon.yaml": GOOD.replace("{} }", "{ default: x } }"), "big.yaml": "", "bad.yaml": "" });
    truncateSync(join(root, "big.yaml"), 100 * 1024 * 1024);
    writeFileSync(join(root, "bad.yaml"), Buffer.from([0xff]));
    for (const [path, code] of [
      [root, "unreadable-file"],
      [join(root, "none.yaml"), "file-not-found"],
      [join(root, "big.yaml"), "file-too-large"],
      [join(root, "bad.yaml"), "unreadable-file"],
      ["/dev/zero", "file-too-large"],
    ] as const) {
      const result = await load(root, { variableFiles: [path] });
      expect(codes(result)).toEqual([code]);
      expect(result.diagnostics[0]?.detail).not.toContain("project folder");
      expect(result.fault).toBe("request");
    }
  });
});

test("an error in a file of variables is shown with its line", async () => {
  const root = folder({ "tenon.yaml": GOOD, "bad.yaml": "region: us-east\nother: [\n" });
  const { diagnostics, sources } = await load(root, { variableFiles: [join(root, "bad.yaml")] });
  const span = diagnostics.find(({ code }) => code === "yaml-syntax")?.span;
  expect(span).toMatchObject({ file: join(root, "bad.yaml") });
  expect(sources.position(join(root, "bad.yaml"), span?.start ?? 0)).toMatchObject({ line: 2, column: 8 });
  expect(sources.line(join(root, "bad.yaml"), 2)).toBe("other: [");
});

describe("where errors lie", () => {
  test.each([
    ["an unknown environment", { environment: "none" }],
    ["an unknown variable", { variables: { region: "r", none: "x" } }],
    ["a variable without a value", {}],
  ])("%s is no fault of the manifest", async (_, options) => {
    expect((await load(folder({ "tenon.yaml": GOOD }), options)).fault).toBe("request");
    const bad = `${GOOD}bogus: 1\n`;
    expect((await load(folder({ "tenon.yaml": bad }), options)).fault).toBe("manifest");
  });

  test("a folder that is no project is no fault of a manifest", async () => {
    const root = folder({});
    expect(await load(root)).toMatchObject({ fault: "request", diagnostics: [{ code: "no-project" }] });
    expect(await load(join(root, "none"))).toMatchObject({ fault: "request", diagnostics: [{ code: "no-project" }] });
  });

  test("warnings are nobody's fault", async () => {
    const result = await load(folder({ "tenon.yaml": "tenon: 1\nrecord_sets: { a: [] }\n" }));
    expect(result).toMatchObject({ fault: null, diagnostics: [{ code: "unused-record-set" }] });
  });
});
