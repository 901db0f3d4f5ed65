/** Whether a request may reach a route: credentials first, then scopes. */

import { hasScope, identify } from "./auth.ts";
import type { Answer } from "./errors.ts";
import { INVALID_TOKEN, UNAUTHORIZED } from "./errors.ts";
import type { Route } from "./route.ts";
import type { TokenRow } from "./rows.ts";
import type { Store } from "./store.ts";

export type Admission =
  | { readonly answer: Answer; readonly caller: null }
  | { readonly answer: null; readonly caller: TokenRow | null };

export function authorise(store: Store, route: Route, authorization: string | undefined): Admission {
  const identity = identify(store, authorization);
  switch (identity.type) {
    case "invalid":
      return { answer: INVALID_TOKEN, caller: null };
    case "anonymous":
      return route.anonymous ? { answer: null, caller: null } : { answer: INVALID_TOKEN, caller: null };
    case "token": {
      const { token } = identity;
      const held = route.scopes.every((scope) => hasScope(token, scope));
      return held ? { answer: null, caller: token } : { answer: UNAUTHORIZED, caller: null };
    }
  }
}
