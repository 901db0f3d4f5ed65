/** Messages on stderr: diagnostics with their source, failures in the service's words. */

import {
  countSetAside,
  type Diagnostic,
  escapeText,
  type Failure,
  failureText,
  renderDiagnostics,
  Sources,
} from "../index.ts";
import type { Terminal } from "./terminal.ts";

export function sayDiagnostics(
  terminal: Terminal,
  diagnostics: readonly Diagnostic[],
  sources: Sources = new Sources(),
): void {
  if (diagnostics.length === 0) return;
  terminal.record?.(diagnostics, sources);
  const { colour, width } = terminal.messages;
  const text = renderDiagnostics(diagnostics, sources, { colour, width });
  terminal.say(text.endsWith("\n") ? text : `${text}\n`);
}

/** Of a project that is loaded to be used: what `validate` tells line by line of zone files is counted. */
export function sayLoaded(terminal: Terminal, diagnostics: readonly Diagnostic[], sources: Sources): void {
  const { others, notes } = countSetAside(diagnostics);
  sayDiagnostics(terminal, others, sources);
  for (const note of notes) terminal.say(`${note}\n`);
}

/** Why a command fails that has found nothing but warnings. */
export function sayStrict(terminal: Terminal): void {
  terminal.say("error: warnings are errors with --strict\n");
}

/**
 * An error of the command line itself.
 * @param code for programs: with `--format json` it is told as a diagnostic
 */
export function sayError(terminal: Terminal, summary: string, fix = "", code = "command-failed"): void {
  record(terminal, { code, summary, fix });
  terminal.say(`error: ${escapeText(summary)}\n${fix === "" ? "" : `  ${escapeText(fix)}\n`}`);
}

export function sayFailure(terminal: Terminal, what: string, failure: Failure): void {
  const fix = adviceFor(failure);
  record(terminal, { code: `service-${failure.type}`, summary: `${what}: ${failureText(failure)}`, fix });
  terminal.say(`error: ${escapeText(what)}: ${failureText(failure)}\n${fix === "" ? "" : `  ${fix}\n`}`);
}

function record(terminal: Terminal, { code, summary, fix }: Record<"code" | "summary" | "fix", string>): void {
  const diagnostic: Diagnostic = { code, severity: "error", summary, detail: "", ...(fix === "" ? {} : { fix }) };
  terminal.record?.([diagnostic], new Sources());
}

function adviceFor({ status, type }: Failure): string {
  if (status === 401) return "Check the token in TENON_TOKEN or --token-file: it may be wrong, expired or revoked.";
  if (status === 403) return "The token lacks a scope or a grant for this.";
  if (status === 404) return "Check the base URL: it has to end with the version, for example /v4.";
  if (type === "unreachable") return "Check the base URL, the network and the proxy settings.";
  if (type === "malformed") return "Check the base URL: what answered does not speak this API.";
  return "";
}
