/** The lines of a rendered zone file, in the form the service was seen to give them, and always ones that a nameserver loads. */

import { absoluteName, nameProblem, relativeName } from "../dns/name.ts";
import { type Clock, type DomainRow, parseTimestamp, RECORD_RULES, type RecordRow, type Store } from "./store.ts";

/** What 0 stands for. */
const DEFAULT_REFRESH_SECONDS = 14_400;
const DEFAULT_RETRY_SECONDS = 14_400;
const DEFAULT_EXPIRE_SECONDS = 1_209_600;
const DEFAULT_TTL_SECONDS = 86_400;

const NAME_SERVER_COUNT = 5;

interface ZoneContent {
  readonly domain: DomainRow;
  readonly records: readonly RecordRow[];
  /** The SOA's serial, below 2^32. */
  readonly serial: number;
}

/**
 * Nothing is rendered for a disabled domain. A slave's records are its master's, which the emulator has never seen.
 * @param word the operator's, who owns the name servers
 */
export function renderZone({ domain, records, serial }: ZoneContent, word: string): string[] {
  if (domain.status === "disabled" || domain.type === "slave") return [];
  const nameServers = Array.from({ length: NAME_SERVER_COUNT }, (_, index) => `ns${index + 1}.${word}.com.`);
  const zoneTtl = domain.ttl_sec || DEFAULT_TTL_SECONDS;
  const unfit = unfitRecords(records, domain.domain);
  const ttls = lowestTtls(
    records.filter((record) => !unfit.has(record)),
    zoneTtl,
  );
  const serversTtl = ttls.get(setKey({ name: "", type: "NS" }));
  const serversField = serversTtl === zoneTtl ? "" : `${serversTtl}\t`;
  return [
    `; ${domain.domain} [${domain.id}]`,
    `$TTL ${zoneTtl}`,
    `@\tIN\tSOA\t${nameServers[0]} ${startOfAuthority(domain, serial, zoneTtl)}`,
    ...nameServers.map((server) => `@\t\t${serversField}NS\t${server}`),
    ...records.flatMap((record) => {
      const reason = unfit.get(record);
      if (reason !== undefined) return [`; record ${record.id} (${record.type}) is left out: ${reason}`];
      const lowest = ttls.get(setKey(record));
      return renderRecord(record, lowest === (record.ttl_sec || zoneTtl) ? record.ttl_sec : lowest);
    }),
  ];
}

function startOfAuthority(domain: DomainRow, serial: number, ttl: number): string {
  const refresh = domain.refresh_sec || DEFAULT_REFRESH_SECONDS;
  const retry = domain.retry_sec || DEFAULT_RETRY_SECONDS;
  const expire = domain.expire_sec || DEFAULT_EXPIRE_SECONDS;
  return `${mailbox(domain.soa_email)} ${serial} ${refresh} ${retry} ${expire} ${ttl}`;
}

/**
 * The records of one name and type have one TTL, the lowest of theirs (RFC 2181, 5.2): of several, some nameservers take the
 * first, others give each its own.
 */
function lowestTtls(records: readonly RecordRow[], zoneTtl: number): ReadonlyMap<string, number> {
  const lowest = new Map([[setKey({ name: "", type: "NS" }), zoneTtl]]);
  for (const record of records) {
    const key = setKey(record);
    const ttl = record.ttl_sec || zoneTtl;
    lowest.set(key, Math.min(ttl, lowest.get(key) ?? ttl));
  }
  return lowest;
}

/** @param ttl 0: the zone's, which is not written */
function renderRecord(record: RecordRow, ttl: number | undefined): string[] {
  const name = record.name === "" ? "@" : record.name;
  const [first = "", ...rest] = renderData(record);
  return [`${name}\t\t${ttl || ""}\t${record.type}\t${first}`, ...rest];
}

function renderData(record: RecordRow): string[] {
  const { target, values } = RECORD_RULES[record.type];
  // The service has no flags.
  const before = values.map((field) => (field === "tag" ? `0\t${record.tag}\t` : `${record[field]}\t`)).join("");
  switch (target) {
    case "ipv4":
      // No nameserver loads an address with leading zeros.
      return [before + withoutLeadingZeros(record.target)];
    case "ipv6":
      return [before + record.target];
    case "name":
      return [`${before}${record.target}.`];
    case "value":
      return [before + quote(Buffer.from(record.target))];
    case "text": {
      const strings = splitText(Buffer.from(record.target)).map(quote);
      return strings.length === 1 ? [`${before}${strings[0]}`] : [`${before}( `, ...strings, " )"];
    }
  }
}

// The rendered state of each zone: its rows as they are or, for some time after a change, as they were; and its serial.

const MILLISECONDS_PER_SECOND = 1000;

/** Serials count round (RFC 1982). */
const SERIALS = 2 ** 32;

/** A zone with changes that are not rendered yet. */
interface Pending {
  /** As it was last rendered; null: it never was. */
  readonly shown: ZoneContent | null;
  /** Milliseconds since the epoch. Then it is rendered, with all that was changed until then. */
  readonly dueAt: number;
}

/**
 * A rendering is due some seconds after the first change that it will hold. Nothing runs at that time: who changes or views a
 * zone that is due finds it rendered. Rows are never changed in place, so what was rendered is kept as rows.
 */
export class ZonePublisher {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #renderSeconds: number;
  /** Not kept: after a restart every zone is rendered. What has no entry is rendered, too. */
  readonly #pending = new Map<number, Pending>();

  constructor(store: Store, clock: Clock, renderSeconds: number) {
    this.#store = store;
    this.#clock = clock;
    this.#renderSeconds = renderSeconds;
  }

  /** To be called once a domain was made, with all its records. */
  created(domain: DomainRow): void {
    this.#await(domain.id, null);
  }

  /** To be called before a domain or one of its records is changed or deleted. */
  changing(domain: DomainRow): void {
    const { id } = domain;
    if (this.#renderSeconds > 0 && this.#notDue(id) === undefined) this.#await(id, this.#content(domain));
    const now = Math.floor(this.#clock.now() / MILLISECONDS_PER_SECOND);
    this.#store.tables.settings.put({ id: serialKey(id), value: Math.max(this.#serial(domain) + 1, now) });
  }

  /** To be called once a domain is gone. */
  deleted(domain: DomainRow): void {
    this.#pending.delete(domain.id);
    this.#store.tables.settings.delete(serialKey(domain.id));
  }

  /** The zone as it was last rendered; null: it never was. */
  shown(domain: DomainRow): ZoneContent | null {
    const pending = this.#notDue(domain.id);
    return pending === undefined ? this.#content(domain) : pending.shown;
  }

  #await(id: number, shown: ZoneContent | null): void {
    if (this.#renderSeconds <= 0) return;
    this.#pending.set(id, { shown, dueAt: this.#clock.now() + this.#renderSeconds * MILLISECONDS_PER_SECOND });
  }

  #notDue(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined || this.#clock.now() < pending.dueAt) return pending;
    this.#pending.delete(id);
    return undefined;
  }

  #content(domain: DomainRow): ZoneContent {
    return { domain, records: [...this.#records(domain)], serial: this.#serial(domain) % SERIALS };
  }

  #records(domain: DomainRow): Iterable<RecordRow> {
    return this.#store.tables.records.group("zone", domain.id).values();
  }

  /**
   * Grows with every change, deletions and those of the same second included: a secondary takes over no zone whose serial
   * has not grown. Before the first change it is the time of the latest row.
   */
  #serial(domain: DomainRow): number {
    const kept = this.#store.tables.settings.get(serialKey(domain.id));
    if (kept !== undefined) return kept.value;
    let latest = domain.updated;
    for (const { updated } of this.#records(domain)) if (updated > latest) latest = updated;
    return parseTimestamp(latest) / MILLISECONDS_PER_SECOND;
  }
}

function serialKey(domainId: number): string {
  return `zone_serial/${domainId}`;
}

// Records that the API accepts but a zone file must not hold: one such line would keep a nameserver from loading the whole zone.

/** RFC 1035, 4.2.2: octets in a message over TCP. A set of records that fits none cannot be answered, and some load no such zone. */
const MAX_MESSAGE_OCTETS = 65_535;

/** The header, the fixed fields of the question, and some room for what a nameserver adds (RFC 6891, RFC 7873). */
const MESSAGE_FRAME_OCTETS = 12 + 4 + 128;

/** A pointer to its name, type, class, TTL and the length of its data. */
const RECORD_FRAME_OCTETS = 12;

/** In a message, a name has the first label's length and the root's, too. */
const NAME_FRAME_OCTETS = 2;

/** For the service's own NS records, with names of any word. */
const SERVERS_OCTETS = 1_000;

/** @returns the records to leave out, each with the reason */
function unfitRecords(records: readonly RecordRow[], domain: string): ReadonlyMap<RecordRow, string> {
  const reasons = new Map<RecordRow, string>();
  const octets = new Map([[setKey({ name: "", type: "NS" }), SERVERS_OCTETS]]);
  const seen = new Set<string>();
  const fitting: RecordRow[] = [];
  for (const record of records) {
    const reason = unfit(record, domain, octets, seen);
    if (reason === null) fitting.push(record);
    else reasons.set(record, reason);
  }
  for (const record of serversWithoutAddress(fitting, domain))
    reasons.set(record, "its host has no address in the zone");
  return reasons;
}

/** The key of all records that are one answer; names compare without letter case (RFC 4343). */
function setKey({ name, type }: Pick<RecordRow, "name" | "type">): string {
  return `${type} ${name.toLowerCase()}`;
}

/**
 * Returns why the record must be left out, or null; then it is counted.
 * @param octets octets of each set so far, by its key
 * @param seen records that are already counted: an equal one takes no more octets
 */
function unfit(record: RecordRow, domain: string, octets: Map<string, number>, seen: Set<string>): string | null {
  const owner = absoluteName(record.name, domain);
  if (nameProblem(owner, false) !== null) return "its name is too long";
  const key = setKey(record);
  const { target, tag, priority, weight, port } = record;
  const whole = `${key} ${tag} ${priority} ${weight} ${port} ${target}`;
  if (seen.has(whole)) return null;
  const sum = (octets.get(key) ?? 0) + RECORD_FRAME_OCTETS + dataOctets(record);
  if (MESSAGE_FRAME_OCTETS + owner.length + NAME_FRAME_OCTETS + sum > MAX_MESSAGE_OCTETS) {
    return "the records of its name and type do not fit into one DNS message";
  }
  seen.add(whole);
  octets.set(key, sum);
  return null;
}

/** An upper bound: a name takes less if an end of it is already in the message. */
function dataOctets({ type, target, tag }: RecordRow): number {
  const { values, target: format } = RECORD_RULES[type];
  // RFC 8659, 4.1: flags, the tag's length, the tag, the value. A number has two octets.
  const before = values.reduce((sum, field) => sum + 2 + (field === "tag" ? (tag ?? "").length : 0), 0);
  switch (format) {
    case "ipv4":
      return before + 4;
    case "ipv6":
      return before + 16;
    case "name":
      return before + target.length + NAME_FRAME_OCTETS;
    case "text":
      return before + textOctets(Buffer.byteLength(target));
    case "value":
      return before + Buffer.byteLength(target);
  }
}

// Which name servers of a zone lack their address in it: for one of them, a strict nameserver loads nothing of the zone.

type TypesByName = ReadonlyMap<string, ReadonlySet<string>>;

/** @returns the NS records of the apex whose host is a name of the zone without an A or AAAA record */
function serversWithoutAddress(records: readonly RecordRow[], domain: string): ReadonlySet<RecordRow> {
  const zone = domain.toLowerCase();
  const within = new Map<RecordRow, string>();
  for (const record of records) {
    if (record.type !== "NS" || record.name !== "") continue;
    const host = relativeName(record.target.toLowerCase(), zone);
    if (host !== null) within.set(record, host);
  }
  if (within.size === 0) return new Set();
  const types = typesByName(records);
  return new Set(
    [...within].filter(([, host]) => !isDelegated(types, host) && !hasAddress(types, host)).map(([row]) => row),
  );
}

/** Names that have nothing but names below them exist, too (RFC 4592, 2.2.2). */
function typesByName(records: readonly RecordRow[]): TypesByName {
  const types = new Map<string, Set<string>>([["", new Set()]]);
  const add = (name: string): Set<string> => {
    const known = types.get(name);
    if (known !== undefined) return known;
    const made = new Set<string>();
    types.set(name, made);
    add(parentOf(name));
    return made;
  };
  for (const { name, type } of records) add(name.toLowerCase()).add(type);
  return types;
}

function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

/** Whether the name, or a name above it below the apex, belongs to another zone. */
function isDelegated(types: TypesByName, host: string): boolean {
  for (let name = host; name !== ""; name = parentOf(name)) if (types.get(name)?.has("NS")) return true;
  return false;
}

/** Its own, or that of the wildcard below the nearest name that exists (RFC 4592, 3.3.1). */
function hasAddress(types: TypesByName, host: string): boolean {
  let encloser = host;
  while (!types.has(encloser)) encloser = parentOf(encloser);
  const found = types.get(encloser === host ? host : encloser === "" ? "*" : `*.${encloser}`);
  return found !== undefined && (found.has("A") || found.has("AAAA"));
}

// How names, mailboxes and character-strings are written in a zone file, octet by octet (RFC 1035, 5.1).

/** RFC 1035, 3.3: octets in a character-string, without its length. */
const MAX_STRING_OCTETS = 255;

/** RFC 1035, 2.3.4: octets in a label, and in a name with all lengths and the root's. */
const MAX_LABEL_OCTETS = 63;
const MAX_NAME_OCTETS = 255;

/** Characters that end a label, or begin something else, unless they are escaped. */
const SPECIAL_IN_LABEL = '."\\;()@$';

/** One string, however long: of at most 255 octets, or what a CAA's value is (RFC 8659, 4.1). */
function quote(octets: Buffer): string {
  return `"${escapeOctets(octets, '"\\', " ")}"`;
}

/** A text as the strings that a TXT is made of; an empty text is one empty string. */
function splitText(octets: Buffer): readonly Buffer[] {
  const strings: Buffer[] = [];
  for (let start = 0; start < octets.length; start += MAX_STRING_OCTETS) {
    strings.push(octets.subarray(start, start + MAX_STRING_OCTETS));
  }
  return strings.length === 0 ? [octets] : strings;
}

/** The length of so many octets of text as strings, each with its length before it. */
function textOctets(octets: number): number {
  return octets + Math.max(1, Math.ceil(octets / MAX_STRING_OCTETS));
}

/**
 * An address as an absolute name: what is before the `@` is one label, dots and all (RFC 1035, 8).
 * @returns `.`, "there is none", if no name can hold it
 */
function mailbox(email: string): string {
  const at = email.lastIndexOf("@");
  const host = email.slice(at + 1).replace(/\.$/, "");
  const labels = [email.slice(0, at), ...host.split(".")].map((label) => Buffer.from(label));
  const octets = labels.reduce((sum, label) => sum + label.length + 1, 1);
  const fits = labels.every(({ length }) => length > 0 && length <= MAX_LABEL_OCTETS) && octets <= MAX_NAME_OCTETS;
  return fits ? `${labels.map((label) => escapeOctets(label, SPECIAL_IN_LABEL, "")).join(".")}.` : ".";
}

/** The special ones as `\X`, what is neither printable ASCII nor `plain` as `\DDD`. */
function escapeOctets(octets: Buffer, special: string, plain: string): string {
  let text = "";
  for (const octet of octets) {
    const character = String.fromCharCode(octet);
    if (special.includes(character)) text += `\\${character}`;
    else if ((octet > 0x20 && octet < 0x7f) || plain.includes(character)) text += character;
    else text += `\\${String(octet).padStart(3, "0")}`;
  }
  return text;
}

/** `010.020.030.040` is `10.20.30.40`, as the service's own language read it in those days. */
export function withoutLeadingZeros(quad: string): string {
  return quad.replace(/\b0+(?=\d)/g, "");
}
