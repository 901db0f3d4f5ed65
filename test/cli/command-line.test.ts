import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { folder, MAIN, run } from "./run.ts";

const COMMANDS = [
  "validate",
  "plan",
  "apply",
  "destroy",
  "list",
  "show",
  "output",
  "explain",
  "emulate",
  "demo",
  "completion",
  "version",
];

describe("tenon --help", () => {
  it.each([[[]], ...COMMANDS.map((command) => [[command]])])(
    "fits 80 columns and has examples: %j",
    async (command) => {
      const { code, stdout, stderr } = await run([...command, "--help"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(stdout).toContain(`Examples:\n  tenon ${command[0] ?? "validate"}`);
    },
  );

  it("says which flag live cannot do without", async () => {
    expect((await run(["live", "--help"])).stdout).toMatch(/--out <file> +required: /);
  });

  it("lists every command, and what exit codes mean", async () => {
    const { stdout } = await run(["--help"]);
    for (const command of COMMANDS) expect(stdout).toContain(`\n  ${command} `);
    expect(stdout).toContain("5  not within the reviewed plan");
  });
});

describe("tenon help", () => {
  it("shows the help of a command of any depth", async () => {
    for (const words of [["fleet", "plan"], ["zone", "check"], ["plan"]]) {
      const [helped, flagged] = [await here(["help", ...words]), await here([...words, "--help"])];
      expect(helped).toEqual({ ...flagged, code: 0 });
      expect(helped.stdout).toContain(`Usage: tenon ${words.join(" ")} `);
    }
  });
});

describe("tenon zone --help", () => {
  it.each(["export", "check"])("fits 80 columns: %s", async (command) => {
    const { code, stdout } = await run(["zone", command, "--help"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain(command === "export" ? "Usage: tenon zone export [options] <name>" : "Exit codes:");
  });
});

describe("tenon ticket --help", () => {
  it.each(["list", "show", "open", "reply", "attach", "close", "draft"])(
    "fits 80 columns and has examples: %s",
    async (command) => {
      const { code, stdout } = await here(["ticket", command, "--help"]);
      expect(code).toBe(0);
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(stdout).toContain(`Examples:\n  tenon ticket ${command}`);
    },
  );
});

it("the program can be run by a link to it, also after it was built anew", async () => {
  expect((await stat(MAIN)).mode & 0o111).toBe(0o111);
});

describe("tenon --version", () => {
  it("says the package's version", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });
});

describe("a wrong command line", () => {
  it("without a command shows the help on stderr, and is an error", async () => {
    const { code, stdout, stderr } = await run([]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Usage: tenon");
  });

  it.each([
    [["plam"], "unknown command 'plam'", "Did you mean plan?"],
    [["plan", "--formt", "json"], "unknown option '--formt'", "Did you mean --format?"],
    [["--formt"], "unknown option '--formt'", "(tenon --help shows what there is)"],
    [["plan", "--nope"], "unknown option '--nope'", "(tenon plan --help shows what there is)"],
    [["zone", "check", "--nope"], "unknown option '--nope'", "(tenon zone check --help shows what there is)"],
    [["apply", "--auto-approve"], "unknown option '--auto-approve': use --yes", "(tenon apply --help"],
    [["apply", "-auto-approve"], "unknown option '-auto-approve': use --yes", ""],
    [["plan", "-out", "x"], "unknown option '-out': write --out, with two dashes", ""],
    [["plan", "-never-destroy"], "unknown option '-never-destroy': write --never-destroy, with two dashes", ""],
    [["plan", "-json"], "unknown option '-json': write --format json", ""],
    [["plan", "--json"], "unknown option '--json': write --format json", ""],
    [["plan", "-no-color"], "unknown option '-no-color': write --no-color, with two dashes", ""],
    [["demo", "-json"], "unknown option '-json'\n", "(tenon demo --help shows what there is)"],
    [["list", "record"], "error: <kind> does not take 'record': did you mean records?\n", ""],
    [["list", "Domain"], "error: <kind> does not take 'Domain': did you mean domains?\n", ""],
    [
      ["list", "nets"],
      "error: <kind> does not take 'nets'\n  Allowed choices are vpcs, subnets, addresses,",
      "(tenon list --help shows what there is)",
    ],
    [["ticket", "show", "x"], "error: <id> does not take 'x'\n  Write the number of a ticket.\n", "(tenon ticket show"],
    [
      ["import", "--from", "bind"],
      "error: option '--from <source>' does not take 'bind'\n  Allowed choices are live,",
      "",
    ],
    [["drift", "--watch", "5s"], "write --watch --every 5s (from 5s to 24h), or ./5s for a folder", ""],
    [["destroy", "-y"], "unknown option '-y': use --yes", ""],
    [["drift", "--detailed-exitcode"], "drift always exits with 2 when there is drift", ""],
    [["plan", "-y"], "unknown option '-y'\n", ""],
    [["plan", "a", "b"], "too many arguments", ""],
    [["plan", "--format", "yaml"], "--format", "text, json"],
    [["plan", "--allow", "erase=vpc/a"], "--allow", "RULE=ADDRESS"],
    [["plan", "--allow", "delete"], "--allow", "RULE=ADDRESS"],
    [["plan", "--var", "=x"], "--var", "NAME=VALUE"],
    [["plan", "--retry-for", "soon"], "--retry-for", "30s, 5m"],
    [["plan", "--concurrency", "0"], "--concurrency", "1 to 64"],
    [["plan", "--max-changes", "-1"], "--max-changes", "0 or more"],
    [["apply", "--journal", "a.jsonl", "--json-into", "./a.jsonl"], "--journal and --json-into name the same file", ""],
    [["plan", "--json-into", "b", "--html-into", "b"], "--json-into and --html-into name the same file", ""],
    [["apply", "--plan", "p.plan", "--json-into", "p.plan"], "--plan and --json-into name the same file", ""],
    [["plan", "--token-file", "tok", "--out", "tok"], "--token-file and --out name the same file", ""],
    [
      ["plan", "--var-file", "a.json", "--var-file", "v.json", "--out", "v.json"],
      "--var-file and --out name the same",
      "",
    ],
    [["apply", "--journal", "-"], "--journal", "Name a file."],
    [["apply", "--journal", ""], "--journal", "Name a file."],
    [["plan", "--out", "-"], "--out", "--format json prints the plan"],
    [["undo", "run.jsonl", "--out", "-"], "--out", "Name a file"],
    [["apply", "--upload-timeout", "25h"], "--upload-timeout", "from 1s to 24h"],
    [["apply", "--upload-timeout", "0s"], "--upload-timeout", "from 1s to 24h"],
    [["plan", "--fail-on", "bad weather"], "--fail-on", "refused, blocked"],
    [["emulate", "--port", "65536"], "--port", "65535"],
    [["emulate", "--rate-limit", "5"], "--rate-limit", "N/SECONDS"],
    [["undo"], "missing required argument 'journal': name one of the files in .tenon/journal", ""],
    [["show"], "nothing is named that is to be shown", "--expanded"],
  ])("is explained, and exits with 1: %j", async (args, what, fix) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(what);
    expect(stderr).toContain(fix);
    expect(stderr).not.toContain("    at ");
  });
});

describe("colours", () => {
  it("are for terminals, or where FORCE_COLOR asks for them, unless NO_COLOR or a dumb terminal forbids it", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: 1\n" });
    const isColoured = async (env: Readonly<Record<string, string>>): Promise<boolean> =>
      (await here(["validate"], { cwd, env })).stderr.includes("\u001b[");
    expect(await isColoured({})).toBe(false);
    expect(await isColoured({ FORCE_COLOR: "1" })).toBe(true);
    expect(await isColoured({ FORCE_COLOR: "" })).toBe(false);
    expect(await isColoured({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
    expect(await isColoured({ FORCE_COLOR: "1", NO_COLOR: "" })).toBe(true);
    expect(await isColoured({ FORCE_COLOR: "1", TERM: "dumb" })).toBe(false);
  });
});
