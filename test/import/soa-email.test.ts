import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type ImportResult, isSoaEmail } from "../../src/import/index.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import { folder } from "../manifest/support.ts";
import { fileOf, importFiles } from "../support/imports.ts";

function zoneFile(rname: string): string {
  return `$TTL 1h\n; the zone\n@ SOA ns.a.test. ${rname} 1 7200 3600 1209600 3600\nwww A 192.0.2.1\n`;
}

async function imported(files: Readonly<Record<string, string>>, soaEmail?: string): Promise<ImportResult> {
  const root = folder(files);
  const paths = Object.keys(files).map((file) => join(root, file));
  return importFiles("zone", paths, soaEmail === undefined ? {} : { soaEmail });
}

function said(result: ImportResult): readonly Diagnostic[] {
  return (result.ok ? result : result.imported)?.diagnostics ?? [];
}

function emailsOf(result: ImportResult): unknown[] {
  return (parse(fileOf(result)).domains as { soa_email: unknown }[]).map(({ soa_email }) => soa_email);
}

describe("the address of an SOA", () => {
  it("that is none is told with the line of the SOA, and another one is guessed", async () => {
    for (const [rname, word] of [
      ["root.localhost.", /`root@localhost` in \S+a\.test\.zone:3\./],
      [".", /no e-mail address: \S+a\.test\.zone:3\./],
    ] as const) {
      const result = await imported({ "a.test.zone": zoneFile(rname) });
      expect(emailsOf(result)).toEqual(["hostmaster@a.test"]);
      expect(said(result)).toMatchObject([
        { code: "guessed-email", detail: expect.stringMatching(word), fix: expect.stringContaining("--soa-email") },
      ]);
    }
  });

  it("that is none gives way to --soa-email, which is told, too", async () => {
    const result = await imported({ "a.test.zone": zoneFile("root.localhost.") }, "dns@a.test");
    expect(emailsOf(result)).toEqual(["dns@a.test"]);
    expect(said(result).map(({ code }) => code)).toEqual(["replaced-email"]);
  });

  it("that is one stays, whatever --soa-email says", async () => {
    const result = await imported({ "a.test.zone": zoneFile("first\\.last.a.test.") }, "dns@a.test");
    expect(emailsOf(result)).toEqual(["first.last@a.test"]);
    expect(said(result)).toEqual([]);
  });

  it("of a zone whose name makes no address has to be given", async () => {
    const silent = await imported({ "corp.zone": "$ORIGIN corp.\n$TTL 1h\nwww A 192.0.2.1\n" });
    expect(silent.ok).toBe(false);
    expect(said(silent)[0]).toMatchObject({
      code: "bad-email",
      detail: expect.stringMatching(/corp\.zone does not say .* `hostmaster@corp` is no e-mail address/),
      fix: "Give one with --soa-email ADDRESS.",
    });
    const named = await imported({ "corp.zone": `$ORIGIN corp.\n${zoneFile("root.localhost.")}` });
    expect(said(named)[0]?.detail).toContain("names `root@localhost`, which is no e-mail address");
    if (named.ok || named.imported === null) throw new Error("imported");
    const span = said(named)[0]?.span;
    expect(span && named.imported.sources.position(span.file, span.start).line).toBe(4);
  });

  it("is guessed for many zones in one warning, which names three", async () => {
    const names = ["a.test", "b.test", "c.test", "d.test", "e.test"];
    const files = names.map((name) => [`${name}.zone`, "$TTL 1h\nwww A 192.0.2.1\n"]);
    expect(said(await imported(Object.fromEntries(files)))).toMatchObject([
      {
        summary: "5 domains get a guessed SOA address",
        detail: "hostmaster@a.test, hostmaster@b.test, hostmaster@c.test and 2 more. Their sources name nobody.",
      },
    ]);
  });
});

it.each([
  ["dns@a.test", true],
  ["nonsense", false],
  ["a@localhost", false],
  ["", false],
  ["a@b@c.test", false],
])("%j as an address: %j", (address, isOne) => {
  expect(isSoaEmail(address)).toBe(isOne);
});
