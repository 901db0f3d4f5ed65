/** `tenon fleet init`: writes a fleet file from a list of accounts. */

import { basename, dirname, relative, resolve } from "node:path";
import type { Command } from "commander";
import { writeProblem } from "../../files/files.ts";
import { findInTheWay, writeFolder } from "../../files/folder.ts";
import { shellWord } from "../../model/text.ts";
import { escapeText } from "../../render/terminal.ts";
import { count } from "../../render/view.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { STDOUT } from "../flags.ts";
import { sayDiagnostics, sayError } from "../messages.ts";
import type { Terminal } from "../terminal.ts";

export function addInit(fleet: Command, terminal: Terminal, finish: Finish): void {
  fleet
    .command("init")
    .summary("write a fleet file from a list of accounts")
    .description(
      "Write a fleet file from a list of accounts, as a spreadsheet or a billing system\nexports it. Nothing is sent.",
    )
    .requiredOption("--from <file>", "CSV: its first line names the columns")
    .option("--project <dir>", "of accounts that name none, relative to the fleet file")
    .option("--out <file>", `where to write it; ${STDOUT} prints it`, "fleet.yaml")
    .option("--force", "overwrite an existing file")
    .addHelpText(
      "after",
      `
Columns are name, token_env or token_file, project, environment, service,
base_url, dialect, account, var.NAME and label.KEY, in any order. An empty cell
says nothing. What all accounts say alike is written once, as defaults.

Examples:
  tenon fleet init --from accounts.csv --project ./project
  tenon fleet init --from accounts.csv --out - | less`,
    )
    .action(async (flags) => finish(await init(terminal, flags)));
}

interface InitFlags {
  readonly from: string;
  readonly project?: string;
  readonly out: string;
  readonly force?: boolean;
}

async function init(terminal: Terminal, { from, project, out, force }: InitFlags): Promise<ExitCode> {
  const { fleetFromCsv } = await import("../../fleet/index.ts");
  const folder = out === STDOUT ? resolve(".") : dirname(resolve(out));
  const { text, accounts, diagnostics, sources } = await fleetFromCsv(from, { project: project ?? null, folder });
  sayDiagnostics(terminal, diagnostics, sources);
  if (text === null) {
    terminal.say("Nothing was written.\n");
    return EXIT.invalid;
  }
  if (out === STDOUT) {
    terminal.print(text);
    return EXIT.done;
  }
  const request = { out: dirname(out), files: [{ file: basename(out), text }], force: force === true };
  const inTheWay = await findInTheWay(request);
  if (inTheWay.length > 0) {
    sayDiagnostics(terminal, inTheWay);
    return EXIT.refused;
  }
  try {
    await writeFolder(request);
  } catch (error) {
    sayError(terminal, { code: "file-unwritable", summary: `cannot write: ${writeProblem(error, out)}` });
    return EXIT.error;
  }
  const named = relative(".", resolve(out));
  const file = named === "fleet.yaml" ? "" : ` ${shellWord(escapeText(named))}`;
  terminal.print(`Written to ${escapeText(out)}: ${count(accounts, "account", "accounts")}.

Next:
  tenon fleet list${file}
  tenon fleet validate${file}
  tenon fleet plan${file}
`);
  return EXIT.done;
}
