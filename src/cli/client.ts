/** The client of a command: connected as the flags and the environment say, its long waits told, closed when the work is done. */

import { type ApiEvent, type ClientApi, type Connection, createApi, type Failure } from "../index.ts";
import type { ConnectionFlags } from "./args.ts";
import { resolveConnection } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Interrupt } from "./interrupt.ts";
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
    return await work(heeding(api, terminal.interrupt), connection);
  } finally {
    await api.close();
  }
}

/** The same client, in whose requests signals are heard: what is made of the answers can be ended at any time. */
function heeding(api: ClientApi, interrupt: Interrupt): ClientApi {
  return {
    get requestCount() {
      return api.requestCount;
    },
    send: (request, signal) => interrupt.heed(() => api.send(request, signal)),
    upload: (request, signal) => interrupt.heed(() => api.upload(request, signal)),
    list: async (request, signal) => {
      const answer = await interrupt.heed(() => api.list(request, signal));
      // Told while the last answer was read: nobody wants to wait for what is made of it.
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
