import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "./run.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");

describe("tenon import from an account", () => {
  it("writes a project that plans empty, and says what comes next", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = envOf(service);
    await here(["apply", "--yes"], { cwd, env });
    const imported = await here(["import", "--owner", "edge", "--split", "--out", "infra"], { cwd, env });
    expect(imported).toEqual({
      code: 0,
      stdout: "Imported 1 VPC, 1 domain, 2 records into infra (2 files).\nNext: tenon plan infra\n",
      stderr: "",
    });
    expect(await readdir(join(cwd, "infra/zones"))).toEqual(["example.com.yaml"]);
    const planned = await here(["plan", "infra", "--detailed-exitcode"], { cwd, env });
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No changes\./m) });
    expect(await here(["fmt", "infra", "--check"], { cwd })).toMatchObject({ code: 0, stdout: "" });
  });

  it("tells what belongs to somebody else, and with which flag it comes", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    await here(["apply", "--yes"], { cwd, env: envOf(service) });
    const imported = await here(["import", "--out", "infra"], { cwd, env: envOf(service) });
    expectPlain(imported, 1, ["--owner edge", "nothing-to-import"]);
  });

  it("needs a connection", async () => {
    expectPlain(await here(["import", "--out", "x"], { cwd: await folder({}) }), 1, ["base URL"]);
  });
});

describe("tenon import --out -", () => {
  it("prints the manifest that a folder would get, and writes nothing", async () => {
    const cwd = await folder({
      "a.zone": "$ORIGIN a.example.\n@ SOA ns hostmaster 1 2 3 4 5\nwww A 192.0.2.1\nx HINFO a b\n",
    });
    const args = ["import", "--from", "zone", "a.zone", "--soa-email", "a@a.example", "--skip-unsupported", "--out"];
    const printed = await here([...args, "-"], { cwd });
    expect(printed).toMatchObject({ code: 0, stderr: expect.stringContaining("HINFO") });
    expect(await readdir(cwd)).toEqual(["a.zone"]);
    await here([...args, "folder"], { cwd });
    expect(printed.stdout).toBe(await readFile(join(cwd, "folder/tenon.yaml"), "utf8"));
  });

  it("is told apart from what makes several documents", async () => {
    const cwd = await folder({});
    expectPlain(await here(["import", "--split", "--out", "-"], { cwd }), 1, ["--split"]);
    const asJson = await here(["import", "--format", "json", "--out", "-"], { cwd });
    expect(asJson).toMatchObject({ code: 1, stderr: expect.stringContaining("--out - prints the manifest") });
    expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: false, error_count: 1 });
  });

  it.each(["zone", "octodns"])("--from %s takes one --domain only", async (from) => {
    const args = ["import", "--from", from, "a.zone", "--domain", "a.example", "--domain", "b.example", "--out", "x"];
    const ended = await here(args, { cwd: await folder({ "a.zone": "www A 192.0.2.1\n" }) });
    expectPlain(ended, 1, ["--domain names the one zone of one file"]);
  });
});

describe("tenon import from files", () => {
  it("of octoDNS stops at what cannot be held, and comes in without it", async () => {
    const cwd = await folder({});
    const args = ["import", "--from", "octodns", join(FIXTURES, "octodns"), "--out", "dns"];
    expectPlain(await here(args, { cwd }), 3, ["unit.tests.yaml:22: SSHFP @: not supported", "--skip-unsupported"]);
    expect(await readdir(cwd)).toEqual([]);
    const imported = await here([...args, "--skip-unsupported"], { cwd });
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining("1 domain, 27 records") });
  });

  it("of octoDNS with numbers that cannot be held writes nothing, and leaves them out by line when asked to", async () => {
    const zone =
      "'':\n  type: MX\n  values:\n    - { exchange: a.test., preference: 500 }\n    - { exchange: b.test., preference: 5 }\n";
    const cwd = await folder({ "octo/a.test.yaml": zone });
    const args = ["import", "--from", "octodns", "octo", "--soa-email", "a@a.test", "--out", "dns"];
    expectPlain(await here(args, { cwd }), 3, ["octo/a.test.yaml:4: MX @: ", "500", "--skip-unsupported"]);
    expect(await readdir(cwd)).toEqual(["octo"]);
    const imported = await here([...args, "--skip-unsupported"], { cwd });
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining("1 domain, 1 record") });
  });

  it("of what validate refuses says so, with the codes", async () => {
    const zone = '$TTL 300\n@ SOA ns1 host 1 2 3 4 5\n@ TXT "v=spf1 -all"\n@ TXT "v=spf1 +mx -all"\nwww CNAME www\n';
    const cwd = await folder({ "a.test.zone": zone });
    const imported = await here(["import", "--from", "zone", "a.test.zone", "--out", "dns"], { cwd });
    expect(imported.code).toBe(0);
    expect(imported.stderr.replace(/\n +/g, " ")).toContain(
      "validate refuses what was imported: cname-loop (1), multiple-spf (1)",
    );
    expect((await here(["validate", "dns"], { cwd })).code).toBe(3);
  });

  it("of a real zone names every record that it leaves out, by line", async () => {
    const cwd = await folder({});
    const file = join(FIXTURES, "zones/example.org.zone");
    const args = ["import", "--from", "zone", file, "--skip-unsupported", "--out", "dns"];
    const imported = await here(args, { cwd });
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining("1 domain, 258 records") });
    const told = imported.stderr.replace(/\n +/g, " ");
    expect(told).toMatch(/example\.org\.zone: SOA \(line \d+\) and NS \(lines \d+-\d+\) belong to the old service/);
    expect(told.match(/^\S+example\.org\.zone:\d+: \S+ \S+: not supported: /gm)).toHaveLength(86);
    expect(imported.stderr.split("\n").filter((line) => line.length > 80 && line.includes(" ", 3))).toEqual([]);
  });

  it("of a broken zone file writes nothing, and shows the line", async () => {
    const cwd = await folder({ "a.example.zone": "$TTL 1h\n@ A 192.0.2.1\nwww A not-an-address\n" });
    expectPlain(await here(["import", "--from", "zone", "a.example.zone", "--out", "dns"], { cwd }), 3, [
      "a.example.zone:3",
    ]);
    expect(await readdir(cwd)).toEqual(["a.example.zone"]);
  });
});

describe("a source that tenon import cannot use", () => {
  it.each([
    ["is not there", "none.zone", 1, "there is no such file"],
    ["is a folder", ".", 1, "for example dir/*.zone"],
    ["is wrong", "a.example.zone", 3, "a.example.zone:2"],
  ])("and that %s", async (_, path, code, words) => {
    const cwd = await folder({ "a.example.zone": "$TTL 1h\nwww A x\n" });
    expectPlain(await here(["import", "--from", "zone", path, "--out", "dns"], { cwd }), code, [words]);
  });
});

describe("a folder that cannot be made", () => {
  it("is an error, and no wait without end", async () => {
    const cwd = await folder({ "a.example.zone": "$TTL 1h\n@ A 192.0.2.1\n" });
    const args = ["import", "--from", "zone", "a.example.zone", "--out", "/proc/tenon/deeper"];
    expectPlain(await here(args, { cwd }), 1, ["cannot write to /proc/tenon/deeper"]);
  });
});

describe("what is there already", () => {
  const zone = "$TTL 1h\n@ A 192.0.2.1\n";
  const args = ["import", "--from", "zone", "a.example.zone", "--soa-email", "a@a.example"];

  it("is not overwritten without --force, and nothing is written beside it", async () => {
    const cwd = await folder({ "a.example.zone": zone, "tenon.yaml": "mine\n" });
    expectPlain(await here([...args, "--split", "--out", "."], { cwd }), 4, ["tenon.yaml", "--force"]);
    expect((await readdir(cwd)).sort()).toEqual(["a.example.zone", "tenon.yaml"]);
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toBe("mine\n");
    expect(await here([...args, "--split", "--out", ".", "--force"], { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toContain("tenon: 1");
  });

  it("is never loaded beside what is imported, and never removed", async () => {
    const cwd = await folder({ "a.example.zone": zone, "zones/gone.example.yaml": "tenon: 1\n" });
    const refused = await here([...args, "--split", "--out", ".", "--force"], { cwd });
    expectPlain(refused, 4, ["zones/gone.example.yaml", "Remove it if nobody needs it"]);
    expect((await readdir(cwd)).sort()).toEqual(["a.example.zone", "zones"]);
    expect(await readdir(join(cwd, "zones"))).toEqual(["gone.example.yaml"]);
  });

  it("is no way out of the folder: links are refused", async () => {
    const cwd = await folder({ "a.example.zone": zone });
    const outside = await folder({});
    await symlink(outside, join(cwd, "link"));
    expectPlain(await here([...args, "--out", "link", "--force"], { cwd }), 4, ["symbolic link"]);
    await mkdir(join(cwd, "dns"));
    await symlink(outside, join(cwd, "dns/zones"));
    expectPlain(await here([...args, "--split", "--out", "dns", "--force"], { cwd }), 4, ["symbolic link"]);
    await writeFile(join(outside, "x"), "x");
    await symlink(join(outside, "x"), join(cwd, "dns/tenon.yaml"));
    expectPlain(await here([...args, "--out", "dns", "--force"], { cwd }), 4, ["not a regular file"]);
    expect(await readdir(outside)).toEqual(["x"]);
    expect(await readFile(join(outside, "x"), "utf8")).toBe("x");
  });
});

describe("many zone files", () => {
  it("are told together: what belongs to the old service is counted, and named in JSON", async () => {
    const names = Array.from({ length: 1_200 }, (_, index) => `d${index}.example`);
    const text = (name: string) => `$ORIGIN ${name}.
@ 300 IN SOA ns1 hostmaster 1 300 300 1209600 300
@ 300 NS ns1.old.example.
@ 300 NS ns2.old.example.
www 300 A 192.0.2.1
`;
    const cwd = await folder(Object.fromEntries(names.map((name) => [`${name}.zone`, text(name)])));
    const args = ["import", "--from", "zone", ...names.map((name) => `${name}.zone`)];
    const { code, stderr } = await here([...args, "--out", "a"], { cwd });
    expect(code).toBe(0);
    expect(stderr).toBe(
      "1,200 files (d0.example.zone, d1.example.zone, d2.example.zone and 1,197 more):\n" +
        "   1,200 SOA and 2,400 NS belong to the old service and are left out\n",
    );
    const data = await here([...args, "--out", "b", "--format", "json"], { cwd });
    expect(JSON.parse(data.stdout).left_out).toHaveLength(3_600);
  });
});

describe("wrong use", () => {
  it.each([
    [["import"], "neither --out nor --into is given"],
    [["import", "--from", "zone", "--out", "x"], "no file is given"],
    [["import", "a.zone", "--out", "x"], "no files"],
    [["import", "--from", "zone", "a", "b", "--domain", "c.example", "--out", "x"], "one zone of one file"],
    [["import", "--from", "octodns", "a", "--images", "--out", "x"], "live account"],
    [["import", "--owner", "Not One", "--out", "x"], "is not a valid owner"],
    [["import", "--from", "bind", "--out", "x"], "Allowed choices"],
    [["import", "--from", "zone", "a", "--soa-email", "nonsense", "--out", "x"], "--soa-email nonsense is no e-mail"],
  ])("%j", async (args, words) => {
    expectPlain(await here(args, { cwd: await folder({}) }), 1, [words]);
  });
});
