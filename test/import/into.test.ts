/** `files:` of a root file, extended where it stands. */

import { describe, expect, test } from "vitest";
import { extendFiles, recordSetsOf } from "../../src/import/into.ts";

describe("files: of a root file", () => {
  test.each([
    ["that has none", "tenon: 1 # one\n\nvpcs: []\n", "tenon: 1 # one\nfiles: [new.yaml]\n\nvpcs: []\n"],
    ["behind the owner", "tenon: 1\nowner: me\nvpcs: []", "tenon: 1\nowner: me\nfiles: [new.yaml]\nvpcs: []"],
    ["without an end of line", "tenon: 1", "tenon: 1\nfiles: [new.yaml]"],
    [
      "in flow style",
      "tenon: 1\nfiles: [a.yaml, 'b c.yaml'] # x\n",
      "tenon: 1\nfiles: [a.yaml, 'b c.yaml', new.yaml] # x\n",
    ],
    ["in flow style, empty", "tenon: 1\nfiles: []\n", "tenon: 1\nfiles: [new.yaml]\n"],
    ["with a comma at its end", "tenon: 1\nfiles: [a.yaml, ]\n", "tenon: 1\nfiles: [a.yaml, new.yaml ]\n"],
    [
      "over lines",
      "files: [\n  a.yaml,\n  b.yaml\n]\ntenon: 1\n",
      "files: [\n  a.yaml,\n  b.yaml, new.yaml\n]\ntenon: 1\n",
    ],
    [
      "as a block with comments",
      "tenon: 1\nfiles: # all\n  - a.yaml # the first\n  # the second\n  -   b.yaml # last\nvpcs: []\n",
      "tenon: 1\nfiles: # all\n  - a.yaml # the first\n  # the second\n  -   b.yaml # last\n  -   new.yaml\nvpcs: []\n",
    ],
    ["as a block at the end", "tenon: 1\nfiles:\n- a.yaml", "tenon: 1\nfiles:\n- a.yaml\n- new.yaml"],
    ["with lines of Windows", "tenon: 1\r\nfiles:\r\n- a.yaml\r\n", "tenon: 1\r\nfiles:\r\n- a.yaml\r\n- new.yaml\r\n"],
    ["in Unicode", "# ü 𝄞\ntenon: 1\nfiles: [züge/*.yaml]\n", "# ü 𝄞\ntenon: 1\nfiles: [züge/*.yaml, new.yaml]\n"],
  ])("%s: every other character stays", async (_, text, expected) => {
    expect(await extendFiles(text, ["new.yaml"])).toBe(expected);
  });

  test.each([
    ["an alias", "tenon: 1\nx-a: &a [a.yaml]\nfiles: *a\n"],
    ["a project on one line", "{ tenon: 1, files: [a.yaml] }\n"],
    ["a comment before the bracket", "tenon: 1\nfiles: [a.yaml # it ends\n]\n"],
    ["an item that begins on the next line", "tenon: 1\nfiles:\n  -\n    a.yaml\n"],
    ["an empty key", "tenon: 1\nfiles:\n"],
  ])("that only a person can extend is left alone: %s", async (_, text) => {
    expect(await extendFiles(text, ["new.yaml"])).toBeNull();
  });

  test("quotes a name that YAML would take for something else", async () => {
    expect(await extendFiles("tenon: 1\nfiles: [a]\n", ["zones/é #1.yaml"])).toContain('[a, "zones/é #1.yaml"]');
  });
});

test("record sets are known in the form of an import, with the defaults of their file", () => {
  const sets = {
    web: [{ type: "A", name: "@", targets: ["192.0.2.1", "192.0.2.2"] }],
    other: [{ type: "A", target: "${var.address}" }],
    built: [{ spf: { include: [] } }],
  };
  const trees = [{ tenon: 1, defaults: { record: { ttl_sec: 300 } }, record_sets: sets }];
  expect(recordSetsOf(trees as never)).toEqual([
    {
      name: "web",
      records: [
        { type: "A", target: "192.0.2.1", ttl_sec: 300 },
        { type: "A", target: "192.0.2.2", ttl_sec: 300 },
      ],
    },
    { name: "other", records: null },
    { name: "built", records: null },
  ]);
});
