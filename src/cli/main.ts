#!/usr/bin/env node

/** The command line's entry: runs one command, and turns its end, an unexpected error included, into an exit code. */

import { EXIT, type ExitCode } from "./exit.ts";
import { interruptOf } from "./interrupt.ts";
import { runCommand } from "./program.ts";
import { openTerminal } from "./terminal.ts";

const DEBUG_VARIABLE = "TENON_DEBUG";
const HAS_DEBUG = (process.env[DEBUG_VARIABLE] ?? "") !== "";

const interrupt = interruptOf(process);

function main(): Promise<ExitCode> {
  // The files of the bundle have few lines: a stack is of use only with the places in the code that they were made from.
  if (HAS_DEBUG) process.setSourceMapsEnabled(true);
  ignoreReadersThatLeave();
  return runCommand(openTerminal(process, interrupt), process.argv.slice(2));
}

const READER_LEFT_CODES: readonly (string | undefined)[] = [
  "EPIPE",
  // Writing to a terminal that was closed.
  "EIO",
];

/** `tenon plan | head` is no error. An apply goes on although the reader of its output has left. */
function ignoreReadersThatLeave(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!READER_LEFT_CODES.includes(error.code)) throw error;
    });
  }
}

/** A bug of Tenon: one line, with the stack only if TENON_DEBUG is set. */
function reportBug(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const detail = HAS_DEBUG && error instanceof Error ? `\n${error.stack}` : ` (${DEBUG_VARIABLE}=1 shows where)`;
  process.stderr.write(`error: unexpected: ${plain(message.split("\n", 1)[0] ?? "")}${detail}\n`);
}

/** An error's message may hold hostile text. It is escaped here, as the module with `escapeText` may be the one that failed to load. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "?");
}

process.on("uncaughtException", (error) => {
  reportBug(error);
  process.exit(EXIT.error);
});

main().then(
  (code) => {
    process.exitCode = code;
    interrupt.end(code);
  },
  (error: unknown) => {
    reportBug(error);
    process.exitCode = EXIT.error;
  },
);
