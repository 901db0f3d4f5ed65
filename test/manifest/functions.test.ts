/** `${cidrsubnet(prefix, newbits, netnum)}` in manifests: where it may stand, what it takes, and where its mistakes are. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluateCall, isCall } from "../../src/manifest/functions.ts";
import type { NetworkSpec } from "../../src/units/network/manifest.ts";
import { codes, loadText, places, records, zone } from "./support.ts";

const VARIABLES =
  "variables: { base: { default: 10.0.0.0/16 }, bits: { default: 8 }, six: { default: 'fd00::/48' } }\n";

/** A project whose only subnet has this range. */
function withRange(ipv4: string, options: Parameters<typeof loadText>[1] = {}) {
  return loadText(
    `${VARIABLES}vpcs:\n  - label: prod\n    region: us-east\n    subnets:\n      - label: web\n        ipv4: ${ipv4}\n`,
    options,
  );
}

async function rangeOf(ipv4: string, options: Parameters<typeof loadText>[1] = {}) {
  const { project, diagnostics } = await withRange(ipv4, options);
  expect(diagnostics).toEqual([]);
  return (project?.desired.declared[0]?.spec as NetworkSpec | undefined)?.subnets?.[0]?.ipv4;
}

describe("a call", () => {
  test.each([
    ["${cidrsubnet(var.base, 8, 3)}", "10.0.3.0/24"],
    ["${ cidrsubnet ( var.base , var.bits , 255 ) }", "10.0.255.0/24"],
    ["${cidrsubnet('172.16.0.0/12', 4, 2)}", "172.18.0.0/16"],
    ['${cidrsubnet("172.16.0.0/12", 4, 2)}', "172.18.0.0/16"],
    [`"\${cidrsubnet('10.0.9.1/16', 8, 3)}"`, "10.0.3.0/24"],
    [`'\${cidrsubnet("10.0.9.1/16", "8", 3)}'`, "10.0.3.0/24"],
    ['"${cidrsubnet(\\"10.0.0.0/16\\", 8, 3)}"', "10.0.3.0/24"],
    ["${cidrsubnet(cidrsubnet(var.base, 4, 1), 4, 2)}", "10.0.18.0/24"],
    ["${cidrsubnet(var.base,\n          8,\n          4)}", "10.0.4.0/24"],
    ["10.${var.bits}.0.0/16", "10.8.0.0/16"],
  ])("%s is %s", async (text, cidr) => {
    expect(await rangeOf(text)).toBe(cidr);
  });

  test("takes what --var says, a number as well as text", async () => {
    const variables = { base: "192.168.0.0/16", bits: "4" };
    expect(await rangeOf("${cidrsubnet(var.base, var.bits, 1)}", { variables })).toBe("192.168.16.0/20");
  });

  test("may stand within text, more than once, in records, record sets and reverse zones, and $${ escapes it", async () => {
    const text =
      "v=spf1 ip4:${cidrsubnet(var.base, 8, 1)} ip4:${cidrsubnet(var.base, 8, 2)} -all $${cidrsubnet(x)} ${zone}";
    const result = await loadText(VARIABLES + zone(`type: TXT, target: "${text}"`));
    expect(result.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(records(result)[0]?.target).toBe("v=spf1 ip4:10.0.1.0/24 ip4:10.0.2.0/24 -all ${cidrsubnet(x)} example.com");
  });

  test("cannot stand in the value of a variable, as no reference can", async () => {
    const text = `variables: { a: { default: "\${cidrsubnet('10.0.0.0/8', 8, 1)}" } }\n`;
    expect(codes(await loadText(text))).toEqual(["nested-variable"]);
  });
});

describe("a call with a mistake", () => {
  /** The ranges begin at 8:15. */
  test.each([
    ["${cidrsubnet(var.base, 17, 3)}", "bad-argument 8:38", "a /16 cannot be extended by 17 bits"],
    ["${cidrsubnet(var.base, 8, 256)}", "bad-argument 8:41", "there is no subnet 256 with 8 more bits"],
    ["${cidrsubnet(var.base, 0, 1)}", "bad-argument 8:41", "there is no subnet 1 with 0 more bits"],
    ["${cidrsubnet(var.base, -1, 0)}", "bad-argument 8:38", "`newbits` of cidrsubnet is `-1`"],
    ["${cidrsubnet(var.base, 8, -1)}", "bad-argument 8:41", "`netnum` of cidrsubnet is `-1`"],
    ["${cidrsubnet(var.base, 1.5, 0)}", "bad-argument 8:38", "`newbits` of cidrsubnet is `1.5`"],
    ["${cidrsubnet(var.base, var.base, 0)}", "bad-argument 8:38", "`newbits` of cidrsubnet is `10.0.0.0/16`"],
    ["${cidrsubnet(var.six, 8, 0)}", "bad-argument 8:28", "`prefix` of cidrsubnet: `fd00::/48` is a range of IPv6"],
    ["${cidrsubnet(8, 8, 0)}", "bad-argument 8:28", "`prefix` of cidrsubnet: `8` is no IPv4 range"],
    ["${cidrsubnet(10.0.0.0/16, 8, 0)}", "bad-call 8:28", "`10.0.0.0/16` is no argument"],
    ["${cidrsubnet(zone, 8, 0)}", "bad-call 8:28", "`zone` is no argument"],
    ["${cidrsubnet(var.base, 8)}", "bad-call 8:17", "cidrsubnet takes 3 arguments, not 2"],
    ["${cidrsubnet()}", "bad-call 8:17", "cidrsubnet takes 3 arguments, not 0"],
    ["${cidrsubnet(var.base, 8, 1, 2)}", "bad-call 8:17", "cidrsubnet takes 3 arguments, not 4"],
    ["${cidrsubnet(var.base, , 1)}", "bad-call 8:38", "`,` is not expected here"],
    ["${cidrsubnet(var.base, 8, 1)/2}", "bad-call 8:43", "`/2` is not expected here"],
    ["${cidrsubnet(var.base, 8, 1}", "bad-call 8:42", "the call ends too early"],
    ["${cidrsubnet('10.0.0.0/16, 8, 1)}", "bad-call 8:28", "a text in quotes does not end"],
    ["${cidrsubnet(var.bse, 8, 1)}", "unknown-variable 8:28", "unknown variable `bse`"],
    ["${cidrsubnt(var.base, 8, 1)}", "unknown-function 8:17", "unknown function `cidrsubnt`"],
    ["${cidrsubnet(cidrhost(var.base, 1), 8, 1)}", "unknown-function 8:28", "unknown function `cidrhost`"],
    ["${toString(1)}", "unknown-function 8:17", "unknown function `toString`"],
    [`\${${"cidrsubnet(".repeat(9)}var.base`, "unknown-reference 8:15", "a reference is not closed"],
    [`\${${"cidrsubnet(".repeat(9)}var.base}`, "bad-call 8:105", "too many calls within each other"],
  ])("%s is %s", async (text, place, summary) => {
    const result = await withRange(text);
    expect(places(result).map((one) => one.replace("tenon.yaml:", ""))).toEqual([place]);
    expect(result.diagnostics[0]?.summary).toBe(summary);
  });

  test("is told once, with what was meant", async () => {
    const result = await withRange("${cidrsubnt(var.bse, 8, 1)}");
    expect(result.diagnostics.map(({ fix }) => fix)).toEqual(["Did you mean `cidrsubnet`?"]);
  });

  test("of a variable without a value is no second problem", async () => {
    const result = await loadText(
      "variables: { base: {} }\nvpcs: [{ label: a, region: r, subnets: [{ label: w, ipv4: '${cidrsubnet(var.base, 8, 1)}' }] }]\n",
    );
    expect(codes(result)).toEqual(["missing-variable"]);
  });

  test("shows no more than the beginning of what a variable holds", async () => {
    const result = await withRange("${cidrsubnet(var.base, 8, 1)}", { variables: { base: "x".repeat(100_000) } });
    expect(codes(result)).toEqual(["bad-argument"]);
    expect(result.diagnostics[0]?.summary.length).toBeLessThan(120);
  });

  test("whose result no subnet can have is the subnet's mistake", async () => {
    expect(codes(await withRange("${cidrsubnet('10.0.0.0/16', 16, 1)}"))).toEqual(["bad-range"]);
    expect(codes(await withRange("${cidrsubnet('192.0.2.0/24', 1, 1)}"))).toEqual(["bad-range"]);
  });
});

test("no expression makes it throw, and what it points at lies within", () => {
  const word = fc.constantFrom(
    "cidrsubnet",
    "(",
    ")",
    ",",
    "'",
    '"',
    "var.a",
    "1",
    "-1",
    "10.0.0.0/8",
    "'10.0.0.0/8'",
    " ",
    "é",
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 16 }), (words) => {
      const text = words.join("");
      isCall(text);
      const result = evaluateCall(text, () => ({ value: 2 }));
      if (result.ok) return;
      expect(result.at.start).toBeLessThanOrEqual(result.at.end);
      expect(result.at.end).toBeLessThanOrEqual(text.length);
    }),
  );
});

test("a call of a megabyte takes no longer than its length", async () => {
  const long = `cidrsubnet(${"1, ".repeat(300_000)}1)`;
  expect(evaluateCall(long, () => null)).toMatchObject({ ok: false, problem: { code: "bad-call" } });
  expect(evaluateCall(`cidrsubnet(${" ".repeat(1_000_000)}`, () => null).ok).toBe(false);
});
