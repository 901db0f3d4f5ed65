/** Records that meet others of their name and type, of a record set or a zone file: nothing is replaced that was not said. */

import { describe, expect, test } from "vitest";
import { codes, domain, loadFiles, loadText, places, records } from "./support.ts";

const SPF = '{ type: TXT, target: "v=spf1 mx -all" }';
const SETS = `record_sets:
  mail:
    - ${SPF}
    - { type: MX, target: mx.example.net. }
`;

function shown(result: Awaited<ReturnType<typeof loadText>>): string[] {
  return records(result).map(({ name, type, target }) => `${name || "@"} ${type} ${target}`);
}

describe("a domain's own record that meets a record set's", () => {
  test("is an error with both places, unless it says what is meant", async () => {
    const result = await loadText(
      SETS + domain('use: [mail]\nrecords:\n  - { type: TXT, name: "@", target: verify }\n'),
    );
    expect(places(result)).toEqual(["overrides-record-set tenon.yaml:12:9"]);
    expect(result.diagnostics[0]).toMatchObject({
      severity: "error",
      summary: "`override` is missing: the record set has TXT records at this name, too",
      detail:
        "There are also TXT records at the apex in record set `mail`. Without `override`, Tenon cannot tell whether to replace them or to add to them.",
      fix: "Add `override: true` to replace the record set's, or `override: false` to have both.",
      related: [{ message: "in record set `mail`" }],
    });
    const [related] = result.diagnostics[0]?.related ?? [];
    expect(result.sources.position("tenon.yaml", related?.span.start ?? 0)).toMatchObject({ line: 4, column: 7 });
  });

  test("takes its place with `override: true`, however the name is written, and stands beside it with false", async () => {
    const own = (override: string) =>
      loadText(SETS + domain(`use: [mail]\nrecords: [{ type: TXT, name: example.com., target: verify${override} }]\n`));
    const replaced = await own(", override: true");
    expect(codes(replaced)).toEqual([]);
    expect(shown(replaced)).toEqual(["@ MX mx.example.net", "@ TXT verify"]);
    const beside = await own(", override: false");
    expect(codes(beside)).toEqual([]);
    expect(shown(beside)).toEqual(["@ TXT v=spf1 mx -all", "@ MX mx.example.net", "@ TXT verify"]);
  });

  test("needs to say it in a record that no other one outlasts, as a later day would be an error", async () => {
    const own = (...entries: readonly string[]) =>
      loadText(
        SETS + domain(`use: [mail]\nrecords: [${entries.map((entry) => `{ type: TXT, name: "@", ${entry} }`)}]\n`),
      );
    const dated = (override: string) => `target: a, expires: 2099-01-31${override}`;
    expect(codes(await own(dated(", override: true"), "target: b"))).toEqual(["overrides-record-set"]);
    expect(codes(await own(dated(""), "target: b, override: true"))).toEqual([]);
    expect(codes(await own(dated(", override: true")))).toEqual([]);
    expect(codes(await own(dated("")))).toEqual(["overrides-record-set"]);
    const longer = (override: string) => `target: b, expires: 2100-01-31${override}`;
    expect(codes(await own(dated(", override: true"), longer("")))).toEqual(["overrides-record-set"]);
    expect(codes(await own(dated(""), longer(", override: true")))).toEqual([]);
  });

  test("needs to say it once for a name and type, and must not say both", async () => {
    const own = (first: string, second: string) =>
      loadText(
        SETS +
          domain(
            `use: [mail]\nrecords:\n  - { type: TXT, target: one${first} }\n  - { type: TXT, target: two${second} }\n`,
          ),
      );
    expect(shown(await own(", override: true", ""))).toEqual(["@ MX mx.example.net", "@ TXT one", "@ TXT two"]);
    expect(shown(await own("", ", override: true"))).toEqual(["@ MX mx.example.net", "@ TXT one", "@ TXT two"]);
    expect(places(await own(", override: true", ", override: false"))).toEqual([
      "conflicting-override tenon.yaml:13:45",
    ]);
  });

  test("is told once for many domains, and for builders as for records", async () => {
    const head = "defaults: { domain: { type: master, soa_email: a@b.example } }\n";
    const names = Array.from({ length: 50 }, (_, index) => `d${index}.example`).join(", ");
    const many = await loadText(
      `${SETS}${head}domains: [{ domain: [${names}], use: [mail], records: [{ spf: { all: fail } }] }]\n`,
    );
    expect(codes(many)).toEqual(["overrides-record-set"]);
    const said = await loadText(SETS + domain("use: [mail]\nrecords: [{ spf: { all: fail }, override: true }]\n"));
    expect(codes(said)).toEqual([]);
    expect(shown(said)).toEqual(["@ MX mx.example.net", "@ TXT v=spf1 -all"]);
  });

  test("may say it where nothing is met: a set used by many is not the same for all of them", async () => {
    const result = await loadText(domain("records: [{ type: TXT, target: x, override: true }]\n"));
    expect(codes(result)).toEqual([]);
    expect(codes(await loadText(domain("records: [{ type: TXT, target: x, override: yes }]\n")))).toEqual([
      "wrong-type",
    ]);
  });
});

describe("two record sets that meet", () => {
  const sets = (later: string) => `record_sets:
  one: [{ type: TXT, target: one }]
  two: [{ type: TXT, target: two${later} }]
`;

  test("are an error with both places, which the later one mends, and only it", async () => {
    const result = await loadText(sets("") + domain("use: [one, two]\n"));
    expect(places(result)).toEqual(["overrides-record-set tenon.yaml:4:9"]);
    expect(result.diagnostics[0]).toMatchObject({
      fix: "Add `override: true` to the record of `two` to replace the record set's, or `override: false` to have both.",
      related: [{ message: "in record set `one`" }],
    });
    expect(shown(await loadText(sets(", override: true") + domain("use: [one, two]\n")))).toEqual(["@ TXT two"]);
    expect(shown(await loadText(sets(", override: false") + domain("use: [one, two]\n")))).toEqual([
      "@ TXT one",
      "@ TXT two",
    ]);
    expect(places(await loadText(sets(", override: true") + domain("use: [two, one]\n")))).toEqual([
      "overrides-record-set tenon.yaml:3:9",
    ]);
  });

  test("must say it where the domain's own record replaces both for some time only", async () => {
    const own = (more: string) =>
      domain(`use: [one, two]\nrecords: [{ type: TXT, target: own, override: true${more} }]\n`);
    expect(places(await loadText(sets("") + own(", expires: 2099-01-31")))).toEqual([
      "overrides-record-set tenon.yaml:4:9",
    ]);
    expect(codes(await loadText(sets(", override: true") + own(", expires: 2099-01-31")))).toEqual([]);
  });

  test("say nothing where the domain itself replaces both", async () => {
    const own = (override: string) => `use: [one, two]\nrecords: [{ type: TXT, target: own, override: ${override} }]\n`;
    const replaced = await loadText(sets("") + domain(own("true")));
    expect(codes(replaced)).toEqual([]);
    expect(shown(replaced)).toEqual(["@ TXT own"]);
    expect(places(await loadText(sets("") + domain(own("false"))))).toEqual(["overrides-record-set tenon.yaml:4:9"]);
  });
});

describe("records of the manifest that meet the zone file's", () => {
  const files = (lines: string, sets = "") => ({
    "tenon.yaml": `tenon: 1\n${sets}${domain(`zone_file: a.zone\n${lines}`)}`,
    "a.zone": '$TTL 300\n@ TXT "v=spf1 -all"\n@ MX 10 mx.example.net.\n',
  });

  test("are an error with the line of the file, unless they say what is meant", async () => {
    const result = await loadFiles(files("records: [{ type: TXT, target: verify }]\n"));
    expect(places(result)).toEqual(["overrides-zone-file tenon.yaml:7:15"]);
    const [related] = result.diagnostics[0]?.related ?? [];
    expect(related).toMatchObject({ message: "in the zone file", span: { file: "a.zone", start: 9 } });
    expect(shown(await loadFiles(files("records: [{ type: TXT, target: own, override: true }]\n")))).toEqual([
      "@ MX mx.example.net",
      "@ TXT own",
    ]);
    expect(shown(await loadFiles(files("records: [{ type: TXT, target: own, override: false }]\n")))).toEqual([
      "@ TXT v=spf1 -all",
      "@ MX mx.example.net",
      "@ TXT own",
    ]);
  });

  test("a set's as well; the domain's own override replaces both", async () => {
    const set = (more: string) => `record_sets: { s: [{ type: TXT, target: set${more} }] }\n`;
    expect(places(await loadFiles(files("use: [s]\n", set(""))))).toEqual(["overrides-zone-file tenon.yaml:2:20"]);
    expect(shown(await loadFiles(files("use: [s]\n", set(", override: false"))))).toEqual([
      "@ TXT v=spf1 -all",
      "@ MX mx.example.net",
      "@ TXT set",
    ]);
    const own = "use: [s]\nrecords: [{ type: TXT, target: own, override: true }]\n";
    const both = await loadFiles(files(own, set("")));
    expect(codes(both)).toEqual([]);
    expect(shown(both)).toEqual(["@ MX mx.example.net", "@ TXT own"]);
  });
});
