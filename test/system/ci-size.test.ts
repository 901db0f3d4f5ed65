/** What the pipeline posts of a large project: GitHub takes it whole, with the line and the link that the scripts add. */

import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAX_BODY_CHARACTERS } from "../../src/render/markdown/comment.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { bash, writeTools } from "../examples/ci/runner.ts";
import { SCRIPTS } from "../examples/ci/workflow.ts";

/** GitHub's limit of a comment and of an issue. */
const MAX_POSTED_CHARACTERS = 65_536;
/** The longest that GitHub gives: an owner of 39 characters, a repository of 100. */
const RUN_URL = `https://github.com/${"o".repeat(39)}/${"r".repeat(100)}/actions/runs/12345678901`;
const PROJECT = "infrastructure/production";
const RECORDS = 3_000;
/** Many processes; a busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;

/** What is posted, and how much of it is the tool's own. */
interface Posted {
  readonly text: string;
  readonly markdownCharacters: number;
}

it("the link is as long as it gets", () => {
  expect(RUN_URL).toHaveLength(184);
});

describe("the comment of a plan", { timeout: TIMEOUT_MILLISECONDS }, () => {
  it("of 3,000 records fits, with its head and its foot", async () => {
    const { text } = await commentOf(zonesOf(300));
    expect(text).toMatch(/\n\*\*\d+ changes are shown as numbers only\*\*.*`tenon show PLAN`/);
    expect(text.length).toBeGreaterThan(MAX_POSTED_CHARACTERS - 3_000);
  });

  it("fits where all is shown and the room is used up", async () => {
    const { markdownCharacters: least } = await commentOf(records(0));
    const { text, markdownCharacters } = await commentOf(records(MAX_BODY_CHARACTERS - least));
    expect(text).not.toContain("numbers only");
    expect(markdownCharacters).toBe(MAX_BODY_CHARACTERS);
  });
});

describe("the issue of drift", { timeout: TIMEOUT_MILLISECONDS }, () => {
  it("of 3,000 records fits, with its head and its foot", async () => {
    const { text } = await issueOf(zonesOf(RECORDS));
    expect(text).toMatch(/\nAnd \d+ more, for which there is no room here\.\n/);
    expect(text.length).toBeGreaterThan(MAX_POSTED_CHARACTERS - 3_000);
  });

  it("fits where all is shown and the room is used up", async () => {
    const { markdownCharacters: least } = await issueOf(networks(0));
    const { text, markdownCharacters } = await issueOf(networks(MAX_BODY_CHARACTERS - least));
    expect(text).not.toContain("no room");
    expect(markdownCharacters).toBe(MAX_BODY_CHARACTERS);
  });
});

async function commentOf(manifest: string): Promise<Posted> {
  const text = await leftBy("plan.sh", "comment.md", manifest);
  const page = ", with the plan as a page (`plan.html`) among its artifacts";
  return posted(text, `<!-- tenon-plan ${PROJECT} -->\n`, `\n[This run](${RUN_URL})${page}\n`, "## Plan: ");
}

async function issueOf(manifest: string): Promise<Posted> {
  // The line by which the next run finds the issue again.
  const [github, gitlab] = await Promise.all(
    ["github.mjs", "gitlab.mjs"].map((name) => readFile(join(SCRIPTS, name), "utf8")),
  );
  const marker = /^const DRIFT_MARKER = "(.*)";$/m.exec(github ?? "")?.[1] ?? "";
  expect(gitlab).toContain(`const DRIFT_MARKER = "${marker}";`);
  const head = `${marker}\n`;
  const text = `${head}${await leftBy("drift.sh", "drift.md", manifest)}`;
  return posted(text, head, `\n[The run that saw it](${RUN_URL})\n`, "## Drift: ");
}

function posted(text: string, head: string, foot: string, title: string): Posted {
  expect(text.startsWith(`${head}${title}`)).toBe(true);
  expect(text.endsWith(foot)).toBe(true);
  expect(text.length).toBeLessThanOrEqual(MAX_POSTED_CHARACTERS);
  return { text, markdownCharacters: text.length - head.length - foot.length };
}

/** Runs a script as a job does, against an empty account. @returns the file that it left in tenon-out/ */
async function leftBy(script: string, file: string, manifest: string): Promise<string> {
  const service = await emulator();
  const checkout = await folder({ [`${PROJECT}/tenon.yaml`]: manifest });
  const bin = await folder({});
  await writeTools(bin);
  const path = [bin, process.env["PATH"]].join(delimiter);
  const env = { ...envOf(service), PATH: path, HOME: bin, PROJECT, RUN_URL };
  const { code, log } = await bash(`bash "${join(SCRIPTS, script)}"`, checkout, env);
  expect([code, code === 0 ? "" : log]).toEqual([0, ""]);
  return readFile(join(checkout, "tenon-out", file), "utf8");
}

/** All records, with long targets of many sizes, in so many zones. */
function zonesOf(count: number): string {
  const zones = Array.from({ length: count }, (_, zone) => {
    const targets = Array.from({ length: RECORDS / count }, (_, index) => {
      return `${"long words ".repeat(3 + (zone % 7) * 5)}${"x".repeat((zone * 7 + index) % 60)}`;
    });
    return zoneOf(`zone-${zone}.example`, targets);
  });
  return `tenon: 1\nowner: edge\ndomains:\n${zones.join("")}`;
}

/** One zone that there is room for, made longer by so many characters. */
function records(characters: number): string {
  const targets = spread(characters, 900).map((more) => "x".repeat(1 + more));
  return `tenon: 1\nowner: edge\ndomains:\n${zoneOf("zone.example", targets)}`;
}

function zoneOf(domain: string, targets: readonly string[]): string {
  const lines = targets.map((target, index) => `      - { type: TXT, name: host-${index}, target: "${target}" }\n`);
  return `  - domain: ${domain}\n    type: master\n    soa_email: a@example.com\n    records:\n${lines.join("")}`;
}

/** Networks that there is room for, their names made longer by so many characters. */
function networks(characters: number): string {
  const labels = spread(characters, 1_200).map((more, index) => `net-${index}${"x".repeat(more)}`);
  return `tenon: 1\nowner: edge\nvpcs:\n${labels.map((label) => `  - { label: ${label}, region: us-east }\n`).join("")}`;
}

/** So many parts, as equal as can be. */
function spread(characters: number, parts: number): number[] {
  const each = Math.floor(characters / parts);
  return Array.from({ length: parts }, (_, index) => each + (index < characters % parts ? 1 : 0));
}
