/** The fields of a domain itself, without its records. */

import { canonicalIp } from "../../dns/ip.ts";
import type { Json } from "../../model/resource.ts";
import { isReservedTag } from "../owner-tag.ts";
import type { DomainEntry } from "./schema.ts";
import { loadSeconds } from "./seconds.ts";
import type { ZoneContext } from "./spec.ts";

/** API.md, Limits: axfr_ips; the service was observed to count master_ips, too. */
const MAX_ADDRESSES_LENGTH = 1000;

/** Seen at the service (OBSERVED: Domains). */
const MIN_TAG_LENGTH = 3;
const MAX_TAG_LENGTH = 50;

const TEXT_FIELDS = ["description", "group", "soa_email"] as const;
const ADDRESS_FIELDS = ["master_ips", "axfr_ips"] as const;
const SECONDS_FIELDS = ["refresh_sec", "retry_sec", "expire_sec", "ttl_sec"] as const;

/** Only what is managed; null becomes what the service has when nothing was ever set. */
export function loadFields(entry: DomainEntry, context: ZoneContext): Record<string, Json> {
  // With `create_from` and no `type`, the clone or transfer decides the type.
  const typeComesFromSource = Object.hasOwn(entry, "create_from") && !Object.hasOwn(entry, "type");
  const fields: Record<string, Json> = {
    ...(typeComesFromSource ? {} : { type: entry.type ?? "master" }),
    status: entry.status ?? "active",
  };
  for (const key of TEXT_FIELDS) if (Object.hasOwn(entry, key)) fields[key] = entry[key] ?? "";
  for (const key of ADDRESS_FIELDS) if (Object.hasOwn(entry, key)) fields[key] = loadAddresses(entry, key, context);
  for (const key of SECONDS_FIELDS) if (Object.hasOwn(entry, key)) fields[key] = loadSeconds(entry, key, context);
  if (Object.hasOwn(entry, "tags")) fields["tags"] = loadTags(entry, context);
  if (!Object.hasOwn(entry, "create_from")) checkRequired(entry, context);
  checkEmail(entry, context);
  checkAddressesLength(entry, fields, context);
  return fields;
}

function loadAddresses(entry: DomainEntry, key: (typeof ADDRESS_FIELDS)[number], context: ZoneContext): string[] {
  const list = entry[key] ?? [];
  const seen = new Map<string, number>();
  for (const [index, text] of list.entries()) {
    const address = canonicalIp(text);
    const span = context.span(list, index);
    if (address === null) {
      const detail = `\`${text}\` is neither an IPv4 nor an IPv6 address.`;
      context.error({
        code: "bad-address",
        summary: "bad address",
        detail,
        fix: "Write an address, for example 192.0.2.53.",
        span,
      });
    } else if (seen.has(address)) {
      const related = [{ message: "first here", span: context.span(list, seen.get(address)) }];
      const detail = "An address may stand once in the list.";
      context.error({
        code: "duplicate-address",
        summary: `${address} is there twice`,
        detail,
        fix: "Remove one of the two.",
        span,
        related,
      });
    } else seen.set(address, index);
  }
  return [...seen.keys()];
}

function loadTags(entry: DomainEntry, context: ZoneContext): readonly string[] {
  const list = entry.tags ?? [];
  const seen = new Map<string, number>();
  for (const [index, tag] of list.entries()) {
    const span = context.span(list, index);
    const first = seen.get(tag.toLowerCase());
    // A service may take the blanks around a tag off.
    if (isReservedTag(tag.trim())) {
      const detail =
        "Tags that begin with `tenon:` or `tenon-part:` are how Tenon marks what it owns and what is shared.";
      context.error({
        code: "reserved-tag",
        summary: "the tag is reserved",
        detail,
        fix: "Remove it; set `owner` in the root file, or `shared_with`, instead.",
        span,
      });
    } else if (tagLength(tag) < MIN_TAG_LENGTH || tagLength(tag) > MAX_TAG_LENGTH) {
      // The schema has said it of what is written; `${zone}` may have become shorter or longer since.
      context.error({
        code: "tag-length",
        summary: `the tag is too ${tagLength(tag) < MIN_TAG_LENGTH ? "short" : "long"}`,
        detail: `It has ${tagLength(tag)} characters; the service takes ${MIN_TAG_LENGTH} to ${MAX_TAG_LENGTH}.`,
        fix: "Write another one.",
        span,
      });
    } else if (first !== undefined) {
      const related = [{ message: "first here", span: context.span(list, first) }];
      const detail = "Tags are compared without regard to case.";
      context.error({
        code: "duplicate-tag",
        summary: `tag \`${tag}\` is there twice`,
        detail,
        fix: "Remove one of the two.",
        span,
        related,
      });
    } else seen.set(tag.toLowerCase(), index);
  }
  return list;
}

/** In code points, as the schema counts. */
function tagLength(tag: string): number {
  return [...tag].length;
}

/** Checks the fields without which the service refuses a domain. A field reset to empty counts as missing. */
function checkRequired(entry: DomainEntry, context: ZoneContext): void {
  const span = context.span(entry, "domain");
  if (!Object.hasOwn(entry, "type")) {
    const detail =
      "A domain must say whether it is a master or a slave, here or under `defaults: { domain: … }` of the same file.";
    context.error({ code: "missing-key", summary: "`type` is missing", detail, fix: "Add `type: master`.", span });
  } else if (entry.type === "master" && (entry.soa_email ?? "") === "") {
    const detail =
      "A master domain has a start-of-authority address, here or under `defaults: { domain: … }` of the same file.";
    context.error({
      code: "missing-key",
      summary: "`soa_email` is missing",
      detail,
      fix: `Add \`soa_email: hostmaster@${context.zone}\`.`,
      span,
    });
  } else if (entry.type === "slave" && (entry.master_ips ?? []).length === 0) {
    const detail = "A slave domain needs at least one server to copy from.";
    context.error({
      code: "missing-key",
      summary: "`master_ips` is missing",
      detail,
      fix: "Add `master_ips: [192.0.2.53]` with the master's address.",
      span,
    });
  }
}

function checkEmail(entry: DomainEntry, context: ZoneContext): void {
  const email = entry.soa_email ?? "";
  if (email === "" || /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email)) return;
  const detail = `\`${email}\` is not an e-mail address.`;
  const fix = `For example: hostmaster@${context.zone}.`;
  context.error({ code: "bad-email", summary: "bad `soa_email`", detail, fix, span: context.span(entry, "soa_email") });
}

function checkAddressesLength(entry: DomainEntry, fields: Record<string, Json>, context: ZoneContext): void {
  const all = ADDRESS_FIELDS.flatMap((key) => (fields[key] ?? []) as readonly string[]);
  const length = all.reduce((sum, address) => sum + address.length, 0);
  if (length <= MAX_ADDRESSES_LENGTH) return;
  const key = Object.hasOwn(entry, "axfr_ips") ? "axfr_ips" : "master_ips";
  const detail = `The addresses of master_ips and axfr_ips have ${length} characters together; the service takes ${MAX_ADDRESSES_LENGTH}.`;
  context.error({
    code: "too-long",
    summary: "too many addresses",
    detail,
    fix: "Remove some.",
    span: context.span(entry, key),
  });
}
