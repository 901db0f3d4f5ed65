/** The name of a domain: as written in a manifest → lower-case ASCII. */

import { nameProblem, toAscii } from "../../../dns/name.ts";
import type { NameProblem } from "../../../model/unit.ts";

/** A domain's name as written → lower-case ASCII without a final dot; with a problem it is good for messages only. */
export function readDomainName(written: string): { readonly name: string; readonly problem: NameProblem | null } {
  const ascii = toAscii(written)?.replace(/\.$/, "") ?? null;
  const problem = ascii === null || ascii === "" ? "not-ascii" : nameProblem(ascii, true);
  const name = ascii ?? written.toLowerCase();
  if (problem === null) return { name, problem };
  const detail =
    problem === "long-name" || problem === "long-label"
      ? "A domain has at most 253 characters, and at most 63 between two dots (RFC 1035)."
      : `\`${written}\` is not a domain name: labels of letters, digits and hyphens, joined by dots (RFC 1035).`;
  const fix = "Write the name alone, without a scheme, path or wildcard; for example: example.com.";
  return { name, problem: { code: "bad-domain", summary: "bad domain name", detail, fix } };
}
