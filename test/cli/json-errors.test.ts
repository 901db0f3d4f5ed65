/** `--format json` prints JSON on stdout whatever goes wrong: one document, or of a stream one last line. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { here } from "./here.ts";
import { expectLines } from "./lines.ts";
import { emulator, envOf, folder, PROJECT } from "./run.ts";

const schema = JSON.parse(readFileSync(new URL("../../schemas/validation.schema.json", import.meta.url), "utf8"));
const fits = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

const COMMANDS = [["plan"], ["drift"], ["apply", "--yes"], ["destroy", "--yes"], ["import", "--out", "new"]];
const INVALID = "tenon: 1\ndomains:\n  - { domain: a.example, typ: master }\n";

/** What is wrong, the exit code, and the code of the first error. */
const SITUATIONS: readonly [
  string,
  { manifest?: string; env?: Record<string, string>; args?: string[] },
  number,
  string,
][] = [
  ["an invalid manifest", { manifest: INVALID }, 3, "unknown-key"],
  ["no token", { env: { TENON_TOKEN: "" } }, 1, "token-missing"],
  ["a token that is none", { env: { TENON_TOKEN: "two words" } }, 1, "token-invalid"],
  ["a token that is not accepted", { env: { TENON_TOKEN: "not-accepted" } }, 1, "service-refused"],
  ["no base URL", { env: { TENON_BASE_URL: "" } }, 1, "base-url-missing"],
  [
    "nobody there",
    { env: { TENON_BASE_URL: "http://127.0.0.1:9/v4" }, args: ["--retry-for", "1s"] },
    1,
    "service-unreachable",
  ],
  ["an unknown environment", { args: ["--env", "nosuch"] }, 1, "unknown-environment"],
  ["another account", { manifest: `${PROJECT}account: other\n` }, 4, "wrong-account"],
  ["a target that matches nothing", { args: ["--target", "vpc/nosuch"] }, 1, "unmatched-target"],
];
/** An import has no manifest, and nothing to choose in it. */
const OF_MANIFESTS = new Set([
  "an invalid manifest",
  "an unknown environment",
  "another account",
  "a target that matches nothing",
]);

it.each(COMMANDS)("%s", async (...command) => {
  const service = await emulator();
  const isStream = command[0] === "apply" || command[0] === "destroy";
  for (const [what, { manifest = PROJECT, env = {}, args = [] }, exit, code] of SITUATIONS) {
    if (command[0] === "import" && OF_MANIFESTS.has(what)) continue;
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: { ...envOf(service), ...env } };
    const ended = await here([...command, "--format", "json", ...args], options);
    expect([what, ended.code]).toEqual([what, exit]);
    const document = JSON.parse(ended.stdout);
    const { type, ...rest } = document;
    expect([what, type]).toEqual([what, isStream ? "error" : undefined]);
    if (isStream) expectLines([document]);
    expect([what, fits(rest), fits.errors]).toEqual([what, true, null]);
    const errors = rest.diagnostics.filter(({ severity }: { severity: string }) => severity === "error");
    expect([what, errors[0]?.code, rest.valid, rest.error_count]).toEqual([what, code, false, errors.length]);
    // People read the same on stderr.
    expect(ended.stderr).toContain("error");
    expect(ended.stdout).not.toContain("not-accepted");
  }
});

it("an import that succeeds is one document, too", async () => {
  const records = [{ type: "A" as const, name: "www", target: "192.0.2.1" }];
  const service = await emulator({ seed: { domains: [{ domain: "a.example", soa_email: "a@a.example", records }] } });
  const zone = "$ORIGIN b.example.\n@ SOA ns hostmaster 1 2 3 4 5\nwww A 192.0.2.1\nx HINFO a b\n";
  const options = { cwd: await folder({ "b.zone": zone }), env: envOf(service) };
  const isImport = new Ajv2020({ allErrors: true }).compile(
    JSON.parse(readFileSync(new URL("../../schemas/import.schema.json", import.meta.url), "utf8")),
  );
  const documentOf = async (...args: string[]) => {
    const ended = await here(["import", "--format", "json", ...args], options);
    expect(ended).toMatchObject({ code: 0 });
    const document = JSON.parse(ended.stdout);
    expect([isImport(document), isImport.errors]).toEqual([true, null]);
    return document;
  };
  expect(await documentOf("--out", "live")).toEqual({
    format_version: 1,
    out: "live",
    files: ["tenon.yaml"],
    imported: { vpcs: 0, domains: 1, records: 1, images: 0 },
    left_out: [],
  });
  const zoneArgs = ["--from", "zone", "b.zone", "--soa-email", "a@b.example", "--skip-unsupported", "--out", "zones"];
  const { imported, left_out } = await documentOf(...zoneArgs);
  expect(imported).toMatchObject({ domains: 1, records: 1 });
  expect(left_out).toEqual([
    { file: "b.zone", line: 2, type: "SOA", name: "", reason: "service", detail: expect.any(String) },
    { file: "b.zone", line: 4, type: "HINFO", name: "x", reason: "unsupported", detail: expect.any(String) },
  ]);
});

it("a plan that is refused is a plan that has errored, and the only document", async () => {
  const domains = [{ domain: "example.com", soa_email: "a@example.com", tags: ["tenon:others"] }];
  const service = await emulator({ seed: { domains } });
  const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
  const ended = await here(["plan", "--format", "json"], options);
  const plan = JSON.parse(ended.stdout);
  expect(ended.code).toBe(4);
  expect(plan).toMatchObject({ errored: true, applyable: false, complete: false });
  expect(plan.tenon.refusals).toEqual([expect.objectContaining({ code: "foreign-owner" })]);
  const planSchema = JSON.parse(readFileSync(new URL("../../schemas/plan.schema.json", import.meta.url), "utf8"));
  const isPlan = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(planSchema);
  expect([isPlan(plan), isPlan.errors]).toEqual([true, null]);
});

it("a stream that began ends with an error where nobody can be asked, and where there is no journal", async () => {
  const service = await emulator();
  const options = { cwd: await folder({ "tenon.yaml": PROJECT, "a-file": "" }), env: envOf(service) };
  for (const [args, code] of [
    [[], "consent-not-asked"],
    [["--yes", "--journal", "a-file/journal"], "journal-"],
  ] as const) {
    const ended = await here(["apply", "--format", "json", ...args], options);
    const lines = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expectLines(lines);
    expect(ended.code).toBe(1);
    expect(lines.map(({ type }) => type)).toEqual(["plan", "error"]);
    expect(lines[1].diagnostics[0].code).toContain(code);
  }
});
