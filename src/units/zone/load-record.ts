/** One record entry of a manifest → its records, one for each target. */

import { canonicalIp, canonicalIpv4, canonicalIpv6 } from "../../dns/ip.ts";
import {
  absoluteName,
  MAX_RECORD_NAME_LENGTH,
  type NameProblem,
  type OwnerProblem,
  ownerName,
  type ServiceProblem,
  serviceOwner,
  type TargetName,
  targetName,
} from "../../dns/name.ts";
import {
  CONTROL_CHARACTER,
  RECORD_TYPES,
  type RecordType,
  rulesOf,
  type SourceRecord,
  type ValueField,
  WRITTEN_CAA,
} from "../../dns/record.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import { loadAnnotations } from "../common.ts";
import type { RecordEntry } from "./schema.ts";
import { loadSeconds, roundedSeconds } from "./seconds.ts";
import type { RecordSpec, ZoneContext } from "./spec.ts";

/** One list for all records: a list for each would be a tenth of what a record takes. */
const NO_CODES: readonly string[] = [];

/** @returns none if the record has no identity; everything found is reported either way */
export function loadRecord(entry: RecordEntry, context: ZoneContext): RecordSpec[] {
  const { type, note = null, lint } = entry;
  if (type === undefined) return [];
  checkFields(entry, type, context);
  const name = loadName(entry, type, context);
  const ttl_sec = loadSeconds(entry, "ttl_sec", context);
  const values = Object.fromEntries(
    rulesOf(type).values.map((field) => [field, entry[field] ?? (field === "tag" ? "" : 0)]),
  );
  const own = { note, ...loadAnnotations(entry, context), lintOff: lint?.off ?? NO_CODES };
  const records: RecordSpec[] = [];
  for (const { text, container, key } of targetsOf(entry, context)) {
    const target = loadTarget(text, type, context, () => context.span(container, key));
    const span = container === entry ? context.span(entry) : context.span(container, key);
    if (target !== null && name !== null) records.push({ type, name, target, ttl_sec, ...values, span, ...own });
  }
  return records;
}

/**
 * A record of a zone file. It was checked when it was read, but for its TTL: what is wrong with that is reported at the first record that
 * has it, so that it is reported once for the file.
 */
export function loadFileRecord(
  record: SourceRecord,
  firstWithTtl: Map<number, Span>,
  context: ZoneContext,
): RecordSpec {
  const at = firstWithTtl.get(record.ttl_sec) ?? record.span;
  firstWithTtl.set(record.ttl_sec, at);
  const own = { note: null, lintOff: NO_CODES };
  if (record.ttl_sec !== 0)
    return { ...record, ttl_sec: roundedSeconds(record.ttl_sec, "ttl_sec", () => at, context), ...own };
  // The service reads 0 as the zone's default, and has no value that means no time at all.
  const least = context.allowedSeconds[0] ?? 1;
  if (at === record.span) context.report(noTime(least, at));
  return { ...record, ttl_sec: least, ...own };
}

function noTime(least: number, span: Span): Diagnostic {
  return {
    code: "rounded-seconds",
    severity: "warning",
    summary: `the TTL 0 is rounded to ${least}`,
    detail: `To the service 0 is the zone's default; the nearest value it keeps is ${least}.`,
    fix: `Write ${least}.`,
    span,
  };
}

/** Fields that only some types have: the service stores them on others, too, where they mean nothing. */
const ONLY_FOR: readonly { readonly key: string; readonly types: readonly RecordType[] }[] = [
  ...(["priority", "weight", "port"] as const).map((key) => ({ key, types: typesWith(key) })),
  { key: "service", types: ["SRV"] },
  { key: "protocol", types: ["SRV"] },
  { key: "tag", types: typesWith("tag") },
];

function typesWith(field: ValueField): readonly RecordType[] {
  return RECORD_TYPES.filter((type) => rulesOf(type).values.includes(field));
}

function checkFields(entry: RecordEntry, type: RecordType, context: ZoneContext): void {
  for (const { key, types } of ONLY_FOR) {
    if (!Object.hasOwn(entry, key) || types.includes(type)) continue;
    const detail = `\`${key}\` belongs to ${types.join(" and ")} records; this is of type ${type}.`;
    context.error({
      code: "wrong-field",
      summary: `\`${key}\` has no meaning here`,
      detail,
      fix: "Remove it.",
      span: context.span(entry, key),
    });
  }
  const missing = (rulesOf(type).required ?? []).filter((key) => !Object.hasOwn(entry, key));
  if (missing.length === 0) return;
  const names = missing.map((key) => `\`${key}\``).join(", ");
  const verb = missing.length === 1 ? "is" : "are";
  const detail = `Records of type ${type} need ${names}.`;
  context.error({
    code: "missing-field",
    summary: `${names} ${verb} missing`,
    detail,
    fix: `Add ${names}.`,
    span: context.span(entry, "type"),
  });
}

function loadName(entry: RecordEntry, type: RecordType, context: ZoneContext): string | null {
  const owner = ownerName(entry.name ?? "", context.zone);
  const span = context.span(entry, Object.hasOwn(entry, "name") ? "name" : "type");
  if (!owner.ok) {
    context.error({ ...ownerProblem(owner.problem, owner.name, context.zone), span });
    return null;
  }
  if (type !== "SRV") return checkPlace(owner.name, type, span, context);
  const service = serviceOwner(owner.name, entry.service ?? null, entry.protocol ?? null);
  if (!service.ok) {
    context.error({ ...serviceProblem(service.problem), span });
    return null;
  }
  const full = ownerName(service.name, context.zone);
  if (full.ok) return full.name;
  context.error({ ...ownerProblem(full.problem, full.name, context.zone), span });
  return null;
}

/** Where the service, or DNS itself, has no room for a type. */
function checkPlace(
  name: string,
  type: RecordType,
  span: NonNullable<Diagnostic["span"]>,
  context: ZoneContext,
): string {
  if (type === "CNAME" && name === "") {
    const detail = `The apex of ${context.zone} has SOA and NS records, and a CNAME cannot stand beside other data (RFC 1034, 3.6.2).`;
    context.error({
      code: "cname-at-apex",
      summary: "a CNAME cannot be at the apex",
      detail,
      fix: "Use A and AAAA records there.",
      span,
    });
  }
  if (type === "NS" && name.split(".")[0] === "*") {
    const detail = `${absoluteName(name, context.zone)} would delegate every name, which the service does not take.`;
    context.error({
      code: "wildcard-ns",
      summary: "an NS record cannot be a wildcard",
      detail,
      fix: "Delegate each name by itself.",
      span,
    });
  }
  return name;
}

interface WrittenTarget {
  readonly text: string;
  readonly container: object;
  readonly key: string | number;
}

function targetsOf(entry: RecordEntry, context: ZoneContext): WrittenTarget[] {
  const { target, targets } = entry;
  if (target !== undefined && targets !== undefined) {
    context.error({
      code: "conflicting-keys",
      summary: "both `target` and `targets`",
      detail: "A record entry has one target, or a list of them.",
      fix: "Put all of them into `targets`.",
      span: context.span(entry, "targets"),
      related: [{ message: "the other one", span: context.span(entry, "target") }],
    });
  }
  if (targets !== undefined) return targets.map((text, index) => ({ text, container: targets, key: index }));
  if (target !== undefined) return [{ text: target, container: entry, key: "target" }];
  const detail = "A record without a target says nothing.";
  context.error({
    code: "missing-field",
    summary: "`target` is missing",
    detail,
    fix: "Add `target`.",
    span: context.span(entry, "type"),
  });
  return [];
}

// The target of a record: as written → canonical, by type.

/** API.md, Limits: record target. */
const MAX_TARGET_LENGTH = 65_535;

type Problem = Pick<Diagnostic, "code" | "summary" | "detail" | "fix" | "corrections">;

/** @returns null if it cannot be a target; that is reported */
function loadTarget(text: string, type: RecordType, context: ZoneContext, span: () => Span): string | null {
  const fail = (problem: Problem): null => {
    context.error({ ...problem, span: span() });
    return null;
  };
  if (text.length > MAX_TARGET_LENGTH) return fail(tooLong(text.length));
  switch (rulesOf(type).target) {
    case "ipv4":
      return canonicalIpv4(text) ?? fail(badAddress(text, "IPv4", "192.0.2.10"));
    case "ipv6":
      return canonicalIpv6(text) ?? fail(badAddress(text, "IPv6", "2001:db8::10"));
    case "name": {
      const written = WRITTEN_NUMBERS[type]?.exec(text)?.groups;
      if (written !== undefined) return fail(numbersInTarget(text, type, written));
      const name = targetName(text, context.zone, rulesOf(type).allowsRoot ?? false);
      return name.ok ? name.name : fail(targetProblem(text, type, name));
    }
    case "strings":
      return CONTROL_CHARACTER.test(text) ? fail(controlCharacter(text, type)) : text;
    case "octets": {
      const problem = octetsProblem(text, type);
      return problem === null ? text : fail(problem);
    }
  }
}

/** What zone files and other tools write before the name. */
const WRITTEN_NUMBERS: Readonly<Partial<Record<RecordType, RegExp>>> = {
  MX: /^(?<priority>\d{1,5})\s+(?<target>\S+)$/,
  SRV: /^(?<priority>\d{1,5})\s+(?<weight>\d{1,5})\s+(?<port>\d{1,5})\s+(?<target>\S+)$/,
};

function numbersInTarget(text: string, type: RecordType, written: Readonly<Record<string, string>>): Problem {
  const keys = Object.keys(written).filter((key) => key !== "target");
  const fields = [...keys, "target"].map((key) => `${key}: ${written[key]}`).join(", ");
  return {
    code: "bad-target",
    summary: `the target holds the ${keys.join(", ").replace(/, (?=[^,]*$)/, " and ")}`,
    detail: `\`${text}\` is how a zone file writes it. In a manifest each value of a record of type ${type} has a key of its own.`,
    fix: `Write \`${fields}\`.`,
  };
}

function tooLong(length: number): Problem {
  const detail = `The target has ${length} characters; the service takes ${MAX_TARGET_LENGTH}.`;
  return { code: "too-long", summary: "`target` is too long", detail, fix: "Shorten it." };
}

function badAddress(text: string, family: string, example: string): Problem {
  const other = family === "IPv4" ? canonicalIpv6(text) !== null : canonicalIpv4(text) !== null;
  const type = family === "IPv4" ? "AAAA" : "A";
  const detail = `\`${text}\` is not an ${family} address.`;
  const fix = other
    ? `It is one for a record of type ${type}.`
    : `Write one, for example ${example}; a record that points at a name is a CNAME.`;
  return { code: "bad-address", summary: `not an ${family} address`, detail, fix };
}

function controlCharacter(text: string, type: RecordType): Problem {
  const detail = /\n$/.test(text)
    ? "The text ends with a line break, as YAML's `|` and `>` leave it."
    : "The text has a line break or another control character.";
  return {
    code: "control-character",
    summary: `a control character in a ${type}`,
    detail,
    fix: "Use `>-` for a text over several lines, or quotes.",
  };
}

/** RFC 8659; flags and a final dot are what the service cannot keep. */
function octetsProblem(text: string, type: RecordType): Problem | null {
  if (text === "")
    return {
      code: "bad-target",
      summary: "`target` is empty",
      detail: "A CAA record has a value.",
      fix: "Write the authority's domain, or `;` for none.",
    };
  if (CONTROL_CHARACTER.test(text)) return controlCharacter(text, type);
  if (WRITTEN_CAA.test(text)) {
    const detail =
      "Flags and tag are no part of the target; the service has no flags, and the tag is a key of its own.";
    return {
      code: "bad-target",
      summary: "the target holds flags and tag",
      detail,
      fix: "Write the tag under `tag`, and the value alone as target.",
    };
  }
  if (text.endsWith(".")) {
    const detail = "The service takes no final dot in the target of a CAA record.";
    const corrections = [{ from: text, to: text.replace(/(?<!\.)\.+$/, "") }];
    return { code: "bad-target", summary: "a final dot in a CAA", detail, fix: "Remove the dot.", corrections };
  }
  return null;
}

// What is wrong with a name of a record or of a target, in words.

function ownerProblem(problem: OwnerProblem, name: string, zone: string): Problem {
  switch (problem) {
    case "outside":
      return {
        code: "outside-zone",
        summary: "the name is outside the zone",
        detail: `\`${name}\` does not lie within ${zone}.`,
        fix: `Declare it in its own domain, or write \`${name.slice(0, -1).split(".")[0]}\` if a name in ${zone} is meant.`,
      };
    case "repeats-zone": {
      const relative = name === zone ? "@" : name.slice(0, -zone.length - 1);
      const absolute = name === zone ? `${zone}.` : `${name}.`;
      return {
        code: "repeated-zone",
        summary: "the name repeats the zone",
        detail: `Without a final dot a name is relative, so this would be \`${name}.${zone}.\`, and the service strips the zone's name from it.`,
        fix: `Write "${relative}" or "${absolute}".`,
        corrections: [relative, absolute].map((to) => ({ from: name, to })),
      };
    }
    case "over-length":
      return {
        code: "too-long",
        summary: "the name is too long",
        detail: `Relative to the zone it has ${name.length} characters; the service takes ${MAX_RECORD_NAME_LENGTH}.`,
        fix: "Shorten it, or make a domain of its own for the part.",
      };
    default:
      return { code: "bad-name", summary: "bad `name`", detail: nameDetail(problem, name), fix: "Correct the name." };
  }
}

function serviceProblem(problem: ServiceProblem): Problem {
  const code = "bad-service";
  const fix = "Write `service: sip, protocol: tcp` with the parent as `name`, or `name: _sip._tcp`.";
  switch (problem) {
    case "missing":
      return { code, summary: "no service is named", detail: "An SRV record names a service, and a protocol.", fix };
    case "incomplete":
      return {
        code,
        summary: "`service` or `protocol` is missing",
        detail: "The two come together; only at the apex may a service stand alone.",
        fix,
      };
    case "disagree":
      return {
        code,
        summary: "`name` disagrees with `service` and `protocol`",
        detail: "The name begins with another service or protocol.",
        fix,
      };
    case "bad-label":
      return {
        code,
        summary: "bad `service` or `protocol`",
        detail: "Each is one label of letters, digits, `+`, and hyphens and underscores within, at most 62 characters.",
        fix,
      };
  }
}

function targetProblem(text: string, type: RecordType, target: Extract<TargetName, { ok: false }>): Problem {
  const code = "bad-target";
  const { problem, readings } = target;
  switch (problem) {
    case "ambiguous": {
      if (canonicalIp(text) !== null) {
        const detail = `The target of a record of type ${type} is a name, not an address.`;
        return {
          code,
          summary: "an address where a name belongs",
          detail,
          fix: "Point at a name that has an A or AAAA record.",
        };
      }
      const host = hostOfUrl(text);
      if (host !== null) {
        return {
          code,
          summary: "a URL where a name belongs",
          detail: `A record of type ${type} points at a name; DNS knows neither a scheme, a port nor a path.`,
          fix: `Write \`${host}.\`; a web server there can send visitors on to the path.`,
          corrections: [{ from: text, to: `${host}.` }],
        };
      }
      const [absolute = "", relative = ""] = readings;
      const detail = `\`${text}\` has dots but no final one: it may be \`${absolute}\`, or \`${relative}\` within the zone.`;
      return {
        code: "ambiguous-target",
        summary: "it is unclear whether the target is absolute or relative",
        detail,
        fix: `Write \`${absolute}\` or \`${relative}\`.`,
        corrections: readings.map((to) => ({ from: text, to })),
      };
    }
    case "empty":
      return {
        code,
        summary: "`target` is empty",
        detail: `The target of a record of type ${type} is a name.`,
        fix: "Write a name, or @ for the zone.",
      };
    case "root":
      return {
        code,
        summary: "`.` is no target here",
        detail: `A record of type ${type} points at a name.`,
        fix: "Write a name.",
      };
    case "not-ascii":
    case "empty-label":
    case "long-label":
    case "long-name":
    case "bad-character":
    case "bad-hyphen":
    case "bad-wildcard":
      return { code, summary: "bad `target`", detail: nameDetail(problem, text), fix: "Correct the name." };
  }
}

/** The host of `https://www.example.net/path`; null: the text is no URL, or its host no name with a dot. */
function hostOfUrl(text: string): string | null {
  const [, host] = /^[a-z]+:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*)\.?(?::\d+)?(?:\/.*)?$/i.exec(text) ?? [];
  return host ?? null;
}

function nameDetail(problem: NameProblem | "not-ascii", name: string): string {
  const shown = `\`${name}\``;
  switch (problem) {
    case "not-ascii":
      return `${shown} has letters that no domain name can have (IDNA, UTS 46).`;
    case "empty-label":
      return `${shown} has nothing between two dots, or begins with a dot.`;
    case "long-label":
      return `${shown} has more than 63 characters between two dots (RFC 1035, 2.3.4).`;
    case "long-name":
      return `${shown} has more than 253 characters with the zone (RFC 1035, 2.3.4).`;
    case "bad-character":
      return `${shown} has a character that a name cannot have: letters, digits, - and _ are allowed.`;
    case "bad-hyphen":
      return `${shown} has a label that begins or ends with a hyphen.`;
    case "bad-wildcard":
      return `${shown} has a star that is not the whole first label.`;
  }
}
