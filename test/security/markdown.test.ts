import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { expectPlainText } from "./hostile.ts";

/** What a page would act on, each with a mark of its own so that it is found. */
const ACTIVE = [
  "[click](https://evil.example/1)",
  "![img](https://evil.example/2)",
  "<img src=https://evil.example/3>",
  "<script>evil4</script>",
  "</details></summary><details open>evil5",
  "@everyone-evil6",
  "`` ` ``` evil7 ```` ````` ~~~",
  "| evil8 | evil8 |",
  "<!-- evil9",
  "--> evil10",
  "https://evil.example/11",
  "# evil12",
  "\n\n## evil13\n\n```\n",
  "&#60;b&#62;evil14",
].join(" ");

/** The text as a reader of markdown would act on it: without what stands in fences, code spans and `<pre>`. */
function acted(markdown: string): string {
  let fence: string | null = null;
  const outside: string[] = [];
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null && mark !== null) fence = mark;
    else if (fence !== null && mark !== null && mark[0] === fence[0] && mark.length >= fence.length) {
      if (/^ {0,3}[`~]+\s*$/.test(line)) fence = null;
    } else if (fence === null) outside.push(line);
  }
  expect(fence).toBeNull();
  // A span ends with as many backticks as it began with.
  return outside
    .join("\n")
    .replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, "")
    .replace(/<(pre|code)>[^<]*<\/\1>/g, "");
}

test("markdown of a plan cannot be steered by what a manifest or the account says", async () => {
  const text = JSON.stringify(ACTIVE);
  const manifest = `tenon: 1
vpcs: [{ label: a, region: us-east, description: ${JSON.stringify(ACTIVE.slice(0, 200))}, note: ${text} }]
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    note: ${text}
    records: [{ type: TXT, name: t, target: ${JSON.stringify(ACTIVE.replaceAll("\n", " "))}, note: ${text} }]
`;
  const records = [{ type: "TXT", name: "old", target: ACTIVE.replaceAll("\n", " ") }];
  const zone = { domain: "example.com", type: "master", soa_email: "hostmaster@example.com", records };
  const service = await emulator({ seed: { domains: [zone] } as never });
  const cwd = await folder({ "tenon.yaml": manifest });
  const { code, stdout, stderr } = await run(["plan", "--format", "markdown"], { cwd, env: envOf(service) });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("evil");
  expectPlainText(stdout);
  const active = acted(stdout).replace(/\\([!-/:-@[-`{-~])/g, "");
  for (const sign of [
    /\]\(https:\/\/evil/,
    /<img/i,
    /<script/i,
    /evil5/,
    /@everyone/,
    /<!-- evil/,
    /^\s*#+ evil/m,
    /https:\/\/evil/,
  ]) {
    expect(active).not.toMatch(sign);
  }
});
