import { expect, test } from "vitest";
import { parsePlanFile } from "../../src/index.ts";
import { here as run } from "../cli/here.ts";
import { failing } from "../cli/odd-service.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";
import { codes, domain, loadFiles, loadText, records } from "../manifest/support.ts";
import { withDigest } from "./hostile.ts";

const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__"];

function expectCleanPrototypes(): void {
  const found = [Object.prototype, Array.prototype, Function.prototype, String.prototype].flatMap((each) =>
    Reflect.ownKeys(each).filter((key) => key === "polluted" || key === "protect" || key === "default"),
  );
  expect(found).toEqual([]);
}

test("a key such as __proto__ is an unknown key everywhere in a manifest", async () => {
  for (const name of NAMES) {
    const evil = `${name}: { polluted: true, protect: true }`;
    for (const text of [
      `${evil}\n`,
      `vpcs: [{ label: a, region: us-east, ${evil} }]\n`,
      domain(`records: [{ type: A, target: 192.0.2.1, ${evil} }]\n`),
      `defaults: { domain: { ${evil} }, ${evil} }\n`,
    ]) {
      expect([text, codes(await loadText(text))]).toEqual([text, expect.arrayContaining(["unknown-key"])]);
      expectCleanPrototypes();
    }
  }
});

test("variables, environments and record sets may be called __proto__, and are nothing but that", async () => {
  for (const name of NAMES) {
    const variables = `variables: { ${name}: { default: value } }\nenvironments: { ${name}: { variables: { ${name}: other } } }\n`;
    const text = `${variables}record_sets: { ${name}: [{ type: TXT, target: "\${var.${name}}" }] }\n${domain(`use: [${name}]\n`)}`;
    const result = await loadText(text, { environment: name });
    if (result.project === null) {
      // What the schema's pattern for names refuses is refused by name.
      expect([name, codes(result).every((code) => code !== "unexpected")]).toEqual([name, true]);
    } else {
      expect(records(result)).toMatchObject([{ type: "TXT", target: "other" }]);
    }
    // Nothing is inherited: what nobody declared is unknown, also if every object has it.
    const unknown = await loadText(`vpcs: [{ label: "\${var.${name}}", region: us-east }]\n`);
    expect(codes(unknown)).toEqual(["unknown-variable"]);
    expect(codes(await loadText("vpcs: []\n", { environment: name }))).toEqual(["unknown-environment"]);
    expect(codes(await loadText(domain(`use: [${name}]\n`)))).toEqual(["unknown-record-set"]);
    expectCleanPrototypes();
  }
});

test("files of variables and --var with __proto__ set no property of anything", async () => {
  for (const text of ['{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}']) {
    const result = await loadFiles({ "tenon.yaml": "tenon: 1\nvpcs: []\n" }, { variables: JSON.parse(text) });
    expect(result.project).toBeNull();
    expectCleanPrototypes();
  }
  const cwd = await folder({ "tenon.yaml": PROJECT, "vars.json": '{"__proto__": {"polluted": true}, "a": 1}' });
  const files = await run(["validate", "--var-file", "vars.json"], { cwd });
  expect(files).toMatchObject({ code: 0, stderr: expect.stringContaining("unknown variable `__proto__`") });
  const assigned = await run(["validate", "--var", "__proto__=x", "--var", "constructor=x"], { cwd });
  expect(assigned).toMatchObject({ code: 1, stderr: expect.stringContaining("unknown variable `__proto__`") });
});

test("a plan file with __proto__ in any place is damaged or means nothing", async () => {
  const { stdout } = await run(["plan", "--format", "json"], {
    cwd: await folder({ "tenon.yaml": PROJECT }),
    env: envOf(await emulator()),
  });
  const evil = '"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}, ';
  const places = [...stdout.matchAll(/\{(?=\s*")/g)].map((match) => match.index + 1);
  expect(places.length).toBeGreaterThan(50);
  // Every tenth: the schema is read anew for each.
  for (const place of places.filter((_, index) => index % 10 === 0)) {
    const read = await parsePlanFile(withDigest(stdout.slice(0, place) + evil + stdout.slice(place)));
    if (!read.ok) expect(read.diagnostic.code).toBe("plan-file-damaged");
    expectCleanPrototypes();
  }
});

test("an answer of the service with __proto__ in it changes nothing but its own object", async () => {
  const behind = await emulator();
  const body =
    '{"data": [{"__proto__": {"id": 1, "label": "prod"}, "constructor": 1}], "page": 1, "pages": 1, "results": 1}';
  const service = await failing(behind, (request) => (request === "GET /v4/vpcs" ? { status: 200, body } : null));
  const { code, stderr } = await run(["plan"], { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) });
  expect(code).toBe(1);
  expect(stderr).not.toContain("unexpected");
});
