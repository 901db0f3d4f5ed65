/** The benchmark beside other tools, with a program in the place of one of them: neither is there where tests run. */

import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const RUN = join(import.meta.dirname, "../../bench/peers/run.mjs");

/** Asks the address of its configuration, as the provider would, and notes how it was called and what is there. */
const STAND_IN = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const { provider: { linode }, resource } = JSON.parse(readFileSync("main.tf.json", "utf8"));
const headers = { authorization: "Bearer " + linode.token };
fetch(linode.url + "/" + linode.api_version + "/domains", { headers }).then(async (answer) => {
  const { results } = await answer.json();
  const call = { words: process.argv.slice(2), results, records: Object.keys(resource.linode_domain_record ?? {}).length };
  appendFileSync("calls.jsonl", JSON.stringify(call) + "\\n");
});
`;

test("other tools are given the emulator's address, those that are missing are named, and the others are in the table", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenon-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const terraform = join(folder, "terraform");
  await writeFile(terraform, STAND_IN);
  await chmod(terraform, 0o755);
  const plugins = join(folder, "plugins");
  await mkdir(plugins);
  await writeFile(join(plugins, "terraform-provider-linode_1.0.0_linux_amd64.zip"), "");
  const kept = join(folder, "kept");
  const tools = ["--terraform", terraform, "--terraform-plugins", plugins, "--dnscontrol", join(folder, "dnscontrol")];
  const words = [RUN, ...tools, "--keep", kept, "--only", "one record"];
  const { stdout } = await promisify(execFile)(process.execPath, words);

  expect(stdout).toContain(`DNSControl is left out: missing is ${join(folder, "dnscontrol")} (--dnscontrol PATH)\n`);
  expect(stdout).not.toContain("Terraform is left out");
  const rows = stdout.split("\n").filter((line) => line.startsWith("| plan of one record"));
  expect(rows.map((row) => row.split(" | ")[1])).toEqual(["Tenon", "Terraform"]);
  for (const row of rows) expect(row).toMatch(/ \| \d+\.\d\d s \| \d+\.\d\d s \| (?:\d+ MiB|–) \|$/);

  const calls = (await readFile(join(kept, "terraform-0-0/calls.jsonl"), "utf8")).trimEnd().split("\n");
  const ofOne = { results: 0, records: 1 };
  const plan = { words: ["plan", "-input=false", "-detailed-exitcode"], ...ofOne };
  // Each time the emulator has answered, with no zone: they are the tool's to make.
  expect(calls.map((call) => JSON.parse(call))).toEqual([
    { words: ["init", "-input=false", `-plugin-dir=${plugins}`], ...ofOne },
    { words: ["apply", "-auto-approve", "-input=false"], ...ofOne },
    ...[plan, plan, plan],
  ]);
});

test("a tool without what it needs is left out, with the name of that", async () => {
  const nothing = join(tmpdir(), "tenon-test-of-nothing");
  const words = [
    "--terraform",
    process.execPath,
    "--terraform-plugins",
    nothing,
    "--dnscontrol",
    nothing,
    "--only",
    "-",
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...words]);
  expect(stdout).toContain(`Terraform is left out: missing is its Linode provider in ${nothing}`);
});
