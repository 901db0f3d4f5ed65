/** docs/how-to/pipeline.md: tokens with exactly the scopes of its table are enough to plan and to apply. */

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";

const GUIDE = readFileSync(join(import.meta.dirname, "../../docs/how-to/pipeline.md"), "utf8");
const IMAGE = `${PROJECT}images:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n`;
/** A subnet that goes, and something in it: only who may read interfaces can name its address. */
const HELD = {
  vpcs: [
    { label: "prod", region: "us-east", description: "[tenon:edge]", subnets: [{ label: "old", ipv4: "10.0.9.0/24" }] },
  ],
  nodes: [{ id: 123, interfaces: [{ id: 456, subnet: "prod/old", active: true }] }],
};

/** The scopes that the table gives to a secret. */
function scopesOf(secret: string): string[] {
  const row = new RegExp(`^\\| \`${secret}\` \\|[^|]*\\|([^|]*)\\|$`, "m").exec(GUIDE)?.[1] ?? "";
  return [...row.matchAll(/`([a-z]+:[a-z_]+)`/g)].map(([, scope = ""]) => scope);
}

async function world(scopes: readonly string[], seed: object) {
  const service = await emulator({ seed: { ...seed, tokens: [{ token: "emulator-token", scopes: [...scopes] }] } });
  const cwd = await folder({ "tenon.yaml": IMAGE });
  await writeFile(join(cwd, "golden.img.gz"), gzipSync("disk"));
  return { service, options: { cwd, env: envOf(service) } };
}

it("the token that may read plans networks, zones and images, and names the interfaces that hold a subnet", async () => {
  const scopes = scopesOf("TENON_TOKEN_READ");
  expect(scopes).toHaveLength(4);
  const { options } = await world(scopes, HELD);
  const planned = await here(["plan"], options);
  expect(planned).toMatchObject({ code: 0, stderr: "" });
  for (const words of ["vpc prod", "domain example.com", "image golden", "10.0.9.2"])
    expect(planned.stdout).toContain(words);
  expect((await here(["drift"], options)).code).toBe(2);
  expect((await here(["live", "--out", "live.json"], options)).stderr).not.toContain("warning");
  // It can do nothing else.
  expect((await here(["apply", "--yes"], options)).code).toBe(6);
});

it("each scope of the token that may read is needed", async () => {
  const scopes = scopesOf("TENON_TOKEN_READ");
  for (const missing of scopes) {
    const { options } = await world(
      scopes.filter((scope) => scope !== missing),
      HELD,
    );
    const { code, stdout } = await here(["plan"], options);
    expect([missing, code === 0 && stdout.includes("10.0.9.2")]).toEqual([missing, false]);
  }
});

it("the token that may write applies networks, zones and images", async () => {
  const scopes = scopesOf("TENON_TOKEN").filter((scope) => scope !== "nodes:read_only");
  const { options } = await world(scopes, {});
  expect((await here(["apply", "--yes"], options)).code).toBe(0);
  expect((await here(["drift"], options)).code).toBe(0);
});
