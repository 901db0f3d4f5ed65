/** Writes one CSV table of everything: a row for each VPC, subnet, domain, record and image. */

import type { Json, ObjectId } from "../model/resource.ts";
import { type Column, renderCsv } from "../render/listing.ts";
import type { Exported, ExportedDomain, Extra, ForPeople, LeftOut, Written } from "./exported.ts";

interface Row {
  readonly kind: "vpc" | "subnet" | "domain" | "record" | "image";
  readonly address: string;
  readonly id: ObjectId | null;
  /** The label or domain that it is in. */
  readonly parent?: string;
  readonly name: string;
  /** Of a record, or of a domain. */
  readonly type?: string;
  /** The range of a subnet, the target of a record, the masters of a slave, the file of an image. */
  readonly value?: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly port?: number;
  readonly tag?: string;
  readonly ttl_sec?: number;
  readonly region?: string;
  readonly status?: string;
  readonly soa_email?: string;
  readonly description?: string;
  readonly tags?: string;
  readonly protect?: boolean;
  readonly note: string | null;
  readonly entry_owner?: string;
  readonly reason?: string;
  readonly review_by?: string;
  readonly expires?: string;
}

const FIELDS = [
  ...["kind", "address", "id", "parent", "name", "type", "value", "priority", "weight", "port", "tag", "ttl_sec"],
  ...["region", "status", "soa_email", "description", "tags", "protect", "note"],
  ...["entry_owner", "reason", "review_by", "expires"],
] as (keyof Row)[];

const COLUMNS: readonly Column<Row>[] = FIELDS.map((field) => ({
  field,
  heading: null,
  value: (row) => row[field] ?? null,
}));

export const CSV_FILE = "tenon.csv";

export function writeCsv(exported: Exported): Written {
  const rows = [
    ...exported.vpcs.flatMap((vpc): Row[] => {
      const { subnets, label, address, id, region, description, protect } = vpc;
      return [
        { kind: "vpc", address, id, name: label, region, description, protect, ...forPeople(vpc) },
        ...subnets.map((subnet): Row => {
          const { address, id, ipv4, protect } = subnet;
          const place = { address, id, parent: label, name: subnet.label };
          return { kind: "subnet", ...place, value: ipv4, protect, ...forPeople(subnet) };
        }),
      ];
    }),
    ...exported.domains.flatMap(rowsOfDomain),
    ...exported.images.map((image): Row => {
      const { address, id, label, description, source, protect } = image;
      const made = source?.type === "upload" ? { value: source.file, region: source.region } : {};
      return { kind: "image", address, id, name: label, ...made, description, protect, ...forPeople(image) };
    }),
  ];
  const leftOut = [...exported.domains.flatMap(lossesOfDomain), ...exported.extras.map(unsaid)];
  return { files: [{ file: CSV_FILE, text: renderCsv(rows, COLUMNS) }], leftOut };
}

/** `owner` is the owner's tag elsewhere, so that of an entry is `entry_owner`. */
function forPeople({ note, annotations = {} }: ForPeople): Pick<Row, "note" | "entry_owner" | "reason"> {
  const { owner, ...others } = annotations;
  return { note, ...(owner === undefined ? {} : { entry_owner: owner }), ...others };
}

function rowsOfDomain(domain: ExportedDomain): Row[] {
  const { address, id, zone, fields, records, protect, isPart } = domain;
  const text = (field: string) => String(fields[field] ?? "");
  const list = (field: string) => ((fields[field] ?? []) as readonly Json[]).map(String).join(" ");
  const own: Row = {
    ...{
      kind: "domain",
      address,
      id,
      name: zone,
      type: text("type"),
      value: list("master_ips"),
      status: text("status"),
    },
    ...{
      soa_email: text("soa_email"),
      description: text("description"),
      tags: list("tags"),
      protect,
      ...forPeople(domain),
    },
    ttl_sec: Number(fields["ttl_sec"] ?? 0),
  };
  return [
    ...(isPart ? [] : [own]),
    ...(records ?? []).map((one): Row => {
      const { type, name, target, ttl_sec, ...values } = one.record;
      const place = { address: one.address, id: one.id, parent: zone, name };
      return { kind: "record", ...place, type, value: target, ttl_sec, ...values, ...forPeople(one) };
    }),
  ];
}

function lossesOfDomain({ address, fields, records }: ExportedDomain): LeftOut[] {
  const others = ["group", "axfr_ips", "refresh_sec", "retry_sec", "expire_sec"].filter((field) => {
    const value = fields[field] ?? "";
    return value !== "" && value !== 0 && !(Array.isArray(value) && value.length === 0);
  });
  return [
    ...others.map((what) => ({ address, what, detail: "the table has no column for it" })),
    ...(records === null
      ? [{ address, what: "records", detail: "the manifests do not say what they are, and the account was not read" }]
      : []),
  ];
}

function unsaid({ key, address }: Extra): LeftOut {
  return { address, what: key, detail: "the table has no column for it" };
}
