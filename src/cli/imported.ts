/** What an import took and left out, in words. */

import { escapeText, type ImportResult, type Sources } from "../index.ts";

type Imported = Extract<ImportResult, { ok: true }>;

/** One line for each record that was set aside: place, type, name, why. */
export function setAsideLines(setAside: Imported["setAside"], sources: Sources): string {
  return setAside
    .map(({ reason, type, name, detail, span }) => {
      const { line } = sources.position(span.file, span.start);
      const kind = reason === "soa" || reason === "apex-ns" ? "left out" : "not supported";
      return `${escapeText(`${span.file}:${line}: ${type} ${name === "" ? "@" : name}: ${kind}: ${detail}`)}\n`;
    })
    .join("");
}

export function importSummary({ taken, setAside, files }: Imported, out: string): string {
  const records = taken.domains.reduce((sum, domain) => sum + (domain.records?.length ?? 0), 0);
  const parts = [
    ...some(taken.vpcs.length, "VPC", "VPCs"),
    ...some(taken.domains.length, "domain", "domains"),
    ...some(records, "record", "records"),
    ...some(taken.images.length, "image", "images"),
  ];
  const left =
    setAside.length === 0 ? "" : ` ${counted(setAside.length, "record was", "records were")} left out, as told.`;
  const place = escapeText(out);
  return [
    `Imported ${parts.join(", ")} into ${place} (${counted(files.length, "file", "files")}).${left}\n`,
    `Next: tenon plan ${place}\n`,
  ].join("");
}

function some(number: number, one: string, many: string): string[] {
  return number === 0 ? [] : [counted(number, one, many)];
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
