/** What is wrong with a name of a record or of a target, in words. */

import type { RecordType } from "../../../api/wire/index.ts";
import { canonicalIp } from "../../../dns/ip.ts";
import type { NameProblem } from "../../../dns/name.ts";
import { MAX_RECORD_NAME_LENGTH, type OwnerProblem, type ServiceProblem } from "../../../dns/owner.ts";
import type { TargetName } from "../../../dns/target.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";

type Problem = Pick<Diagnostic, "code" | "summary" | "detail" | "fix">;

export function ownerProblem(problem: OwnerProblem, name: string, zone: string): Problem {
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

export function serviceProblem(problem: ServiceProblem): Problem {
  const code = "bad-service";
  const fix = "Write `service: sip, protocol: tcp` with the parent as `name`, or `name: _sip._tcp`.";
  switch (problem) {
    case "missing":
      return { code, summary: "which service?", detail: "An SRV record names a service, and a protocol.", fix };
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

export function targetProblem(text: string, type: RecordType, target: Extract<TargetName, { ok: false }>): Problem {
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
      const [absolute = "", relative = ""] = readings;
      const detail = `\`${text}\` has dots but no final one: it may be \`${absolute}\`, or \`${relative}\` within the zone.`;
      return {
        code: "ambiguous-target",
        summary: "absolute or relative?",
        detail,
        fix: `Write ${absolute} or ${relative}`,
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
