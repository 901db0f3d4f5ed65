/** Which zone a file is of. */

import { basename } from "node:path";
import { nameProblem, toAscii } from "../dns/name.ts";
import { findOrigin } from "../dns/zone-file/origin.ts";
import type { Diagnostic } from "../model/diagnostic.ts";

export type ZoneOf =
  /** Lower-case ASCII without a final dot. */
  { readonly ok: true; readonly zone: string } | { readonly ok: false; readonly diagnostic: Diagnostic };

/** @param asked as --domain says it; null: as the file says */
export function zoneOf(path: string, text: string, asked: string | null): ZoneOf {
  const said = asked ?? findOrigin(text);
  const zone = zoneName(said ?? nameOfFile(path));
  if (zone !== null) return { ok: true, zone };
  return { ok: false, diagnostic: said === null ? whichZone(path) : badZone(path, said, asked !== null) };
}

/** `example.com.zone`, `db.example.com`, `example.com.db` and the like. */
function nameOfFile(path: string): string {
  return basename(path)
    .replace(/\.(zone|db|hosts|dns|txt)$/i, "")
    .replace(/^(db|zone|pri|master)\./i, "");
}

/** null: the service takes no domain of this name. */
export function zoneName(written: string): string | null {
  const name = toAscii(written)?.replace(/\.$/, "") ?? "";
  return name === "" || nameProblem(name, true) !== null ? null : name;
}

function whichZone(path: string): Diagnostic {
  return {
    code: "unknown-zone",
    severity: "error",
    summary: `which zone is ${path}?`,
    detail: "It has no absolute $ORIGIN and no SOA with an absolute name, and its file name is no domain.",
    fix: "Give --domain NAME with this file alone, or name the file after its zone.",
  };
}

function badZone(path: string, name: string, isAsked: boolean): Diagnostic {
  const source = isAsked ? "--domain says" : `${path} says`;
  const isPart = /[/_]/.test(name) && /\.in-addr\.arpa\.?$/i.test(name);
  const detail = `${source} \`${name}\`; names of domains have letters, digits and hyphens alone.`;
  return {
    code: "bad-domain",
    severity: "error",
    summary: `the service takes no domain named ${name}`,
    detail: isPart ? `${detail} A slash, as RFC 2317 has it for a part of a /24, is none of them.` : detail,
    fix: isPart
      ? "Agree on a name without a slash, such as 0-25.2.0.192.in-addr.arpa, with whoever delegates it, and use it in the file."
      : "Correct the name.",
  };
}
