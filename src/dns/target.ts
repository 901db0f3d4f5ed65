/** Targets that are names: as written in a manifest → absolute, lower-case ASCII, without a final dot. */

import { type NameProblem, nameProblem, toAscii } from "./name.ts";

export type TargetProblem = NameProblem | "not-ascii" | "empty" | "ambiguous" | "root";

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
