/** A zone that two teams share, drawn from a seed: who has which names, what is there, and what each declares. */

import type { Seed, SeedRecord } from "../../src/emulator/index.ts";
import { oneOf, type Random, randomOf } from "./interleave-seed.ts";

export const ZONE = "shared.example";
export const [OWNER, TEAM] = ["edge", "shop-team"];
export const PART_TAG = `tenon-part:${TEAM}`;

export type Role = "owner" | "part";

export interface SharedWorld {
  readonly names: readonly string[];
  readonly seed: Seed;
  readonly manifests: Readonly<Record<Role, object>>;
  /** `name type target` of what each declares. */
  readonly declared: Readonly<Record<Role, readonly string[]>>;
  /** The owner's manifest without the sharing. */
  readonly withdrawn: object;
}

type Row = Pick<SeedRecord, "type" | "name" | "target">;

const DIVISIONS: readonly (readonly string[])[] = [
  ["shop", "*.shop"],
  ["*.shop"],
  ["shop"],
  ["@", "blog"],
  ["*"],
  ["*shop*"],
  ["a*", "*.blog", "x.*", "\\*"],
];

const NAMES = ["", "www", "shop", "a.shop", "b.shop", "*.shop", "workshop", "blog", "x.blog", "*", "_dmarc"] as const;

/** Written apart from Tenon's own matcher. */
export function isOfPart(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) => {
    if (glob === "@") return name === "";
    const parts = glob.split(/(\\\*|\*)/).map((part) => {
      if (part === "*") return ".*";
      return part === "\\*" ? "\\*" : part.replaceAll(".", "\\.");
    });
    return new RegExp(`^${parts.join("")}$`).test(name);
  });
}

/** @param shared whether the domain says at the beginning that it is shared */
export function worldOf(random: Random, shared: boolean): SharedWorld {
  const names = oneOf(random, DIVISIONS);
  const isTeams = ({ name = "" }: Row) => isOfPart(name, names);
  const [live, after] = [rows(random), rows(random)];
  const kept = live.filter(() => random() < 0.5);
  const taken = new Set(kept.map(({ name }) => name));
  const wanted = [...kept, ...after.filter(({ name }) => !taken.has(name))];
  const own = wanted.filter((row) => !isTeams(row));
  const teams = wanted.filter(isTeams);
  const tags = ["tenon:edge", "web", ...(shared ? [PART_TAG] : [])];
  const domain = { type: "master", soa_email: "hostmaster@example.com" };
  const whole = { domain: ZONE, ...domain, records: own };
  return {
    names,
    seed: { domains: [{ id: 7, domain: ZONE, soa_email: domain.soa_email, tags, records: live }] },
    manifests: {
      owner: { tenon: 1, owner: OWNER, domains: [{ ...whole, shared_with: [{ owner: TEAM, names }] }] },
      part: { tenon: 1, owner: TEAM, domains: [{ domain: ZONE, part: { names }, records: teams }] },
    },
    declared: { owner: own.map(rowText), part: teams.map(rowText) },
    withdrawn: { tenon: 1, owner: OWNER, domains: [whole] },
  };
}

/** The first world in which both have so many records to make or to take away. */
export function busyWorld(least: number): SharedWorld {
  for (let seed = 1; ; seed += 1) {
    const world = worldOf(randomOf(seed), true);
    const live = (world.seed.domains?.[0]?.records ?? []) as readonly Row[];
    const work = (["owner", "part"] as const).map((role) => {
      const there = live.filter(({ name = "" }) => isOfPart(name, world.names) === (role === "part")).map(rowText);
      const wanted = world.declared[role];
      return there.filter((row) => !wanted.includes(row)).length + wanted.filter((row) => !there.includes(row)).length;
    });
    if (work.every((count) => count >= least)) return world;
  }
}

export function rowText({ name = "", type, target }: { name?: unknown; type?: unknown; target?: unknown }): string {
  return `${name === "@" ? "" : String(name)} ${String(type)} ${String(target).replace(/\.$/, "")}`;
}

/** Some names, each with addresses, a text, or an alias that stands alone. */
function rows(random: Random): Row[] {
  return NAMES.filter(() => random() < 0.6).flatMap((name): Row[] => {
    if (name !== "" && random() < 0.2) return [{ type: "CNAME", name, target: oneOf(random, ["x.test.", "y.test."]) }];
    const hosts = [1, 2, 3].filter(() => random() < 0.5).map((host) => `192.0.2.${host}`);
    const addresses = hosts.map((target): Row => ({ type: "A", name, target }));
    return random() < 0.3 ? [...addresses, { type: "TXT", name, target: oneOf(random, ["one", "two"]) }] : addresses;
  });
}
