/** The resources of Terraform → the entries that declare the same objects, by the way of an import from the account that they stand for. */

import type { WireDomain, WireImage, WireRecord, WireSubnet, WireVpc } from "../api/wire.ts";
import { relativeName } from "../dns/name.ts";
import { toAscii } from "../dns/unicode.ts";
import type { ListRequest, ReadApi } from "../model/api.ts";
import { type Diagnostic, Sources, type Span } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { escapeGlob } from "../model/text.ts";
import { type Import, type ImportedDomain, type LeftElsewhere, type Remark, someOf } from "./collect.ts";
import { entryAt, type JsonValue, spanOf } from "./json-source.ts";
import { importLive, type LiveRequest } from "./live.ts";
import { badTerraform, readTerraformFile, type TerraformResource } from "./terraform-files.ts";

export interface TerraformRequest extends Omit<LiveRequest, "api" | "watch"> {
  readonly paths: readonly string[];
}

/**
 * A state holds what the service answered, so it is read like the account: a project that an import of the account would make plans empty,
 * and this one is made in the same way.
 */
export async function importTerraform(request: TerraformRequest): Promise<Import> {
  const inventory = new Inventory();
  for (const path of request.paths) inventory.add(await readTerraformFile(path, inventory));
  inventory.connect();
  const read = await importLive({ ...request, api: inventory, watch: {} });
  if (!read.ok) throw new Error(`a list in memory failed: ${read.what}`);
  const { domains, others } = read.taken;
  const { vpcs } = others;
  const taken = {
    ...read.taken,
    domains: domains.map((domain) => inventory.withOwnRecords(domain)),
    others: vpcs === undefined ? others : { ...others, vpcs: vpcs.map((entry) => inventory.withOwnSubnets(entry)) },
  };
  const { sources, remarks } = inventory;
  const fileOrder = new Map(request.paths.map((path, index) => [path, index]));
  const placeOf = ({ file }: Span) => fileOrder.get(file) ?? 0;
  const elsewhere = inventory.elsewhere.sort(
    ({ span: a }, { span: b }) => placeOf(a) - placeOf(b) || a.start - b.start,
  );
  const diagnostics = [...inventory.diagnostics, ...read.diagnostics];
  const { already } = read;
  return {
    taken,
    diagnostics,
    skipped: [],
    elsewhere,
    remarks,
    sources,
    ...(already === undefined ? {} : { already }),
  };
}

type Kind = "linode_vpc" | "linode_vpc_subnet" | "linode_domain" | "linode_domain_record" | "linode_image";

/** What an object cannot be declared without; other attributes may be left out. Of a record, every attribute is a part of its value. */
const ESSENTIAL: Readonly<Record<Kind, readonly string[]>> = {
  linode_vpc: ["label", "region"],
  linode_vpc_subnet: ["label", "ipv4", "vpc_id"],
  linode_domain: ["domain", "type", "soa_email", "master_ips"],
  linode_domain_record: [
    ...[
      "domain_id",
      "record_type",
      "name",
      "target",
      "ttl_sec",
      "priority",
      "weight",
      "port",
      "service",
      "protocol",
      "tag",
    ],
  ],
  linode_image: ["label"],
};

const OPTIONAL: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  linode_vpc: ["description"],
  linode_domain: [
    ...["status", "description", "group", "axfr_ips", "refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags"],
  ],
  linode_image: ["description"],
};

/** Attributes of the provider that no manifest has, and what becomes of them. */
const UNMANAGED: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  linode_vpc: ["ipv6"],
  linode_vpc_subnet: ["ipv6"],
  linode_image: ["replica_regions", "regions_to_replicate", "tags"],
};

const NO_SUCH_KIND = "only VPCs, subnets, domains, records and images are taken";
const OTHER_PROVIDER = "of another provider than linode/linode";
const DATA = "data sources are only read";
const DEPOSED = "replaced already, and to be deleted by Terraform";
const SECRET = "a value is marked sensitive, and no manifest is to hold it";
const ORPHAN = "the domain or VPC is not in the files, or left out itself";

/** An object of the account, with the resource that it was read from. */
interface Held<T> {
  readonly object: T;
  readonly resource: TerraformResource;
}

/** All that the files hold, as the service would list it. */
class Inventory implements ReadApi {
  readonly requestCount = 0;
  readonly sources: Sources = new Sources();
  readonly diagnostics: Diagnostic[] = [];
  readonly elsewhere: LeftElsewhere[] = [];
  readonly remarks: Remark[] = [];
  readonly #vpcs: Map<number, Held<WireVpc>> = new Map();
  /** The first VPC of each label, once all are there. */
  #firstByLabel: ReadonlyMap<string, number> | null = null;
  readonly #domains: Map<number, Held<WireDomain>> = new Map();
  readonly #images: Map<string, Held<WireImage>> = new Map();
  /** By the id of the VPC, or of the domain. */
  readonly #subnets: Map<number, Map<number, Held<WireSubnet>>> = new Map();
  readonly #records: Map<number, Map<number, Held<WireRecord>>> = new Map();
  /** Ids of those of which a part is left out in a way that no `ignore` can say: the whole list is not managed. */
  readonly #partialVpcs: Set<number> = new Set();
  readonly #partialDomains: Set<number> = new Set();
  readonly #domainIds: Map<string, number> = new Map();
  /** Domain id → patterns of the records that are left out. */
  readonly #ignored: Map<number, JsonObject[]> = new Map();
  readonly #lists: Map<string, readonly JsonObject[]> = new Map();
  readonly #providers: Set<string> = new Set();
  readonly report = (diagnostic: Diagnostic): void => void this.diagnostics.push(diagnostic);

  add(resources: readonly TerraformResource[]): void {
    const known = new Map<string, Span>();
    for (const resource of resources) {
      const { address, type, isData, isDeposed, span } = resource;
      const first = known.get(address);
      if (first !== undefined && !isDeposed) {
        const found = badTerraform(`${address} is there twice`, span);
        this.report({ ...found, related: [{ message: "first here", span: first }] });
        continue;
      }
      if (isData) this.#leaveOut(resource, DATA);
      else if (!isKind(type)) this.#leaveOut(resource, NO_SUCH_KIND);
      else if (!isOurProvider(resource.provider)) this.#leaveOut(resource, OTHER_PROVIDER);
      else if (isDeposed) this.#leaveOut(resource, DEPOSED);
      else this.#take(resource, type);
      if (!isDeposed) known.set(address, span);
    }
  }

  /** Puts subnets and records where they belong; until then the object that they belong to may be still to come. */
  connect(): void {
    for (const [id, subnets] of this.#subnets) {
      if (!this.#vpcs.has(id)) for (const { resource } of subnets.values()) this.#leaveOut(resource, ORPHAN);
    }
    for (const [id, records] of this.#records) {
      if (!this.#domains.has(id)) for (const { resource } of records.values()) this.#leaveOut(resource, ORPHAN);
      else this.#leaveOutNeighbours(id, records);
    }
    const vpcs = [...this.#vpcs].map(([id, { object }]) => ({ ...object, subnets: objectsOf(this.#subnets.get(id)) }));
    this.#hold(["vpcs"], vpcs);
    this.#hold(["domains"], objectsOf(this.#domains));
    this.#hold(["images"], objectsOf(this.#images));
    for (const [id, { object }] of this.#domains) {
      this.#domainIds.set(asciiOf(object.domain), id);
      this.#hold(["domains", String(id), "records"], objectsOf(this.#records.get(id)));
    }
    if (this.#providers.size > 1) this.report(severalProviders([...this.#providers]));
  }

  list({ path }: ListRequest) {
    const items = this.#lists.get(path.join("/")) ?? [];
    return Promise.resolve({ ok: true as const, items, total: items.length });
  }

  get(): never {
    throw new Error("a file answers lists only");
  }

  /** Terraform leaves records alone that it does not manage: a domain of which it has none stays so. */
  withOwnRecords(domain: ImportedDomain): ImportedDomain {
    const id = this.#domainIds.get(domain.name) ?? 0;
    if (this.#partialDomains.has(id) || (this.#records.get(id)?.size ?? 0) === 0) return { ...domain, records: null };
    const ignored = this.#ignored.get(id) ?? [];
    if (ignored.length === 0) return domain;
    const { ignore = [] } = domain.entry as { ignore?: readonly Json[] };
    return { ...domain, entry: { ...domain.entry, ignore: [...ignore, ...ignored] } };
  }

  /** The same for the subnets of a VPC. */
  withOwnSubnets(entry: JsonObject): JsonObject {
    // Of several the last one that is entered stays.
    this.#firstByLabel ??= new Map([...this.#vpcs].reverse().map(([id, { object }]) => [object.label, id]));
    const id = typeof entry["id"] === "number" ? entry["id"] : (this.#firstByLabel.get(String(entry["label"])) ?? 0);
    if (!this.#partialVpcs.has(id) && (this.#subnets.get(id)?.size ?? 0) > 0) return entry;
    const { subnets: _, ...rest } = entry;
    return rest;
  }

  #take(resource: TerraformResource, kind: Kind): void {
    const fields = new Attributes(resource, this.report);
    const secrets = ESSENTIAL[kind].filter((key) => resource.sensitive.has(key));
    if (secrets.length > 0) {
      this.#leaveOut(resource, SECRET);
      this.#spare(kind, fields, resource.sensitive);
      return;
    }
    this.#remark(resource, kind, fields);
    this.#providers.add(resource.provider);
    switch (kind) {
      case "linode_vpc":
        this.#keep(this.#vpcs, vpcOf(fields), resource, "VPC");
        break;
      case "linode_domain":
        this.#keep(this.#domains, domainOf(fields), resource, "domain");
        break;
      case "linode_image":
        this.#keep(this.#images, imageOf(fields), resource, "image");
        break;
      case "linode_vpc_subnet":
        this.#keep(within(this.#subnets, fields.id("vpc_id")), subnetOf(fields), resource, "subnet");
        break;
      case "linode_domain_record":
        this.#keep(within(this.#records, fields.id("domain_id")), recordOf(fields), resource, "record");
    }
  }

  #keep<Id, T extends { readonly id: Id }>(
    map: Map<Id, Held<T>>,
    object: T | null,
    resource: TerraformResource,
    what: string,
  ): void {
    if (object === null) return;
    const first = map.get(object.id);
    if (first === undefined) map.set(object.id, { object, resource });
    else this.#leaveOut(resource, `the same ${what} as ${first.resource.address}`);
  }

  /** A plan must not delete what is left out because it is a secret. */
  #spare(kind: Kind, fields: Attributes, secret: ReadonlySet<string>): void {
    if (kind === "linode_vpc_subnet" && !secret.has("vpc_id")) this.#partialVpcs.add(fields.id("vpc_id"));
    if (kind !== "linode_domain_record" || secret.has("domain_id")) return;
    const id = fields.id("domain_id");
    const name = fields.text("name") ?? "";
    const type = fields.text("record_type");
    // The name of an SRV is made of its service and protocol, which may be all that is stated.
    if (secret.has("name") || type === null || (type === "SRV" && name === "")) this.#partialDomains.add(id);
    else {
      const known = this.#ignored.get(id);
      if (known === undefined) this.#ignored.set(id, [{ name, type }]);
      else known.push({ name, type });
    }
  }

  /** A pattern of `ignore` is about a name and a type: of these no record can be declared. */
  #leaveOutNeighbours(id: number, records: Map<number, Held<WireRecord>>): void {
    const zone = asciiOf(this.#domains.get(id)?.object.domain ?? "");
    const secret = new Map(
      (this.#ignored.get(id) ?? []).map(({ name, type }) => {
        const own = relativeTo(zone, String(name));
        const pattern: JsonObject = { name: own === "" ? "@" : escapeGlob(own), type: String(type) };
        return [`${String(type)} ${own}`, pattern] as const;
      }),
    );
    this.#ignored.set(id, [...secret.values()]);
    for (const [recordId, { object, resource }] of records) {
      if (!secret.has(`${object.type} ${relativeTo(zone, object.name)}`)) continue;
      records.delete(recordId);
      this.#leaveOut(resource, "of the same name and type as a record that is left out");
    }
  }

  #remark(resource: TerraformResource, kind: Kind, fields: Attributes): void {
    const { file, address, span } = resource;
    const remark = (key: string, detail: string) =>
      this.remarks.push({ file, what: `\`${key}\` of ${address}`, detail, span });
    for (const key of OPTIONAL[kind] ?? []) {
      if (resource.sensitive.has(key)) remark(key, "is marked sensitive; the manifest does not state it");
    }
    for (const key of UNMANAGED[kind] ?? []) {
      if (fields.isStated(key)) remark(key, "is not managed by Tenon, and stays as it is");
    }
    if (resource.isTainted) {
      this.remarks.push({
        file,
        what: address,
        detail: "is tainted: Terraform would replace it; it is taken as it is",
        span,
      });
    }
  }

  #leaveOut({ type, address, span }: TerraformResource, detail: string): void {
    this.elsewhere.push({ type, address, detail, span });
  }

  #hold(path: readonly string[], objects: readonly unknown[]): void {
    this.#lists.set(path.join("/"), objects as readonly JsonObject[]);
  }
}

function isKind(type: string): type is Kind {
  return Object.hasOwn(ESSENTIAL, type);
}

/** `provider["registry.opentofu.org/linode/linode"].alias`, the same without what is around the quotes, and `provider.linode` of 0.12. */
function isOurProvider(provider: string): boolean {
  const source =
    /provider\["([^"]*)"\]/.exec(provider)?.[1] ?? /(?:^|\.)provider\.([^.]+)/.exec(provider)?.[1] ?? provider;
  return /^(?:(?:.*\/)?(?:linode|-)\/)?linode$/.test(source);
}

function severalProviders(providers: readonly string[]): Diagnostic {
  return {
    code: "several-providers",
    severity: "warning",
    summary: `the resources are of ${providers.length} configurations of the provider`,
    detail: `${someOf(providers)}. If these are several accounts, the project would make all of it in each of them.`,
    fix: "Import what is in one account only, for example with --domain and --vpc.",
  };
}

function within<T>(map: Map<number, Map<number, Held<T>>>, id: number): Map<number, Held<T>> {
  const inner = map.get(id) ?? new Map<number, Held<T>>();
  map.set(id, inner);
  return inner;
}

function objectsOf<T>(held: ReadonlyMap<unknown, Held<T>> | undefined): T[] {
  return [...(held?.values() ?? [])].map(({ object }) => object);
}

function asciiOf(name: string): string {
  return toAscii(name) ?? name;
}

/** A name as a configuration may state it, relative or in full. */
function relativeTo(zone: string, name: string): string {
  const ascii = asciiOf(name.replace(/\.$/, ""));
  return ascii === "@" ? "" : (relativeName(ascii, zone) ?? ascii);
}

// Attributes → objects of the service. What the provider leaves null is what the service says of a field that nobody set.

function vpcOf(fields: Attributes): WireVpc | null {
  const { label, region } = fields.needed("label", "region");
  const description = fields.text("description") ?? "";
  return fields.complete({ id: fields.id("id"), label, region, description, subnets: [], created: "", updated: null });
}

function subnetOf(fields: Attributes): WireSubnet | null {
  const { label, ipv4 } = fields.needed("label", "ipv4");
  return fields.complete({ id: fields.id("id"), label, ipv4, nodes: [], created: "", updated: null });
}

function domainOf(fields: Attributes): WireDomain | null {
  const { domain, type } = fields.needed("domain", "type");
  return fields.complete({
    id: fields.id("id"),
    domain,
    type: type as WireDomain["type"],
    status: (fields.text("status") ?? "active") as WireDomain["status"],
    description: fields.text("description") ?? "",
    group: fields.text("group") ?? "",
    soa_email: fields.text("soa_email") ?? "",
    master_ips: fields.texts("master_ips"),
    axfr_ips: fields.texts("axfr_ips"),
    refresh_sec: fields.number("refresh_sec"),
    retry_sec: fields.number("retry_sec"),
    expire_sec: fields.number("expire_sec"),
    ttl_sec: fields.number("ttl_sec"),
    tags: fields.texts("tags"),
    created: "",
    updated: "",
  });
}

function recordOf(fields: Attributes): WireRecord | null {
  const { record_type: type, target } = fields.needed("record_type", "target");
  return fields.complete({
    id: fields.id("id"),
    type,
    name: fields.text("name") ?? "",
    target,
    ttl_sec: fields.number("ttl_sec"),
    priority: fields.number("priority"),
    weight: fields.number("weight"),
    port: fields.number("port"),
    protocol: fields.text("protocol"),
    service: fields.text("service"),
    tag: fields.text("tag"),
    created: "",
    updated: "",
  });
}

function imageOf(fields: Attributes): WireImage | null {
  const { id, label } = fields.needed("id", "label");
  return fields.complete({
    id,
    label,
    description: fields.text("description") ?? "",
    status: (fields.text("status") ?? "available") as WireImage["status"],
    type: "manual",
    is_public: false,
    ...{ created_by: "", created: "", updated: "", expiry: null, eol: null, deprecated: false },
    ...{ size: 0, vendor: null, capabilities: [] },
  });
}

/** The attributes of one resource. A value of a wrong type is reported; nothing is made of the resource then. */
class Attributes {
  readonly #resource: TerraformResource;
  readonly #report: (diagnostic: Diagnostic) => void;
  #isBroken = false;

  constructor(resource: TerraformResource, report: (diagnostic: Diagnostic) => void) {
    this.#resource = resource;
    this.#report = report;
  }

  /** null if the attributes are not what the provider writes. */
  complete<T>(object: T): T | null {
    return this.#isBroken ? null : object;
  }

  /** Whether the attribute has a value that says something. */
  isStated(key: string): boolean {
    const value = this.#value(key);
    return value !== null && (value.kind !== "list" || value.items.length > 0);
  }

  text(key: string): string | null {
    const value = this.#value(key);
    if (value === null || value.kind === "text") return value?.text ?? null;
    return this.#refuse(key, "text", value);
  }

  needed<Key extends string>(...keys: readonly Key[]): Readonly<Record<Key, string>> {
    const texts = keys.map((key) => {
      // The target of a null MX reads back as an empty text.
      const text = this.text(key);
      if (text === null && !this.#isBroken) this.#refuse(key, "text", this.#value(key));
      return [key, text ?? ""] as const;
    });
    return Object.fromEntries(texts) as Record<Key, string>;
  }

  texts(key: string): string[] {
    const value = this.#value(key);
    if (value === null) return [];
    if (value.kind !== "list") return this.#refuse(key, "list of texts", value) ?? [];
    return value.items.flatMap((item) =>
      item.kind === "text" ? [item.text] : (this.#refuse(key, "list of texts", item) ?? []),
    );
  }

  /** 0 if it is not stated. */
  number(key: string): number {
    const value = this.#value(key);
    if (value === null) return 0;
    if (value.kind === "number" && Number.isSafeInteger(value.number) && value.number >= 0) return value.number;
    return this.#refuse(key, "number", value) ?? 0;
  }

  /** Resources have their own ids as texts, and those of others as numbers. */
  id(key: string): number {
    const value = this.#value(key);
    const text = value?.kind === "text" && /^\d{1,15}$/.test(value.text) ? Number(value.text) : null;
    if (text !== null) return text;
    if (value?.kind === "number" && Number.isSafeInteger(value.number) && value.number >= 0) return value.number;
    return this.#refuse(key, "id", value) ?? 0;
  }

  /** Of a sensitive attribute nothing is read. */
  #value(key: string): JsonValue | null {
    const { attributes, sensitive } = this.#resource;
    const value = sensitive.has(key) ? undefined : entryAt(attributes, key);
    return value === undefined || (value.kind === "word" && value.word === null) ? null : value;
  }

  #refuse(key: string, what: string, value: JsonValue | null): null {
    const { address, file, span } = this.#resource;
    const place = value === null ? span : spanOf(file, value);
    if (!this.#isBroken) this.#report(badTerraform(`\`${key}\` of ${address} is no ${what}`, place));
    this.#isBroken = true;
    return null;
  }
}
