/** Render (`tenon/render`): plans, reports, drift, diagnostics and verifications as text, JSON and markdown. */

export { type DiagnosticStyle, renderDiagnostics } from "./diagnostics.ts";
export { renderDriftJson, renderDriftText } from "./drift.ts";
export {
  renderDriftMarkdown,
  renderPlanMarkdown,
  renderReportMarkdown,
  renderUnreviewedMarkdown,
} from "./markdown/documents.ts";
export { renderPlanJson, renderPlanJsonParts } from "./plan-json.ts";
export { renderGuardsText, renderPlanText, renderUnreviewedText, type TextOptions } from "./plan-text.ts";
export { renderReportJson, renderReportText, renderValidationJson } from "./report.ts";
export { renderVerificationJson, renderVerificationText } from "./verification.ts";
