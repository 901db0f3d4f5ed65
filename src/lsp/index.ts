/** The language server, and the process beside it that reads and checks projects: for `tenon lsp`. */

export { runAnalyst } from "./analyst.ts";
export { serve } from "./server.ts";
