/** Entries with an owner, a reason and dates: where they are shown, and what a plan and an apply make of a record that has expired. */

import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, folder, run } from "./run.ts";

const YESTERDAY = dayBefore(new Date()).toISOString().slice(0, 10);
const HOSTILE = "team\\u202e\\u001b[31m</script>";

const MANIFEST = `tenon: 1
owner: edge
vpcs:
  - label: prod
    region: us-east
    owner: net-team
    expires: 2020-12-31
    subnets: [{ label: web, ipv4: 10.0.1.0/24, reason: frontends }]
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    owner: dns-team
    records:
      - { type: A, name: www, target: 198.51.100.1, owner: Ada, review_by: 2020-12-31 }
      - { type: A, name: old, targets: [198.51.100.2, 198.51.100.3], owner: "team/dns", reason: "spring\\ncampaign", expires: ${YESTERDAY} }
`;

const SEED = {
  vpcs: [
    {
      id: 1,
      label: "prod",
      region: "us-east",
      description: "[tenon:edge]",
      subnets: [{ id: 1, label: "web", ipv4: "10.0.1.0/24" }],
    },
  ],
  domains: [
    {
      id: 1,
      domain: "example.com",
      soa_email: "a@example.com",
      tags: ["tenon:edge"],
      records: [
        { id: 1, type: "A" as const, name: "www", target: "198.51.100.1" },
        { id: 2, type: "A" as const, name: "old", target: "198.51.100.2", ttl_sec: 300 },
        { id: 3, type: "A" as const, name: "old", target: "198.51.100.3" },
      ],
    },
  ],
};

async function project(manifest = MANIFEST) {
  const service = await emulator({ seed: SEED });
  const cwd = await folder({ "tenon.yaml": manifest });
  const options = { cwd, env: envOf(service) };
  const records = async () => {
    const headers = { authorization: "Bearer emulator-token" };
    const answer = await fetch(`${service.baseUrl}/domains/1/records`, { headers });
    return ((await answer.json()) as { data: { target: string }[] }).data.map(({ target }) => target).sort();
  };
  return { service, cwd, options, records, tenon: (...args: string[]) => here(args, options) };
}

function dayBefore(day: Date): Date {
  const before = new Date(day);
  before.setUTCDate(day.getUTCDate() - 1);
  return before;
}

function checkAgainstSchema(name: string, document: unknown): void {
  const schema = JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), "utf8"));
  const fits = new Ajv2020({ strict: false }).compile(schema);
  expect(fits(document), JSON.stringify(fits.errors)).toBe(true);
}

const ALLOW = "--allow=delete=domain/example.com/old/A";
const SAID = "owner: team/dns; reason: spring";

describe("an expired record", () => {
  it("is planned away with its date and what its entry says, and needs the consent `delete`, one for its address", async () => {
    const { options, tenon, records } = await project();
    const planned = await tenon("plan");
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain(`- old A 198.51.100.2 ttl 300 (expired on ${YESTERDAY})\n`);
    expect(planned.stdout).toContain(SAID);
    expect(planned.stdout).toContain(
      `  domain/example.com/old/A would be deleted: its entry expired on ${YESTERDAY}\n      --allow delete=domain/example.com/old/A\n`,
    );
    expect(planned.stdout).toContain("Plan: 0 to add, 0 to change, 2 to destroy.\n");
    const refused = await run(["apply", "--yes"], options);
    expect(refused.code).toBe(4);
    expect(await records()).toHaveLength(3);
    expect(await tenon("apply", "--yes", ALLOW)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("delete domain/example.com/old/A, whose entry has expired"),
    });
    expect(await records()).toEqual(["198.51.100.1"]);
    expect((await tenon("plan")).stdout).toContain("No changes. Your infrastructure matches the configuration.");
  });

  it("goes with a consent in the root file that still holds, and many of them are one refusal with one glob", async () => {
    const targets = Array.from(
      { length: 5 },
      (_, index) => `{ type: A, name: n${index}, target: 198.51.100.${index}, `,
    );
    const records = targets.map((one) => `      - ${one}expires: ${YESTERDAY} }\n`).join("");
    const { service, tenon, cwd } = await project(`${MANIFEST}${records.replaceAll(`, expires: ${YESTERDAY}`, "")}`);
    expect(await tenon("apply", "--yes", ALLOW)).toMatchObject({ code: 0 });
    await writeFile(join(cwd, "tenon.yaml"), `${MANIFEST}${records}`);
    const { stdout } = await tenon("plan");
    expect(stdout).toContain("5 records would be deleted: their entries have expired");
    expect(stdout).toContain("--allow 'delete=domain/example.com/n*/A'");
    service.clearRequests();
    const allow = 'allow: [{ delete: "domain/example.com/n*", until: 2999-12-31, reason: over }]\n';
    await writeFile(join(cwd, "tenon.yaml"), `${MANIFEST}${records}${allow}`);
    expect(await tenon("apply", "--yes")).toMatchObject({ code: 0 });
    expect(service.requests.filter(({ method }) => method === "DELETE")).toHaveLength(5);
  });

  it("is left out by --never-destroy, which names it", async () => {
    const { tenon, records } = await project();
    const { code, stdout } = await tenon("apply", "--yes", "--never-destroy");
    expect(code).toBe(0);
    expect(stdout).toContain("Left out by --never-destroy: 2 to delete");
    expect(await records()).toHaveLength(3);
  });

  it("is no part of a plan that was reviewed while it had not expired: that one does no more than it shows", async () => {
    const { tenon, cwd, records } = await project(
      MANIFEST.replace("name: www, target: 198.51.100.1", "name: www, target: 198.51.100.7"),
    );
    expect(await tenon("live", "--out", "account.json")).toMatchObject({ code: 0 });
    const file = join(cwd, "account.json");
    const snapshot = JSON.parse(await readFile(file, "utf8"));
    // The snapshot's time is the plan's.
    await writeFile(file, JSON.stringify({ ...snapshot, read_at: `${YESTERDAY}T23:59:59.000Z` }));
    const before = await tenon("plan", "--live", "account.json", "--out", "the.plan");
    expect(before.stdout).toContain("Plan: 0 to add, 2 to change, 0 to destroy.\n");
    const applied = await tenon("apply", "--plan", "the.plan", "--yes", ALLOW);
    expect(applied.code).toBe(5);
    expect(applied.stderr).toContain("domain/example.com/old/A");
    expect(await records()).toContain("198.51.100.2");
    expect(await tenon("plan", "--out", "new.plan")).toMatchObject({ code: 0 });
    expect(await tenon("apply", "--plan", "new.plan", "--yes", ALLOW)).toMatchObject({ code: 0 });
    expect(await records()).toEqual(["198.51.100.7"]);
  });

  it("is not deleted by a reviewed plan that shows its deletion if its entry has been made to last since", async () => {
    const { tenon, cwd, records } = await project();
    expect(await tenon("plan", "--out", "the.plan")).toMatchObject({ code: 0 });
    await writeFile(join(cwd, "tenon.yaml"), MANIFEST.replace(`expires: ${YESTERDAY}`, "expires: 2999-12-31"));
    expect((await tenon("apply", "--plan", "the.plan", "--yes", ALLOW)).code).toBe(5);
    expect(await records()).toHaveLength(3);
  });

  it("is drift while it is there", async () => {
    const { tenon } = await project();
    const { code, stdout } = await tenon("drift");
    expect(code).toBe(2);
    expect(stdout).toContain(`(its entry expired on ${YESTERDAY})`);
    expect(stdout).toContain(SAID);
    const json = JSON.parse((await tenon("drift", "--format", "json")).stdout);
    checkAgainstSchema("drift", json);
    expect(json.objects[0].annotations).toEqual({ owner: "team/dns", reason: "spring\ncampaign", expires: YESTERDAY });
  });
});

describe("what entries say for people", () => {
  it("is in the plan's JSON and comes back from the file, in markdown, and in tenon show of an address", async () => {
    const { tenon } = await project();
    const json = JSON.parse((await tenon("plan", "--format", "json", "--out", "the.plan")).stdout);
    checkAgainstSchema("plan", json);
    expect(json.tenon.changes["vpc/prod"].annotations).toEqual({ owner: "net-team", expires: "2020-12-31" });
    expect(json.tenon.changes["vpc/prod/subnet/web"].annotations).toEqual({ reason: "frontends" });
    expect(json.tenon.changes["domain/example.com/old/A[0]"]).toMatchObject({
      labels: ["expired"],
      annotations: { owner: "team/dns", expires: YESTERDAY },
    });
    expect((await tenon("show", "the.plan")).stdout).toContain(SAID);
    expect((await tenon("plan", "--format", "markdown")).stdout).toContain(SAID);
    expect((await tenon("show", "domain/example.com/www/A")).stdout).toContain(
      "  entry: owner: Ada; review_by: 2020-12-31\n",
    );
    const shown = JSON.parse((await tenon("show", "vpc/prod", "--format", "json")).stdout);
    checkAgainstSchema("show", shown);
    expect(shown.objects[0].annotations).toEqual({ owner: "net-team", expires: "2020-12-31" });
  });

  it("is in tenon list: in columns that somebody fills, in JSON and in CSV beside the owner's tag", async () => {
    const { tenon } = await project();
    const { stdout } = await tenon("list", "records");
    expect(stdout.split("\n")[0]).toMatch(/TARGET +ENTRY OWNER +REASON +REVIEW BY +EXPIRES$/);
    expect(stdout).toMatch(/old +A +300 +owner edge .* team\/dns +spring\\ncampaign +- +\d{4}-\d\d-\d\d\n/);
    expect((await tenon("list", "subnets")).stdout.split("\n")[0]).toMatch(/ID +REASON$/);
    for (const kind of ["vpcs", "subnets", "domains", "records", "images"]) {
      checkAgainstSchema("list", JSON.parse((await tenon("list", kind, "--format", "json")).stdout));
    }
    const { vpcs } = JSON.parse((await tenon("list", "vpcs", "--format", "json")).stdout);
    expect(vpcs).toMatchObject([{ owner: "edge", entry_owner: "net-team", reason: null, expires: "2020-12-31" }]);
    expect((await tenon("list", "vpcs", "--format", "csv")).stdout).toContain(",vpc/prod,net-team,,,2020-12-31,");
    expect((await tenon("list", "vpcs", "--no-project")).stdout).not.toContain("ENTRY");
  });

  it("is in every export that has a place for it, and is named where there is none", async () => {
    const { tenon, cwd } = await project();
    for (const to of ["terraform", "octodns", "zone", "csv"]) {
      expect(await tenon("export", "--to", to, "--out", to)).toMatchObject({ code: 0 });
    }
    const text = (file: string) => readFile(join(cwd, file), "utf8");
    expect(await text("terraform/main.tf")).toContain(
      '# owner: net-team; expires: 2020-12-31\nresource "linode_vpc" "prod"',
    );
    expect(await text("octodns/example.com.yaml")).toContain("# owner: Ada; review_by: 2020-12-31\n");
    expect(await text("csv")).toContain(",net-team,,,2020-12-31\n");
    expect(await text("csv")).not.toContain("198.51.100.2");
    const { left_out } = JSON.parse((await tenon("export", "--to", "zone", "--out", "z", "--format", "json")).stdout);
    expect(left_out).toContainEqual(
      expect.objectContaining({ address: "domain/example.com/www/A", what: "review_by" }),
    );
  });

  it("is escaped wherever it is hostile", async () => {
    const { tenon } = await project(MANIFEST.replace('"team/dns"', `"${HOSTILE.replace("\\u001b", "")}"`));
    for (const args of [["plan"], ["drift"], ["list", "records"], ["validate"], ["plan", "--format", "markdown"]]) {
      const { stdout, stderr } = await tenon(...args);
      expect(stdout + stderr).not.toContain("\u202e");
      expect(stdout + stderr).toContain("\\u{202e}");
    }
    expect(await (await project(MANIFEST.replace('"team/dns"', `"${HOSTILE}"`))).tenon("plan")).toMatchObject({
      code: 3,
    });
  });

  it("is kept and laid out by tenon fmt, told by tenon explain, and never sent", async () => {
    const { tenon, cwd, service } = await project();
    const laid = "      - { type: A, name: a, expires: 2999-12-31, target: 198.51.100.9, reason: r, owner: o }\n";
    await writeFile(join(cwd, "tenon.yaml"), MANIFEST + laid);
    expect(await tenon("fmt")).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toContain(
      "{ type: A, name: a, target: 198.51.100.9, owner: o, reason: r, expires: 2999-12-31 }",
    );
    for (const field of ["vpcs.owner", "vpcs.subnets.expires", "domains.review_by", "images.reason"]) {
      expect(await tenon("explain", field), field).toMatchObject({ code: 0 });
    }
    expect((await tenon("explain", "domains.records.expires")).stdout).toContain("no longer declared");
    expect(await tenon("apply", "--yes", ALLOW)).toMatchObject({ code: 0 });
    const headers = { authorization: "Bearer emulator-token" };
    const lists = ["vpcs", "domains", "domains/1/records"].map((path) =>
      fetch(`${service.baseUrl}/${path}`, { headers }),
    );
    const sent = (await Promise.all((await Promise.all(lists)).map((answer) => answer.text()))).join();
    expect(sent).toContain("198.51.100.9");
    for (const word of ["review_by", "expires", "net-team", "campaign"]) expect(sent).not.toContain(word);
  });
});
