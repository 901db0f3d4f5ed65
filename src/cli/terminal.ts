/** The terminal, or a pipe or file in its place: results on stdout, messages on stderr, colour only if it is visible. */

import type { ApiEvent, Diagnostic, Sources } from "../index.ts";
import type { Interrupt } from "./interrupt.ts";

export { readVersion } from "../files/package-files.ts";

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly interrupt: Interrupt;
  /** How results are to be rendered. */
  readonly results: Look;
  /** How messages are to be rendered. */
  readonly messages: Look;
  /** Whether a person can answer a question. */
  readonly canAsk: boolean;
  /** Prints text unchanged: the caller ends its lines. */
  print(text: string): void;
  say(text: string): void;
  /**
   * Called in place of `print` with what makes a text of markdown, where forms of it are kept that are shorter.
   * @param make of at most so many UTF-16 code units; undefined: as many as a comment may have
   */
  printMarkdown?(make: (maxCharacters?: number) => string): void;
  /**
   * Called with the document of `--format json` where `--json-into` wants it beside what is printed; the last one counts.
   * @param token that must not be in it; undefined: there is none
   */
  document?(parts: Iterable<string>, token: string | undefined): void;
  /** Called with the page of `--format html` where `--html-into` wants it beside what is printed; the last one counts. */
  page?(page: string): void;
  /** Called with what the client of the service does, if somebody counts it. */
  observe?(event: ApiEvent): void;
  /** Whether what is said is kept and shown later, so that it does not say how long anything takes. Absent: no. */
  readonly isCaptured?: boolean;
  /** Where the token is, for whoever has to replace it: `TOKEN_A1`. Absent: in TENON_TOKEN or the file of --token-file. */
  readonly tokenPlace?: string;
  /** Called with errors and warnings if a program wants them as data. */
  record?(diagnostics: readonly Diagnostic[], sources: Sources): void;
}

interface Look {
  readonly colour: boolean;
  readonly width: number;
  readonly isTerminal: boolean;
  /** Whether nothing of a plan is folded. Absent: many changes that are alike are one entry. */
  readonly full?: boolean;
  /** Whether of many errors or warnings with one code only the first are shown. Absent: each is. */
  readonly folded?: boolean;
}

/** The same terminal, on which what is alike is folded unless `--full` is given. */
export function folding(terminal: Terminal, { full = false }: { readonly full?: boolean }): Terminal {
  const { results, messages } = terminal;
  return { ...terminal, results: { ...results, full }, messages: { ...messages, full, folded: !full } };
}

const DEFAULT_WIDTH_COLUMNS = 80;

export function openTerminal(process: NodeJS.Process, interrupt: Interrupt): Terminal {
  return {
    environment: process.env,
    interrupt,
    results: lookOf(process.stdout, process.env),
    messages: lookOf(process.stderr, process.env),
    // In this order: Node makes the stream of stdin when it is first looked at.
    canAsk: process.stderr.isTTY === true && process.stdin.isTTY === true,
    print: (text) => void process.stdout.write(text),
    say: (text) => void process.stderr.write(text),
  };
}

/** https://no-color.org and https://force-color.org: any value but an empty one counts, and NO_COLOR wins. */
function lookOf(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Look {
  const isTerminal = stream.isTTY === true;
  const isPlain = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  const isForced = (environment["FORCE_COLOR"] ?? "") !== "";
  return { colour: (isTerminal || isForced) && !isPlain, width: stream.columns || DEFAULT_WIDTH_COLUMNS, isTerminal };
}
