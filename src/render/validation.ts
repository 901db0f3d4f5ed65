/** What `validate` found, as JSON for programs: counted as Terraform's `validate -json` does, with our codes and fixes. */

import { type Diagnostic, hasErrors } from "../model/diagnostic.ts";
import type { Sources } from "../model/source.ts";
import { diagnosticsJson } from "./diagnostics.ts";

const VALIDATION_FORMAT_VERSION = "1.0";

/** Newline-terminated. */
export function renderValidationJson(diagnostics: readonly Diagnostic[], sources: Sources): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const json = {
    format_version: VALIDATION_FORMAT_VERSION,
    valid: !hasErrors(diagnostics),
    error_count: errors,
    warning_count: diagnostics.length - errors,
    diagnostics: diagnosticsJson(diagnostics, sources),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}
