/** Verify (`tenon/verify`): what real nameservers answer, held against what is declared or was applied. */

import { givenServers, type Nameserver, systemResolver } from "../dns/nameserver.ts";
import type { Clock } from "../model/clock.ts";
import type { Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import type { Report } from "../model/report.ts";
import type { Address } from "../model/resource.ts";
import type { Verification } from "../model/verification.ts";
import { type DeclaredZone, declaredZones } from "../units/zone/export.ts";
import { changedZones, type ExpectedZone } from "./expectation.ts";
import type { PollProgress } from "./poll.ts";
import { Tolerance } from "./tolerance.ts";
import { verifyZones } from "./verify.ts";

export type { Nameserver, NameserverAddress } from "../dns/nameserver.ts";
export type { DnsRecord, RecordType } from "../dns/record.ts";
export type {
  AskedOver,
  DelegationProblem,
  DelegationProblemCode,
  SilentServer,
  UnaskedZone,
  Verdict,
  VerdictState,
} from "../model/verification.ts";
export { isVerified, type Verification } from "../model/verification.ts";
export { type DeclaredZone, type SelectedZones, selectZones } from "../units/zone/export.ts";
export type { PollProgress } from "./poll.ts";

/** Which servers to ask, found before anything else is done. */
export interface VerificationServers {
  /** null: each zone's own, as the system's resolver finds them. */
  readonly nameservers: readonly Nameserver[] | null;
  readonly delegation: boolean;
  /** null: those of the zone above. */
  readonly parents: readonly Nameserver[] | null;
}

export type VerificationServersResult =
  | { readonly ok: true; readonly servers: VerificationServers }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface VerificationServerOptions {
  /** `HOST`, `HOST:PORT`, `[IPV6]:PORT`; empty: each zone's own. */
  readonly nameservers?: readonly string[];
  /** Whether the delegation is to be checked, too. */
  readonly delegation?: boolean;
  /** As `nameservers`; empty: those of the zone above. */
  readonly parents?: readonly string[];
}

export async function findVerificationServers(options: VerificationServerOptions): Promise<VerificationServersResult> {
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
  return { ok: true, servers: { nameservers: orNull(nameservers), delegation, parents: orNull(parents) } };
}

export interface VerifyWatch {
  readonly clock: Clock;
  /** How long to wait for what is not there yet; 0: everything is asked once. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly progress?: (progress: PollProgress) => void;
}

/** Asks for what an apply has changed. */
export async function verifyApplied(
  applied: { readonly desired: Desired; readonly plan: Plan; readonly report: Report },
  servers: VerificationServers,
  watch: VerifyWatch,
): Promise<Verification> {
  const { desired, plan, report } = applied;
  const zones = new Map<Address, DeclaredZone>(declaredZones(desired).map((zone) => [zone.address, zone]));
  const done = new Set(report.changes.flatMap(({ key, outcome }) => (outcome === "done" ? [key] : [])));
  const tolerance = new Tolerance();
  const changed = changedZones(
    plan.changes.filter(({ unit }) => unit === "zone"),
    done,
    (root, record) => {
      const zone = zones.get(root);
      return zone !== undefined && tolerance.tolerates(zone, record);
    },
  );
  const verification = await verify(changed.zones, changed.notes, tolerance, servers, watch);
  return changed.hasUncompared ? { ...verification, hasUncompared: true } : verification;
}

/** Asks for everything that is declared. @param zones as `selectZones` gave them */
export async function verifyDeclared(
  zones: readonly DeclaredZone[],
  servers: VerificationServers,
  watch: VerifyWatch,
): Promise<Verification> {
  const expected: ExpectedZone[] = [];
  const notes: string[] = [];
  const tolerance = new Tolerance();
  for (const declared of zones) {
    const { zone, fields, records, isPart } = declared;
    const tolerates: ExpectedZone["tolerates"] = (record) => tolerance.tolerates(declared, record);
    if (fields["status"] === "disabled") notes.push(`${zone} is declared disabled: nothing of it is asked for.`);
    else expected.push({ zone, isPart, records: records ?? [], changed: null, gone: [], tolerates });
  }
  return verify(expected, notes, tolerance, servers, watch);
}

async function verify(
  zones: readonly ExpectedZone[],
  notes: readonly string[],
  tolerance: Tolerance,
  { nameservers, delegation, parents }: VerificationServers,
  { clock, timeoutSeconds, signal, progress }: VerifyWatch,
): Promise<Verification> {
  const verification = await verifyZones({
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
  return { ...verification, notes: [...verification.notes, ...tolerance.notes()] };
}
