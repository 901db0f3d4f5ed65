import { describe, expect, test } from "vitest";
import type { LoadResult } from "../../src/manifest/load.ts";
import { growth } from "../support/operations.ts";
import { codes, domain, loadFiles, loadText, places, zone } from "./support.ts";

const GOOD = `tenon: 1
owner: edge
files: [more.yaml]
variables: { env: { default: test } }
environments: { staging: { variables: { env: staging } } }
defaults: { domain: { type: master, soa_email: a@b.example }, record: { ttl_sec: 300 } }
record_sets:
  mail: [{ type: MX, target: mx.example.net., priority: 10 }]
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }, { label: db, ipv4: 10.0.2.0/24 }] }
domains:
  - domain: example.com
    status: active
    use: [mail]
    tags: [aaa, bbb]
    ignore: [{ name: "_acme*", type: TXT }]
    records:
      - { type: A, name: www, targets: [192.0.2.1, 192.0.2.2] }
      - { type: CAA, tag: issue, target: ca.example }
  - domain: [a.example, b.example]
images:
  - { label: golden, capture: { disk_id: 123 } }
removed: [{ domain: old.example, ignore: [{ type: NS }] }]
allow: [{ delete: domain/old.example, until: 2026-12-31 }]
`;

const MORE = "tenon: 1\n";

/** Small and seeded, so that a failure comes again. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ODD_VALUES = [
  "",
  "[x]",
  "{}",
  "[{}]",
  "null",
  "1",
  '"1"',
  "true",
  "[[]]",
  "{ a: { b: [c] } }",
  "~",
  "${var.env}",
];

/** Another value for a scalar or a flow collection, or a line that is gone. */
function mutate(text: string, random: (below: number) => number): string {
  const spots = [...text.matchAll(/(?<=[:[,] )[^\s,[\]{}]+|\[[^[\]]*\]|\{[^{}]*\}/g)];
  const spot = spots[random(spots.length)];
  if (spot === undefined || random(10) === 0) {
    const lines = text.split("\n");
    lines.splice(random(lines.length), 1);
    return lines.join("\n");
  }
  const value = ODD_VALUES[random(ODD_VALUES.length)] ?? "";
  return text.slice(0, spot.index) + value + text.slice(spot.index + spot[0].length);
}

test("a good manifest that is spoilt anyhow is reported on, and never makes it throw", async () => {
  const good = await loadFiles({ "tenon.yaml": GOOD, "more.yaml": MORE });
  expect(good.diagnostics).toEqual([]);
  const random = randomNumbers(20_261);
  let refused = 0;
  for (let round = 0; round < 400; round += 1) {
    let text = GOOD;
    for (let count = 1 + random(3); count > 0; count -= 1) text = mutate(text, random);
    const result = await loadFiles({ "tenon.yaml": text, "more.yaml": MORE }).catch((error: unknown) => {
      throw new Error(`It threw for:\n${text}`, { cause: error });
    });
    expect(result.project === null).toBe(result.fault !== null);
    if (result.project === null) refused += 1;
  }
  expect(refused).toBeGreaterThan(200);
}, 60_000);

describe("a value of the wrong type is reported once", () => {
  test.each([
    ['tenon: "1"\n', ["wrong-type tenon.yaml:1:8"]],
    ["tenon:\n", ["empty-value tenon.yaml:1:1"]],
    ["tenon: 1\ndomains: [{ domain: a.example, type: , soa_email: a@b.example }]\n", ["empty-value tenon.yaml:2:32"]],
    [
      "tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: a@b.example, status: [x] }]\n",
      ["wrong-type tenon.yaml:2:78"],
    ],
    [`tenon: 1\n${zone("type: {}, target: x")}`, ["wrong-type tenon.yaml:7:17"]],
    [`tenon: 1\n${zone("type: CAA, tag: [{}], target: x")}`, ["wrong-type tenon.yaml:7:27"]],
  ])("%j", async (text, expected) => {
    expect(places(await loadFiles({ "tenon.yaml": text }))).toEqual(expected);
  });
});

test("what follows a dropped entry of a list is still shown at its own place", async () => {
  const targets = await loadText(zone("type: A, targets: [[], 192.0.2.1, bad]"));
  expect(places(targets)).toEqual(["wrong-type tenon.yaml:7:30", "bad-address tenon.yaml:7:45"]);
  const tags = await loadText(domain("tags: [{}, abc, tenon:x]\n"));
  expect(places(tags)).toEqual(["wrong-type tenon.yaml:6:12", "reserved-tag tenon.yaml:6:21"]);
});

describe("wording", () => {
  const summaries = ({ diagnostics }: LoadResult): string[] => diagnostics.map(({ summary }) => summary);

  test("an entry of a list is not taken for the list", async () => {
    expect(summaries(await loadText("vpcs: [x]\n"))).toEqual(["an entry of `vpcs` must be a mapping"]);
    const empty = await loadText("vpcs:\n  -\n");
    expect(summaries(empty)).toEqual(["an entry of `vpcs` is empty"]);
    expect(empty.diagnostics[0]?.fix).toBe("Write a value, or leave the entry out.");
    expect(summaries(await loadText("vpcs: x\n"))).toEqual(["`vpcs` must be a list"]);
  });

  test("a misspelt key is not reported as missing, too", async () => {
    expect(codes(await loadText("removed: [{ domian: a.example }]\nallow: [{ delet: vpc/a }]\n"))).toEqual([
      "unknown-key",
      "unknown-key",
    ]);
    expect(codes(await loadText("removed: [{ destroy: false }]\n"))).toEqual(["bad-removed"]);
  });

  test("each of thousands of unknown names is compared with some of the known ones, and the list of them is short", async () => {
    const unknown = async (count: number) => {
      const sets = Array.from({ length: count }, (_, index) => `  known-${index}: []\n`).join("");
      const used = Array.from({ length: count }, (_, index) => `other-thing-${index}`).join(", ");
      const { diagnostics } = await loadText(`record_sets:\n${sets}${domain(`use: [${used}]\n`)}`);
      const errors = diagnostics.filter(({ code }) => code === "unknown-record-set");
      expect(errors).toHaveLength(count);
      expect(errors[0]?.fix).toContain(`and ${(count - 12).toLocaleString("en")} more.`);
      expect(errors[0]?.fix?.length).toBeLessThan(300);
    };
    // All with all would be four times as much.
    expect(await growth(500, 2, unknown)).toBeLessThan(2.6);
  });
});

test("names of files are text, and what is none is an error", async () => {
  const result = await loadText("files:\n  - 2026\n  - {}\n  -\n  - true\n");
  expect(codes(result)).toEqual(["file-not-found", "wrong-type", "empty-value", "file-not-found"]);
});
