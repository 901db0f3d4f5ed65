/** The language server, and the process beside it that reads and checks projects: for `tenon lsp`. */

export { type AnalystOptions, type Check, runAnalyst } from "./analyst.ts";
export { type ServerOptions, serve } from "./server.ts";
