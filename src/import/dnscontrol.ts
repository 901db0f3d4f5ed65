/** The intermediate JSON of DNSControl (`dnscontrol print-ir`) → the domains that declare its zones. */

import { canonicalIp } from "../dns/ip.ts";
import { absoluteName } from "../dns/name.ts";
import {
  CAA_TAGS,
  isRecordType,
  type RecordType,
  rulesOf,
  type SkippedRecord,
  type SourceRecord,
} from "../dns/record.ts";
import { compileNameGlob, toAscii } from "../dns/unicode.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { JsonObject } from "../model/resource.ts";
import { compileGlob, escapeGlob, shellWord } from "../model/text.ts";
import { Collected, type CollectOptions, type Import, MAX_IGNORE_PATTERNS, type NamedEmail } from "./collect.ts";
import { entryAt, itemsAt, type JsonValue, readJsonSource, spanOf, textAt } from "./json-source.ts";
import { beyondLimits, ownName } from "./octodns.ts";
import { zoneName } from "./zone-files.ts";

export interface DnscontrolRequest extends CollectOptions {
  readonly paths: readonly string[];
  /** Globs of names, with a tag (`example.com!inside`) or without; none: all. */
  readonly domains: readonly string[];
}

/** One `D()`. */
interface View {
  readonly zone: string;
  /** With its tag: `example.com!inside`. */
  readonly unique: string;
  readonly file: string;
  readonly domain: JsonValue;
  readonly span: Span;
}

export async function importDnscontrol(request: DnscontrolRequest): Promise<Import> {
  const collected = new Collected(request);
  const views: View[] = [];
  for (const path of request.paths) for (const view of await readViews(path, collected)) views.push(view);
  const selected = views.filter((view) => isSelected(view, request.domains));
  for (const glob of request.domains) {
    if (!views.some((view) => isSelected(view, [glob]))) collected.report(unmatched(glob));
  }
  const byZone = new Map<string, View[]>();
  for (const view of selected) byZone.set(view.zone, [...(byZone.get(view.zone) ?? []), view]);
  for (const sameZone of byZone.values()) {
    if (collected.isFull) break;
    const view = chosenView(sameZone, collected);
    if (view !== null) new ViewReader(view, collected).take();
  }
  return collected.result();
}

function isSelected({ zone, unique }: View, globs: readonly string[]): boolean {
  return (
    globs.length === 0 ||
    globs.some((glob) => {
      const [name = "", tag] = glob.split("!", 2);
      if (tag === undefined)
        return compileNameGlob(name)(zone) || compileGlob(name.toLowerCase())(unique.toLowerCase());
      const ownTag = unique.slice(zone.length + 1).toLowerCase();
      return compileNameGlob(name)(zone) && compileGlob(tag.toLowerCase())(ownTag);
    })
  );
}

function unmatched(glob: string): Diagnostic {
  const detail = "The files have no domain of this name.";
  return {
    code: "no-match",
    severity: "warning",
    summary: `no domain fits ${glob}`,
    detail,
    fix: "Check the spelling.",
  };
}

/** The service has one zone of a name. @returns null if it is not clear which is meant; that is reported */
function chosenView(views: readonly View[], collected: Collected): View | null {
  const [first] = views;
  const plain = views.filter(({ zone, unique }) => zone === unique);
  const chosen = views.length === 1 ? first : plain[0];
  if (chosen === undefined || plain.length > 1) {
    if (first !== undefined) collected.report(severalViews(first, views));
    return null;
  }
  for (const { unique, span } of views.filter((view) => view !== chosen)) {
    const detail = "a further view of a zone (split horizon), and the service has one of a name";
    collected.leave({ type: "domain", address: unique, detail, span });
  }
  return chosen;
}

function severalViews({ zone, span }: View, views: readonly View[]): Diagnostic {
  const names = views.map(({ unique }) => unique);
  return {
    code: "duplicate-entry",
    severity: "error",
    summary: `${zone} is there ${views.length} times`,
    detail: `${names.join(", ")}: the service has one zone of a name.`,
    fix: `Import one of them, for example with --domain ${shellWord(names.find((name) => name !== zone) ?? zone)}.`,
    span,
  };
}

// One file → its domains.

const NAME_IR = "Name the file that `dnscontrol print-ir --out ir.json` writes.";

async function readViews(path: string, collected: Collected): Promise<readonly View[]> {
  if (/\.(js|mjs|cjs|ts)$/i.test(path)) {
    collected.report(refusal("wrong-file", `${path} is a program`, "Only DNSControl can run it.", null));
    return [];
  }
  const { sources } = collected;
  const source = await readJsonSource(path, { sources, showsTexts: true, advice: NAME_IR });
  if (!source.ok) {
    collected.report(source.diagnostic);
    return [];
  }
  const { value } = source;
  const domains = entryAt(value, "domains");
  if (domains === undefined || ["dns_providers", "registrars"].every((key) => entryAt(value, key) === undefined)) {
    // It may hold tokens: no line of it is shown.
    sources.add(path, "");
    collected.report(notIr(path, value));
    return [];
  }
  const report = (summary: string, found: JsonValue): void => {
    collected.report(badDnscontrol(`${path}: ${summary}`, spanOf(path, found)));
  };
  if (domains.kind !== "list") report("`domains` is no list", domains);
  return itemsAt(value, "domains").flatMap((domain): View[] => {
    const name = entryAt(domain, "name");
    if (name?.kind !== "text") {
      report("a domain has no `name`", name ?? domain);
      return [];
    }
    const [written = "", tag] = name.text.split("!", 2);
    const zone = zoneName(written);
    if (zone === null) {
      report(`the service takes no domain named ${name.text}`, name);
      return [];
    }
    const unique = textAt(domain, "uniquename") ?? textAt(entryAt(domain, "meta"), "dnscontrol_uniquename");
    const ownTag = tag ?? unique?.split("!", 2)[1] ?? "";
    return [{ zone, unique: ownTag === "" ? zone : `${zone}!${ownTag}`, file: path, domain, span: spanOf(path, name) }];
  });
}

function notIr(path: string, value: JsonValue): Diagnostic {
  const isCredentials =
    value.kind === "map" && [...value.entries.values()].some((entry) => textAt(entry, "TYPE") !== undefined);
  if (isCredentials) {
    const detail = "It holds the credentials of DNSControl's providers, of which nothing is read.";
    return refusal("wrong-file", `${path} is a creds.json`, detail, null);
  }
  if (entryAt(value, "terraform_version") !== undefined || entryAt(value, "format_version") !== undefined) {
    const detail = "It looks like Terraform's.";
    return refusal(
      "no-dnscontrol",
      `${path} was not written by DNSControl`,
      detail,
      "Import it with --from terraform.",
    );
  }
  return refusal(
    "no-dnscontrol",
    `${path} is not what \`dnscontrol print-ir\` prints`,
    "It lacks `domains` and providers.",
    null,
  );
}

function refusal(code: string, summary: string, detail: string, fix: string | null): Diagnostic {
  return { code, severity: "error", summary, detail, fix: fix ?? NAME_IR };
}

function badDnscontrol(summary: string, span: Span): Diagnostic {
  const detail = "DNSControl 4 does not write it so; another version may.";
  return { code: "bad-dnscontrol", severity: "error", summary, detail, fix: NAME_IR, span };
}

// One domain → its entry.

/** DNSControl's TTL if neither the record nor a `DefaultTTL` states one. */
const DEFAULT_TTL_SECONDS = 300;
/** The TTLs that DNSControl sends to the service (its provider LINODE): it rounds up, and knows neither 30 nor 120. */
const SENT_TTLS: readonly number[] = [
  ...[300, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200],
];

/** As DNSControl sends it, so that a plan finds what DNSControl has pushed. */
function sentTtl(seconds: number): number {
  return SENT_TTLS.find((allowed) => allowed >= seconds) ?? (SENT_TTLS.at(-1) as number);
}

/** Keys of a domain that the import acts on, or that say nothing more. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...["name", "uniquename", "tag", "registrar", "dnsProviders", "meta", "records", "nameservers", "recordsabsent"],
  ...["keepunknown", "unmanaged", "ignore_external_dns", "external_dns_prefix", "rawrecords"],
]);

const OTHER_KEYS: Readonly<Record<string, string>> = {
  auto_dnssec: "the service signs no zones",
  unmanaged_disable_safety_check: "a record that is both declared and ignored is an error here",
};
const OWN_OPTION = "an option for DNSControl or one of its providers, which is left out";

/** Fields of a record beside its target → their names in the intermediate JSON; those that are 0 are absent there. */
const NUMBERS: Readonly<Partial<Record<RecordType, Readonly<Record<string, string>>>>> = {
  MX: { priority: "mxpreference" },
  SRV: { priority: "srvpriority", weight: "srvweight", port: "srvport" },
};

class ViewReader {
  readonly #view: View;
  readonly #collected: Collected;
  readonly #records: SourceRecord[] = [];
  readonly #skipped: SkippedRecord[] = [];
  #named: NamedEmail | null = null;

  constructor(view: View, collected: Collected) {
    this.#view = view;
    this.#collected = collected;
  }

  take(): void {
    const { zone, unique, file, domain, span } = this.#view;
    const providers = entryAt(domain, "dnsProviders");
    if (providers?.kind === "map" && providers.entries.size === 0) {
      const detail = "no DNS provider, so that DNSControl manages no zone";
      this.#collected.leave({ type: "domain", address: unique, detail, span });
      return;
    }
    for (const record of this.#list("records")) this.#record(record);
    for (const record of this.#list("rawrecords")) this.#record(record);
    for (const server of this.#list("nameservers")) {
      const detail = `The apex NS ${textAt(server, "name") ?? ""} belongs to the services that served the zone until now.`;
      this.#skip("apex-ns", detail, { type: "NS", name: "", span: spanOf(file, server) });
    }
    this.#remarks();
    const ignore = this.#ignore();
    const more: JsonObject = {
      ...(isTrue(entryAt(domain, "keepunknown")) ? { records_policy: "additive" } : {}),
      ...(ignore.length === 0 ? {} : { ignore }),
    };
    const [records, skipped, named] = [this.#records, this.#skipped, this.#named];
    this.#collected.take({ zone, file, named, records, skipped, sentTtl, more, isOneOfMany: true });
  }

  #record(record: JsonValue): void {
    const { zone, file } = this.#view;
    const [type, name] = [textAt(record, "type"), textAt(record, "name") ?? "@"];
    if (type === undefined || type === "") {
      this.#refuse("a record has no `type`", record);
      return;
    }
    const place: Place = { type, name: ownName(name, zone), span: spanOf(file, entryAt(record, "type") ?? record) };
    if (type === "SOA") this.#nameEmail(record, place);
    else if (!isRecordType(type))
      this.#skip("unsupported-type", `The service has no ${type} records.${placeOf(record)}`, place);
    else if (type === "NS" && place.name === "") this.#skip("apex-ns", "The apex NS belong to the services.", place);
    else {
      const typed = this.#typed(record, type, place);
      if (typed !== null) this.#records.push(typed);
    }
  }

  /** @returns null if it is refused or left out, which is reported */
  #typed(record: JsonValue, type: RecordType, place: Place): SourceRecord | null {
    const given = targetText(record);
    if (given === null) return this.#refuse(`the ${type} record at ${shown(place)} has no \`target\``, record);
    if (given === "disagree") {
      const summary = `\`txtstrings\` and \`target\` of the ${type} record at ${shown(place)} are not the same text`;
      return this.#refuse(summary, entryAt(record, "txtstrings") ?? record);
    }
    const target = given.text;
    const values: Record<string, number> = {};
    const fields = Object.entries(NUMBERS[type] ?? {});
    for (const [field, key] of [["ttl_sec", "ttl"], ["flags", "caaflag"], ...fields] as const) {
      const number = numberAt(record, key);
      if (number === null)
        return this.#refuse(`\`${key}\` of the ${type} record at ${shown(place)} is no number`, record);
      values[field] = number;
    }
    const { ttl_sec = 0, flags = 0, ...numbers } = values;
    const beyond = beyondLimits(numbers);
    if (beyond !== null) return this.#skip("not-holdable", `${beyond}${placeOf(record)}`, place);
    const tag = type === "CAA" ? { tag: textAt(record, "caatag") ?? "" } : {};
    if (flags !== 0) {
      return this.#skip("not-holdable", `The service has no flags of CAA records.${placeOf(record)}`, place);
    }
    if (tag.tag !== undefined && !CAA_TAGS.includes(tag.tag)) {
      const detail = `The tag is \`${tag.tag}\`, and the service keeps ${CAA_TAGS.join(", ")} alone.${placeOf(record)}`;
      return this.#skip("not-holdable", detail, place);
    }
    const written = this.#target(type, target, record);
    if (written === null) {
      const summary = `the target \`${target}\` of the ${type} record at ${shown(place)} is neither relative nor ends with a dot`;
      return this.#refuse(summary, entryAt(record, "target") ?? record);
    }
    this.#remarkMeta(entryAt(record, "meta"));
    const ttl = ttl_sec === 0 ? DEFAULT_TTL_SECONDS : ttl_sec;
    return { type, name: place.name, target: written, ttl_sec: ttl, ...numbers, ...tag, span: place.span };
  }

  /** With `print-ir --raw` a target may be relative, as people write it: to the zone, or within `D_EXTEND` to its subdomain. */
  #target(type: RecordType, text: string, record: JsonValue): string | null {
    switch (rulesOf(type).target) {
      case "ipv4":
      case "ipv6":
        return canonicalIp(text) ?? text;
      case "strings":
      case "octets":
        return text;
      case "name": {
        const name = toAscii(text) ?? text;
        if (name.endsWith(".")) return name.slice(0, -1);
        const origin = absoluteName(ownName(textAt(record, "subdomain") ?? "", this.#view.zone), this.#view.zone);
        if (name === "@") return origin;
        return name.includes(".") ? null : absoluteName(name, origin);
      }
    }
  }

  /** `soambox` is an address, or a name whose first label is the mailbox. */
  #nameEmail(record: JsonValue, place: Place): void {
    const mailbox = (textAt(record, "soambox") ?? "").replace(/\.$/, "");
    this.#named = { email: mailbox.includes("@") ? mailbox : mailbox.replace(".", "@"), span: place.span };
    this.#skip("soa", "The SOA is the service's own; its address is taken over.", place);
  }

  /** What DNSControl leaves alone: an empty pattern fits all, as `*` does. A pattern that has no counterpart becomes one that fits more: what is ignored cannot be deleted. */
  #ignore(): JsonObject[] {
    const { domain, file } = this.#view;
    const patterns: JsonObject[] = [];
    for (const unmanaged of this.#list("unmanaged")) {
      const [name, target] = ["label_pattern", "target_pattern"].map((key) => toGlob(textAt(unmanaged, key) || "*"));
      if (name?.isWider === true || target?.isWider === true) {
        const detail = "`*` stands for what the pattern has beside stars, so that more is ignored";
        this.#collected.remark({ file, what: "`IGNORE`", detail, span: spanOf(file, unmanaged) });
      }
      const types = (textAt(unmanaged, "rType_pattern") ?? "*").split(",").map((type) => type.trim());
      for (const type of types) {
        // What has more is refused: each pattern is written for each type.
        if (patterns.length > MAX_IGNORE_PATTERNS) return patterns;
        const pattern = {
          ...(name === undefined || name.glob === "*" ? {} : { name: name.glob }),
          ...(type === "*" || type === "" ? {} : { type }),
          ...(target === undefined || target.glob === "*" ? {} : { target: target.glob }),
        };
        patterns.push(Object.keys(pattern).length === 0 ? { name: "*" } : pattern);
      }
    }
    if (isTrue(entryAt(domain, "ignore_external_dns"))) {
      const prefix = textAt(domain, "external_dns_prefix") ?? "";
      patterns.push({ preset: "external-dns", ...(prefix === "" ? {} : { txt_prefix: prefix }) });
    }
    return patterns;
  }

  #remarks(): void {
    const { domain, file, span } = this.#view;
    const remark = (what: string, detail: string, at: Span = span): void =>
      this.#collected.remark({ file, what, detail, span: at });
    const registrar = textAt(domain, "registrar") ?? "none";
    if (registrar.toLowerCase() !== "none") {
      remark(`the registrar \`${registrar}\``, "Tenon sets no delegation; leave that to it or to DNSControl");
    }
    const providers = entryAt(domain, "dnsProviders");
    if (providers?.kind === "map" && providers.entries.size > 1) {
      const names = [...providers.entries.keys()].join(", ");
      remark(`the providers ${names}`, "the zone is at several services; Tenon manages it at one");
    }
    for (const absent of this.#list("recordsabsent")) {
      const what = `ENSURE_ABSENT of ${textAt(absent, "type") ?? "?"} ${textAt(absent, "name") ?? "@"}`;
      remark(
        `\`${what}\``,
        "what is not declared is deleted by itself, unless the policy is additive",
        spanOf(file, absent),
      );
    }
    if (domain.kind === "map") {
      for (const [key, value] of domain.entries) {
        if (!KNOWN_KEYS.has(key)) remark(`\`${key}\``, OTHER_KEYS[key] ?? OWN_OPTION, spanOf(file, value));
      }
    }
    this.#remarkMeta(entryAt(domain, "meta"));
  }

  #remarkMeta(meta: JsonValue | undefined): void {
    if (meta?.kind !== "map") return;
    const { file } = this.#view;
    for (const [key, value] of meta.entries) {
      if (key.startsWith("dnscontrol_")) continue;
      this.#collected.remark({ file, what: `\`${key}\``, detail: OWN_OPTION, span: spanOf(file, value) });
    }
  }

  #list(key: string): readonly JsonValue[] {
    const found = entryAt(this.#view.domain, key);
    const isAbsent = found === undefined || (found.kind === "word" && found.word === null);
    if (!isAbsent && found.kind !== "list") this.#refuse(`\`${key}\` is no list`, found);
    return itemsAt(this.#view.domain, key);
  }

  #refuse(summary: string, found: JsonValue): null {
    const { file, unique } = this.#view;
    const { start, end } = found;
    // The whole of a record may be many lines.
    const span = spanOf(file, found.kind === "map" ? { start, end: start + 1 } : { start, end });
    this.#collected.report(badDnscontrol(`${unique}: ${summary}`, span));
    return null;
  }

  #skip(reason: SkippedRecord["reason"], detail: string, { type, name, span }: Place): null {
    this.#skipped.push({ reason, type, name: `${absoluteName(name, this.#view.zone)}.`, detail, span });
    return null;
  }
}

interface Place {
  readonly type: string;
  /** Relative. */
  readonly name: string;
  readonly span: Span;
}

function shown({ name }: Place): string {
  return name === "" ? "the apex" : `\`${name}\``;
}

function isTrue(value: JsonValue | undefined): boolean {
  return value?.kind === "word" && value.word === true;
}

/**
 * Before version 4 the strings of a text stood beside it, and the target is all of them, or the first one alone.
 * @returns null if there is none; "disagree": the strings are others than those of the target
 */
function targetText(record: JsonValue): { readonly text: string } | "disagree" | null {
  const items = itemsAt(record, "txtstrings");
  const strings = items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
  const target = textAt(record, "target");
  if (strings.length < items.length) return "disagree";
  if (strings.length > 0) {
    const text = strings.join("");
    // Versions differ in what they put there: nothing, the first string, all of them, or each in quotes.
    const quoted = strings.map((one) => `"${one.replace(/[\\"]/g, "\\$&")}"`).join(" ");
    return [undefined, "", text, strings[0], quoted].includes(target) ? { text } : "disagree";
  }
  // Newer types of record have their data elsewhere, and an empty target.
  return target === undefined || (target === "" && entryAt(record, "fields") !== undefined) ? null : { text: target };
}

/** 0 if it is absent, as Go leaves it out then; null if it is no number. */
function numberAt(record: JsonValue, key: string): number | null {
  const found = entryAt(record, key);
  if (found === undefined) return 0;
  return found.kind === "number" && Number.isSafeInteger(found.number) && found.number >= 0 ? found.number : null;
}

/** The place in the program, as a sentence: the JSON is one line. `[line:8:71]`, and of newer versions `[config:8:71]`. */
function placeOf(record: JsonValue): string {
  const [, file = "", line = ""] =
    /^\[([\w./-]{1,100}):(\d{1,9}):\d{1,9}\]$/.exec(textAt(record, "filepos") ?? "") ?? [];
  if (line === "") return "";
  return ` It stands in line ${line} of ${["line", "config"].includes(file) ? "dnsconfig.js" : file}.`;
}

/** A glob of DNSControl (`*`, `?`, `[a-z]`, `{a,b}`, `\`) → one of a manifest, which has stars alone. */
function toGlob(pattern: string): { readonly glob: string; readonly isWider: boolean } {
  let glob = "";
  let isWider = false;
  for (const [token] of pattern.matchAll(/\\.|\[[^\]]{0,200}\]|\{[^}]{0,200}\}|./gsu)) {
    const isLiteral = !/^[*?[{]/.test(token);
    isWider ||= !isLiteral && token !== "*";
    if (isLiteral) glob += escapeGlob(token.length > 1 && token.startsWith("\\") ? token.slice(1) : token);
    else if (!glob.endsWith("*") || glob.endsWith("\\*")) glob += "*";
  }
  return { glob, isWider };
}
