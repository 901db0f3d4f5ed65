/** `tenon zone check`: the declared zones by the lint rules, or held against what real nameservers answer. */

import {
  type Diagnostic,
  hasErrors,
  lintProject,
  renderValidationJson,
  renderVerificationJson,
  zoneTools,
} from "../../index.ts";
import type { ProjectFlags } from "../args.ts";
import { resolveDialect } from "../connection.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayDiagnostics, sayError } from "../messages.ts";
import { exitOf, load } from "../project.ts";
import type { Terminal } from "../terminal.ts";
import { prepareWitnesses, printVerification, verifiedCode, watched } from "../verification.ts";
import type { VerifyFlags } from "../verify-flags.ts";

export interface ZoneCheckFlags extends ProjectFlags, VerifyFlags {
  readonly domain?: readonly string[];
  readonly live?: boolean;
  readonly format: "text" | "json";
  readonly dialect?: string;
}

export async function zoneCheck(
  terminal: Terminal,
  directory: string | undefined,
  flags: ZoneCheckFlags,
): Promise<ExitCode> {
  const dialect = resolveDialect(flags);
  if (dialect === null) {
    sayError(terminal, "the dialect is not a word", "Give one such as node.");
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
    const addresses = new Set(zones.map(({ address }) => address));
    const linted = await lintProject(project, diagnostics);
    const found = flags.domain === undefined ? linted : linted.filter((found) => isAbout(found, addresses));
    if (flags.format === "json") terminal.print(renderValidationJson(found, sources));
    else sayDiagnostics(terminal, found, sources);
    if (flags.format === "text" && found.length === 0)
      terminal.print(`Checked ${zones.length} ${zones.length === 1 ? "zone" : "zones"}: nothing was found.\n`);
    return hasErrors(found) ? EXIT.invalid : EXIT.done;
  }
  sayDiagnostics(terminal, diagnostics, sources);
  const verification = await watched(terminal, false, flags.verifyTimeout ?? 0, (tools, watch) =>
    tools.verifyDeclared(zones, witnesses, watch),
  );
  if (flags.format === "json") terminal.print(renderVerificationJson(verification));
  else printVerification(terminal, verification);
  const isUnasked = verification.problems.length + verification.delegation.length === 0;
  return verifiedCode(terminal, verification, isUnasked ? EXIT.error : EXIT.pending);
}

function isAbout({ address }: Diagnostic, addresses: ReadonlySet<string>): boolean {
  return address !== undefined && addresses.has(address);
}
