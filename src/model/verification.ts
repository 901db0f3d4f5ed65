/** What real nameservers answer, held against what was declared or done: the result of `apply --verify` and `zone check --live`. */

/** Over which a nameserver was asked. */
export type AskedOver = "udp" | "tcp";

/**
 * - `there`: the answer is what it must be.
 * - `missing`: none of it is there.
 * - `different`: other values, more of them, fewer, or another TTL; also what must be gone and is still there.
 * - `not-authoritative`: the server answers, but does not hold the zone (a lame delegation), or not yet.
 * - `not-answering`: no answer came, or one that says that the server failed.
 */
export type VerdictState = "there" | "missing" | "different" | "not-authoritative" | "not-answering";

/** One set of records at one server over one transport. */
export interface Verdict {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** As people know it: its name and address. */
  readonly server: string;
  /** Absolute, lower-case ASCII, without a final dot. */
  readonly name: string;
  readonly type: string;
  readonly transport: AskedOver;
  readonly state: VerdictState;
  /** As in a zone file, texts as they are. Empty: nothing of the name and type may be left. Sorted. */
  readonly expected: readonly string[];
  readonly found: readonly string[];
  /** One clause without a full stop; empty if the values say it all. */
  readonly detail: string;
}

/**
 * - `not-delegated`: the parent knows no delegation to the zone.
 * - `servers-differ`: the parent names other servers than the zone does.
 * - `glue-differs`: the parent has another address of a server than the zone.
 * - `glue-missing`: a server's name is in the zone, and the parent has no address of it.
 * - `lame`: a server that the parent names does not answer for the zone.
 * - `unanswered`: it could not be found out.
 */
export type DelegationProblemCode =
  | "not-delegated"
  | "servers-differ"
  | "glue-differs"
  | "glue-missing"
  | "lame"
  | "unanswered";

export interface DelegationProblem {
  readonly zone: string;
  readonly code: DelegationProblemCode;
  /** The server that said so. */
  readonly server: string;
  /** One sentence. */
  readonly detail: string;
}

/** A zone that could not be asked for, or not at one of its servers, and why in one sentence. */
export interface UnaskedZone {
  readonly zone: string;
  readonly detail: string;
}

/** A server that has answered nothing at all over a transport, and the failure of the first question. */
export interface SilentServer {
  readonly server: string;
  readonly transport: AskedOver;
  /** One clause without a full stop. */
  readonly detail: string;
}

export interface Verification {
  /** Sorted by zone; servers as in `Verdict`, sorted. */
  readonly zones: readonly { readonly zone: string; readonly servers: readonly string[] }[];
  /** Sets of records at a server over a transport. */
  readonly asked: number;
  readonly there: number;
  /** Whose problems are one: sorted by server and transport. */
  readonly silent: readonly SilentServer[];
  /** What is not there, sorted by zone, name, type, server and transport. Of very many a part, at least one; a note counts the others. */
  readonly problems: readonly Verdict[];
  readonly delegation: readonly DelegationProblem[];
  /** What could not be asked: of a zone nothing, or some of its servers. Sorted by zone and detail. */
  readonly unasked: readonly UnaskedZone[];
  /** What no nameserver answers: records that a delegation hides, zones that are not served. Full sentences. */
  readonly notes: readonly string[];
  /** Whether something was changed that answers are not compared for; the notes name it. Absent: nothing was. */
  readonly hasUncompared?: boolean;
  /** It ended before everything was there and before its time was over. */
  readonly interrupted: boolean;
}

/** Whether all that was to be found out was found to be as it must be. */
export function isVerified({ problems, delegation, unasked, interrupted }: Verification): boolean {
  return problems.length + delegation.length + unasked.length === 0 && !interrupted;
}
