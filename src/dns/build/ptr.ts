/** PTR records from addresses and what they are called, in a reverse zone. */

import { canonicalIp } from "../ip.ts";
import { relativeName, toAscii } from "../name.ts";
import { reverseName } from "../reverse.ts";
import { type BuildProblem, type Built, type BuiltRecord, badPart, type PartPath } from "./built.ts";

/** Address → name or names, in full, with or without the final dot. */
export type PtrParts = Readonly<Record<string, string | readonly string[]>>;

/** @param zone lower-case ASCII without a final dot */
export function buildPtr(parts: PtrParts, zone: string): Built {
  const problems: BuildProblem[] = [];
  const records = Object.entries(parts).flatMap(([address, written]) => {
    const name = nameIn(zone, address, problems);
    if (name === null) return [];
    if (typeof written === "string") return pointer(name, written, [address], problems);
    return written.flatMap((text, index) => pointer(name, text, [address, index], problems));
  });
  return { records, problems };
}

function nameIn(zone: string, address: string, problems: BuildProblem[]): string | null {
  const full = reverseName(address);
  if (full === null) {
    const detail = `\`${address}\` is neither an IPv4 nor an IPv6 address.`;
    problems.push(badPart([address], "bad address", detail, "For example: 192.0.2.10."));
    return null;
  }
  const name = relativeName(full, zone);
  if (name !== null) return name;
  const detail = `The name of ${canonicalIp(address)} is ${full}, which is not in ${zone}.`;
  const fix = "Move it to the domain of its network, or correct the address.";
  problems.push({ ...badPart([address], "the address is outside the zone", detail, fix), code: "outside-zone" });
  return null;
}

/** Relative names would lie in the reverse zone, where no host is. */
function pointer(name: string, text: string, path: PartPath, problems: BuildProblem[]): BuiltRecord[] {
  const ascii = toAscii(text);
  if (ascii !== null && /[^.]\.[^.]/.test(ascii)) {
    return [{ type: "PTR", name, target: ascii.endsWith(".") ? ascii : `${ascii}.`, path }];
  }
  const detail = `\`${text}\` is not the name of a host in full: here, names are not relative to the zone.`;
  problems.push(badPart(path, "not a whole name", detail, "For example: www.example.com."));
  return [];
}
