import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { failing, refusal } from "../cli/odd-service.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { expectPlainText } from "./hostile.ts";

/** What a terminal acts on or hides, and JSON leaves as it is: C1, a bidi mark, zero width, a filler, a tag, a line separator. */
const RAW = "a\u009b2J\u202eb\u200b\u2066\u3164\u{e0041}\u2028\u007fz";

const MANIFEST = `tenon: 1
vpcs:
  - { label: prod, region: us-east, description: DESCRIPTION }
domains:
  - { domain: example.com, type: master, soa_email: hostmaster@example.com, description: DESCRIPTION }
`;

const ESCAPED = JSON.stringify(RAW).replace(
  /[^ -~]/gu,
  (character) => `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}`,
);

function project(): Promise<string> {
  return folder({ "tenon.yaml": MANIFEST.replaceAll("DESCRIPTION", ESCAPED) });
}

/** Plain to look at, and to a program the very text. */
function expectSaid(json: string): void {
  expectPlainText(json);
  const texts = json.trim().split("\n").length > 1 && !json.startsWith("{\n") ? json.trim().split("\n") : [json];
  const found: string[] = [];
  for (const text of texts) {
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === "string" && value.includes(RAW)) found.push(value);
      return value;
    });
  }
  expect(found.length, json.slice(0, 500)).toBeGreaterThan(0);
}

test("JSON and plan files hold no character that a terminal acts on or hides, and say the same", async () => {
  const cwd = await project();
  const service = await emulator();
  const env = envOf(service);
  const go = (...args: string[]) => run(args, { cwd, env });
  expectSaid((await go("plan", "--format", "json", "--out", "the.plan")).stdout);
  const plan = await readFile(join(cwd, "the.plan"), "utf8");
  expectSaid(plan);
  expect(await go("show", "--format", "json", "the.plan")).toMatchObject({ code: 0, stdout: plan });
  // A file of an earlier Tenon, with the characters themselves, has the same digest.
  await writeFile(join(cwd, "raw.plan"), JSON.stringify(JSON.parse(plan)));
  expect(await go("show", "--format", "json", "raw.plan")).toMatchObject({ code: 0, stdout: plan });
  expect(await go("apply", "--yes", "--plan", "the.plan")).toMatchObject({ code: 0 });
  expect(JSON.parse((await go("drift", "--format", "json")).stdout)).toMatchObject({ drift: false });
});

test("snapshots, drift, journals, events and errors hold none either", async () => {
  const cwd = await project();
  const behind = await emulator({ seed: { vpcs: [{ label: "prod", region: "us-east", description: `${RAW}?` }] } });
  const go = (args: readonly string[], baseUrl = behind.baseUrl) => run(args, { cwd, env: envOf({ baseUrl }) });
  expectSaid((await go(["drift", "--format", "json"])).stdout);
  await go(["live", "--out", "the.live"]);
  expectSaid(await readFile(join(cwd, "the.live"), "utf8"));
  const refusing = await failing(behind, (request) => (/^(POST|PUT) /.test(request) ? refusal(400, RAW) : null));
  const args = ["apply", "--yes", "--format", "json", "--journal", "the.journal", "--retry-for", "0s"];
  expectSaid((await go(args, refusing.baseUrl)).stdout);
  expectSaid(await readFile(join(cwd, "the.journal"), "utf8"));
  const odd = await failing(behind, () => refusal(400, RAW));
  expectPlainText((await go(["plan", "--format", "json", "--retry-for", "0s"], odd.baseUrl)).stdout);
  await writeFile(join(cwd, "tenon.yaml"), `tenon: 1\n${ESCAPED}: 1\n`);
  expectPlainText((await go(["validate", "--format", "json"])).stdout);
});
