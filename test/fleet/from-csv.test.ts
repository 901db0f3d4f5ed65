/** A list of accounts as CSV → a fleet file. */

import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fleetFromCsv, loadFleet } from "../../src/fleet/index.ts";
import { here } from "../cli/here.ts";
import { expectPlain, folder, run } from "../cli/run.ts";
import { growth } from "../support/operations.ts";

const LINODE = { service: "linode", baseUrl: "" };

async function read(csv: string | Buffer, project: string | null = "./project") {
  const cwd = await folder({});
  await writeFile(join(cwd, "accounts.csv"), csv);
  const { text, accounts, diagnostics, sources } = await fleetFromCsv(join(cwd, "accounts.csv"), {
    project,
    folder: cwd,
  });
  const found = diagnostics.map(({ code, span }) => {
    const { line, column } = sources.position("accounts.csv", span?.start ?? 0);
    return `${code} ${line}:${column}`;
  });
  if (text !== null) await writeFile(join(cwd, "fleet.yaml"), text);
  const loaded = text === null ? null : await loadFleet(cwd, LINODE, { purpose: "check" });
  expect(loaded?.diagnostics ?? []).toEqual([]);
  return { text, count: accounts, found, accounts: loaded?.fleet?.accounts ?? [] };
}

test("each line becomes an account, and what all say alike becomes the defaults", async () => {
  const { text } = await read(
    [
      "name,token_env,token_file,base_url,dialect,account,environment,var.domain,var.mode,label.tier",
      "bakery,BAKERY_TOKEN,,https://one.example/v4,node,E1,live,bücher.example,full,gold",
      'florist,,/run/secrets/florist,https://two.example/v4,node,E2,live,"a, ""b""",full,010',
    ].join("\n"),
  );
  expect(text).toBe(`fleet: 1
defaults: { project: ./project, dialect: node, environment: live, variables: { mode: full } }
accounts:
  - { name: bakery, base_url: https://one.example/v4, account: E1, token: { env: BAKERY_TOKEN }, variables: { domain: bücher.example }, labels: { tier: gold } }
  - { name: florist, base_url: https://two.example/v4, account: E2, token: { file: /run/secrets/florist }, variables: { domain: 'a, "b"' }, labels: { tier: "010" } }
`);
});

test.each([
  ["commas", ",", "\n", ""],
  ["semicolons, and the mark and the line ends of a spreadsheet", ";", "\r\n", "\ufeff"],
  ["tabs", "\t", "\r\n", ""],
])("cells may be divided by %s", async (_, delimiter, end, mark) => {
  const lines = [
    ["name", "token_env", "var.text", ""],
    ["a", "A", '"x,;\tüß\nsecond line"', ""],
    [],
    ["", "", "", ""],
    [" b ", "B", '""', ""],
  ];
  const { accounts, found } = await read(mark + lines.map((cells) => cells.join(delimiter)).join(end));
  expect(found).toEqual([]);
  expect(accounts.map(({ name, variables, token }) => ({ name, variables: { ...variables }, token }))).toEqual([
    { name: "a", variables: { text: "x,;\tüß\nsecond line" }, token: { env: "A" } },
    { name: "b", variables: {}, token: { env: "B" } },
  ]);
});

test("columns that a fleet has no use for are left out, with a warning", async () => {
  const { count, found } = await read("Invoice,name,token_env,Grüße\n1,a,A,x\n2,b,B,y\n");
  expect({ count, found }).toEqual({ count: 2, found: ["unknown-column 1:1", "unknown-column 1:24"] });
});

test("every error is reported where it stands, and nothing is written", async () => {
  const { text, found } = await read(
    [
      "name,token_env,token_file,vr.domain,label.tier,name,service,",
      "Bakery Ltd,ÜÖ TOKEN,,x",
      "florist,F,f.token,,,,,,extra",
      "florist,F,,,,,lindoe",
      "x,,",
    ].join("\n"),
    null,
  );
  expect(text).toBeNull();
  expect(found).toEqual([
    "missing-key 1:1",
    "unknown-column 1:27",
    "duplicate-column 1:48",
    "bad-format 2:1",
    "bad-format 2:12",
    "conflicting-keys 3:11",
    "extra-cell 3:24",
    "duplicate-account 4:1",
    "unknown-service 4:15",
    "missing-key 5:1",
  ]);
});

test("a column that is missing is reported once, in the words of the list", async () => {
  const cwd = await folder({ "accounts.csv": "name,token,var.a\nbakery,secret,x\nflorist,secret,y\n" });
  const { diagnostics } = await fleetFromCsv(join(cwd, "accounts.csv"), { project: null, folder: cwd });
  expect(diagnostics.map(({ summary, fix }) => `${summary}: ${fix}`)).toEqual([
    "`token` is missing: Add the column `token_env` or `token_file`.",
    "unknown column token: Did you mean `token_env`?",
  ]);
  const empty = await folder({ "accounts.csv": "name,token_env\nbakery,B\n,F\n" });
  const { diagnostics: rows } = await fleetFromCsv(join(empty, "accounts.csv"), { project: ".", folder: empty });
  expect(rows.map(({ summary, fix }) => `${summary}: ${fix}`)).toEqual(["`name` is missing: Fill the column `name`."]);
});

test.each([
  ["nothing", "", "csv-empty 1:1"],
  ["columns alone", "name,token_env\n\n", "csv-empty 1:1"],
  ["an open quote", 'name,token_env\na,"A\nb,B\n', "csv-invalid 2:3"],
  ["a quote within a cell", 'name,token_env\n"a"b,B\n', "csv-invalid 2:1"],
  ["bytes that are no UTF-8", Buffer.from("name\n\xe9\n", "latin1"), "not-utf8 2:1"],
  ["a line of commas", `name,token_env\n${",".repeat(1_500_000)}\n`, "too-many-columns 2:1025"],
  ["too many columns", `name${",x".repeat(2000)}\na\n`, "too-many-columns 1:2052"],
])("a list that is no list: %s", async (_, csv, expected) => {
  expect(await read(csv)).toMatchObject({ text: null, found: [expected] });
});

test("names that mean something to JavaScript are names, and what hides its neighbours is escaped", async () => {
  const hostile = "a\u202eb\u0007";
  const { text, accounts } = await read(
    `name,token_env,label.__proto__,label.constructor,var.text\na,A,x,y,${hostile}\nb,B,z,y,w\n`,
  );
  expect(text).toContain("\\u202e");
  expect(text).not.toContain("\u202e");
  expect(Object.entries(accounts[0]?.labels ?? {})).toEqual([
    ["constructor", "y"],
    ["__proto__", "x"],
  ]);
  expect(Object.entries(accounts[0]?.variables ?? {})).toEqual([["text", hostile]]);
  expect((await read(`name,token_env,var.${hostile}\na,A,x\n`)).found).toEqual(["unknown-column 1:16"]);
});

test("ten thousand accounts are a fleet, and one more is an error at its line", async () => {
  const lines = Array.from({ length: 10_001 }, (_, index) => `a${index},TOKEN_${index},gold`);
  const most = await read(`name,token_env,label.tier\n${lines.slice(1).join("\n")}\n`);
  expect(most).toMatchObject({ count: 10_000, found: [] });
  const one = await read(`name,token_env,label.tier\n${lines.join("\n")}\n`);
  expect(one).toMatchObject({ text: null, found: ["too-many-accounts 10002:1"] });
});

test("the command writes a fleet file, and overwrites none", async () => {
  const cwd = await folder({ "accounts.csv": "name;token_env\nbakery;A\nflorist;B\n" });
  const made = await run(["fleet", "init", "--from", "accounts.csv", "--project", "./project"], { cwd });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("Written to fleet.yaml: 2 accounts.\n");
  const text = await readFile(join(cwd, "fleet.yaml"), "utf8");
  const again = ["fleet", "init", "--from", "accounts.csv", "--project", "./other"];
  const refused = await here(again, { cwd });
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("error[file-exists]");
  expect(await readFile(join(cwd, "fleet.yaml"), "utf8")).toBe(text);
  expect((await here([...again, "--force"], { cwd })).code).toBe(0);
  expect(await readFile(join(cwd, "fleet.yaml"), "utf8")).toContain("./other");
  const printed = await here([...again, "--out", "-"], { cwd });
  expect(printed.stdout).toBe(text.replace("./project", "./other"));
  const invalid = await here(["fleet", "init", "--from", "accounts.csv", "--out", "new.yaml"], { cwd });
  expect(invalid).toMatchObject({ code: 3 });
  expect(invalid.stderr).toContain("Nothing was written.");
  const missing = await here(["fleet", "init", "--from", "none.csv", "--out", "new.yaml"], { cwd });
  expect(missing.stderr).toContain("error[file-not-found]: cannot use none.csv");
});

test("columns by the thousand are read once, and not for each account, all of which lack one", async () => {
  const csv = (count: number) => {
    const columns = Array.from({ length: count }, (_, index) => `of-others-${index}`);
    return `name,project,${columns.join()}\n${"a,./p\n".repeat(count)}`;
  };
  expect((await read(csv(2), null)).found).toContain("missing-key 1:1");
  expect(await growth(250, 4, (count) => read(csv(count), null))).toBeLessThan(6);
});

test("a list that a link out of the folder leads to is not read, and the message says so", async () => {
  const elsewhere = await folder({ "accounts.csv": "name,token_env\na,SECRET_NAME\n" });
  const cwd = await folder({});
  await symlink(join(elsewhere, "accounts.csv"), join(cwd, "accounts.csv"));
  const ended = await here(["fleet", "init", "--from", "accounts.csv", "--project", "."], { cwd });
  const words = ["accounts.csv leads out of this folder by a symbolic link", "Name the place itself."];
  expectPlain(ended, 3, [...words, "Nothing was written"]);
  expect(ended.stderr).not.toContain("SECRET_NAME");
});
