/** `tenon show`: shows an object of the account beside its declaration, a saved plan, or the desired state with everything expanded. */

import type { Command } from "commander";
import { renderDesired } from "../../format/index.ts";
import { type ParsedAddress, parseAddress } from "../../index.ts";
import { suggestion } from "../../model/text.ts";
import { renderInspectionJson, renderInspectionText } from "../../render/index.ts";
import { escapeText } from "../../render/terminal.ts";
import { needDialect, withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addPresentProjectFlags,
  type ConnectionFlags,
  type Format,
  formatFlag,
  fullFlag,
  type PresentProjectFlags,
} from "../flags.ts";
import { sayDiagnostics, sayError, sayFailure } from "../messages.ts";
import { showPlan, withJsonErrors, withPage } from "../output.ts";
import { isFile, openPresentProject, openProject } from "../project.ts";
import { readPlanFile } from "../reviewed-plan.ts";
import { accountOf, accountRefused } from "../session.ts";
import { folding, type Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Show one object of the account beside its declaration, a saved plan, or with\n--expanded what the manifests come down to. Nothing is changed.",
    )
    .argument("[what]", "an address, or a plan file; with --expanded a project")
    .option("--expanded", "variables, defaults and record sets in place")
    .addOption(formatFlag("how to show it; markdown and html are for plans", ALL_FORMATS))
    .addOption(fullFlag())
    .addHelpText(
      "after",
      `
What begins with vpc/, domain/ or image/ is an address; for a file of such a
path write ./ before it. Only an address needs a connection: its network, zone
or image is read. ~ marks a field that differs; under DECLARED stands what an
apply leaves there, so that what is not stated is as in the account.

Examples:
  tenon show domain/example.com
  tenon show vpc/prod/subnet/web --project infra --env staging
  tenon show domain/example.com/www/A --format json | jq '.objects[].id'
  tenon show production.plan
  tenon show production.plan --format html > plan.html
  tenon show --expanded infra --env staging`,
    )
    .action(async (what, flags) => {
      finish(await show(folding(terminal, flags), what, flags));
    });
  addConnectionFlags(addPresentProjectFlags(command));
}

interface ShowFlags extends PresentProjectFlags, ConnectionFlags {
  readonly expanded?: boolean;
  readonly format: Format;
}

/** @param what an address or a plan file; with `--expanded` a project */
export function show(terminal: Terminal, what: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  const { format } = flags;
  return withJsonErrors(terminal, { format, stream: false }, (inner) =>
    withPage(inner, flags, async (paged) => {
      if (flags.expanded === true) return showExpanded(paged, what, flags);
      const address = what === undefined ? null : parseAddress(what);
      return address === null ? showSaved(paged, what, flags) : showObject(paged, address, flags);
    }),
  );
}

/** Addresses as people may misspell them, which are no names of plan files. */
const ADDRESS_LIKE = /^[a-z]{2,10}\/(?!.*\.(?:plan|json)$)/i;

async function showSaved(terminal: Terminal, path: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  if (path !== undefined && ADDRESS_LIKE.test(path) && !(await isFile(path))) {
    sayError(terminal, {
      code: "invalid-argument",
      summary: `${path} is neither an address nor a file`,
      fix: "An address begins with vpc/, domain/ or image/, as in vpc/prod/subnet/web or domain/example.com/www/A.",
    });
    return EXIT.error;
  }
  const read = await readPlanFile(terminal, path);
  if (!read.ok) return read.code;
  if (read.plan === null) {
    const fix = "Name an address or a plan file, or give --expanded for the desired state.";
    sayError(terminal, { code: "missing-argument", summary: "nothing is named that is to be shown", fix });
    return EXIT.error;
  }
  await showPlan(terminal, read.plan, flags.format);
  return EXIT.done;
}

async function showExpanded(terminal: Terminal, directory: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  const { format } = flags;
  if (format === "markdown" || format === "html") return onlyForPlans(terminal, format, "the desired state");
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const named = directory ?? (flags.project === false ? undefined : flags.project);
  const opened = await openProject(terminal, named, flags, dialect);
  if (!opened.ok) return opened.code;
  terminal.print(await renderDesired(opened.project.desired, format));
  return EXIT.done;
}

function onlyForPlans(terminal: Terminal, format: "markdown" | "html", what: string): ExitCode {
  const fix = `Give --format text or json for ${what}.`;
  sayError(terminal, { code: "conflicting-options", summary: `${format} is for plans`, fix });
  return EXIT.error;
}

async function showObject(terminal: Terminal, address: ParsedAddress, flags: ShowFlags): Promise<ExitCode> {
  const { format } = flags;
  if (format === "markdown" || format === "html") return onlyForPlans(terminal, format, "an object");
  const opened = await openPresentProject(terminal, flags);
  if (!opened.ok) return opened.code;
  const { project } = opened;
  const refusal = project === null ? null : accountRefused(terminal, project);
  if (refusal !== null) return refusal;
  return withReader(terminal, flags, async (api) => {
    const { inspectAddress } = await import("../../index.ts");
    const result = await inspectAddress({
      ...{ api, desired: project?.desired ?? null, address, nowMilliseconds: Date.now() },
      account: accountOf(terminal),
      watch: { signal: terminal.interrupt.first },
    });
    if (!result.ok) {
      sayFailure(terminal, `cannot read ${result.what}`, result.failure);
      return terminal.interrupt.code() ?? EXIT.error;
    }
    const { inspection, known } = result;
    if (inspection === null) return sayUnknown(terminal, address, known, project !== null);
    // What is refused is of interest: it is shown beside the object.
    sayDiagnostics(terminal, inspection.plan?.refusals ?? [], project?.sources);
    terminal.print(
      format === "json" ? renderInspectionJson(inspection) : renderInspectionText(inspection, terminal.results),
    );
    return EXIT.done;
  });
}

async function sayUnknown(
  terminal: Terminal,
  { address }: ParsedAddress,
  known: readonly string[],
  hasProject: boolean,
): Promise<ExitCode> {
  const where = hasProject ? "neither the account nor the project has" : "the account does not have";
  const isPath = await isFile(address);
  const file = isPath ? ` For the file of this name write ./${address}.` : "";
  sayError(terminal, {
    code: "address-unknown",
    summary: `${where} ${address}`,
    fix: `${suggestion(address, known.map(escapeText)) || "tenon list shows what is there."}${file}`,
  });
  return EXIT.error;
}
