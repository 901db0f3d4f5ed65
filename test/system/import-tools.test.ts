/**
 * Imports of what the real Terraform and DNSControl write. Neither is in Debian: what is not on the PATH is named, and its cases are left
 * out; test/import has the files that they wrote. The Linode provider is looked for in `~/.terraform.d/plugins`, or in the folder that
 * TENON_TERRAFORM_PLUGINS names (see bench/peers/README.md).
 */

import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const execute = promisify(execFile);

type OpenServiceProxy = (request: {
  readonly openssl: string;
  readonly folder: string;
  readonly origin: string;
}) => Promise<{ readonly env: Readonly<Record<string, string>>; readonly close: () => void }>;

const SERVICE_PROXY = join(import.meta.dirname, "../../bench/peers/service-proxy.mjs");
const { openServiceProxy } = (await import(SERVICE_PROXY)) as {
  readonly openServiceProxy: OpenServiceProxy;
};

const FIXTURES = join(import.meta.dirname, "../fixtures");
const PLUGINS = process.env["TENON_TERRAFORM_PLUGINS"] ?? join(homedir(), ".terraform.d/plugins");
const hasTerraform = isOnPath("terraform");
const hasProvider = hasTerraform && holdsProvider(PLUGINS);
const hasDnscontrol = isOnPath("dnscontrol");

const missing = [
  ...(hasTerraform ? [] : ["terraform"]),
  ...(hasProvider ? [] : [`terraform's provider linode/linode in ${PLUGINS}`]),
  ...(hasDnscontrol ? [] : ["dnscontrol"]),
];
if (missing.length > 0) {
  process.stderr.write(`test/system/import-tools: left out, as there is no ${missing.join(", no ")}\n`);
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((directory) => existsSync(join(directory, program)));
}

function holdsProvider(directory: string): boolean {
  if (!existsSync(directory)) return false;
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return files.some((file) => basename(file).startsWith("terraform-provider-linode"));
}

/** Standard output of Terraform, which asks nobody for newer versions. */
async function terraform(cwd: string, ...args: readonly string[]): Promise<string> {
  const { TF_CLI_CONFIG_FILE: _, ...env } = process.env;
  const options = { cwd, env: { ...env, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" } };
  return (await execute("terraform", args, options)).stdout;
}

test.runIf(hasTerraform)("every resource of a state is named as Terraform lists it", async () => {
  const cwd = await folder({ "other.tfstate": '{"version":4,"serial":1,"lineage":"x","outputs":{},"resources":[]}' });
  for (const part of ["main.tf", "modules"]) {
    await cp(join(FIXTURES, "terraform/builtin", part), join(cwd, part), { recursive: true });
  }
  await terraform(cwd, "init", "-input=false");
  await terraform(cwd, "apply", "-input=false", "-auto-approve");
  const listed = (await terraform(cwd, "state", "list")).trim().split("\n");
  expect(listed).toHaveLength(12);
  await writeFile(join(cwd, "pulled.tfstate"), await terraform(cwd, "state", "pull"));
  await writeFile(join(cwd, "shown.json"), await terraform(cwd, "show", "-json"));
  for (const file of ["terraform.tfstate", "pulled.tfstate", "shown.json"]) {
    const { code, stderr } = await here(["import", "--from", "terraform", file, "--out", "new"], { cwd });
    const told = stderr.replace(/\s+/g, " ");
    expect(listed.filter((address) => !told.includes(address.replace(/\s+/g, " ")))).toEqual([]);
    expect([code, told.includes("nothing to import")]).toEqual([3, true]);
  }
});

test.runIf(hasProvider)(
  "what Terraform makes with its Linode provider comes in, and a plan of it is empty",
  async () => {
    const service = await emulator();
    const cwd = await folder({});
    const provider = { url: service.baseUrl.replace(/\/v4$/, ""), api_version: "v4", token: "emulator-token" };
    await writeFile(join(cwd, "provider.tf.json"), JSON.stringify({ provider: { linode: provider } }));
    const main = await readFile(join(FIXTURES, "terraform/main.tf"), "utf8");
    await writeFile(join(cwd, "main.tf"), main.replace(/^provider .*$/m, ""));
    const more = `resource "linode_domain" "copy" {
  domain     = "copy.example"
  type       = "slave"
  master_ips = ["192.0.2.53"]
}
`;
    await writeFile(join(cwd, "copy.tf"), more);
    await terraform(cwd, "init", "-input=false", `-plugin-dir=${PLUGINS}`);
    await terraform(cwd, "apply", "-input=false", "-auto-approve");
    await writeFile(join(cwd, "shown.json"), await terraform(cwd, "show", "-json"));
    await terraform(cwd, "plan", "-out", "the.plan", "-input=false");
    await writeFile(join(cwd, "plan.json"), await terraform(cwd, "show", "-json", "the.plan"));
    for (const file of ["terraform.tfstate", "shown.json", "plan.json"]) {
      const args = ["import", "--from", "terraform", file, "--out", `from-${file}`];
      const imported = await here(args, { cwd });
      expect(imported).toMatchObject({ code: 0, stderr: "" });
      expect(imported.stdout).toContain("Imported 1 VPC, 5 domains, 18 records");
      const planned = await here(["plan", `from-${file}`, "--detailed-exitcode"], { cwd, env: envOf(service) });
      expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No changes\./m) });
    }
  },
);

test.runIf(hasDnscontrol)("what DNSControl prints is what the fixture holds, and comes in", async () => {
  const cwd = await folder({});
  await cp(join(FIXTURES, "dnscontrol/dnsconfig.js"), join(cwd, "dnsconfig.js"));
  await execute("dnscontrol", ["print-ir", "--out", "ir.json"], { cwd });
  const args = ["import", "--from", "dnscontrol", "--skip-unsupported", "--soa-email", "a@a.example", "--out", "-"];
  const [fresh, kept] = [
    await here([...args, "ir.json"], { cwd }),
    await here([...args, join(FIXTURES, "dnscontrol/ir.json")], { cwd }),
  ];
  expect([fresh.code, fresh.stdout]).toEqual([0, kept.stdout]);
});

/** What its provider for the service accepts, of every type. */
const PUSHED = `var REG = NewRegistrar("none");
var LIN = NewDnsProvider("linode");
D("one.example", REG, DnsProvider(LIN), DefaultTTL(300),
  MX("@", 10, "mx1.example.net."), MX("@", 20, "mx2.example.net."), TXT("@", "v=spf1 include:_spf.example.net -all"),
  A("@", "192.0.2.1"), A("www", "192.0.2.2", TTL("1h")), AAAA("www", "2001:db8::2"), CNAME("blog", "www"),
  CNAME("shop", "stores.example.com."), SRV("_sip._tcp", 10, 5, 5060, "sip"), A("sip", "192.0.2.6"),
  CAA("@", "issue", "letsencrypt.org"), NS("lab", "ns1.lab.one.example."), A("ns1.lab", "192.0.2.53"),
  TXT("long", Array(400).join("é")));
D("bücher.example", REG, DnsProvider(LIN), A("straße", "198.51.100.9"));
`;

test.runIf(hasDnscontrol)("what DNSControl has pushed comes in, and a plan of it is empty", async () => {
  const domains = ["one.example", "xn--bcher-kva.example"].map((domain) => ({
    ...{ domain, type: "master" as const, soa_email: "a@a.example" },
  }));
  const service = await emulator({ seed: { domains } });
  const cwd = await folder({
    "creds.json": JSON.stringify({ none: { TYPE: "NONE" }, linode: { TYPE: "LINODE", token: "emulator-token" } }),
    "dnsconfig.js": PUSHED,
  });
  const origin = service.baseUrl.replace(/\/v4$/, "");
  const { env, close } = await openServiceProxy({ openssl: "openssl", folder: cwd, origin });
  onTestFinished(close);
  const options = { cwd, env: { ...process.env, ...env } };
  await execute("dnscontrol", ["push"], options);
  await execute("dnscontrol", ["print-ir", "--out", "ir.json"], { cwd });
  const imported = await here(
    ["import", "--from", "dnscontrol", "ir.json", "--soa-email", "a@a.example", "--out", "new"],
    {
      cwd,
    },
  );
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  expect(imported.stdout).toContain("Imported 2 domains, 15 records");
  const planned = await here(["plan", "new", "--detailed-exitcode"], { cwd, env: envOf(service) });
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No changes\./m) });
});
