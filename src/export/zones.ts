/** Writes zones as master files (RFC 1035), and says what files of zones alone, in whatever form, leave out. */

import { zoneFileName } from "../files/folder.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type ExportOptions, exportZone } from "../units/zone/export.ts";
import type { Exported, ExportedDomain, ExportedFile, Extra, ForPeople, LeftOut, Written } from "./exported.ts";

/** With warnings of what is not in the files, or was made up. */
export function writeZones(
  exported: Exported,
  options: ExportOptions,
): Written & { readonly notes: readonly Diagnostic[] } {
  const files: ExportedFile[] = [];
  const notes: Diagnostic[] = [];
  const leftOut: LeftOut[] = [
    ...zoneLosses(exported),
    ...exported.domains.flatMap(notesOfRecords),
    ...exported.extras.flatMap((extra) => zoneExtras(extra, "a server that loads the file does not serve")),
  ];
  for (const domain of exported.domains) {
    if (!isWhole(domain)) continue;
    const { zone, fields, records, others, rendered } = domain;
    const all = [...(records ?? []).map(({ record }) => record), ...others];
    const written = exportZone({ zone, fields, records: all, rendered }, options);
    files.push({ file: zoneFileName(zone, "zone"), text: written.text });
    for (const note of written.notes) notes.push(note);
  }
  return { files, leftOut, notes };
}

function notesOfRecords({ records }: ExportedDomain): LeftOut[] {
  const said = new Set(
    records?.flatMap(({ address, ...one }) => wordsFor(one).map((what) => JSON.stringify([address, what]))),
  );
  return [...said].map((key): LeftOut => {
    const [address, what] = JSON.parse(key) as [string, string];
    return { address, what, detail: "a zone file has no place for it" };
  });
}

/** The keys of what an entry says for people. */
function wordsFor({ note, annotations }: ForPeople): string[] {
  return [...(note === null ? [] : ["note"]), ...Object.keys(annotations ?? {})];
}

/** Whether a file of its own can hold the zone. */
export function isWhole({ records, isPart, fields }: ExportedDomain): boolean {
  return records !== null && !isPart && fields["type"] !== "slave";
}

/** All but whole zones, and of these all but their records. */
export function zoneLosses({ vpcs, domains, images }: Exported): LeftOut[] {
  const detail = "the format has DNS zones alone";
  return [
    ...vpcs.map(({ address }) => ({ address, what: "VPC", detail })),
    ...images.map(({ address }) => ({ address, what: "image", detail })),
    ...domains.flatMap(lossesOfDomain),
  ];
}

function lossesOfDomain(domain: ExportedDomain): LeftOut[] {
  const { address, fields, records, others, isPart, protect } = domain;
  if (isPart)
    return [
      { address, what: "part", detail: "its file would have to hold the whole zone, which is another project's" },
    ];
  if (fields["type"] === "slave") return [{ address, what: "slave", detail: "its records are its master's" }];
  if (records === null) {
    return [
      { address, what: "records", detail: "the manifests do not say what they are, and the account was not read" },
    ];
  }
  const isSet = (field: string) => Array.isArray(fields[field]) && fields[field].length > 0;
  const detail = "the format has no place for it";
  return [
    ...(fields["status"] === "disabled"
      ? [{ address, what: "status", detail: "it is disabled, and its file would be served" }]
      : []),
    ...(["description", "group"] as const)
      .filter((field) => (fields[field] ?? "") !== "")
      .map((what) => ({ address, what, detail })),
    ...(["axfr_ips", "tags"] as const).filter(isSet).map((what) => ({ address, what, detail })),
    ...(protect ? [{ address, what: "protect", detail }] : []),
    ...wordsFor(domain).map((what) => ({ address, what, detail })),
    ...(others.length === 0
      ? []
      : [
          {
            address,
            what: "others' records",
            detail: `${others.length} of the account that the project leaves alone are written, as they are now`,
          },
        ]),
  ];
}

/** @param danger what becomes of records that a file does not hold: a clause that ends before them */
export function zoneExtras({ key, address }: Extra, danger: string): LeftOut[] {
  const kept = `${danger} what is not in its file, whoever keeps it`;
  const details: Readonly<Record<string, string>> = {
    account: "it belongs to this service",
    allow: "nothing is asked for consent",
    family: "the format has DNS zones alone",
    ignore: kept,
    lint: "no rule is switched off",
    owner: "nothing marks whose an object is",
    records_policy: kept,
    removed: "a zone without a file is forgotten, not deleted",
    shared_with: kept,
    track: "the format has DNS zones alone",
  };
  const detail = details[key];
  return detail === undefined ? [] : [{ address, what: key, detail }];
}
