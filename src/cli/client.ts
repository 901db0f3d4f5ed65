/** The client of a command: connected as the flags and the environment say, its long waits told, closed when the work is done. */

import { type ApiEvent, type ClientApi, type Connection, createApi } from "../index.ts";
import type { ConnectionFlags } from "./args.ts";
import { resolveConnection } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { sayDiagnostics } from "./messages.ts";
import { sayBeside } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import { Waiting } from "./waiting.ts";

/** @returns what `work` does, or an exit code if the connection cannot be: that is said */
export async function withClient<Result>(
  terminal: Terminal,
  flags: ConnectionFlags,
  work: (api: ClientApi, connection: Connection) => Promise<Result>,
): Promise<Result | ExitCode> {
  const resolved = await resolveConnection(flags, terminal.environment);
  if (!resolved.ok) {
    sayDiagnostics(terminal, [resolved.diagnostic]);
    return EXIT.error;
  }
  const waiting = new Waiting(() => performance.now());
  const observe = (event: ApiEvent): void => {
    const line = waiting.tell(event);
    if (line !== null) sayBeside(terminal, line);
  };
  const connection: Connection = { ...resolved.connection, observe };
  const api = await createApi(connection);
  try {
    return await work(api, connection);
  } finally {
    await api.close();
  }
}
