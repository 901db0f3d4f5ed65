/** What `validate` found, as JSON for programs: counted as Terraform's `validate -json` does, with our codes and fixes. */

import type { Diagnostic } from "../model/diagnostic.ts";
import { jsonText } from "../model/json-text.ts";
import type { JsonObject } from "../model/resource.ts";
import type { Sources } from "../model/source.ts";
import { diagnosticsJson } from "./diagnostics.ts";

const VALIDATION_FORMAT_VERSION = "1.0";

export { diagnosticsJson };

/** Newline-terminated: schemas/validation.schema.json. */
export function renderValidationJson(diagnostics: readonly Diagnostic[], sources: Sources): string {
  return `${jsonText(validationJson(diagnosticsJson(diagnostics, sources)), 2)}\n`;
}

/**
 * The same of a command that failed, in the place of its result. Newline-terminated.
 * @param diagnostics of `diagnosticsJson`
 * @param isEvent as one line of a stream, with a `type`: `error` in schemas/event.schema.json
 */
export function renderErrorsJson(diagnostics: readonly JsonObject[], isEvent: boolean): string {
  const json = validationJson(diagnostics);
  return `${isEvent ? jsonText({ type: "error", ...json }) : jsonText(json, 2)}\n`;
}

function validationJson(diagnostics: readonly JsonObject[]): JsonObject {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return {
    format_version: VALIDATION_FORMAT_VERSION,
    valid: errors === 0,
    error_count: errors,
    warning_count: diagnostics.length - errors,
    diagnostics: [...diagnostics],
  };
}
