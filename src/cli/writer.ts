/** The client of the commands that write: the only place of the command line that opens one, and only the program hands it on. */

import { type ClientApi, createApi } from "../index.ts";
import { heeding, type WithClient, withClient } from "./connection.ts";

/** As `withReader`, with a client that writes, too. */
export const withWriter: WithClient<ClientApi> = (terminal, flags, work) =>
  withClient(terminal, flags, createApi, (api, connection) => {
    const { interrupt } = terminal;
    const reading = heeding(api, interrupt);
    const heard: ClientApi = {
      get requestCount() {
        return api.requestCount;
      },
      get: reading.get,
      list: reading.list,
      send: (request, signal) => interrupt.heed(() => api.send(request, signal)),
      upload: (request, signal) => interrupt.heed(() => api.upload(request, signal)),
      limits: reading.limits,
      close: reading.close,
    };
    return work(heard, connection);
  });
