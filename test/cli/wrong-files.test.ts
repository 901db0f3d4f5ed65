/** Files of one tool that are handed to the import of another: each is named, nothing of it is shown, and the exit code follows one rule. */

import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { expectPlain, folder, run } from "./run.ts";

const IR = '{"dns_providers":{"p":{"token":"hunter2"}},"domains":[{"name":"a.test","records":[]}]}';
const STATE = '{"version":4,"terraform_version":"1.9.0","outputs":{"password":{"value":"hunter2"}},"resources":[]}';
const SHOWN = '{"format_version":"1.0","terraform_version":"1.9.0","values":{"outputs":{"p":{"value":"hunter2"}}}}';

/** The exit code is 1 for a file of another kind than `--from` says, and 3 for one of that kind in which something is wrong. */
const OTHERS: readonly (readonly [from: string, file: string, text: string, said: string])[] = [
  ["octodns", "ir.json", IR, "ir.json is what `dnscontrol print-ir` prints"],
  ["octodns", "a.test.yaml", IR, "Import it with --from dnscontrol."],
  ["octodns", "state.json", STATE, "state.json is a state of Terraform"],
  ["zone", "a.test.zone", IR, "Import it with --from dnscontrol."],
  ["zone", "a.test.zone", SHOWN, "Import it with --from terraform."],
  ["terraform", "ir.json", IR, "Import it with --from dnscontrol."],
  ["terraform", "list.json", "[]", "is neither a state of Terraform"],
  ["dnscontrol", "state.json", STATE, "Import it with --from terraform."],
  ["dnscontrol", "list.json", "[]", "is not what `dnscontrol print-ir` prints"],
];

describe("an import of a file of another kind", () => {
  test.each(OTHERS)("is an error with exit code 1: %s of %s, %s", async (from, file, text, said) => {
    const cwd = await folder({ [file]: text });
    const args = ["import", "--from", from, file, "--out", "out", "--soa-email", "a@a.test"];
    const result = await run(from === "terraform" ? args.slice(0, -2) : args, { cwd });
    expectPlain(result, 1, [said]);
    expect(result.stderr).not.toContain("hunter2");
    expect(await readdir(cwd)).toEqual([file]);
  });
});

test.each([
  ["octodns", "a.test.yaml", "www: [1]\n"],
  ["zone", "a.test.zone", "$TTL 300\nwww A 192.0.2.300\n"],
  ["terraform", "a.tfstate", '{"version":3,"resources":[]}'],
  [
    "dnscontrol",
    "ir.json",
    '{"dns_providers":{"p":{}},"domains":[{"name":"a.test","dnsProviders":{"p":-1},"records":[{"type":"A"}]}]}',
  ],
])("an import of a file of its kind in which something is wrong ends with 3: %s", async (from, file, text) => {
  const cwd = await folder({ [file]: text });
  const args = ["import", "--from", from, file, "--out", "out", "--soa-email", "a@a.test"];
  expect((await run(from === "terraform" ? args.slice(0, -2) : args, { cwd })).code).toBe(3);
  expect(await readdir(cwd)).toEqual([file]);
});

test("a project that declares nothing is planned without a request, and the plan says that nothing was asked", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\n" });
  const env = { TENON_BASE_URL: "http://127.0.0.1:1/v4", TENON_TOKEN: "wrong" };
  const { code, stdout, stderr } = await run(["plan"], { cwd, env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("No changes.") });
  expect(stderr).toBe(
    "The project declares nothing, so the service was not asked: neither address nor token was tried.\n",
  );
});
