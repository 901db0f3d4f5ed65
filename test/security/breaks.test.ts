import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "../cli/run.ts";
import { expectPlainText, trap } from "./hostile.ts";

const BREAK = "\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1\r\n";

test("a line break in an input adds no header, host, path or line: base URL, token, environment, targets", async () => {
  const evil = await trap();
  const cwd = await folder({ "tenon.yaml": PROJECT });
  const service = await emulator();
  const good = envOf(service);
  const urls = [
    `http://127.0.0.1:${service.port}/v4${BREAK}`,
    `http://127.0.0.1\r\n:${evil.port}/v4`,
    `http://127.0.0.1:${service.port}/v4\t/x`,
    `http://127.\n0.0.1:${evil.port}/v4`,
  ];
  for (const url of urls) {
    expectPlain(await run(["plan"], { cwd, env: { ...good, TENON_BASE_URL: url } }), 1, ["error[base-url-invalid]"]);
  }
  for (const token of [`emulator-token${BREAK}`, "emulator\ttoken", "emulator\0token"]) {
    expectPlain(await run(["plan", "--retry-for", "0s"], { cwd, env: { ...good, TENON_TOKEN: token } }), 1, [
      "the token holds something",
    ]);
  }
  await writeFile(join(cwd, "token"), `emulator-token${BREAK}`);
  const env = { TENON_BASE_URL: service.baseUrl };
  expectPlain(await run(["plan", "--retry-for", "0s", "--token-file", "token"], { cwd, env }), 1, [
    "the token holds something",
  ]);
  for (const args of [
    ["--env", `prod${BREAK}`],
    ["--target", `vpc/${BREAK}`],
    ["--var", `a=${BREAK}`],
    ["--dialect", `node${BREAK}`],
  ]) {
    const { code, stdout, stderr } = await run(["plan", ...args], { cwd, env: good });
    expect([args[0], code]).toEqual([args[0], expect.toSatisfy((exit) => exit !== 0)]);
    expectPlainText(stdout + stderr);
    expect(`\n${stdout}${stderr}`).not.toMatch(/\n(X-Evil|GET )/);
  }
  // A target is looked for in the account, as a text.
  expect(service.requests.filter(({ path }) => !/^\/v4\/(vpcs|domains|images)$/.test(path))).toEqual([]);
  expect(evil.caught).toEqual([]);
});

test("a line break in a label, a region, a domain or an id of a manifest is an error, before anything is sent", async () => {
  const service = await emulator();
  const text = JSON.stringify(`a${BREAK}`);
  const manifests = [
    `images: [{ label: ${text} }]`,
    `images: [{ label: a, id: ${text} }]`,
    `removed: [{ image: ${text} }]`,
    `removed: [{ vpc: ${text} }]`,
    `removed: [{ domain: ${text} }]`,
    `vpcs: [{ label: ${text}, region: us-east }]`,
    `vpcs: [{ label: a, region: ${text} }]`,
    `vpcs: [{ label: a, region: us-east, subnets: [{ label: ${text}, ipv4: 10.0.0.0/24 }] }]`,
    `domains: [{ domain: ${text}, type: master, soa_email: a@a.example }]`,
    `domains: [{ domain: a.example, type: master, soa_email: ${text} }]`,
    `owner: ${text}`,
  ];
  for (const manifest of manifests) {
    const cwd = await folder({ "tenon.yaml": `tenon: 1\n${manifest}\n` });
    const { code, stdout, stderr } = await run(["plan", "--retry-for", "0s"], { cwd, env: envOf(service) });
    expect([manifest, code]).toEqual([manifest, 3]);
    expectPlainText(stdout + stderr);
  }
  expect(service.requests).toEqual([]);
});
