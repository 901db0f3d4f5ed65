/**
 * Writes Terraform's HCL for the provider `linode/linode`: resources, and `import` blocks for what is in the account. Of the fields of an object
 * that is imported each is written that the provider would otherwise compare with its own default, so that a plan finds nothing to change.
 */

import type { Json } from "../model/resource.ts";
import { LOG_COMMAND } from "../model/text.ts";
import {
  commentOf,
  type Exported,
  type ExportedDomain,
  type ExportedImage,
  type ExportedRecord,
  type ExportedVpc,
  type Extra,
  type LeftOut,
  type Written,
} from "./exported.ts";

export interface TerraformOptions {
  /** From the folder of the HCL to the project's, where the files of images are; ends with a slash, or is empty. */
  readonly projectPath: string;
}

export const TERRAFORM_FILE = "main.tf";

/** `import` blocks came with 1.5. */
const HEAD = `terraform {
  required_version = ">= 1.5"

  required_providers {
    linode = {
      source  = "linode/linode"
      version = ">= 2.9"
    }
  }
}

# Takes its token from LINODE_TOKEN, and the address of another service from LINODE_URL.
provider "linode" {}
`;

const IMPORTS = `# Ties the resources to what is there. Once an apply has imported them, these blocks can go.
`;

export function writeTerraform({ vpcs, domains, images, extras }: Exported, options: TerraformOptions): Written {
  const writer = new TerraformWriter(options);
  for (const vpc of vpcs) writer.vpc(vpc);
  for (const domain of domains) writer.domain(domain);
  for (const image of images) writer.image(image);
  return {
    files: [{ file: TERRAFORM_FILE, text: writer.text() }],
    leftOut: [...writer.leftOut, ...extras.flatMap(unsaid)],
  };
}

/** Why Terraform does without it; a key that is not here is held, as Terraform leaves alone what it does not declare. */
const UNSAID: Readonly<Record<string, string>> = {
  account: "Terraform plans against whatever account its token is for",
  allow: "Terraform asks once for a whole plan; prevent_destroy is its only guard",
  family: "Terraform keeps each image that it declares, and destroys one whose resource is gone",
  lint: "Terraform does not look at what is in a zone",
  owner: "Terraform knows by its state what it manages; the tags stay in descriptions and tags until you take them out",
  part: "the domain is given by its id; Terraform asks nobody whether the names are its own",
  removed: "Terraform destroys what leaves its state; to forget without destroying takes a `removed` block of its own",
  shared_with: "Terraform leaves alone what it does not declare, and lets nobody else be told of it",
  track: "Terraform does not compare the file with the image",
};

function unsaid({ key, address }: Extra): LeftOut[] {
  const detail = UNSAID[key];
  return detail === undefined ? [] : [{ address, what: key, detail }];
}

class TerraformWriter {
  readonly leftOut: LeftOut[] = [];
  readonly #options: TerraformOptions;
  readonly #names = new Names();
  readonly #resources: string[] = [];
  readonly #imports: string[] = [];

  constructor(options: TerraformOptions) {
    this.#options = options;
  }

  text(): string {
    const imports = this.#imports.length === 0 ? [] : [IMPORTS + this.#imports.join("\n")];
    return [HEAD, ...this.#resources, ...imports].join("\n");
  }

  vpc(vpc: ExportedVpc): void {
    const { id, label, region, description, protect, subnets } = vpc;
    const note = commentOf(vpc);
    const name = this.#names.of("linode_vpc", [label]);
    const fields = { label, region, ...(id === null && description === "" ? {} : { description }) };
    this.#add("linode_vpc", name, { fields, note, protect }, id === null ? null : String(id));
    for (const subnet of subnets) {
      const own = this.#names.of("linode_vpc_subnet", [label, subnet.label]);
      const reference = new Expression(`linode_vpc.${name}.id`);
      const body = {
        fields: { vpc_id: reference, label: subnet.label, ipv4: subnet.ipv4 },
        note: commentOf(subnet),
        protect: subnet.protect,
      };
      this.#add("linode_vpc_subnet", own, body, id === null || subnet.id === null ? null : `${id},${subnet.id}`);
    }
  }

  domain(domain: ExportedDomain): void {
    const { address, zone, id, protect, records, isPart } = domain;
    const note = commentOf(domain);
    if (isPart && id === null) {
      const detail = "only a part of it is declared, and the id of the domain is not known";
      this.leftOut.push({ address, what: "domain", detail });
      return;
    }
    const name = this.#names.of("linode_domain", [zone]);
    if (!isPart)
      this.#add(
        "linode_domain",
        name,
        { fields: domainFields(domain), note, protect },
        id === null ? null : String(id),
      );
    if (records === null) {
      this.leftOut.push({
        address,
        what: "records",
        detail: "the manifests do not say what they are, and the account was not read",
      });
    }
    const domainId = isPart ? Number(id) : new Expression(`linode_domain.${name}.id`);
    for (const one of records ?? []) this.#record(zone, id, domainId, one);
  }

  #record(zone: string, domain: ExportedDomain["id"], domainId: Expression | number, one: ExportedRecord): void {
    const { id, record } = one;
    const note = commentOf(one);
    const label = record.name === "" ? "apex" : record.name.replaceAll("*", "wildcard");
    const name = this.#names.of("linode_domain_record", [zone, label, record.type.toLowerCase()]);
    const body = { fields: { domain_id: domainId, ...recordFields(one) }, note, protect: false };
    this.#add("linode_domain_record", name, body, domain === null || id === null ? null : `${domain},${id}`);
  }

  /**
   * An image that is there is read, not managed: the provider does not read from the account whether it has cloud-init, takes that for a change,
   * and would destroy the image to make it anew.
   */
  image(image: ExportedImage): void {
    const { address, id, label, description, source, protect } = image;
    const note = commentOf(image);
    if (id !== null) {
      const detail = "Terraform would make it anew to manage it, so it is a data source, whose id others can use";
      this.leftOut.push({ address, what: "image", detail });
      const name = this.#names.of("data.linode_image", [label]);
      this.#resources.push(
        `${comment(note)}data "linode_image" "${name}" {\n${aligned([["id", quote(String(id))]], 2)}}\n`,
      );
      return;
    }
    if (source?.type !== "upload") {
      const detail =
        source === null
          ? "it is not in the account, and nothing says how to make it"
          : "to capture it Terraform needs the id of the node, too, which the manifest does not have";
      this.leftOut.push({ address, what: "image", detail });
      return;
    }
    const fields = {
      ...{ label, file_path: `${this.#options.projectPath}${source.file}`, region: source.region },
      ...(description === "" ? {} : { description }),
      ...(source.cloud_init ? { cloud_init: true } : {}),
    };
    this.#add("linode_image", this.#names.of("linode_image", [label]), { fields, note, protect }, null);
  }

  /** @param id for the import; null: it is to be made */
  #add(type: string, name: string, { fields, note, protect }: Body, id: string | null): void {
    const nested = protect ? "\n  lifecycle {\n    prevent_destroy = true\n  }\n" : "";
    const attributes = aligned(
      Object.entries(fields).map(([field, value]) => [field, expression(value)] as const),
      2,
    );
    this.#resources.push(`${comment(note)}resource "${type}" "${name}" {\n${attributes}${nested}}\n`);
    if (id === null) return;
    this.#imports.push(`import {\n  to = ${type}.${name}\n  id = ${quote(id)}\n}\n`);
  }
}

interface Body {
  readonly fields: Readonly<Record<string, Json | Expression>>;
  readonly note: string | null;
  readonly protect: boolean;
}

const DOMAIN_FIELDS = [
  ...["description", "group", "soa_email", "master_ips", "axfr_ips"],
  ...["refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags"],
] as const;

/** What is empty or 0 is the provider's default, too. */
function domainFields({ domain, fields }: ExportedDomain): Record<string, Json> {
  const written: Record<string, Json> = { domain, type: fields["type"] ?? "master" };
  if ((fields["status"] ?? "active") !== "active") written["status"] = fields["status"] ?? "";
  for (const field of DOMAIN_FIELDS) {
    const value = fields[field];
    const isEmpty = value === undefined || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) written[field] = value;
  }
  return written;
}

/** Values that a type does not have are 0 in the account, and computed by the provider. The name of an SRV is made of the two others. */
function recordFields({ id, record, fields }: ExportedRecord): Record<string, Json> {
  const { type } = record;
  const isService = type === "SRV";
  const written: Record<string, Json> = isService ? {} : name(fields["name"]);
  written["record_type"] = type;
  for (const field of ["service", "protocol"] as const) {
    const value = fields[field] ?? null;
    if (value !== null && (isService || id !== null)) written[field] = value;
  }
  written["target"] = fields["target"] ?? "";
  if (type === "MX" || isService) written["priority"] = record.priority ?? 0;
  if (isService) Object.assign(written, { weight: record.weight ?? 0, port: record.port ?? 0 });
  const tag = fields["tag"] ?? null;
  if (tag !== null) written["tag"] = tag;
  if (record.ttl_sec !== 0) written["ttl_sec"] = record.ttl_sec;
  return written;
}

function name(value: Json | undefined): Record<string, Json> {
  return value === undefined || value === null || value === "" ? {} : { name: value };
}

// HCL, in the form that `terraform fmt` keeps.

class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function expression(value: Json | Expression): string {
  if (value instanceof Expression) return value.text;
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map((one: Json) => expression(one)).join(", ")}]`;
  return String(value);
}

function aligned(attributes: readonly (readonly [string, string])[], indent: number): string {
  const width = attributes.reduce((most, [name]) => Math.max(most, name.length), 0);
  return attributes.map(([name, value]) => `${" ".repeat(indent)}${name.padEnd(width)} = ${value}\n`).join("");
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };

/**
 * A quoted template that is the text itself. The brace of `${` and `%{` is written by its code, as the doubled sign that HCL has for it is read
 * otherwise behind another one of its kind.
 */
export function quote(text: string): string {
  const escaped = text
    .replace(/[\n\r\t"\\]/g, (character) => ESCAPES[character] ?? character)
    .replace(/([$%])\{/g, (_, sign: string) => `${sign}\\u007b`)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, byCode)
    .replace(LOG_COMMAND, byCode);
  return `"${escaped}"`;
}

function byCode(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}

function comment(note: string | null): string {
  if (note === null) return "";
  return note
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `# ${line.replace(/[\p{Cc}\p{Cf}]/gu, " ").replace(LOG_COMMAND, " #")}`.trimEnd())
    .map((line) => `${line}\n`)
    .join("");
}

/** The service takes names of 253 characters: a reader of a plan does not. */
const MAX_NAME_CHARACTERS = 100;

/** Names of resources: unique for each type, of letters, digits and underscores. */
class Names {
  readonly #taken: Set<string> = new Set();
  /** The number that a name had last behind it. */
  readonly #last: Map<string, number> = new Map();

  of(type: string, parts: readonly string[]): string {
    const plain = parts.map((part) => part.toLowerCase().replace(/[^a-z0-9]+/g, "_")).join("_");
    const trimmed = plain.slice(0, MAX_NAME_CHARACTERS).replace(/^_+|_+$/g, "");
    const stem = /^[a-z]/.test(trimmed) ? trimmed : `_${trimmed}`;
    const key = `${type}.${stem}`;
    let number = this.#last.get(key) ?? 0;
    let name: string;
    do {
      number += 1;
      name = number === 1 ? stem : `${stem}_${number}`;
    } while (this.#taken.has(`${type}.${name}`));
    this.#last.set(key, number);
    this.#taken.add(`${type}.${name}`);
    return name;
  }
}
