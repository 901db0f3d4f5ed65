/** `tenon export`: the tools that it writes for read what it writes. Those that only some machines have are asked where they are. */

import { execFile, execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { DnsRecord } from "../../src/dns/record.ts";
import { quote } from "../../src/export/terraform.ts";
import { here } from "../cli/here.ts";
import { folder } from "../cli/run.ts";
import { plainRecords } from "../property/zone-file-records.ts";
import { checkZone } from "./zone-judge.ts";

const run = promisify(execFile);
const SEED = Number(process.env["TENON_SEED"] ?? 1_035);
const ZONES = 20;
const MAX_OUTPUT_BYTES: number = 256 * 1024 ** 2;

/** Set where octoDNS is not on the path of Python. */
const PYTHON = process.env["TENON_TEST_OCTODNS_PYTHON"] ?? "python3";

function works(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A project of many random zones, of what the service can hold. */
function manyZones(): { readonly text: string; readonly zones: ReadonlyMap<string, readonly DnsRecord[]> } {
  const zones = new Map<string, readonly DnsRecord[]>();
  for (const [index, records] of fc.sample(plainRecords, { seed: SEED, numRuns: ZONES }).entries()) {
    const names = records.map(({ name }) => name);
    const isAlone = ({ name }: DnsRecord) => names.indexOf(name) === names.lastIndexOf(name);
    const fitting = records
      .filter((record) => record.type !== "NS" && (record.type !== "CNAME" || (record.name !== "" && isAlone(record))))
      .filter((record) => record.target !== "" || isAlone(record))
      .map((record) => ({ ...record, ttl_sec: record.name.length % 2 === 0 ? 300 : 86_400 }));
    zones.set(`z${index}.example`, fitting);
  }
  const domains = [...zones].map(([domain, records]) => ({
    ...{ domain, type: "master", soa_email: "a@a.example", lint: { off: ["*"] } },
    records: records.map(({ name, target, ...rest }) => ({
      ...rest,
      name: name === "" ? "@" : name,
      target: (["CNAME", "MX", "SRV", "PTR"].includes(rest.type) ? `${target}.` : target).replaceAll("${", "$${"),
    })),
  }));
  return {
    text: stringify({ tenon: 1, domains: domains.map(({ lint: _, ...domain }) => domain) }, { lineWidth: 0 }),
    zones,
  };
}

async function exportTo(
  format: string,
): Promise<{ readonly out: string; readonly zones: ReadonlyMap<string, readonly DnsRecord[]>; readonly said: string }> {
  const { text, zones } = manyZones();
  const cwd = await folder({ "tenon.yaml": text });
  const ended = await here(["export", "--from-manifest", "--to", format, "--out", "out"], { cwd });
  expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)]);
  return { out: join(cwd, "out"), zones, said: ended.stderr };
}

describe("zone files", () => {
  it("of random zones are accepted by named-checkzone", async () => {
    const { out, zones } = await exportTo("zone");
    expect((await readdir(out)).length).toBe(zones.size);
    for (const zone of zones.keys()) {
      const text = await readFile(join(out, `${zone}.zone`), "utf8");
      expect([zone, await checkZone(zone, text)]).toEqual([zone, expect.objectContaining({ ok: true })]);
    }
  });
});

/** What octoDNS itself makes of a folder, in the words of its own objects. */
const READ_OCTODNS = `
import json, sys
from octodns.provider.yaml import YamlProvider
from octodns.zone import Zone
provider = YamlProvider('exported', sys.argv[1])
zones = {}
for name in provider.list_zones():
    zone = Zone(name, [])
    provider.populate(zone)
    zones[str(name)[:-1]] = [
        {'name': str(r.name), 'type': r._type, 'ttl': r.ttl, 'values': [v if isinstance(v, str) else dict(v) for v in getattr(r, 'values', None) or [r.value]]}
        for r in sorted(zone.records)
    ]
json.dump(zones, sys.stdout)
`;

interface OctodnsSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly values: readonly (string | Readonly<Record<string, string | number>>)[];
}

function keyOf(...parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}

describe.runIf(works(PYTHON, ["-c", "import octodns"]))("octoDNS", () => {
  it("reads each record of random zones, in its own order, without a change", async () => {
    const { out, zones } = await exportTo("octodns");
    const { stdout } = await run(PYTHON, ["-c", READ_OCTODNS, out], { maxBuffer: MAX_OUTPUT_BYTES });
    const read = JSON.parse(stdout) as Record<string, OctodnsSet[]>;
    expect(Object.keys(read).length).toBe(zones.size);
    for (const [zone, records] of zones) {
      const got = (read[zone] ?? []).flatMap(({ name, type, ttl, values }) =>
        values.map((value) => keyOf(name, type, ttl, octodnsValue(type, value))),
      );
      const wanted = records
        .filter(({ target, type }) => target !== "" || type !== "TXT")
        .map((record) => keyOf(record.name, record.type, record.ttl_sec, wantedValue(record)));
      expect([zone, got.sort()]).toEqual([zone, wanted.sort()]);
    }
  });

  it("reads the fixture that the tests elsewhere compare with", async () => {
    const path = join(import.meta.dirname, "../fixtures/export/octodns");
    const { stdout } = await run(PYTHON, ["-c", READ_OCTODNS, path]);
    await expect(`${JSON.stringify(JSON.parse(stdout), null, 2)}\n`).toMatchFileSnapshot(
      "../fixtures/export/octodns.read.json",
    );
  });
});

/** Texts as they are meant: octoDNS keeps a backslash before each semicolon. */
function octodnsValue(type: string, value: string | Readonly<Record<string, string | number>>): unknown {
  if (typeof value !== "string") {
    const { exchange, preference, target, priority, weight, port, tag, value: text } = value;
    if (type === "MX") return [preference, exchange];
    return type === "SRV" ? [priority, weight, port, target] : [tag, text];
  }
  return type === "TXT" ? value.replaceAll("\\;", ";") : value;
}

function wantedValue({ type, target, priority, weight, port, tag }: DnsRecord): unknown {
  if (type === "MX") return [priority, `${target}.`];
  if (type === "SRV") return [priority, weight, port, `${target}.`];
  if (type === "CAA") return [tag, target];
  return type === "CNAME" || type === "PTR" ? `${target}.` : target;
}

describe.runIf(works("terraform", ["version"]))("Terraform", () => {
  const env = { PATH: process.env["PATH"], CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1", HOME: "/nonexistent" };

  it("finds the HCL of random zones in its own form, and reads every word of it", async () => {
    const { out } = await exportTo("terraform");
    // Fails where the text is no HCL, and prints the file where it would lay it out otherwise.
    const { stdout } = await run("terraform", ["fmt", "-check", "-no-color", out], { env });
    expect(stdout).toBe("");
  });

  it("reads texts as they are", async () => {
    const texts = fc.sample(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 30 }),
        fc.string({ unit: fc.constantFrom("$", "%", "{", "}", '"', "\\", "\n", "é", "🦦", "\u0085"), maxLength: 12 }),
      ),
      { seed: SEED, numRuns: 300 },
    );
    // HCL is Unicode: what is no character cannot be in it.
    const whole = texts.filter((text) => !/\p{Cs}/u.test(text)).map((text) => text.normalize("NFC"));
    const cwd = await folder({});
    await writeFile(
      join(cwd, "main.tf"),
      `output "texts" {\n  value = [\n${whole.map((text) => `    ${quote(text)},\n`).join("")}  ]\n}\n`,
    );
    await run("terraform", ["apply", "-auto-approve", "-input=false", "-no-color"], { cwd, env });
    const { stdout } = await run("terraform", ["output", "-json", "texts"], { cwd, env, maxBuffer: MAX_OUTPUT_BYTES });
    expect(JSON.parse(stdout)).toEqual(whole);
  });
});
