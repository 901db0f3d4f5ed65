/** What others do to a domain while its delete waits for steps that come before it: the domain stays. */

import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const OF = { type: "master", soa_email: "a@b.example", tags: ["tenon:me"] };
const DOMAINS = [
  { id: 1, domain: "old.example", ...OF, records: [{ type: "A", name: "x", target: "192.0.2.1" }] },
  { id: 2, domain: "main.example", ...OF, records: [{ id: 9, type: "CNAME", name: "www", target: "x.old.example" }] },
];
/** The pointer at old.example is changed before old.example goes. */
const MANIFEST = `tenon: 1
owner: me
allow: [{ delete: domain/old.example }]
domains:
  - domain: main.example
    type: master
    soa_email: a@b.example
    records: [{ type: CNAME, name: www, target: elsewhere.example. }]
`;

const WAYS = [
  ["PUT", "1", { tags: ["tenon:other"] }, "somebody else has changed its owner tag since it was planned"],
  ["PUT", "1", { tags: ["tenon:me", "tenon-part:other"] }, "it is shared with other projects by now"],
  ["PUT", "1", { domain: "renamed.example" }, "somebody else has renamed it since it was planned"],
  ["POST", "1/records", { type: "A", name: "shop", target: "192.0.2.9" }, "it holds 2 records by now, and not 1"],
] as const;

test("a domain that is taken over, shared, renamed or filled while its delete waits is not deleted within a reviewed plan", async () => {
  for (const [method, path, body, reason] of WAYS) {
    const service = await emulator({ seed: { domains: DOMAINS } as never });
    const cwd = await folder({ "tenon.yaml": MANIFEST });
    const front = await failing(service, async (request) => {
      if (request !== "PUT /v4/domains/2/records/9") return null;
      const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
      const url = `${service.baseUrl}/domains/${path}`;
      expect((await fetch(url, { method, headers, body: JSON.stringify(body) })).status).toBe(200);
      return null;
    });
    const options = { cwd, env: { ...envOf(service), TENON_BASE_URL: front.baseUrl } };
    const plan = await run(["plan", "--out", "reviewed.plan"], options);
    expect(plan.stdout).toContain("- domain old.example and its 1 record");
    const { code, stdout, stderr } = await run(["apply", "--yes", "--plan", "reviewed.plan"], options);
    expect([reason, code]).toEqual([reason, 6]);
    expect((stdout + stderr).replace(/\s+/g, " ")).toContain(`${reason}; plan again`);
    expect(front.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  }
});
