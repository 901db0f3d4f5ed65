/** Every file beside this one is a case: planned, applied, planned again, and gone back from, on a real account. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import type { Change, ChangeLabel, Consent, Desired, Plan } from "../../src/index.ts";
import { renderPlanJson } from "../../src/render/plan-json.ts";
import { Account, ALL_CONSENTS, changeList, HASTY_CLOCK } from "../support/account.ts";
import { planText, planTextFrom, snapshotText } from "../support/snapshot.ts";
import { type Case, LATER_SECONDS, parseCase } from "./case.ts";

const IMAGE = gzipSync(Buffer.alloc(1024));

let account: Account;
afterEach(() => account?.close());

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".yaml"));

test("the cases are found", () => {
  expect(files.length).toBeGreaterThan(120);
});

describe.each(files.sort())("%s", (file) => {
  const given = parseCase(readFileSync(join(import.meta.dirname, file), "utf8"));

  test(given.what, async () => {
    account = await Account.open({ ...given.emulator, ...(given.live === null ? {} : { seed: given.live }) });
    const before = given.before === null ? null : await load(given.before);
    if (before !== null) await applyWhole(before, {});
    const after = await load(given.after);
    if (given.later) await account.advanceClock(LATER_SECONDS);
    const plan = await account.plan(after, given.plan);
    expect(shown(plan, given)).toEqual(expected(given));
    await seeTheSameElsewhere(after, given.plan);
    if (mustStop(plan)) return;
    await applyWhole(after, given.plan);
    if (before !== null && given.back) await applyWhole(before, {});
  });
});

async function load(manifest: object): Promise<Desired> {
  const { desired, diagnostics } = await account.load({
    "tenon.yaml": JSON.stringify(manifest),
    "image.img.gz": IMAGE,
  });
  if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  return desired;
}

/** From a snapshot comes the very same plan; and beside itself as the base, but for the origins, too. */
async function seeTheSameElsewhere(desired: Desired, options: Case["plan"]): Promise<void> {
  const moment = { nowMilliseconds: Date.now(), ...options };
  const text = await planText(account.api, desired, moment);
  expect(await planTextFrom(await snapshotText(account.api), desired, moment)).toBe(text);
  const base = { name: "itself", desired };
  const beside = await account.plan(desired, { ...moment, base });
  const open = beside.changes.filter((change) => change.action !== "no-op");
  expect(open.filter((change) => change.origin !== "already-pending")).toEqual([]);
  expect(beside.base).toEqual({ name: "itself", withdrawn: [] });
  const changes = beside.changes.map((change) => ({ ...change, origin: null }));
  expect(renderPlanJson({ ...beside, changes, base: null, pace: null })).toBe(text);
}

/** Plans and applies with every consent; after that nothing is left but what was and is blocked. */
async function applyWhole(desired: Desired, options: Case["plan"]): Promise<void> {
  const consents: readonly Consent[] = ALL_CONSENTS;
  const report = await account.apply(await account.plan(desired, { ...options, consents }), { clock: HASTY_CLOCK });
  expect(report.steps.filter((step) => step.outcome !== "done")).toEqual([]);
  const again = await account.plan(desired, { ...options, consents });
  expect(again.steps).toEqual([]);
  expect(changeList({ ...again, changes: again.changes.filter((change) => change.blocked === null) })).toEqual([]);
}

/** What no consent lets pass. */
function mustStop(plan: Plan): boolean {
  return plan.refusals.length > 0 || plan.guards.some((guard) => guard.consent === "impossible");
}

/** A plan in the words of a case; steps, bodies and what is left alone only as far as the case asks for them. */
function shown(plan: Plan, given: Case): Record<string, unknown> {
  const open = plan.changes.filter((change) => change.action !== "no-op");
  const ids = plan.steps.map((step) => step.id);
  return {
    changes: changeList(plan),
    labels: Object.fromEntries(
      open.filter(({ labels }) => labels.length > 0).map(({ key, labels }) => [key, labelText(labels)]),
    ),
    guards: plan.guards.map(({ rule, address, consent, count, of }) => {
      return `${rule} ${address} ${consent}${count === null ? "" : ` ${count} of ${of}`}`;
    }),
    gaps: plan.gaps.map((gap) => `${gap.what}: ${gap.before} before ${gap.wanted}`),
    blocked: Object.fromEntries(
      open.flatMap((change) => (change.blocked === null ? [] : [[change.key, blockText(change)]])),
    ),
    refusals: plan.refusals.map(({ code, address }) => `${code} ${address}`),
    warnings: plan.warnings.map(({ code }) => code).filter((code) => code !== "cached-target"),
    steps: given.steps === null ? null : ids,
    bodies: Object.fromEntries(
      Object.keys(given.bodies).map((id) => {
        const step = plan.steps.find((candidate) => candidate.id === id);
        return [id, step?.type === "request" ? step.body : `no such request among ${ids.join(", ")}`];
      }),
    ),
    leftAlone:
      given.leftAlone === null ? null : plan.leftAlone.map(({ count, kind, reason }) => `${count} ${kind} ${reason}`),
    families: given.families === null ? null : plan.families.map(familyText),
    holds: given.holds === null ? null : Object.fromEntries(open.flatMap(holdsText)),
    ranges: given.ranges === null ? null : Object.fromEntries(open.flatMap(rangeText)),
    freeSpace: given.freeSpace === null ? null : plan.freeSpace.map(spaceText),
  };
}

/** What a case may say of a plan, in the order of `shown`. */
const EXPECTED = [
  ...["changes", "labels", "guards", "gaps", "blocked", "refusals", "warnings", "steps", "bodies"],
  ...["leftAlone", "families", "holds", "ranges", "freeSpace"],
] as readonly (keyof Case)[];

function expected(given: Case): Record<string, unknown> {
  return Object.fromEntries(EXPECTED.map((key) => [key, given[key]]));
}

function familyText({ name, keep, members }: Plan["families"][number]): string {
  return `${name} keeps ${keep}: ${members.map(({ label, fate }) => `${label} ${fate}`).join(", ")}`;
}

function holdsText({ key, holds }: Change): [string, string][] {
  if (holds === undefined) return [];
  return [[key, `${holds.records}${holds.ignored === null ? "" : `, ${holds.ignored} ignored`}`]];
}

function rangeText({ key, range }: Change): [string, string][] {
  return range === undefined ? [] : [[key, `${range.becomes}, ${range.attached} attached`]];
}

function spaceText({ root, within, addresses, free, largest, next }: Plan["freeSpace"][number]): string {
  const sizes = next.map(({ prefix, ranges }) => `/${prefix} ${ranges.join(" ") || "none"}`);
  return `${root} ${within}: ${free} of ${addresses}, ${largest}; ${sizes.join("; ")}`;
}

function labelText(labels: readonly ChangeLabel[]): string {
  return labels.join(", ");
}

/** One line, with every field that the block has. */
function blockText({ blocked }: Change): string {
  switch (blocked?.type) {
    case "interfaces":
      return blocked.interfaces
        .map((found) => {
          const { subnet, node_id, interface_id, active, config_id, address } = found;
          return `${subnet} node ${node_id} interface ${interface_id} ${active ? "active" : "inactive"} config ${config_id} ${address}`;
        })
        .join("; ");
    case "kept-records":
      return `${blocked.claimed ? "claimed by" : "kept"} ${blocked.records.map(({ type, name, target }) => `${type} ${name || "@"} ${target}`).join("; ")}`;
    case "depends":
      return `depends on ${blocked.on.join(", ")}`;
    case "shared":
      return `shared with ${blocked.owners.join(", ")}`;
    case "changed-since":
      return `${blocked.type} ${blocked.run}`;
    case "label-taken":
      return `${blocked.type} ${blocked.id}`;
    case "clone-source-missing":
      return `${blocked.type} ${blocked.domain}`;
    case "ambiguous":
      return `ambiguous ${blocked.candidates.map(({ id }) => id).join(" ")}`;
    case "stale-id":
      return `${blocked.type} ${blocked.candidate.id}`;
    case "upload-in-progress":
    case "upload-of-others":
      return `${blocked.type} ${blocked.id}`;
    case "image-source-missing":
      return blocked.type;
    case undefined:
      return "";
  }
}
