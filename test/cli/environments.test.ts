/** `tenon validate` in each environment, and flags that are known on every command. */

import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, folder, run } from "./run.ts";

const PROJECT = `tenon: 1
variables: { env: {}, region: { default: us-east } }
environments:
  staging: { variables: { env: staging } }
  production: { variables: { env: production, region: us-west } }
vpcs: [{ label: "\${var.env}", region: "\${var.region}" }]
`;

async function validate(text: string, ...args: string[]) {
  return here(["validate", ...args], { cwd: await folder({ "tenon.yaml": text }) });
}

interface Printed {
  readonly diagnostics: readonly { readonly code: string; readonly detail: string }[];
}

async function found(text: string, ...args: string[]): Promise<string[]> {
  const { stdout } = await validate(text, "--format", "json", ...args);
  return (JSON.parse(stdout) as Printed).diagnostics.map(({ code, detail }) => `${code}: ${detail}`);
}

describe("validate without --env", () => {
  test("checks every environment, and says so", async () => {
    expect(await validate(PROJECT)).toEqual({
      code: 0,
      stdout: "The manifest is valid: 1 declared.\nChecked with --env staging, --env production.\n",
      stderr: "",
    });
  });

  test("checks the project without one as well, if all variables have values then", async () => {
    const { stdout } = await validate(PROJECT.replace("env: {}", "env: { default: dev }"));
    expect(stdout).toContain("\nChecked without --env, and with --env staging, --env production.\n");
    expect((await validate(PROJECT, "--var", "env=other")).stdout).toContain("\nChecked without --env, and with");
  });

  test("tells a problem of all of them once, and of some with their names", async () => {
    const text = PROJECT.replace("us-west", '""').replace("vpcs:", "vpcss: []\nvpcs:");
    const result = await validate(text);
    expect(result).toMatchObject({ code: 3, stdout: "" });
    expect(result.stderr.match(/error\[unknown-key\]/g)).toHaveLength(1);
    expect(result.stderr).toMatch(
      /error\[bad-format\][\s\S]*Found with --env\s+production\.[\s\S]*2 errors\nChecked with --env staging/,
    );
    const [first, second] = await found(text);
    expect(first).toMatch(/^unknown-key: (?!.*Found with)/);
    expect(second).toMatch(/^bad-format: .* Found with --env production\.$/);
  });

  test("tells a problem once, whatever values the environments put into its words", async () => {
    const text = PROJECT.replace('label: "${var.env}"', 'label: "${var.env}_x"').replace("env: staging", "env: a b");
    expect(await found(text)).toEqual([expect.stringMatching(/^bad-label: (?!.*Found with)/)]);
  });

  test("tells what an environment forgets to set", async () => {
    const text = PROJECT.replace("{ default: us-east }", "{}");
    expect(await found(text)).toEqual([expect.stringMatching(/^missing-variable: .* Found with --env staging\.$/)]);
    expect((await validate(text)).code).toBe(1);
  });

  test("reads the files that only one environment names, and shows their lines", async () => {
    const cwd = await folder({
      "tenon.yaml":
        'tenon: 1\nvariables: { f: {} }\nenvironments: { a: { variables: { f: one } }, b: { variables: { f: two } } }\nfiles: ["${var.f}.yaml"]\n',
      "one.yaml": "tenon: 1\n",
      "two.yaml": "tenon: 1\nvpcs:\n  - { label: ü, region: us-east }\n",
    });
    const { code, stderr } = await here(["validate"], { cwd });
    expect(code).toBe(3);
    expect(stderr).toContain("two.yaml:3:14");
    expect(stderr).toContain(" 3 |   - { label: ü, region: us-east }");
    expect(stderr).toMatch(/Found with --env\s+b\./);
  });

  test("counts what they declare", async () => {
    const text = `${PROJECT}files: ["\${var.env}*.yaml"]\n`;
    const cwd = await folder({
      "tenon.yaml": text,
      "staging.yaml": "tenon: 1\nvpcs: [{ label: b, region: us-east }]\n",
    });
    expect((await here(["validate"], { cwd })).stdout).toContain("valid: 1 to 2 declared, 1 warning.\n");
    expect((await here(["validate", "--strict"], { cwd })).code).toBe(3);
  });

  test("bounds the environments, and says how many are left", async () => {
    const names = Array.from({ length: 130 }, (_, index) => `e${index}: { variables: { env: v${index} } }`);
    const { code, stdout, stderr } = await validate(PROJECT.replace(/staging: .*\n.*\n/, `${names.join("\n  ")}\n`));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("error[too-many-environments]: 30 environments were not checked\n");
    expect(stderr).toContain("fix: Check each environment by itself, with --env NAME.\n");
    expect(stderr).toContain("--env e9 and 90 more; 30 more environments were not checked.");
  });

  test("shows a hostile name of an environment escaped", async () => {
    const { stderr } = await validate(PROJECT.replace("staging:", '"a\\e[31mb":'));
    expect(stderr).toContain("\nChecked with --env 'a\\u{1b}[31mb', --env production.\n");
  });
});

test("validate with --env checks that one alone", async () => {
  const broken = PROJECT.replace("us-west", '""');
  expect(await validate(broken, "--env", "staging")).toEqual({
    code: 0,
    stdout: "The manifest is valid: 1 declared.\n",
    stderr: "",
  });
  expect(await found(broken, "--env", "production")).toEqual([expect.stringMatching(/^bad-format: (?!.*Found with)/)]);
});

describe("on every command", () => {
  test("--no-color is NO_COLOR", async () => {
    const env = { ...envOf(await emulator()), FORCE_COLOR: "1" };
    const cwd = await folder({ "tenon.yaml": PROJECT.replace("{}", "{ default: dev }") });
    const coloured = await run(["plan"], { cwd, env });
    const plain = await run(["plan", "--no-color"], { cwd, env });
    expect(coloured.stdout).toContain("\u001b[");
    expect(plain).toEqual({ ...coloured, stdout: stripVTControlCharacters(coloured.stdout) });
    expect((await run(["--no-color", "plan", "--env", "x"], { cwd, env })).stderr).not.toContain("\u001b[");
  });

  test.each([
    ["--quiet", "2>/dev/null"],
    ["-q", "2>/dev/null"],
    ["--verbose", "TENON_DEBUG=1"],
    ["-v", "TENON_DEBUG=1"],
    ["--region", "its `region` in the manifest"],
    ["--region=us-east", "its `region` in the manifest"],
  ])("%s is answered with what to use", async (flag, words) => {
    for (const command of ["plan", "apply", "validate", "import --out x"]) {
      const { code, stdout, stderr } = await here([...command.split(" "), flag]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`error: unknown option '${flag}': `);
      expect(stderr).toContain(words);
      expect(stderr).not.toContain("Did you mean");
    }
  });

  test("-v alone is the version, and the help names what is known everywhere", async () => {
    expect((await here(["-v"])).stdout).toBe((await here(["--version"])).stdout);
    expect((await here(["--help"])).stdout).toContain("--no-color");
  });
});
