import { expect, test } from "vitest";
import { codes, loadText, places } from "./support.ts";

const vpc = (description: string): string => `vpcs: [{ label: a, region: us-east, description: "${description}" }]\n`;

test("descriptions are counted in characters, not in UTF-16 units", async () => {
  expect(codes(await loadText(vpc("😀".repeat(255))))).toEqual([]);
  expect(codes(await loadText(vpc("😀".repeat(256))))).toEqual(["too-long"]);
  const image = (text: string): string => `images: [{ label: a, capture: { disk_id: 1 }, description: "${text}" }]\n`;
  expect(codes(await loadText(image("😀".repeat(65_000))))).toEqual([]);
  const long = await loadText(`owner: edge\n${image("😀".repeat(65_000))}`);
  expect(codes(long)).toEqual(["too-long"]);
  expect(long.diagnostics[0]).toMatchObject({ address: "image/a", fix: "Shorten it to 64987 characters." });
});

test("an SOA address has at most 254 characters", async () => {
  const email = (length: number): string =>
    `domains: [{ domain: a.example, type: master, soa_email: ${"a".repeat(length - 10)}@b.example }]\n`;
  expect(codes(await loadText(email(254)))).toEqual([]);
  expect(codes(await loadText(email(255)))).toEqual(["too-long"]);
});

test("what nothing can be called cannot be removed either", async () => {
  const result = await loadText(
    `removed:\n  - domain: https://ours.example/\n  - vpc: "prod "\n  - image: "x*"\n  - vpc: ${"a".repeat(65)}\n`,
  );
  expect(places(result)).toEqual([
    "bad-domain tenon.yaml:3:13",
    "bad-label tenon.yaml:4:10",
    "bad-label tenon.yaml:5:12",
    "bad-label tenon.yaml:6:10",
  ]);
});

test("of one label one object can be declared, whatever the ids", async () => {
  const result = await loadText("vpcs:\n  - { label: a, region: r, id: 1 }\n  - { label: a, region: r, id: 2 }\n");
  expect(codes(result)).toEqual(["duplicate-entry"]);
  expect(result.diagnostics[0]?.detail).toContain("not of ids");
  const same = await loadText("vpcs: [{ label: a, region: r }, { label: a, region: r }]\n");
  expect(same.diagnostics[0]?.detail).not.toContain("not of ids");
});

test("a key has at most 16,383 characters, wherever it stands", async () => {
  for (const write of [(key: string) => `x-a: { "${key}": 1 }\n`, (key: string) => `x-a:\n  ? "${key}"\n  : 1\n`]) {
    expect(codes(await loadText(write("k".repeat(16_383))))).toEqual([]);
    expect(places(await loadText(write("k".repeat(16_384))))).toEqual([expect.stringMatching(/^too-long tenon.yaml:/)]);
  }
});
