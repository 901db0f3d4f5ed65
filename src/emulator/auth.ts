/** Who may do what: bearer tokens, OAuth scopes and user grants (API.md, Authentication). */

import type { Grants, Store, TicketRow, TokenRow } from "./store.ts";

/** `anonymous`: there was no Authorization header. `invalid`: there was one, and it names no token. */
export type Identity =
  | { readonly type: "token"; readonly token: TokenRow }
  | { readonly type: "anonymous" }
  | { readonly type: "invalid" };

export function identify(store: Store, authorization: string | undefined): Identity {
  if (authorization === undefined) return { type: "anonymous" };
  const credential = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  const token = credential === undefined ? undefined : store.tables.tokens.get(credential);
  return token === undefined ? { type: "invalid" } : { type: "token", token };
}

/** `read_write` holds `read_only`; `*` holds everything. */
export function hasScope(token: TokenRow, scope: string): boolean {
  const area = scope.slice(0, scope.indexOf(":"));
  const sufficient = ["*", `${area}:*`, `${area}:read_write`, scope];
  return token.scopes.some((held) => sufficient.includes(held));
}

/** As a header has them, in the operator's words. */
export function scopesInWord(scopes: readonly string[], word: string): string {
  return scopes.map((scope) => scope.replace(/^nodes:/, `${word}s:`)).join(" ");
}

export function mayAddVpc(token: TokenRow | null): boolean {
  return token !== null && (token.grants === null || token.grants.add_vpc);
}

export function mayChange(token: TokenRow | null, kind: "vpcs" | "images", id: number | string): boolean {
  if (token === null) return false;
  if (token.grants === null) return true;
  const levels = token.grants[kind];
  return Object.hasOwn(levels, id) && levels[id] === "read_write";
}

/** Tickets have no grants: a restricted user may close those that they opened. */
export function mayCloseTicket(token: TokenRow | null, ticket: TicketRow): boolean {
  return token !== null && (token.grants === null || token.username === ticket.opened_by);
}

/** Removes the grants of a deleted object: its id is never given out again. */
export function dropGrants(store: Store, kind: "vpcs" | "images", id: number | string): void {
  for (const token of [...store.tables.tokens.all()]) {
    if (token.grants === null || !Object.hasOwn(token.grants[kind], id)) continue;
    const { [id]: _gone, ...kept } = token.grants[kind];
    store.tables.tokens.put({ ...token, grants: { ...token.grants, [kind]: kept } });
  }
}

/** A restricted user may change what they made. */
export function grantCreated(
  store: Store,
  caller: TokenRow | null,
  kind: "vpcs" | "images",
  id: number | string,
): void {
  if (caller === null || caller.grants === null) return;
  const grants: Grants = { ...caller.grants, [kind]: { ...caller.grants[kind], [id]: "read_write" } };
  store.tables.tokens.put({ ...caller, grants });
}
