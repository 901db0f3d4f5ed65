/** A fleet file is read as a whole: what each account comes to, and every error there is, with its place. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FleetOptions, loadFleet, parseTokenHosts, type ServiceFallback } from "../../src/fleet/index.ts";
import { folder } from "../cli/run.ts";

const NONE: ServiceFallback = { service: "", baseUrl: "" };

/** Of each problem its code and its place; or the accounts. */
async function load(text: string, fallback: ServiceFallback = NONE, options: FleetOptions = { purpose: "check" }) {
  const cwd = await folder({ "fleet.yaml": text });
  const { fleet, diagnostics, sources } = await loadFleet(cwd, fallback, options);
  const problems = diagnostics.map(({ code, span }) => {
    if (span === undefined) return code;
    const { line, column } = sources.position(span.file, span.start);
    return `${line}:${column} ${code}`;
  });
  return { cwd, accounts: fleet?.accounts ?? [], problems };
}

test("an account has what the defaults have and it does not say itself", async () => {
  const { cwd, accounts, problems } = await load(`fleet: 1
defaults:
  project: ./project
  environment: production
  variables: { a: one, b: 007, c: true }
  service: linode
  labels: { tier: tin, "región": "ñ" }
accounts:
  - { name: plain, token: { env: T } }
  - name: other
    project: ../elsewhere
    environment: staging
    variables: { b: two }
    base_url: https://api.example.com/v4/
    dialect: node
    account: E1
    token: { file: secrets/other }
    labels: { tier: gold }
`);
  expect(problems).toEqual([]);
  expect(accounts).toEqual([
    {
      name: "plain",
      project: join(cwd, "project"),
      environment: "production",
      variables: { a: "one", b: "007", c: "true" },
      baseUrl: "https://api.linode.com/v4",
      dialect: "linode",
      account: null,
      token: { env: "T" },
      labels: { tier: "tin", región: "ñ" },
    },
    {
      name: "other",
      project: join(cwd, "../elsewhere"),
      environment: "staging",
      variables: { a: "one", b: "two", c: "true" },
      baseUrl: "https://api.example.com/v4",
      dialect: "node",
      account: "E1",
      token: { file: join(cwd, "secrets/other") },
      labels: { tier: "gold", región: "ñ" },
    },
  ]);
});

test("all that is wrong is said at once, each at its place", async () => {
  const { problems } = await load(`fleet: 2
defaults: { token: { env: T }, base_url: "http://shop.example/v4" }
acounts: []
accounts:
  - { name: a, token: { env: A, file: b } }
  - { name: A, project: ., service: lindoe, token: { env: 1A } }
  - { name: b, project: ., service: linode, base_url: "https://a.example/v4", token: { env: B } }
  - { name: b, project: ., service: linode, dialect: "a b", token: { env: B } }
  - { project: ., token: {} }
  - just text
`);
  expect(problems).toEqual([
    "1:8 unknown-value",
    "2:13 unknown-key",
    "2:42 base-url-insecure",
    "3:1 unknown-key",
    "5:7 missing-key",
    "5:33 conflicting-keys",
    "6:13 bad-format",
    "6:37 unknown-service",
    "6:59 bad-format",
    "7:55 conflicting-keys",
    "8:13 duplicate-account",
    "8:54 dialect-invalid",
    "9:7 missing-key",
    "9:26 missing-key",
    "10:5 wrong-type",
  ]);
});

test("the environment says where accounts are that do not say it themselves, and what is wrong with it is said once", async () => {
  const text = `fleet: 1
accounts:
  - { name: a, project: ., token: { env: A } }
  - { name: b, project: ., token: { env: B }, base_url: "https://b.example/v4" }
  - { name: c, project: ., token: { env: C } }
`;
  const urls = async (fallback: ServiceFallback) => (await load(text, fallback)).accounts.map(({ baseUrl }) => baseUrl);
  expect((await load(text)).problems).toEqual(["3:7 missing-key", "5:7 missing-key"]);
  expect(await urls({ service: "linode", baseUrl: "" })).toEqual([
    "https://api.linode.com/v4",
    "https://b.example/v4",
    "https://api.linode.com/v4",
  ]);
  expect((await urls({ service: "", baseUrl: "https://e.example/v4" }))[0]).toBe("https://e.example/v4");
  expect((await load(text, { service: "lindoe", baseUrl: "" })).problems).toEqual(["unknown-service"]);
  expect((await load(text, { service: "", baseUrl: "ftp://e.example/v4" })).problems).toEqual(["base-url-insecure"]);
});

test("where only the list of the accounts is read, nobody need say where their services are", async () => {
  const text = `fleet: 1
accounts:
  - { name: a, project: ., token: { env: A } }
  - { name: b, project: ., token: { env: B }, base_url: "https://b.example/v4" }
`;
  const { accounts, problems } = await load(text, NONE, { purpose: "list" });
  expect([problems, accounts.map(({ baseUrl }) => baseUrl)]).toEqual([[], ["", "https://b.example/v4"]]);
});

test("a token goes to known services, this machine, the host of the environment, and to listed hosts: to no other", async () => {
  const at = async (url: string, tokenHosts: readonly string[], baseUrl = "") => {
    const text = `fleet: 1\naccounts: [{ name: a, project: ., base_url: "${url}", token: { env: A } }]\n`;
    return (await load(text, { service: "", baseUrl }, { tokenHosts })).problems;
  };
  const refused = ["2:45 token-host"];
  expect(await at("https://b.example/v4", [])).toEqual(refused);
  expect(await at("https://b.example/v4", ["b.example"])).toEqual([]);
  expect(await at("https://b.example/v4", [], "https://b.example/v4")).toEqual([]);
  expect(await at("https://api.linode.com/v4", [])).toEqual([]);
  for (const url of ["http://127.0.0.1:9/v4", "http://localhost:9/v4", "http://[::1]:9/v4"])
    expect(await at(url, [])).toEqual([]);
  // What only looks like a host that is trusted.
  for (const url of [
    "https://b.example.evil.example/v4",
    "https://b.example:8443/v4",
    "https://sub.b.example/v4",
    "https://api.linode.com.evil.example/v4",
    "https://api.linode.com:8443/v4",
    "https://127.0.0.1.evil.example/v4",
  ])
    expect([url, await at(url, ["b.example"])]).toEqual([url, refused]);
  // Accounts that share a base URL have one error.
  const shared = `fleet: 1\ndefaults: { project: ., base_url: "https://b.example/v4" }\naccounts: [{ name: a, token: { env: A } }, { name: b, token: { env: B } }]\n`;
  expect((await load(shared, NONE, {})).problems).toEqual(["2:35 token-host"]);
});

test("a list of hosts has hosts, and nothing that could name more than one", () => {
  expect(parseTokenHosts(["API.example.com:443, b.example:8443\n", "[2001:DB8::1]"])).toEqual({
    ok: true,
    hosts: ["api.example.com", "b.example:8443", "[2001:db8::1]"],
  });
  for (const part of [
    "*",
    "*.example.com",
    "https://a.example",
    "a.example/v4",
    "u@a.example",
    "a.example?",
    "a:99999",
  ])
    expect(parseTokenHosts([`b.example,${part}`])).toEqual({ ok: false, part });
  const many = Array.from({ length: 1_001 }, (_, index) => `h${index}.example`);
  expect([parseTokenHosts(many.slice(1)).ok, parseTokenHosts(many)]).toEqual([
    true,
    { ok: false, part: "h1000.example" },
  ]);
});

test("ten thousand accounts are read, and no more", async () => {
  const entries = Array.from({ length: 10_001 }, (_, index) => `  - { name: a${index}, token: { env: T${index} } }\n`);
  const head = "fleet: 1\ndefaults: { project: ., service: linode }\naccounts:\n";
  expect((await load(head + entries.slice(1).join(""))).accounts).toHaveLength(10_000);
  expect((await load(head + entries.join(""))).problems).toEqual(["10004:5 too-many-accounts"]);
});

test("256 variables are read, and no more", async () => {
  const file = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `v${index}: x`);
    const variables = `variables: { ${names.join(", ")} }`;
    return `fleet: 1\naccounts: [{ name: a, project: ., service: linode, token: { env: T }, ${variables} }]\n`;
  };
  expect((await load(file(256))).problems).toEqual([]);
  expect((await load(file(257))).problems).toEqual([expect.stringMatching(/^2:\d+ /)]);
});

test("what is no fleet file is said to be none", async () => {
  const cwd = await folder({ "empty.yaml": "", "list.yaml": "- a\n", "bad.yaml": "fleet: [\n" });
  const codesOf = async (file: string) => {
    const { fleet, fault, diagnostics } = await loadFleet(join(cwd, file), NONE);
    return [fleet, fault, ...diagnostics.map(({ code }) => code)];
  };
  expect(await codesOf("nowhere.yaml")).toEqual([null, "request", "fleet-missing"]);
  for (const file of ["empty.yaml", "list.yaml", "bad.yaml"])
    expect((await codesOf(file)).slice(0, 2)).toEqual([null, "file"]);
  await writeFile(join(cwd, "latin.yaml"), Buffer.from([0x66, 0xfc]));
  expect(await codesOf("latin.yaml")).toEqual([null, "file", "not-utf8"]);
});

test("an empty file, and one that holds something else, say how a fleet file begins", async () => {
  const first = async (text: string) => {
    const { diagnostics } = await loadFleet(await folder({ "fleet.yaml": text }), NONE, { purpose: "check" });
    return diagnostics.map(({ summary, fix }) => [summary, fix]);
  };
  expect(await first("")).toEqual([["the file is empty", "Start it with `fleet: 1`, or delete the file."]]);
  expect(await first("- a\n")).toEqual([["not a fleet file", "Start it with `fleet: 1`."]]);
});
