/** The tokens of a seed: scopes and grants, by the labels or ids of what the account holds. */

import type { Service } from "./route.ts";
import type { GrantLevel, Grants } from "./rows.ts";
import type { SeedGrants, SeedToken } from "./seed.ts";
import { SeedError } from "./seed.ts";
import type { SeedTarget } from "./seed-objects.ts";
import { DEFAULT_USERNAME, unused } from "./seed-objects.ts";

/** @throws SeedError, with the place in the seed */
export function addTokens({ service, account, place: where }: SeedTarget, tokens: readonly SeedToken[]): void {
  const word = service.settings.word;
  for (const [index, { token, username, scopes = ["*"], grants }] of tokens.entries()) {
    const place = `${where}tokens[${index}]`;
    service.store.tables.tokens.put({
      id: unused(token, service.store.tables.tokens, place),
      account,
      username: username ?? DEFAULT_USERNAME,
      // Scopes may be written in the operator's words; inside they are API.md's.
      scopes: scopes.map((scope) => (scope.startsWith(`${word}s:`) ? `nodes:${scope.slice(word.length + 2)}` : scope)),
      grants: grants === undefined ? null : resolveGrants(service, account, grants, place),
    });
  }
}

function resolveGrants(service: Service, account: string, grants: SeedGrants, place: string): Grants {
  const { vpcs, images } = service.store.tables;
  const own = [...images.all()].filter((image) => image.account === account);
  return {
    add_vpc: grants.add_vpc ?? false,
    vpcs: byId(grants.vpcs ?? {}, vpcs.group("account", account).values(), `${place}.grants.vpcs`),
    images: byId(grants.images ?? {}, own, `${place}.grants.images`),
  };
}

/** A key is an id, or a label, which then stands for every object that has it. */
function byId(
  levels: Readonly<Record<string, GrantLevel>>,
  objects: Iterable<{ readonly id: number | string; readonly label: string }>,
  place: string,
): Record<string, GrantLevel> {
  const named = [...objects];
  const entries = Object.entries(levels).flatMap(([key, level]) => {
    const found = named.filter(({ id, label }) => String(id) === key || label === key);
    if (found.length === 0) throw new SeedError(`${place}: there is no ${key}`);
    return found.map(({ id }) => [String(id), level] as const);
  });
  return Object.fromEntries(entries);
}
