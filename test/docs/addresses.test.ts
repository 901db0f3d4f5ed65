/** That the addresses of docs/reference/addresses.md are those that plans have, and that its globs match what it says. */

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parseSeed } from "../../src/emulator/index.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const PAGE = await readFile(new URL("../../docs/reference/addresses.md", import.meta.url), "utf8");
const ACCOUNT = `
vpcs:
  - { label: a/b 50%, region: us-east, description: "[tenon:edge]" }
  - { id: 104, label: old, region: us-east, description: "[tenon:edge]" }
  - { id: 105, label: old, region: us-east, description: "[tenon:edge]" }
`;
const PROJECT = `tenon: 1
owner: edge
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.0.0/24 }] }
domains:
  - domain: Example.com
    type: master
    soa_email: a@example.com
    records:
      - { type: MX, target: mx.example.net., priority: 10 }
      - { type: A, name: WWW, targets: [192.0.2.10, 192.0.2.11] }
      - { type: A, name: bücher, target: 192.0.2.10 }
      - { type: SRV, service: sip, protocol: tcp, target: www, port: 5060, priority: 10, weight: 5 }
      - { type: TXT, name: "*.dev", target: x }
      - { type: TXT, name: a.dev, target: x }
images:
  - { label: golden, capture: { disk_id: 123 } }
`;

async function addresses(flags: readonly string[] = []): Promise<string[]> {
  const service = await emulator({ seed: parseSeed(ACCOUNT) });
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const { stdout } = await here(["plan", "--format", "json", ...flags], { cwd, env: envOf(service) });
  const { resource_changes: changes } = JSON.parse(stdout) as {
    resource_changes: { address: string; change: { actions: string[] } }[];
  };
  return changes.filter(({ change }) => change.actions[0] !== "no-op").map(({ address }) => address);
}

test("every address of the page is one of a plan, and every address of the plan is of its grammar", async () => {
  const planned = await addresses();
  const bare = planned.map((address) => address.replace(/\[\d+\]$/, ""));
  const rows = [...PAGE.matchAll(/^\| `([^`]+)` \|/gm)].map(([, address]) => address);
  const named = [...PAGE.matchAll(/^- \*\*(?:Names|Escapes|Ids|Several).*(?:\n {2}.*)*/gm)]
    .flatMap(([text]) => [...text.matchAll(/`((?:vpc|domain)\/[^`]+)`/g)])
    .map(([, address]) => address);
  expect(rows).toHaveLength(8);
  expect(named).toHaveLength(4);
  for (const address of rows) expect(bare).toContain(address);
  for (const address of named) expect(planned).toContain(address);
  expect(bare).toContain("domain/example.com/xn--bcher-kva/A");
  const grammar = /^(?:(?:vpc|image)\/[^/]+|vpc\/[^/]+\/subnet\/[^/]+|domain\/[^/]+(?:\/[^/]+\/[A-Z]+)?)$/;
  for (const address of bare) expect(address).toMatch(grammar);
});

test.each([
  ["domain/example.com/\\*.dev/TXT", ["domain/example.com/*.dev/TXT"]],
  ["domain/example.com/*.dev/TXT", ["domain/example.com/*.dev/TXT", "domain/example.com/a.dev/TXT"]],
  ["domain/example.com/*/A", ["www/A[0]", "www/A[1]", "xn--bcher-kva/A"].map((end) => `domain/example.com/${end}`)],
  ["vpc/prod", ["vpc/prod", "vpc/prod/subnet/web"]],
  ["domain/example.com/www", ["domain/example.com/www/A[0]", "domain/example.com/www/A[1]"]],
])("the target %s covers what the page says", async (glob, covered) => {
  expect(PAGE).toContain(glob);
  const domain = glob.startsWith("domain/") ? ["domain/example.com"] : [];
  expect(await addresses(["--target", glob])).toEqual([...domain, ...covered]);
});
