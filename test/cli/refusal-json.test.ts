import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { expectLines } from "./lines.ts";
import { emulator, envOf, folder, PROJECT } from "./run.ts";

/** With its one line, which fits the schema. */
async function refused(manifest: string, seed: object, more: { reviewed?: string; flags?: string[] } = {}) {
  const service = await emulator({ seed: seed as never });
  const options = { cwd: await folder({ "tenon.yaml": more.reviewed ?? manifest }), env: envOf(service) };
  const flags = more.flags ?? [];
  if (more.reviewed !== undefined) {
    await run(["plan", "--out", "the.plan"], options);
    await writeFile(join(options.cwd, "tenon.yaml"), manifest);
    flags.push("--plan", "the.plan");
  }
  service.clearRequests();
  const { code, stdout } = await run(["apply", "--yes", "--format", "json", ...flags], options);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expectLines(lines);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(lines.map(({ type }) => type)).toEqual(["plan", "refused"]);
  return { code, line: lines[1] };
}

const REMOVAL = "tenon: 1\nremoved: [{ vpc: old }]\nvpcs: [{ label: new, region: us-east, protect: true }]\n";
const OLD = { id: 5, label: "old", region: "us-east", description: "x [tenon:edge]" };

describe("an apply that may not be, for what reads its lines", () => {
  it("says which consent is missing", async () => {
    const pruned = await refused("tenon: 1\nowner: edge\nvpcs: []\n", { vpcs: [OLD] });
    expect(pruned).toMatchObject({ code: 4, line: { type: "refused", reason: "consent", unreviewed: [] } });
    expect(pruned.line.guards).toEqual([
      { rule: "delete", address: "vpc/old", consent: "missing", count: null, of: null },
    ]);
  });

  it("says which globs consent to all of many, and with them it is done", async () => {
    const vpcs = Array.from({ length: 5 }, (_, index) => ({ ...OLD, id: index + 1, label: `old-${index}` }));
    const seed = { vpcs: [...vpcs, { ...OLD, id: 9, label: "old" }] };
    const manifest = "tenon: 1\nowner: edge\nvpcs: [{ label: old, region: us-east }]\n";
    const pruned = await refused(manifest, seed);
    expect(pruned).toMatchObject({ code: 4, line: { reason: "consent" } });
    expect(pruned.line.guards).toHaveLength(5);
    expect(pruned.line.missing_consent).toEqual([{ rule: "delete", address: "vpc/old-*", guards: 5 }]);
    const service = await emulator({ seed });
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
    const allow = pruned.line.missing_consent.map(({ rule, address }: Record<string, string>) => `${rule}=${address}`);
    const flags = allow.flatMap((text: string) => ["--allow", text]);
    expect(await run(["apply", "--yes", ...flags], options)).toMatchObject({ code: 0 });
  });

  it("says whose it is", async () => {
    const foreign = await refused(REMOVAL, { vpcs: [OLD] });
    expect(foreign).toMatchObject({ code: 4, line: { reason: "identity", guards: [] } });
    expect(foreign.line.refusals).toEqual([expect.objectContaining({ code: "foreign-owner" })]);
  });

  it("says what the reviewed plan does not show", async () => {
    const manifest = PROJECT.replace("192.0.2.1", "192.0.2.9");
    const { code, line } = await refused(manifest, {}, { reviewed: PROJECT });
    expect({ code, reason: line.reason }).toEqual({ code: 5, reason: "unreviewed" });
    expect(line.unreviewed).toEqual([{ action: "create", address: "domain/example.com/www/A" }]);
  });

  it("says what is blocked, where that was to end it", async () => {
    const seed = {
      vpcs: [
        {
          id: 5,
          label: "old",
          region: "us-east",
          description: "",
          subnets: [{ id: 6, label: "a", ipv4: "10.0.0.0/24" }],
        },
      ],
      nodes: [{ id: 9, interfaces: [{ subnet_id: 6, active: true }] }],
    };
    const manifest = "tenon: 1\nremoved: [{ vpc: old }]\n";
    const { code, line } = await refused(manifest, seed, { flags: ["--fail-on", "blocked"] });
    expect({ code, reason: line.reason }).toEqual({ code: 4, reason: "blocked" });
    expect(line.blocked).toContainEqual({ address: "vpc/old", by: "interfaces" });
  });
});
