import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { renderDiagnostics } from "../../src/render/diagnostics.ts";
import { load, places } from "./support.ts";

const fixtures = fileURLToPath(new URL("./fixtures/", import.meta.url));

test("ten different errors in two files are all shown at once, each at its place", async () => {
  const result = await load(`${fixtures}ten-errors`);
  expect(result.project).toBeNull();
  expect(places(result)).toEqual([
    "bad-label tenon.yaml:7:12",
    "unknown-variable tenon.yaml:8:13",
    "overlapping-subnets tenon.yaml:11:28",
    "unknown-key zones/example.com.yaml:5:5",
    "unknown-record-set zones/example.com.yaml:7:11",
    "bad-address zones/example.com.yaml:9:39",
    "ambiguous-target zones/example.com.yaml:10:44",
    "cname-conflict zones/example.com.yaml:12:9",
    "unquoted-value zones/example.com.yaml:15:15",
    "out-of-range zones/example.com.yaml:19:54",
  ]);
  const text = renderDiagnostics(result.diagnostics, result.sources, { colour: false, width: 80 });
  await expect(text).toMatchFileSnapshot("./fixtures/ten-errors.txt");
});
