/** Export (`tenon/export`): writes what a project declares for other tools: Terraform, octoDNS, name servers, spreadsheets. */

import isEqual from "fast-deep-equal";
import type { Failure, ReadApi } from "../model/api.ts";
import type { Change } from "../model/change.ts";
import type { Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Live } from "../model/live.ts";
import type { Plan } from "../model/plan.ts";
import type { ObjectId } from "../model/resource.ts";
import type { ExportOptions } from "../units/zone/export.ts";
import { collectExported, readAccount } from "./collect.ts";
import type { Exported, ExportedFile, LeftOut, Written } from "./exported.ts";
import { isWhole } from "./zones.ts";

export type { ExportOptions } from "../units/zone/export.ts";
export type { ExportedFile, LeftOut } from "./exported.ts";

export const EXPORT_FORMATS = ["terraform", "octodns", "zone", "csv"] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportRequest {
  readonly desired: Desired;
  readonly format: ExportFormat;
  /** null: nothing is sent. Then there are no ids, and what the manifests leave to the account is not known. */
  readonly account: PlannedAccount | null;
  /** For `zone`. */
  readonly zones: ExportOptions;
  /** For `terraform`: from the folder of what is written to the project's; ends with a slash, or is empty. */
  readonly projectPath: string;
}

/** A plan of the whole project without refusals, with what it was made from. */
export interface PlannedAccount {
  readonly plan: Plan;
  readonly live: Live;
  readonly api: ReadApi;
  readonly signal?: AbortSignal;
}

export interface ExportedProject {
  readonly ok: true;
  readonly files: readonly ExportedFile[];
  readonly counts: ExportCounts;
  /** How many of the counted are in the account, and have its ids. */
  readonly known: number;
  /** Changes that an apply would make: what is written is how it would leave the account. */
  readonly pending: number;
  /** What the format cannot hold: never dropped in silence. */
  readonly leftOut: readonly LeftOut[];
  /** Warnings about what was made up. */
  readonly notes: readonly Diagnostic[];
}

export type ExportResult =
  | ExportedProject
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

export interface ExportCounts {
  readonly vpcs: number;
  readonly subnets: number;
  readonly domains: number;
  readonly records: number;
  readonly images: number;
}

/** Makes the texts of files. Writes nothing. */
export async function exportProject(request: ExportRequest): Promise<ExportResult> {
  const { desired, format, account } = request;
  const read = account === null ? null : await readFor(account, desired, format);
  if (read?.ok === false) return read;
  const exported = collectExported(desired, read?.account ?? null);
  const written = await write(exported, request);
  return {
    ok: true,
    notes: [],
    ...written,
    ...count(exported, format, written.leftOut),
    pending: account?.plan.changes.filter(isPending).length ?? 0,
  };
}

async function write(
  exported: Exported,
  { format, zones, projectPath }: ExportRequest,
): Promise<Written & { readonly notes?: readonly Diagnostic[] }> {
  switch (format) {
    case "terraform":
      return (await import("./terraform.ts")).writeTerraform(exported, { projectPath });
    case "octodns":
      return (await import("./octodns.ts")).writeOctodns(exported);
    case "zone":
      return (await import("./zones.ts")).writeZones(exported, zones);
    case "csv":
      return (await import("./csv.ts")).writeCsv(exported);
  }
}

/** What was written, and not merely collected. */
function count(
  exported: Exported,
  format: ExportFormat,
  leftOut: readonly LeftOut[],
): Pick<ExportedProject, "counts" | "known"> {
  const onlyZones = format === "octodns" || format === "zone";
  const missing = new Set(
    leftOut.flatMap(({ what, address }) => (what === "image" || what === "domain" ? [address] : [])),
  );
  const isThere = ({ address, id }: { readonly address: string; readonly id: ObjectId | null }) =>
    id !== null || !missing.has(address);
  const vpcs = onlyZones ? [] : exported.vpcs;
  const images = onlyZones ? [] : exported.images.filter(isThere);
  const written = exported.domains.filter(onlyZones ? isWhole : isThere);
  const domains = written.filter(({ isPart }) => !isPart);
  const subnets = vpcs.flatMap((vpc) => vpc.subnets);
  const records = written.flatMap((domain) => domain.records ?? []);
  const all = { vpcs, subnets, domains, records, images };
  const known = Object.values<readonly { readonly id: ObjectId | null }[]>(all).flat();
  return {
    counts: {
      vpcs: vpcs.length,
      subnets: subnets.length,
      domains: domains.length,
      records: records.length,
      images: images.length,
    },
    known: known.filter(({ id }) => id !== null).length,
  };
}

/** Tags are not exported as they are declared but as they are, so that an object may be without one is no change. */
function isPending({ action, before, after }: Change): boolean {
  if (action !== "update" || before === null || after === null) return action !== "no-op";
  return Object.keys(after).some((field) => field !== "owner" && !isEqual(before[field], after[field]));
}

function readFor({ plan, live, api, signal }: PlannedAccount, desired: Desired, format: ExportFormat) {
  const options = { rendersZones: format === "zone", ...(signal === undefined ? {} : { signal }) };
  return readAccount({ plan, live }, desired, api, options);
}
