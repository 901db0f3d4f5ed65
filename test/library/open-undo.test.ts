/** A program undoes what a run has done, from its journal, as `tenon undo` does. */

import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OpenOptions, open, parsePlanFile, TenonError } from "../../src/index.ts";
import { renderPlanJson } from "../../src/render/index.ts";
import { emulator, folder } from "../cli/run.ts";
import { tested } from "../support/emulator.ts";

const manifest = (target: string, more = ""): string => `tenon: 1
owner: edge
environments: { staging: {} }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records: [{ type: A, name: www, target: ${target}, ttl_sec: 300 }]
${more}`;
const MADE = "  - { domain: made.example, type: master, soa_email: a@example.com, records: [] }\n";
const consentTo = (address: string) => [{ rule: "delete", address, until: null, reason: null, span: null }] as const;

/** An account in which a run has changed www and made a domain. */
async function ran(more: Partial<OpenOptions> = {}) {
  const service = await emulator();
  const dir = await folder({ "tenon.yaml": manifest("192.0.2.1") });
  const common = { dir, baseUrl: service.baseUrl, token: "emulator-token", retryForSeconds: 0 };
  const opened = async (options: Partial<OpenOptions> = {}) => {
    const project = await open({ ...common, ...options });
    onTestFinished(() => project.close());
    return project;
  };
  await (await opened()).apply();
  await writeFile(join(dir, "tenon.yaml"), manifest("192.0.2.2", MADE));
  const journal = join(dir, "run.jsonl");
  await (await opened()).apply(undefined, { journal });
  service.clearRequests();
  return { service, dir, journal, opened, project: await opened(more) };
}

async function codesOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TenonError)) throw new Error(`not refused: ${String(error)}`);
  return error.diagnostics.map(({ code }) => code);
}

describe("the undo of an opened project", () => {
  test("is a plan that only reads, and is applied as it was reviewed, with consent to what goes", async () => {
    const { service, project, opened, journal } = await ran({ consents: consentTo("domain/made.example") });
    const plan = await project.plan({ undo: journal });
    expect(plan).toMatchObject({ goal: "undo", inputs: { journal: { file: journal } } });
    const active = plan.changes.filter(({ action }) => action !== "no-op");
    expect(active.map(({ key, action }) => `${action} ${key}`).sort()).toEqual([
      "delete domain/made.example",
      "update domain/example.com/www/A",
    ]);
    expect(plan.warnings.map(({ code }) => code)).toEqual(["undo-manifest"]);
    expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(await codesOf((await opened()).apply(plan, { undo: journal }))).toEqual(["consent-missing"]);
    const report = await project.apply(plan);
    expect(report).toMatchObject({ changed: 1, destroyed: 1, failed: 0 });
    expect((await project.plan({ undo: journal })).changes.every(({ action }) => action === "no-op")).toBe(true);
    const { body } = await tested(service).send("GET", "/domains");
    expect(body.data.map(({ domain }: { domain: string }) => domain)).toEqual(["example.com"]);
  });

  test("may be reviewed as a file, and then does nothing that the file does not show", async () => {
    const { project, journal } = await ran({ consents: consentTo("*") });
    const saved = await parsePlanFile(
      renderPlanJson(await project.plan({ undo: journal, targets: ["domain/example.com"] })),
    );
    if (!saved.ok) throw new Error("not read");
    expect(await codesOf(project.apply(saved.plan))).toEqual(["plan-differs"]);
    expect(await codesOf(project.apply(saved.plan, { undo: journal }))).toEqual(["plan-differs"]);
    const report = await project.apply(saved.plan, { undo: journal, targets: ["domain/example.com"] });
    expect(report).toMatchObject({ changed: 1, destroyed: 0 });
  });

  test("says that a journal has no end, is none, is of several runs, or of another place", async () => {
    const { dir, project, opened, journal } = await ran();
    const text = await readFile(journal, "utf8");
    const lines = text.trimEnd().split("\n");
    const other = join(dir, "other.jsonl");
    await writeFile(other, `${lines.slice(0, -1).join("\n")}\n`);
    const codes = (await project.plan({ undo: other })).warnings.map(({ code }) => code);
    expect(codes).toEqual(["journal-unended", "undo-manifest"]);
    expect(await codesOf(project.plan({ undo: join(dir, "none") }))).toEqual(["journal-unreadable"]);
    expect(await codesOf((await opened({ env: "staging" })).plan({ undo: journal }))).toEqual(["journal-of-another"]);
    const ofAnother = text.replaceAll(/"run":"[0-9a-f]{16}"/g, '"run":"0123456789abcdef"');
    await appendFile(journal, ofAnother.replace(/"started":"\d+/, '"started":"1999'));
    expect(await codesOf(project.plan({ undo: journal }))).toEqual(["journal-several"]);
    const [, started = ""] = /"started":"([^"]*)"/.exec(text) ?? [];
    expect((await project.plan({ undo: journal, run: started })).goal).toBe("undo");
    await writeFile(journal, text.slice(0, -20));
    expect(await codesOf(project.plan({ undo: journal }))).toEqual(["journal-cut"]);
  });

  test("stands beside no goal, and a run beside no journal is a mistake of the program", async () => {
    const { project, journal } = await ran();
    expect(await codesOf(project.plan({ undo: journal, goal: "destroy" }))).toEqual(["undo-conflicting"]);
    expect(await codesOf(project.plan({ run: "2026-11-26T00:00:00.000Z" }))).toEqual(["undo-conflicting"]);
  });
});
