/** What other environments of a project declare of what a plan deletes without being told so. */

import type { Change } from "../model/change.ts";
import type { Declared, Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Guard, Plan } from "../model/plan.ts";
import { type Address, type Kind, rootAddress, rootOf } from "../model/resource.ts";
import { compareText, groupBy, listNames, shellWord } from "../model/text.ts";
import { isSameValue } from "./changed-since.ts";
import { liveAddressOf } from "./guards.ts";

/** The project as it is with another `--env`, or without one. */
export interface OtherEnvironment {
  /** null: the project without an environment. */
  readonly name: string | null;
  /** What `declaredElsewhere` found there; null: nobody knows, as the project has errors there, or was not looked at for its size. */
  readonly declares: ReadonlySet<Address> | null;
}

/** The changes of objects that would be pruned and have no consent, and of those that would be retired: another environment may declare them. */
export function mayGoByMistake({ guards, changes }: Pick<Plan, "guards" | "changes">): Change[] {
  const inDoubt = new Set(guards.filter(isInDoubt).map(({ address }) => address));
  return changes.filter((change) => isRetired(change) || inDoubt.has(liveAddressOf(change)));
}

/** An image of a family that goes for a newer one, of the same label or not. */
export function isRetired({ action, labels, blocked }: Change): boolean {
  return (action === "delete" || action === "replace") && blocked === null && labels.includes("retire");
}

/** A record goes as its entry has expired: no other environment speaks for it. */
function isInDoubt({ rule, address, consent }: Guard): boolean {
  return rule === "delete" && consent === "missing" && rootOf(address) === address;
}

/**
 * Those of the objects that an environment of the same owner and account declares, by their addresses in the account. An entry that both have
 * alike does not count: what it means, it means in both. Environments of another owner or account tell their objects apart.
 */
export function declaredElsewhere(inDoubt: readonly Change[], here: Desired, there: Desired): ReadonlySet<Address> {
  if (there.owner !== here.owner || there.account !== here.account) return new Set();
  const own = groupBy(here.declared, ({ address }) => address);
  const isOwn = (entry: Declared) => (own.get(entry.address) ?? []).some((one) => isSameValue(one, entry));
  const meant = new Set(there.declared.flatMap((entry) => (isOwn(entry) ? [] : meaningsOf(entry))));
  return new Set(inDoubt.filter((change) => namesOf(change).some((name) => meant.has(name))).map(liveAddressOf));
}

/** An entry may mean an object by its label, by a former one, or by its id. */
function meaningsOf({ address, movedFrom, id }: Declared): string[] {
  const kind = kindIn(address);
  return [
    address,
    ...(movedFrom === null ? [] : [rootAddress(kind, movedFrom)]),
    ...(id === null ? [] : [idName(kind, id)]),
  ];
}

/** Of several objects of one label each has its id in its address, and an entry of that label may mean any of them. */
function namesOf(change: Change): string[] {
  const address = liveAddressOf(change);
  if (change.id === null) return [address];
  const suffix = `:${encodeURIComponent(change.id)}`;
  const label = address.endsWith(suffix) ? [address.slice(0, -suffix.length)] : [];
  return [address, ...label, idName(kindIn(address), change.id)];
}

function kindIn(address: Address): Kind {
  return address.slice(0, address.indexOf("/")) as Kind;
}

function idName(kind: Kind, id: string | number): string {
  return `${kind} ${id}`;
}

/**
 * Adds the names of the environments that declare an object which would be pruned. Environments with the same owner cannot tell their
 * objects apart: each takes those of the others for its own that are no longer declared, and would delete them.
 * @param unchecked how many more environments there are that were not loaded
 */
export function nameOtherEnvironments(
  guards: readonly Guard[],
  others: readonly OtherEnvironment[],
  unchecked = 0,
): Guard[] {
  return guards.map((one) => {
    if (!isInDoubt(one)) return one;
    const names = others.flatMap(({ name, declares }) => (name !== null && declares?.has(one.address) ? [name] : []));
    return {
      ...one,
      ...(names.length === 0 ? {} : { declaredUnder: names.sort(compareText) }),
      ...(unchecked === 0 ? {} : { uncheckedEnvironments: unchecked }),
    };
  });
}

/** How many are named in one message. */
const MAX_NAMED_ENVIRONMENTS = 5;

/**
 * `keep` is consent to retire what a family no longer keeps, but not what another environment declares, nor what it may declare: whoever brings an
 * error into one environment would else retire its images from another.
 */
export function refuseRetiredElsewhere(changes: readonly Change[], others: readonly OtherEnvironment[]): Diagnostic[] {
  // Once for all changes: there may be thousands of both.
  const sorted = others.toSorted((a, b) => compareText(a.name ?? "", b.name ?? ""));
  const broken = sorted.filter(({ declares }) => declares === null);
  return changes.filter(isRetired).flatMap((change): Diagnostic[] => {
    const { address, span } = change;
    const declaring = sorted.filter(({ declares }) => declares?.has(liveAddressOf(change)));
    const found = declaring.length === 0 ? broken : declaring;
    if (found.length === 0) return [];
    const where = placesOf(found);
    const what =
      declaring.length === 0
        ? {
            summary: `${address} would be retired, and ${where} may declare it: the project has errors there, or is too large to be looked at`,
            fix: `Mend what \`tenon validate${flagOf(found)}\` shows, or leave out what would go with --never-destroy.`,
          }
        : {
            summary: `${address} would be retired, and ${where} ${found.length === 1 ? "declares" : "declare"} it`,
            fix: "Give each environment an owner or a family of its own, for example `family: golden-${var.env}`.",
          };
    return [
      {
        code: "retired-elsewhere",
        severity: "error",
        detail:
          "Environments with the same owner in the same account share their image families: each takes what the others declare for old.",
        ...what,
        address,
        ...(span === null ? {} : { span }),
      },
    ];
  });
}

/** "the environments `a`, `b` and the project without --env" */
function placesOf(found: readonly OtherEnvironment[]): string {
  const names = namesIn(found);
  const listed = listNames(names.slice(0, MAX_NAMED_ENVIRONMENTS));
  return [
    ...(names.length === 0 ? [] : [`the environment${names.length === 1 ? "" : "s"} ${listed}`]),
    ...(names.length < found.length ? ["the project without --env"] : []),
  ].join(" and ");
}

function flagOf(found: readonly OtherEnvironment[]): string {
  const [first] = namesIn(found);
  return first === undefined ? "" : ` --env ${shellWord(first)}`;
}

function namesIn(found: readonly OtherEnvironment[]): string[] {
  return found.flatMap(({ name }) => name ?? []);
}
