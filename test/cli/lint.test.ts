/** What lint finds is told by `tenon validate` with its place and code, and by `tenon plan` where caches are concerned. */

import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

const HEAD = `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
`;

/** A warning of the loader between two of lint. */
const WARNED = `${HEAD}    records:
      - { type: A, name: late, target: 10.0.0.1 }
      - { type: TXT, name: two, target: hello, ttl_sec: 301 }
      - { type: A, name: one, target: 192.168.0.1 }
`;

describe("tenon validate", () => {
  it("tells what lint and loading found in the order of the file, each with position and code", async () => {
    const cwd = await folder({ "tenon.yaml": WARNED });
    const { code, stdout, stderr } = await run(["validate"], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The manifest is valid: 1 declared, 3 warnings.\n" });
    expect(stderr.match(/^warning\[[a-z-]+\]|--> \S+/gm)).toEqual([
      "warning[private-address]",
      "--> tenon.yaml:7:9",
      expect.stringMatching(/^warning/),
      expect.stringMatching(/^--> tenon.yaml:8:/),
      "warning[private-address]",
      "--> tenon.yaml:9:9",
    ]);
  });

  it("ends with 3 for a warning if it is strict, unless the rule is off", async () => {
    const record = (more = "") => `${HEAD}    records: [{ type: A, target: 10.0.0.1${more} }]\n`;
    const strict = await run(["validate", "--strict"], { cwd: await folder({ "tenon.yaml": record() }) });
    expect(strict).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(
        /^warning\[private-address\]: [\s\S]*\nerror: warnings are errors with --strict\n$/,
      ),
    });
    const off = await folder({ "tenon.yaml": record(", lint: { off: [private-address] }") });
    expect(await run(["validate", "--strict"], { cwd: off })).toMatchObject({ code: 0, stderr: "" });
  });

  it("ends with 3 for an error of lint", async () => {
    const loop = await folder({ "tenon.yaml": `${HEAD}    records: [{ type: CNAME, name: a, target: a }]\n` });
    const { code, stdout, stderr } = await run(["validate"], { cwd: loop });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("error[cname-loop]: CNAMEs in a loop\n  --> tenon.yaml:6:15");
  });
});

describe("tenon plan", () => {
  it("says until when caches keep what it changes", async () => {
    const env = envOf(await emulator());
    const text = (target: string) => `${HEAD}    records: [{ type: A, name: www, target: ${target} }]\n`;
    const first = await folder({ "tenon.yaml": text("192.0.2.1") });
    expect(await run(["apply", "--yes"], { cwd: first, env })).toMatchObject({ code: 0 });
    const { stdout } = await run(["plan"], { cwd: await folder({ "tenon.yaml": text("192.0.2.2") }), env });
    expect(stdout).toMatch(
      /^Warning: caches keep the old domain\/example\.com\/www\/A until \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m,
    );
  });
});
