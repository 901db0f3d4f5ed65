/** `tenon fleet`: the same commands for many accounts, each with its project, from one fleet file. */

import { mkdir, rm } from "node:fs/promises";
import { relative } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { whyLinkRefused, writeProblem } from "../../files/files.ts";
import type { Fleet, FleetAccount, FleetEvent } from "../../fleet/index.ts";
import type { ApiEvent, ClientApi } from "../../index.ts";
import type { AccountResult, FleetCommand, FleetReport } from "../../model/fleet.ts";
import { suggestion } from "../../model/text.ts";
import { renderFleetJsonParts, renderFleetMarkdown, renderFleetTextParts } from "../../render/fleet.ts";
import { renderRunMessage } from "../../render/fleet-message.ts";
import { type Column, renderListJson, renderTable } from "../../render/listing.ts";
import type { WithClient } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addPlanFlags,
  type ConnectionFlags,
  collect,
  type Format,
  failOnFlag,
  formatFlag,
  fullFlag,
  htmlIntoFlag,
  jsonIntoFlag,
  neverDestroyFlag,
  parseCount,
} from "../flags.ts";
import { runAccount, tokenTextOf } from "../fleet-account.ts";
import { type FleetFlags, openFleet } from "../fleet-open.ts";
import { FleetProgress } from "../fleet-progress.ts";
import {
  addQueueFlags,
  keepsDocuments,
  problemOfSubmission,
  queueOf,
  runByWorkers,
  type SubmittedFlags,
} from "../fleet-queue.ts";
import type { FleetTracing } from "../fleet-span.ts";
import { openTracing } from "../fleet-tracing.ts";
import { handlingFromFirstApply } from "../interrupt.ts";
import { type CommandError, sayError } from "../messages.ts";
import { givePage, withJsonErrors, withPage, writeGithubSummary } from "../output.ts";
import { folding, type Terminal } from "../terminal.ts";
import { openNotices, resolveWebhook, type WebhookFlags, webhookFlag } from "../webhook.ts";
import { addInit } from "./fleet-init.ts";
import { defineStatus } from "./fleet-status.ts";
import { defineQueueCommands } from "./fleet-worker.ts";

type Connect = WithClient<ClientApi>;

const FILE = "the fleet file, or its folder (default: fleet.yaml here)";

export function define(fleet: Command, terminal: Terminal, finish: Finish, connect: Connect): void {
  fleet.description("The same commands for many accounts, each with its project, from one fleet file.");
  addInit(fleet, terminal, finish);
  addList(fleet, terminal, finish);
  addValidate(fleet, terminal, finish);
  addPlan(fleet, terminal, finish);
  addApply(fleet, terminal, finish, connect);
  addDrift(fleet, terminal, finish);
  defineStatus(fleet, FILE, (where, file, flags) => openFleet(where, file, flags, "list"), terminal, finish);
  defineQueueCommands(fleet, { fileDescription: FILE, workersFlag, addTokenHostFlag }, terminal, finish, connect);
}

/** What every command of a fleet takes. */
function addFleetFlags(command: Command): Command {
  return command
    .argument("[file]", FILE)
    .option(
      "--select <terms>",
      "only accounts that fit, name=GLOB and label.KEY=GLOB;\nwith commas all, repeated any",
      collect,
    );
}

/** What those that send something take. */
function addTokenHostFlag(command: Command): Command {
  return command.option(
    "--token-host <host>",
    "tokens may be sent to this host, too; repeatable;\nalso TENON_TOKEN_HOSTS",
    collect,
  );
}

/** What those that run something for each account take. */
function addRunFlags(command: Command, description: string): Command {
  return addQueueFlags(addFleetFlags(command).addOption(workersFlag()))
    .option("--canary <name>", "first this account; the others only if it does well")
    .option("--max-failures <n>", "begin no further account after more failures", parseCount)
    .addOption(formatFlag(description, ALL_FORMATS))
    .addOption(jsonIntoFlag())
    .addOption(htmlIntoFlag())
    .addOption(webhookFlag("post which accounts failed, in the form of Slack"));
}

function workersFlag(): Option {
  return new Option("--workers <n>", "accounts at a time").argParser(parseWorkers).default(DEFAULT_WORKERS);
}

const DEFAULT_WORKERS = 4;
const MAX_WORKERS = 64;

function parseWorkers(value: string): number {
  const count = parseCount(value);
  if (count < 1 || count > MAX_WORKERS) throw new InvalidArgumentError(`Write a number from 1 to ${MAX_WORKERS}.`);
  return count;
}

function addList(fleet: Command, terminal: Terminal, finish: Finish): void {
  const command = fleet
    .command("list")
    .summary("list the accounts of a fleet")
    .description("List the accounts of a fleet. Nothing is sent.")
    .addOption(new Option("--format <format>", "how to show it").choices(["table", "json"]).default("table"))
    .action(async (file, flags) => {
      const format = flags.format === "json" ? "json" : "text";
      finish(await withJsonErrors(terminal, { format, stream: false }, (inner) => list(inner, file, flags)));
    });
  addFleetFlags(command);
}

function addValidate(fleet: Command, terminal: Terminal, finish: Finish): void {
  const command = fleet
    .command("validate")
    .summary("check the fleet file and the projects of its accounts")
    .description("Check the fleet file, and the project of each account as that account has it.\nNothing is sent.")
    .option("--strict", "warnings are errors")
    .addOption(fullFlag())
    .action(async (file, flags) => finish(await run(folding(terminal, flags), "validate", file, flags, null)));
  addRunFlags(command, FORMATS);
}

function addPlan(fleet: Command, terminal: Terminal, finish: Finish): void {
  const command = fleet
    .command("plan")
    .summary("show what apply would do in each account")
    .description("Show what apply would do in each account. Nothing is changed.")
    .option("--out <dir>", "save a plan for each account, NAME.plan, for fleet apply --plan")
    .option("--plans <dir>", "where workers save plans, if not in the folder of --out")
    .option("--detailed-exitcode", "exit with 2 if changes are pending anywhere")
    .addOption(neverDestroyFlag())
    .addOption(failOnFlag("exit with 4 if a change is: refused, blocked, or either (refused,blocked)"))
    .addHelpText("after", EXAMPLES)
    .action(async (file, flags) => finish(await run(folding(terminal, flags), "plan", file, flags, null)));
  addPlanFlags(addTokenHostFlag(addRunFlags(command, FORMATS)));
}

const FORMATS = "text is for people, json for programs, markdown for a comment, html a page";

function addApply(fleet: Command, terminal: Terminal, finish: Finish, connect: Connect): void {
  const command = fleet
    .command("apply")
    .summary("make each account fit its manifests")
    .description("Make each account fit its manifests. Asks nothing, so that it needs --yes.")
    .option("--yes", "do not ask")
    .option("--plan <dir>", "in each account nothing that its saved plan does not show")
    .option("--stop-on-guard", "begin no further account after one that a guard refuses")
    .addOption(neverDestroyFlag())
    .addOption(failOnFlag("do nothing in an account where a change is: refused, blocked, or either"))
    .addHelpText("after", EXAMPLES)
    .action(async (file, flags) => finish(await run(folding(terminal, flags), "apply", file, flags, connect)));
  addPlanFlags(addTokenHostFlag(addRunFlags(command, FORMATS)));
}

function addDrift(fleet: Command, terminal: Terminal, finish: Finish): void {
  const command = fleet
    .command("drift")
    .summary("say where accounts differ from their manifests")
    .description(
      "Say where accounts differ from their manifests. Nothing is changed.\nExits with 2 if there is drift anywhere.",
    )
    .addOption(fullFlag())
    .option("--target <address>", "only this address and beneath, * globs; repeatable", collect)
    .option("--exclude <address>", "all but this address; repeatable", collect)
    .action(async (file, flags) => finish(await run(folding(terminal, flags), "drift", file, flags, null)));
  addTokenHostFlag(addRunFlags(command, "text is for people, json for programs, markdown for an issue, html a page"));
}

const EXAMPLES = `
Examples:
  tenon fleet plan --select label.tier=gold
  tenon fleet plan --out plans && tenon fleet apply --plan plans --yes
  tenon fleet apply --yes --workers 8 --canary test-account --max-failures 0`;

// `tenon fleet list`.

async function list(
  terminal: Terminal,
  file: string | undefined,
  flags: FleetFlags & { readonly format: "table" | "json" },
): Promise<ExitCode> {
  const opened = await openFleet(terminal, file, flags, "list");
  if (!opened.ok) return opened.code;
  const { accounts } = opened.fleet;
  const { isTerminal, width } = terminal.results;
  terminal.print(
    flags.format === "json"
      ? renderListJson("accounts", accounts, COLUMNS)
      : renderTable(accounts, COLUMNS, isTerminal ? width : null),
  );
  return EXIT.done;
}

const COLUMNS: readonly Column<FleetAccount>[] = [
  { field: "name", heading: "NAME", value: ({ name }) => name },
  {
    field: "project",
    heading: "PROJECT",
    value: ({ project }) => project,
    shown: ({ project }) => relative(".", project) || ".",
  },
  { field: "environment", heading: "ENVIRONMENT", value: ({ environment }) => environment },
  { field: "base_url", heading: "SERVICE", value: ({ baseUrl }) => baseUrl || null },
  {
    field: "token",
    heading: "TOKEN",
    value: ({ token }) => ("env" in token ? `env ${token.env}` : `file ${token.file}`),
  },
  {
    field: "labels",
    heading: "LABELS",
    value: ({ labels }) =>
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(",") || null,
  },
];

// What runs a command for each account.

interface RunFlags extends SubmittedFlags, FleetFlags, WebhookFlags {
  readonly detailedExitcode?: boolean;
  readonly format: Format;
}

function run(
  terminal: Terminal,
  command: FleetCommand,
  file: string | undefined,
  flags: RunFlags,
  connect: Connect | null,
): Promise<ExitCode> {
  const { format, jsonInto } = flags;
  return withJsonErrors(terminal, { format, stream: false, jsonInto }, (paged) =>
    withPage(paged, flags, (inner) => runChecked(inner, command, file, flags, connect)),
  );
}

async function runChecked(
  inner: Terminal,
  command: FleetCommand,
  file: string | undefined,
  flags: RunFlags,
  connect: Connect | null,
): Promise<ExitCode> {
  if (command === "apply" && flags.yes !== true) {
    const fix = "Look at tenon fleet plan --out plans first, then give --plan plans --yes.";
    sayError(inner, { code: "consent-not-asked", summary: "fleet apply does not ask for each account", fix });
    return EXIT.error;
  }
  const opened = await openFleet(inner, file, flags, command === "validate" ? "check" : "send");
  if (!opened.ok) return opened.code;
  const { accounts } = opened.fleet;
  const { canary } = flags;
  if (canary !== undefined && !accounts.some(({ name }) => name === canary)) {
    const known = suggestion(
      canary,
      accounts.map(({ name }) => name),
    );
    sayError(inner, {
      code: "invalid-argument",
      summary: `the canary ${canary} is not among the accounts`,
      fix: known,
    });
    return EXIT.error;
  }
  const isOfWorkers = queueOf(inner, flags) !== null;
  const isUnused = flags.plans !== undefined && (!isOfWorkers || flags.out === undefined);
  const refused = isUnused ? PLANS_UNUSED : isOfWorkers ? await problemOfSubmission(inner, command, flags) : null;
  if (refused !== null) {
    sayError(inner, refused);
    return EXIT.error;
  }
  // Before anything is deleted: whoever corrects the address still has the plans of before.
  const webhook = await resolveWebhook(inner, flags);
  if (webhook === "invalid") return EXIT.error;
  const problem = flags.out === undefined ? null : await prepareFolder(flags.out, accounts);
  if (problem !== null) {
    sayError(inner, { code: "file-unwritable", summary: `the folder for plans cannot be written: ${problem}` });
    return EXIT.error;
  }
  const tracing = await openTracing(inner);
  try {
    return await tracing.span({ type: "command", command, accounts: accounts.length }, async (span) => {
      const code = await carryOut(inner, { command, ...opened, webhook, tracing }, flags, connect);
      span.end(code);
      return code;
    });
  } finally {
    await tracing.close();
  }
}

const PLANS_UNUSED: CommandError = {
  code: "conflicting-options",
  summary: "--plans is for plans that workers save",
  fix: "Give --queue and --out, too, or leave it out.",
};

interface ToCarryOut {
  readonly command: FleetCommand;
  readonly fleet: Fleet;
  /** Whether they are selected or not. */
  readonly all: readonly FleetAccount[];
  /** null: there is none */
  readonly webhook: string | null;
  readonly tracing: FleetTracing;
}

/** What is wrong with the flags has been looked for. */
async function carryOut(inner: Terminal, run: ToCarryOut, flags: RunFlags, connect: Connect | null): Promise<ExitCode> {
  const { command, webhook } = run;
  const notices = webhook === null ? null : await openNotices(inner, webhook);
  const handling = handlingFromFirstApply(inner.interrupt);
  const terminal = { ...inner, interrupt: handling.interrupt };
  const work = async (): Promise<AccountResult[] | null> => {
    const ended = await runAll(terminal, run, flags, connect).catch(async (error: unknown) => {
      await notices?.close(AbortSignal.abort());
      throw error;
    });
    if (ended !== null) notices?.post(renderRunMessage({ command, accounts: ended }));
    await notices?.close(inner.interrupt.second);
    return ended;
  };
  // Where nothing is changed there is nothing to end in order, and code that computes would not notice a signal: the system ends it at once.
  // That goes for an apply, too, until the plan of one account is carried out. What workers have not begun is taken back.
  const isOfWorkers = queueOf(inner, flags) !== null;
  const { whileHandlingSignals, whileManyRun } = inner.interrupt;
  const results = await (isOfWorkers ? whileHandlingSignals(work) : whileManyRun(work).finally(handling.end));
  if (results === null) return EXIT.error;
  return show(inner, { command, accounts: results }, flags);
}

/** Takes out what an earlier run has saved for these accounts: an apply must not find it where the plan has failed this time. */
async function prepareFolder(folder: string, accounts: readonly FleetAccount[]): Promise<string | null> {
  try {
    const led = await whyLinkRefused(folder);
    if (led !== null) return led;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { planFile } = await import("../../fleet/index.ts");
    for (const account of accounts) await rm(planFile(folder, account), { force: true });
    return null;
  } catch (error) {
    return writeProblem(error, folder);
  }
}

async function runAll(
  terminal: Terminal,
  { command, fleet, all, tracing }: ToCarryOut,
  flags: RunFlags,
  connect: Connect | null,
): Promise<AccountResult[] | null> {
  if (queueOf(terminal, flags) !== null) {
    const progress = new FleetProgress(terminal, fleet.accounts.length);
    const observe = (event: FleetEvent): void => progress.report(event);
    return runByWorkers(terminal, { command, fleet, all, observe, tracing }, flags).finally(() => progress.end());
  }
  const { EmbeddedQueue, planFile, runFleet, tokenDigestOf } = await import("../../fleet/index.ts");
  const { accounts } = fleet;
  /** By the digest of the token: what the accounts with it have seen of their limits. */
  const paces = new Map<string, NonNullable<ConnectionFlags["pace"]>>();
  const turnOf = async (account: FleetAccount): Promise<string | null> => {
    const token = command === "validate" ? "" : await tokenTextOf(terminal, account);
    return token === "" ? null : tokenDigestOf(account, token);
  };
  const hidden = new Set(all.flatMap(({ token }) => ("env" in token ? [token.env] : [])));
  const progress = new FleetProgress(terminal, accounts.length);
  const { workers, canary = null, maxFailures = null, stopOnGuard = false, plan, out, ...others } = flags;
  const {
    jsonInto: _json,
    htmlInto: _,
    webhook: _webhook,
    queue: _queue,
    plans: _plans,
    prefix: _prefix,
    tokenHost: _hosts,
    ...shared
  } = others;
  const queue = new EmbeddedQueue();
  try {
    return await runFleet({
      ...{ accounts, queue, workers, canary, maxFailures, stopOnGuard },
      signal: terminal.interrupt.first,
      observe: (event) => progress.report(event),
      turnOf,
      runAccount: async (account) => {
        const turn = await turnOf(account);
        const pace = paces.get(turn ?? "") ?? { seen: null };
        if (turn !== null) paces.set(turn, pace);
        const own = {
          ...shared,
          pace,
          ...(plan === undefined ? {} : { plan: planFile(plan, account) }),
          ...(out === undefined ? {} : { out: planFile(out, account) }),
          format: flags.format === "markdown" ? ("markdown" as const) : ("text" as const),
        };
        return tracing.span({ type: "account", command, account: account.name }, async (span) => {
          const observe = (event: ApiEvent): void => {
            progress.observe(event);
            span.observe(event);
          };
          const counted: Terminal = { ...terminal, observe };
          const keepsDocument = keepsDocuments(flags);
          const ran = await runAccount(counted, command, account, own, { hidden, connect, keepsDocument });
          span.end(ran.code);
          return ran;
        });
      },
    });
  } finally {
    progress.end();
    await queue.close();
  }
}

async function show(terminal: Terminal, report: FleetReport, flags: RunFlags): Promise<ExitCode> {
  const full = flags.full ?? false;
  if (flags.format === "json") for (const part of renderFleetJsonParts(report)) terminal.print(part);
  if (flags.format === "markdown") terminal.print(renderFleetMarkdown(report));
  if (flags.format === "text") {
    for (const part of renderFleetTextParts(report, { width: terminal.results.width, full })) terminal.print(part);
  }
  terminal.document?.(renderFleetJsonParts(report), undefined);
  await givePage(terminal, async () =>
    (await import("../../render/html/fleet-page.ts")).renderFleetHtml(report, { full }),
  );
  // What an account has printed holds its token no more.
  await writeGithubSummary(terminal, () => renderFleetMarkdown(report), undefined);
  const worst = worstOf(report);
  if (terminal.interrupt.code() !== null) return terminal.interrupt.code() ?? EXIT.interrupted;
  // An account's plan ends with 2 where changes are pending, whether or not the fleet's does.
  return worst === EXIT.pending && report.command === "plan" && flags.detailedExitcode !== true ? EXIT.done : worst;
}

/** From the best to the worst: what is in an unknown or half-done state needs a person most. */
const ORDER: readonly ExitCode[] = [
  EXIT.done,
  EXIT.pending,
  EXIT.refused,
  EXIT.unreviewed,
  EXIT.invalid,
  EXIT.partial,
  EXIT.error,
  EXIT.hungUp,
  EXIT.interrupted,
  EXIT.terminated,
];

function worstOf({ accounts }: FleetReport): ExitCode {
  const ranks = accounts.map(({ outcome }) => (outcome.type === "ran" ? ORDER.indexOf(outcome.code as ExitCode) : 0));
  return ORDER[ranks.reduce((most, rank) => Math.max(most, rank), 0)] ?? EXIT.error;
}
