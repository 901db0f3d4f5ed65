/** The whole text of each message: every code has a real input that produces it, and what is then shown is a golden. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ERROR_CODES } from "../../src/cli/messages.ts";
import type { Seed } from "../../src/emulator/index.ts";
import { loadProject, type PlanRequest } from "../../src/index.ts";
import { ZONE_RULES } from "../../src/lint/lint.ts";
import type { LoadOptions } from "../../src/manifest/load.ts";
import { type Diagnostic, Sources } from "../../src/model/diagnostic.ts";
import { renderDiagnostics } from "../../src/render/diagnostics.ts";
import { here } from "../cli/here.ts";
import { read } from "../dns/zone-file/reading.ts";
import { DELEGATION_CASES } from "../lint/cases/delegations.ts";
import { NAME_CASES } from "../lint/cases/names.ts";
import { TEXT_CASES } from "../lint/cases/texts.ts";
import { lint, project } from "../lint/projects.ts";
import { folder, loadFiles } from "../manifest/support.ts";
import { Account } from "../support/account.ts";
import { startTested } from "../support/emulator.ts";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));
const NOW = Date.UTC(2026, 10, 22);
const STYLE = { colour: false, width: 80 };

interface Input {
  readonly files: Readonly<Record<string, string | Buffer>>;
  readonly options?: Partial<LoadOptions>;
}

/** What is there, and what is declared. */
interface Planned {
  readonly live: Seed;
  readonly manifest: string;
  readonly plan?: Partial<PlanRequest>;
}

/** What is there, and what is run beside it. */
interface Command {
  readonly live?: Seed;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly args: readonly string[];
}

const MANIFESTS = inputs<Input>("manifests.yaml");
const ZONE_FILES = inputs<Input>("zone-files.yaml");
const PLANS = inputs<Planned>("plans.yaml");
const COMMANDS = inputs<Command>("commands.yaml");
const LINT: Readonly<Record<string, readonly string[]>> = { ...NAME_CASES, ...DELEGATION_CASES, ...TEXT_CASES };

/** What has no input here, with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  "symbolic-link": "needs a symbolic link: test/security/fleets.test.ts",
  "account-unreadable": "is of the library: test/library",
  "base-invalid": "needs git: test/system",
  "base-unreadable": "needs git, or a folder that cannot be written: test/system",
  "demo-failed": "needs a demo that fails",
  "emulator-failed": "is of a command without --format json: test/cli/emulate.test.ts",
  "file-changed": "needs a file that changes while it is read: test/manifest/upload-file.test.ts",
  "consents-not-compared": "needs thousands of patterns and objects: test/security/consent.test.ts",
  "live-not-compared": "needs megabytes of records: test/system/threats-limits.test.ts",
  "file-too-large": "needs a file of megabytes: test/manifest/limits.test.ts",
  "internal-error": "needs an error of Tenon: test/cli/json-errors.test.ts",
  interrupted: "needs a signal",
  "journal-too-large": "needs a journal of megabytes: test/security/journals.test.ts",
  "journal-symlink": "shows the path of a temporary folder: test/apply/journal.test.ts",
  "journal-unwritable": "shows what the file system says: test/apply/journal.test.ts",
  "live-file": "is the beginning of the codes of a snapshot: live-file-damaged",
  "not-formatted": "is told by the files' names: test/cli/fmt.test.ts",
  "not-listed": "needs problems with megabytes of text: test/manifest/findings.test.ts",
  "not-reviewed": "is of the library: test/library",
  "plan-differs": "is of the library: test/library",
  "plan-file": "is the beginning of the codes of a plan file: plan-file-damaged, plan-file-truncated",
  "plan-file-differs": "needs a saved plan: test/cli/saved-plan.test.ts",
  "project-too-large": "needs files of megabytes: test/manifest/limits.test.ts",
  "queue-of-others": "needs a server: test/system/fleet-unfit.test.ts",
  "queue-unfit": "needs a server: test/system/fleet-unfit.test.ts",
  "queue-unreachable": "needs a server: test/system/fleet-unfit.test.ts",
  "service-aborted": "needs a signal",
  "service-malformed": "is the words of a broken answer: test/cli/bad-service.test.ts",
  "service-refused": "is the service's words: test/cli/json-errors.test.ts",
  "service-unavailable": "is the service's words: test/cli/bad-service.test.ts",
  "service-unreachable": "is the network's words: test/cli/json-errors.test.ts",
  "snapshot-malformed": "is of a command without --format json: test/cli/live.test.ts",
  "snapshot-of-others": "needs a snapshot: test/cli/live.test.ts",
  "ticket-outcome-unknown": "needs lost answers: test/tickets/outcomes.test.ts",
  "token-missing": "is of an account of a fleet: test/cli/fleet.test.ts",
  "token-in-plan": "shows nothing of the plan: test/cli/saved-plan.test.ts",
  "token-in-snapshot": "is of a command without --format json: test/cli/live.test.ts",
  "too-large": "needs a file of megabytes: test/dns/zone-file/hostile.test.ts",
  "too-many-columns": "needs a thousand columns: test/fleet/from-csv.test.ts",
  "too-many-accounts": "needs ten thousand accounts: test/fleet/fleet-file.test.ts",
  "too-many-files": "needs a thousand files: test/manifest/limits.test.ts",
};

describe("the message of", () => {
  test("every code is a golden", () => {
    const told = new Set([MANIFESTS, ZONE_FILES, PLANS, COMMANDS, LINT, WITHOUT].flatMap(Object.keys));
    expect(codesOfSource().filter((code) => !told.has(code))).toEqual([]);
    expect(ZONE_RULES.filter(({ code }) => LINT[code] === undefined)).toEqual([]);
    const known = new Set(codesOfSource());
    expect(Object.keys(WITHOUT).filter((code) => !known.has(code))).toEqual([]);
  });

  test("each manifest's problem", async () => {
    const blocks = await blocksOf(MANIFESTS, async ({ files, options }) => loadFiles(files, options));
    await expect(blocks).toMatchFileSnapshot("../golden/messages/manifests.txt");
  });

  test("each zone file's problem", async () => {
    const blocks = await blocksOf(ZONE_FILES, async ({ files }) => {
      const { "main.zone": text = "", ...included } = files as Record<string, string>;
      const sources = new Sources();
      for (const [file, content] of Object.entries({ ...included, "main.zone": text })) sources.add(file, content);
      return { diagnostics: (await read(text, "example.com", included)).diagnostics, sources };
    });
    await expect(blocks).toMatchFileSnapshot("../golden/messages/zone-files.txt");
  });

  test("each lint rule, at each of its cases", async () => {
    const cases = Object.fromEntries(Object.entries(LINT).map(([code, texts]) => [code, texts.map(project)] as const));
    const blocks = await Promise.all(
      Object.entries(cases).map(async ([code, projects]) =>
        projects.map((one) => block(code, lint(one), one.sources)).join(""),
      ),
    );
    await expect(blocks.sort().join("")).toMatchFileSnapshot("../golden/messages/lint.txt");
  });

  test("each plan's refusal or warning", async () => {
    const blocks = await blocksOf(PLANS, async ({ live, manifest, plan }) => {
      const account = await Account.open({ seed: live, now: () => Date.UTC(2026, 0, 1) });
      try {
        const directory = folder({ "tenon.yaml": manifest });
        const { project: loaded, diagnostics, sources } = await loadProject({ directory, allowedSeconds: [] });
        if (loaded === null) throw new Error(JSON.stringify(diagnostics));
        const { refusals, warnings } = await account.plan(loaded.desired, { nowMilliseconds: NOW, ...plan });
        return { diagnostics: [...refusals, ...warnings], sources };
      } finally {
        await account.close();
      }
    });
    await expect(blocks).toMatchFileSnapshot("../golden/messages/plans.txt");
  });

  test("each command's problem", async () => {
    const told: string[] = [];
    for (const [code, { live, files, args }] of Object.entries(COMMANDS)) {
      const service = await startTested({ now: () => NOW, ...(live === undefined ? {} : { seed: live }) });
      const { baseUrl } = service.emulator;
      const { host } = new URL(baseUrl);
      const cwd = folder(
        Object.fromEntries(
          Object.entries(files ?? {}).map(([name, text]) => [
            name,
            typeof text === "string" ? text.replaceAll("HOST:PORT", host) : text,
          ]),
        ),
      );
      const env = { TENON_BASE_URL: baseUrl, TENON_TOKEN: "emulator-token" };
      // A plan's warnings are part of the plan; the code of a command's own error is only in its JSON.
      const { stdout, stderr } = await here(args, { cwd, env });
      const isUndone = args[0] === "undo" && stdout.includes('"format_version":"1.2"');
      const shown = isUndone
        ? JSON.stringify(JSON.parse(stdout).tenon.warnings, null, 2)
        : args[0] === "plan" || args.includes("json")
          ? stdout + stderr
          : stderr;
      expect.soft(shown, code).toContain(code);
      const text = steady(
        shown.replaceAll(cwd, "FOLDER").replaceAll(baseUrl, "BASE_URL").replaceAll(host, "HOST:PORT"),
      );
      told.push(`== ${code}\n$ tenon ${args.join(" ")}\n${text}\n`);
    }
    await expect(told.join("")).toMatchFileSnapshot("../golden/messages/commands.txt");
  });
});

/** What `tenon explain CODE` shows: of each code the message that is a golden, or nothing where none is. */
test("the messages that are shown as examples are the goldens, and every code is among them", async () => {
  const goldens = ["manifests", "zone-files", "plans", "commands"].map((name) =>
    readFileSync(new URL(`../golden/messages/${name}.txt`, import.meta.url), "utf8"),
  );
  const examples: Record<string, string> = Object.fromEntries(codesOfSource().map((code) => [code, ""]));
  for (const found of goldens.join("").split(/^== (?=[a-z0-9-]+\n)/m)) {
    const [code = "", ...lines] = found.trimEnd().split("\n");
    // Of a command only what it says: its JSON says the same in one line.
    const isShown = examples[code] === "" && !/^\$ .*--format json/.test(lines[0] ?? "");
    if (isShown) examples[code] = lines.join("\n");
  }
  const text = `${JSON.stringify(examples, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../schemas/messages.json");
});

function inputs<Entry>(file: string): Readonly<Record<string, Entry>> {
  return parse(readFileSync(HERE + file, "utf8"), { customTags: ["binary"] });
}

/** Of each code what is shown of it, under its name; an input that no longer produces its code fails. */
async function blocksOf<Entry>(
  entries: Readonly<Record<string, Entry>>,
  tell: (entry: Entry) => Promise<{ diagnostics: readonly Diagnostic[]; sources: Sources }>,
): Promise<string> {
  const blocks: string[] = [];
  for (const [code, entry] of Object.entries(entries)) {
    const { diagnostics, sources } = await tell(entry);
    const shown = block(code, diagnostics, sources);
    expect(shown, `${code}: ${JSON.stringify(diagnostics)}`).not.toBe("");
    blocks.push(shown);
  }
  return blocks.join("");
}

function block(code: string, diagnostics: readonly Diagnostic[], sources: Sources): string {
  const ours = diagnostics.filter((diagnostic) => diagnostic.code === code);
  return ours.length === 0 ? "" : `== ${code}\n${steady(renderDiagnostics(ours, sources, STYLE))}\n`;
}

/** Without what differs from run to run: keys that the cases draw, temporary folders, and the minute until which caches remember. */
function steady(text: string): string {
  return text
    .replaceAll(/p=[A-Za-z0-9+/]{20,}/g, "p=KEY")
    .replaceAll(/\/\S*\/tenon-manifest-\w+/g, "FOLDER")
    .replaceAll(/"time":"[^"]+"/g, '"time":"NOW"')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "MINUTE");
}

/** What stands in src as `code: "…"`, and the command line's own, sorted. */
function codesOfSource(): string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.startsWith("emulator/"),
  );
  const codes = files.flatMap((file) =>
    [...readFileSync(SOURCE + file, "utf8").matchAll(/\bcode: "([a-z][a-z0-9-]*)"/g)].map(([, code = ""]) => code),
  );
  return [...new Set([...codes, ...Object.keys(ERROR_CODES)])].sort();
}
