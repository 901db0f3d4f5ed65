/** A misspelt key is one error: that what it was meant to be is missing follows from it. */

import { expect, test } from "vitest";
import { loadText, zone } from "./support.ts";

async function summaries(text: string): Promise<string[]> {
  return (await loadText(text)).diagnostics.map(({ code, summary }) => `${code}: ${summary}`);
}

test.each([
  ["{ type: CNAME, name: www, taget: x. }", ["unknown-key: unknown key `taget`"]],
  ["{ typ: CNAME, name: www, target: x. }", ["unknown-key: unknown key `typ`"]],
  // What it was not meant to be is missing all the same.
  [
    "{ type: CNAME, taget: x., name: www }, { name: a, targets: [192.0.2.1] }",
    ["unknown-key: unknown key `taget`", "missing-key: `type` is missing"],
  ],
  ["{ type: A, colour: red, name: www }", ["unknown-key: unknown key `colour`", "missing-field: `target` is missing"]],
])("a record %s", async (record, expected) => {
  const entries = record.replace(/^\{ | \}$/g, "").split(" }, { ");
  expect((await summaries(zone(...entries))).sort()).toEqual([...expected].sort());
});

test("one of several keys of which one is required", async () => {
  const rest = "type: master, soa_email: a@b.example";
  expect(await summaries(`domains: [{ domian: example.com, ${rest} }]\n`)).toEqual([
    "unknown-key: unknown key `domian`",
  ]);
  expect(await summaries(`domains: [{ ${rest} }]\n`)).toEqual(["missing-key: `domain` is missing"]);
});

test("a required key of a VPC", async () => {
  expect(await summaries("vpcs: [{ label: a, regoin: us-east }]\n")).toEqual(["unknown-key: unknown key `regoin`"]);
});
