/** Objects of others that look like what a run is about to make: a run that meets one lets nothing of its own go for it that nobody has seen. */

import { expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { here as run } from "../cli/here.ts";
import { type Fault, failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const VPC = {
  label: "prod",
  region: "us-east",
  description: "[tenon:me]",
  subnets: [{ label: "web", ipv4: "10.0.1.0/24" }],
};
const IMAGE = { label: "golden-3", description: "[tenon:me]", disk_id: 7 };
const KINDS = {
  vpcs: {
    entry: "vpcs: [{ label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }]",
    seed: {},
    body: VPC,
  },
  images: {
    entry: "images: [{ label: golden-3, family: golden, keep: 2, capture: { disk_id: 7 } }]",
    seed: {
      disks: [{ id: 7, label: "boot", size: 1024 }],
      images: [
        { id: "private/1", label: "golden-1", description: "[tenon:me]", created: "2026-09-01T00:00:00" },
        { id: "private/2", label: "golden-2", description: "[tenon:me]", created: "2026-10-01T00:00:00" },
      ],
    },
    body: IMAGE,
  },
} as const;
type Kind = keyof typeof KINDS;
const BOTH = Object.keys(KINDS) as Kind[];

async function ask(service: Emulator, method: string, path: string, body?: object) {
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${service.baseUrl}/${path}`, { method, headers, ...sent });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { id: string | number; data: { id: string | number; label: string }[] };
}

async function labelsById(service: Emulator, kind: Kind): Promise<Record<string, string>> {
  const { data } = await ask(service, "GET", kind);
  return Object.fromEntries(data.map(({ id, label }) => [String(id), label]));
}

/** Applies a plan; just before its first POST somebody else does something. @param firstAnswer the answer to it; null: that of the service */
async function applyBeside(
  kind: Kind,
  isReviewed: boolean,
  meanwhile: (service: Emulator) => Promise<unknown>,
  firstAnswer: Fault | null = null,
) {
  const { entry, seed, body } = KINDS[kind];
  const service = await emulator({ seed, readsUntilAvailable: { creating: 0, pendingUpload: 0 } });
  await ask(service, "POST", kind, { ...body, label: "mine", description: "of somebody else" });
  const cwd = await folder({ "tenon.yaml": `tenon: 1\nowner: me\n${entry}\n` });
  let isDone = false;
  const front = await failing(service, async (request) => {
    if (isDone || request !== `POST /v4/${kind}`) return null;
    isDone = true;
    await meanwhile(service);
    return firstAnswer;
  });
  const options = { cwd, env: { ...envOf(service), TENON_BASE_URL: front.baseUrl } };
  const reviewed = ["--plan", "reviewed.plan"];
  if (isReviewed) expect((await run(["plan", "--out", "reviewed.plan"], options)).code).toBe(0);
  const { code, stdout } = await run(["apply", "--yes", ...(isReviewed ? reviewed : [])], options);
  const deleted = front.requests.filter((request) => request.startsWith("DELETE"));
  return { code, stdout: stdout.replace(/\s+/g, " "), deleted, left: await labelsById(service, kind) };
}

const RETIRED = ["DELETE /v4/images/private%2F1"];

async function renameMine(service: Emulator, kind: Kind): Promise<void> {
  const { label, description } = KINDS[kind].body;
  const [mine] = Object.entries(await labelsById(service, kind)).find(([, name]) => name === "mine") ?? [];
  await ask(service, "PUT", `${kind}/${encodeURIComponent(String(mine))}`, { label, description });
}

test("an older object that somebody renames to what a run makes is no other run's: the run keeps its own", async () => {
  const cases = BOTH.flatMap((kind) => [true, false].map((isReviewed) => [kind, isReviewed] as const));
  for (const [kind, isReviewed] of cases) {
    const { label } = KINDS[kind].body;
    const { code, stdout, deleted, left } = await applyBeside(kind, isReviewed, (service) => renameMine(service, kind));
    expect([kind, isReviewed, code]).toEqual([kind, isReviewed, 6]);
    expect(stdout).toContain("was there under another name before this run, so Tenon deletes neither");
    expect(deleted).toEqual(kind === "images" ? RETIRED : []);
    expect(Object.values(left).filter((name) => name === label)).toHaveLength(2);
  }
});

test("within a reviewed plan, what a run has made does not give way to an equal object that somebody has made just before it", async () => {
  for (const kind of BOTH) {
    const { body } = KINDS[kind];
    const beside = (isReviewed: boolean) =>
      applyBeside(kind, isReviewed, (service) => ask(service, "POST", kind, body));
    const { code, stdout, deleted, left } = await beside(true);
    expect([kind, code]).toEqual([kind, 6]);
    expect(stdout).toMatch(/the reviewed plan does not show that \S+ takes the place of \S+, so Tenon deletes neither/);
    expect(deleted).toEqual(kind === "images" ? RETIRED : []);
    expect(Object.values(left).filter((name) => name === body.label)).toHaveLength(2);
    // Without a review it is taken for that of another run.
    expect((await beside(false)).stdout).toContain("first; this run deleted its own");
  }
});

test("a request whose answer was lost is not taken for having made what was there before under another name", async () => {
  const lost = { status: 502, body: "" };
  for (const kind of BOTH) {
    const { code, stdout, left } = await applyBeside(kind, false, (service) => renameMine(service, kind), lost);
    expect([kind, code]).toEqual([kind, 6]);
    expect(stdout).toContain("was there under another name before this run");
    expect(Object.values(left).filter((name) => name === KINDS[kind].body.label)).toHaveLength(2);
  }
});
