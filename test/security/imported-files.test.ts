import { readdir, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { emulator, envOf, folder, run } from "../cli/run.ts";
import { domainOf, irOf } from "../support/dnscontrol.ts";
import { recordOf, resource, stateOf } from "../support/terraform.ts";

const SECRET = "hunter2-7f3a9c51e2d8b04c6e91";
const ZONE = { id: "7", domain: "a.example", type: "master", soa_email: "a@a.example" };

/** Everything that a run printed or wrote. */
async function traces(args: readonly string[], files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await folder(files);
  const { stdout, stderr } = await run(["import", ...args, "--out", "new"], { cwd });
  const written = await readdir(join(cwd, "new")).catch(() => []);
  const texts = await Promise.all(written.map((file) => readFile(join(cwd, "new", file), "utf8")));
  return [stdout, stderr, ...texts].join("\n");
}

test("what a state of Terraform holds beside networks, zones and images, or marks as sensitive, is neither shown nor written", async () => {
  const sensitive = { sensitive_attributes: [[{ type: "get_attr", value: "target" }]] };
  const whole = stateOf([
    resource("linode_domain", "a", ZONE),
    resource("linode_domain_record", "www", recordOf(1, 7, { name: "www", target: "192.0.2.1" })),
    resource("linode_domain_record", "key", recordOf(2, 7, { record_type: "TXT", name: "key", target: SECRET }), {
      instance: sensitive,
    }),
    resource("linode_instance", "web", { id: "3", root_pass: SECRET }),
  ]);
  const wrong = stateOf([resource("linode_instance", "web", { root_pass: SECRET }), { type: SECRET }]);
  for (const state of [whole, wrong, whole.slice(0, -40), whole.replace('"version": 4', '"version": 5'), SECRET]) {
    expect(await traces(["--from", "terraform", "a.tfstate"], { "a.tfstate": state })).not.toContain(SECRET);
  }
  expect(await traces(["--from", "terraform", "a.tfstate"], { "a.tfstate": whole })).toContain("192.0.2.1");
  const credentials = JSON.stringify({ linode: { TYPE: "LINODE", token: SECRET } }, null, 1);
  for (const text of [credentials, credentials.slice(0, -5)]) {
    expect(await traces(["--from", "dnscontrol", "creds.json"], { "creds.json": text })).not.toContain(SECRET);
  }
});

test("a file of Terraform or DNSControl steers no terminal and brings no key into the project", async () => {
  const hostile = "a\u001b[2J\u202e\n- evil: true";
  const state = stateOf([
    resource("linode_domain", "a", { ...ZONE, description: hostile }),
    resource("linode_domain_record", hostile, recordOf(1, 7, { record_type: "TXT", name: hostile, target: hostile })),
    resource("linode_vpc", "v", { id: "1", label: hostile, region: "us-east" }),
    resource(hostile, "x", {}),
  ]);
  const ir = irOf([
    domainOf("a.example", [
      { type: "A", name: "www", target: "192.0.2.1" },
      { type: hostile, name: hostile, target: hostile, filepos: hostile, meta: { [hostile]: hostile } },
      { type: "TXT", name: hostile, target: hostile },
    ]),
    domainOf(`b.example!${hostile}`, [], { dnsProviders: {} }),
  ]);
  const skip = "--skip-unsupported";
  for (const [args, files] of [
    [["--from", "terraform", "a.tfstate"], { "a.tfstate": state }],
    [["--from", "dnscontrol", "ir.json", skip], { "ir.json": ir }],
  ] as const) {
    const shown = await traces(args, files);
    expect(shown).toContain("a.example");
    for (const words of ["\u001b", "\u202e", "\n- evil"]) expect(shown).not.toContain(words);
  }
});

test("a file of a hundred megabytes, or of brackets alone, from Terraform or DNSControl is refused", async () => {
  for (const from of ["terraform", "dnscontrol"]) {
    const cwd = await folder({
      "large.json": "{",
      "deep.json": "[".repeat(4_000_000),
      "deep-maps.json": '{"a":'.repeat(900_000),
    });
    await truncate(join(cwd, "large.json"), 100 * 1024 ** 2);
    for (const [file, words] of [
      ["large.json", "it is larger than 64 MiB"],
      ["deep.json", "nested deeper than 128 levels"],
      ["deep-maps.json", "nested deeper than 128 levels"],
    ] as const) {
      const ended = await run(["import", "--from", from, file, "--out", "new"], { cwd });
      expect([from, file, ended.code === 1 || ended.code === 3, ended.stderr]).toEqual([
        ...[from, file, true],
        expect.stringContaining(words),
      ]);
    }
    expect((await readdir(cwd)).sort()).toEqual(["deep-maps.json", "deep.json", "large.json"]);
  }
});

test("a pattern of DNSControl is not written for each of thousands of types", async () => {
  const unmanaged = [{ label_pattern: "a".repeat(30_000), rType_pattern: "A,".repeat(30_000) }];
  const cwd = await folder({ "ir.json": irOf([domainOf("a.example", [], { unmanaged })]) });
  const { code, stderr } = await run(["import", "--from", "dnscontrol", "ir.json", "--out", "new"], { cwd });
  expect([code, stderr]).toEqual([3, expect.stringContaining("a.example has too many patterns of records to ignore")]);
  expect(await readdir(cwd)).toEqual(["ir.json"]);
});

test("texts of the account and of lists of accounts that have several lines are written as YAML that says the same", async () => {
  const lines = ["v:\nx", "?\nx", "- a\n%b"];
  const domains = lines.map((target, index) => ({
    ...{ id: index + 1, domain: `d${index}.example`, soa_email: "a@a.example", tags: ["tag:\nxyz"] },
    records: [{ type: "TXT", name: "x", target }],
  }));
  const service = await emulator({ seed: { domains } as never });
  const cwd = await folder({});
  const imported = await run(["import", "--out", "infra"], { cwd, env: envOf(service) });
  expect(imported).toMatchObject({ code: 0, stderr: expect.not.stringContaining("an error of Tenon") });
  const planned = await run(["plan", "--detailed-exitcode", "infra"], { cwd, env: envOf(service) });
  expect([planned.code, planned.stderr]).toEqual([0, expect.not.stringContaining("error")]);
  for (const [index, line] of lines.entries()) {
    const files = {
      "accounts.csv": `name,token_env,label.team\none,TOKEN_ONE,"${line}"\n`,
      "tenon.yaml": "tenon: 1\n",
    };
    const fleet = await folder(files);
    const made = await run(["fleet", "init", "--from", "accounts.csv", "--project", "."], { cwd: fleet });
    expect([index, made.code, made.stderr]).toEqual([index, 0, expect.not.stringContaining("error")]);
    const text = await readFile(join(fleet, "fleet.yaml"), "utf8");
    expect(parse(text).accounts[0].labels).toEqual({ team: line });
  }
});

test("a text of the account at its full length that holds ${ is imported, and a longer one is still too long", async () => {
  const tag = `\${${"a".repeat(48)}`;
  const texts = { tags: [tag], group: `\${${"g".repeat(48)}`, description: `\${${"d".repeat(251)}` };
  const service = await emulator({ seed: { domains: [{ domain: "a.example", soa_email: "a@a.example", ...texts }] } });
  const options = { cwd: await folder({}), env: envOf(service) };
  expect((await run(["import", "--out", "infra"], options)).code).toBe(0);
  expect((await run(["plan", "--detailed-exitcode", "infra"], options)).code).toBe(0);
  const longer = JSON.stringify(`$${tag}a`);
  const entry = `{ domain: a.example, type: master, soa_email: a@a.example, tags: [${longer}] }`;
  const { code, stderr } = await run(["validate"], {
    cwd: await folder({ "tenon.yaml": `tenon: 1\ndomains: [${entry}]\n` }),
  });
  expect([code, stderr]).toEqual([3, expect.stringContaining("error[too-long]")]);
});
