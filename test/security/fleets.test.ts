import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { ended, folder, run, start } from "../cli/run.ts";
import { type Account, domainsOf, fleetOf, PROJECT } from "../support/fleet.ts";
import { ACTIVE, acted } from "./active.ts";
import { SECRET, trap, withDigest } from "./hostile.ts";

const execute = promisify(execFile);

test("no command of an account of a fleet sees the token of another, nor what names another service", async () => {
  const { cwd, env, accounts } = await fleetOf(2);
  const [first, second] = accounts as [Account, Account];
  // Without a token of its own, the second would take those that lie around.
  const given = { TOKEN_A1: env["TOKEN_A1"] ?? "", TENON_TOKEN: "emulator-token", LINODE_TOKEN: "emulator-token" };
  const around = { ...given, TENON_BASE_URL: first.service.baseUrl, TENON_SERVICE: "linode", TENON_ACCOUNT: "x" };
  const traced = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=collector-token" };
  const bin = await folder({ git: '#!/bin/sh\nenv >> "$(dirname "$0")/seen"\nexit 1\n' });
  await chmod(join(bin, "git"), 0o755);
  const { code, stdout } = await run(["fleet", "apply", "--yes", "--select", "name=*"], {
    cwd,
    env: { ...around, ...traced, PATH: `${bin}:${process.env["PATH"]}` },
  });
  expect(code).toBe(1);
  expect(stdout).toContain("no token is set: TOKEN_A2 is empty");
  expect(await domainsOf(second)).toEqual([]);
  expect(await domainsOf(first)).toEqual(["a1.example"]);
  expect(await readFile(join(bin, "seen"), "utf8")).not.toMatch(/emulator-token|collector-token|TOKEN_A|TENON_/);
});

test("a document of a fleet that holds its account's token is not kept", async () => {
  const { cwd, env } = await fleetOf(1);
  await writeFile(join(cwd, "project/tenon.yaml"), PROJECT.replace("grüße", "emulator-token"));
  const { code, stdout } = await here(["fleet", "plan", "--format", "json"], { cwd, env });
  expect([code, stdout.includes("emulator-token")]).toEqual([1, false]);
  const [account] = JSON.parse(stdout).accounts;
  expect(account).toMatchObject({ document: null, headline: expect.stringContaining("the account's token") });
});

test("what an account prints is shown without its token, wherever the token is", async () => {
  const { cwd, env } = await fleetOf(2);
  await writeFile(join(cwd, "project/tenon.yaml"), PROJECT.replace("grüße", "emulator-token"));
  await writeFile(join(cwd, "a2.token"), "emulator-token\n");
  const fleet = await readFile(join(cwd, "fleet.yaml"), "utf8");
  await writeFile(join(cwd, "fleet.yaml"), fleet.replace("{ env: TOKEN_A2 }", "{ file: a2.token }"));
  for (const format of ["text", "markdown", "html"]) {
    const { code, stdout } = await here(["fleet", "plan", "--format", format], { cwd, env });
    expect([format, code, stdout.includes("emulator-token")]).toEqual([format, 1, false]);
    expect(stdout).toContain("[redacted]");
  }
  // What is wrong is said of a value, which is cut, and repeated in lower case where it is a name.
  const token = "9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const wrong = `{ type: AAAA, name: a, target: "${token}" }, { type: A, name: "${token}", target: x }`;
  await writeFile(join(cwd, "project/tenon.yaml"), `tenon: 1\n${zoneOf(wrong)}`);
  await writeFile(join(cwd, "a2.token"), token);
  for (const format of ["text", "markdown", "html", "json"]) {
    const { code, stdout } = await here(["fleet", "plan", "--format", format], {
      cwd,
      env: { ...env, TOKEN_A1: token },
    });
    expect([format, code]).toEqual([format, 3]);
    const plain = stdout.toLowerCase().replace(/[\s│|]/g, "");
    for (let index = 0; index + 12 <= token.length; index += 4)
      expect([format, plain]).toEqual([
        format,
        expect.not.stringContaining(token.toLowerCase().slice(index, index + 12)),
      ]);
  }
});

function zoneOf(records: string): string {
  return `domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [${records}] }]\n`;
}

test("a fleet file sends no token of the machine to a host that it brings itself", async () => {
  const evil = await trap();
  const accounts = `accounts: [{ name: a, token: { env: DEPLOY_KEY } }, { name: b, service: linode, token: { env: B } }]`;
  const file = `fleet: 1\ndefaults: { project: ., base_url: "https://evil.invalid/v4" }\n${accounts}\n`;
  const cwd = await folder({ "fleet.yaml": file, "tenon.yaml": "tenon: 1\nvpcs: [{ label: a, region: us-east }]\n" });
  const env = { DEPLOY_KEY: "the-deploy-key", B: "the-token", HTTPS_PROXY: `http://127.0.0.1:${evil.port}` };
  for (const args of [["plan"], ["drift"], ["apply", "--yes"], ["plan", "--token-host", "evil.example"]]) {
    const { code, stderr } = await run(["fleet", ...args], { cwd, env });
    expect([args, code]).toEqual([args, 3]);
    expect(stderr).toContain("error[token-host]: no token may be sent to evil.invalid");
    expect(stderr).toMatch(/fleet\.yaml:2:35/);
  }
  const listed = await run(["fleet", "plan", "--token-host", "https://evil.invalid"], { cwd, env });
  expect([listed.code, listed.stderr.includes("do not take 'https://evil.invalid'")]).toEqual([1, true]);
  expect(evil.caught).toEqual([]);
  // Whoever runs the command may trust the host, in three ways.
  for (const [args, more] of [
    [["--token-host", "evil.invalid"], {}],
    [[], { TENON_TOKEN_HOSTS: "a.example evil.invalid" }],
    [[], { TENON_BASE_URL: "https://evil.invalid/v4" }],
  ] as const) {
    const before = evil.caught.length;
    const child = start(["fleet", "plan", "--select", "name=a", ...args], { cwd, env: { ...env, ...more } });
    const end = ended(child);
    await expect.poll(() => evil.caught.length, { timeout: 20_000 }).toBeGreaterThan(before);
    child.kill("SIGKILL");
    await end;
  }
  expect(evil.caught.map(({ request }) => request)).toContain("CONNECT evil.invalid:443");
});

test("a token that stands in a fleet file or a list of accounts is shown by no message about it", async () => {
  const hexadecimal = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const written: [string, string][] = [
    [hexadecimal, hexadecimal],
    // A variable could have this name.
    [hexadecimal, `{ env: a${hexadecimal} }`],
    ["s3cr3t-of-an-account", '{ env: "s3cr3t-of-an-account" }'],
    ["s3cr3t-of-an-account", '{ value: "s3cr3t-of-\\u0061n-account" }'],
    ["12345678901234567890", "12345678901234567890"],
    ["s3cr3t-of-an-account", '"s3cr3t-of-an-account", tokn: 1'],
    ["s3cr3t-of-an-account", '{ env: A }, tokn: "s3cr3t-of-an-account"'],
    ["s3cr3t-of-an-account", "[s3cr3t-of-an-account]"],
    ["s3cr3t-of-an-account", "{ env: { value: [s3cr3t-of-an-account] } }"],
    ["s3cr3t-of-an-account", "{ s3cr3t-of-an-account: env }"],
    ["s3cr3t-of-an-account", "Bearer s3cr3t-of-an-account"],
    ["s3cr3t-of-an-account", '"Authorization: Basic s3cr3t-of-an-account"'],
    ["s3cr3t-of-an-account", '"TOKEN=s3cr3t-of-an-account;"'],
    ["s3cr3t-of-an-account", "{ env: A }, s3cr3t-of-an-account: 1"],
    ["s3cr3t", "{ env: A }, base_url: 'https://s3cr3t@api.example.com/v4'"],
  ];
  for (const [token, text] of written) {
    const shared = `defaults: { service: linode, token: ${text} }\n`;
    const entry = `accounts:\n  - { name: one, project: ., token: ${text} }\n`;
    const cwd = await folder({ "fleet.yaml": `fleet: 1\n${shared}${entry}`, "tenon.yaml": "tenon: 1\n" });
    for (const format of ["text", "json"]) {
      const { code, stdout, stderr } = await here(["fleet", "plan", "--format", format], { cwd });
      expect([text, code]).toEqual([text, 3]);
      expect(stdout + stderr).toContain("literal-token");
      expect(stdout + stderr).not.toContain(token.slice(0, 6));
    }
  }
  const cwd = await folder({ "accounts.csv": `name,project,token_env\none,.,"${hexadecimal}"\n` });
  const { code, stderr } = await here(["fleet", "init", "--from", "accounts.csv"], { cwd });
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining("error[literal-token]: a token stands in the file\n  --> accounts.csv:2:"),
  ]);
  expect(stderr).not.toContain(hexadecimal.slice(0, 6));
  // What can be no token is shown.
  for (const token of [
    "SHOP_TOKEN",
    "{ env: shop-token }",
    "{ file: [shop.token] }",
    "/run/secrets/shop-token-1",
    "{ env: SHOP-ACCOUNT-TOKEN }",
    '{ command: "pass show shop/token1" }',
    "{ env: A }, tokn: SHOP_TOKEN",
    "{ env: shop-a }, x-note: shop-account-number-12345",
  ]) {
    const cwd = await folder({
      "fleet.yaml": `fleet: 1\naccounts: [{ name: one, project: ., service: linode, token: ${token} }]\n`,
    });
    const { code, stderr } = await here(["fleet", "plan"], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/SHOP|shop/)]);
    expect(stderr).not.toContain("literal-token");
  }
});

test("a fleet file whose defaults make thousands of accounts large is refused before they are listed", async () => {
  const texts = (letter: string, value: string): string =>
    Array.from({ length: 255 }, (_, index) => `    ${letter}${index}: ${value}\n`).join("");
  const defaults = `  labels:\n${texts("l", "a".repeat(250))}  variables:\n${texts("v", "a")}`;
  const fleetFile = (count: number, own: string): string => {
    const accounts = Array.from({ length: count }, (_, index) => `  - { name: n${index}, token: { env: T }${own} }\n`);
    return `fleet: 1\ndefaults:\n  project: ./p\n  service: linode\n${defaults}accounts:\n${accounts.join("")}`;
  };
  for (const own of ["", ", labels: { a: b }"]) {
    const cwd = await folder({ "fleet.yaml": fleetFile(1_000, own) });
    for (const format of ["table", "json"]) {
      const { code, stdout, stderr } = await run(["fleet", "list", "--format", format], { cwd });
      expect([code, stdout.length < 2_000]).toEqual([3, true]);
      expect(stderr).toContain("error[expands-too-far]: the fleet becomes too large\n  --> fleet.yaml:");
    }
    const small = await folder({ "fleet.yaml": fleetFile(200, own) });
    expect((await run(["fleet", "list", "--format", "json"], { cwd: small })).code).toBe(0);
  }
});

test("text of manifests and services is no markdown in a fleet's comment and summary", async () => {
  const { cwd, env } = await fleetOf(2);
  const records = `[{ type: TXT, name: t, target: ${JSON.stringify(ACTIVE.replaceAll("\n", " "))}, note: ${JSON.stringify(ACTIVE)} }]`;
  const good = `tenon: 1\nvariables: { domain: {} }\ndomains: [{ domain: "\${var.domain}", type: master, soa_email: a@a.example, records: ${records} }]\n`;
  const bad = `tenon: 1\n${JSON.stringify(ACTIVE.replaceAll("\n", " "))}: 1\n`;
  const summary = join(cwd, "summary.md");
  for (const [manifest, commands] of [
    [good, [["plan"], ["drift"], ["apply", "--yes"]]],
    [bad, [["plan"], ["drift"], ["apply", "--yes"], ["validate"]]],
  ] as const) {
    await writeFile(join(cwd, "project/tenon.yaml"), manifest);
    for (const command of commands) {
      for (const format of ["markdown", "text"]) {
        await writeFile(summary, "");
        const { stdout } = await here(["fleet", ...command, "--format", format], {
          cwd,
          env: { ...env, GITHUB_STEP_SUMMARY: summary },
        });
        const texts = [await readFile(summary, "utf8"), ...(format === "markdown" ? [stdout] : [])];
        for (const text of texts) {
          if (command[0] === "plan") expect([command, text.includes("evil")]).toEqual([command, true]);
          const active = acted(text).replace(/\\([!-/:-@[-`{-~])/g, "");
          expect([command, format, active]).toEqual([command, format, expect.not.stringMatching(/evil/)]);
        }
      }
    }
  }
});

test("a saved plan of a fleet brings no other account, environment, variables or goal", async () => {
  const { cwd, env, accounts } = await fleetOf(2);
  const service = (accounts[0] as Account).service;
  const one = { cwd, env: { ...env, TENON_BASE_URL: service.baseUrl, TENON_TOKEN: "emulator-token" } };
  const apply = ["fleet", "apply", "--yes", "--plan", "plans", "--select", "name=a1"];
  const project = `${PROJECT}environments: { wide: { variables: { address: 203.0.113.66 } } }\n`;
  await writeFile(join(cwd, "project/tenon.yaml"), project);
  expect((await here(["fleet", "plan", "--out", "plans"], { cwd, env })).code).toBe(0);
  const own = await readFile(join(cwd, "plans/a1.plan"), "utf8");
  const fleet = (JSON.parse(own) as { tenon: { inputs: { fleet: object } } }).tenon.inputs.fleet;
  expect(fleet).toEqual({ name: "a1", service: service.baseUrl, account: null });
  const changed = (change: (inputs: Record<string, unknown>) => void): string => {
    const file = JSON.parse(own) as { tenon: { inputs: Record<string, unknown> } };
    change(file.tenon.inputs);
    return withDigest(JSON.stringify(file));
  };
  const single = async (args: readonly string[]): Promise<string> => {
    const made = await here(["plan", "project", "--out", "one.plan", ...args], one);
    expect(made.code).toBe(0);
    // As if it were of the account, too.
    const file = JSON.parse(await readFile(join(cwd, "one.plan"), "utf8"));
    return withDigest(JSON.stringify({ ...file, tenon: { ...file.tenon, inputs: { ...file.tenon.inputs, fleet } } }));
  };
  const attempts: Readonly<Record<string, string>> = {
    "the plan of another account": await readFile(join(cwd, "plans/a2.plan"), "utf8"),
    "a plan of no fleet": changed((inputs) => delete inputs["fleet"]),
    "another service": changed((inputs) => (inputs["fleet"] = { ...fleet, service: "https://api.linode.com/v4" })),
    "another account's id": changed((inputs) => (inputs["fleet"] = { ...fleet, account: "E2" })),
    "another environment": await single(["--var", "domain=a1.example", "--env", "wide"]),
    "another variable": await single(["--var", "domain=a1.example", "--var", "address=203.0.113.66"]),
    "an owner to take from": changed((inputs) => (inputs["take_ownership_from"] = ["other"])),
    "fewer objects": await single(["--var", "domain=a1.example", "--target", "domain/*"]),
    "a destroy": await single(["--var", "domain=a1.example", "--destroy"]),
  };
  for (const [name, text] of Object.entries(attempts)) {
    await writeFile(join(cwd, "plans/a1.plan"), text);
    const { code, stdout } = await here(apply, { cwd, env });
    expect([name, code]).toEqual([name, 1]);
    expect([name, stdout]).toEqual([name, expect.stringContaining("error[plan-file-differs]")]);
    expect(await domainsOf(accounts[0] as Account)).toEqual([]);
  }
  await writeFile(join(cwd, "plans/a1.plan"), own);
  expect((await here(apply, { cwd, env })).code).toBe(0);
});

test("a fleet is read and written through no link that leads out of the checkout, or into a folder of git", async () => {
  const { cwd, env } = await fleetOf(1);
  const fleet = await readFile(join(cwd, "fleet.yaml"), "utf8");
  const elsewhere = await folder({
    "fleet.yaml": fleet,
    token: SECRET,
    "tenon.yaml": "tenon: 1\n",
    "plans/a1.plan": "kept",
  });
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git/config"), SECRET);
  await mkdir(join(cwd, "deep"));
  for (const [name, target] of [
    ["out.yaml", join(elsewhere, "fleet.yaml")],
    ["git.yaml", ".git/config"],
    ["other", elsewhere],
    ["plans", join(elsewhere, "plans")],
    ["deep/token", join(elsewhere, "token")],
  ] as const)
    await symlink(target, join(cwd, name));
  for (const file of ["out.yaml", "git.yaml", "other"]) {
    const { code, stderr } = await here(["fleet", "plan", file], { cwd, env });
    expect([file, code, stderr]).toEqual([file, 3, expect.stringContaining("error[symbolic-link]")]);
    expect(stderr).not.toContain(SECRET);
  }
  for (const [from, to] of [
    ["./project", "./other"],
    ["env: TOKEN_A1", "file: deep/token"],
    ["env: TOKEN_A1", "file: other/token"],
  ] as const) {
    await writeFile(join(cwd, "fleet.yaml"), fleet.replace(from, to));
    for (const at of [cwd, elsewhere]) {
      const { code, stderr } = await here(["fleet", "plan", cwd], { cwd: at, env });
      expect([to, code, stderr]).toEqual([to, 3, expect.stringContaining("error[symbolic-link]")]);
      expect(stderr).not.toContain(SECRET);
    }
  }
  await writeFile(join(cwd, "fleet.yaml"), fleet);
  const { code, stderr } = await here(["fleet", "plan", "--out", "plans"], { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("leads out of this folder by a symbolic link")]);
  expect(await readFile(join(elsewhere, "plans/a1.plan"), "utf8")).toBe("kept");
});

test("a token file that is a pipe keeps no other account waiting, and a variable that every object has is none", async () => {
  const { cwd, env, accounts } = await fleetOf(3);
  const fleet = await readFile(join(cwd, "fleet.yaml"), "utf8");
  await execute("mkfifo", [join(cwd, "pipe")]);
  await writeFile(
    join(cwd, "fleet.yaml"),
    fleet.replace("env: TOKEN_A1", "file: pipe").replace("env: TOKEN_A2", "env: constructor"),
  );
  const { code, stdout } = await run(["fleet", "apply", "--yes"], { cwd, env });
  expect(code).toBe(1);
  expect(stdout).toContain("a1  error: the token file is not a regular file:");
  expect(stdout).toContain("a2  error: no token is set: constructor is empty\n");
  expect(await domainsOf(accounts[2] as Account)).toEqual(["a3.example"]);
});

test("a signal ends a plan of a fleet at once, whatever is computed: nobody handles it", async () => {
  const { cwd, env, accounts } = await fleetOf(2, { latencyMilliseconds: 300 });
  for (const [command, signal] of [
    ["plan", "SIGTERM"],
    ["drift", "SIGINT"],
  ] as const) {
    const child = start(["fleet", command, "--workers", "2"], { cwd, env });
    const exit = new Promise((resolve) => child.on("exit", (code, by) => resolve([code, by])));
    const { service } = accounts[0] as Account;
    const before = service.requests.length;
    await expect.poll(() => service.requests.length, { timeout: 20_000, interval: 5 }).toBeGreaterThan(before);
    child.kill(signal);
    expect(await exit).toEqual([null, signal]);
  }
});
