/** What is exported, whatever the format: the objects of a project in the service's own words, and what a format cannot say of them. */

import type { DnsRecord } from "../dns/record.ts";
import { type Annotations, annotationText } from "../model/annotations.ts";
import type { Address, Json, ObjectId } from "../model/resource.ts";
import type { ImageSource } from "../units/image/spec.ts";

export interface Exported {
  readonly vpcs: readonly ExportedVpc[];
  readonly domains: readonly ExportedDomain[];
  readonly images: readonly ExportedImage[];
  /** What the project says and no object of the account does. */
  readonly extras: readonly Extra[];
}

/** What an entry says for people. */
export interface ForPeople {
  readonly note: string | null;
  /** Absent: none. */
  readonly annotations?: Annotations;
}

/** As the text of a comment, which may have several lines; null if it says nothing. */
export function commentOf({ note, annotations }: ForPeople): string | null {
  const lines = [note ?? "", annotationText(annotations)].filter((text) => text !== "");
  return lines.length === 0 ? note : lines.join("\n");
}

interface ExportedObject extends ForPeople {
  readonly address: Address;
  /** null: it is not in the account, or the account was not read. */
  readonly id: ObjectId | null;
  readonly protect: boolean;
}

export interface ExportedVpc extends ExportedObject {
  readonly label: string;
  readonly region: string;
  /** As the service keeps it, with the owner's tag that it has there. */
  readonly description: string;
  readonly subnets: readonly ExportedSubnet[];
}

export interface ExportedSubnet extends ExportedObject {
  readonly label: string;
  readonly ipv4: string;
}

export interface ExportedDomain extends ExportedObject {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** As the service writes it. */
  readonly domain: string;
  /** Under the API's names, as the service keeps them: the tags with those that Tenon has set there. An absent one has the default. */
  readonly fields: Readonly<Record<string, Json>>;
  /** null: nobody knows them, as they are neither declared nor read, or are kept by a master elsewhere. */
  readonly records: readonly ExportedRecord[] | null;
  /** Records of the account that the project does not manage, and that stay. */
  readonly others: readonly DnsRecord[];
  /** Only some of its names are declared: the domain is another project's. */
  readonly isPart: boolean;
  /** The zone file that the service renders, line by line; empty if it was not read. */
  readonly rendered: readonly string[];
}

export interface ExportedRecord extends ForPeople {
  readonly address: Address;
  readonly id: ObjectId | null;
  readonly record: DnsRecord;
  /** The fields of requests: for a record of the account that does not change, as the service writes them. */
  readonly fields: Readonly<Record<string, Json>>;
}

export interface ExportedImage extends ExportedObject {
  readonly label: string;
  /** As the service keeps it, with the owner's tag that it has there. */
  readonly description: string;
  /** null: nobody knows how it was made. */
  readonly source: ImageSource | null;
}

/** A property of the project, or of an object in it, that has no counterpart in the account. */
export interface Extra {
  /** The key of the manifest, for example `ignore`. */
  readonly key: string;
  /** null: of the project as a whole. */
  readonly address: Address | null;
}

/** Something that a written file does not say. */
export interface LeftOut {
  /** null: of the project as a whole. */
  readonly address: Address | null;
  /** A key of the manifest, or a kind of object. */
  readonly what: string;
  /** A clause that follows what it is about: why, and what comes of it. */
  readonly detail: string;
}

export interface ExportedFile {
  /** Its name in the folder; without a slash. */
  readonly file: string;
  readonly text: string;
}

/** What a writer of one format makes of it. */
export interface Written {
  readonly files: readonly ExportedFile[];
  readonly leftOut: readonly LeftOut[];
}
