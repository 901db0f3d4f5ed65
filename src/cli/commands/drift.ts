/** `tenon drift`: reports where the account differs from the manifests. */

import type { Command } from "commander";

import { type Drift, driftOf, hasDrift, unclearIdentities } from "../../index.ts";
import { renderDriftJson } from "../../render/drift.ts";
import { renderDriftHtml, renderDriftMarkdown, renderDriftText } from "../../render/index.ts";
import type { WatchFlags } from "../drift-watch.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addProjectFlags,
  CHANGED_SINCE,
  collect,
  DIRECTORY,
  formatFlag,
  fullFlag,
  htmlIntoFlag,
  jsonIntoFlag,
  parseListen,
  parseWatchInterval,
  refuseServiceBesideLive,
  refuseWatchFlags,
} from "../flags.ts";
import { sayDiagnostics } from "../messages.ts";
import { givePage, printJson, printMarkdown, withJsonErrors, withPage } from "../output.ts";
import { inReading, planIn, type ReadingFlags } from "../session.ts";
import { folding, type Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Say, object by object, how the account differs from the manifests. Nothing is\nchanged. Exits with 2 if there is drift.",
    )
    .argument("[dir]", DIRECTORY)
    .addOption(formatFlag("text is for people, json for programs, markdown for an issue, html a page", ALL_FORMATS))
    .addOption(jsonIntoFlag())
    .addOption(htmlIntoFlag())
    .addOption(fullFlag())
    .option("--live <file>", "look at a file of tenon live, without a token")
    .option("--changed-since <ref|dir>", CHANGED_SINCE)
    .option("--target <address>", "only this address and beneath, * globs; repeatable", collect)
    .option("--exclude <address>", "all but this address; repeatable", collect)
    .option("--watch", "look again and again, and print only what is new; ends with 0")
    .option("--every <time>", "with --watch: between two looks (default: 5m)", parseWatchInterval)
    .option("--webhook <url>", "with --watch: post news there, too; or TENON_WEBHOOK")
    .option("--serve <[host:]port>", "with --watch: /healthz and Prometheus' /metrics", parseListen)
    .addHelpText(
      "after",
      `
changed     it is there, with other values than declared
missing     it is declared, and not there
unexpected  it is there, and apply would delete it
unadopted   it is there as declared, without the owner's tag: no drift

Examples:
  tenon drift
  tenon drift infra --env production --format json
  tenon drift --target 'domain/*'
  tenon drift --watch --every 5m --serve 9464`,
    )
    .action(async (directory, flags) => {
      refuseServiceBesideLive(command);
      refuseWatchFlags(command);
      finish(await drift(folding(terminal, flags), directory, flags));
    });
  addConnectionFlags(addProjectFlags(command));
}

export type DriftFlags = Omit<ReadingFlags, "base" | "clone" | "allow" | "maxChanges" | "takeOwnershipFrom"> &
  Omit<WatchFlags, "format">;

/** Codes of the plan's warnings that matter without an apply, too. */
const ABOUT_READING: ReadonlySet<string> = new Set(["stale-id"]);

export async function drift(terminal: Terminal, directory: string | undefined, flags: DriftFlags): Promise<ExitCode> {
  const { format, jsonInto } = flags;
  if (flags.watch === true && (format === "text" || format === "json")) {
    const { watch } = await import("../drift-watch.ts");
    return withJsonErrors(terminal, { format, stream: false }, (inner) =>
      watch(inner, { ...flags, format }, (quiet, use) => look(quiet, directory, flags, use)),
    );
  }
  return withJsonErrors(terminal, { format, stream: false, jsonInto }, (inner) =>
    withPage(inner, flags, (paged) =>
      look(paged, directory, flags, async (found, token) => {
        printJson(paged, format, () => renderDriftJson(found), token);
        if (format === "text") paged.print(renderDriftText(found, paged.results));
        await printMarkdown(paged, format, (hide, most) => renderDriftMarkdown(hide(found), most), token);
        await givePage(paged, () => renderDriftHtml(found), token);
        return hasDrift(found) ? EXIT.pending : EXIT.done;
      }),
    ),
  );
}

/**
 * Compares once. What goes wrong is reported.
 * @param use is handed what was found, and the token that must not be in a file with it
 */
function look(
  terminal: Terminal,
  directory: string | undefined,
  flags: DriftFlags,
  use: (found: Drift, token: string | undefined) => Promise<ExitCode>,
): Promise<ExitCode> {
  return inReading(terminal, directory, { ...flags, clone: true }, async (session) => {
    // The base only says what is to be compared with the account.
    const { base: _, ...alone } = session;
    const planned = await planIn({ ...alone, sendsFiles: false });
    if (!planned.ok) return planned.code;
    const warnings = planned.plan.warnings.filter(({ code }) => ABOUT_READING.has(code));
    sayDiagnostics(terminal, [...warnings, ...unclearIdentities(planned.plan)], session.project.sources);
    return use(driftOf(planned.plan), session.token);
  });
}
