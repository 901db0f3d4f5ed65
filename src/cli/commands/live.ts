/** `tenon live`: reads the account and writes it to a file, for plans where there is no token. */

import type { Command } from "commander";
import { whyUnwritable, writeProblem, writeWhole } from "../../files/files.ts";
import { NEUTRAL_DIALECT } from "../../index.ts";
import type { Snapshot } from "../../model/live.ts";
import { Secret } from "../../model/secret.ts";
import { escapeText } from "../../render/terminal.ts";
import { withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  addConnectionFlags,
  addProjectFlags,
  type ConnectionFlags,
  DIRECTORY,
  type ProjectFlags,
  STDOUT,
} from "../flags.ts";
import { sayError, sayFailure } from "../messages.ts";
import { Progress } from "../progress.ts";
import { accountOf, inSession, type Session } from "../session.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description(
      "Write the account as it is to a file, so that tenon plan --live can plan\nwithout a token. Nothing is changed.",
    )
    .argument("[dir]", DIRECTORY)
    .requiredOption("--out <file>", "required: the file to write; - is stdout")
    .addHelpText(
      "after",
      `
All of the account is read, as a pull request may declare what nobody declared
before: a list of VPCs, of images and of domains, one list for each domain, and
one for each VPC with interfaces in it. What the token may not read is left
out, unless the project needs it. The file holds record values and
descriptions, but neither the token nor a signed URL.

Examples:
  tenon live --out live.json
  tenon live infra --out live.json && tenon plan infra --live live.json`,
    )
    .action(async (directory, flags) => {
      finish(await live(terminal, directory, flags));
    });
  addConnectionFlags(addProjectFlags(command));
}

interface LiveFlags extends ProjectFlags, ConnectionFlags {
  readonly out: string;
}

/** A snapshot holds all of the account: only its author may read it. */
const SNAPSHOT_MODE = 0o600;
/** At most this many lists that could not be read are named; the rest is counted. */
const MAX_UNREAD_SHOWN = 5;

async function live(terminal: Terminal, directory: string | undefined, flags: LiveFlags): Promise<ExitCode> {
  const problem = flags.out === STDOUT ? null : await whyUnwritable(flags.out, "json");
  if (problem !== null) {
    sayError(terminal, { code: "file-unwritable", summary: `the snapshot cannot be written: ${problem}` });
    return EXIT.error;
  }
  return inSession(
    terminal,
    directory,
    { ...flags, clone: true, format: "text" },
    "apply",
    withReader,
    async (session) => {
      const snapshot = await takeIn(session);
      if (typeof snapshot === "number") return snapshot;
      const { renderLiveFile, parseLiveFile } = await import("../../live/index.ts");
      const text = await renderLiveFile(snapshot);
      const reread = await parseLiveFile(text);
      if (!reread.ok) {
        const summary = `what the service said could not be read back: ${reread.diagnostic.detail}`;
        sayError(terminal, { code: "snapshot-malformed", summary });
        return EXIT.error;
      }
      if (new Secret(session.connection.token).isIn(text)) {
        const summary = "the account itself holds the token, in some name, text or record";
        sayError(terminal, { code: "token-in-snapshot", summary, fix: "Revoke the token." });
        return EXIT.error;
      }
      const written = await write(terminal, text, flags.out);
      if (written) terminal.say(summaryText(snapshot, session, flags.out));
      return written ? EXIT.done : EXIT.error;
    },
  );
}

async function takeIn({ project, connection, api, terminal }: Session): Promise<Snapshot | ExitCode> {
  const { takeSnapshot } = await import("../../live/index.ts");
  const progress = new Progress(terminal);
  progress.show("Reading the account");
  const taken = await takeSnapshot({
    desired: project.desired,
    api,
    nowMilliseconds: Date.now(),
    host: new URL(connection.baseUrl).host,
    dialect: connection.dialect ?? NEUTRAL_DIALECT,
    account: accountOf(terminal),
    watch: {
      signal: terminal.interrupt.first,
      progress: (done, total) => progress.show(`Reading the account: ${done} of ${total} lists`),
    },
  }).finally(() => progress.end());
  const interrupted = terminal.interrupt.code();
  if (interrupted !== null) return interrupted;
  if (taken.ok) return taken.snapshot;
  sayFailure(terminal, `cannot read ${taken.what}`, taken.failure);
  return EXIT.error;
}

async function write(terminal: Terminal, text: string, out: string): Promise<boolean> {
  if (out === STDOUT) {
    terminal.print(text);
    return true;
  }
  try {
    await writeWhole(out, text, SNAPSHOT_MODE);
    return true;
  } catch (error) {
    sayError(terminal, {
      code: "file-unwritable",
      summary: `the snapshot cannot be written: ${writeProblem(error, out)}`,
    });
    return false;
  }
}

function summaryText({ lists, unread }: Snapshot, { api }: Session, out: string): string {
  const objects = [...lists.values()].reduce((sum, items) => sum + items.length, 0);
  const where = out === STDOUT ? "on stdout" : `in ${escapeText(out)}`;
  const shown = unread
    .slice(0, MAX_UNREAD_SHOWN)
    .map(({ path, failure }) => `warning: /${escapeText(path)} could not be read: ${escapeText(failure.message)}\n`);
  if (unread.length > shown.length)
    shown.push(`warning: ${unread.length - shown.length} more lists could not be read\n`);
  return `${shown.join("")}${objects} objects of ${lists.size} lists are ${where}; it took ${api.requestCount} requests.\n`;
}
