/** Opens the client of the commands that write. No other place of the command line opens one, and only the program passes it on. */

import { type ClientApi, createApi } from "../index.ts";
import { handlingSignals, type WithClient, withClient } from "./connection.ts";

/** Like `withReader`, but with a client that also writes. */
export const withWriter: WithClient<ClientApi> = (terminal, flags, work) =>
  withClient(terminal, flags, createApi, (api, connection) => {
    const { interrupt } = terminal;
    const reading = handlingSignals(api, interrupt);
    const writing: ClientApi = {
      get requestCount() {
        return api.requestCount;
      },
      get: reading.get,
      list: reading.list,
      send: (request, signal, waits) => interrupt.whileHandlingSignals(() => api.send(request, signal, waits)),
      upload: (request, signal) => interrupt.whileHandlingSignals(() => api.upload(request, signal)),
      limits: reading.limits,
      close: reading.close,
    };
    return work(writing, connection);
  });
