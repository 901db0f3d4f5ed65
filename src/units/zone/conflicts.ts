/** What the records of a zone forbid each other: too many of them, one twice, a CNAME beside other data, a null MX beside another MX. */

import type { IgnorePattern } from "../../model/desired.ts";
import type { Related, Span } from "../../model/diagnostic.ts";
import { mapKey } from "../../model/map-key.ts";
import { compareText, groupBy } from "../../model/text.ts";
import { isIgnored } from "./ignore.ts";
import type { RecordSpec, ZoneContext, ZoneSpec } from "./spec.ts";

/** API.md, Limits: active records per domain. */
const MAX_RECORDS_PER_DOMAIN = 12_000;

/** One pass over the records; takes linear time. */
export function checkRecords(
  records: readonly RecordSpec[],
  ignore: readonly IgnorePattern[],
  domain: Span,
  context: ZoneContext,
): void {
  if (records.length > MAX_RECORDS_PER_DOMAIN) tooMany(records.length, domain, context);
  for (const written of groupBy(records, ({ name }) => name).values()) {
    const same = written.length === 1 ? written : withoutDuplicates(written, context);
    if (ignore.length > 0)
      for (const record of same) if (isIgnored(record, ignore, context.zone)) declaredAndIgnored(record, context);
    checkAlias(same, context);
    checkNullMx(same, context);
  }
}

/**
 * The same for records that come back once those that override them have expired, beside what is there then: the project would else be invalid from a
 * day on that an entry chooses. Of several records that one must not meet, the one that lasts longest decides, so that one pass does it. What
 * overrides a record has its name and type, so that an alias beside other data is known today.
 */
export function checkLater(
  records: readonly RecordSpec[],
  later: NonNullable<ZoneSpec["later"]>,
  ignore: readonly IgnorePattern[],
  domain: Span,
  context: ZoneContext,
): void {
  if (later.length === 0) return;
  const lasting = new Map<string, RecordSpec>();
  const keep = (record: RecordSpec): void => {
    for (const key of [dataOf(record), kindOf(record)]) {
      const known = lasting.get(key);
      if (known === undefined || endOf(record) > endOf(known)) lasting.set(key, record);
    }
  };
  for (const record of records) keep(record);
  const ends = [...records, ...later].map(endOf).sort(compareText);
  let ended = 0;
  let isCounted = false;
  for (const [index, record] of later.toSorted((a, b) => compareText(a.after, b.after)).entries()) {
    const { after } = record;
    const sentence = `The record comes back after ${after}, when what overrides it has expired.`;
    const then: ZoneContext = {
      ...context,
      error: (problem) => context.error({ ...problem, detail: `${problem.detail} ${sentence}` }),
    };
    const stays = (key: string): RecordSpec[] =>
      [lasting.get(key)].flatMap((one) => (one && endOf(one) > after ? [one] : []));
    for (const first of stays(dataOf(record))) duplicate(record, first, then);
    if (record.type === "CNAME") checkAlias([record, ...stays(kindOf(record))], then);
    if (record.type === "MX") {
      const exchangers = ["", "any"].flatMap((target) => stays(kindOf({ ...record, target })));
      checkNullMx([record, ...exchangers], then);
    }
    if (isIgnored(record, ignore, context.zone)) declaredAndIgnored(record, then);
    keep(record);
    while (ended < ends.length && (ends[ended] ?? "") <= after) ended += 1;
    const count = records.length + index + 1 - ended;
    if (count <= MAX_RECORDS_PER_DOMAIN || isCounted) continue;
    tooMany(count, domain, then);
    isCounted = true;
  }
}

/** The last day, YYYY-MM-DD; behind all days if there is none. */
function endOf({ annotations }: RecordSpec): string {
  return annotations?.expires ?? "~";
}

/** A null MX is a kind of its own. */
function kindOf({ name, type, target }: RecordSpec): string {
  return JSON.stringify([name, type, type === "MX" && target === ""]);
}

function tooMany(count: number, domain: Span, context: ZoneContext): void {
  context.error({
    code: "too-many-records",
    summary: "too many records",
    detail: `${context.zone} has ${count} records; the service takes ${MAX_RECORDS_PER_DOMAIN}.`,
    fix: "Divide the zone.",
    span: domain,
  });
}

/** What remains of the records of one name once each duplicate is reported. */
function withoutDuplicates(records: readonly RecordSpec[], context: ZoneContext): RecordSpec[] {
  const values = new Map<string, RecordSpec>();
  for (const record of records) {
    const data = dataOf(record);
    const first = values.get(data);
    if (first === undefined) values.set(data, record);
    else duplicate(record, first, context);
  }
  return [...values.values()];
}

/** Everything but the TTL. */
function dataOf(record: RecordSpec): string {
  const { type, name, target, priority = "", weight = "", port = "", tag = "" } = record;
  return mapKey(JSON.stringify([type, name, target, priority, weight, port, tag]));
}

function shownName(name: string): string {
  return name === "" ? "the apex" : name;
}

function at(message: string, record: RecordSpec): Related[] {
  return [{ message, span: record.span }];
}

function duplicate(record: RecordSpec, first: RecordSpec, context: ZoneContext): void {
  context.error({
    code: "duplicate-record",
    summary: `the ${record.type} record is there twice`,
    detail: `${shownName(record.name)} has this ${record.type} record already; a TTL does not tell them apart.`,
    fix: "Remove one of the two.",
    span: record.span,
    related: at("first here", first),
  });
}

function declaredAndIgnored(record: RecordSpec, context: ZoneContext): void {
  context.error({
    code: "declared-and-ignored",
    summary: "the record is both declared and ignored",
    detail: "A pattern under `ignore` matches it, so it would never be looked at.",
    fix: "Remove the record, or narrow the pattern.",
    span: record.span,
  });
}

/** RFC 1034, 3.6.2. Several errors at one name would say the same: the first of each kind is enough. */
function checkAlias(same: readonly RecordSpec[], context: ZoneContext): void {
  if (same.length < 2) return;
  const aliases = same.filter((record) => record.type === "CNAME");
  const [alias, second] = aliases;
  if (alias === undefined) return;
  const other = same.find((record) => record.type !== "CNAME");
  if (second !== undefined) {
    context.error({
      code: "second-cname",
      summary: "a second CNAME at one name",
      detail: `${shownName(alias.name)} can be an alias of one name only.`,
      fix: "Keep one of the two.",
      span: second.span,
      related: at("the first one", alias),
    });
  }
  if (other !== undefined && alias.name !== "") {
    context.error({
      code: "cname-conflict",
      summary: "a CNAME beside other data",
      detail: `${shownName(alias.name)} has ${other.type} records, too, and where a CNAME is nothing else can be (RFC 1034, 3.6.2).`,
      fix: "Keep the CNAME or the other records.",
      span: alias.span,
      related: at("the other data", other),
    });
  }
}

/** RFC 7505, 3. */
function checkNullMx(same: readonly RecordSpec[], context: ZoneContext): void {
  const exchangers = same.filter((record) => record.type === "MX");
  const none = exchangers.find((record) => record.target === "");
  const other = exchangers.find((record) => record !== none);
  if (none === undefined || other === undefined) return;
  context.error({
    code: "null-mx-conflict",
    summary: "a null MX beside another MX",
    detail: `An MX record with the target \`.\` says that ${shownName(none.name)} takes no mail, so it must be the only one (RFC 7505, 3).`,
    fix: "Keep the null MX or the others.",
    span: none.span,
    related: at("the other one", other),
  });
}
