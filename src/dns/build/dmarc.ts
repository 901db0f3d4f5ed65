/** DMARC from readable parts (RFC 7489, 6.3; RFC 9091): the TXT at `_dmarc`. */

import { type BuildProblem, type Built, badPart, below } from "./built.ts";

export type DmarcPolicy = "none" | "quarantine" | "reject";
export type DmarcAlignment = "relaxed" | "strict";

export interface DmarcParts {
  readonly policy: DmarcPolicy;
  readonly subdomain_policy?: DmarcPolicy;
  readonly nonexistent_policy?: DmarcPolicy;
  /** 0..100 */
  readonly percent?: number;
  readonly rua?: readonly string[];
  readonly ruf?: readonly string[];
  readonly adkim?: DmarcAlignment;
  readonly aspf?: DmarcAlignment;
  readonly failure_options?: readonly string[];
  readonly report_interval_sec?: number;
}

/** Only what is stated: the rest has its default with receivers, too. */
export function buildDmarc(parts: DmarcParts, name: string): Built {
  const problems: BuildProblem[] = [];
  const tags: readonly (readonly [string, string | number | undefined])[] = [
    ["v", "DMARC1"],
    ["p", parts.policy],
    ["sp", parts.subdomain_policy],
    ["np", parts.nonexistent_policy],
    ["adkim", parts.adkim?.slice(0, 1)],
    ["aspf", parts.aspf?.slice(0, 1)],
    ["pct", parts.percent],
    ["fo", stated(parts.failure_options ?? [], ":")],
    ["ri", parts.report_interval_sec],
    ["rua", addresses("rua", parts.rua ?? [], problems)],
    ["ruf", addresses("ruf", parts.ruf ?? [], problems)],
  ];
  const target = tags.flatMap(([tag, value]) => (value === undefined ? [] : [`${tag}=${value}`])).join("; ");
  return {
    records: [{ type: "TXT", name: /^_dmarc(\.|$)/i.test(name) ? name : below("_dmarc", name), target }],
    problems,
  };
}

function addresses(key: "rua" | "ruf", list: readonly string[], problems: BuildProblem[]): string | undefined {
  return stated(
    list.map((text, index) => {
      const uri = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `mailto:${text}`;
      if (!isReportUri(uri)) {
        const detail = `\`${text}\` is neither an e-mail address nor a URI; commas, semicolons and white space end one (RFC 7489, 6.2).`;
        problems.push(badPart([key, index], `bad \`${key}\``, detail, "For example: dmarc@example.com."));
      }
      return uri;
    }),
    ",",
  );
}

/** A `!` and a size such as `10m` may follow (RFC 7489, 6.2). */
function isReportUri(uri: string): boolean {
  const bare = uri.replace(/!\d+[kmgt]?$/i, "");
  if (!/^[\x21-\x7e]+$/.test(bare) || /[,;!]/.test(bare)) return false;
  return /^mailto:[^@]+@[^@.]+(\.[^@.]+)+$/i.test(bare) || /^https?:\/\/[^/]+/i.test(bare);
}

function stated(list: readonly string[], separator: string): string | undefined {
  return list.length === 0 ? undefined : list.join(separator);
}
