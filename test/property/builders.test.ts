/** Whatever is written into a builder becomes records or errors with a place, and never an exception. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { loadText } from "../manifest/support.ts";

const RUNS = Math.ceil(Number(process.env["TENON_PROPERTY_RUNS"] ?? 500) / 8);

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "a.example",
    "192.0.2.0/24",
    "::/0",
    "%{i}",
    "-all",
    ";",
    "mailto:",
    "a@b.example",
    "..",
    "/",
    "x=y",
    "\u0000",
  ),
);
const part: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.array(text, { maxLength: 4 }),
  fc.boolean(),
  fc.integer(),
  fc.constant(null),
);
const keys = fc.constantFrom(
  ...[
    "ip4",
    "ip6",
    "a",
    "mx",
    "include",
    "exists",
    "mechanisms",
    "redirect",
    "exp",
    "all",
    "policy",
    "rua",
    "percent",
    "adkim",
  ],
  ...[
    "selector",
    "key",
    "type",
    "testing",
    "issue",
    "issuewild",
    "iodef",
    "account_uri",
    "validation_methods",
    "192.0.2.1",
  ],
);
const parts = fc.dictionary(fc.oneof({ weight: 9, arbitrary: keys }, { weight: 1, arbitrary: text }), part, {
  maxKeys: 6,
});
const entry = fc.record({
  builder: fc.constantFrom("spf", "dmarc", "dkim", "caa", "ptr"),
  parts,
  name: fc.option(text),
});

test("builders are total", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(entry, async ({ builder, parts, name }) => {
      const record = { [builder]: parts, ...(name === null ? {} : { name }) };
      const zone = { domain: "2.0.192.in-addr.arpa", type: "master", soa_email: "h@example.com", records: [record] };
      const { project, diagnostics } = await loadText(`domains: [${JSON.stringify(zone)}]\n`);
      for (const { span } of diagnostics) expect(span?.file).toBe("tenon.yaml");
      if (project === null) expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
