/** Names that own records: as written in a manifest → relative to the zone, lower-case ASCII. */

import { absoluteName, MAX_NAME_LENGTH, type NameProblem, nameProblem, relativeName, toAscii } from "./name.ts";

/** API.md, Domain record: `name` is 1..100 characters (the apex is empty). */
export const MAX_RECORD_NAME_LENGTH = 100;

/**
 * - `not-ascii`: a label has no punycode form.
 * - `outside`: absolute, but not in the zone.
 * - `repeats-zone`: relative, yet ends in the zone's name, which the service would strip (OBSERVED behaviour).
 * - `over-length`: more than the service keeps.
 */
export type OwnerProblem = NameProblem | "not-ascii" | "outside" | "repeats-zone" | "over-length";

export type Owner =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: OwnerProblem; readonly name: string };

/**
 * `""`, `@`: the apex. `www`: relative. `www.example.com.`: absolute.
 * @param zone lower-case ASCII without a final dot
 */
export function ownerName(text: string, zone: string): Owner {
  if (text === "" || text === "@") return { ok: true, name: "" };
  const ascii = toAscii(text);
  if (ascii === null) return { ok: false, problem: "not-ascii", name: text };
  let name: string | null = ascii;
  if (ascii.endsWith(".")) {
    name = relativeName(ascii.slice(0, -1), zone);
    if (name === null) return { ok: false, problem: "outside", name: ascii };
  }
  if (name === zone || name.endsWith(`.${zone}`)) return { ok: false, problem: "repeats-zone", name };
  if (name.length > MAX_RECORD_NAME_LENGTH) return { ok: false, problem: "over-length", name };
  const problem = nameProblem(name, false) ?? (absoluteName(name, zone).length > MAX_NAME_LENGTH ? "long-name" : null);
  return problem === null ? { ok: true, name } : { ok: false, problem, name };
}

/**
 * - `incomplete`: a protocol without a service, or a service alone below a parent.
 * - `missing`: neither, and the name does not begin with `_service._protocol` and is not `_service`.
 * - `disagree`: the name says another service or protocol.
 * - `bad-label`: service or protocol is not a label of letters, digits, `+`, inner hyphens and underscores.
 */
export type ServiceProblem = "incomplete" | "missing" | "disagree" | "bad-label";

export type ServiceOwner =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: ServiceProblem };

/**
 * The full name of an SRV (RFC 2782): `_sip._tcp.parent`. The service takes one without a protocol, too (OBSERVED: Records): `_sip`,
 * at the apex only, for what follows a service on the wire is its protocol.
 * @param name relative: the parent, or the full name
 * @param service with or without its underscore
 */
export function serviceOwner(name: string, service: string | null, protocol: string | null): ServiceOwner {
  const own = /^_([^._][^.]*)\._([^._][^.]*)(?:\.|$)/.exec(name);
  if (own !== null && (bare(own[1] ?? "") === null || bare(own[2] ?? "") === null))
    return { ok: false, problem: "bad-label" };
  if (protocol === null) return withoutProtocol(name, own, service);
  if (service === null) return { ok: false, problem: "incomplete" };
  const [bareService, bareProtocol] = [bare(service), bare(protocol)];
  if (bareService === null || bareProtocol === null) return { ok: false, problem: "bad-label" };
  const prefix = `_${bareService}._${bareProtocol}`;
  if (own === null) return { ok: true, name: name === "" ? prefix : `${prefix}.${name}` };
  return `_${own[1]}._${own[2]}` === prefix ? { ok: true, name } : { ok: false, problem: "disagree" };
}

/** @param own service and protocol that the name begins with, after the whole match; null: it does not */
function withoutProtocol(name: string, own: readonly string[] | null, service: string | null): ServiceOwner {
  const alone = /^_([^._][^.]*)$/.exec(name)?.[1] ?? null;
  const written = service ?? alone;
  if (own === null && written === null) return { ok: false, problem: "missing" };
  const bareService = bare(written ?? own?.[1] ?? "");
  if (bareService === null) return { ok: false, problem: "bad-label" };
  if (own !== null) {
    return service === null || own[1] === bareService ? { ok: true, name } : { ok: false, problem: "disagree" };
  }
  const full = `_${bareService}`;
  return name === "" || name === full ? { ok: true, name: full } : { ok: false, problem: "incomplete" };
}

/** RFC 1035, 2.3.4: 63 octets in a label, of which the underscore takes one. */
const MAX_SERVICE_LENGTH = 62;

function bare(label: string): string | null {
  const text = label.replace(/^_/, "").toLowerCase();
  return /^[a-z0-9]([a-z0-9_+-]*[a-z0-9])?$/.test(text) && text.length <= MAX_SERVICE_LENGTH ? text : null;
}
