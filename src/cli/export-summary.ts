/** The summary of an export: what was written, and what its format could not hold. */

import type { ExportedProject, ExportFormat, LeftOut } from "../export/index.ts";
import { mapKey } from "../model/map-key.ts";
import { groupBy, jsonText, shellWord } from "../model/text.ts";
import { escapeText, paragraph } from "../render/terminal.ts";
import { count } from "../render/view.ts";

/** At most this many addresses are named for one reason; the rest is counted. `--format json` has all of them. */
const MAX_NAMED_ADDRESSES = 3;

/** One paragraph for each reason, newline-terminated; empty if the format holds everything. */
export function leftOutLines({ leftOut }: Pick<ExportedProject, "leftOut">, width: number): string {
  const groups = groupBy(leftOut, ({ what, detail }) => mapKey(JSON.stringify([what, detail])));
  return [...groups.values()].map((group) => paragraph(sentence(group), width)).join("");
}

/** `not exported: ignore (2): …: domain/a.example, domain/b.example` */
function sentence(group: readonly LeftOut[]): string {
  const [{ what, detail } = { what: "", detail: "" }] = group;
  const addresses = group.flatMap(({ address }) => (address === null ? [] : [address]));
  const named = addresses.slice(0, MAX_NAMED_ADDRESSES).join(", ");
  const rest = addresses.length - MAX_NAMED_ADDRESSES;
  const count = addresses.length > 1 ? ` (${addresses.length})` : "";
  const places = addresses.length === 0 ? "" : `: ${named}${rest > 0 ? ` and ${rest} more` : ""}`;
  return `not exported: ${what}${count}: ${detail}${places}`;
}

interface Written {
  readonly to: ExportFormat;
  readonly out: string;
  readonly fromManifest?: boolean;
}

const WORDS: Readonly<Record<keyof ExportedProject["counts"], readonly [one: string, many: string]>> = {
  vpcs: ["VPC", "VPCs"],
  subnets: ["subnet", "subnets"],
  domains: ["domain", "domains"],
  records: ["record", "records"],
  images: ["image", "images"],
};

export function exportSummary({ counts, known, pending, files }: ExportedProject, { to, out }: Written): string {
  const kinds = Object.keys(WORDS) as (keyof typeof WORDS)[];
  const parts = kinds.flatMap((kind) => {
    const [one, many] = WORDS[kind];
    return counts[kind] === 0 ? [] : [count(counts[kind], one, many)];
  });
  const place = escapeText(out);
  const where = to === "csv" ? `into ${place}` : `into ${place} (${count(files.length, "file", "files")})`;
  const waits = count(pending, "change is", "changes are");
  return [
    `Exported ${parts.join(", ")} ${where}.\n`,
    pending === 0 ? "" : `${waits} pending: what was written is how tenon apply would leave the account.\n`,
    to === "terraform" ? terraformLines(counts, known, place) : "",
  ].join("");
}

function terraformLines(counts: ExportedProject["counts"], known: number, place: string): string {
  const total = Object.values<number>({ ...counts }).reduce((sum, count) => sum + count, 0);
  const made = total - known;
  const isThere = `${known} ${known === 1 ? "is" : "are"} in the account, and ${made} would be made`;
  const nothing = "No ids are known, so Terraform would make all of it";
  const there = made === 0 ? "All of it is in the account" : known === 0 ? nothing : isThere;
  return `${there}.\nNext: cd ${shellWord(place)} && terraform init && terraform plan\n`;
}

/** The version of schemas/export.schema.json. */
const EXPORT_FORMAT_VERSION = 1;

/** The same for programs: one document, newline-terminated. */
export function exportJson(exported: ExportedProject, { to, out }: Written): string {
  const { files, counts, known, pending, leftOut } = exported;
  const json = {
    format_version: EXPORT_FORMAT_VERSION,
    to,
    out,
    files: files.map(({ file }) => file),
    exported: { ...counts },
    with_id: known,
    pending,
    left_out: leftOut.map(({ address, what, detail }) => ({ address, what, detail })),
  };
  return `${jsonText(json, 2)}\n`;
}
