/** DNS names as text: relative and absolute forms, and what RFC 1035 lets through. */

import { MAX_LABEL_LENGTH, MAX_NAME_LENGTH, toAscii } from "./unicode.ts";

/** Why a name is not one, or null. Names are relative or without their final dot; `""` is the apex. */
export type NameProblem = "empty-label" | "long-label" | "long-name" | "bad-character" | "bad-hyphen" | "bad-wildcard";

/**
 * RFC 1035, 2.3.1, as loosened by practice: letters, digits, hyphens, underscores (RFC 8552), `/` and `+`
 * as found in reverse delegations (RFC 2317) and service labels; a wildcard only as the whole first label.
 * @param strict hosts and zones: no underscore, no wildcard, no hyphen at either end of a label
 */
export function nameProblem(name: string, strict: boolean): NameProblem | null {
  if (name === "") return null;
  if (name.length > MAX_NAME_LENGTH) return "long-name";
  const labels = name.split(".");
  for (const [index, label] of labels.entries()) {
    const problem = labelProblem(label, index === 0, strict);
    if (problem !== null) return problem;
  }
  return null;
}

function labelProblem(label: string, first: boolean, strict: boolean): NameProblem | null {
  if (label === "") return "empty-label";
  if (label.length > MAX_LABEL_LENGTH) return "long-label";
  if (label.includes("*")) return !strict && first && label === "*" ? null : "bad-wildcard";
  if (strict ? /[^a-z0-9-]/i.test(label) : /[^a-z0-9_+/-]/i.test(label)) return "bad-character";
  if (strict && (label.startsWith("-") || label.endsWith("-"))) return "bad-hyphen";
  return null;
}

/** `www` in zone `example.com` is `www.example.com`; the apex is the zone itself. Both without a final dot. */
export function absoluteName(relative: string, zone: string): string {
  return relative === "" ? zone : `${relative}.${zone}`;
}

/** The name without its first label: `""` above a single label. */
export function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

/** The name itself, or one below it. Both absolute, or both relative to one zone. */
export function isAtOrBelow(name: string, above: string): boolean {
  return name === above || name.endsWith(`.${above}`);
}

/**
 * The name relative to the zone, `""` for the apex, or null if it lies outside. Both lower-case, without a final dot; a dot within a label is
 * `\.` (RFC 1035, 5.1), so that `www\.example.com` is a name of `com`.
 */
export function relativeName(absolute: string, zone: string): string | null {
  if (absolute === zone) return "";
  if (!absolute.endsWith(`.${zone}`)) return null;
  const relative = absolute.slice(0, -zone.length - 1);
  let backslashes = 0;
  while (relative[relative.length - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 0 ? relative : null;
}

// Names that own records: as written in a manifest → relative to the zone, lower-case ASCII.

/** API.md, Domain record: `name` is 1..100 characters (the apex is empty). */
export const MAX_RECORD_NAME_LENGTH = 100;

/**
 * - `not-ascii`: a label has no punycode form.
 * - `outside`: absolute, but not in the zone.
 * - `repeats-zone`: relative, yet ends in the zone's name, which the service would strip (OBSERVED behaviour).
 * - `over-length`: more than the service keeps.
 */
export type OwnerProblem = NameProblem | "not-ascii" | "outside" | "repeats-zone" | "over-length";

type Owner =
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

type ServiceOwner =
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

// Targets that are names: as written in a manifest → absolute, lower-case ASCII, without a final dot.

type TargetProblem = NameProblem | "not-ascii" | "empty" | "ambiguous" | "root";

export type TargetName =
  | { readonly ok: true; readonly name: string }
  | {
      readonly ok: false;
      readonly problem: TargetProblem;
      /** For `ambiguous`: what it may mean, with final dots. */
      readonly readings: readonly string[];
    };

/**
 * DNSControl's rule: `mx` is relative, `mx.example.net.` absolute, `@` the zone; `mx.example.net` could be either.
 * @param zone lower-case ASCII without a final dot
 * @param allowRoot `.` means "there is none" (null MX, RFC 7505; SRV, RFC 2782) and becomes `""`
 */
export function targetName(text: string, zone: string, allowRoot: boolean): TargetName {
  if (text === "") return bad("empty");
  if (text === ".") return allowRoot ? { ok: true, name: "" } : bad("root");
  if (text === "@") return { ok: true, name: zone };
  const ascii = toAscii(text);
  if (ascii === null) return bad("not-ascii");
  if (!ascii.endsWith(".") && ascii.includes(".")) return bad("ambiguous", [`${ascii}.`, `${ascii}.${zone}.`]);
  const name = ascii.endsWith(".") ? ascii.slice(0, -1) : `${ascii}.${zone}`;
  const problem = name === "" ? "empty-label" : nameProblem(name, false);
  if (problem !== null) return bad(problem);
  return name.startsWith("*.") || name === "*" ? bad("bad-wildcard") : { ok: true, name };
}

function bad(problem: TargetProblem, readings: readonly string[] = []): TargetName {
  return { ok: false, problem, readings };
}
