/** Values in a page that are long, or very many. */

import { expect, test } from "vitest";
import { renderPlanHtml } from "../../../src/render/index.ts";
import { change, plan } from "../plans.ts";

function domains(count: number, before: string, after: string) {
  return Array.from({ length: count }, (_, index) => {
    const domain = `d${index}.example`;
    return change(`domain/${domain}`, "domain", {
      action: "update",
      // Domains that change alike would stand there once.
      before: { domain, description: `${before}-${index}` },
      after: { domain, description: `${after}-${index}` },
    });
  });
}

test("few long values are shown whole", async () => {
  const page = await renderPlanHtml(plan(domains(3, `${"a".repeat(30_000)}-before`, "after")));
  expect(page).toContain(`${"a".repeat(30_000)}-before`);
});

test("of many long values each is shown in part, with its length, from what differs on", async () => {
  const shared = "a ".repeat(20_000);
  const [before, after] = [`${shared}192.0.2.1${shared}`, `${shared}203.0.113.66${shared}`];
  const page = await renderPlanHtml(plan(domains(400, before, after)));
  expect(page.match(/192\.0\.2\.1/g)).toHaveLength(400);
  expect(page.match(/203\.0\.113\.66/g)).toHaveLength(400);
  expect(page).toMatch(/…<\/\w+> \(80,\d{3} characters\)/);
  // Whole, they are four times as much; some thousands of them would be more than a string can have.
  expect(page.length).toBeLessThan(20_000_000);
});

test("a short value that becomes a long one has the same part marked as between two long ones", async () => {
  const page = await renderPlanHtml(
    plan(domains(400, "shared words, then this", `shared words, then ${"that ".repeat(20_000)}`)),
  );
  expect(page).toMatch(/shared words, then <mark>this-0&quot;<\/mark>/);
});

test("a character of two units is not divided", async () => {
  const smile = "😀".repeat(20_000);
  const page = await renderPlanHtml(plan(domains(301, `${smile}a`, `${smile}b`)));
  expect(page).toMatch(/😀(?:<mark>)?a/u);
  expect(page).not.toMatch(/\\u\{d[89a-f]/i);
});
