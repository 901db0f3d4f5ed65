/** The target of a record: as written → canonical, by type. */

import type { RecordType } from "../../../api/wire/index.ts";
import { canonicalIpv4, canonicalIpv6 } from "../../../dns/ip.ts";
import { targetName } from "../../../dns/target.ts";
import type { Diagnostic, Span } from "../../../model/diagnostic.ts";
import type { ZoneContext } from "./context.ts";
import { targetProblem } from "./name-problems.ts";

/** API.md, Limits: record target. */
const MAX_TARGET_LENGTH = 65_535;

/** Of ASCII: those beyond it (U+0080 to U+009F) are text like any other. */
const CONTROL_CHARACTER = /[^\P{Cc}\u0080-\u009f]/u;

type Problem = Pick<Diagnostic, "code" | "summary" | "detail" | "fix">;

/** @returns null if it cannot be a target; that is reported */
export function loadTarget(text: string, type: RecordType, context: ZoneContext, span: () => Span): string | null {
  const fail = (problem: Problem): null => {
    context.error({ ...problem, span: span() });
    return null;
  };
  if (text.length > MAX_TARGET_LENGTH) return fail(tooLong(text.length));
  switch (type) {
    case "A":
      return canonicalIpv4(text) ?? fail(badAddress(text, "IPv4", "192.0.2.10"));
    case "AAAA":
      return canonicalIpv6(text) ?? fail(badAddress(text, "IPv6", "2001:db8::10"));
    case "CNAME":
    case "MX":
    case "NS":
    case "PTR":
    case "SRV": {
      const name = targetName(text, context.zone, type === "MX" || type === "SRV");
      return name.ok ? name.name : fail(targetProblem(text, type, name));
    }
    case "TXT":
      return CONTROL_CHARACTER.test(text) ? fail(controlCharacter(text)) : text;
    case "CAA":
      return caaProblem(text) === null ? text : fail(caaProblem(text) as Problem);
  }
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

function controlCharacter(text: string): Problem {
  const detail = /\n$/.test(text)
    ? "The text ends with a line break, as YAML's `|` and `>` leave it."
    : "The text has a line break or another control character.";
  return {
    code: "control-character",
    summary: "a control character in a TXT",
    detail,
    fix: "Use `>-` for a text over several lines, or quotes.",
  };
}

/** RFC 8659; flags and a final dot are what the service cannot keep. */
function caaProblem(text: string): Problem | null {
  if (text === "")
    return {
      code: "bad-target",
      summary: "`target` is empty",
      detail: "A CAA record has a value.",
      fix: "Write the authority's domain, or `;` for none.",
    };
  if (CONTROL_CHARACTER.test(text)) return { ...controlCharacter(text), summary: "a control character in a CAA" };
  if (/^\d+ (issue|issuewild|iodef) /.test(text)) {
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
    return { code: "bad-target", summary: "a final dot in a CAA", detail, fix: "Remove the dot." };
  }
  return null;
}
