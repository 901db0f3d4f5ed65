/** An undo heeds what the project says now: what it protects, ignores and shares, and what is its part. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { tested } from "../support/emulator.ts";
import { here } from "./here.ts";
import { type Ended, emulator, envOf, folder } from "./run.ts";
import { faults } from "./stage.ts";

const ALLOW = ["delete", "replace", "bulk"].flatMap((rule) => ["--allow", `${rule}=*`]);

interface Project {
  readonly cwd: string;
  /** Applies the manifest with every consent; the journal, if one is named, is that of an undo later. */
  apply(manifest: string, ...more: string[]): Promise<Ended>;
  tenon(...args: string[]): Promise<Ended>;
}

async function project(service: Emulator): Promise<Project> {
  const cwd = await folder({});
  const tenon = (...args: string[]) => here(args, { cwd, env: envOf(service) });
  const apply = async (manifest: string, ...more: string[]) => {
    await writeFile(join(cwd, "tenon.yaml"), manifest);
    return tenon("apply", "--yes", ...ALLOW, ...more);
  };
  return { cwd, apply, tenon };
}

async function done(ending: Promise<Ended>, code = 0): Promise<Ended> {
  const ended = await ending;
  // With what was printed, for whoever reads a failure.
  expect({ ...ended, code }).toEqual(ended);
  return ended;
}

async function subnetsOf(service: Emulator): Promise<string[]> {
  const { body } = await tested(service).send("GET", "/vpcs");
  return body.data.flatMap(
    ({ label, region, subnets }: { label: string; region: string; subnets: { label: string; ipv4: string }[] }) => [
      `${label} ${region}`,
      ...subnets.map((one) => `${one.label} ${one.ipv4}`),
    ],
  );
}

async function recordsOf(service: Emulator): Promise<string[]> {
  const { send } = tested(service);
  const [domain] = (await send("GET", "/domains")).body.data;
  const { body } = await send("GET", `/domains/${domain.id}/records`);
  return body.data.map(({ type, name, target }: Record<string, string>) => `${type} ${name} ${target}`).sort();
}

const network = (label: string, subnets: string, more = "", region = "us-east") =>
  `tenon: 1\nvpcs:\n  - { label: ${label}, region: ${region}, subnets: [${subnets}]${more} }\n`;

const S0 = "{ label: s0, ipv4: 10.0.0.0/24 }";

test("a subnet that the project protects now is not deleted by an undo, whatever consent there is", async () => {
  const service = await emulator();
  const { apply, tenon } = await project(service);
  await done(apply(network("a", S0)));
  await done(apply(network("a", `${S0}, { label: s1, ipv4: 10.0.1.0/24 }`), "--journal", "run.jsonl"));
  await done(apply(network("a", `${S0}, { label: s1, ipv4: 10.0.1.0/24, protect: true }`)));
  const { stdout } = await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW), 4);
  expect(stdout).toContain("vpc/a/subnet/s1 is protected");
  expect(await subnetsOf(service)).toEqual(["a us-east", "s0 10.0.0.0/24", "s1 10.0.1.0/24"]);
  // Without the protection it goes.
  await done(apply(network("a", `${S0}, { label: s1, ipv4: 10.0.1.0/24 }`)));
  await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(await subnetsOf(service)).toEqual(["a us-east", "s0 10.0.0.0/24"]);
});

test("a subnet that a protecting entry means by its range is not deleted, with its VPC or alone", async () => {
  const service = await emulator();
  const { cwd, apply, tenon } = await project(service);
  await done(apply("tenon: 1\n"));
  await done(apply(network("a", S0), "--journal", "vpc.jsonl"));
  await done(apply(network("a", `${S0}, { label: s1, ipv4: 10.0.1.0/24 }`), "--journal", "run.jsonl"));
  const protecting = network("a", `${S0}, { label: prod, ipv4: 10.0.1.0/24, protect: true }`);
  await writeFile(join(cwd, "tenon.yaml"), protecting);
  for (const journal of ["run.jsonl", "vpc.jsonl"]) {
    const { code } = await tenon("apply", "--undo", journal, "--yes", ...ALLOW);
    expect([journal, [4, 6].includes(code ?? 0)]).toEqual([journal, true]);
    expect(await subnetsOf(service)).toEqual(["a us-east", "s0 10.0.0.0/24", "s1 10.0.1.0/24"]);
  }
});

test("what a run deleted of external-dns comes back with its registry, once the project ignores it", async () => {
  const heritage = '"heritage=external-dns,external-dns/owner=k8s,external-dns/resource=ingress/x/app"';
  const records = ["app", "a-app"].map((name) => ({ type: "TXT" as const, name, target: heritage.slice(1, -1) }));
  const app = { type: "A" as const, name: "app", target: "192.0.2.7" };
  const seeded = {
    domain: "a.example",
    soa_email: "a@a.example",
    tags: ["tenon:platform"],
    records: [app, ...records],
  };
  const service = await emulator({ seed: { domains: [seeded] } });
  const { cwd, apply, tenon } = await project(service);
  const before = await recordsOf(service);
  await done(apply(zone(MX), "--journal", "run.jsonl"));
  const ignoring = zone(MX, ", ignore: [{ preset: external-dns }]");
  await writeFile(join(cwd, "tenon.yaml"), ignoring);
  await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(await recordsOf(service)).toEqual(before);
});

test("an undo after a failed verification leaves what its own manifest protects", async () => {
  const service = await emulator();
  const { apply } = await project(service);
  const zone = (target: string) =>
    `domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: a, target: ${target} }] }]\n`;
  await done(apply(`${network("a", S0)}${zone("192.0.2.1")}`));
  const next = `${network("a", `${S0}, { label: s1, ipv4: 10.0.1.0/24, protect: true }`)}${zone("192.0.2.2")}`;
  // Nobody listens on port 9 of this machine.
  const verify = ["--verify", "--nameserver", "127.0.0.1:9", "--verify-timeout", "1s", "--undo-on-failure"];
  const { stderr } = await done(apply(next, ...verify), 6);
  expect(stderr).toContain("not undone: vpc/a/subnet/s1 stays as it is: it is protected");
  expect(await subnetsOf(service)).toEqual(["a us-east", "s0 10.0.0.0/24", "s1 10.0.1.0/24"]);
  expect(await recordsOf(service)).toEqual(["A a 192.0.2.1"]);
});

test.each([
  ["renamed since", network("new", "", ", moved_from: old, protect: true", "us-west")],
  ["to be renamed", network("new", "", ", id: 101, protect: true", "us-west")],
])("a VPC that is protected under another name is not replaced by an undo: %s", async (_, manifest) => {
  const service = await emulator({ seed: { vpcs: [{ id: 100, label: "old", region: "us-east" }] } });
  const { cwd, apply, tenon } = await project(service);
  await done(apply(network("old", "", "", "us-west"), "--journal", "run.jsonl"));
  const [made] = (await tested(service).send("GET", "/vpcs")).body.data;
  const protecting = manifest.replace("101", String(made.id));
  // The new name is only declared, in the second case.
  if (manifest.includes("moved_from")) await done(apply(protecting));
  else await writeFile(join(cwd, "tenon.yaml"), protecting);
  const { stdout } = await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW), 4);
  expect(stdout).toMatch(/vpc\/\w+ is protected/);
  expect((await tested(service).send("GET", `/vpcs/${made.id}`)).status).toBe(200);
});

const zone = (records: string, more = "") =>
  `tenon: 1\nowner: platform\ndomains:\n  - { domain: a.example, type: master, soa_email: a@a.example, records: [${records}]${more} }\n`;
const MX = "{ type: MX, target: mail.example., priority: 10 }";
const KEPT = "{ type: A, name: k1, target: 192.0.2.5 }";

test("records that the project ignores by now are not touched by an undo, and this is said", async () => {
  const service = await emulator();
  const { apply, tenon } = await project(service);
  await done(apply(zone(MX)));
  await done(apply(zone(`${MX}, ${KEPT}, { type: A, name: w, target: 192.0.2.6 }`), "--journal", "run.jsonl"));
  await done(apply(zone(`${MX}, { type: A, name: w, target: 192.0.2.6 }`, ', ignore: [{ name: "k*" }]')));
  const { stdout } = await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(stdout).toContain("a record of domain/a.example that the run changed is left alone");
  expect(await recordsOf(service)).toEqual(["A k1 192.0.2.5", "MX  mail.example"]);
});

test("records at names that the project shares by now do not come back beside those of others", async () => {
  const service = await emulator();
  const [owner, shop] = [await project(service), await project(service)];
  await done(owner.apply(zone(`${MX}, { type: A, name: shop, target: 192.0.2.1 }`)));
  await done(owner.apply(zone(MX), "--journal", "run.jsonl"));
  await done(owner.apply(zone(MX, ', shared_with: [{ owner: shop, names: [shop, "*.shop"] }]')));
  const part = (records: string, names: string) =>
    `tenon: 1\nowner: shop\ndomains: [{ domain: a.example, part: { names: [${names}] }, records: [${records}] }]\n`;
  await done(shop.apply(part("{ type: A, name: shop, target: 198.51.100.7 }", 'shop, "*.shop"')));
  expect((await done(owner.tenon("undo", "run.jsonl"))).stdout).toContain(
    "Nothing else that the run did is left to undo.",
  );
  await done(owner.tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(await recordsOf(service)).toEqual(["A shop 198.51.100.7", "MX  mail.example"]);
});

test("an undo in a part touches no record outside of the part that is declared now", async () => {
  const service = await emulator();
  const [owner, shop] = [await project(service), await project(service)];
  const shared = (names: string) => `, shared_with: [{ owner: shop, names: [${names}] }]`;
  const part = (names: string, records: string) =>
    `tenon: 1\nowner: shop\ndomains: [{ domain: a.example, part: { names: [${names}] }, records: [${records}] }]\n`;
  const [atShop, atWww] = ["{ type: A, name: shop, target: 192.0.2.7 }", "{ type: A, name: www, target: 192.0.2.8 }"];
  await done(owner.apply(zone(MX, shared("shop, www"))));
  await done(shop.apply(part("shop, www", `${atShop}, ${atWww}`), "--journal", "run.jsonl"));
  // `www` goes back to the owner, with the value that it has.
  await done(owner.apply(zone(`${MX}, ${atWww}`, shared("shop"))));
  await done(shop.apply(part("shop", atShop)));
  const { stdout } = await done(shop.tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(stdout).toContain("a record of domain/a.example that the run changed is left alone");
  expect(await recordsOf(service)).toEqual(["A www 192.0.2.8", "MX  mail.example"]);
});

test("a zone that a failed run was converting is served again after its undo", async () => {
  const slave = { domain: "a.example", type: "slave" as const, master_ips: ["192.0.2.53"] };
  const service = await emulator({
    seed: { domains: [slave] },
    ...faults("status=400,method=POST,path=/domains/*/records"),
  });
  const { apply, tenon } = await project(service);
  const master = zone("{ type: A, name: a, target: 192.0.2.4 }").replace("owner: platform\n", "");
  await done(apply(master, "--journal", "run.jsonl"), 6);
  service.setFaults([]);
  const domain = async () => (await tested(service).send("GET", "/domains")).body.data[0];
  expect(await domain()).toMatchObject({ type: "master", status: "disabled" });
  await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(await domain()).toMatchObject({ type: "slave", status: "active" });
});

test("a copy goes with all that it holds, and the undo says so", async () => {
  const service = await emulator();
  const { apply, tenon } = await project(service);
  await done(apply(zone(MX)));
  const copy = "  - { domain: b.example, create_from: { clone: a.example } }\n";
  await done(apply(`${zone(MX)}${copy}`, "--journal", "run.jsonl"));
  const { stdout } = await done(tenon("undo", "run.jsonl"));
  expect(stdout).toContain("domain/b.example goes with all that it holds: 1 record");
});

test("subnets that are made anew in a VPC that stays are named, as their ids are other ones", async () => {
  const service = await emulator();
  const { apply, tenon } = await project(service);
  await done(apply(network("a", `${S0}, { label: s1, ipv4: 10.0.1.0/24 }, { label: s2, ipv4: 10.0.2.0/24 }`)));
  await done(apply(network("a", `${S0}, { label: s2, ipv4: 10.0.3.0/24 }`), "--journal", "run.jsonl"));
  const { stdout } = await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(stdout).toContain("vpc/a/subnet/s1 gets a new id");
  expect(stdout).toContain("vpc/a/subnet/s2 gets a new id");
  expect(stdout).not.toContain("vpc/a gets");
  expect(stdout).not.toContain("vpc/a/subnet/s0");
});

test("a status that somebody has set since stays, though the finished run had it for a moment", async () => {
  const slave = { domain: "a.example", type: "slave" as const, master_ips: ["192.0.2.53"] };
  const service = await emulator({ seed: { domains: [slave] } });
  const { apply, tenon } = await project(service);
  const master = zone("{ type: A, name: a, target: 192.0.2.4 }").replace("owner: platform\n", "");
  await done(apply(master, "--journal", "run.jsonl"));
  const domain = async () => (await tested(service).send("GET", "/domains")).body.data[0];
  // As the run itself had set it before it filled the zone.
  await tested(service).send("PUT", `/domains/${(await domain()).id}`, { status: "disabled" });
  await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect(await domain()).toMatchObject({ type: "slave", status: "disabled" });
});

test("what an entry declares by its former name, or by an id and a name, is protected by any of them", async () => {
  for (const entry of ["moved_from: a, protect: true", "id: 0, protect: true"]) {
    const service = await emulator();
    const { cwd, apply, tenon } = await project(service);
    await done(apply("tenon: 1\n"));
    await done(apply(network("a", S0), "--journal", "run.jsonl"));
    const [made] = (await tested(service).send("GET", "/vpcs")).body.data;
    const manifest = network("b", S0, `, ${entry.replace("id: 0", `id: ${made.id}`)}`);
    await writeFile(join(cwd, "tenon.yaml"), manifest);
    const { stdout } = await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW), 4);
    expect(stdout).toMatch(/vpc\/[ab] is protected/);
    expect(await subnetsOf(service)).toEqual(["a us-east", "s0 10.0.0.0/24"]);
  }
});

test("what somebody has filled in since is not deleted with the object that a run made, whatever field it is", async () => {
  const service = await emulator();
  const { apply, tenon } = await project(service);
  await done(apply("tenon: 1\n"));
  await done(apply(zone(MX), "--journal", "run.jsonl"));
  const [made] = (await tested(service).send("GET", "/domains")).body.data;
  for (const change of [{ ttl_sec: 300 }, { tags: [...made.tags, "theirs"] }, { description: "theirs" }]) {
    await tested(service).send("PUT", `/domains/${made.id}`, change);
    const { stdout } = await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW), 6);
    expect(stdout).toContain("blocked: somebody has changed it since the run");
    const { ttl_sec, tags, description } = made;
    await tested(service).send("PUT", `/domains/${made.id}`, { ttl_sec, tags, description });
  }
  await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
  expect((await tested(service).send("GET", "/domains")).body.data).toEqual([]);
});

test.each([
  ["edge", []],
  ["them", ["--take-ownership-from", "them"]],
])(
  "a domain that a run let go has its owner's tag again, also if a part of it is the project's: %s",
  async (owner, flags) => {
    const tags = [`tenon:${owner}`, "tenon-part:edge"];
    const service = await emulator({ seed: { domains: [{ domain: "a.example", soa_email: "a@a.example", tags }] } });
    const { apply, tenon } = await project(service);
    const tagsNow = async () => (await tested(service).send("GET", "/domains")).body.data[0].tags;
    const release = "tenon: 1\nowner: edge\nremoved: [{ domain: a.example, destroy: false }]\n";
    await done(apply(release, "--journal", "run.jsonl", ...flags));
    expect(await tagsNow()).not.toContain(`tenon:${owner}`);
    await done(tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW));
    expect((await tagsNow()).sort()).toEqual(tags.toSorted());
  },
);
