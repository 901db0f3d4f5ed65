/** The GitHub workflows, run: real shells, a real repository, the real tool against the emulator. GitHub is stood in for. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { emulator } from "../cli/run.ts";
import { BOT, Forge, REPOSITORY, REPOSITORY_ID } from "../examples/ci/forge.ts";
import { Repository } from "../examples/ci/repository.ts";
import { type RunEvent, Runner } from "../examples/ci/runner.ts";
import { tested } from "../support/emulator.ts";

/** Many processes; a busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;
const FORK = "stranger/infra";
const SECRETS = { TENON_TOKEN: "emulator-token", TENON_TOKEN_READ: "emulator-token" };

/** In the form that `tenon fmt` gives it. */
const zone = (...records: readonly string[]) => `tenon: 1
owner: edge

domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
${[...records, "www"].map((name) => `      - { type: A, name: ${name}, target: 192.0.2.1, ttl_sec: 300 }\n`).join("")}`;

describe("tenon-plan.yml", { timeout: TIMEOUT_MILLISECONDS }, () => {
  it("keeps one comment, which it writes over, and leaves other people's alone", async () => {
    const { forge, runner, repository } = await open();
    const lure = forge.item("stranger", { body: "<!-- tenon-plan . -->\nforged" });
    forge.comments.push(...Array.from({ length: 120 }, () => forge.item("somebody", { body: "Nice" })), lure);

    const first = await repository.propose(zone("api"));
    const { jobs } = await runner.run("tenon-plan.yml", pullRequest(first.merge));
    expect(results(jobs)).toEqual({
      validate: "success",
      plan: "success",
      comment: "success",
      "plan-without-token": "skipped",
    });
    const mine = () => forge.comments.filter(({ user }) => user.login === BOT);
    expect(mine()).toHaveLength(1);
    expect(mine()[0]?.body).toMatch(/^<!-- tenon-plan \. -->\n/);
    expect(mine()[0]?.body).toContain("api");
    expect(mine()[0]?.body).toContain("/actions/runs/");

    const second = await repository.propose(zone("api", "cdn"));
    await runner.run("tenon-plan.yml", pullRequest(second.merge), ["plan", "comment"]);
    expect(mine()).toHaveLength(1);
    expect(mine()[0]?.body).toContain("cdn");
    expect(lure.body).toContain("forged");
    expect(forge.written.map((line) => line.split(" ")[0])).toEqual(["POST", "PATCH"]);
  });

  it("fails and says why where there is no plan, in words that are no markup", async () => {
    const { forge, runner, repository } = await open();
    const { merge } = await repository.propose(zone("api").replace("192.0.2.1", "'`<img src=x>`'"));
    const { jobs } = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan", "comment"]);
    expect(results(jobs)).toEqual({ plan: "failure", comment: "success" });
    expect(jobs["plan"]?.log).toContain("::error title=Tenon plan, exit code 3::");
    const body = forge.comments[0]?.body ?? "";
    expect(body).toContain("The manifest is invalid");
    const quoted = body.split("\n").filter((line) => line.includes("<img"));
    expect(quoted.length).toBeGreaterThan(0);
    for (const line of quoted) expect(line).toMatch(/^ {4}/);
  });

  it("plans the change that mends a broken main, and says that it cannot tell changes apart", async () => {
    const { forge, runner, repository } = await open();
    await repository.git("checkout", "--quiet", "main");
    await repository.commit(`${zone()}nonsense: 1\n`);
    const { merge } = await repository.propose(zone("api"));
    const { jobs } = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan", "comment"]);
    expect(results(jobs)).toEqual({ plan: "success", comment: "success" });
    const body = forge.comments[0]?.body ?? "";
    expect(body).toContain("the base refs/remotes/origin/main is invalid");
    expect(body).toMatch(/origin\/main:tenon\.yaml:\d+:1: /);
    expect(body).toContain("api");
  });

  it("gives a fork no token: it validates, and plans against the snapshot of a private repository alone", async () => {
    const { forge, runner, repository } = await open();
    const main = await repository.git("rev-parse", "main");
    const { merge } = await repository.propose(zone("api"));
    const fork = { ...pullRequest(merge), pull: { number: 7, repository: FORK }, secrets: {} };
    // What a pull request has uploaded under that name is no snapshot of ours.
    const lures = [snapshotOf(9_001, "main", 9), snapshotOf(9_002, "proposal", REPOSITORY_ID)];
    forge.artifacts.push(...lures);
    const without = await runner.run("tenon-plan.yml", fork);
    expect(results(without.jobs)).toEqual({
      validate: "success",
      plan: "skipped",
      comment: "skipped",
      "plan-without-token": "success",
    });
    expect(without.jobs["plan-without-token"]?.log).not.toContain("api");

    await runner.run("tenon-drift.yml", night(main), ["drift"]);
    const planned = await runner.run("tenon-plan.yml", fork, ["plan-without-token"]);
    // As a whole, so that a failure shows the log.
    expect(planned.jobs["plan-without-token"]).toMatchObject({
      result: "success",
      log: expect.stringContaining("api"),
    });
    expect(planned.jobs["plan-without-token"]?.summary).toContain("api");
    expect(forge.comments).toEqual([]);
  });
});

describe("tenon-apply.yml", { timeout: TIMEOUT_MILLISECONDS }, () => {
  it("refuses a run that is started again after a newer commit, and makes one of the newest commit", async () => {
    const { forge, runner, repository, service } = await open();
    const merged = async (manifest: string, branch: string) => {
      const { head, merge } = await repository.propose(manifest, branch);
      const planned = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan"]);
      const sha = await repository.merge(branch);
      review(forge, planned.id, head, sha);
      return push(sha);
    };
    const done = { find: "success", plan: "skipped", apply: "success" };
    const older = await merged(zone("api"), "one");
    expect(results((await runner.run("tenon-apply.yml", older)).jobs)).toEqual(done);
    const again = await runner.run("tenon-apply.yml", { ...older, isRunAgain: true });
    expect(results(again.jobs)).toEqual(done);
    const newer = await merged(zone(), "two");
    expect(results((await runner.run("tenon-apply.yml", newer)).jobs)).toEqual(done);
    expect(await namesOf(service)).toEqual(["www"]);
    const { jobs } = await runner.run("tenon-apply.yml", { ...older, isRunAgain: true });
    expect(jobs["apply"]).toMatchObject({ result: "failure", log: expect.stringContaining("main has newer commits") });
    expect(await namesOf(service)).toEqual(["www"]);
  });

  it("applies what was reviewed, and after a further change on the account nothing until a person has looked", async () => {
    const { forge, runner, repository, service } = await open();
    const { head, merge } = await repository.propose(zone("api"));
    const planned = await runner.run("tenon-plan.yml", pullRequest(merge), ["plan"]);
    const sha = await repository.merge();
    review(forge, planned.id, head, sha);

    const applied = await runner.run("tenon-apply.yml", push(sha));
    expect(results(applied.jobs)).toEqual({ find: "success", plan: "skipped", apply: "success" });
    expect(await namesOf(service)).toEqual(["api", "www"]);
    expect(applied.jobs["apply"]?.summary).not.toBe("");
    // Between the two, GitHub obeys no line of the log, whatever a record holds.
    expect(applied.jobs["apply"]?.log).toMatch(/^::stop-commands::(\S+)\n[\s\S]*^Apply complete!.*[\s\S]*^::\1::$/m);
    const journal = join(runner.artifact(runner.artifactId(applied.id, "tenon-journal-1")), "journal.jsonl");
    expect(await readFile(journal, "utf8")).toContain("api");

    // Somebody deletes a record that the reviewed plan does not make.
    await removeRecord(service, "www");
    const again = await runner.run("tenon-apply.yml", push(sha));
    expect(results(again.jobs)).toMatchObject({ apply: "failure" });
    expect(again.jobs["apply"]?.log).toContain("::error title=Tenon apply, exit code 5::Not within the reviewed plan");
    expect(again.jobs["apply"]?.summary).toContain("Plan anew");
    expect(await namesOf(service)).toEqual(["api"]);

    const byHand = await runner.run("tenon-apply.yml", { ...push(sha), name: "workflow_dispatch" });
    expect(results(byHand.jobs)).toEqual({ find: "skipped", plan: "success", apply: "success" });
    expect(await namesOf(service)).toEqual(["api", "www"]);
  });

  it("applies nothing that nobody reviewed, be it pushed or planned by a fork", async () => {
    const { forge, runner, repository, service } = await open();
    const pushed = await runner.run("tenon-apply.yml", push(await repository.commit(zone("api"))));
    expect(results(pushed.jobs)).toEqual({ find: "failure", plan: "skipped", apply: "skipped" });
    expect(pushed.jobs["find"]?.log).toContain("::error title=No reviewed plan::");

    const { head } = await repository.propose(zone("api", "cdn"));
    const sha = await repository.merge();
    review(forge, forge.id(), head, sha, FORK);
    const merged = await runner.run("tenon-apply.yml", push(sha));
    expect(results(merged.jobs)).toMatchObject({ find: "failure", apply: "skipped" });
    expect(await namesOf(service)).toEqual(["www"]);
  });
});

describe("tenon-drift.yml", { timeout: TIMEOUT_MILLISECONDS }, () => {
  it("opens one issue, keeps it up to date, and closes it", async () => {
    const { forge, runner, repository, service } = await open();
    const main = await repository.git("rev-parse", "main");
    forge.isPrivate = false;
    await removeRecord(service, "www");
    for (let nights = 0; nights < 2; nights += 1) {
      const { jobs } = await runner.run("tenon-drift.yml", night(main));
      expect(results(jobs)).toEqual({ drift: "success", issue: "success" });
    }
    expect(forge.issues).toMatchObject([{ state: "open", labels: ["tenon-drift"], user: { login: BOT } }]);
    expect(forge.issues[0]?.body).toContain("www");

    await repository.commit(zone().replace(/records:\n.*\n/, "records: []\n"));
    await runner.run("tenon-drift.yml", night(await repository.git("rev-parse", "main")));
    expect(forge.issues).toMatchObject([{ state: "closed" }]);
    const issue = `/issues/${forge.issues[0]?.number}`;
    expect(forge.written).toEqual(["POST /issues", `PATCH ${issue}`, `POST ${issue}/comments`, `PATCH ${issue}`]);
  });
});

/** A repository whose manifest is applied. */
async function open() {
  const service = await emulator();
  const repository = await Repository.open(zone());
  const forge = await Forge.open();
  const runner = await Runner.open(forge, repository.folder, service.baseUrl);
  const { send } = tested(service);
  const made = await send("POST", "/domains", {
    domain: "example.com",
    type: "master",
    soa_email: "hostmaster@example.com",
    tags: ["tenon:edge"],
  });
  await send("POST", `/domains/${made.body.id}/records`, { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 });
  return { service, repository, forge, runner };
}

function pullRequest(sha: string): RunEvent {
  const ref = "refs/pull/7/merge";
  return {
    name: "pull_request",
    sha,
    ref,
    base_ref: "main",
    pull: { number: 7, repository: REPOSITORY },
    secrets: SECRETS,
  };
}

function push(sha: string): RunEvent {
  return { name: "push", sha, ref: "refs/heads/main", secrets: SECRETS };
}

function night(sha: string): RunEvent {
  return { ...push(sha), name: "schedule" };
}

/** The pull request was planned by this run, and merged as `sha`. */
function review(forge: Forge, run: number, head: string, sha: string, repository = REPOSITORY): void {
  const merged_at = "2026-11-21T00:00:00Z";
  const id = 7 + forge.pulls.length;
  forge.pulls.push({ id, number: id, head: { sha: head }, base: { ref: "main" }, merged_at, merge_commit_sha: sha });
  forge.runs.push({
    id: run,
    run_number: run,
    event: "pull_request",
    status: "success",
    head_sha: head,
    head_repository: { full_name: repository },
  });
}

function snapshotOf(run: number, branch: string, repository: number) {
  const from = { id: run, head_branch: branch, head_repository_id: repository };
  return { id: run, name: "tenon-snapshot", expired: false, workflow_run: from };
}

function results(jobs: Readonly<Record<string, { readonly result: string }>>): Record<string, string> {
  return Object.fromEntries(Object.entries(jobs).map(([name, { result }]) => [name, result]));
}

async function recordsOf(service: Emulator): Promise<{ readonly path: string; readonly name: string }[]> {
  const { send } = tested(service);
  const domains = await send("GET", "/domains");
  const path = `/domains/${domains.body.data[0].id}/records`;
  const { body } = await send("GET", path);
  return body.data.map(({ id, name }: { id: number; name: string }) => ({ path: `${path}/${id}`, name }));
}

async function namesOf(service: Emulator): Promise<string[]> {
  return (await recordsOf(service)).map(({ name }) => name).sort();
}

async function removeRecord(service: Emulator, name: string): Promise<void> {
  const found = (await recordsOf(service)).find((record) => record.name === name);
  await tested(service).send("DELETE", found?.path ?? "");
}
