import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { extendFiles } from "../../src/import/into.ts";
import { lintProject } from "../../src/index.ts";
import { findFiles } from "../../src/manifest/files.ts";
import { compileWithin, globMatches } from "../../src/model/text.ts";
import { escapeText } from "../../src/render/terminal.ts";
import { codes, domain, folder, loadText, zone } from "../manifest/support.ts";

// Backtracking would take longer than the universe has, and squares of a million take minutes: no test would end within its time.

const STARS = `${"*a".repeat(2_000)}*b`;
const LONG = "a".repeat(20_000);

test("a glob of addresses and names with two thousand stars is matched without backtracking", async () => {
  for (const glob of [
    STARS,
    "*".repeat(50_000),
    `${"a*".repeat(5_000)}b`,
    `${"\\*".repeat(5_000)}*b`,
    `${"*a*".repeat(3_000)}c`,
  ]) {
    globMatches(glob, LONG);
    compileWithin(glob)(LONG);
  }
  const part = `${"a".repeat(100_000)}b${"a".repeat(400_000)}`;
  expect(globMatches(`*${part}*`, "a".repeat(2_000_000))).toBe(false);
  expect(globMatches(`*${part}*`, `${"a".repeat(1_000_000)}${part}c`)).toBe(true);
  const pattern = `${"*a".repeat(40)}*b`;
  const records = Array.from(
    { length: 2_000 },
    (_, index) => `  - { type: A, name: ${"a".repeat(50)}${index}, target: 192.0.2.1 }\n`,
  );
  const text = domain(`ignore: [{ name: "${pattern}" }]\nrecords:\n${records.join("")}`);
  expect((await loadText(`allow: [{ delete: "${pattern}" }]\n${text}`)).project).not.toBeNull();
});

test("a glob of files with a hundred stars is matched without backtracking", async () => {
  const root = folder({ "tenon.yaml": "tenon: 1\n" });
  mkdirSync(join(root, "m"));
  for (let index = 0; index < 200; index += 1) writeFileSync(join(root, "m", `${"a".repeat(240)}${index}`), "");
  for (const pattern of [
    `m/${"*a".repeat(100)}*b`,
    `m/${"*?".repeat(100)}*b`,
    `${"**/".repeat(200)}b`,
    `${"*".repeat(5_000)}/x`,
  ]) {
    await findFiles(root, join(root, "tenon.yaml"), [pattern]);
  }
});

test("a text of one character four thousand times over is read in no time: TXT, SPF, DKIM, DMARC, CAA", async () => {
  const starts = ["", "v=spf1 ", "v=DKIM1; p=", "v=DMARC1; ", "v=spf1 include:", "k=", "mailto:", "0 issue "];
  for (const start of starts) {
    for (const piece of [
      "a",
      " ",
      "=",
      ";",
      "-",
      ".",
      "%",
      "%{",
      "\\\\",
      "/",
      ":",
      "a.",
      "a;",
      "a=b;",
      "include:a ",
      "ip4:1/",
      "xn--",
    ]) {
      const target = `${start}${piece.repeat(4_000)}`.slice(0, 4_000);
      for (const record of [
        `type: TXT, name: _dmarc, target: "${target}"`,
        `type: TXT, name: a._domainkey, target: "${target}"`,
      ]) {
        const { project } = await loadText(zone(record));
        if (project !== null) await lintProject(project);
      }
    }
  }
});

test("a name, an address or a reference of twenty thousand characters is refused in no time", async () => {
  for (const piece of ["a", "a.", "-", "1:", "xn--a.", "${", "${var."]) {
    const long = JSON.stringify(piece.repeat(Math.floor(20_000 / piece.length))).replaceAll("\\\\\\\\", "\\\\");
    for (const text of [
      zone(`type: A, name: ${long}, target: 192.0.2.1`),
      zone(`type: AAAA, target: ${long}`),
      zone(`type: CNAME, name: a, target: ${long}`),
      zone(`type: SRV, service: ${long}, protocol: tcp, target: a, port: 1`),
      `domains: [{ domain: ${long}, type: master, soa_email: ${long} }]\n`,
      `vpcs: [{ label: ${long}, region: us-east, subnets: [{ label: a, ipv4: ${long} }] }]\n`,
      `owner: ${long}\nallow: [{ delete: a, until: ${long} }]\nfiles: [${long}]\n`,
    ]) {
      const { diagnostics } = await loadText(text);
      expect(diagnostics.length).toBeGreaterThan(0);
    }
  }
  // Each of these letters is another one, and each domain reads the name anew.
  const letters = String.fromCharCode(...Array.from({ length: 20_000 }, (_, index) => 0x4e00 + index));
  const domains = Array.from({ length: 200 }, (_, index) => `d${index}.example`).join(", ");
  const names = `domains: [{ domain: [${domains}], use: [s], type: master, soa_email: a@example.com }]\n`;
  expect(
    codes(await loadText(`record_sets: { s: [{ type: A, name: ${letters}, target: 192.0.2.1 }] }\n${names}`)),
  ).toEqual(["too-long"]);
});

test("an unknown key of a thousand characters, and a text of nothing but escapes, take no time", async () => {
  expect(codes(await loadText(`${"a".repeat(1_000)}: 1\n`))).toEqual(["unknown-key"]);
  escapeText("\u001b\u202e\u200b".repeat(500_000));
});

test("a root file is extended in no time, whatever comments and aliases stand in it", async () => {
  const comment = `tenon: 1\nfiles: [a.yaml,\n${"#".repeat(2_000_000)}\n]\n`;
  expect(await extendFiles(comment, ["b.yaml"])).toBeNull();
  const commas = `tenon: 1\nfiles: [a.yaml${" ".repeat(2_000_000)}]\n`;
  expect(await extendFiles(commas, ["b.yaml"])).toBe(commas.replace("a.yaml", "a.yaml, b.yaml"));
  const tens = (name: string): string => `[${Array.from({ length: 10 }, () => `*${name}`).join(", ")}]`;
  const aliases = `tenon: 1\nx-a: &a [1, 2]\nx-b: &b ${tens("a")}\nx-c: &c ${tens("b")}\nx-d: ${tens("c")}\n`;
  expect(await extendFiles(aliases, ["b.yaml"])).toContain("files: [b.yaml]");
});
