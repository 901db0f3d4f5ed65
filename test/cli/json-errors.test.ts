/** `--format json` prints JSON on stdout whatever goes wrong: one document, or of a stream one last line. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { withJsonErrors } from "../../src/cli/output.ts";
import { here } from "./here.ts";
import { expectLines } from "./lines.ts";
import { emulator, envOf, folder, PROJECT, run } from "./run.ts";
import { stage } from "./stage.ts";

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
    already: [],
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

const IN_THE_WAY = { "here/tenon.yaml": "tenon: 1\n", "a.zone": "$ORIGIN a.example.\n$TTL 1h\n@ A 192.0.2.1\n" };

/** What is wrong with a command, and the code that programs know it by. */
const WRONG_USE: readonly [code: string, args: readonly string[], files?: Readonly<Record<string, string>>][] = [
  ["base-unknown", ["plan", "--base", "./nosuch"]],
  ["base-unknown", ["plan", "--base", ""]],
  ["conflicting-options", ["apply", "--nameserver", "ns1.example.net"]],
  ["conflicting-options", ["apply", "--verify", "--parent", "192.0.2.1"]],
  ["conflicting-options", ["import", "--out", "-", "--split"]],
  ["conflicting-options", ["import", "--from", "zone", "a.zone", "--out", "o", "--vpc", "prod"]],
  ["conflicting-options", ["import", "--from", "zone", "a.zone", "b.zone", "--out", "o", "--domain", "a.example"]],
  ["conflicting-options", ["plan", "--live", "live.json", "--concurrency", "2"]],
  ["conflicting-options", ["zone", "check", "--live", "--strict"]],
  ["consent-not-asked", ["apply"]],
  ["file-exists", ["import", "--from", "zone", "a.zone", "--out", "here", "--soa-email", "a@a.example"], IN_THE_WAY],
  ["file-unwritable", ["plan", "--out", "nosuch/plan"]],
  ["invalid-argument", ["import", "--out", "o", "--owner", "No Owner"]],
  ["invalid-argument", ["import", "--from", "zone", "a.zone", "--out", "o", "--soa-email", "nobody"]],
  ["invalid-argument", ["plan", "--allow", "erase=vpc/a"]],
  ["invalid-argument", ["plan", "--concurrency", "0"]],
  ["invalid-argument", ["plan", "--fail-on", "rain"]],
  ["missing-argument", ["import", "--from", "zone", "--out", "o"]],
  ["missing-argument", ["show"]],
  ["missing-option", ["import"]],
  ["missing-value", ["plan", "--format", "json", "--target"]],
  ["plan-file-as-project", ["plan", "a.plan"], { "a.plan": '{"format_version":"1.2","applyable":true}' }],
  ["plan-file-unreadable", ["apply", "--plan", "nosuch.plan"]],
  ["plan-file-unreadable", ["show", "nosuch.plan"]],
  ["snapshot-unreadable", ["plan", "--live", "nosuch.json"]],
  ["unexpected-argument", ["import", "a.zone", "--out", "o"]],
  ["unexpected-argument", ["plan", "a", "b"]],
  ["unknown-command", ["plam"]],
  ["unknown-command", ["zone", "exprot"]],
  ["unknown-environment", ["show", "--expanded", "--env", "nosuch"]],
  ["unknown-option", ["--nosuch"]],
  ["unknown-option", ["apply", "--auto-approve"]],
  ["unknown-option", ["destroy", "--nosuch"]],
  ["unknown-option", ["validate", "--nosuch"]],
  ["dialect-invalid", ["validate", "--dialect", "a/b"]],
];

it.each(WRONG_USE)("a wrong use is JSON with a code of its own: %s, %j", async (code, args, files = {}) => {
  const service = await emulator();
  const options = { cwd: await folder({ "tenon.yaml": PROJECT, ...files }), env: envOf(service) };
  const ended = await here([...args, ...(args.includes("--format") ? [] : ["--format", "json"])], options);
  const lines = ended.stdout.trimEnd().split("\n");
  const isStream = args[0] === "apply" || args[0] === "destroy";
  const { type, ...document } = JSON.parse(isStream ? (lines.at(-1) ?? "") : ended.stdout);
  expect([type, fits(document), fits.errors]).toEqual([isStream ? "error" : undefined, true, null]);
  expect(document.diagnostics.map((one: { code: string }) => one.code)).toEqual([code]);
  expect(ended.code).toBe(code === "file-exists" ? 4 : 1);
  // People read the same on stderr, as without the flag.
  expect(ended.stderr).toContain("error");
  const told = document.diagnostics[0].summary;
  expect(ended.stderr.replace(/\s+/g, " ")).toContain(told.replace(/\s+/g, " "));
  expect(told).not.toMatch(/^error/);
});

it("what is wrong with a command line comes with what to do", async () => {
  const adviceOn = async (...args: string[]) => {
    const { stdout, stderr, code } = await run([...args, "--format=json"]);
    expect(code).toBe(1);
    const [{ summary, fix }] = JSON.parse(stdout).diagnostics;
    expect(stderr).toContain(summary);
    return [summary, fix];
  };
  expect(await adviceOn("plam")).toEqual(["unknown command 'plam'", "Did you mean plan?"]);
  expect(await adviceOn("plan", "--ot", "x")).toEqual(["unknown option '--ot'", "Did you mean --out?"]);
  expect(await adviceOn("plan", "--nosuch")).toEqual([
    "unknown option '--nosuch'",
    "tenon plan --help shows what there is.",
  ]);
  expect(await adviceOn("plan", "--concurrency", "0")).toEqual([
    "option '--concurrency <n>' does not take '0'",
    "Write a number from 1 to 64.",
  ]);
  expect(await adviceOn("apply", "--auto-approve")).toEqual(["unknown option '--auto-approve'", "Use --yes."]);
});

it("a command that has no --format json, or is not asked for it, prints none", async () => {
  for (const args of [
    ["plan", "--nosuch"],
    ["plan", "--format", "json", "--nosuch", "--format", "text"],
    ["plan", "--format", "markdown", "--nosuch"],
    ["plan", "a", "b", "--", "--format", "json"],
  ]) {
    const { stdout, code } = await here(args, {});
    expect([args, code, stdout]).toEqual([args, 1, ""]);
  }
});

it("a bug is told as JSON, too, and is thrown all the same", async () => {
  const bug = () => Promise.reject(new Error("a bug\nof ours"));
  for (const stream of [true, false]) {
    const { terminal, printed } = stage({});
    await expect(withJsonErrors(terminal, { format: "json", stream }, bug)).rejects.toThrow("a bug");
    const { type, diagnostics } = JSON.parse(printed());
    expect([type, diagnostics]).toEqual([
      stream ? "error" : undefined,
      [expect.objectContaining({ code: "internal-error", summary: "an error of Tenon: a bug" })],
    ]);
  }
});
