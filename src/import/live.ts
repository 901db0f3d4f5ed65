/** The account → the entries that would declare it, so that a plan of them finds nothing to do. */

import { compileNameGlob } from "../dns/unicode.ts";
import { entryOf } from "../format/write.ts";
import type { Failure, ReadApi } from "../model/api.ts";
import { type Diagnostic, Sources } from "../model/diagnostic.ts";
import type { Address, Json, JsonObject, UnitName } from "../model/resource.ts";
import { compareText, compileGlob, escapeGlob, groupBy, shellWord } from "../model/text.ts";
import type { EntryViolation, LiveIdentity, LoadContext, ReadWatch, Unit } from "../model/unit.ts";
import { type Import, type ImportedDomain, RoundedTtls, someOf, validateImported } from "./collect.ts";

/** Which objects of the account are imported; an empty selection means all. */
export interface Selection {
  /** Globs of names and labels. */
  readonly domains: readonly string[];
  readonly vpcs: readonly string[];
  readonly images: boolean;
  /** These objects alone, in place of the globs. */
  readonly addresses?: ReadonlySet<Address>;
}

export interface LiveRequest {
  readonly api: ReadApi;
  readonly units: readonly Unit[];
  readonly selection: Selection;
  /** Imports the objects that carry this owner's tag; null: those that carry none. */
  readonly owner: string | null;
  readonly allowedSeconds: readonly number[];
  /** The violations of the manifest schema by an entry of a section: the service may hold objects that it would refuse today. */
  readonly violationsOf: (entry: JsonObject, section: string) => readonly EntryViolation[];
  readonly watch: ReadWatch;
  /**
   * What the project declares that the objects are added to: these are not read. Objects without a tag are imported beside those of the
   * owner.
   */
  readonly declared?: ReadonlySet<Address>;
}

type LiveImport =
  | ({ readonly ok: true } & Import)
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** Requests lists only. */
export async function importLive(request: LiveRequest): Promise<LiveImport> {
  const taking = new Taking(request);
  for (const unit of request.units) {
    if (!isSelected(unit.name, request.selection)) continue;
    const wants = (identity: LiveIdentity): boolean =>
      taking.isWanted(unit.name, identity) && taking.mayTake(identity) && !taking.isDeclared(identity);
    const scope = { declared: [], removed: [], owner: null, destroy: false, wants };
    const read = await unit.read(scope, request.api, request.watch);
    if (!read.ok) return read;
    taking.take(unit, read.items);
  }
  return { ok: true, ...taking.result() };
}

function isSelected(unit: UnitName, selection: Selection): boolean {
  const { domains, vpcs, images } = selection;
  if (!isNarrowed(selection) || selection.addresses !== undefined) return true;
  return (
    new Map([
      ["network", vpcs.length > 0],
      ["zone", domains.length > 0],
      ["image", images],
    ]).get(unit) === true
  );
}

function isNarrowed({ domains, vpcs, images, addresses }: Selection): boolean {
  return domains.length > 0 || vpcs.length > 0 || images || addresses !== undefined;
}

export interface Importable {
  readonly address: Address;
  readonly kind: string;
  readonly name: string;
}

/** What `importLive` would import of the whole account, by its names alone. Sorted by address. */
export async function listImportable(
  request: Pick<LiveRequest, "api" | "units" | "owner" | "watch"> & Required<Pick<LiveRequest, "declared">>,
): Promise<{ readonly ok: true; readonly found: readonly Importable[] } | Extract<LiveImport, { ok: false }>> {
  const found = new Map<Address, Importable>();
  for (const unit of request.units) {
    const scope = { declared: [], removed: [], owner: null, destroy: false, wants: () => false };
    const read = await unit.read(scope, request.api, request.watch);
    if (!read.ok) return read;
    for (const live of read.items) {
      const { address, key, owner, unfinished } = unit.identify(live);
      if ((owner !== null && owner !== request.owner) || request.declared.has(address) || unfinished === true) continue;
      found.set(address, { address, kind: unit.kinds[0].words[0], name: key });
    }
  }
  return { ok: true, found: [...found.values()].sort((a, b) => compareText(a.address, b.address)) };
}

interface Found {
  readonly live: unknown;
  readonly identity: LiveIdentity;
}

/** The unit whose objects are imported record by record. */
const ZONE = "zone";

class Taking {
  readonly #request: LiveRequest;
  /** By section; domains are kept in `#domains`. */
  readonly #others: Record<string, JsonObject[]> = {};
  readonly #domains: ImportedDomain[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  /** Owner → addresses of the objects that carry its tag, and were not asked for. */
  readonly #othersOf: Map<string | null, string[]> = new Map();
  /** Of an account with another dialect than was said, or of a state that holds what was asked for. */
  readonly #rounded: RoundedTtls = new RoundedTtls();

  constructor(request: LiveRequest) {
    this.#request = request;
  }

  readonly #already: Address[] = [];

  /** Whether it carries the tag that is asked for. */
  mayTake({ owner }: LiveIdentity): boolean {
    return owner === this.#request.owner || (owner === null && this.#request.declared !== undefined);
  }

  isDeclared({ address }: LiveIdentity): boolean {
    return this.#request.declared?.has(address) === true;
  }

  isWanted(unit: UnitName, { key, address }: LiveIdentity): boolean {
    const { addresses } = this.#request.selection;
    if (addresses !== undefined) return addresses.has(address);
    const globs = this.#globsOf(unit);
    return globs.length === 0 || globs.some((glob) => fitting(unit, glob)(key));
  }

  take(unit: Unit, items: readonly unknown[]): void {
    const found = items.map((live): Found => ({ live, identity: unit.identify(live) }));
    const byKey = groupBy(found, ({ identity }) => identity.key);
    for (const key of [...byKey.keys()].sort(compareText)) {
      const same = (byKey.get(key) ?? []).sort((a, b) => compareIds(a.identity, b.identity));
      const wanted = same.filter(({ identity }) => this.isWanted(unit.name, identity));
      const [known] = wanted.filter(({ identity }) => this.isDeclared(identity));
      if (known !== undefined) this.#already.push(known.identity.address);
      const ours = known === undefined ? wanted.filter(({ identity }) => this.#isOurs(identity)) : [];
      const [first, ...others] = ours;
      if (first !== undefined) this.#takeOne(unit, first, same.length > 1);
      for (const { identity } of others) this.#reportLeftOut(identity, sameLabel(identity, first?.identity));
    }
    this.#warnOfUnmatched(unit, found);
  }

  result(): Import {
    const { owner, selection } = this.#request;
    for (const [other, addresses] of this.#othersOf) this.#report(otherOwner(addresses, other, owner));
    const isAdded = this.#request.declared !== undefined;
    if (owner !== null && isNarrowed(selection) && !isAdded) this.#report(narrowedOwner(owner));
    for (const diagnostic of this.#rounded.diagnostics()) this.#report(diagnostic);
    const imported = { owner: this.#request.owner, domains: this.#domains, others: this.#others };
    return {
      taken: imported,
      diagnostics: this.#diagnostics,
      skipped: [],
      elsewhere: [],
      remarks: [],
      sources: new Sources(),
      already: this.#already,
    };
  }

  #isOurs(identity: LiveIdentity): boolean {
    const { owner } = this.#request;
    if (this.mayTake(identity)) return true;
    if (owner !== null && identity.sharedWith?.includes(owner) === true) {
      this.#report(partOf(identity, owner));
      return false;
    }
    const others = this.#othersOf.get(identity.owner) ?? [];
    others.push(identity.address);
    this.#othersOf.set(identity.owner, others);
    return false;
  }

  #takeOne(unit: Unit, { live, identity }: Found, repeats: boolean): void {
    const declared = unit.declare(live);
    if (declared === null) {
      this.#reportLeftOut(identity, unfinished(identity));
      return;
    }
    if (identity.sharedWith !== undefined) this.#report(sharedWith(identity, identity.sharedWith));
    const entry = entryOf({ ...declared, id: repeats ? identity.id : null }, unit.spec.write(declared.spec));
    if (unit.name === ZONE) {
      this.#takeDomain(unit, entry, identity);
      return;
    }
    const problem = firstProblem(unit, entry, this.#request) ?? this.#violations(unit, entry)[0]?.diagnostic ?? null;
    if (problem !== null) {
      this.#reportLeftOut(identity, undeclarable(identity, problem));
      return;
    }
    const entries = this.#others[unit.spec.section] ?? [];
    entries.push(entry);
    this.#others[unit.spec.section] = entries;
  }

  #takeDomain(unit: Unit, entry: JsonObject, identity: LiveIdentity): void {
    const { records, ...head } = entry;
    const violations = this.#violations(unit, entry);
    const [violation] = violations.filter(({ record }) => record === null);
    if (violation !== undefined) {
      this.#reportLeftOut(identity, undeclarable(identity, violation.diagnostic));
      return;
    }
    const all = (records as readonly JsonObject[] | undefined) ?? null;
    const violating = new Map(violations.toReversed().map(({ record, diagnostic }) => [record ?? 0, diagnostic]));
    const list = all?.filter((_, index) => !violating.has(index)) ?? null;
    const validated = validateImported(head, list, unit, this.#request.allowedSeconds);
    const [problem] = validated.problems;
    if (validated.domain === null) {
      if (problem !== undefined) this.#reportLeftOut(identity, undeclarable(identity, problem));
      return;
    }
    this.#rounded.add(identity.key, validated.rounded);
    const refused = [
      ...[...violating].map(([index, diagnostic]) => ({ record: all?.[index] ?? {}, diagnostic })),
      ...[...validated.refused].map(([index, diagnostic]) => ({ record: list?.[index] ?? {}, diagnostic })),
    ];
    const ignored: JsonObject[] = [];
    for (const { record, diagnostic } of refused) {
      this.#report(refusedRecord(identity, record, diagnostic));
      if (diagnostic.code !== "duplicate-record") ignored.push(patternOf(record));
    }
    const more = ignored.length === 0 ? {} : { ignore: ignored };
    this.#domains.push({ ...validated.domain, entry: { ...validated.domain.entry, ...more } });
  }

  #violations(unit: Unit, entry: JsonObject): readonly EntryViolation[] {
    return this.#request.violationsOf(entry, unit.spec.section);
  }

  /** The globs that select a unit's objects; empty: all of them, or those that a flag without names selects. */
  #globsOf(unit: UnitName): readonly string[] {
    const { domains, vpcs } = this.#request.selection;
    if (unit === ZONE) return domains;
    return unit === "network" ? vpcs : [];
  }

  #warnOfUnmatched({ name, kinds }: Unit, found: readonly Found[]): void {
    for (const glob of this.#globsOf(name)) {
      const fits = fitting(name, glob);
      if (!found.some(({ identity }) => fits(identity.key))) this.#report(unmatched(kinds[0].words[0], glob));
    }
  }

  #report(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
  }

  /** Warns of an object that will not be declared. If it carries the owner's tag, the warning says that a plan deletes it. */
  #reportLeftOut({ owner }: LiveIdentity, diagnostic: Diagnostic): void {
    const more = owner === null ? "" : ` It carries the tag of ${owner} and is not declared, so a plan deletes it.`;
    this.#report({ ...diagnostic, detail: `${diagnostic.detail}${more}` });
  }
}

/** A domain is named in Unicode or punycode. */
function fitting(unit: UnitName, glob: string): (key: string) => boolean {
  return unit === ZONE ? compileNameGlob(glob) : compileGlob(glob);
}

function firstProblem(unit: Unit, entry: JsonObject, request: LiveRequest): Diagnostic | null {
  let first: Diagnostic | null = null;
  const context: LoadContext = {
    owner: request.owner,
    allowedSeconds: request.allowedSeconds,
    span: () => ({ file: "", start: 0, end: 0 }),
    report: (diagnostic) => {
      if (diagnostic.severity === "error") first ??= diagnostic;
    },
  };
  unit.spec.load(entry, context);
  return first;
}

/** A pattern for `ignore` that fits this record, and as few others as a pattern can. */
function patternOf({ name, type, target }: JsonObject): JsonObject {
  return {
    name: name === undefined ? "@" : escapeGlob(String(name)),
    type: String(type),
    ...(target === undefined || target === "" ? {} : { target: escapeGlob(String(target)) }),
  };
}

function compareIds({ id: a }: LiveIdentity, { id: b }: LiveIdentity): number {
  return typeof a === "number" && typeof b === "number" ? a - b : compareText(String(a), String(b));
}

function warning(code: string, summary: string, detail: string, fix: string): Diagnostic {
  return { code, severity: "warning", summary, detail, fix };
}

/** @param addresses of at least one object */
function otherOwner(addresses: readonly string[], owner: string | null, asked: string | null): Diagnostic {
  const isOne = addresses.length === 1;
  const what =
    owner === null
      ? `${isOne ? "it has" : "they have"} no owner`
      : `${isOne ? "it belongs" : "they belong"} to ${owner}`;
  const summary = `${isOne ? addresses[0] : `${addresses.length} objects`} ${isOne ? "is" : "are"} left out: ${what}`;
  const why = asked === null ? "Without --owner only what has no owner is taken." : `--owner ${asked} was asked for.`;
  const detail = isOne ? why : `${someOf(addresses)}. ${why}`;
  const fix =
    owner === null
      ? "To take what has no owner, leave out --owner."
      : `To take what belongs to ${owner}, give --owner ${shellWord(owner)}.`;
  return warning("other-owner", summary, detail, fix);
}

/** The tag names the owner only: which names it is about stands in the manifests of the two. */
function sharedWith({ address }: LiveIdentity, owners: readonly string[]): Diagnostic {
  return warning(
    "shared-zone",
    `${address} is shared with ${owners.join(", ")}, and its import holds their records, too`,
    "Which names they manage is not said in the account. As imported, the project would end the sharing and take their records for its own.",
    "Add `shared_with` with the names that are theirs, and remove the records of these names.",
  );
}

function partOf({ address }: LiveIdentity, owner: string): Diagnostic {
  return warning(
    "shared-zone",
    `${address} is left out: only a part of it is ${owner}'s`,
    "Which names that are is not said in the account.",
    "Declare it with `part: { names: […] }`, and the records of these names.",
  );
}

function narrowedOwner(owner: string): Diagnostic {
  const detail = `What else carries the tag of ${owner} is not declared in it, so a plan of it prunes that.`;
  const fix = `Import all of ${owner}, or remove \`owner\` from the root file.`;
  return warning("narrowed-owner", `the project is of ${owner}, but holds a part of what is ${owner}'s`, detail, fix);
}

function sameLabel({ address, id }: LiveIdentity, first: LiveIdentity | undefined): Diagnostic {
  const detail = `Of one label one object can be declared, and ${String(first?.id)} is.`;
  return warning(
    "repeated-label",
    `${address} (${id}) is left out`,
    detail,
    "Rename one of the two, and import again.",
  );
}

function unfinished({ address, id }: LiveIdentity): Diagnostic {
  const detail = `${String(id)} still waits for its data, so there is nothing to keep.`;
  return warning(
    "unfinished-image",
    `${address} is left out: it was never finished`,
    detail,
    "Finish it, or delete it.",
  );
}

function undeclarable({ address }: LiveIdentity, { summary, detail }: Diagnostic): Diagnostic {
  return warning("cannot-declare", `${address} is left out: ${summary}`, detail, "Change it in the account first.");
}

function refusedRecord({ address }: LiveIdentity, record: JsonObject, problem: Diagnostic): Diagnostic {
  const name = String(record["name"] ?? "@");
  const what = `${address}: ${String(record["type"])} ${name}`;
  if (problem.code === "duplicate-record") {
    const detail = "One record is there more than once, and can be declared once. A plan removes the others.";
    return warning(
      "live-duplicate",
      `${what} is there more than once`,
      detail,
      "Look at the plan before you apply it.",
    );
  }
  const detail = `${problem.detail} It stands under \`ignore\`, so that nothing touches it.`;
  return warning(
    "cannot-declare",
    `${what} is left out: ${problem.summary}`,
    detail,
    "Change it in the account first.",
  );
}

function unmatched(what: string, glob: string): Diagnostic {
  return warning(
    "no-match",
    `no ${what} fits ${glob}`,
    `The account has no ${what} of this name.`,
    "Check the spelling.",
  );
}

// Values that repeat throughout a file → its `defaults`.

/** A default must save more than the line it takes. */
const MIN_SAVED = 2;

interface WithDefaults {
  /** Empty if nothing repeats. */
  readonly defaults: JsonObject;
  readonly domains: readonly JsonObject[];
  /** Rewrites a record of a record set or of a domain without the values that the defaults hold. */
  record(record: JsonObject): JsonObject;
}

/** Fields that may move to the defaults. A value that only one domain of a file has stays beside its name. */
const SHARED_FIELDS = [
  ...["type", "soa_email", "group", "master_ips", "axfr_ips", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec"],
  "tags",
] as const;

/**
 * @param domains entries without their records
 * @param records all records of the file
 */
export function withDefaults(domains: readonly JsonObject[], records: readonly JsonObject[]): WithDefaults {
  const shared = Object.fromEntries(
    SHARED_FIELDS.flatMap((field) => {
      const value = sharedValue(domains.map((domain) => domain[field]));
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
  const ttl = sharedTtl(records);
  const defaults = {
    ...(Object.keys(shared).length === 0 ? {} : { domain: shared }),
    ...(ttl === null ? {} : { record: { ttl_sec: ttl } }),
  };
  return {
    defaults,
    domains: domains.map((domain) => without(domain, shared)),
    record: (record) => (ttl === null ? record : withTtl(record, ttl)),
  };
}

/** A default holds for every domain of the file, so all must state the field: a domain without the field would be given it. */
function sharedValue(values: readonly (Json | undefined)[]): Json | undefined {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (value === undefined) return undefined;
    const key = JSON.stringify(value);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return best === undefined || best[1] < MIN_SAVED ? undefined : (JSON.parse(best[0]) as Json);
}

/**
 * With a default TTL, records without a TTL of their own must state `ttl_sec: 0`. Their number is subtracted from the lines that the
 * default saves.
 */
function sharedTtl(records: readonly JsonObject[]): number | null {
  const counts = new Map<number, number>();
  for (const record of records) {
    const ttl = Number(record["ttl_sec"] ?? 0);
    counts.set(ttl, (counts.get(ttl) ?? 0) + 1);
  }
  const unstated = counts.get(0) ?? 0;
  counts.delete(0);
  const [best] = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  return best === undefined || best[1] - unstated < MIN_SAVED ? null : best[0];
}

function without(domain: JsonObject, shared: JsonObject): JsonObject {
  const differs = ([field, value]: [string, Json]): boolean => JSON.stringify(shared[field]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(domain).filter(differs));
}

function withTtl(record: JsonObject, ttl: number): JsonObject {
  const { ttl_sec = 0, ...rest } = record;
  return ttl_sec === ttl ? rest : { ...rest, ttl_sec };
}
