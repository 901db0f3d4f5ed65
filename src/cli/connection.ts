/** The connection: which service, with which token. Only flags and the environment say so, never a manifest. */

import { readFile } from "node:fs/promises";
import { type Connection, checkBaseUrl, type Diagnostic, isDialect, NEUTRAL_DIALECT } from "../index.ts";
import type { ConnectionFlags } from "./args.ts";
import { sayDiagnostics } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

export type ConnectionResult =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** What may stand in a header and is plainly visible (RFC 9110, 5.5; RFC 6750, 2.1 allows no more). */
const SENDABLE = /^[\x21-\x7e]+$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Sends nothing. */
export async function resolveConnection(flags: ConnectionFlags, environment: Environment): Promise<ConnectionResult> {
  const base = checkBaseUrl(flags.baseUrl);
  if (!base.ok) return base;
  const dialect = resolveDialect(flags);
  if (dialect === null) return { ok: false, diagnostic: BAD_DIALECT };
  const token = await resolveToken(flags, environment);
  if (!token.ok) return token;
  const connection: Connection = {
    baseUrl: base.url,
    token: token.text,
    dialect,
    environment,
    ...(flags.retryFor === undefined ? {} : { retryForSeconds: flags.retryFor }),
    ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
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

/** null if it is not a word that a service could use: that is said. */
export function needDialect(terminal: Terminal, flags: Pick<ConnectionFlags, "dialect">): string | null {
  const dialect = resolveDialect(flags);
  if (dialect === null) sayDiagnostics(terminal, [BAD_DIALECT]);
  return dialect;
}

/** null if it is not a word that a service could use. */
export function resolveDialect(flags: Pick<ConnectionFlags, "dialect">): string | null {
  const dialect = flags.dialect || NEUTRAL_DIALECT;
  return isDialect(dialect) ? dialect : null;
}

/** Shorter ones occur by chance. */
const MIN_TOKEN_CHARACTERS = 6;

/** Whether a JSON text that is to be kept has the token in it, as it is or as JSON spells it. */
export function holdsToken(text: string, token: string): boolean {
  const plain = token.trim();
  const spellings = [plain, JSON.stringify(plain).slice(1, -1)];
  return plain.length >= MIN_TOKEN_CHARACTERS && spellings.some((spelling) => text.includes(spelling));
}

type TokenResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

async function resolveToken(flags: ConnectionFlags, environment: Environment): Promise<TokenResult> {
  const text = flags.tokenFile === undefined ? environment["TENON_TOKEN"] : await readToken(flags.tokenFile);
  const token = text?.trim() ?? "";
  if (token !== "" && SENDABLE.test(token)) return { ok: true, text: token };
  if (token !== "") {
    return refuse(
      "token-invalid",
      "the token holds something that no token holds: a space, a line break or another character beyond plain ASCII",
      "",
      `${flags.tokenFile === undefined ? "Set TENON_TOKEN to the token" : "Name a file that holds the token"} and nothing else.`,
    );
  }
  if (flags.tokenFile === undefined) {
    return refuse(
      "token-missing",
      "no token is set",
      "Requests are made in the name of a personal access token.",
      "Set TENON_TOKEN, or name a file that holds it with --token-file.",
    );
  }
  return refuse(
    "token-file-unreadable",
    `the token file cannot be read, or is empty: ${flags.tokenFile}`,
    "",
    "Name a file that holds the token and nothing else.",
  );
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
