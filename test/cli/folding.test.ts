/** Plans of many zones, as a person reads them: what is alike is shown once, by `plan`, `show` and `apply`. */

import { describe, expect, it } from "vitest";
import { emulator, envOf, folder, run } from "./run.ts";

const brands = (count: number): string[] => Array.from({ length: count }, (_, index) => `brand${index + 1}.example`);

/** All zones have the records of one set; the account has them with another mail server, and one zone has a record of its own. */
async function project(count: number) {
  const names = brands(count);
  const mx = (target: string) => ({ type: "MX" as const, name: "", target, priority: 10, ttl_sec: 300 });
  const txt = (zone: string) => ({
    type: "TXT" as const,
    name: "_dmarc",
    target: `v=DMARC1; p=none; rua=mailto:dmarc@${zone}`,
    ttl_sec: 300,
  });
  const domains = names.map((domain, index) => ({
    id: index + 1,
    domain,
    soa_email: "a@example.com",
    records: [mx("mx1.example.net"), txt(domain)],
  }));
  const service = await emulator({ seed: { domains } });
  const extra = "{ domain: brand7.example, use: [mail], records: [{ type: A, name: www, target: 192.0.2.7 }] }";
  const cwd = await folder({
    "tenon.yaml": `tenon: 1
defaults: { domain: { type: master, soa_email: a@example.com }, record: { ttl_sec: 300 } }
record_sets:
  mail:
    - { type: MX, target: mx2.example.net., priority: 10 }
    - { type: TXT, name: _dmarc, target: "v=DMARC1; p=reject; rua=mailto:dmarc@\${zone}" }
domains:
  - ${extra}
  - { domain: [${names.filter((name) => name !== "brand7.example").join(", ")}], use: [mail] }
`,
  });
  return { service, options: { cwd, env: envOf(service) } };
}

const FOLDED = `  38 domains alike: brand1.example … brand39.example
    \${zone} is the name of each
  ~ @      MX  10 mx1.example.net → 10 mx2.example.net ttl 300
  ~ _dmarc TXT ttl 300
      - "v=DMARC1; p=none; rua=mailto…
      + "v=DMARC1; p=reject; rua=mailto…

  domain brand7.example
  ~ @      MX  10 mx1.example.net → 10 mx2.example.net ttl 300
  ~ _dmarc TXT ttl 300
      - "v=DMARC1; p=none; rua=mailto… (49 bytes)
      + "v=DMARC1; p=reject; rua=mailto… (51 bytes)
  + www    A   192.0.2.7 ttl 300

What is alike is shown once; --full shows each.
Applying this takes 80 requests.

Plan: 1 to add, 78 to change, 0 to destroy.
`;

describe("a record set that changes in 39 zones", () => {
  it("is one entry of the plan, of a saved plan, and of what is shown before an apply", async () => {
    const { service, options } = await project(39);
    const planned = await run(["plan", "--out", "the.plan"], options);
    expect(planned.stdout).toBe(FOLDED);
    expect(planned.stdout.split("\n").length).toBeLessThanOrEqual(24);
    const shown = await run(["show", "the.plan"], options);
    expect(shown.stdout).toBe(planned.stdout);
    const asked = await run(["apply", "--plan", "the.plan"], options);
    expect(asked).toMatchObject({ code: 1, stdout: planned.stdout });
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    const whole = await run(["plan", "--full"], options);
    expect(whole.stdout.match(/^ {2}domain brand\d+\.example$/gm)).toHaveLength(39);
    expect(whole.stdout).toContain(
      "  domain brand7.example\n  ~ @      MX  10 mx1.example.net → 10 mx2.example.net ttl 300\n",
    );
    expect(whole.stdout.indexOf("domain brand2.example")).toBeLessThan(whole.stdout.indexOf("domain brand10.example"));
    expect((await run(["show", "the.plan", "--full"], options)).stdout).toBe(whole.stdout);
    const data = JSON.parse((await run(["plan", "--format", "json"], options)).stdout);
    expect(
      data.resource_changes.filter(({ change }: { change: { actions: string[] } }) => change.actions[0] === "update"),
    ).toHaveLength(78);
  });
});

describe("a record set that changes in 1,000 zones", () => {
  it("is one entry of the plan, and 1,000 with --full", async () => {
    const { options } = await project(1000);
    const { stdout } = await run(["plan"], options);
    expect(stdout).toContain("  999 domains alike: brand1.example … brand1000.example\n");
    expect(stdout.split("\n").length).toBeLessThanOrEqual(24);
    const whole = await run(["plan", "--full"], options);
    expect(whole.stdout.match(/^ {2}domain /gm)).toHaveLength(1000);
  });
});

describe("a warning of 40 records", () => {
  const records = Array.from(
    { length: 40 },
    (_, index) => `      - { type: A, name: h${index}, target: 192.0.2.1, ttl_sec: 299 }`,
  );
  const manifest = `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records:
${records.join("\n")}
`;

  it("is shown with three places and counted, behind every error, and 40 times with --full", async () => {
    const cwd = await folder({ "tenon.yaml": `${manifest}      - { type: A, name: bad, target: nowhere }\n` });
    const folded = await run(["validate"], { cwd });
    expect(folded.code).toBe(3);
    expect(folded.stderr.startsWith("error[")).toBe(true);
    expect(folded.stderr.match(/^warning\[rounded-seconds\]: (?!and)/gm)).toHaveLength(3);
    expect(folded.stderr).toContain("warning[rounded-seconds]: and 37 more like these; --full shows each\n");
    expect(folded.stderr).toMatch(/\n1 error, 40 warnings\n$/);
    const whole = await run(["validate", "--full"], { cwd });
    expect(whole.stderr.match(/^warning\[rounded-seconds\]: /gm)).toHaveLength(40);
    const data = JSON.parse((await run(["validate", "--format", "json"], { cwd })).stdout);
    expect(data.diagnostics ?? data).toHaveLength(41);
  });
});

describe("errors with one code", () => {
  const manifest = (count: number, record: (index: number) => string) => {
    const records = Array.from({ length: count }, (_, index) => `      - ${record(index)}\n`).join("");
    return `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records:
${records}`;
  };

  it.each([
    ["bad-address", (index: number) => `{ type: A, name: h${index}, target: nowhere }`],
    ["cname-loop", (index: number) => `{ type: CNAME, name: h${index}, target: h${index} }`],
  ])("are three and a count: 2,000 of %s", async (code, record) => {
    const cwd = await folder({ "tenon.yaml": manifest(2_000, record) });
    const { code: exit, stderr } = await run(["validate"], { cwd });
    expect(exit).toBe(3);
    expect(stderr.match(new RegExp(`^error\\[${code}\\]: (?!and)`, "gm"))).toHaveLength(3);
    expect(stderr).toContain(`error[${code}]: and 1,997 more like these; --full shows each\n`);
    const data = JSON.parse((await run(["validate", "--format", "json"], { cwd })).stdout);
    expect(data.diagnostics.filter((one: { code: string }) => one.code === code)).toHaveLength(2_000);
    const whole = await run(["validate", "--full"], { cwd });
    expect(whole.stderr.match(new RegExp(`^error\\[${code}\\]: `, "gm"))?.length).toBeGreaterThan(900);
  });

  it("are each told, if they are few: twelve slips are mended one by one", async () => {
    const cwd = await folder({
      "tenon.yaml": manifest(12, (index) => `{ type: A, name: h${index}, target: nowhere }`),
    });
    const { stderr } = await run(["validate"], { cwd });
    expect(stderr.match(/^error\[/gm)).toHaveLength(12);
  });
});
