import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { folder, run } from "../cli/run.ts";
import { type Account, domainsOf, fleetOf, PROJECT } from "../support/fleet.ts";

test("no command of an account of a fleet sees the token of another, nor what names another service", async () => {
  const { cwd, env, accounts } = await fleetOf(2);
  const [first, second] = accounts as [Account, Account];
  // Without a token of its own, the second would take those that lie around.
  const given = { TOKEN_A1: env["TOKEN_A1"] ?? "", TENON_TOKEN: "emulator-token", LINODE_TOKEN: "emulator-token" };
  const around = { ...given, TENON_BASE_URL: first.service.baseUrl, TENON_SERVICE: "linode", TENON_ACCOUNT: "x" };
  const bin = await folder({ git: '#!/bin/sh\nenv >> "$(dirname "$0")/seen"\nexit 1\n' });
  await chmod(join(bin, "git"), 0o755);
  const { code, stdout } = await run(["fleet", "apply", "--yes", "--select", "name=*"], {
    cwd,
    env: { ...around, PATH: `${bin}:${process.env["PATH"]}` },
  });
  expect(code).toBe(1);
  expect(stdout).toContain("no token is set: TOKEN_A2 is empty");
  expect(await domainsOf(second)).toEqual([]);
  expect(await domainsOf(first)).toEqual(["a1.example"]);
  expect(await readFile(join(bin, "seen"), "utf8")).not.toMatch(/emulator-token|TOKEN_A|TENON_/);
});

test("a document of a fleet that holds its account's token is not kept", async () => {
  const { cwd, env } = await fleetOf(1);
  await writeFile(join(cwd, "project/tenon.yaml"), PROJECT.replace("grüße", "emulator-token"));
  const { code, stdout } = await here(["fleet", "plan", "--format", "json"], { cwd, env });
  expect([code, stdout.includes("emulator-token")]).toEqual([1, false]);
  const [account] = JSON.parse(stdout).accounts;
  expect(account).toMatchObject({ document: null, headline: expect.stringContaining("the account's token") });
});

test("what an account prints is shown without its token, wherever the token is", async () => {
  const { cwd, env } = await fleetOf(2);
  await writeFile(join(cwd, "project/tenon.yaml"), PROJECT.replace("grüße", "emulator-token"));
  await writeFile(join(cwd, "a2.token"), "emulator-token\n");
  const fleet = await readFile(join(cwd, "fleet.yaml"), "utf8");
  await writeFile(join(cwd, "fleet.yaml"), fleet.replace("{ env: TOKEN_A2 }", "{ file: a2.token }"));
  for (const format of ["text", "markdown", "html"]) {
    const { code, stdout } = await here(["fleet", "plan", "--format", format], { cwd, env });
    expect([format, code, stdout.includes("emulator-token")]).toEqual([format, 1, false]);
    expect(stdout).toContain("[redacted]");
  }
});
