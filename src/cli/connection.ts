/** Opens the client of a command, announces its long waits, and closes it when the work is done. */

import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import {
  type ApiEvent,
  type Connection,
  checkBaseUrl,
  createReadApi,
  type Failure,
  isDialect,
  NEUTRAL_DIALECT,
  type ReadClient,
  serviceAt,
} from "../index.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ConnectionFlags } from "./flags.ts";
import type { Interrupt } from "./interrupt.ts";
import { sayDiagnostics } from "./messages.ts";
import { sayBeside, WaitNotices } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** @returns what `work` does with the client, or an exit code if there can be no connection, which is reported */
export type WithClient<Client> = <Result>(
  terminal: Terminal,
  flags: ConnectionFlags,
  work: (api: Client, connection: Connection) => Promise<Result>,
) => Promise<Result | ExitCode>;

/** For commands that change nothing: their client has no method that writes. The program passes the other client (`writer.ts`) to the commands that write. */
export const withReader: WithClient<ReadClient> = (terminal, flags, work) =>
  withClient(terminal, flags, createReadApi, (api, connection) =>
    work(handlingSignals(api, terminal.interrupt), connection),
  );

/** @param open makes the client */
export async function withClient<Client extends ReadClient, Result>(
  terminal: Terminal,
  flags: ConnectionFlags,
  open: (connection: Connection) => Promise<Client>,
  work: (api: Client, connection: Connection) => Promise<Result>,
): Promise<Result | ExitCode> {
  const resolved = await resolveConnection(flags, terminal.environment);
  if (!resolved.ok) {
    sayDiagnostics(terminal, [resolved.diagnostic]);
    return EXIT.error;
  }
  const waiting = new WaitNotices(() => performance.now());
  const observe = (event: ApiEvent): void => {
    terminal.observe?.(event);
    const line = waiting.report(event);
    if (line !== null && terminal.isCaptured !== true) sayBeside(terminal, line);
  };
  const connection: Connection = { ...resolved.connection, observe };
  compileWasmOnce();
  const api = await open(connection);
  try {
    return await work(api, connection);
  } finally {
    await api.close();
  }
}

/** The last major version of Node of which it is known that its V8 knows the flag. */
const LAST_KNOWN_NODE = 26;

/**
 * undici's parser is a WASM module. V8 compiles it quickly, and then once more with optimisations: that takes 50 ms of CPU and 34 MiB, a third
 * of what a small plan takes, and no apply is long enough to earn it back.
 */
function compileWasmOnce(): void {
  if (Number.parseInt(process.versions.node, 10) <= LAST_KNOWN_NODE) setFlagsFromString("--liftoff-only");
}

/** A client that handles signals only while a request is under way. While its answers are processed, a signal ends the process at once. */
export function handlingSignals(api: ReadClient, interrupt: Interrupt): ReadClient {
  return {
    get requestCount() {
      return api.requestCount;
    },
    get: (request, signal) => interrupt.whileHandlingSignals(() => api.get(request, signal)),
    list: async (request, signal) => {
      const answer = await interrupt.whileHandlingSignals(() => api.list(request, signal));
      // The signal came while the last answer was read: nobody wants to wait until that is processed.
      return answer.ok && signal?.aborted === true ? { ok: false, failure: INTERRUPTED } : answer;
    },
    limits: () => api.limits(),
    close: () => api.close(),
  };
}

const INTERRUPTED: Failure = {
  type: "aborted",
  effect: "none",
  status: null,
  errors: [],
  message: "interrupted",
  maintenance: false,
  attempts: 1,
};

// The connection: which service, with which token. Only flags and the environment decide that, never a manifest.

type ConnectionResult =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Characters that may stand in a header and are plainly visible (RFC 9110, 5.5; RFC 6750, 2.1 allows no more). */
const SENDABLE = /^[\x21-\x7e]+$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Sends nothing. */
async function resolveConnection(flags: ConnectionFlags, environment: Environment): Promise<ConnectionResult> {
  const base = checkBaseUrl(flags.baseUrl);
  if (!base.ok) return base;
  const dialect = resolveDialect(flags);
  if (dialect === null) return { ok: false, diagnostic: BAD_DIALECT };
  const token = await resolveToken(flags, environment, base.url);
  if (!token.ok) return token;
  const connection: Connection = {
    baseUrl: base.url,
    token: token.text,
    dialect,
    environment,
    ...(flags.retryFor === undefined ? {} : { retryForSeconds: flags.retryFor }),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
    ...(flags.admit === undefined ? {} : { admit: flags.admit }),
    ...(flags.pace === undefined ? {} : { pace: flags.pace }),
  };
  return { ok: true, connection };
}

const BAD_DIALECT: Diagnostic = {
  code: "dialect-invalid",
  severity: "error",
  summary: "the dialect is not a word",
  detail: "",
  fix: "Give one such as node.",
};

/** @returns null if the dialect is not a word that a service could use, which is reported */
export function needDialect(terminal: Terminal, flags: Pick<ConnectionFlags, "dialect">): string | null {
  const dialect = resolveDialect(flags);
  if (dialect === null) sayDiagnostics(terminal, [BAD_DIALECT]);
  return dialect;
}

/** @returns null if the dialect is not a word that a service could use */
export function resolveDialect(flags: Pick<ConnectionFlags, "dialect">): string | null {
  const dialect = flags.dialect || NEUTRAL_DIALECT;
  return isDialect(dialect) ? dialect : null;
}

type TokenResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** @param baseUrl where the token will go */
async function resolveToken(flags: ConnectionFlags, environment: Environment, baseUrl: string): Promise<TokenResult> {
  const variable = tokenVariable(flags, environment, baseUrl);
  const text = flags.tokenFile === undefined ? environment[variable] : await readToken(flags.tokenFile);
  const token = text?.trim() ?? "";
  if (token !== "" && SENDABLE.test(token)) return { ok: true, text: token };
  if (token !== "") {
    return refuse(
      "token-invalid",
      "the token holds something that no token holds: a space, a line break or another character beyond plain ASCII",
      "",
      `${flags.tokenFile === undefined ? `Set ${variable} to the token` : "Name a file that holds the token"} and nothing else.`,
    );
  }
  if (flags.tokenFile === undefined) {
    return refuse(
      "token-missing",
      "no token is set",
      "Requests are made in the name of a personal access token.",
      tokenAdvice(variable, baseUrl),
    );
  }
  return refuse(
    "token-file-unreadable",
    `the token file cannot be read, or is empty: ${flags.tokenFile}`,
    "",
    "Name a file that holds the token and nothing else.",
  );
}

/** @param variable where the token was looked for */
function tokenAdvice(variable: string, baseUrl: string): string {
  const set = `Set ${variable === OUR_VARIABLE ? variable : `${OUR_VARIABLE} or ${variable}`}, or name a file that holds it with --token-file.`;
  // `checkBaseUrl` lets plain http through to this machine only.
  if (new URL(baseUrl).protocol === "http:")
    return `${set} What \`tenon emulate\` serves takes emulator-token; \`tenon demo\` needs none.`;
  const known = serviceAt(baseUrl);
  const other =
    known === null || variable !== OUR_VARIABLE
      ? ""
      : ` With TENON_SERVICE=${known.name} ${known.tokenVariable} is read, too.`;
  return `${set}${other} Without an account, \`tenon demo\` shows everything at once, and \`tenon emulate\` serves the whole API on this machine.`;
}

const OUR_VARIABLE = "TENON_TOKEN";

/**
 * The token variable of the service's own tools is used only if the service was named, and its token is sent only to that service's host.
 */
function tokenVariable({ service }: ConnectionFlags, environment: Environment, baseUrl: string): string {
  const there = serviceAt(baseUrl);
  const isNamed = there !== null && there.name === service;
  return isNamed && !environment[OUR_VARIABLE]?.trim() ? there.tokenVariable : OUR_VARIABLE;
}

async function readToken(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}

function refuse(code: string, summary: string, detail: string, fix: string): { ok: false; diagnostic: Diagnostic } {
  return { ok: false, diagnostic: { code, severity: "error", summary, detail, fix } };
}
