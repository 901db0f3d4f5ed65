/** CAA from readable parts (RFC 8659, 4; RFC 8657): who may issue certificates for a name. */

import { nameProblem } from "../name.ts";
import { type BuildProblem, type Built, type BuiltRecord, badPart } from "./built.ts";

export interface CaaParts {
  /** Authorities; none: nobody may. */
  readonly issue?: readonly string[];
  readonly issuewild?: readonly string[];
  readonly iodef?: string | readonly string[];
  readonly account_uri?: string;
  readonly validation_methods?: readonly string[];
}

/** RFC 8659, 4.2: a property without an authority. */
const NOBODY = ";";

export function buildCaa(parts: CaaParts, name: string): Built {
  const problems: BuildProblem[] = [];
  const parameters = readParameters(parts, problems);
  const records = [
    ...authorities("issue", parts.issue, name, parameters, problems),
    ...authorities("issuewild", parts.issuewild, name, parameters, problems),
    ...incidents(parts.iodef, name, problems),
  ];
  if (records.length === 0) {
    const detail = "It names neither authorities nor where to report.";
    problems.push(badPart([], "the CAA says nothing", detail, "Add `issue`; `issue: []` lets nobody issue."));
  }
  return { records, problems };
}

function authorities(
  tag: "issue" | "issuewild",
  list: readonly string[] | undefined,
  name: string,
  parameters: string,
  problems: BuildProblem[],
): BuiltRecord[] {
  if (list === undefined) return [];
  if (list.length === 0) return [{ type: "CAA", name, tag, target: NOBODY, path: [tag] }];
  return list.map((authority, index) => {
    const path = [tag, index];
    if (nameProblem(authority, true) !== null || !authority.includes(".")) {
      const detail = `\`${authority}\` is not the domain of an authority: parameters and \`;\` have keys of their own.`;
      const fix = `For example: letsencrypt.org; \`${tag}: []\` lets nobody issue.`;
      problems.push(badPart(path, `bad \`${tag}\``, detail, fix));
    }
    return { type: "CAA", name, tag, target: `${authority}${parameters}`, path };
  });
}

/** RFC 8657: they hold for each authority that is named. */
function readParameters(parts: CaaParts, problems: BuildProblem[]): string {
  const named = new Set([...(parts.issue ?? []), ...(parts.issuewild ?? [])]);
  const { account_uri: account, validation_methods: methods } = parts;
  for (const key of ["account_uri", "validation_methods"] as const) {
    if (parts[key] === undefined || named.size > 0) continue;
    const detail = `\`${key}\` restricts what an authority may do, and none is named.`;
    problems.push(badPart([key], `\`${key}\` without an authority`, detail, "Name the authority under `issue`."));
  }
  if (account !== undefined && named.size > 1) {
    const detail = "An account belongs to one authority.";
    problems.push(
      badPart(["account_uri"], "one account, several authorities", detail, "Write an entry for each authority."),
    );
  }
  if (account !== undefined && !/^[a-z][a-z0-9+.-]*:[\x21-\x3a\x3c-\x7e]+$/i.test(account)) {
    const detail = `\`${account}\` is not a URI without white space and semicolons.`;
    problems.push(
      badPart(["account_uri"], "bad `account_uri`", detail, "For example: https://acme.example.net/acct/1."),
    );
  }
  for (const [index, method] of (methods ?? []).entries()) {
    if (/^[a-z0-9-]+$/i.test(method)) continue;
    const detail = `\`${method}\` is not the name of a method: letters, digits and hyphens (RFC 8657, 4).`;
    problems.push(badPart(["validation_methods", index], "bad `validation_methods`", detail, "For example: dns-01."));
  }
  const texts = [
    ...(account === undefined ? [] : [`accounturi=${account}`]),
    ...(methods === undefined || methods.length === 0 ? [] : [`validationmethods=${methods.join(",")}`]),
  ];
  return texts.map((text) => `; ${text}`).join("");
}

function incidents(written: CaaParts["iodef"], name: string, problems: BuildProblem[]): BuiltRecord[] {
  const isOne = typeof written === "string";
  const list = isOne ? [written] : (written ?? []);
  return list.map((text, index) => {
    const path = isOne ? ["iodef"] : ["iodef", index];
    const uri = /^[^\s:@]+@[^\s@]+$/.test(text) ? `mailto:${text}` : text;
    if (!/^(mailto:[^\s@]+@[^\s@.]+(\.[^\s@.]+)+|https?:\/\/[^\s/]\S*)$/i.test(uri)) {
      const detail = `\`${text}\` is neither an e-mail address nor a mailto:, http: or https: URI (RFC 8659, 4.4).`;
      problems.push(badPart(path, "bad `iodef`", detail, "For example: mailto:security@example.com."));
    }
    return { type: "CAA", name, tag: "iodef", target: uri, path };
  });
}
