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

test("what was shown to go under removed stays if its owner's tag is another one by now, or none", async () => {
  const files = {
    "tenon.yaml": `tenon: 1
owner: me
allow: [{ delete: "**" }]
removed: [{ domain: old.example }, { vpc: net }, { image: golden }]
`,
  };
  const described = (tags: readonly string[]) => ({
    description: ["kept", ...tags.map((tag) => `[${tag}]`)].join(" "),
  });
  const objects = {
    "domains/1": (tags: readonly string[]) => ({ tags }),
    "vpcs/2": described,
    "images/private~3": described,
  };
  for (const [path, body] of Object.entries(objects)) {
    for (const tags of [[], ["tenon:other"]]) {
      const seed = {
        domains: [DOMAINS[0]],
        vpcs: [{ id: 2, label: "net", region: "us-east", description: "kept [tenon:me]" }],
        images: [{ id: "private/3", label: "golden", description: "kept [tenon:me]" }],
      };
      const service = await emulator({ seed: seed as never });
      const options = { cwd: await folder(files), env: envOf(service) };
      const plan = await run(["plan", "--out", "reviewed.plan"], options);
      expect(plan.stdout).toContain("3 to destroy");
      const url = `${service.baseUrl}/${path.replace("~", "%2F")}`;
      const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
      const put = await fetch(url, { method: "PUT", headers, body: JSON.stringify(body(tags)) });
      expect([path, put.status, await put.text()]).toEqual([path, 200, expect.any(String)]);
      const { code, stdout, stderr } = await run(["apply", "--yes", "--plan", "reviewed.plan"], options);
      const refused =
        tags.length === 0 ? "not within the reviewed one; nothing was done" : 'belongs to the owner "other"';
      expect([path, tags, code]).toEqual([path, tags, tags.length === 0 ? 5 : 4]);
      expect((stdout + stderr).replace(/\s+/g, " ")).toContain(refused);
      expect((await fetch(url, { headers })).status).toBe(200);
    }
  }
});

test("no other request comes between the look at an object and its delete, but for those that are under way", async () => {
  const five = Array.from({ length: 5 }, (_, index) => index + 1);
  const seed = {
    domains: five.map((id) => ({ ...DOMAINS[0], id, domain: `old${id}.example`, records: [] })),
    vpcs: five.map((id) => ({ id, label: `net${id}`, region: "us-east", description: "[tenon:me]" })),
    images: five.map((id) => ({ id: `private/${id}`, label: `golden${id}`, description: "[tenon:me]" })),
  };
  const removed = five.flatMap((id) => [{ domain: `old${id}.example` }, { vpc: `net${id}` }, { image: `golden${id}` }]);
  const records = Array.from({ length: 150 }, (_, index) => ({ type: "A", name: `n${index}`, target: "192.0.2.1" }));
  const zones = ["a.example", "z.example"].map((domain) => ({
    domain,
    type: "master",
    soa_email: "a@a.example",
    records,
  }));
  const manifest = JSON.stringify({ tenon: 1, owner: "me", allow: [{ delete: "**" }], removed, domains: zones });
  for (const concurrency of ["8", "1"]) {
    const service = await emulator({ seed: seed as never });
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
    service.clearRequests();
    const { code, stderr } = await run(["apply", "--yes", "--concurrency", concurrency], options);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const requests = service.requests.map(({ method, path }) => `${method} ${path}`);
    const between = requests.flatMap((request, index) => {
      if (!request.startsWith("DELETE")) return [];
      const look = requests.lastIndexOf(
        request.replace("DELETE", "GET").replace(/(domains\/\d+)$/, "$1/records"),
        index,
      );
      return [look === -1 ? Number.POSITIVE_INFINITY : index - look - 1];
    });
    expect(between).toHaveLength(15);
    // Each of the others may have sent one request before, and one after.
    expect(Math.max(...between)).toBeLessThanOrEqual(2 * (Number(concurrency) - 1));
  }
});

test("a delete that the service keeps waiting is preceded by another look", async () => {
  const seed = {
    domains: [DOMAINS[0]],
    vpcs: [{ id: 2, label: "net", region: "us-east", description: "[tenon:me]" }],
    images: [3, 4].map((id) => ({ id: `private/${id}`, label: `golden${id}`, description: "[tenon:me]" })),
  };
  const removed = [{ domain: "old.example" }, { vpc: "net" }, { image: "golden3" }, { image: "golden4" }];
  const manifest = JSON.stringify({ tenon: 1, owner: "me", allow: [{ delete: "**" }], removed });
  const service = await emulator({ seed: seed as never });
  const taken = new Map<string, object>([
    ["/v4/domains/1", { tags: ["tenon:other"] }],
    ["/v4/vpcs/2", { description: "[tenon:other]" }],
    ["/v4/images/private%2F3", { description: "[tenon:other]" }],
  ]);
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const kept = new Set<string>();
  const front = await failing(service, async (request) => {
    const [method, path = ""] = request.split(" ");
    if (method !== "DELETE" || kept.has(path)) return null;
    kept.add(path);
    const body = taken.get(path);
    const url = `${new URL(service.baseUrl).origin}${path}`;
    if (body !== undefined)
      expect((await fetch(url, { method: "PUT", headers, body: JSON.stringify(body) })).status).toBe(200);
    return { status: 429, headers: { "retry-after": "6" }, body: '{"errors":[{"reason":"Too many requests"}]}' };
  });
  const options = {
    cwd: await folder({ "tenon.yaml": manifest }),
    env: { ...envOf(service), TENON_BASE_URL: front.baseUrl },
  };
  const { code, stdout, stderr } = await run(["apply", "--yes"], options);
  expect([code, stderr]).toEqual([6, expect.any(String)]);
  expect(stdout).toContain("3 failed. Resources: 0 added, 0 changed, 1 destroyed.");
  const deleted = service.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(deleted).toEqual(["/v4/images/private%2F4"]);
});

test("a reviewed destroy leaves what somebody has renamed since, though entries name it by its id", async () => {
  const manifest = JSON.stringify({
    tenon: 1,
    vpcs: [{ label: "net", id: 2, region: "us-east" }],
    images: [{ label: "golden", id: "private/3", capture: { disk_id: 1 } }],
    domains: [{ id: 1, ...OF, tags: [], domain: "old.example" }],
  });
  for (const [path, body] of [
    ["vpcs/2", { label: "kept" }],
    ["images/private%2F3", { label: "kept" }],
    ["domains/1", { domain: "kept.example" }],
    [null, {}],
  ] as const) {
    const seed = {
      domains: [{ id: 1, ...OF, tags: [], domain: "old.example" }],
      vpcs: [{ id: 2, label: "net", region: "us-east", description: "" }],
      images: [{ id: "private/3", label: "golden", description: "" }],
    };
    const service = await emulator({ seed: seed as never });
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
    const plan = await run(["plan", "--destroy", "--out", "reviewed.plan"], options);
    expect(plan.stdout).toContain("3 to destroy");
    const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
    const url = `${service.baseUrl}/${path}`;
    if (path !== null)
      expect((await fetch(url, { method: "PUT", headers, body: JSON.stringify(body) })).status).toBe(200);
    const { code } = await run(["destroy", "--yes", "--plan", "reviewed.plan"], options);
    const deletes = service.requests.filter(({ method }) => method === "DELETE").length;
    expect([path, code === 0, deletes]).toEqual([path, path === null, path === null ? 3 : 0]);
  }
});

test("a reviewed replacement leaves what somebody has renamed since, whatever a consent fits", async () => {
  const manifest = (region: string) =>
    JSON.stringify({
      tenon: 1,
      allow: [{ replace: "vpc/*" }, { delete: "vpc/*" }],
      vpcs: [{ label: "net", id: 2, region }],
    });
  for (const isRenamed of [true, false]) {
    const seed = { vpcs: [{ id: 2, label: "net", region: "us-east", description: "" }] };
    const service = await emulator({ seed: seed as never });
    const options = { cwd: await folder({ "tenon.yaml": manifest("eu-west") }), env: envOf(service) };
    expect((await run(["plan", "--out", "reviewed.plan"], options)).stdout).toContain("-/+ vpc net");
    const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
    const body = JSON.stringify({ label: "kept" });
    if (isRenamed) await fetch(`${service.baseUrl}/vpcs/2`, { method: "PUT", headers, body });
    const { code } = await run(["apply", "--yes", "--plan", "reviewed.plan"], options);
    const deletes = service.requests.filter(({ method }) => method === "DELETE").length;
    expect([isRenamed, code, deletes]).toEqual([isRenamed, isRenamed ? 5 : 0, isRenamed ? 0 : 1]);
  }
});

test("a domain whose delete opens a gap is looked at when all that closes the gap has been waited for", async () => {
  const own = { type: "master", soa_email: "a@b.example", tags: ["tenon:me"] };
  const cut = { id: 5, type: "NS", name: "zz", target: "a.two.example" };
  const seed = {
    domains: [
      { id: 1, ...own, domain: "one.example", records: [cut] },
      { id: 2, ...own, domain: "two.example", records: [{ type: "A", name: "a", target: "192.0.2.2" }] },
    ],
  };
  const alias = (name: string, target: string) => ({ type: "CNAME", name, target });
  const records = Array.from({ length: 100 }, (_, index) => ({ type: "A", name: `n${index}`, target: "192.0.2.1" }));
  const manifest = JSON.stringify({
    ...{ tenon: 1, owner: "me", allow: [{ delete: "**" }, { ns: "**" }], removed: [{ domain: "two.example" }] },
    domains: [
      {
        domain: "one.example",
        type: "master",
        soa_email: "a@b.example",
        records: [alias("zz", "www.zz.two.example.")],
      },
      {
        ...{ domain: "zz.two.example", type: "master", soa_email: "a@b.example" },
        records: [alias("www", "host.elsewhere.test."), ...records],
      },
    ],
  });
  const service = await emulator({ seed: seed as never });
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  let posts = 0;
  const front = await failing(service, async (request) => {
    if (!request.startsWith("POST")) return null;
    posts += 1;
    const body = JSON.stringify({ tags: ["tenon:other"] });
    if (posts === 60) await fetch(`${service.baseUrl}/domains/2`, { method: "PUT", headers, body });
    return null;
  });
  const options = {
    cwd: await folder({ "tenon.yaml": manifest }),
    env: { ...envOf(service), TENON_BASE_URL: front.baseUrl },
  };
  expect((await run(["apply", "--yes"], options)).code).toBe(6);
  expect(posts).toBeGreaterThan(100);
  expect(front.requests).not.toContain("DELETE /v4/domains/2");
});

test("what one look has seen is looked at again if another one after it had to wait", async () => {
  const service = await emulator({ seed: { domains: [DOMAINS[0]] } as never });
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  let isApplying = false;
  let waits = 0;
  const front = await failing(service, async (request) => {
    if (!isApplying || request !== "GET /v4/domains/1/records" || !front.requests.includes("GET /v4/domains/1"))
      return null;
    waits += 1;
    if (waits > 1) return null;
    const body = JSON.stringify({ tags: ["tenon:other"] });
    await fetch(`${service.baseUrl}/domains/1`, { method: "PUT", headers, body });
    return { status: 429, headers: { "retry-after": "6" }, body: '{"errors":[{"reason":"Too many requests"}]}' };
  });
  const manifest = JSON.stringify({
    tenon: 1,
    owner: "me",
    allow: [{ delete: "**" }],
    removed: [{ domain: "old.example" }],
  });
  const options = {
    cwd: await folder({ "tenon.yaml": manifest }),
    env: { ...envOf(service), TENON_BASE_URL: front.baseUrl },
  };
  isApplying = true;
  const { code, stdout } = await run(["apply", "--yes"], options);
  expect([code, stdout]).toEqual([6, expect.stringContaining("somebody else has changed its owner tag")]);
  expect(waits).toBeGreaterThan(0);
  expect(front.requests).not.toContain("DELETE /v4/domains/1");
});
