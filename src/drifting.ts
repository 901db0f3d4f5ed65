/** Drift for those outside: a plan seen from the account, as text, JSON and markdown. Loaded when it is wanted. */

export { hasDrift } from "./model/drift.ts";
export { driftOf, unclearIdentities } from "./plan/drift.ts";
export { renderDriftText } from "./render/drift.ts";
export { renderDriftJson } from "./render/drift-json.ts";
export { renderDriftMarkdown } from "./render/markdown/drift.ts";
