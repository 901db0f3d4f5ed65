import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { ACTIVE, acted } from "./active.ts";
import { expectPlainText } from "./hostile.ts";

test("markdown of a plan cannot be steered by what a manifest or the account says", async () => {
  const text = JSON.stringify(ACTIVE);
  const manifest = `tenon: 1
vpcs: [{ label: a, region: us-east, description: ${JSON.stringify(ACTIVE.slice(0, 200))}, note: ${text} }]
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    note: ${text}
    records: [{ type: TXT, name: t, target: ${JSON.stringify(ACTIVE.replaceAll("\n", " "))}, note: ${text} }]
`;
  const records = [{ type: "TXT", name: "old", target: ACTIVE.replaceAll("\n", " ") }];
  const zone = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com", records };
  const service = await emulator({ seed: { domains: [zone] } as never });
  const cwd = await folder({ "tenon.yaml": manifest });
  const { code, stdout, stderr } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(service) });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("evil");
  expectPlainText(stdout);
  const active = acted(stdout).replace(/\\([!-/:-@[-`{-~])/g, "");
  for (const sign of [
    /\]\(https:\/\/evil/,
    /<img/i,
    /<script/i,
    /evil5/,
    /@everyone/,
    /<!-- evil/,
    /^\s*#+ evil/m,
    /https:\/\/evil/,
  ]) {
    expect(active).not.toMatch(sign);
  }
});
