/** Drafts of what real plans, applies and journals say; and of what somebody has made up. */

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { draftTicket, type TicketDraft } from "../../src/tickets/index.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder, run } from "../cli/run.ts";
import { faults } from "../cli/stage.ts";
import { tested } from "../support/emulator.ts";

const CONTEXT = { version: "1.2.3", nowMilliseconds: Date.UTC(2026, 10, 22, 10) };
const WRITTEN = "Written by Tenon 1.2.3 on 2026-11-22 (UTC).";

const SEED = {
  vpcs: [{ id: 101, label: "prod", region: "us-east", subnets: [{ id: 2001, label: "web", ipv4: "10.0.1.0/24" }] }],
  nodes: [{ id: 70, interfaces: [{ id: 50, subnet: "prod/web", active: true, address: "10.0.1.2", config_id: 90 }] }],
  domains: [{ id: 5, domain: "example.com", soa_email: "a@b.example" }],
};
const MANIFEST = `tenon: 1
removed: [{ vpc: prod }]
domains:
  - { domain: example.com, type: master, soa_email: new@b.example, records: [{ type: A, name: www, target: 192.0.2.1 }] }
`;

async function drafted(text: string): Promise<TicketDraft> {
  const result = await draftTicket(text, CONTEXT);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostic));
  expect([...result.draft.summary].length).toBeLessThanOrEqual(64);
  expect([...result.draft.description].length).toBeLessThanOrEqual(65_000);
  return result.draft;
}

async function world(...specs: readonly string[]) {
  const service = await emulator({ seed: SEED, ...faults(...specs) });
  const options = { cwd: await folder({ "tenon.yaml": MANIFEST }), env: envOf(service) };
  return { service, options };
}

describe("a draft", () => {
  test("of a plan has what blocks a delete, and its ids", async () => {
    const { options } = await world();
    const { stdout } = await here(["plan", "--format", "json"], options);
    const { summary, description, entity } = await drafted(stdout);
    expect(entity).toEqual({ kind: "vpc", id: 101 });
    expect(summary).toBe("Blocked: delete vpc/prod");
    expect(description).toBe(`1 change of our account cannot be made now.

1. delete vpc/prod
   Reason:  1 interface is attached
   Objects: vpc/prod (id 101)
   - node 70, interface 50 (active), configuration profile 90, address 10.0.1.2: shut down node 70, then delete interface 50

${WRITTEN}`);
  });

  test("of the events of an apply, of their last line, and of its journal says what failed, when, and of which objects", async () => {
    const { options, service } = await world("status=400,method=PUT");
    const { stdout, code } = await run(["apply", "--yes", "--format", "json"], options);
    expect(code).toBe(6);
    const events = await drafted(stdout);
    const report = await drafted(stdout.trimEnd().split("\n").at(-1) ?? "");
    const journals = join(options.cwd, ".tenon/journal");
    const [file = ""] = await readdir(journals);
    const journal = await drafted(await readFile(join(journals, file), "utf8"));
    expect(events.summary).toBe("Failed: update domain/example.com (and 2 more)");
    expect(journal.summary).toBe("Failed: update domain/example.com");
    for (const { description } of [events, report, journal]) {
      expect(description).toMatch(/Status: +400\n/);
      expect(description).toContain("domain/example.com (id 5)");
      expect(description).not.toContain("emulator-token");
    }
    for (const { description } of [events, journal]) expect(description).toMatch(/Time: +\d{4}-\d\d-\d\dT[\d:.]+Z\n/);
    expect(events.description).toContain("vpc/prod (id 101), vpc/prod/subnet/web (id 2001)");
    expect(journal.description).toMatch(/Request: +PUT \/domains\/5\n/);
    expect(journal.description).toContain(`\nService: ${new URL(service.baseUrl).host}\n`);
    expect(journal.entity).toEqual({ kind: "domain", id: 5 });
    // Values of a request are nobody's business.
    expect(journal.description).not.toContain("new@b.example");
  });

  test("of a run that was killed is made of the lines that are whole", async () => {
    const line = { type: "step-failed", time: "T", step: "create vpc/a", failure: { message: "lost", status: null } };
    const { description } = await drafted(`${JSON.stringify(line)}\n{"type":"report","ch`);
    expect(description).toContain("1. create vpc/a\n   Reason: lost\n   Time:   T\n   Status: none came\n");
  });

  test("is bounded, and shows what would control a terminal as text", async () => {
    const hostile = `\u001b[2J\u202e\n${"🐌".repeat(700)}`;
    const failure = { message: hostile, status: 500, attempts: 3 };
    const line = JSON.stringify({ type: "step-failed", time: hostile, step: hostile, outcome: "unknown", failure });
    const blocked = Array.from({ length: 500 }, (_, index) => ({
      address: `vpc/${hostile}${index}`,
      outcome: "blocked",
      id: index,
    }));
    const { summary, description } = await drafted(
      `${`${line}\n`.repeat(500)}${JSON.stringify({ type: "report", changes: blocked })}`,
    );
    expect(description).toContain("And 481 more.");
    expect(description).toContain("Sent:    3 times");
    expect(summary + description).not.toContain("\u001b");
    expect(summary + description).not.toContain("\u202e");
  });

  test.each([
    ['{"type":"plan"}', "draft-empty"],
    ["", "draft-foreign"],
    ["tenon: 1\n", "draft-foreign"],
    ['{"type":"elephant"}', "draft-foreign"],
    ["[".repeat(100_000), "draft-foreign"],
    [`{"type":"report","steps":[${"{},".repeat(4_000_000)}{}]}`, "draft-foreign"],
    [`{"resource_changes":${"[".repeat(1_000)}`, "plan-file-damaged"],
    ['{"type":"step-failed","failure":7,"step":{}}\n{"type":"report","steps":[[1]],"changes":{"a":1}}', "draft-empty"],
  ])("of %.40s is refused", async (text, code) => {
    expect(await draftTicket(text, CONTEXT)).toMatchObject({ ok: false, diagnostic: { code } });
  });
});

describe("tenon ticket draft", () => {
  test("prints what tenon ticket open --file takes, and sends nothing", async () => {
    const { options, service } = await world();
    await here(["plan", "--out", "the.plan"], options);
    service.clearRequests();
    const { code, stdout, stderr } = await run(["ticket", "draft", "the.plan"], { cwd: options.cwd });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "note: it is about one object: tenon ticket open --entity vpc/101\n",
    });
    expect(service.requests).toEqual([]);
    await writeFile(join(options.cwd, "text.txt"), stdout);
    await here(["ticket", "open", "--file", "text.txt"], options);
    await here(["ticket", "open", "--draft", "the.plan", "--summary", "Please detach"], options);
    const { body } = await tested(service).send("GET", "/support/tickets");
    expect(body.data).toMatchObject([
      { summary: "Blocked: delete vpc/prod", entity: null },
      { summary: "Please detach", entity: { type: "vpc", id: 101 } },
    ]);
    expect(
      JSON.parse((await here(["ticket", "draft", "the.plan", "--format", "json"], options)).stdout).draft.entity,
    ).toEqual({ kind: "vpc", id: 101 });
  });

  test("prints nothing of a file that holds the token", async () => {
    const { options } = await world();
    const line = { type: "step-failed", step: "x", failure: { message: "with emulator-token", status: 500 } };
    await writeFile(join(options.cwd, "a.jsonl"), JSON.stringify(line));
    const { code, stdout, stderr } = await here(["ticket", "draft", "a.jsonl"], options);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).not.toContain("emulator-token");
  });
});
