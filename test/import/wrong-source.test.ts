import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import { folder } from "../manifest/support.ts";
import { importFiles } from "../support/imports.ts";

/** What is said about one file that was named as a zone file. */
async function said(content: string | Buffer, name = "a.test.zone", domain?: string): Promise<readonly Diagnostic[]> {
  const path = join(folder({ [name]: content }), name);
  const result = await importFiles("zone", [path], {
    soaEmail: "a@a.test",
    ...(domain === undefined ? {} : { domain }),
  });
  return (result.ok ? result : result.imported)?.diagnostics ?? [];
}

const ZONE = "$TTL 1h\nwww A 192.0.2.1\n";

describe("a file that is no zone file", () => {
  it("is called that after three errors", async () => {
    const yaml = Array.from({ length: 40 }, (_, index) => `key${index}: { value: ${index} }`).join("\n");
    const found = await said(yaml, "tenon.yaml", "a.test");
    expect(found).toHaveLength(4);
    expect(found.at(-1)).toMatchObject({
      code: "no-zone-file",
      summary: expect.stringContaining("tenon.yaml does not look like a zone file"),
      detail: "There are more errors than records; 37 more are not shown.",
    });
  });

  it("is not what a zone file with errors is", async () => {
    const broken = Array.from({ length: 5 }, (_, index) => `bad${index} A x\ngood${index} A 192.0.2.1\n`).join("");
    const codes = (await said(`$TTL 1h\n${broken}`)).map(({ code }) => code);
    expect(codes).toHaveLength(5);
    expect(codes).not.toContain("no-zone-file");
  });

  it.each([
    ["with its mark", Buffer.from(`\ufeff${ZONE}`, "utf16le"), "UTF-16"],
    ["with its mark, the other way round", Buffer.from(`\ufeff${ZONE}`, "utf16le").swap16(), "UTF-16"],
    ["without a mark", Buffer.from(ZONE, "utf16le"), "UTF-16"],
    ["as bytes", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 3, 0, 62]), "binary"],
  ])("%s is named as what it is", async (_, bytes, word) => {
    const found = await said(bytes);
    expect(found).toMatchObject([{ code: "not-utf8", summary: expect.stringContaining(word) }]);
  });

  it("but a folder is told from one, with what to do", async () => {
    const result = await importFiles("zone", [folder({ "a.test.zone": ZONE })]);
    const found = (result.ok ? result : result.imported)?.diagnostics ?? [];
    expect(found).toMatchObject([
      {
        code: "unreadable-file",
        summary: expect.stringMatching(/it is a folder$/),
        fix: "Name the files in it, for example dir/*.zone.",
      },
    ]);
  });
});

describe("a zone whose name the service takes no domain of", () => {
  it.each([
    ["--domain", ZONE, "0/25.2.0.192.in-addr.arpa", "--domain says"],
    ["its origin", `$ORIGIN 0/25.2.0.192.in-addr.arpa.\n${ZONE}`, undefined, "a.test.zone says"],
  ])("by %s is refused for that, and RFC 2317 is mentioned", async (_, text, domain, who) => {
    const [found] = await said(text, "a.test.zone", domain);
    expect(found?.code).toBe("bad-domain");
    expect(found?.detail).toContain(who);
    expect(found?.detail).toContain("RFC 2317");
    expect(found?.fix).toContain("0-25.2.0.192.in-addr.arpa");
  });

  it("by another mistake is refused without it", async () => {
    const [found] = await said(ZONE, "a.test.zone", "a b.test");
    expect(found).toMatchObject({ code: "bad-domain", fix: "Correct the name." });
    expect(found?.detail).not.toContain("2317");
  });

  it("without a slash comes in", async () => {
    expect(await said("$TTL 1h\n1 PTR a.test.\n", "x.zone", "0-25.2.0.192.in-addr.arpa")).toEqual([]);
  });
});

describe("a file that is included", () => {
  it("from outside the folder of the zone file is refused with the limit and the way round", async () => {
    const [found] = await said("$TTL 1h\n$INCLUDE ../other/part\n");
    expect(found?.detail).toContain("outside the folder of the zone file");
    expect(found?.fix).toBe("Copy it there, and write its path as seen from the file that includes it.");
  });

  it("is looked for from the file that includes it", async () => {
    const root = folder({
      "a.test.zone": "$TTL 1h\n$INCLUDE sub/one\n",
      "sub/one": "$INCLUDE two\n",
      "sub/two": "www A 192.0.2.1\n",
    });
    const result = await importFiles("zone", [join(root, "a.test.zone")], { soaEmail: "a@a.test" });
    expect(result.ok && result.taken.domains[0]?.records).toHaveLength(1);
  });
});

describe("a zone that was signed", () => {
  const signed = `${ZONE}www RRSIG A 8 3 3600 20260101000000 20250101000000 1 a.test. AAAA
www NSEC a.test. A RRSIG NSEC
@ DNSKEY 256 3 8 AAAA
@ NSEC3PARAM 1 0 0 -
`;

  it("comes in without its signatures, and the DS record is warned of", async () => {
    const found = await said(signed);
    expect(found).toMatchObject([{ code: "signed-zone", fix: expect.stringContaining("DS record") }]);
  });

  it("does not come in without what vouches for another zone", async () => {
    const found = await said(`${signed}sub DS 1 8 2 ABCD\n`);
    expect(found.map(({ code }) => code)).toEqual(["signed-zone", "unsupported-records"]);
    expect(found[1]?.summary).toBe("a record cannot be held by the service");
  });
});
