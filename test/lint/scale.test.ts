/** What lint takes is in proportion to the records, however many names one wildcard answers for. */

import { expect, test } from "vitest";
import { lintZones } from "../../src/lint/lint.ts";
import { growth } from "../support/operations.ts";
import { project } from "./projects.ts";

/** A wildcard with so many texts, and so many names that ask what it holds, in each way that a rule asks. */
function asked(count: number): readonly string[] {
  const numbers = Array.from({ length: count }, (_, index) => index);
  return [
    "zone example.com",
    ...numbers.map((index) => `* TXT text ${index}`),
    // Whether there is SPF and DMARC; whether a target is there, has an address, or is an alias.
    ...numbers.map((index) => `mail${index} MX 1 host${index}.example.com`),
    ...numbers.map((index) => `_s${index}._tcp SRV 1 1 1 other${index}.example.com`),
    ...numbers.map((index) => `alias${index} CNAME to${index}.example.com`),
    ...numbers.map((index) => `spf${index} TXT v=spf1 include:sender${index}.example.com -all`),
  ];
}

test("four times the names under one wildcard, which has four times the texts, take four times the work", async () => {
  const projects = new Map([100, 400].map((count) => [count, project(asked(count).join("\n"))]));
  const lint = (count: number) => {
    const { zones, sources } = projects.get(count) as ReturnType<typeof project>;
    return lintZones(zones, [], sources);
  };
  expect(lint(100).length).toBeGreaterThanOrEqual(300);
  expect(await growth(100, 4, lint)).toBeLessThan(6);
});
