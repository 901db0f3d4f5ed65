import { execFileSync } from "node:child_process";
/** `tenon zone` and `apply --verify` as processes, as far as Node alone can show. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { type Asking, startAsked } from "../support/scripted-asked.ts";
import { address, soa } from "../support/scripted-nameserver.ts";
import { here as run } from "./here.ts";
import { expectLines } from "./lines.ts";
import { emulator, ended, envOf, expectPlain, folder, start } from "./run.ts";

const PROJECT = `tenon: 1
defaults: { domain: { type: master, soa_email: hostmaster@example.com } }
domains:
  - domain: example.com
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
      - { type: A, target: 192.0.2.1 }
      - { type: MX, target: mx.example.net., priority: 10 }
      - { type: TXT, target: "v=spf1 mx -all" }
      - { type: TXT, name: _dmarc, target: "v=DMARC1; p=reject" }
  - domain: bücher.example
    records: [{ type: NS, target: ns1.example.net. }, { type: NS, target: ns2.example.net. }]
  - { domain: open.example }
  - { domain: copy.example, type: slave, master_ips: [192.0.2.53] }
  - { domain: off.example, status: disabled, records: [{ type: A, target: 192.0.2.9 }] }
`;

/** TTLs that the service keeps, of domains and records alike; 0 is the default. */
const TTLS = [0, 300, 3600, 86_400, 2_419_200];

describe("zone export", () => {
  it.each(TTLS)("comes back by import as it was, from a zone of the TTL %d", async (ttl_sec) => {
    const records = TTLS.map((ttl, index) => ({
      type: "A" as const,
      name: `a${index}`,
      target: "192.0.2.1",
      ttl_sec: ttl,
    }));
    const domain = { domain: "a.example", soa_email: "a@a.example", ttl_sec, records };
    const service = await emulator({ seed: { domains: [domain] } });
    const options = { cwd: await folder({}), env: envOf(service) };
    for (const args of [
      ["zone", "export", "a.example", "--out", "a.zone"],
      ["import", "--from", "zone", "a.zone", "--out", "dns"],
    ])
      expect(await run(args, options)).toMatchObject({ code: 0 });
    const planned = await run(["plan", "dns"], options);
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining("No changes.") });
    const read = await run(["show", "--expanded", "dns", "--format", "json"], options);
    const { domains } = JSON.parse(read.stdout);
    expect(domains[0].ttl_sec ?? 86_400).toBe(ttl_sec === 0 ? 86_400 : ttl_sec);
  });

  it("writes the declared zone to stdout, and errors to stderr", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const args = ["zone", "export", "Bücher.Example", "--from-manifest"];
    const { code, stdout, stderr } = await run(args, { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    // The serial is of today.
    expect(stdout).toMatch(
      /^\$ORIGIN xn--bcher-kva\.example\.\n.*\n@ +IN SOA +ns1\.example\.net\. .* 20\d\d[01]\d[0-3]\d00 14400 /,
    );
    expectPlain(await run(["zone", "export", "nope.example", "--from-manifest", cwd]), 1, ["no domain nope.example"]);
  });

  it("of the account takes names, times and serial from the service", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = envOf(service);
    expect((await run(["apply", "--yes"], { cwd, env })).code).toBe(0);
    const { code, stdout } = await run(["zone", "export", "example.com"], { env });
    expect(code).toBe(0);
    expect(stdout.match(/ NS +ns[1-5]\.node\.com\./g)).toHaveLength(5);
    expect(stdout).toMatch(/SOA +ns1\.node\.com\. hostmaster\.example\.com\. 1\d{9} 14400 14400 1209600 86400/);
    // Not rendered while it is disabled.
    const off = await run(["zone", "export", "off.example"], { env });
    expect(off.stdout).toContain("nameserver.invalid.");
    expectPlain(await run(["zone", "export", "copy.example"], { env }), 1, ["copy of its master"]);
    expect((await run(["zone", "export", "example.com", "--out", join(cwd, "zone")], { env })).code).toBe(0);
    expect(await readFile(join(cwd, "zone"), "utf8")).toBe(stdout);
  });
});

describe("zone export --out", () => {
  const from = ["zone", "export", "bücher.example", "--from-manifest"];

  it("- is stdout, and no file of that name", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const printed = await run(from, { cwd });
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining("SOA") });
    expect(await run([...from, "--out", "-"], { cwd })).toEqual(printed);
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });

  it("overwrites nothing unless that is asked for", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT, there: "mine\n" });
    expectPlain(await run([...from, "--out", "there"], { cwd }), 4, ["there is there already", "--force"]);
    expect(await readFile(join(cwd, "there"), "utf8")).toBe("mine\n");
    expect((await run([...from, "--out", "there", "--force"], { cwd })).code).toBe(0);
    expect(await readFile(join(cwd, "there"), "utf8")).toContain("SOA");
  });

  it("says which folder is not there, and that a folder is no file", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    expectPlain(await run([...from, "--out", "no/where"], { cwd }), 1, ["there is no folder no Make it first"]);
    expectPlain(await run([...from, "--out", "."], { cwd }), 1, ["is a folder"]);
    // A pipe, as a device, is written to as it is.
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    const reading = readFile(join(cwd, "pipe"), "utf8");
    expect((await run([...from, "--out", "pipe"], { cwd })).code).toBe(0);
    expect(await reading).toContain("SOA");
  });

  it("without a name says what has taken it", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    expectPlain(await run(["zone", "export"], { cwd }), 1, ["no zone is given", "tenon zone export NAME"]);
    expectPlain(await run(["zone", "export", "--from-manifest", "b.example"], { cwd }), 1, [
      "`b.example` was taken for the folder: put the name first, or write --from-manifest=DIR",
    ]);
    expect((await run(["zone", "export", "--from-manifest=.", "bücher.example"], { cwd })).code).toBe(0);
  });
});

describe("zone check", () => {
  it("lints the declared zones, or the named ones", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT.replace(/.*spf1.*\n/, "") });
    const all = await run(["zone", "check"], { cwd });
    expect(all.stderr).toContain("warning[mx-without-spf]");
    expect(all.code).toBe(0);
    const one = await run(["zone", "check", "--domain", "bücher.example"], { cwd });
    expect(one).toMatchObject({ code: 0, stderr: "", stdout: "Checked 1 zone: no problems.\n" });
    const json = await run(["zone", "check", "--domain", "example.com", "--format", "json"], { cwd });
    expect(JSON.parse(json.stdout).diagnostics.map(({ code }: { code: string }) => code)).toEqual(["mx-without-spf"]);
    expectPlain(await run(["zone", "check", "--domain", "nope.example"], { cwd }), 1, ["no domain nope.example"]);
  });

  it("--strict fails for warnings, and says so", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT.replace(/.*spf1.*\n/, "") });
    const args = ["zone", "check", "--strict"];
    expectPlain(await run(args, { cwd }), 3, ["mx-without-spf", /\nerror: warnings are errors with --strict\n$/]);
    expect((await run([...args, "--domain", "bücher.example"], { cwd })).code).toBe(0);
    expect((await run([...args, "--format", "json"], { cwd })).code).toBe(3);
  });

  it("--live with none but dead servers has found out nothing, which is 1", async () => {
    const cwd = await folder({ "tenon.yaml": ADDRESS });
    const dead = createServer().listen(0, "127.0.0.1");
    await once(dead, "listening");
    const at = `127.0.0.1:${(dead.address() as AddressInfo).port}`;
    await new Promise((resolve) => dead.close(resolve));
    const args = ["zone", "check", "--live", "--nameserver", at];
    const { code, stdout } = await run(args, { cwd });
    expect(stdout.match(/did not answer over/g)?.length).toBeLessThanOrEqual(2);
    expect(stdout).not.toContain("not answering");
    expect(code).toBe(1);
    const server = await startAsked(holder);
    const beside = await run([...args, "--nameserver", `${server.host}:${server.port}`], { cwd });
    expect(beside.code).toBe(2);
  });

  it.each([
    [["--live", "--strict"], "--live does not lint"],
    [["--delegation"], "only with --live"],
    [["--live", "--parent", "127.0.0.1"], "--parent is for --delegation"],
    [["--live", "--nameserver", "10.1"], "is no name server"],
  ])("with %j ends before anything is asked", async (args, words) => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    expectPlain(await run(["zone", "check", ...args], { cwd }), 1, [words]);
  });

  it("--live asks for the named zones, and tells what it does not ask for", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const server = await startAsked(holder);
    const at = `${server.host}:${server.port}`;
    const names = ["--domain", "example.com", "--domain", "off.example"];
    const { code, stdout } = await run(["zone", "check", "--live", "--nameserver", at, ...names], { cwd });
    expect(server.asked.some(({ text }) => text.includes("off.example"))).toBe(false);
    expect(stdout.replace(/\s+/g, " ")).toContain("off.example is declared disabled: nothing of it is asked for.");
    // The scripted server has but addresses, and of another TTL.
    expect(stdout).toMatch(/missing example\.com MX\n/);
    expect(code).toBe(2);
  });
});

/** Has every zone, and one address for every name. */
function holder({ text, send, reply }: Asking): void {
  const [name = "", type] = text.split(" ");
  if (type === "SOA") send(reply({ answers: [soa(name)] }));
  else send(reply({ answers: type === "A" ? [address(name)] : [] }));
}

const ADDRESS = `tenon: 1
domains:
  - { domain: example.com, type: master, soa_email: hostmaster@example.com, records: [{ type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }] }
`;

describe("apply --verify", () => {
  const schema = JSON.parse(readFileSync(new URL("../../schemas/report.schema.json", import.meta.url), "utf8"));
  const isReport = new Ajv2020({ strict: false }).compile(schema);

  it("asks for what was changed, and keeps the report in its format", async () => {
    const [service, server] = [await emulator(), await startAsked(holder)];
    const [cwd, env] = [await folder({ "tenon.yaml": ADDRESS }), envOf(service)];
    const at = `${server.host}:${server.port}`;
    const args = ["apply", "--yes", "--verify", "--nameserver", at, "--verify-timeout", "0s", "--format", "json"];
    const good = await run(args, { cwd, env });
    const lines = good.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.some(({ type }) => type === "verify-progress")).toBe(true);
    expectLines(lines);
    const report = lines.at(-1);
    expect(isReport(report), JSON.stringify(isReport.errors)).toBe(true);
    expect(report.verification).toMatchObject({
      verified: true,
      asked: 4,
      there: 4,
      zones: [{ zone: "example.com", servers: [at] }],
    });
    expect(good.code).toBe(0);

    const changed = await folder({ "tenon.yaml": ADDRESS.replace("192.0.2.1", "192.0.2.2") });
    const bad = await run(args, { cwd: changed, env });
    const last = JSON.parse(bad.stdout.trim().split("\n").at(-1) ?? "");
    expect(isReport(last), JSON.stringify(isReport.errors)).toBe(true);
    expect(last).toMatchObject({
      failed: 0,
      resources: { changed: 1 },
      verification: { verified: false, asked: 4, there: 2 },
    });
    expect(bad.code).toBe(6);
  });

  it("does nothing with a nameserver that is none", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": ADDRESS });
    const args = ["apply", "--yes", "--verify", "--nameserver", "ns1.example.com:99999"];
    expectPlain(await run(args, { cwd, env: envOf(service) }), 1, ["is no name server"]);
    expect(service.requests).toEqual([]);
  });

  it("interrupted, says what is not there yet, and that the apply is done", async () => {
    const [service, server] = [await emulator(), await startAsked(() => {})];
    const cwd = await folder({ "tenon.yaml": ADDRESS });
    const at = `${server.host}:${server.port}`;
    const child = start(["apply", "--yes", "--verify", "--nameserver", at], { cwd, env: envOf(service) });
    const ending = ended(child);
    await expect.poll(() => server.asked.length, { timeout: 20_000 }).toBeGreaterThan(0);
    child.kill("SIGINT");
    const { code, stdout } = await ending;
    expect(stdout).toMatch(/Apply complete! [\s\S]*Not verified: .*interrupted\.\n$/);
    expect(code).toBe(130);
  });
});
