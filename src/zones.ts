/** Zones for those outside: verified at real nameservers, written as master files. Loaded when one of the two is wanted. */

import { nameProblem, toAscii } from "./dns/name.ts";
import { givenServers, type Nameserver, systemResolver } from "./dns/nameserver.ts";
import type { Failure, ReadApi } from "./model/api.ts";
import type { Desired } from "./model/desired.ts";
import type { Diagnostic } from "./model/diagnostic.ts";
import type { Plan } from "./model/plan.ts";
import type { Report } from "./model/report.ts";
import type { Address } from "./model/resource.ts";
import type { Verification } from "./model/verification.ts";
import {
  type DeclaredZone,
  declaredZones,
  type ExportedZone,
  type ExportOptions,
  exportZone,
  readZone,
} from "./units/zone/export.ts";
import { changedZones, type ZoneWanted } from "./verify/expectation.ts";
import { type PollProgress, type VerifyClock, verifyZones } from "./verify/verify.ts";

/** Which servers to ask, found before anything else is done. */
export interface Witnesses {
  /** null: each zone's own, as the system's resolver finds them. */
  readonly nameservers: readonly Nameserver[] | null;
  readonly delegation: boolean;
  /** null: those of the zone above. */
  readonly parents: readonly Nameserver[] | null;
}

export type WitnessesResult =
  | { readonly ok: true; readonly witnesses: Witnesses }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface WitnessOptions {
  /** `HOST`, `HOST:PORT`, `[IPV6]:PORT`; empty: each zone's own. */
  readonly nameservers?: readonly string[];
  /** Whether the delegation is to be checked, too. */
  readonly delegation?: boolean;
  /** As `nameservers`; empty: those of the zone above. */
  readonly parents?: readonly string[];
}

export async function findWitnesses(options: WitnessOptions): Promise<WitnessesResult> {
  const resolver = systemResolver();
  const found = await Promise.all(
    [options.nameservers ?? [], options.parents ?? []].map((texts) => givenServers(texts, resolver)),
  );
  const wrong = found.find((servers) => !servers.ok);
  if (wrong !== undefined && !wrong.ok) {
    const summary = "a name server cannot be asked";
    return {
      ok: false,
      diagnostic: { code: "nameserver-invalid", severity: "error", summary, detail: `${wrong.detail}.` },
    };
  }
  const [nameservers = [], parents = []] = found.map((servers) => (servers.ok ? servers.servers : []));
  const orNull = (servers: readonly Nameserver[]): readonly Nameserver[] | null =>
    servers.length === 0 ? null : servers;
  const delegation = options.delegation ?? false;
  return { ok: true, witnesses: { nameservers: orNull(nameservers), delegation, parents: orNull(parents) } };
}

export interface VerifyWatch {
  readonly clock: VerifyClock;
  /** How long to wait for what is not there yet; 0: everything is asked once. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly progress?: (progress: PollProgress) => void;
}

/** Asks for what an apply has changed. */
export async function verifyApplied(
  applied: { readonly desired: Desired; readonly plan: Plan; readonly report: Report },
  witnesses: Witnesses,
  watch: VerifyWatch,
): Promise<Verification> {
  const { desired, plan, report } = applied;
  const zones = new Map<Address, DeclaredZone>(declaredZones(desired).map((zone) => [zone.address, zone]));
  const done = new Set(report.changes.flatMap(({ key, outcome }) => (outcome === "done" ? [key] : [])));
  const changed = changedZones(
    plan.changes.filter(({ unit }) => unit === "zone"),
    done,
    (root, record) => zones.get(root)?.tolerates(record) ?? false,
  );
  return verify(changed.zones, changed.notes, witnesses, watch);
}

/** Asks for everything that is declared. @param zones as `selectZones` gave them */
export async function verifyDeclared(
  zones: readonly DeclaredZone[],
  witnesses: Witnesses,
  watch: VerifyWatch,
): Promise<Verification> {
  const wanted: ZoneWanted[] = [];
  const notes: string[] = [];
  for (const { zone, fields, records, tolerates } of zones) {
    if (fields["status"] === "disabled") notes.push(`${zone} is declared disabled: nothing of it is asked for.`);
    else wanted.push({ zone, records: records ?? [], changed: null, gone: [], tolerates });
  }
  return verify(wanted, notes, witnesses, watch);
}

function verify(
  zones: readonly ZoneWanted[],
  notes: readonly string[],
  { nameservers, delegation, parents }: Witnesses,
  { clock, timeoutSeconds, signal, progress }: VerifyWatch,
): Promise<Verification> {
  return verifyZones({
    zones,
    notes,
    nameservers,
    delegation: { wanted: delegation, parents },
    resolver: systemResolver(),
    clock,
    timeoutMilliseconds: timeoutSeconds * 1000,
    signal,
    ...(progress === undefined ? {} : { progress }),
  });
}

export type NameserversResult =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Names of servers as they go into an export: in lower-case ASCII, without a final dot. */
export function readNameservers(texts: readonly string[]): NameserversResult {
  const names: string[] = [];
  for (const text of texts) {
    const name = zoneNameOf(text);
    if (name === null) {
      const detail = `\`${text}\` is not the name of a host.`;
      const summary = "a name server has no name";
      return { ok: false, diagnostic: { code: "nameserver-invalid", severity: "error", summary, detail } };
    }
    names.push(name);
  }
  return { ok: true, names };
}

export type SelectedZones =
  | { readonly ok: true; readonly zones: readonly DeclaredZone[] }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** The declared zones of these names, in Unicode or punycode; of none: all of them. */
export function selectZones(desired: Desired, names: readonly string[]): SelectedZones {
  const zones = declaredZones(desired);
  if (names.length === 0) return { ok: true, zones };
  const chosen: DeclaredZone[] = [];
  for (const name of names) {
    const ascii = zoneNameOf(name);
    const zone = zones.find((candidate) => candidate.zone === ascii);
    if (zone === undefined) return { ok: false, diagnostic: unknownZone(name, "The project declares no such domain.") };
    if (!chosen.includes(zone)) chosen.push(zone);
  }
  return { ok: true, zones: chosen };
}

export type ZoneExport =
  | { readonly ok: true; readonly exported: ExportedZone }
  | { readonly ok: false; readonly diagnostic: Diagnostic }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** The zone of the account, by list calls and the zone file that the service renders. */
export async function exportLive(
  api: ReadApi,
  name: string,
  options: ExportOptions,
  signal?: AbortSignal,
): Promise<ZoneExport> {
  const zone = zoneNameOf(name);
  if (zone === null) return { ok: false, diagnostic: unknownZone(name, "It is not the name of a domain.") };
  const read = await readZone(api, zone, signal);
  if (!read.ok) return read;
  if (read.source === null) return { ok: false, diagnostic: unknownZone(name, "The account has no such domain.") };
  return exported(read.source, options, read.notes);
}

/** The zone as it is declared. */
export function exportDeclared(desired: Desired, name: string, options: ExportOptions): ZoneExport {
  const selected = selectZones(desired, [name]);
  if (!selected.ok) return selected;
  const [declared] = selected.zones;
  if (declared === undefined) throw new Error("a zone was selected, and is not there");
  if (declared.records === null && declared.fields["type"] !== "slave") {
    const detail = `The records of ${name} are not managed: the manifest does not say what they are.`;
    return {
      ok: false,
      diagnostic: {
        code: "records-not-managed",
        severity: "error",
        summary: "there is nothing to export",
        detail,
        fix: "Export the live zone: leave --from-manifest out.",
      },
    };
  }
  const { zone, fields, records } = declared;
  return exported({ zone, fields, records: records ?? [], rendered: [] }, options, []);
}

function exported(
  source: Parameters<typeof exportZone>[0],
  options: ExportOptions,
  notes: readonly Diagnostic[],
): ZoneExport {
  if (source.fields["type"] === "slave") {
    const detail = `${source.zone} is a copy of its master's zone: its records are not kept by the service.`;
    return {
      ok: false,
      diagnostic: { code: "zone-is-slave", severity: "error", summary: "there is nothing to export", detail },
    };
  }
  const result = exportZone(source, options);
  return { ok: true, exported: { ...result, notes: [...notes, ...result.notes] } };
}

/** Lower-case ASCII without a final dot; null if it is no name. */
function zoneNameOf(text: string): string | null {
  const name = toAscii(text.trim())?.replace(/\.$/, "") ?? "";
  return name === "" || nameProblem(name, false) !== null ? null : name;
}

function unknownZone(name: string, detail: string): Diagnostic {
  return { code: "unknown-domain", severity: "error", summary: `no domain ${name}`, detail };
}
