import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { folder } from "../cli/run.ts";
import { codes, loadText } from "../manifest/support.ts";
import { refuse, SECRET } from "./hostile.ts";

test("no reference of a manifest reads the environment, a file or a program", async () => {
  const references = ["env.TENON_TOKEN", "TENON_TOKEN", "process.env.TENON_TOKEN", "file:/etc/hostname", "zone.x", ""];
  for (const reference of [...references, "__proto__", "constructor.name", "var", "$(id)", "`id`", "cmd:id"]) {
    const result = await loadText(`vpcs: [{ label: "\${${reference}}", region: us-east }]\n`);
    expect([reference, codes(result)]).toEqual([reference, ["unknown-reference"]]);
  }
  // What a shell would take for a reference is text like any other.
  const text = await loadText('vpcs: [{ label: a, region: us-east, description: "$TENON_TOKEN $(id) `id` %PATH%" }]\n');
  expect(text.project?.desired.declared[0]?.spec).toMatchObject({ description: "$TENON_TOKEN $(id) `id` %PATH%" });
});

test("a variable without a value is never filled from the environment, whatever its name", async () => {
  const names = ["TENON_TOKEN", "token", "PATH"];
  const env = { token: SECRET, TENON_VAR_token: SECRET, TF_VAR_token: SECRET, VAR_token: SECRET, TENON_TOKEN: SECRET };
  const manifest = `tenon: 1\nvariables: { ${names.map((name) => `${name}: {}`).join(", ")} }\n`;
  const vpcs = `vpcs: [${names.map((name) => `{ label: "\${var.${name}}", region: us-east }`).join(", ")}]\n`;
  const { stderr } = await refuse(await folder({ "tenon.yaml": manifest + vpcs }), ["missing-variable"], {
    code: 1,
    env,
  });
  for (const name of names) expect(stderr).toContain(`variable \`${name}\` has no value`);
});

test("the name of an environment, which a plan repeats for each object that another one declares, has at most a hundred characters", async () => {
  const manifest = (name: string) =>
    `tenon: 1\nvariables: { p: { default: b } }\nenvironments:\n  ? ${name}\n  : { variables: { p: a } }\n`;
  for (const [length, code, said] of [
    [100, 0, "valid"],
    [101, 3, "error[too-long]: the name of the environment is too long\n  --> tenon.yaml:4:5"],
    [16_200, 3, "[too-long]"],
  ] as const) {
    const cwd = await folder({ "tenon.yaml": manifest("e".repeat(length)) });
    const ended = await run(["validate", "--env", "e".repeat(length)], { cwd });
    expect([length, ended.code, ended.stdout + ended.stderr]).toEqual([length, code, expect.stringContaining(said)]);
  }
});
