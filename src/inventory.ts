/** The account's objects and whose they are: declared in the project, tagged with an owner, or nobody's. */

import { asciiAddress, compileNameGlob } from "./dns/unicode.ts";
import type { Failure, ReadApi } from "./model/api.ts";
import type { Desired } from "./model/desired.ts";
import type { InventoryItem } from "./model/inventory.ts";
import { Kinds } from "./model/kind.ts";
import { type Address, type Kind, nameInAddress, type ObjectId } from "./model/resource.ts";
import { compareIds, compareText, compileGlob, escapeGlob } from "./model/text.ts";
import type { LiveIdentity, Match, ReadWatch, Unit } from "./model/unit.ts";
import { compareUnit, type PlanOptions } from "./plan/plan.ts";
import { annotationsOf, rootAddresses } from "./units/common.ts";
import { units } from "./units/index.ts";

export interface InventoryRequest {
  readonly api: ReadApi;
  /** null: there is no project, so that nothing is known to be declared. */
  readonly desired: Desired | null;
  /** Their objects are listed. */
  readonly kinds: readonly Kind[];
  readonly filter?: InventoryFilter;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
  readonly watch?: ReadWatch;
}

/** Globs; an absent one fits everything. */
export interface InventoryFilter {
  /** Of the object's own name, as `InventoryItem.name` has it. */
  readonly name?: string;
  /** Of `whose`, or of the owner's name alone. */
  readonly whose?: string;
  /** Of the label or domain of the VPC or zone that the object is, or is in. Only what fits is read. */
  readonly root?: string;
  /** Of `values.type`, whatever its case. */
  readonly type?: string;
}

export type InventoryResult =
  | {
      readonly ok: true;
      /** By kind in the order of the units, then by address and id. */
      readonly items: readonly InventoryItem[];
      /** Of the kinds: what is declared and not in the account. Sorted, each once. */
      readonly missing: readonly Address[];
      /** Names of all VPCs, zones and images that were read, whatever the filter. Sorted, each once. */
      readonly roots: readonly string[];
      /** Whether any of them fits `filter.root`. */
      readonly hasRoot: boolean;
    }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

export const DECLARED_HERE = "here";
export const NOBODY = "nobody";

/** Reads with list calls only: a list of each unit that has one of the kinds, and for records one of each zone that fits `filter.root`. */
export async function takeInventory(request: InventoryRequest): Promise<InventoryResult> {
  const { kinds, filter = {} } = request;
  const wanted = units.filter((unit) => unit.kinds.some(({ kind }) => kinds.includes(kind)));
  const found = await Promise.all(wanted.map((unit) => readUnit(unit, request)));
  const failed = found.find((one) => !one.ok);
  if (failed?.ok === false) return failed;
  const read = found.filter((one) => one.ok);
  const fits = compileFilter(filter);
  const order = new Kinds(units).all.map(({ kind }) => kind);
  const items = read.flatMap((one) => one.items).filter((item) => kinds.includes(item.kind) && fits(item));
  return {
    ok: true,
    items: items.sort(
      (a, b) =>
        order.indexOf(a.kind) - order.indexOf(b.kind) || compareText(a.address, b.address) || compareIds(a.id, b.id),
    ),
    missing: [...new Set(read.flatMap((one) => one.missing))].sort(compareText),
    roots: [...new Set(read.flatMap((one) => one.roots))].sort(compareText),
    hasRoot: read.some((one) => one.hasRoot),
  };
}

const NO_PROJECT: Desired = { owner: null, account: null, declared: [], removed: [], allow: [], lintOff: [] };

/** Of everything, without consents. */
const PLAIN_PLAN: Omit<PlanOptions, "nowMilliseconds" | "account"> = {
  ...{ goal: "apply", targets: [], excludes: [], consents: [], maxChanges: null },
  ...{ takeOwnershipFrom: [], clone: true },
};

async function readUnit(
  unit: Unit,
  { api, desired, kinds, filter = {}, nowMilliseconds, watch = {} }: InventoryRequest,
): Promise<InventoryResult> {
  const [root] = unit.kinds;
  const isOfRoot = compileRoot(unit, filter.root);
  const needsContents = unit.kinds.some(({ kind }) => kind !== root.kind && kinds.includes(kind));
  const wants = ({ key }: LiveIdentity): boolean => needsContents && isOfRoot(key);
  const scope = { declared: [], removed: [], owner: null, destroy: false, wants };
  const result = await unit.read(scope, api, watch);
  if (!result.ok) return result;
  const project = desired ?? NO_PROJECT;
  const options = { ...PLAIN_PLAN, nowMilliseconds, account: project.account };
  const { matched, paired } = compareUnit(unit, project, result, options);
  const addresses = addressesOf(unit, result.items, matched.matches);
  const declaredAt = new Map<string, Address>();
  // Of a record whose entry has expired, too.
  const said = new Map<string, Pick<InventoryItem, "annotations">>();
  const missing: Address[] = [];
  for (const { resource } of paired.pairs) {
    const { kind, id, after, address, labels, part } = resource;
    if (id !== null) said.set(keyOf(kind, id), annotationsOf(resource));
    if (after === null || part === true || labels.includes("release")) continue;
    if (id !== null) declaredAt.set(keyOf(kind, id), address);
    else if (kinds.includes(kind) && isOfRoot(nameInAddress(resource.root, root.kind) ?? "")) missing.push(address);
  }
  const items = result.items.flatMap((live): InventoryItem[] => {
    const identity = unit.identify(live);
    if (!isOfRoot(identity.key)) return [];
    const own = addresses.get(live) ?? identity.address;
    return unit.list(live).map((resource) => {
      const known = declaredAt.get(keyOf(resource.kind, resource.id));
      const address = known ?? own + resource.address.slice(identity.address.length);
      const { kind, id, name, values } = resource;
      const what = { kind, address, root: own, id, name, values, ...said.get(keyOf(kind, id)) };
      return { ...what, ...whoseOf(identity, known !== undefined, desired) };
    });
  });
  const roots = result.items.map((live) => unit.identify(live).key);
  return { ok: true, items, missing, roots, hasRoot: roots.some(isOfRoot) };
}

function whoseOf(
  { owner }: LiveIdentity,
  isDeclared: boolean,
  desired: Desired | null,
): Pick<InventoryItem, "declared" | "owner" | "whose"> {
  const whose = isDeclared ? DECLARED_HERE : owner === null ? NOBODY : `owner ${owner}`;
  return { declared: desired === null ? null : isDeclared, owner, whose };
}

/** As a plan names them, where one names them: what no entry means gets its id where its label repeats. */
function addressesOf(unit: Unit, items: readonly unknown[], matches: readonly Match[]): ReadonlyMap<unknown, Address> {
  const meant = matches.filter(({ live }) => live !== null);
  const others = new Set(items);
  for (const { live } of meant) others.delete(live);
  const rest = [...others].map(
    (live): Match => ({ intent: "delete", declared: null, removed: null, live, label: null, former: null }),
  );
  // An entry whose object is not known keeps the address of its label.
  const unclear = matches.filter(({ live }) => live === null);
  const named = rootAddresses([...meant, ...unclear, ...rest], (live) => unit.identify(live));
  return new Map([...named].map(([match, address]) => [match.live, address]));
}

function keyOf(kind: Kind, id: ObjectId): string {
  return `${kind} ${id}`;
}

function compileRoot(unit: Unit, glob: string | undefined): (key: string) => boolean {
  if (glob === undefined) return () => true;
  return compileName(unit.kinds[0].kind, glob);
}

/** Names of domains are compared as DNS compares them, in Unicode and in punycode. */
function compileName(kind: Kind, glob: string): (name: string) => boolean {
  return kind === "domain" || kind === "domain_record" ? compileNameGlob(glob) : compileGlob(glob);
}

function compileFilter({ name, whose, type }: InventoryFilter): (item: InventoryItem) => boolean {
  const ofKind = new Map<Kind, (name: string) => boolean>();
  const fitsName = (item: InventoryItem): boolean => {
    if (name === undefined) return true;
    const fits = ofKind.get(item.kind) ?? compileName(item.kind, name);
    ofKind.set(item.kind, fits);
    return fits(item.name);
  };
  const fitsWhose = whose === undefined ? () => true : compileGlob(whose);
  const fitsType = type === undefined ? () => true : compileGlob(type.toUpperCase());
  return (item) =>
    fitsName(item) &&
    (fitsWhose(item.whose) || (item.owner !== null && fitsWhose(item.owner))) &&
    fitsType(String(item.values["type"] ?? "").toUpperCase());
}

// One address, and what other tools want to know of it.

export interface ParsedAddress {
  readonly address: Address;
  readonly kind: Kind;
  /** Of the network, zone or image that it names, or what it names is in. */
  readonly root: Address;
  readonly rootKind: Kind;
  /** That of the root: a label, or a domain. */
  readonly rootName: string;
}

const KINDS: Kinds = new Kinds(units);

/**
 * @param written a domain's name in Unicode or punycode
 * @returns null if no resource could have such an address: it is a path, or has a kind that there is not
 */
export function parseAddress(written: string): ParsedAddress | null {
  const address = asciiAddress(written);
  const [kind, rootKind] = [KINDS.at(address)?.kind, KINDS.rootAt(address)?.kind];
  if (kind === undefined || rootKind === undefined) return null;
  const root = address.split("/", 2).join("/");
  const rootName = nameInAddress(root, rootKind);
  return rootName === null || rootName === "" ? null : { address, kind, root, rootKind, rootName };
}

/** Of a unit whose objects are renamed, any of them may be the one that has the address. */
export function filterFor({ rootKind, rootName }: ParsedAddress): InventoryFilter {
  const unit = units.find(({ kinds: [root] }) => root.kind === rootKind);
  return unit?.canBeRenamed === false ? { root: escapeGlob(rootName) } : {};
}

export interface OutputsRequest extends Pick<InventoryRequest, "api" | "nowMilliseconds" | "watch"> {
  readonly desired: Desired;
  /** null: all that is declared, but for records, which nobody refers to by id. */
  readonly address: ParsedAddress | null;
}

/** What is declared and there, with its ids: of the units that the project declares anything of, a list each. */
export function takeOutputs({ desired, address, ...request }: OutputsRequest): Promise<InventoryResult> {
  if (address !== null) {
    const filter = filterFor(address);
    return takeInventory({ ...request, desired, kinds: [address.kind], filter }).then(onlyDeclared);
  }
  const used = units.filter(({ name }) => desired.declared.some(({ unit }) => unit === name));
  const kinds = used.flatMap((unit) => unit.kinds.filter(({ identifiedByValues }) => identifiedByValues !== true));
  return takeInventory({ ...request, desired, kinds: kinds.map(({ kind }) => kind) }).then(onlyDeclared);
}

function onlyDeclared(result: InventoryResult): InventoryResult {
  return result.ok ? { ...result, items: result.items.filter(({ declared }) => declared === true) } : result;
}

/** Of all that is declared, subnets and records included. Sorted, each once. */
export function declaredAddresses(desired: Desired): Address[] {
  const pairs = units.flatMap((unit) => {
    const options = { ...PLAIN_PLAN, nowMilliseconds: 0, account: desired.account };
    return compareUnit(unit, desired, { items: [], total: 0 }, options).paired.pairs;
  });
  return [...new Set(pairs.map(({ resource }) => resource.address))].sort(compareText);
}
