/** `tenon drift`: says what the account has otherwise than the manifests declare. */

import { driftTools } from "../../index.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { Format } from "../flags.ts";
import { withJsonErrors, writeStepSummary } from "../output.ts";
import { inReading, planIn, type ReadingFlags } from "../session.ts";
import { sayDiagnostics, type Terminal } from "../terminal.ts";

export type DriftFlags = Omit<ReadingFlags, "base" | "clone" | "allow" | "maxChanges" | "takeOwnershipFrom">;

/** Codes of warnings that are not about applying. */
const ABOUT_READING: ReadonlySet<string> = new Set(["stale-id"]);

type Tools = Awaited<ReturnType<typeof driftTools>>;

export function drift(terminal: Terminal, directory: string | undefined, flags: DriftFlags): Promise<ExitCode> {
  const { format } = flags;
  return withJsonErrors(terminal, { format, stream: false }, (inner) => tellDrift(inner, directory, flags));
}

function tellDrift(terminal: Terminal, directory: string | undefined, flags: DriftFlags): Promise<ExitCode> {
  return inReading(terminal, directory, { ...flags, clone: true }, async (session) => {
    const planned = await planIn(session);
    if (!planned.ok) return planned.code;
    const warnings = planned.plan.warnings.filter(({ code }) => ABOUT_READING.has(code));
    const tools = await driftTools();
    sayDiagnostics(terminal, [...warnings, ...tools.unclearIdentities(planned.plan)], session.project.sources);
    const found = tools.driftOf(planned.plan);
    terminal.print(textOf(found, flags.format, tools, terminal));
    await writeStepSummary(terminal, () => tools.renderDriftMarkdown(found));
    return tools.hasDrift(found) ? EXIT.pending : EXIT.done;
  });
}

function textOf(found: ReturnType<Tools["driftOf"]>, format: Format, tools: Tools, terminal: Terminal): string {
  switch (format) {
    case "text":
      return tools.renderDriftText(found, terminal.results);
    case "json":
      return tools.renderDriftJson(found);
    case "markdown":
      return tools.renderDriftMarkdown(found);
  }
}
