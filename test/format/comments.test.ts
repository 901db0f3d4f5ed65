/** For manifests with comments in odd places: fmt keeps every comment once, what the manifest says, and its own work. */

import fc from "fast-check";
import { expect, test } from "vitest";
import * as yaml from "yaml";
import { comments, reformat } from "../../src/format/reformat.ts";
import { units } from "../../src/units/index.ts";
import { loadFiles } from "../manifest/support.ts";
import { withoutOrder } from "./desired.ts";

const RUNS = Math.ceil(Number(process.env["TENON_PROPERTY_RUNS"] ?? 500) / 4);

const record = fc.oneof(
  fc.record({
    ttl_sec: fc.constantFrom(0, 300),
    name: fc.constantFrom("", "@", "www", "b.a", "a", "010", "1e3", "*.x"),
    type: fc.constant("A"),
    target: fc.constantFrom("192.0.2.10", "192.0.2.9"),
  }),
  fc.record({ type: fc.constant("MX"), priority: fc.constantFrom(5, 10), target: fc.constantFrom("mx", "mx.a.test.") }),
  fc.record({
    target: fc.constantFrom("v=spf1 -all", "a # b", "x: [y], {z}", "\u202e hidden", "two  blanks", "#", "- x", "''"),
    type: fc.constant("TXT"),
    note: fc.constantFrom("n", "it's: so"),
  }),
  fc.record({ target: fc.constantFrom("192.0.2.1", "192.0.2.2"), type: fc.constant("A"), name: fc.constant("multi") }),
);

/** What tells a record from others. */
function dataOf({ note: _, ttl_sec: __, ...rest }: Record<string, unknown>): string {
  return JSON.stringify(rest).replace('"@"', '""');
}

const manifest = fc.record({
  domains: fc.uniqueArray(
    fc.record({
      soa_email: fc.constant("a@example.com"),
      domain: fc.constantFrom("a.example", "b.example", "c.example"),
      records: fc.uniqueArray(record, { maxLength: 7, selector: dataOf }),
      type: fc.constant("master"),
      ignore: fc.constantFrom([], [{ type: "PTR", name: "x" }]),
      tags: fc.constantFrom([], ["b", "a"]),
    }),
    { selector: ({ domain }) => domain, maxLength: 3 },
  ),
  vpcs: fc.constantFrom([], [{ region: "us-east", label: "v", subnets: [{ ipv4: "10.0.0.0/24", label: "s" }] }]),
  removed: fc.constantFrom([], [{ domain: "old.example" }, { destroy: false, vpc: "x" }]),
  allow: fc.constantFrom([], [{ reason: "r", replace: "vpc/v" }]),
  owner: fc.constant("me"),
  tenon: fc.constant(1),
});

/** The manifest in some style, with comments and blank lines wherever YAML takes them. */
const text = fc
  .record({ value: manifest, flow: fc.boolean(), keys: fc.infiniteStream(fc.nat(60)), seed: fc.boolean() })
  .map(({ value, flow, keys, seed }) => {
    const pick = (): number => keys.next().value as number;
    const document = new yaml.Document(seed ? value : Object.fromEntries(Object.entries(value).reverse()));
    yaml.visit(document, {
      Map: (_, node, path) => {
        if (flow && path.length > 4) node.flow = true;
      },
    });
    let number = 0;
    const comment = (): string => {
      number += 1;
      return `# c${number} ${["", "x: y", "- z", "'", '"', "{"][number % 6]}`.trimEnd();
    };
    const lines = document
      .toString({ lineWidth: flow ? 20 : 0 })
      .trimEnd()
      .split("\n");
    return lines
      .flatMap((line) => {
        const [before, after, blank] = [pick(), pick(), pick()];
        return [
          ...(blank < 3 ? [""] : []),
          ...(before < 6 ? [`${" ".repeat(pick() % 12)}${comment()}`] : []),
          after < 6 ? `${line} ${comment()}` : line,
          ...(before === 6 ? [`${" ".repeat(pick() % 6)}${comment()}`, ""] : []),
        ];
      })
      .join("\n");
  });

test("no comment is lost, the desired state stays, and a second time nothing changes", {
  timeout: 120_000,
}, async () => {
  const counts = { formatted: 0, left: 0 };
  await fc.assert(
    fc.asyncProperty(text, async (before) => {
      const loaded = await loadFiles({ "tenon.yaml": before });
      const result = await reformat(before, units);
      fc.pre(loaded.project !== null);
      counts[result.ok ? "formatted" : "left"] += 1;
      if (!result.ok) return;
      expect(comments(result.text, yaml)).toEqual(comments(before, yaml));
      const again = await loadFiles({ "tenon.yaml": result.text });
      expect(withoutOrder(again.project?.desired)).toEqual(withoutOrder(loaded.project?.desired));
      expect(await reformat(result.text, units)).toEqual(result);
    }),
    { numRuns: RUNS },
  );
  // Where the library cannot keep a comment the file is left as it is: that must stay rare.
  expect(counts.left).toBeLessThanOrEqual(counts.formatted / 20);
});
