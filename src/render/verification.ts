/** The answers of real nameservers compared with the expected ones, as text and as JSON. */

import { mapKey } from "../model/map-key.ts";
import type { JsonObject } from "../model/resource.ts";
import { compareText, groupBy, jsonText } from "../model/text.ts";
import { isVerified, type Verdict, type VerdictState, type Verification } from "../model/verification.ts";
import { createPaint, type Paint } from "./change-lines.ts";
import type { TextOptions } from "./plan-text.ts";
import { columnsOf, DEFAULT_WIDTH_COLUMNS, escapeText, shorten, usableWidth, wrap } from "./terminal.ts";
import { count } from "./view.ts";

/** The format version of `zone check --format json`. */
const CHECK_FORMAT_VERSION = 1;
const INDENT = 2;

/** Differences that are shown, one for each name and type, and problems of delegations; more of each are counted. */
const MAX_SHOWN = 100;

/** Newline-terminated. The last line begins with `Verified: ` or `Not verified: `. */
export function renderVerificationText(verification: Verification, options: TextOptions): string {
  const paint = createPaint(options.colour);
  const width = usableWidth(options.width ?? DEFAULT_WIDTH_COLUMNS);
  const lines: string[] = [];
  lines.push(...silentLines(verification, paint, width));
  const silent = new Set(verification.silent.map(askedKey));
  const reported = verification.problems.filter((verdict) => !silent.has(askedKey(verdict)));
  const differences = [...groupBy(reported, differenceKey).values()];
  for (const verdicts of differences.slice(0, MAX_SHOWN)) lines.push(...difference(verdicts, paint, width));
  lines.push(...further(differences));
  for (const { zone, code, server, detail } of verification.delegation.slice(0, MAX_SHOWN)) {
    lines.push(...wrap(`${paint.bad(code)} ${escapeText(zone)}, asked at ${escapeText(server)}`, width, 0));
    lines.push(...wrap(escapeText(detail), width, INDENT));
  }
  lines.push(...further(verification.delegation));
  for (const { zone, detail } of verification.unasked) {
    lines.push(...wrap(`${paint.bad("not asked")} ${escapeText(zone)}: ${escapeText(detail)}`, width, 0));
  }
  for (const note of verification.notes) lines.push(...wrap(`${paint.warn("Note:")} ${escapeText(note)}`, width, 0));
  if (lines.length > 0) lines.push("");
  lines.push(...closing(verification, paint, width));
  return `${lines.join("\n")}\n`;
}

/** A line that counts what is not shown of a list. */
function further({ length }: readonly unknown[]): string[] {
  return length > MAX_SHOWN ? [`… and ${length - MAX_SHOWN} more.`] : [];
}

function askedKey({ server, transport }: Pick<Verdict, "server" | "transport">): string {
  return JSON.stringify([server, transport]);
}

/** `192.0.2.1 did not answer over UDP and TCP: no answer within 6000 ms` */
function silentLines({ silent }: Verification, paint: Paint, width: number): string[] {
  const alike = groupBy(silent, ({ server, detail }) => mapKey(JSON.stringify([server, detail])));
  return [...alike.values()].flatMap((ofServer) => {
    const { server = "", detail = "" } = ofServer[0] ?? {};
    const over = ofServer.map(({ transport }) => transport.toUpperCase()).sort(compareText);
    const head = `${escapeText(server)} ${paint.bad("did not answer")} over ${over.reverse().join(" and ")}`;
    return wrap(detail === "" ? head : `${head}: ${escapeText(detail)}`, width, 0);
  });
}

/** Servers with the same answer are reported together. */
function differenceKey({ zone, name, type, state, found, detail }: Verdict): string {
  return mapKey(JSON.stringify([zone, name, type, state, found, detail]));
}

function difference(verdicts: readonly Verdict[], paint: Paint, width: number): string[] {
  const [first] = verdicts;
  if (first === undefined) return [];
  const { name, type, state, expected, found, detail } = first;
  const lines = wrap(`${paintState(paint, state)} ${escapeText(name)} ${type}`, width, 0);
  if (detail !== "") lines.push(...wrap(escapeText(detail), width, INDENT));
  if (state === "missing" || state === "different") {
    lines.push(valueLine("expected", expected, type, width), valueLine("found", found, type, width));
  }
  lines.push(...wrap(`at ${serverList(verdicts)}`, width, INDENT));
  return lines;
}

/** `ns1.example.net (192.0.2.1) over udp and tcp, 192.0.2.2 over tcp` */
function serverList(verdicts: readonly Verdict[]): string {
  return [...groupBy(verdicts, ({ server }) => server)]
    .map(([server, ofServer]) => {
      const transports = [...new Set(ofServer.map(({ transport }) => transport))].sort(compareText).reverse();
      return `${escapeText(server)} over ${transports.join(" and ")}`;
    })
    .join(", ");
}

function valueLine(word: string, values: readonly string[], type: string, width: number): string {
  const shown = values.map((value) => (type === "TXT" ? JSON.stringify(value) : value)).map(escapeText);
  const text = type === "SOA" && word === "expected" ? "any" : shown.length === 0 ? "nothing" : shown.join(" · ");
  const head = `${" ".repeat(INDENT)}${word}: `;
  return head + shorten(text, width - columnsOf(head), Buffer.byteLength(values.join("")));
}

function paintState(paint: Paint, state: VerdictState): string {
  switch (state) {
    case "there":
      return paint.good(state);
    case "missing":
    case "different":
      return paint.bad(state);
    case "not-authoritative":
    case "not-answering":
      return paint.warn(state.replace("-", " "));
  }
}

function closing(verification: Verification, paint: Paint, width: number): string[] {
  const { asked, there, delegation, unasked, interrupted, zones, hasUncompared = false } = verification;
  const servers = new Set(zones.flatMap((zone) => zone.servers)).size;
  const at = `at ${count(servers, "name server", "name servers")}`;
  if (isVerified(verification)) {
    const asTheyMust = hasUncompared ? "as they must be but for what is not compared" : "all as they must be";
    const what =
      asked === 0 ? "there was nothing to ask for" : `${count(asked, "answer", "answers")} ${at}, ${asTheyMust}`;
    return wrap(`${paint.good("Verified:")} ${what}.`, width, 0);
  }
  const unaskedZones = new Set(unasked.map(({ zone }) => zone)).size;
  const parts = [
    ...(there < asked ? [`${asked - there} of ${count(asked, "answer", "answers")} ${at} are not there`] : []),
    ...(delegation.length > 0 ? [count(delegation.length, "problem of delegation", "problems of delegation")] : []),
    ...(unaskedZones > 0 ? [`${count(unaskedZones, "zone", "zones")} could not be asked for at every server`] : []),
    ...(interrupted ? ["interrupted"] : []),
  ];
  return wrap(`${paint.bad("Not verified:")} ${parts.join("; ")}.`, width, 0);
}

/** For the report of an apply: schemas/report.schema.json, `verification`. */
export function verificationJson(verification: Verification): JsonObject {
  const { asked, there, zones, problems, delegation, unasked, notes, interrupted } = verification;
  return {
    verified: isVerified(verification),
    asked,
    there,
    interrupted,
    zones: zones.map(({ zone, servers }) => ({ zone, servers })),
    problems: problems.map((verdict) => ({
      zone: verdict.zone,
      name: verdict.name,
      type: verdict.type,
      state: verdict.state,
      server: verdict.server,
      transport: verdict.transport,
      expected: verdict.expected,
      found: verdict.found,
      detail: verdict.detail,
    })),
    delegation: delegation.map(({ zone, code, server, detail }) => ({ zone, code, server, detail })),
    unasked: unasked.map(({ zone, detail }) => ({ zone, detail })),
    notes,
  };
}

/** What `zone check --live --format json` prints, newline-terminated. */
export function renderVerificationJson(verification: Verification): string {
  const json = { type: "zone-check", format_version: CHECK_FORMAT_VERSION, ...verificationJson(verification) };
  return `${jsonText(json)}\n`;
}
