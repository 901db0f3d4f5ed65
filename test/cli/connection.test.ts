import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { here as run } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run as runProcess } from "./run.ts";

const TOKEN = "not-a-token-anyone-has";
const BASE = "http://127.0.0.1:9/v4";

describe("the connection", () => {
  it.each([
    ["no base URL", {}, "base-url-missing"],
    ["an empty base URL", { TENON_BASE_URL: "" }, "base-url-missing"],
    ["plain http to another host", { TENON_BASE_URL: "http://api.example.com/v4" }, "base-url-insecure"],
    ["credentials in the URL", { TENON_BASE_URL: "https://me:secret-word@api.example.com/v4" }, "base-url-credentials"],
    ["no token", { TENON_BASE_URL: BASE, TENON_TOKEN: "" }, "token-missing"],
    ["a line break in the token", { TENON_BASE_URL: BASE, TENON_TOKEN: `${TOKEN}\n${TOKEN}` }, "token-invalid"],
    ["a space in the token", { TENON_BASE_URL: BASE, TENON_TOKEN: `${TOKEN} ${TOKEN}` }, "token-invalid"],
    ["a dash of a word processor in the token", { TENON_BASE_URL: BASE, TENON_TOKEN: `${TOKEN}–` }, "token-invalid"],
    ["a dialect that is no word", { TENON_BASE_URL: BASE, TENON_DIALECT: "../x" }, "dialect-invalid"],
  ])("is refused with %s", async (_, env, problem) => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const { code, stdout, stderr } = await run(["plan"], { cwd, env: { TENON_TOKEN: TOKEN, ...env } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`error[${problem}]`);
    expect(stderr).not.toContain("secret-word");
    expect(stderr).not.toContain(TOKEN);
  });

  it.each([
    ["nothing at all", {}, ["TENON_SERVICE=linode", "tenon demo", "tenon emulate --port 8080"]],
    [
      "a service and no token",
      { TENON_SERVICE: "linode" },
      ["TENON_TOKEN or LINODE_TOKEN", "tenon demo", "tenon emulate"],
    ],
    [
      "the address of a known service and no token",
      { TENON_BASE_URL: "https://api.linode.com/v4" },
      ["TENON_TOKEN", "With TENON_SERVICE=linode LINODE_TOKEN is read, too", "tenon demo", "tenon emulate"],
    ],
    ["an emulator and no token", { TENON_BASE_URL: BASE }, ["emulator-token", "tenon demo", "tenon emulate"]],
    [
      "an emulator that was not started",
      { TENON_BASE_URL: BASE, TENON_TOKEN: TOKEN },
      ["TENON_SERVICE=linode", "tenon demo", "tenon emulate --port N"],
    ],
  ])("of a newcomer with %s: the message says what can be done", async (_, env, words) => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    expectPlain(await runProcess(["plan"], { cwd, env }), 1, words);
  });

  it("takes the token from a file, and says which file it could not read", async () => {
    const { baseUrl } = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT, token: "emulator-token\n", empty: "\n" });
    const env = { TENON_BASE_URL: baseUrl };
    expect((await run(["plan", "--token-file", "token"], { cwd, env })).code).toBe(0);
    for (const file of ["empty", "missing"]) {
      const { code, stderr } = await run(["plan", "--token-file", file], { cwd, env });
      expect(code).toBe(1);
      expect(stderr.replace(/\n +/g, " ")).toContain(`is empty: ${file}`);
    }
  });

  it("has no flag that takes a token", async () => {
    const { code, stderr } = await run(["plan", "--token", TOKEN], { env: { TENON_BASE_URL: BASE } });
    expect(code).toBe(1);
    expect(stderr).toContain("unknown option");
    expect(stderr).not.toContain(TOKEN);
  });

  it("that nobody answers is an error with advice, without a stack", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = { TENON_BASE_URL: BASE, TENON_TOKEN: TOKEN };
    const { code, stderr } = await run(["plan", "--retry-for", "0s"], { cwd, env });
    expect(code).toBe(1);
    expect(stderr).toContain("error: cannot read ");
    expect(stderr).toContain("Check the base URL: nothing listens there.");
    expect(stderr).not.toContain("    at ");
  });

  it("with a wrong token says so, and never repeats it", async () => {
    const { baseUrl } = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const { code, stdout, stderr } = await run(["plan"], { cwd, env: { TENON_BASE_URL: baseUrl, TENON_TOKEN: TOKEN } });
    expect(code).toBe(1);
    expect(stderr).toContain("Invalid Token");
    expect(stderr).toContain("Check the token");
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  it("to something else shows its words escaped", async () => {
    const server = createServer((_, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ errors: [{ reason: "\u001b[31mevil\u202e" }] }));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = { TENON_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v4`, TENON_TOKEN: TOKEN };
    const { code, stderr } = await run(["plan"], { cwd, env });
    expect(code).toBe(1);
    expect(stderr).toContain("\\u{1b}[31mevil\\u{202e}");
  });
});

describe("the account", () => {
  it.each([
    ["is not set", {}],
    ["is another", { TENON_ACCOUNT: "staging" }],
  ])("that the project names must be TENON_ACCOUNT: it %s", async (_, extra) => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT.replace("owner: edge", "owner: edge\naccount: production") });
    for (const args of [["plan"], ["apply", "--yes"], ["destroy", "--yes"]]) {
      const { code, stderr } = await run(args, { cwd, env: { ...envOf(service), ...extra } });
      expect(code).toBe(4);
      expect(stderr).toContain("TENON_ACCOUNT=production");
    }
    expect(service.requests).toEqual([]);
    const right = { ...envOf(service), TENON_ACCOUNT: "production" };
    expect((await run(["plan", join(cwd, "tenon.yaml")], { env: right })).code).toBe(0);
  });
});
