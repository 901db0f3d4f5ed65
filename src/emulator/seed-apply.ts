/** A seed → the accounts of a new emulator. */

import type { Service } from "./route.ts";
import { MAIN_ACCOUNT } from "./rows.ts";
import type { AccountSeed, Seed } from "./seed.ts";
import { SeedError } from "./seed.ts";
import type { SeedTarget } from "./seed-objects.ts";
import { addObjects } from "./seed-objects.ts";
import { addTickets } from "./seed-tickets.ts";
import { addTokens } from "./seed-tokens.ts";
import type { Counted } from "./store.ts";

export const DEFAULT_TOKEN = "emulator-token";

/** @throws SeedError, with the place in the seed */
export function applySeed(service: Service, seed: Seed): void {
  const others = Object.entries(seed.other_accounts ?? {});
  if (others.some(([name]) => name === MAIN_ACCOUNT)) {
    throw new SeedError(`other_accounts: ${MAIN_ACCOUNT} is the name of the account that the seed itself describes`);
  }
  for (const part of [seed, ...others.map(([, other]) => other)]) reserveIds(service, part);
  addAccount({ service, account: MAIN_ACCOUNT, place: "" }, { tokens: [{ token: DEFAULT_TOKEN }], ...seed });
  for (const [account, other] of others) addAccount({ service, account, place: `other_accounts.${account}.` }, other);
}

function addAccount(into: SeedTarget, seed: AccountSeed): void {
  addObjects(into, seed);
  addTickets(into, seed.tickets ?? []);
  addTokens(into, seed.tokens ?? []);
}

/** Before any id is given out, so that none given out is one that the seed names. */
function reserveIds(service: Service, seed: AccountSeed): void {
  const reserve = (kind: Counted, id: number | undefined): void => {
    if (id !== undefined) service.store.reserveId(kind, id);
  };
  for (const vpc of seed.vpcs ?? []) {
    reserve("vpc", vpc.id);
    for (const subnet of vpc.subnets ?? []) reserve("subnet", subnet.id);
  }
  for (const domain of seed.domains ?? []) {
    reserve("domain", domain.id);
    for (const record of domain.records ?? []) reserve("record", record.id);
  }
  for (const image of seed.images ?? []) {
    const number = /^private\/(\d{1,9})$/.exec(image.id ?? "")?.[1];
    reserve("image", number === undefined ? undefined : Number(number));
  }
  for (const ticket of seed.tickets ?? []) {
    reserve("ticket", ticket.id);
    for (const reply of ticket.replies ?? []) reserve("reply", reply.id);
  }
  for (const node of seed.nodes ?? []) {
    reserve("node", node.id);
    for (const { id, config_id } of node.interfaces ?? []) {
      reserve("interface", id);
      reserve("config", config_id);
    }
  }
}
