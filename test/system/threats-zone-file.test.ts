/** Zone files of hard shapes, many of them random: what Tenon reads from one is what BIND reads from it. TENON_SEED=N takes other ones. */

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readZoneFile } from "../../src/dns/zone-file/read.ts";
import { folder } from "../cli/run.ts";
import { fileOf, importFiles } from "../support/imports.ts";

const run = promisify(execFile);

const SEED = Number(process.env["TENON_SEED"] ?? 1_035);
const FILES = Number(process.env["TENON_ZONE_FILES"] ?? 400);

const HEAD = "$TTL 1h\n@ SOA ns1.example.net. hostmaster 1 2 3 4 5\n@ NS ns1.example.net.\n";

const pick = (...texts: readonly string[]) => fc.constantFrom(...texts);
const BLANK = fc.oneof({ weight: 20, arbitrary: pick(" ", "\t", "  ", "\t ") }, pick("\f", " ( ", " (;c\r\n "));
const OWNER = pick("a", "b", "@", "*", "a.b", "x\\.y", "\\097", "A", "example.com.", "c.example.com.", "\\@", " ", "");
const TTL = pick("", "", "300 ", "1h ", "1h30m ", "0 ", "IN ", "300 IN ", "IN 1H ", "in 2D ");
const TEXT = pick(
  "t",
  '"t u"',
  '"a\\"b"',
  '"a;b"',
  "a\\;b",
  '"\\065\\\\"',
  "a\\ b",
  '""',
  '"a" "b"',
  '"a"b',
  "é",
  '"(x)"',
  "\\$",
);
const WITHIN = pick(
  "t",
  "t u",
  'a\\"b',
  '\\"t u\\"',
  "\\\\",
  "\\065",
  "\\;",
  ";",
  "$",
  "$$",
  "\\$",
  "${1}",
  "${0,3,x}",
  "(x)",
  "é",
);
const NAME = pick("a", "b.c", "mx.example.net.", "@", "x\\.y", "\\110s", ".");
const DATA = fc.oneof(
  pick("192.0.2.1", "192.0.2.2").map((one) => `A ${one}`),
  pick("2001:db8::1", "2001:DB8:0:0::2").map((one) => `AAAA ${one}`),
  fc.tuple(pick("10", "0", "010"), NAME).map(([priority, name]) => `MX ${priority} ${name}`),
  NAME.map((name) => `PTR ${name}`),
  fc.array(TEXT, { minLength: 1, maxLength: 3 }).map((texts) => `TXT ${texts.join(" ")}`),
  TEXT.map((text) => `CAA 0 issue ${text}`),
);
const GENERATED = fc.oneof(
  fc.array(WITHIN, { minLength: 1, maxLength: 4 }).map((texts) => `TXT "${texts.join("")}"`),
  fc.array(WITHIN, { minLength: 1, maxLength: 4 }).map((texts) => `TXT ${texts.join("").replace(/[ ;()"\\]/g, "")}x`),
  pick("A 192.0.2.$", "A 192.0.2.${1}", "PTR h${0,4,d}", "PTR ${0,5,n}", 'MX "10 m$"', "CNAME h$.example.net."),
);
const END = fc.oneof(
  { weight: 10, arbitrary: pick("\n", "\r\n", "\r", ";c\n", " ; c\r\n", ' ; "c\n', "\r\r\n") },
  pick(";c\rd A 192.0.2.66\n", " )\n"),
);

const LINE = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(OWNER, BLANK, pick("TTL?"), DATA, END).map((parts) => parts.join("")) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(pick("1-2", "0-4/2", "7-8"), pick("g$", "g${0,3}", "g$$$", "${2,0,x}", "@"), GENERATED, END)
      .map(([range, owner, data, end]) => `$GENERATE ${range} ${owner} TTL?${data}${end}`),
  },
  pick(
    "$ORIGIN sub\n",
    "$ORIGIN example.com.\n",
    "$TTL 5m\n",
    "; \rd A 192.0.2.67\n",
    "\n",
    "\r\n",
    " \n",
    "$ORIGIN sub ;c\r",
  ),
);

async function read(text: string): Promise<{ readonly isRefused: boolean; readonly records: readonly string[] }> {
  const include = () => Promise.resolve({ ok: false, detail: "" } as const);
  const { records, skipped, diagnostics } = await readZoneFile(text, {
    zone: "example.com",
    file: "main.zone",
    include,
  });
  const all = [...records, ...skipped].map(({ span: _, ...record }) => JSON.stringify(record));
  return { isRefused: diagnostics.some(({ severity }) => severity === "error"), records: [...new Set(all)].sort() };
}

const FREE = ["-i", "none", ...["-k", "-n", "-m", "-M", "-S", "-r"].flatMap((check) => [check, "ignore"])];

test("random zone files mean what they mean to BIND, or are refused", async () => {
  const cwd = await folder({});
  const tally = { both: 0, refused: 0, refusedByBind: 0, records: 0 };
  const property = fc.asyncProperty(TTL, fc.array(LINE, { minLength: 1, maxLength: 4 }), async (ttl, lines) => {
    // One for all: of records of one set that have several, BIND takes one for all.
    const text = HEAD + lines.map((line) => line.replace("TTL?", ttl)).join("");
    await writeFile(join(cwd, "main.zone"), text);
    const args = [...FREE, "-s", "full", "-o", "-", "example.com", "main.zone"];
    const bind = await run("named-compilezone", args, { cwd }).catch(() => null);
    const ours = await read(text);
    if (ours.isRefused) tally.refused += 1;
    else if (bind === null) tally.refusedByBind += 1;
    else {
      // What BIND writes is in its plainest form.
      const theirs = await read(bind.stdout);
      expect([text, ours.records]).toEqual([text, theirs.records]);
      tally.both += 1;
      tally.records += theirs.records.length;
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: FILES });
  expect(tally.both).toBeGreaterThan(FILES / 4);
});

const SOA = "@ SOA ns1.example.net. hostmaster 1 2 3 4 5\n@ NS ns1.example.net.\n";

const HEADLESS: readonly (readonly [what: string, text: string])[] = [
  [
    "the SOA in an included file",
    "$TTL 1h\n$INCLUDE soa.inc\nwww A 192.0.2.1\n$ORIGIN sub.example.com.\nhost A 192.0.2.2\n",
  ],
  ["an alias that is named soa", "$TTL 1h\n$INCLUDE soa.inc\nwww.example.com. CNAME soa\nhost A 192.0.2.2\n"],
  ["a text that says soa", "$TTL 1h\nwww.example.com. TXT soa\n$INCLUDE soa.inc\nhost A 192.0.2.2\n"],
  [
    "a part before the SOA",
    `$TTL 1h\nwww.sub.example.com. A 192.0.2.1\n${SOA}$ORIGIN sub.example.com.\nhost A 192.0.2.2\n`,
  ],
];

test("a zone file without an SOA of its own is imported as the zone that BIND serves, not as that of a later $ORIGIN or of the word soa", async () => {
  for (const [what, text] of HEADLESS) {
    const cwd = await folder({ "example.com.zone": text, "soa.inc": SOA });
    const { stdout } = await run("named-compilezone", [...FREE, "-o", "-", "example.com", "example.com.zone"], { cwd });
    const names = stdout
      .split("\n")
      .map((line) => line.split(/\s+/))
      .filter(([, , , type = "SOA"]) => !["SOA", "NS"].includes(type));
    const imported = await importFiles("zone", [join(cwd, "example.com.zone")], { soaEmail: "a@example.com" });
    const [domain] = parse(fileOf(imported)).domains;
    const ours: string[] = domain.records.map(
      ({ name, type }: { name: string; type: string }) => `${name}.${domain.domain}. ${type}`,
    );
    expect([what, ...ours.sort()]).toEqual([what, ...names.map(([name, , , type]) => `${name} ${type}`).sort()]);
  }
});
