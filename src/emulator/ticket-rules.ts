/** What a support ticket, a reply and an attachment must be (API.md, Support). */

import type { ApiError } from "./errors.ts";
import { fieldError } from "./errors.ts";
import { BodyReader } from "./fields.ts";
import type { ReceivedFile } from "./forms.ts";
import type { JsonBody } from "./route.ts";
import type { EntityKind, TicketEntity } from "./rows.ts";

const MAX_SUMMARY_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 65_000;
const MAX_REPLY_LENGTH = 65_535;
const MAX_VLAN_LENGTH = 64;
const MAX_ID = Number.MAX_SAFE_INTEGER;

export const MAX_ATTACHMENTS = 5;
const MAX_FILE_NAME_LENGTH = 255;
const EXTENSIONS = [".gif", ".jpg", ".jpeg", ".pjpg", ".pjpeg", ".tif", ".tiff", ".png", ".pdf", ".txt"];

/** Kinds of entities in API.md's words; the operator's word stands for `node` on the wire. */
export const ENTITY_KINDS: readonly EntityKind[] = [
  "database",
  "domain",
  "firewall",
  "node",
  "lkecluster",
  "longviewclient",
  "nodebalancer",
  "volume",
  "vpc",
];

export interface TicketContext {
  /** The operator's word. */
  readonly word: string;
  readonly isRegion: (text: string) => boolean;
  /** The label of an entity that the account has; null if it has no such entity. */
  readonly labelOf: (kind: EntityKind, id: number) => string | null;
}

export interface TicketValues {
  readonly summary: string;
  readonly description: string;
  readonly entity: TicketEntity | null;
}

/** `managed_issue`, `region` and `vlan` are judged and go no further: no field of a ticket shows them. */
export function readTicket(
  body: JsonBody,
  context: TicketContext,
): { readonly values: TicketValues; readonly errors: readonly ApiError[] } {
  const reader = new BodyReader(body);
  const summary = requiredText(reader, "summary", MAX_SUMMARY_LENGTH);
  const description = requiredText(reader, "description", MAX_DESCRIPTION_LENGTH);
  const entity = readEntity(reader, context);
  reader.boolean("managed_issue");
  readVlan(reader, context);
  return { values: { summary, description, entity }, errors: reader.errors };
}

export function readReply(body: JsonBody): { readonly description: string; readonly errors: readonly ApiError[] } {
  const reader = new BodyReader(body);
  const description = requiredText(reader, "description", MAX_REPLY_LENGTH);
  return { description, errors: reader.errors };
}

function requiredText(reader: BodyReader, field: string, max: number): string {
  return (reader.require(field) && reader.text(field, { min: 1, max })) || "";
}

function readEntity(reader: BodyReader, context: TicketContext): TicketEntity | null {
  const set = ENTITY_KINDS.map((kind) => ({ kind, field: `${entityType(kind, context.word)}_id` })).filter(
    ({ field }) => (reader.raw(field) ?? null) !== null,
  );
  const [first, second] = set;
  if (first === undefined) return null;
  if (second !== undefined) {
    const names = set.map(({ field }) => field).join(", ");
    reader.fail(second.field, `Only one of ${names} can be set`);
    return null;
  }
  const id = reader.integer(first.field, 1, MAX_ID) ?? null;
  if (id === null) return null;
  const label = context.labelOf(first.kind, id);
  if (label !== null) return { kind: first.kind, id, label };
  reader.fail(first.field, `${first.field} is not valid`);
  return null;
}

export function entityType(kind: EntityKind, word: string): string {
  return kind === "node" ? word : kind;
}

function readVlan(reader: BodyReader, { isRegion }: TicketContext): void {
  const isAbsent = (reader.raw("vlan") ?? null) === null;
  reader.text("vlan", { min: 1, max: MAX_VLAN_LENGTH });
  const region = reader.raw("region") ?? null;
  if (region === null) return;
  if (isAbsent) reader.fail("region", "region is only allowed with vlan");
  else if (typeof region !== "string" || !isRegion(region)) reader.fail("region", "region is not valid");
}

export type AttachmentReading =
  | { readonly name: string; readonly size: number; readonly error: null }
  | { readonly error: ApiError };

/** @param count how many attachments the ticket has */
export function readAttachment(files: readonly ReceivedFile[], count: number): AttachmentReading {
  const [file] = files;
  if (file === undefined || file.field !== "file") return refused("file is required");
  const name = baseName(file.name);
  const problem = nameProblem(name);
  if (problem !== null) return refused(problem);
  if (file.size === 0) return refused("The file is empty");
  if (count >= MAX_ATTACHMENTS) return refused(`A ticket can have at most ${MAX_ATTACHMENTS} attachments`);
  return { name, size: file.size, error: null };
}

function refused(reason: string): AttachmentReading {
  return { error: fieldError("file", reason) };
}

/** Some clients send a whole path, of either kind of system. */
function baseName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
}

function nameProblem(name: string): string | null {
  if ([...name].length > MAX_FILE_NAME_LENGTH)
    return `The file name can have at most ${MAX_FILE_NAME_LENGTH} characters`;
  if (/\p{Cc}/u.test(name)) return "The file name contains invalid characters";
  const dot = name.lastIndexOf(".");
  const accepted = dot > 0 && EXTENSIONS.includes(name.slice(dot).toLowerCase());
  return accepted ? null : `The file name must end in one of ${EXTENSIONS.join(", ")}`;
}
