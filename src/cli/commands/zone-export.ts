/** `tenon zone export`: a zone of the account, or of the manifests, as a master file. */

import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { escapeText, type ZoneExport, zoneTools } from "../../index.ts";
import type { ConnectionFlags, ProjectFlags } from "../args.ts";
import { withClient } from "../client.ts";
import { resolveDialect } from "../connection.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { writeProblem } from "../file-problem.ts";
import { type CommandError, sayDiagnostics, sayError, sayFailure } from "../messages.ts";
import { openProject } from "../project.ts";
import type { Terminal } from "../terminal.ts";
import { writeWhole } from "../write-whole.ts";

export interface ZoneExportFlags extends ProjectFlags, ConnectionFlags {
  /** true: the project is here. */
  readonly fromManifest?: string | true;
  readonly out?: string;
  readonly force?: boolean;
  readonly nameserver?: readonly string[];
  readonly serial?: number;
}

/** What is in a zone is public. */
const ZONE_FILE_MODE = 0o644;

export async function zoneExport(
  terminal: Terminal,
  name: string | undefined,
  flags: ZoneExportFlags,
): Promise<ExitCode> {
  if (name === undefined) {
    const fix = adviceForName(flags);
    sayError(terminal, { code: "missing-argument", summary: "which zone is to be exported?", fix });
    return EXIT.error;
  }
  const obstacle = flags.out === undefined ? null : await obstacleOf(flags.out, flags.force === true);
  if (obstacle !== null) {
    sayError(terminal, obstacle);
    return obstacle.code === "file-exists" ? EXIT.refused : EXIT.error;
  }
  const { readNameservers } = await zoneTools();
  const named = readNameservers(flags.nameserver ?? []);
  if (!named.ok) {
    sayDiagnostics(terminal, [named.diagnostic]);
    return EXIT.error;
  }
  const options = { nameservers: named.names, serial: flags.serial ?? null, nowMilliseconds: Date.now() };
  const found =
    flags.fromManifest === undefined
      ? await exportAccount(terminal, name, flags, options)
      : await exportManifest(terminal, name, flags, options);
  if (typeof found === "number") return found;
  if (!found.ok) {
    if ("failure" in found) sayFailure(terminal, `cannot read ${found.what}`, found.failure);
    else sayDiagnostics(terminal, [found.diagnostic]);
    return terminal.interrupt.code() ?? EXIT.error;
  }
  sayDiagnostics(terminal, found.exported.notes);
  return hand(terminal, found.exported.text, flags.out);
}

/** An option that takes a value may have taken the name. */
function adviceForName({ fromManifest }: ZoneExportFlags): string {
  if (typeof fromManifest !== "string") return "Name it: tenon zone export NAME";
  return `\`${escapeText(fromManifest)}\` was taken for the folder: put the name first, or write --from-manifest=DIR.`;
}

/** What keeps a file from being written, as far as a look tells. A pipe or a device is written to as it is. */
async function obstacleOf(file: string, force: boolean): Promise<CommandError | null> {
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory() === true)
    return { code: "file-unwritable", summary: `${file} is a folder`, fix: "Name a file with --out." };
  if (found?.isFile() === true && !force)
    return { code: "file-exists", summary: `${file} is there already`, fix: "Give --force to overwrite it." };
  const parent = dirname(file);
  const isThere = found !== null || (await stat(parent).catch(() => null))?.isDirectory() === true;
  if (isThere) return null;
  const fix = "Make it first, or name another file.";
  return { code: "file-unwritable", summary: `there is no folder ${parent}`, fix };
}

type Options = Parameters<Awaited<ReturnType<typeof zoneTools>>["exportLive"]>[2];

function exportAccount(
  terminal: Terminal,
  name: string,
  flags: ZoneExportFlags,
  options: Options,
): Promise<ZoneExport | ExitCode> {
  return withClient(terminal, flags, async (api) => {
    const { exportLive } = await zoneTools();
    return exportLive(api, name, options, terminal.interrupt.first);
  });
}

async function exportManifest(
  terminal: Terminal,
  name: string,
  flags: ZoneExportFlags,
  options: Options,
): Promise<ZoneExport | ExitCode> {
  const directory = flags.fromManifest === true ? undefined : flags.fromManifest;
  const opened = await openProject(terminal, directory, flags, resolveDialect(flags) ?? undefined);
  if (!opened.ok) return opened.code;
  const { exportDeclared } = await zoneTools();
  return exportDeclared(opened.project.desired, name, options);
}

async function hand(terminal: Terminal, text: string, file: string | undefined): Promise<ExitCode> {
  if (file === undefined) {
    terminal.print(text);
    return EXIT.done;
  }
  try {
    await writeWhole(file, text, ZONE_FILE_MODE);
    return EXIT.done;
  } catch (error) {
    const summary = `the zone file cannot be written: ${writeProblem(error, file)}`;
    sayError(terminal, { code: "file-unwritable", summary });
    return EXIT.error;
  }
}
