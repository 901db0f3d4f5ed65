/** Zone files (RFC 1035, 5) → the domains that declare them. */

import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isAtOrBelow, nameProblem } from "../dns/name.ts";
import { toAscii } from "../dns/unicode.ts";
import { findOrigin, type IncludedFile, readZoneFile, type ZoneFileReading } from "../dns/zone-file/read.ts";
import { findCheckoutLink, isPrivate, isWithin, whereLinkLeads } from "../files/paths.ts";
import type { Diagnostic, Sources } from "../model/diagnostic.ts";
import { shellWord } from "../model/text.ts";
import { Collected, type CollectOptions, type Import, type NamedEmail } from "./collect.ts";

export interface ForeignRequest extends CollectOptions {
  readonly paths: readonly string[];
  /** The zone of the file, if one file is imported and --domain names it; null: as the file says. */
  readonly domain: string | null;
}

/** A file with at least this many errors, and more errors than records, is hardly a zone file: only this many of its errors are shown. */
const MIN_ERRORS = 3;

export async function importZoneFiles(request: ForeignRequest): Promise<Import> {
  const collected = new Collected(request);
  const known = new Map<string, string>();
  for (const path of request.paths) {
    if (collected.isFull) break;
    const zone = await readOne(path, request, collected, known);
    if (zone !== null) known.set(zone, path);
  }
  return collected.result();
}

/**
 * @param known zones and the files that they were read from
 * @returns the zone, or null for a file that could not be read as a zone
 */
async function readOne(
  path: string,
  { domain }: ForeignRequest,
  collected: Collected,
  known: ReadonlyMap<string, string>,
): Promise<string | null> {
  const { sources } = collected;
  const source = await readSource(path, path, sources);
  if (!source.ok) {
    collected.report(unreadable(path, source, source.isFolder ? NAME_FILES : undefined));
    return null;
  }
  const foreign = foreignJson(path, source.text);
  if (foreign !== null) {
    collected.report(foreign);
    return null;
  }
  const of = zoneOf(path, source.text, domain);
  if (!of.ok) {
    collected.report(of.diagnostic);
    return null;
  }
  const { zone } = of;
  const first = known.get(zone);
  if (first !== undefined) {
    collected.report(secondFile(zone, path, first));
    return null;
  }
  const reading = await readZoneFile(source.text, { zone, file: path, include: includeWithin(path, sources) });
  const isForeign = looksForeign(reading);
  for (const diagnostic of isForeign ? firstErrors(path, reading) : reading.diagnostics) collected.report(diagnostic);
  if (isForeign) {
    collected.count(reading.diagnostics.length + reading.records.length + reading.skipped.length, path);
    return null;
  }
  const { records, skipped, inheriting, soa } = reading;
  const ttl = soa !== null && soa.ttl_sec === soa.minimum ? soa.minimum : null;
  collected.take({ zone, file: path, named: namedBy(reading), records, skipped, inheriting, ttl });
  return zone;
}

/** Of a large file only so much is looked at. */
const MAX_LOOKED_AT_CHARACTERS = 65_536;

/** Says what the JSON of another tool is, of which nothing is shown; null: it is none of these. */
export function foreignJson(path: string, text: string): Diagnostic | null {
  const beginning = text.slice(0, MAX_LOOKED_AT_CHARACTERS);
  if (!/^\s*\{/.test(beginning)) return null;
  const has = (key: string): boolean => new RegExp(`"${key}"\\s*:`).test(beginning);
  const isDnscontrol = has("dns_providers") && has("domains");
  const isTerraform = has("terraform_version") || (has("format_version") && has("values"));
  if (!isDnscontrol && !isTerraform) return null;
  const [what, from] = isDnscontrol
    ? ["what `dnscontrol print-ir` prints", "dnscontrol"]
    : ["a state of Terraform", "terraform"];
  return {
    code: "wrong-file",
    severity: "error",
    summary: `${path} is ${what}`,
    detail: "",
    fix: `Import it with --from ${from}.`,
  };
}

const NAME_FILES = "Name the files in it, for example dir/*.zone.";

function namedBy({ soa, skipped }: ZoneFileReading): NamedEmail | null {
  const place = skipped.find(({ reason }) => reason === "soa");
  return soa === null || place === undefined ? null : { email: soa.email, span: place.span };
}

function looksForeign({ records, skipped, diagnostics }: ZoneFileReading): boolean {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return errors >= MIN_ERRORS && errors > records.length + skipped.length;
}

function firstErrors(path: string, { diagnostics }: ZoneFileReading): Diagnostic[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const more = errors.length - MIN_ERRORS;
  const summary: Diagnostic = {
    code: "no-zone-file",
    severity: "error",
    summary: `${path} does not look like a zone file`,
    detail: `There are more errors than records${more > 0 ? `; ${more} more are not shown` : ""}.`,
    fix: "Name zone files (RFC 1035) only, as BIND has them; YAML of octoDNS is read with --from octodns.",
  };
  return [...errors.slice(0, MIN_ERRORS), summary];
}

function secondFile(zone: string, path: string, first: string): Diagnostic {
  return {
    code: "duplicate-entry",
    severity: "error",
    summary: `${zone} is in two files`,
    detail: `${first} and ${path} are both of this zone.`,
    fix: "Import one of them.",
  };
}

// Finding out which zone a file holds.

type ZoneOf =
  /** Lower-case ASCII without a final dot. */
  { readonly ok: true; readonly zone: string } | { readonly ok: false; readonly diagnostic: Diagnostic };

/** @param asked the value of --domain; null: as the file says */
function zoneOf(path: string, text: string, asked: string | null): ZoneOf {
  const { soa, first, hasLater } = findOrigin(text);
  const known = asked ?? soa;
  const named = zoneName(nameOfFile(path));
  const said = known ?? first;
  if (said !== null) {
    const zone = zoneName(said);
    if (zone === null) return { ok: false, diagnostic: badZone(path, said, asked !== null) };
    // Without the SOA the first `$ORIGIN` may be that of a part of the zone: the records of both would get wrong names.
    const isDoubtful = known === null && named !== null && named !== zone && isOneZone(named, zone);
    return isDoubtful ? { ok: false, diagnostic: disagreement(path, named, zone) } : { ok: true, zone };
  }
  const isDoubtful = named === null || (hasLater && !named.includes("."));
  return isDoubtful ? { ok: false, diagnostic: whichZone(path) } : { ok: true, zone: named };
}

/** Whether one lies within the other. */
function isOneZone(one: string, other: string): boolean {
  return isAtOrBelow(one, other) || isAtOrBelow(other, one);
}

function disagreement(path: string, named: string, said: string): Diagnostic {
  return {
    code: "unknown-zone",
    severity: "error",
    summary: `${path} is of ${named} or of ${said}`,
    detail: `It is named after ${named}, begins with $ORIGIN ${said}., and has no SOA itself that says which of them is the zone.`,
    fix: `Give --domain ${shellWord(named)} or --domain ${shellWord(said)} with this file alone.`,
  };
}

/** `example.com.zone`, `db.example.com`, `example.com.db` and the like. */
function nameOfFile(path: string): string {
  return basename(path)
    .replace(/\.(zone|db|hosts|dns|txt)$/i, "")
    .replace(/^(db|zone|pri|master)\./i, "");
}

/** @returns null if the service accepts no domain of this name */
export function zoneName(written: string): string | null {
  const name = toAscii(written)?.replace(/\.$/, "") ?? "";
  return name === "" || nameProblem(name, true) !== null ? null : name;
}

function whichZone(path: string): Diagnostic {
  return {
    code: "unknown-zone",
    severity: "error",
    summary: `the zone of ${path} is unknown`,
    detail:
      "It has no absolute $ORIGIN before its records and no SOA with an absolute name, and its file name is no domain.",
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

// `$INCLUDE` at an import: files in the folder of the zone file and beneath it, after symbolic links are followed.

/** @param path of the zone file */
function includeWithin(path: string, sources: Sources): (wanted: string, from: string) => Promise<IncludedFile> {
  const folder = dirname(path);
  return async (wanted, from) => {
    const file = isAbsolute(wanted) ? wanted : join(dirname(from), wanted);
    const [root, real] = await Promise.all([realpath(folder), realpath(resolve(file)).catch(() => null)]);
    // A file outside is not looked at, so that a message does not even reveal whether it exists.
    if (real === null ? !isWithin(resolve(file), resolve(folder)) : !isWithin(real, root)) return outside(folder);
    if (real !== null && isPrivate(real, root)) return { ok: false, ...PRIVATE };
    const source = await readSource(real ?? file, file, sources);
    return source.ok ? { ok: true, file, text: source.text } : { ok: false, detail: source.detail };
  };
}

const PRIVATE: Pick<IncludedFile & { readonly ok: false }, "detail" | "fix"> = {
  detail: "it belongs to git or to Tenon, whose files must not be shown",
  fix: "Take the line out.",
};

function outside(folder: string): IncludedFile {
  const where = folder === "." ? "" : ` (${folder})`;
  return {
    ok: false,
    detail: `it lies outside the folder of the zone file${where}, and only files in it and beneath it are included`,
    fix: "Copy it there, and write its path as seen from the file that includes it.",
  };
}

// Reading the files of another tool: regular files, of bounded size, in UTF-8.

/** A zone of 12,000 records takes about 1 MiB. */
const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

export type SourceText =
  | { readonly ok: true; readonly text: string }
  /** `detail` is one clause without a full stop. */
  | {
      readonly ok: false;
      readonly detail: string;
      /** Offset of the first byte that cannot be read; null: the file itself cannot be read, or is not text at all. */
      readonly offset: number | null;
      /** Whether the file could be read. */
      readonly isRead: boolean;
      readonly isFolder: boolean;
    };

/** Bytes of a file that are enough to see whether it is text. */
const MAX_LOOKED_AT_BYTES = 4096;

/** @param file its name in messages, under which it is added to `sources` */
export async function readSource(path: string, file: string, sources: Sources): Promise<SourceText> {
  // An error in a file is shown with its lines, so a private file must not be read.
  if ((await whereLinkLeads(path, "/")) === "private") return noFile(HIDDEN);
  if ((await findCheckoutLink(path))?.led === "checkout")
    return noFile("it leads out of its checkout by a symbolic link");
  const bytes = await readBytes(path);
  if (typeof bytes === "string") return noFile(bytes);
  const what = otherThanText(bytes);
  if (what !== null) return { ok: false, detail: what, offset: null, isRead: true, isFolder: false };
  const text = new TextDecoder("utf-8").decode(bytes);
  sources.add(file, text);
  const offset = firstForeignOctet(bytes, text);
  if (offset === null) return { ok: true, text };
  return { ok: false, detail: "it is not UTF-8", offset, isRead: true, isFolder: false };
}

const HIDDEN = "it is a link into a folder of git or of Tenon";

export function noFile(detail: string): Extract<SourceText, { ok: false }> {
  return { ok: false, detail, offset: null, isRead: false, isFolder: detail === FOLDER };
}

const FOLDER = "it is a folder";

/** Why a file is not UTF-8 text, judged by its beginning; null if it may be. */
function otherThanText(bytes: Buffer): string | null {
  const start = bytes.subarray(0, MAX_LOOKED_AT_BYTES);
  const mark = start.subarray(0, 2).toString("latin1");
  if (mark === "\xff\xfe" || mark === "\xfe\xff") return UTF_16;
  if (!start.includes(0)) return null;
  // UTF-16 without a byte order mark: every other byte of ASCII is zero.
  const zeros = [0, 1].map((parity) => start.filter((byte, index) => byte === 0 && index % 2 === parity).length);
  const [even = 0, odd = 0] = zeros;
  return Math.max(even, odd) > start.length / 4 && Math.min(even, odd) === 0 ? UTF_16 : BINARY;
}

const UTF_16 = "it is UTF-16, not UTF-8";
const BINARY = "it is binary, not a text";

/** The bytes, or why they cannot be read. */
async function readBytes(path: string): Promise<Buffer | string> {
  try {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
      if (status.isDirectory()) return FOLDER;
      if (!status.isFile()) return "it is not a regular file";
      if (status.size > MAX_FILE_BYTES) return `it is larger than ${MAX_FILE_BYTES / 1024 ** 2} MiB`;
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "there is no such file" : "it cannot be read";
  }
}

/** Offset in the text of the first byte that is no part of UTF-8; null if all are. */
function firstForeignOctet(bytes: Buffer, text: string): number | null {
  if (!text.includes("\ufffd")) return null;
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const again = Buffer.from(text);
  const end = Math.min(again.length, bytes.length - bom);
  let index = 0;
  while (index < end && again[index] === bytes[index + bom]) index += 1;
  return index === again.length && again.length === bytes.length - bom
    ? null
    : Math.max(
        0,
        again
          .subarray(0, index)
          .toString("utf8")
          .replace(/(?<!\ufffd)\ufffd+$/, "").length,
      );
}

/** @param advice what to do about a file that cannot be read */
export function unreadable(
  file: string,
  { detail, offset, isRead }: Extract<SourceText, { ok: false }>,
  advice = "Check the path.",
): Diagnostic {
  return {
    code: isRead ? "not-utf8" : "unreadable-file",
    severity: "error",
    summary: `cannot use ${file}: ${detail}`,
    detail: "",
    fix: isRead && detail !== BINARY ? "Save the file as UTF-8." : advice,
    ...(offset === null ? {} : { span: { file, start: offset, end: offset + 1 } }),
  };
}
