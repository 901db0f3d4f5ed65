/** Errors as the service words them (OBSERVED exchanges of the public service), as values. */

/** `field` is absent when the error is not about one field. */
export interface ApiError {
  readonly reason: string;
  readonly field?: string;
}

/** The content type of every JSON answer, without a charset: clients were seen to compare it literally (docs/reference/OBSERVED.md, Errors). */
export const JSON_TYPE = "application/json";

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export function fieldError(field: string, reason: string): ApiError {
  return { reason, field };
}

export function succeed(body: object): Answer {
  return { status: 200, body };
}

/** What a delete answers. */
export function succeedEmpty(): Answer {
  return succeed({});
}

export function refuse(status: number, errors: readonly ApiError[]): Answer {
  return { status, body: { errors } };
}

export function badRequest(...errors: readonly ApiError[]): Answer {
  return refuse(400, errors);
}

export const INVALID_TOKEN: Answer = refuse(401, [{ reason: "Invalid Token" }]);
export const UNAUTHORIZED: Answer = refuse(403, [{ reason: "Unauthorized" }]);
export const NOT_FOUND: Answer = refuse(404, [{ reason: "Not found" }]);
export const METHOD_NOT_ALLOWED: Answer = refuse(405, [{ reason: "Method Not Allowed" }]);
export const BODY_TOO_LARGE: Answer = refuse(413, [{ reason: "Request body too large" }]);
export const TOO_MANY_REQUESTS: Answer = refuse(429, [{ reason: "Too many requests" }]);
export const INTERNAL_ERROR: Answer = refuse(500, [{ reason: "Internal server error" }]);
