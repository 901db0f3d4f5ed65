import { describe, expect, it } from "vitest";
import type { ApplyEvent, NoteType, StopReason } from "../../src/apply/events.ts";
import { apply } from "../../src/cli/commands/apply.ts";
import { withWriter } from "../../src/cli/writer.ts";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import type { Consent, ConsentRule } from "../../src/index.ts";
import { expectLines, type Plain, schema } from "./lines.ts";
import { emulator, envOf, folder, PROJECT } from "./run.ts";
import { faults, type Signals, stage } from "./stage.ts";

const TYPES: Readonly<Record<ApplyEvent["type"], true>> = {
  "step-started": true,
  "step-done": true,
  "step-failed": true,
  "step-skipped": true,
  "step-note": true,
  stopping: true,
};
const NOTES: Readonly<Record<NoteType, true>> = {
  "outcome-unknown": true,
  looking: true,
  adopted: true,
  repeating: true,
  "deleting-useless": true,
  "deleting-duplicate": true,
  waiting: true,
};
const REASONS: Readonly<Record<StopReason, true>> = {
  interrupted: true,
  aborted: true,
  unauthorised: true,
  journal: true,
  "drain-limit": true,
  "internal-error": true,
};

const AUTHORISED = { headers: { authorization: "Bearer emulator-token" } };

function consentTo(rule: ConsentRule): Consent {
  return { rule, address: "vpc/prod", until: null, reason: null, span: null };
}

interface Ran {
  readonly code: number;
  readonly baseUrl: string;
  readonly lines: readonly Plain[];
}

/** Applies with `--format json`; every line must fit the schema, and the last is the only report. */
async function applied(
  options: EmulatorOptions,
  more: { project?: string; flags?: object } & Signals = {},
): Promise<Ran> {
  const service = await emulator(options);
  const { terminal, printed } = stage(envOf(service), more);
  const cwd = await folder({ "tenon.yaml": more.project ?? PROJECT });
  const flags = {
    format: "json",
    yes: true,
    clone: true,
    baseUrl: service.baseUrl,
    retryFor: 0,
    ...more.flags,
  } as const;
  const code = await apply(terminal, cwd, flags, withWriter);
  const lines = printed()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expectLines(lines);
  return { code, lines, baseUrl: service.baseUrl };
}

const typesOf = ({ lines }: Ran): string[] => [...new Set(lines.map(({ type }) => type as string))].sort();
const notesOf = ({ lines }: Ran): string[] => [...new Set(lines.flatMap(({ note }) => note ?? []))].sort() as string[];

describe("the lines of apply --format json fit their schema", () => {
  it("which describes every type of event, note and reason there is, and no other", () => {
    const { $defs, oneOf } = schema("event");
    const types = Object.keys($defs).filter((name) => $defs[name].properties?.type !== undefined && name !== "failure");
    expect(types.sort()).toEqual([...Object.keys(TYPES), "plan", "verify-progress", "refused", "error"].sort());
    expect(oneOf).toHaveLength(types.length + 1);
    expect($defs["step-note"].properties.note.enum.sort()).toEqual(Object.keys(NOTES).sort());
    expect($defs.stopping.properties.reason.enum.sort()).toEqual(Object.keys(REASONS).sort());
    const { description: _, ...failure } = $defs.failure;
    expect(failure).toEqual(schema("report").properties.steps.items.properties.failure.anyOf[1]);
  });

  it("when all is done, and when nothing is left to do", async () => {
    const ran = await applied({});
    expect(ran.code).toBe(0);
    expect(typesOf(ran)).toEqual(["plan", "report", "step-done", "step-started"]);
    expect(ran.lines[0]).toMatchObject({
      goal: "apply",
      environment: null,
      targets: [],
      summary: { add: 5, change: 0, destroy: 0, blocked: 0 },
      steps: new Set(ran.lines.flatMap(({ step }) => step ?? [])).size,
      requests: ran.lines.at(-1).requests,
    });
    const idOf = new Map(ran.lines.at(-1).changes.map(({ address, id }: Plain) => [address, id]));
    expect([...idOf.keys()]).toHaveLength(5);
    for (const [address, id] of idOf) expect([address, id]).toEqual([address, expect.any(Number)]);
    const idle = await applied({}, { project: "tenon: 1\n" });
    expect(idle).toMatchObject({ code: 0, lines: [{ type: "plan" }, { type: "report", interrupted: false }] });
  });

  it("and name the ids of subnets that were made with their VPC, whatever became of its POST", async () => {
    const project =
      "tenon: 1\nvpcs:\n  - label: prod\n    region: eu-west\n    subnets:\n" +
      "      - { label: b, ipv4: 10.0.1.0/24 }\n      - { label: a, ipv4: 10.0.2.0/24 }\n";
    const subnets = [
      { id: 1, label: "a", ipv4: "10.0.2.0/24" },
      { id: 2, label: "b", ipv4: "10.0.1.0/24" },
    ];
    const replaced = { label: "prod", region: "us-east", subnets };
    const flags = { retryFor: 10, allow: [consentTo("replace"), consentTo("bulk")] };
    for (const [what, options] of [
      ["made", {}],
      ["recovered", faults("drop=after,method=POST,path=/vpcs,nth=1")],
      ["sent twice", faults("drop=before,method=POST,path=/vpcs,nth=1")],
      ["made anew", { seed: { vpcs: [replaced] } }],
    ] as const) {
      const ran = await applied(options, { project, flags });
      const { data }: Plain = await (await fetch(`${ran.baseUrl}/vpcs`, AUTHORISED)).json();
      const [vpc, ...others] = data;
      expect([what, ran.code, others]).toEqual([what, 0, []]);
      const expected = new Map<string, unknown>([["vpc/prod", vpc.id]]);
      for (const { id, label } of vpc.subnets) expected.set(`vpc/prod/subnet/${label}`, id);
      expect([what, new Map(ran.lines.at(-1).changes.map(({ address, id }: Plain) => [address, id]))]).toEqual([
        what,
        expected,
      ]);
    }
  });

  it("and have no id for the records that came with a copy", async () => {
    const domain = (name: string) =>
      `  - domain: ${name}\n    type: master\n    soa_email: a@a.example\n` +
      "    records: [{ type: A, name: x, targets: [192.0.2.1, 192.0.2.2, 192.0.2.3] }]\n";
    const project = `tenon: 1\ndomains:\n${domain("a.example")}${domain("b.example")}`;
    const ran = await applied({}, { project });
    const ids = ran.lines.at(-1).changes.map(({ address, id }: Plain) => [address, typeof id]);
    expect([ran.code, ids.filter(([, type]: string[]) => type !== "number")]).toEqual([
      0,
      [0, 1, 2].map((n) => [`domain/b.example/x/A[${n}]`, "object"]),
    ]);
  });

  it("when a step fails and others are skipped", async () => {
    const ran = await applied(faults("status=400,method=POST,path=/domains"));
    expect(ran.code).toBe(6);
    expect(typesOf(ran)).toEqual(["plan", "report", "step-done", "step-failed", "step-skipped", "step-started"]);
    expect(ran.lines.find(({ type }) => type === "step-skipped").because).toEqual(["create domain/example.com"]);
  });

  it("when an outcome is unknown and found out", async () => {
    const flags = { retryFor: 10 };
    const found = await applied(faults("drop=after,method=POST,path=/vpcs,nth=1"), { flags });
    expect(notesOf(found)).toEqual(["adopted", "looking", "outcome-unknown"]);
    expect(found.lines.filter(({ recovered }) => recovered === true)).toHaveLength(1);
  });

  it("when an outcome is unknown and cannot be found out", async () => {
    const ran = await applied(
      faults("drop=after,method=POST,path=/vpcs,nth=1", "status=403,method=GET,path=/vpcs,nth=2;3;4;5;6"),
    );
    expect(ran.code).toBe(6);
    expect(ran.lines.filter(({ type, outcome }) => type === "step-failed" && outcome === "unknown")).toHaveLength(1);
  });

  it("when it is interrupted", async () => {
    const watch = (text: string, raise: () => void): void => {
      if (text.includes('"step-started"')) raise();
    };
    const ran = await applied({ latencyMilliseconds: 20 }, { watch, flags: { concurrency: 1 } });
    expect(ran.code).toBe(130);
    expect(typesOf(ran)).toEqual(expect.arrayContaining(["step-skipped", "stopping", "report"]));
    expect(ran.lines.at(-1).interrupted).toBe(true);
  });

  it("when it waits, and when it stops because the token is no longer taken", async () => {
    const project = "tenon: 1\nimages:\n  - { label: golden, capture: { disk_id: 7 } }\n";
    const seed = { disks: [{ id: 7, label: "d", size: 100 }] };
    const waited = await applied({ seed }, { project });
    expect(waited.code).toBe(0);
    expect(notesOf(waited)).toEqual(["waiting"]);
    const stopped = await applied(faults("status=401,method=POST,nth=2"), { flags: { concurrency: 1 } });
    expect(stopped.lines.find(({ type }) => type === "stopping").reason).toBe("unauthorised");
  });
});
