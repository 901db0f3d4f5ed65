import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { folder } from "../manifest/support.ts";
import { Account, loadFolder } from "../support/account.ts";
import { codesOf, fileOf, importFiles, written } from "../support/imports.ts";
import { fixtureRecords } from "../support/records.ts";

const EXAMPLE = join(import.meta.dirname, "../fixtures/zones/example.org.zone");
const RECORDS = "$TTL 1h\nwww A 192.0.2.1\n";

async function domainOf(file: string, text: string): Promise<string> {
  const result = await importFiles("zone", [join(folder({ [file]: text }), file)], { soaEmail: "a@a.test" });
  return result.ok ? String(parse(fileOf(result)).domains[0].domain) : codesOf(result).join(" ");
}

describe("which zone a file is of", () => {
  it.each([
    ["its first $ORIGIN", "x.zone", `$ORIGIN a.test.\n${RECORDS}`, "a.test"],
    ["the owner of its SOA", "x", "a.test. 300 SOA ns. h.a.test. 1 2 3 4 5\n", "a.test"],
    ["its name, NAME.zone", "a.test.zone", RECORDS, "a.test"],
    ["its name, db.NAME", "db.a.test", RECORDS, "a.test"],
    ["its name, NAME.db", "a.test.db", RECORDS, "a.test"],
    ["nothing that is a name", "no name.zone", RECORDS, "unknown-zone"],
    ["its first $ORIGIN, whatever its name", "b.test.2026.zone", `$ORIGIN a.test.\n${RECORDS}`, "a.test"],
    ["its SOA, whatever its name", "sub.a.test.zone", "a.test. 300 SOA ns. h.a.test. 1 2 3 4 5\n", "a.test"],
    ["its name, as its $ORIGIN stands behind records", "a.test.zone", `${RECORDS}$ORIGIN sub.a.test.\n`, "a.test"],
    ["nothing, as its $ORIGIN stands behind records", "main.zone", `${RECORDS}$ORIGIN sub.a.test.\n`, "unknown-zone"],
    ["nothing, as its $ORIGIN may be a part", "a.test.zone", `$ORIGIN sub.a.test.\n${RECORDS}`, "unknown-zone"],
    ["nothing, as its name may be a part", "sub.a.test.zone", `$ORIGIN a.test.\n${RECORDS}`, "unknown-zone"],
  ])("%s tells", async (_, file, text, expected) => {
    expect(await domainOf(file, text)).toBe(expected);
  });

  it("--domain says it against everything else", async () => {
    const path = join(folder({ "b.test.zone": RECORDS }), "b.test.zone");
    const result = await importFiles("zone", [path], { domain: "A.test.", soaEmail: "a@a.test" });
    expect(parse(fileOf(result)).domains[0].domain).toBe("a.test");
  });
});

describe("a real zone of 349 records", () => {
  it("comes in record by record, but for its SOA, its apex NS and what the service does not have", async () => {
    const result = await importFiles("zone", [EXAMPLE], { skipUnsupported: true });
    if (!result.ok) throw new Error("not imported");
    const reasons = result.skipped.map(({ reason }) => reason);
    const count = (reason: string): number => reasons.filter((one) => one === reason).length;
    expect([count("soa"), count("apex-ns"), count("unsupported-type")]).toEqual([1, 4, 86]);
    const expected = (await fixtureRecords("example.org.records.json")).filter(
      ({ type, name }) => type !== "NS" || name !== "",
    );
    expect(result.taken.domains[0]?.records).toHaveLength(expected.length);
    expect(codesOf(result)).toEqual(["rounded-seconds"]);
  });

  it("applied to an account it plans empty", async () => {
    const account = await Account.open();
    onTestFinished(() => account.close());
    const { desired } = await loadFolder(
      await written(await importFiles("zone", [EXAMPLE], { skipUnsupported: true })),
    );
    if (desired === null) throw new Error("not loaded");
    await account.apply(await account.plan(desired));
    expect((await account.plan(desired)).steps).toEqual([]);
  });
});

describe("what a zone file says", () => {
  it("comes with the address of its SOA, or one that is guessed and told", async () => {
    const named = folder({ "a.test.zone": "@ 300 SOA ns. first\\.last.a.test. 1 2 3 4 5\nwww 300 A 192.0.2.1\n" });
    const result = await importFiles("zone", [join(named, "a.test.zone")]);
    expect(parse(fileOf(result)).domains[0].soa_email).toBe("first.last@a.test");
    const guessed = await importFiles("zone", [join(folder({ "a.test.zone": RECORDS }), "a.test.zone")]);
    expect(parse(fileOf(guessed)).domains[0].soa_email).toBe("hostmaster@a.test");
    expect(codesOf(guessed)).toEqual(["guessed-email"]);
  });

  it("is taken once where it stands twice, and TTLs that are rounded are told in one warning", async () => {
    const lines = ["a 20 A 192.0.2.1", "b 20 A 192.0.2.1", "c 1000 A 192.0.2.1", "a 30 A 192.0.2.1"];
    const path = join(folder({ "a.test.zone": `${lines.join("\n")}\n` }), "a.test.zone");
    const result = await importFiles("zone", [path], { soaEmail: "a@a.test" });
    if (!result.ok) throw new Error(JSON.stringify(result));
    expect(result.taken.domains[0]?.records).toHaveLength(3);
    const rounded = result.diagnostics.find(({ code }) => code === "rounded-seconds");
    expect(rounded).toMatchObject({
      summary: "3 TTLs are rounded",
      detail: "The service keeps certain TTLs only: 20 → 300 s (2), 1000 → 300 s (1). In a.test.",
    });
    const one = join(folder({ "a.test.zone": "a 20 A 192.0.2.1\n" }), "a.test.zone");
    const single = await importFiles("zone", [one], { soaEmail: "a@a.test" });
    expect(single.ok && single.diagnostics.map(({ summary }) => summary)).toEqual(["a TTL is rounded"]);
  });

  it("leaves the TTL to the zone where an exported one does, and plans empty against the account it came from", async () => {
    const records = [
      { type: "A", name: "a", target: "192.0.2.1" },
      { type: "A", name: "b", target: "192.0.2.2", ttl_sec: 86_400 },
      { type: "A", name: "c", target: "192.0.2.3", ttl_sec: 300 },
    ] as const;
    const account = await Account.open({ seed: { domains: [{ domain: "a.test", soa_email: "a@a.test", records }] } });
    onTestFinished(() => account.close());
    const soa = "@ SOA ns1 a.a.test. 1 14400 14400 1209600 86400";
    const lines = `$ORIGIN a.test.\n$TTL 86400\n${soa}\na IN A 192.0.2.1\nb 86400 IN A 192.0.2.2\nc 300 IN A 192.0.2.3\n`;
    const path = join(folder({ "a.test.zone": lines }), "a.test.zone");
    const { desired } = await loadFolder(await written(await importFiles("zone", [path])));
    if (desired === null) throw new Error("not loaded");
    expect((await account.plan(desired)).steps).toEqual([]);
  });

  it("tells a TTL of 0 as 0, beside one of 1", async () => {
    const path = join(folder({ "a.test.zone": "a 0 A 192.0.2.1\nb 1 A 192.0.2.1\nc 0 A 192.0.2.2\n" }), "a.test.zone");
    const result = await importFiles("zone", [path], { soaEmail: "a@a.test" });
    if (!result.ok) throw new Error(JSON.stringify(result));
    expect(result.taken.domains[0]?.records?.map(({ ttl_sec }) => ttl_sec)).toEqual([300, 300, 300]);
    const rounded = result.diagnostics.find(({ code }) => code === "rounded-seconds");
    expect(rounded?.detail).toContain("0 → 300 s (2), 1 → 300 s (1)");
  });

  it("leaves out ALIAS, ANAME and LUA with --skip-unsupported, each told by its line", async () => {
    const lines =
      "a 300 A 192.0.2.1\n@ 300 ALIAS a.test.net.\nb 300 ANAME a\nc 300 LUA A \"ifportup(443, {'192.0.2.1'})\"\n";
    const path = join(folder({ "a.test.zone": lines }), "a.test.zone");
    const options = { soaEmail: "a@a.test" };
    expect(codesOf(await importFiles("zone", [path], options))).toContain("unsupported-records");
    const result = await importFiles("zone", [path], { ...options, skipUnsupported: true });
    if (!result.ok) throw new Error(JSON.stringify(result));
    expect(result.taken.domains[0]?.records).toHaveLength(1);
    expect(result.skipped.map(({ type, reason }) => `${reason} ${type}`)).toEqual([
      "unsupported-type ALIAS",
      "unsupported-type ANAME",
      "unsupported-type LUA",
    ]);
  });

  it("is rounded in many zones with one warning", async () => {
    const root = folder({ "a.test.zone": "a 20 A 192.0.2.1\n", "b.test.zone": "a 20 A 192.0.2.1\n" });
    const paths = ["a", "b"].map((name) => join(root, `${name}.test.zone`));
    const result = await importFiles("zone", paths, { soaEmail: "a@a.test" });
    const rounded = (result.ok ? result.diagnostics : []).filter(({ code }) => code === "rounded-seconds");
    expect(rounded).toMatchObject([
      { summary: "2 TTLs are rounded", detail: expect.stringContaining("20 → 300 s (2)") },
    ]);
    expect(rounded[0]?.detail).toContain("In a.test, b.test.");
  });

  it("in two files of one zone is an error", async () => {
    const root = folder({ "a.test.zone": RECORDS, "a.test.db": RECORDS });
    const result = await importFiles("zone", [join(root, "a.test.zone"), join(root, "a.test.db")]);
    expect(codesOf(result)).toContain("duplicate-entry");
  });

  it("may be included from the same folder, never from outside of it", async () => {
    const outside = folder({ secret: RECORDS });
    const root = folder({
      "sub/part": RECORDS,
      "in.test.zone": "$INCLUDE sub/part\n",
      "up.test.zone": `$INCLUDE ../${outside.split("/").at(-1)}/secret\n`,
      "abs.test.zone": `$INCLUDE ${outside}/secret\n`,
      "link.test.zone": "$INCLUDE link\n",
    });
    symlinkSync(join(outside, "secret"), join(root, "link"));
    const inside = await importFiles("zone", [join(root, "in.test.zone")], { soaEmail: "a@a.test" });
    expect(parse(fileOf(inside)).domains[0].records).toHaveLength(1);
    for (const file of ["up", "abs", "link"]) {
      const result = await importFiles("zone", [join(root, `${file}.test.zone`)], { soaEmail: "a@a.test" });
      expect(result.ok).toBe(false);
    }
  });

  it.each([
    ["a syntax error", Buffer.from("www A\n")],
    ["a byte that is not UTF-8", Buffer.from('www 300 TXT "\xff"\n', "latin1")],
  ])("with %s is an error with its place", async (_, bytes) => {
    const result = await importFiles("zone", [join(folder({ "a.test.zone": bytes }), "a.test.zone")]);
    if (result.ok || result.imported === null) throw new Error("imported");
    expect(result.imported.diagnostics.some(({ severity, span }) => severity === "error" && span !== undefined)).toBe(
      true,
    );
  });
});
