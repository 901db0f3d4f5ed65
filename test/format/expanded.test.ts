import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { renderDesired } from "../../src/format/index.ts";
import { writeManifest } from "../../src/format/write.ts";
import type { LoadOptions } from "../../src/manifest/load.ts";
import type { Desired } from "../../src/model/desired.ts";
import { units } from "../../src/units/index.ts";
import { folder, load } from "../manifest/support.ts";
import { growth } from "../support/operations.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url).pathname;

/** Everything but where it stands in the source. */
function withoutPlaces(desired: Desired): unknown {
  const undefinedKept = (_key: string, value: unknown): unknown => (value === undefined ? "(left alone)" : value);
  return JSON.parse(JSON.stringify(desired, undefinedKept), (key, value) =>
    key === "span" || key === "idSpan" ? undefined : value,
  );
}

async function desiredOf(directory: string, options: Partial<LoadOptions> = {}): Promise<Desired> {
  const result = await load(directory, options);
  expect(result.diagnostics).toEqual([]);
  if (result.project === null) throw new Error("not loaded");
  return result.project.desired;
}

/** Writes the expanded manifest into a folder of its own, with the files beside it, and loads that. */
async function again(desired: Desired, format: "text" | "json", files?: string): Promise<Desired> {
  const root = mkdtempSync(join(tmpdir(), "tenon-expanded-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  if (files !== undefined && existsSync(files)) cpSync(files, join(root, "images"), { recursive: true });
  writeFileSync(join(root, "tenon.yaml"), await renderDesired(desired, format));
  return desiredOf(root);
}

const FORMATS = ["text", "json"] as const;

describe("the expanded manifest of an example", () => {
  it.each([
    ["minimal", undefined],
    ["zone", undefined],
    ["fleet", undefined],
    ["network", "staging"],
    ["network", "production"],
    ["demo", undefined],
  ])("%s (environment %s) comes down to the same desired state, as YAML and as JSON", async (name, environment) => {
    const desired = await desiredOf(join(EXAMPLES, name), environment === undefined ? {} : { environment });
    expect(desired.declared.length).toBeGreaterThan(0);
    for (const format of FORMATS) {
      const reloaded = await again(desired, format, join(EXAMPLES, name, "images"));
      expect(withoutPlaces(reloaded)).toEqual(withoutPlaces(desired));
    }
  });
});

const EVERYTHING = `tenon: 1
owner: edge
account: "\${var.account}"
variables:
  account: {}
  hidden: {}
defaults:
  domain: { type: master, soa_email: a@example.com }
record_sets:
  mail: [{ type: MX, target: mx.example.net., priority: 10 }]
vpcs:
  - { label: a, region: us-east, description: null, protect: true, subnets: [] }
  - { label: b, region: us-east, description: "", id: 12 }
  - label: c
    region: us-east
    moved_from: old-c
    note: |
      Two lines,
      domains:
        - domain: not one
    subnets:
      - { label: web, ipv4: 10.0.1.0/24, note: "yes" }
domains:
  - domain: nulls.example
    id: 7
    description: null
    group: null
    axfr_ips: null
    ttl_sec: null
    tags: null
    status: disabled
  - { domain: empty.example, tags: [], axfr_ips: [], description: "", records: [] }
  - domain: slave.example
    type: slave
    soa_email: null
    master_ips: [192.0.2.53, "2001:db8::53"]
  - domain: büro.example
    use: [mail]
    records_policy: additive
    protect: true
    tags: ["010", "off", "null", "a: b", "#cd"]
    refresh_sec: 14400
    ignore:
      - { name: "*\\\\*x", type: TXT }
      - { target: "*.elb.example.net" }
      - { name: "@", type: A }
    records:
      - { type: TXT, name: "010", target: "\${var.hidden}" }
      - { type: TXT, name: "null", target: "null" }
      - { type: TXT, name: "*.dev", target: "" }
      - { type: TXT, target: "say \\"hi\\", 'you' \\\\ # : {a} [b] & * ! | > % @ \`" }
      - { type: TXT, name: long, target: "${"v=DKIM1 ".repeat(60)}x", ttl_sec: 300 }
      - { type: TXT, name: blank, target: " both ends " }
      - { type: CNAME, name: www, target: "@" }
      - { type: MX, name: none, target: . }
      - { type: NS, name: lab, target: ns, note: "delegated: to the lab" }
      - { type: PTR, name: p, target: p }
      - { type: SRV, service: sip, protocol: tcp, name: berlin, target: ., port: 0, priority: 0, weight: 0 }
      - { type: SRV, name: _x._udp, target: www, port: 5060, priority: 10, weight: 5 }
      - { type: CAA, tag: issuewild, target: ";" }
      - { type: CAA, tag: iodef, target: "mailto:a@example.com" }
      - { type: AAAA, targets: ["2001:db8::1", "2001:db8::2"] }
images:
  - { label: "it's, 1.0?", id: private/12, description: null, capture: { disk_id: 4, cloud_init: true } }
  - { label: "2026", moved_from: "2025", note: n, upload: { file: ./images/x.img.gz, region: us-east } }
removed:
  - { domain: old.example, ignore: [{ type: TXT }] }
  - { vpc: legacy, destroy: false }
  - { vpc: twice, id: 3 }
  - { image: "no", id: private/9 }
allow:
  - { replace: vpc/*, until: 2026-12-31, reason: "region: move" }
  - { bulk: 'domain/\\*.example' }
`;

describe("the expanded manifest", () => {
  /** A gzip member of nothing: what an upload has to begin with. */
  const gzip = Buffer.from("1f8b08000000000000030300000000000000000000", "hex");

  async function everything(): Promise<{ desired: Desired; root: string }> {
    const root = folder({ "tenon.yaml": EVERYTHING, "images/x.img.gz": gzip });
    const variables = { account: "prod-${var.x}", hidden: "a\u202eb\u0085c\u{e0041} ${x} $${zone} ${zone}" };
    return { desired: await desiredOf(root, { variables }), root };
  }

  it("keeps null, empty, absent, ignore, additive, protect, notes, ids, moves, removed and allow", async () => {
    const { desired, root } = await everything();
    for (const format of FORMATS) {
      const reloaded = await again(desired, format, join(root, "images"));
      expect(withoutPlaces(reloaded)).toEqual(withoutPlaces(desired));
    }
  });

  it("is the same when it is expanded again", async () => {
    const { desired, root } = await everything();
    for (const format of FORMATS) {
      const reloaded = await again(desired, format, join(root, "images"));
      expect(await renderDesired(reloaded, format)).toBe(await renderDesired(desired, format));
    }
  });

  it("has a line for each record, with absolute targets and without keys that say nothing", async () => {
    const { desired } = await everything();
    const lines = (await renderDesired(desired, "text")).split("\n");
    const records = desired.declared.flatMap(({ spec }) => (spec as { records?: unknown[] | null }).records ?? []);
    expect(lines.filter((line) => line.startsWith("      - { type: ") && line.endsWith(" }"))).toHaveLength(
      records.length,
    );
    expect(lines).toContain("      - { type: MX, target: mx.example.net., priority: 10 }");
    expect(lines).toContain("      - { type: CNAME, name: www, target: xn--bro-hoa.example. }");
    expect(lines).toContain("      - { type: MX, name: none, target: ., priority: 0 }");
    expect(lines).toContain("      - { label: web, ipv4: 10.0.1.0/24, note: yes }");
  });

  it("leaves nothing to look up, and shows what is hidden", async () => {
    const { desired } = await everything();
    for (const format of FORMATS) {
      const text = await renderDesired(desired, format);
      expect(text).not.toMatch(/(?<!\$)\$\{/);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(Object.keys(parse(text))).toEqual([
        "tenon",
        "owner",
        "account",
        "vpcs",
        "domains",
        "images",
        "removed",
        "allow",
      ]);
    }
  });

  it("keeps every text, of several lines or of blanks alone, wherever it stands", async () => {
    const parts = [
      " ",
      "  ",
      "\n",
      "\n\n",
      "\t",
      "a",
      ":",
      "?",
      "-",
      "#c",
      "%",
      "---",
      "...",
      "'",
      '"',
      "|",
      "&a",
      "!",
      "{",
      "]",
      ",",
    ];
    const text = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 }).map((all) => all.join(""));
    await fc.assert(
      fc.asyncProperty(text, async (of) => {
        const record = { type: "TXT", name: "a", target: of, note: of };
        const domain = { domain: "a.example", description: of, tags: [of, "b"], records: [record] };
        const manifest = { domains: [domain], allow: [{ delete: "vpc/a", reason: of }], "x-own": { [`x${of}`]: of } };
        expect(parse(await writeManifest(manifest, { units, arrangesRecords: false }))).toEqual(manifest);
      }),
      { numRuns: 500, examples: [[" \n"], ["\n\n  \n"], ["tag:\nxyz"], ["?\nb"], ["a\n%b"]] },
    );
  });

  it("of an empty project is one line", async () => {
    const desired = await desiredOf(folder({ "tenon.yaml": "tenon: 1\n" }));
    expect(await renderDesired(desired, "text")).toBe("tenon: 1\n");
  });

  it("writes 12,000 records, and four times the records with four times the work", async () => {
    const head =
      "tenon: 1\ndomains:\n  - domain: a.example\n    type: master\n    soa_email: a@a.example\n    records:\n";
    const linesOf = (count: number) =>
      Array.from({ length: count }, (_, index) => `      - { type: A, name: h${index}, target: 192.0.2.1 }`);
    const zoneOf = async (count: number): Promise<Desired> =>
      desiredOf(folder({ "tenon.yaml": `${head}${linesOf(count).join("\n")}\n` }));
    const lines = new Set((await renderDesired(await zoneOf(12_000), "text")).split("\n"));
    for (const line of linesOf(12_000)) expect(lines.has(line)).toBe(true);
    const [small, large] = [await zoneOf(1_000), await zoneOf(4_000)];
    expect(await growth(1_000, 4, (count) => renderDesired(count === 1_000 ? small : large, "text"))).toBeLessThan(5);
  });
});
