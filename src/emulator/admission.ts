/** Whether a request may reach a route: credentials first, then scopes. */

import { hasScope, identify, scopesInWord } from "./auth.ts";
import type { Answer } from "./errors.ts";
import { INVALID_TOKEN, UNAUTHORIZED } from "./errors.ts";
import type { Route, Service } from "./route.ts";
import type { TokenRow } from "./rows.ts";

export type Admission = {
  /** The scopes that the route accepts and that the token has, in the operator's words. */
  readonly headers: Readonly<Record<string, string>>;
} & ({ readonly answer: Answer; readonly caller: null } | { readonly answer: null; readonly caller: TokenRow | null });

export function authorise({ store, settings }: Service, route: Route, authorization: string | undefined): Admission {
  const identity = identify(store, authorization);
  const accepted = { "x-accepted-oauth-scopes": scopesInWord(route.scopes, settings.word) };
  switch (identity.type) {
    case "invalid":
      return { answer: INVALID_TOKEN, caller: null, headers: accepted };
    case "anonymous":
      return { answer: route.anonymous ? null : INVALID_TOKEN, caller: null, headers: accepted };
    case "token": {
      const { token } = identity;
      const headers = { ...accepted, "x-oauth-scopes": scopesInWord(token.scopes, settings.word) };
      const held = route.scopes.every((scope) => hasScope(token, scope));
      return held ? { answer: null, caller: token, headers } : { answer: UNAUTHORIZED, caller: null, headers };
    }
  }
}
