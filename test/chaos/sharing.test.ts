/** A zone that two teams share: whatever the order of their requests, neither touches the other's names, and both get what they declare. */

import { describe, expect, test } from "vitest";
import type { Run } from "./interleave-run.ts";
import { randomOf } from "./interleave-seed.ts";
import { chosenSeed } from "./interleave-tally.ts";
import { SharedAccount } from "./sharing-meeting.ts";
import { busyWorld, PART_TAG, type Role, type SharedWorld, worldOf } from "./sharing-world.ts";

/** Fewer would not meet all that may come of it. */
const MIN_RUNS = 12;
const WORLDS = Number(process.env["TENON_PROPERTY_RUNS"] ?? "100");
const RUNS = Math.max(MIN_RUNS, WORLDS / 5);
/** A sample kills after each third request. */
const KILLS_APART = WORLDS < 100 ? 3 : 1;

describe("the owner of a zone and the team it is shared with", () => {
  test("come to what both declare, at once and in any order of their requests, with answers lost", async () => {
    const orders = new Set<string>();
    await eachSeed(async (seed) => {
      const random = randomOf(seed);
      const world = worldOf(random, true);
      const account = await SharedAccount.open(world);
      try {
        const loses = random() < 0.3 ? 0.1 : 0;
        const first = await account.meet(world.manifests, random, { loses });
        if (loses === 0) for (const run of Object.values(first)) expect(outcomeOf(run), note(seed)).toBe("applied");
        orders.add(account.order.join());
        await settles(account, world, seed);
      } finally {
        await account.close();
      }
    });
    expect(orders.size).toBeGreaterThan(RUNS / 2);
  });

  test("come to what both declare where either is killed between any two of its requests", async () => {
    const world = busyWorld(5);
    for (const role of ["owner", "part"] as const) {
      for (let after = 0, ended = false; !ended; after += KILLS_APART) {
        const account = await SharedAccount.open(world);
        try {
          const other: Role = role === "owner" ? "part" : "owner";
          const runs = await account.meet(world.manifests, randomOf(after), { killedAfter: { [role]: after } });
          ended = (runs[role]?.passed.length ?? 0) < after;
          expect(outcomeOf(runs[other]), `${other} beside ${role} killed after ${after}`).toBe("applied");
          if (ended) expect(account.writes[role]).toBeGreaterThan(2);
          await settles(account, world, after);
        } finally {
          await account.close();
        }
      }
    }
  });

  test("meet while the sharing begins: the team is refused until the domain says so, and then gets what it declares", async () => {
    const seen = new Set<string>();
    await eachSeed(async (seed) => {
      const random = randomOf(seed);
      const world = worldOf(random, false);
      const account = await SharedAccount.open(world);
      try {
        const { part } = await account.meet(world.manifests, random);
        seen.add(outcomeOf(part));
        if (outcomeOf(part) === "refused") expect(account.writes.part).toBe(0);
        await settles(account, world, seed);
      } finally {
        await account.close();
      }
    });
    if (chosenSeed() === null) expect([...seen].sort()).toEqual(["applied", "refused"]);
  });

  test("meet while the sharing ends: the owner gets all names, and the team writes nothing without a look that lets it", async () => {
    const seen = new Set<string>();
    await eachSeed(async (seed) => {
      const random = randomOf(seed);
      const world = worldOf(random, true);
      const account = await SharedAccount.open(world);
      account.expectWithdrawal();
      try {
        const { part } = await account.meet({ owner: world.withdrawn, part: world.manifests.part }, random);
        seen.add(part?.ending?.type === "applied" ? stepsOf(part) : outcomeOf(part));
        const writes = account.writes.part;
        const looks = part?.passed.findIndex(({ method, path }) => method === "GET" && path === "/domains/7") ?? -1;
        const look = part?.passed[looks];
        if (writes > 0) expect(look?.answer, note(seed)).toContain(PART_TAG);
        // The next run of the owner finds what the team has still made, and the team is refused from now on.
        const { owner } = await account.meet({ owner: world.withdrawn }, random);
        expect(outcomeOf(owner), note(seed)).toBe("applied");
        const { part: again } = await account.meet({ part: world.manifests.part }, random);
        expect([outcomeOf(again), account.writes.part]).toEqual(["refused", writes]);
        const { owner: own, part: teams } = await account.held();
        expect([...own, ...teams].sort(), note(seed)).toEqual([...world.declared.owner].sort());
        expect(await account.tags()).toEqual(["tenon:edge", "web"]);
        expect(account.problems, note(seed)).toEqual([]);
      } finally {
        await account.close();
      }
    });
    if (chosenSeed() === null) expect([...seen]).toEqual(expect.arrayContaining(["done", "failed", "refused"]));
  });
});

/** One more run of each, in turn; then nothing is left to do, each has what it declares, and nobody touched what is the other's. */
async function settles(account: SharedAccount, world: SharedWorld, seed: number): Promise<void> {
  const random = randomOf(seed);
  const order: readonly Role[] = seed % 2 === 0 ? ["owner", "part"] : ["part", "owner"];
  for (const role of order) await account.meet({ [role]: world.manifests[role] }, random);
  for (const role of order) {
    const before = account.writes[role];
    const { [role]: run } = await account.meet({ [role]: world.manifests[role] }, random);
    // The team that came before the owner's first run was refused in the turn above.
    if (before === account.writes[role]) expect(outcomeOf(run), `${role}, ${note(seed)}`).toBe("applied");
    else await account.meet({ [role]: world.manifests[role] }, random);
  }
  const held = await account.held();
  for (const role of order)
    expect(held[role].sort(), `${role}, ${note(seed)}`).toEqual([...world.declared[role]].sort());
  expect(await account.tags()).toContain(PART_TAG);
  expect(account.problems, note(seed)).toEqual([]);
}

function outcomeOf(run: Run | undefined): string {
  const { ending } = run ?? { ending: null };
  if (ending?.type !== "applied") return ending?.type ?? "killed";
  return ending.report.steps.every(({ outcome }) => outcome === "done") ? "applied" : "failed";
}

/** How the steps of the team ended. */
function stepsOf({ ending }: Run): string {
  const outcomes = ending?.type === "applied" ? ending.report.steps.map(({ outcome }) => outcome) : [];
  return outcomes.some((outcome) => outcome !== "done") ? "failed" : "done";
}

async function eachSeed(play: (seed: number) => Promise<void>): Promise<void> {
  const chosen = chosenSeed();
  if (chosen !== null) return play(chosen);
  for (let seed = 1; seed <= RUNS; seed += 1) await play(seed);
}

function note(seed: number): string {
  return `seed ${seed}: TENON_CHAOS_SEED=${seed} plays it again`;
}
