/** Drift for those outside: a plan seen from the account, as text, JSON and markdown. Loaded when it is wanted. */

export { hasDrift } from "./model/change.ts";
export { driftOf, unclearIdentities } from "./plan/compare.ts";
export { renderDriftJson, renderDriftText } from "./render/drift.ts";
export { renderDriftMarkdown } from "./render/markdown/documents.ts";
