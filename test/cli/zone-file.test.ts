import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { emulator, envOf, folder } from "./run.ts";

const MANIFEST = `tenon: 1
lint: { off: [zone-file-soa] }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    zone_file: zones/example.com.zone
    lint: { off: [single-ns] }
    records:
      - { spf: { mx: true, all: fail } }
`;

const ZONE = `$TTL 300
@ IN SOA ns1.old.example. host.old.example. 1 7200 3600 1209600 3600
@ NS ns1.old.example.
@ MX 10 mx
mx A 192.0.2.1
$INCLUDE hosts.zone
`;

const FILES = {
  "tenon.yaml": MANIFEST,
  "zones/example.com.zone": ZONE,
  "zones/hosts.zone": "www A 192.0.2.2\nwww SSHFP 1 1 abcd\n",
};

describe("a project with a zone file", () => {
  it("is validated by its lines, and what cannot be kept is left out only when that is said", async () => {
    const cwd = await folder(FILES);
    const strict = await run(["validate"], { cwd });
    expect(strict.code).toBe(3);
    expect(strict.stderr).toMatch(
      /error\[zone-file-unsupported\].*\n *--> zones\/hosts\.zone:2:1\n(.*\n)* 2 \| www SSHFP 1 1 abcd/,
    );
    expect(strict.stderr).toMatch(/warning\[zone-file-apex-ns\].*\n *--> zones\/example\.com\.zone:3:1/);
    expect(strict.stderr).not.toContain("zone-file-soa");
    const skipping = await run(["validate", "--skip-unsupported"], { cwd });
    expect(skipping.code).toBe(0);
    expect(skipping.stderr).toContain("warning[zone-file-unsupported]: skipped: SSHFP at www");
  });

  it("is shown as plain records", async () => {
    const cwd = await folder(FILES);
    const { code, stdout, stderr } = await run(["show", "--expanded", "--skip-unsupported"], { cwd });
    expect(stderr).not.toContain("warning");
    expect(code).toBe(0);
    expect(stdout.match(/- \{ type: .*/g)).toEqual([
      "- { type: MX, target: mx.example.com., priority: 10, ttl_sec: 300 }",
      "- { type: A, name: mx, target: 192.0.2.1, ttl_sec: 300 }",
      "- { type: A, name: www, target: 192.0.2.2, ttl_sec: 300 }",
      "- { type: TXT, target: v=spf1 mx -all }",
    ]);
    expect(stdout).toContain("lint: { off: [single-ns] }");
    expect(stdout).not.toMatch(/zone_file|spf:/);
    const again = await folder({ "tenon.yaml": stdout });
    expect((await run(["show", "--expanded"], { cwd: again })).stdout).toBe(stdout);
  });

  it("is planned and applied, and plans empty after that", async () => {
    const env = envOf(await emulator());
    const cwd = await folder(FILES);
    expect((await run(["plan"], { cwd, env })).code).toBe(3);
    const applied = await run(["apply", "--skip-unsupported", "--yes"], { cwd, env });
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.stderr.split("\n").slice(0, 2)).toEqual([
      "Note: 1 SOA or apex NS record is set aside: see tenon validate.",
      "Note: 1 unsupported record is left out: see tenon validate.",
    ]);
    const { code, stdout, stderr } = await run(["plan", "--skip-unsupported", "--detailed-exitcode"], { cwd, env });
    expect(stdout).toMatch(/no changes/i);
    expect(stderr).toMatch(/^Note: 1 SOA .*\nNote: 1 unsupported .*\n$/);
    expect(code).toBe(0);
  });
});
