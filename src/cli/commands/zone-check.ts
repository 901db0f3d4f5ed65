/** `tenon zone check`: the declared zones by the lint rules, or held against what real nameservers answer. */

import {
  type Diagnostic,
  hasErrors,
  type LoadResult,
  lintProject,
  renderValidationJson,
  renderVerificationJson,
  type Verification,
  zoneTools,
} from "../../index.ts";
import type { ProjectFlags } from "../args.ts";
import { needDialect } from "../connection.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { withJsonErrors } from "../json-result.ts";
import { sayDiagnostics, sayError, sayLoaded, sayStrict } from "../messages.ts";
import { exitOf, load } from "../project.ts";
import type { Terminal } from "../terminal.ts";
import { prepareWitnesses, printVerification, verifiedCode, watched } from "../verification.ts";
import type { VerifyFlags } from "../verify-flags.ts";

export interface ZoneCheckFlags extends ProjectFlags, VerifyFlags {
  readonly domain?: readonly string[];
  readonly live?: boolean;
  readonly strict?: boolean;
  readonly format: "text" | "json";
  readonly dialect?: string;
}

export function zoneCheck(terminal: Terminal, directory: string | undefined, flags: ZoneCheckFlags): Promise<ExitCode> {
  const { format } = flags;
  return withJsonErrors(terminal, { format, stream: false }, (inner) => check(inner, directory, flags));
}

async function check(terminal: Terminal, directory: string | undefined, flags: ZoneCheckFlags): Promise<ExitCode> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  if (flags.live === true && flags.strict === true) {
    const summary = "--strict is for the lint, and --live does not lint";
    sayError(terminal, { code: "conflicting-options", summary, fix: "Leave one of the two out." });
    return EXIT.error;
  }
  const prepared = await prepareWitnesses(terminal, flags, { flag: "--live", given: flags.live === true });
  if (!prepared.ok) return prepared.code;
  const { project, fault, diagnostics, sources } = await load(directory, flags, dialect);
  if (project === null) {
    if (flags.format === "json" && flags.live !== true) terminal.print(renderValidationJson(diagnostics, sources));
    else sayDiagnostics(terminal, diagnostics, sources);
    return exitOf(fault);
  }
  const { selectZones } = await zoneTools();
  const selected = selectZones(project.desired, flags.domain ?? []);
  if (!selected.ok) {
    sayDiagnostics(terminal, [selected.diagnostic]);
    return EXIT.error;
  }
  const { zones } = selected;
  const { witnesses } = prepared;
  if (witnesses === null) {
    const linted = await lintProject(project, diagnostics);
    return sayLinted(terminal, linted, sources, zones, flags);
  }
  sayLoaded(terminal, diagnostics, sources);
  const verification = await watched(terminal, false, flags.verifyTimeout ?? 0, (tools, watch) =>
    tools.verifyDeclared(zones, witnesses, watch),
  );
  if (flags.format === "json") terminal.print(renderVerificationJson(verification));
  else printVerification(terminal, verification);
  return verifiedCode(terminal, verification, hasSeen(verification) ? EXIT.pending : EXIT.error);
}

/** Whether anything was found out: no server may have been found, or none of them answers. */
function hasSeen({ there, problems, delegation }: Verification): boolean {
  const isSilent = problems.every(({ state }) => state === "not-answering");
  return there > 0 || !isSilent || delegation.some(({ code }) => code !== "unanswered" && code !== "lame");
}

function sayLinted(
  terminal: Terminal,
  linted: readonly Diagnostic[],
  sources: LoadResult["sources"],
  zones: readonly { readonly address: string }[],
  flags: ZoneCheckFlags,
): ExitCode {
  const addresses = new Set(zones.map(({ address }) => address));
  const found = flags.domain === undefined ? linted : linted.filter((one) => isAbout(one, addresses));
  const fails = hasErrors(found) || (flags.strict === true && found.length > 0);
  if (flags.format === "json") terminal.print(renderValidationJson(found, sources));
  else {
    sayDiagnostics(terminal, found, sources);
    if (fails && !hasErrors(found)) sayStrict(terminal);
    if (found.length === 0)
      terminal.print(`Checked ${zones.length} ${zones.length === 1 ? "zone" : "zones"}: nothing was found.\n`);
  }
  return fails ? EXIT.invalid : EXIT.done;
}

function isAbout({ address }: Diagnostic, addresses: ReadonlySet<string>): boolean {
  return address !== undefined && addresses.has(address);
}
