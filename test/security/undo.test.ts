/** What an undo takes back: what its own run has done, all of it, and nothing that anybody else has made. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { type JournalEntry, runOfEntries } from "../../src/index.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { faults } from "../cli/stage.ts";
import { Account, ALL_CONSENTS, changeList, HASTY_CLOCK } from "../support/account.ts";
import { tested } from "../support/emulator.ts";

const ALLOW = ["delete", "replace", "bulk"].flatMap((rule) => ["--allow", `${rule}=**`]);

async function staged(manifest: string, options: Parameters<typeof emulator>[0]) {
  const service = await emulator(options);
  const cwd = await folder({ "tenon.yaml": manifest });
  const tenon = (...args: string[]) => here(args, { cwd, env: envOf(service) });
  expect(await tenon("apply", "--yes", "--journal", "run.jsonl", ...ALLOW)).toMatchObject({ code: 0 });
  return { service, cwd, tenon };
}

async function vpcsOf(service: Emulator): Promise<string[]> {
  const { body } = await tested(service).send("GET", "/vpcs");
  return body.data.map(
    ({ label, region, description, subnets }: Record<string, unknown>) =>
      `${label} ${region} ${description} ${(subnets as { ipv4: string }[]).map(({ ipv4 }) => ipv4)}`,
  );
}

const OURS = "[tenon:edge]";
const SUBNETS = [{ label: "s", ipv4: "10.0.0.0/24" }];
const TWINS = [
  { id: 1, label: "prod", region: "us-east", description: OURS, subnets: SUBNETS },
  { id: 2, label: "prod", region: "eu-west", description: OURS },
  { id: 3, label: "prod", region: "us-east", description: OURS, subnets: SUBNETS },
  { id: 4, label: "prod", region: "us-east", description: "of others" },
];

test("networks of one name that a run deleted all come back beside one that was there all the time, also by an undo that was cut off", async () => {
  const { service, tenon } = await staged("tenon: 1\nowner: edge\n", { seed: { vpcs: TWINS } });
  expect(await vpcsOf(service)).toEqual(["prod us-east of others "]);
  expect(await tenon("undo", "run.jsonl", "--out", "undo.plan")).toMatchObject({ code: 0 });
  const [fault] = faults("status=400,method=POST,path=/vpcs,nth=2").faults ?? [];
  if (fault === undefined) throw new Error("there is no fault");
  service.setFaults([fault]);
  expect(await tenon("apply", "--plan", "undo.plan", "--yes", "--concurrency", "1")).toMatchObject({ code: 6 });
  service.setFaults([]);
  // The very plan again: what it names does not depend on how much of it is done.
  const { code, stdout } = await tenon("apply", "--plan", "undo.plan", "--yes");
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("1 added, 0 changed, 0 destroyed"),
  });
  expect((await vpcsOf(service)).sort()).toEqual([
    `prod eu-west ${OURS} `,
    `prod us-east ${OURS} 10.0.0.0/24`,
    `prod us-east ${OURS} 10.0.0.0/24`,
    "prod us-east of others ",
  ]);
  expect((await tenon("undo", "run.jsonl")).stdout).toBe("No changes. Nothing that the run did is left to undo.\n");
});

test("networks of one name that a run renamed have that name again, and each its own subnets", async () => {
  const seed = { vpcs: TWINS.slice(0, 2) };
  const manifest =
    "tenon: 1\nowner: edge\nvpcs:\n" +
    "  - { id: 1, label: a, region: us-east, subnets: [{ label: s, ipv4: 10.0.9.0/24 }] }\n  - { id: 2, label: b, region: eu-west }\n";
  const { service, cwd, tenon } = await staged(manifest, { seed });
  await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\nowner: edge\n");
  const { code, stdout } = await tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("2 changed") });
  expect(await vpcsOf(service)).toEqual([`prod us-east ${OURS} 10.0.0.0/24`, `prod eu-west ${OURS} `]);
});

test("an undo leaves what another run made while its own run was making the same, and gave way to it", async () => {
  const seed = { domains: [{ id: 1, domain: "a.example", soa_email: "a@a.example", tags: ["tenon:edge"] }] };
  const account = await Account.open({ seed });
  onTestFinished(() => account.close());
  const { desired } = await account.load(
    "tenon: 1\nowner: edge\nvpcs: [{ label: prod, region: us-east }]\n" +
      "domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }]\n",
  );
  if (desired === null) throw new Error("the manifest is invalid");
  const { plan, live } = await account.planned(desired);
  const theirs = plan.steps.flatMap((step) => (step.type === "request" && step.method === "POST" ? [step] : []));
  expect(theirs.map(({ changes: [key] }) => key)).toEqual(["vpc/prod", "domain/a.example/www/A"]);
  // Between the look of this run and its requests.
  for (const { path, body } of theirs) {
    expect(
      (await account.api.send({ method: "POST", path: path.map(String), ...(body === null ? {} : { body }) })).ok,
    ).toBe(true);
  }
  const entries: JournalEntry[] = [
    {
      ...{
        type: "run",
        format_version: 1,
        started: "2026-11-22T10:00:00.000Z",
        version: "0",
        actor: null,
        commit: null,
      },
      ...{ host: "h", account: null, environment: null, owner: "edge", goal: "apply" },
    },
  ];
  const record = async (entry: JournalEntry): Promise<null> => {
    entries.push(entry);
    return null;
  };
  const journal = { path: "j", conceal: () => {}, record, close: async () => {} };
  const report = await account.apply(plan, { clock: HASTY_CLOCK, journal, live });
  expect(report.notices.filter((notice) => notice.includes("this run deleted its own"))).toHaveLength(2);
  const read = await runOfEntries(entries, "j");
  if (!read.ok) throw new Error(read.diagnostic.summary);
  const undo = await account.plan(desired, { goal: "undo", run: read.run, consents: ALL_CONSENTS });
  expect(changeList(undo)).toEqual([]);
  expect(undo.warnings.map(({ code, summary }) => `${code}: ${summary}`).sort()).toEqual([
    "undo-gave-way: a record of domain/a.example stays: the run gave way to an equal one that was there first",
    "undo-gave-way: vpc/prod stays: the run gave way to an equal one that was there first",
  ]);
});

test("what somebody has changed since is not deleted by the undo of a run that was killed, as by that of any other", async () => {
  const manifest = "tenon: 1\nowner: edge\nvpcs: [{ label: prod, region: us-east }]\n";
  const made = "domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [] }]\n";
  const { service, cwd, tenon } = await staged(manifest + made, {});
  const whole = await readFile(join(cwd, "run.jsonl"), "utf8");
  await writeFile(join(cwd, "killed.jsonl"), whole.replace(/.*"type":"end".*\n/, ""));
  const { send } = tested(service);
  const [[vpc], [domain]] = [(await send("GET", "/vpcs")).body.data, (await send("GET", "/domains")).body.data];
  await send("PUT", `/vpcs/${vpc.id}`, { description: "theirs by now" });
  await send("PUT", `/domains/${domain.id}`, { soa_email: "theirs@a.example" });
  const { code, stdout } = await tenon("apply", "--undo", "killed.jsonl", "--yes", ...ALLOW);
  expect(stdout.match(/blocked: somebody has changed it since the run/g)).toHaveLength(2);
  expect(code).toBe(6);
  expect((await send("GET", "/vpcs")).body.results + (await send("GET", "/domains")).body.results).toBe(2);
});

test("networks of one name of which a run renamed one and deleted the other have that name again", async () => {
  const { service, cwd, tenon } = await staged(
    "tenon: 1\nowner: edge\nvpcs: [{ id: 1, label: kept, region: us-east }]\n",
    { seed: { vpcs: TWINS.slice(0, 3).map((vpc) => ({ ...vpc, subnets: [] })) } },
  );
  expect(await vpcsOf(service)).toEqual([`kept us-east ${OURS} `]);
  await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\nowner: edge\n");
  const { code, stdout } = await tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Undo complete!") });
  expect((await vpcsOf(service)).sort()).toEqual([
    `prod eu-west ${OURS} `,
    `prod us-east ${OURS} `,
    `prod us-east ${OURS} `,
  ]);
});

test("an image stays in an undo of the run that retired the older ones for it, as these do not come back", async () => {
  const old = { description: "[tenon:edge]", status: "available", size: 10 } as const;
  const images = [
    { ...old, id: "private/5", label: "golden-1", created: "2026-01-01T00:00:00" },
    { ...old, id: "private/6", label: "golden-0", created: "2025-01-01T00:00:00" },
  ];
  const entry = "{ label: golden-2, family: golden, keep: 1, capture: { disk_id: 123 } }";
  const { service, cwd, tenon } = await staged(
    `tenon: 1\nowner: edge\nimages: [${entry}]\nvpcs: [{ label: prod, region: us-east }]\n`,
    { seed: { images, disks: [{ id: 123, label: "boot", size: 100 }] } },
  );
  const labels = async () =>
    (await tested(service).send("GET", "/images")).body.data.map(({ label }: { label: string }) => label);
  expect(await labels()).toEqual(["golden-2"]);
  await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\nowner: edge\n");
  const { code, stdout } = await tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("0 added, 0 changed, 1 destroyed"),
  });
  expect(stdout).toContain("Warning: image/golden-2 stays: what the run deleted does not come back");
  expect(await labels()).toEqual(["golden-2"]);
});

test("a network gets back the name that another one had all the time", async () => {
  const seed = {
    vpcs: [TWINS[1], TWINS[3]].map((vpc) => ({ ...vpc, id: vpc?.id ?? 0, label: "prod", region: "eu-west" })),
  };
  const manifest = "tenon: 1\nowner: edge\nvpcs: [{ id: 2, label: other, region: eu-west }]\n";
  const { service, cwd, tenon } = await staged(manifest, { seed });
  expect(await vpcsOf(service)).toEqual([`other eu-west ${OURS} `, "prod eu-west of others "]);
  await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\nowner: edge\n");
  const { code, stdout } = await tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringContaining("get its name back") });
  expect(await vpcsOf(service)).toEqual([`prod eu-west ${OURS} `, "prod eu-west of others "]);
});

test("a network does not get back a name that somebody has given to another one since, and the rest of it is as it was", async () => {
  const vpcs = [{ id: 1, label: "prod", region: "us-east", description: OURS, subnets: SUBNETS }];
  const entry =
    "{ label: other, moved_from: prod, region: us-east, description: new, subnets: [{ label: s, ipv4: 10.0.0.0/24 }] }";
  const { service, cwd, tenon } = await staged(`tenon: 1\nowner: edge\nvpcs: [${entry}]\n`, { seed: { vpcs } });
  await tested(service).send("POST", "/vpcs", { label: "prod", region: "us-east", description: "theirs" });
  await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\nowner: edge\n");
  const { code, stdout } = await tenon("apply", "--undo", "run.jsonl", "--yes", ...ALLOW);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("does not get its name back: another"),
  });
  expect(await vpcsOf(service)).toEqual([`other us-east ${OURS} 10.0.0.0/24`, "prod us-east theirs "]);
});

test("an undo leaves the records of a zone alone if the patterns under ignore are too many to be compared with them", async () => {
  const records = Array.from({ length: 700 }, (_, index) => ({
    ...{ type: "TXT", name: `t${index}`, target: "a".repeat(3_000) },
  }));
  const zone = { domain: "a.example", type: "master", soa_email: "a@a.example" } as const;
  const manifest = (patterns: number) => {
    const ignore = Array.from({ length: patterns }, (_, index) => ({ type: "AAAA", name: `n${index}` }));
    const own = { records_policy: "additive", records: [{ type: "A", name: "www", target: "192.0.2.1" }] };
    return JSON.stringify({ tenon: 1, owner: "edge", domains: [{ ...zone, ignore, ...own }] });
  };
  const seed = { domains: [{ ...zone, id: 1, tags: ["tenon:edge"], records }] } as never;
  const { cwd, tenon } = await staged(manifest(0), { seed });
  for (const [patterns, said] of [
    [10, "- www A 192.0.2.1"],
    [1_000, "a record of domain/a.example that the run changed is left alone"],
  ] as const) {
    await writeFile(join(cwd, "tenon.yaml"), manifest(patterns));
    const { stdout, stderr } = await tenon("undo", "run.jsonl");
    expect((stdout + stderr).replace(/\s+/g, " ")).toContain(said);
  }
});
