import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

/** A subnet that goes and is held by an interface, a zone that comes, and a VPC whose label would steer a terminal. */
const SEED = {
  vpcs: [
    { label: "prod", region: "us-east", subnets: [{ id: 2001, label: "old", ipv4: "10.0.9.0/24" }] },
    { label: "evil\u009b31m\u202e", region: "us-east", description: "[tenon:edge]" },
  ],
  nodes: [{ id: 123, interfaces: [{ id: 456, subnet: "prod/old", active: true }] }],
};
const PROJECT = `tenon: 1
owner: edge
allow:
  - delete: vpc/prod/subnet/old
vpcs: [{ label: prod, region: us-east, subnets: [] }]
domains: [{ domain: example.com, type: master, soa_email: hostmaster@example.com }]
`;

describe.each(["text", "json"])("apply --fail-on, with --format %s", (format) => {
  const APPLY = ["apply", "--yes", "--target", "vpc/prod", "--target", "domain/*", "--format", format];

  it("does nothing and exits with 4 if something is blocked, and says what", async () => {
    const service = await emulator({ seed: SEED });
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    const stopped = await run([...APPLY, "--fail-on", "refused,blocked"], options);
    expect(stopped.code).toBe(4);
    expect(stopped.stderr).toContain("changes are blocked; nothing was done:\n  vpc/prod/subnet/old\n");
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
    // Otherwise what is not blocked is done.
    expect((await run([...APPLY, "--fail-on", "refused"], options)).code).toBe(6);
    expect(service.requests.some(({ method }) => method === "POST")).toBe(true);
  });
});

it("destroy takes --fail-on as well", async () => {
  const service = await emulator({ seed: SEED });
  const options = { cwd: await folder({ "tenon.yaml": PROJECT.replace("owner: edge\n", "") }), env: envOf(service) };
  const { code } = await run(["destroy", "--yes", "--fail-on", "blocked", "--allow", "delete=vpc/prod"], options);
  expect(code).toBe(4);
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
});

it("what a reviewed plan does not show is named without what would steer a terminal", async () => {
  const service = await emulator({ seed: SEED });
  const cwd = await folder({ "tenon.yaml": PROJECT.replace("owner: edge\n", "") });
  const options = { cwd, env: envOf(service) };
  await run(["plan", "--out", "the.plan"], options);
  // With an owner, what carries its tag and is not declared is pruned.
  await writeFile(join(cwd, "tenon.yaml"), PROJECT);
  const { code, stderr } = await run(["apply", "--yes", "--plan", "the.plan", "--allow", "delete=vpc/*"], options);
  expect(code).toBe(5);
  expect(stderr).toContain("delete vpc/evil%C2%9B31m\\u{202e}\n");
  expect(stderr).not.toMatch(/[\u009b\u202e]/);
});

it("waiting names what is held without what would steer a terminal", async () => {
  const label = "evil\u009b31m";
  const subnets = [{ label: "old", ipv4: "10.0.9.0/24" }];
  const service = await emulator({
    seed: {
      vpcs: [{ label, region: "us-east", description: "[tenon:edge]", subnets }],
      nodes: [{ interfaces: [{ subnet: `${label}/old` }] }],
    },
  });
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: edge\n" });
  const args = ["apply", "--yes", "--allow", "delete=vpc/*", "--wait-detached", "11s"];
  const { stderr } = await run(args, { cwd, env: envOf(service) });
  expect(stderr).toContain("Waiting until interfaces are detached: vpc/evil%C2%9B31m");
  expect(stderr).not.toContain("\u009b");
});
