/** Rules about what mail needs beside MX: SPF, DMARC and DKIM. */

import { publicKeyIn } from "../../dns/dkim.ts";
import { absoluteName, parentOf } from "../../dns/name.ts";
import { shortened } from "../../model/text.ts";
import { type LintRecord, type ProjectZones, related, shownName, type ZoneRule, type ZoneView } from "../rule.ts";
import { isSpfRecord } from "./spf.ts";

/** Second labels under which registries sell names, such as co.uk, com.au, or.jp, are at most this long. */
const MAX_REGISTRY_LABEL_LENGTH = 3;

export const mxWithoutSpf: ZoneRule = {
  code: "mx-without-spf",
  severity: "warning",
  finds: "a name with MX records and without an SPF record",
  why: "Without SPF anyone can send mail in its name, and large receivers refuse mail from it (RFC 7208, 1; RFC 7505 for names without mail).",
  fix: 'Add a TXT record such as "v=spf1 mx -all", or a null MX (target `.`) if the name takes no mail.',
  *check(view, world) {
    for (const [name, exchanger] of mailNames(view)) {
      if (world.mayHave(absoluteName(name, view.zone.zone), ["TXT"], isSpfRecord)) continue;
      const detail = `${capital(shownName(name))} has MX records but no TXT record that begins with v=spf1.`;
      yield { summary: "MX without SPF", detail, records: [exchanger] };
    }
  },
};

export const mxWithoutDmarc: ZoneRule = {
  code: "mx-without-dmarc",
  severity: "warning",
  finds: "a name with MX records, of which neither the name nor one above it in the declared zones has a DMARC record",
  why: "DMARC tells receivers what to do with mail that only pretends to be from you, and large receivers ask for it (RFC 7489, 6.6.3).",
  fix: 'Add a TXT record at `_dmarc`, such as "v=DMARC1; p=none; rua=mailto:…" to begin with.',
  *check(view, world) {
    for (const [name, exchanger] of mailNames(view)) {
      if (mayHaveDmarc(absoluteName(name, view.zone.zone), world)) continue;
      const detail = `${capital(shownName(name))} has MX records, and there is no DMARC record for it.`;
      yield { summary: "MX without DMARC", detail, records: [exchanger] };
    }
  },
};

/** Receivers look at the name and at its organisational domain, which is one of the names above (RFC 7489, 6.6.3). */
function mayHaveDmarc(name: string, world: ProjectZones): boolean {
  let top = name;
  for (let at = name; at !== "" && world.zoneOf(at) !== null; at = parentOf(at)) {
    top = at;
    if (world.mayHave(`_dmarc.${at}`, ["TXT"], isDmarcRecord)) return true;
  }
  return !isOrganisation(top);
}

function isDmarcRecord({ type, target }: LintRecord): boolean {
  return type === "TXT" && /^v=DMARC1\b/i.test(target);
}

/** Whether the name may be a registered domain. A name below one may be covered by a DMARC record that is in no declared zone. */
function isOrganisation(name: string): boolean {
  const labels = name.split(".");
  return labels.length <= 2 || (labels.length === 3 && (labels[1] ?? "").length <= MAX_REGISTRY_LABEL_LENGTH);
}

/** Names that take mail, each with its first MX. */
function* mailNames(view: ZoneView): Iterable<readonly [string, LintRecord]> {
  for (const [name, records] of view.sets("MX")) {
    const exchanger = records.find(({ target }) => target !== "");
    if (exchanger !== undefined && view.cutAbove(name) === null) yield [name, exchanger];
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Rules about DKIM keys: the TXT records at `selector._domainkey`.

/** RFC 8301, 3.2: shorter keys are not to be taken for valid. */
const MIN_RSA_BITS = 1024;
/** RFC 8463, 3. */
const ED25519_KEY_BYTES = 32;

export const dkimKey: ZoneRule = {
  code: "dkim-key",
  severity: "error",
  finds: "a TXT at `selector._domainkey` that is no DKIM key",
  why: "Receivers cannot check any signature with it, and mail signed with it counts as not signed (RFC 6376, 3.6.1 and 6.1.2).",
  fix: "Copy the record once more from the mail system, in one piece and without quotes.",
  *check(view) {
    for (const record of keysOf(view)) {
      const key = readKey(record.target);
      if (key.type !== "problem") continue;
      const detail = `The DKIM record at ${shownName(record.name)} is not understood: ${key.problem}`;
      yield { summary: "a DKIM key that cannot be read", detail, records: [record] };
    }
  },
};

export const dkimWeakKey: ZoneRule = {
  code: "dkim-weak-key",
  severity: "warning",
  finds: "an RSA key for DKIM of less than 1024 bits",
  why: "Such keys can be broken, and receivers must not take them for valid (RFC 8301, 3.2).",
  fix: "Make a new key of 2048 bits under a new selector.",
  *check(view) {
    for (const record of keysOf(view)) {
      const key = readKey(record.target);
      if (key.type !== "rsa" || key.bits >= MIN_RSA_BITS) continue;
      const detail = `The RSA key at ${shownName(record.name)} has ${key.bits} bits.`;
      yield { summary: "a weak DKIM key", detail, records: [record] };
    }
  },
};

function keysOf(view: ZoneView): LintRecord[] {
  return view.ofType("TXT").filter(({ name }) => /^[^_].*\._domainkey(?:\.|$)/.test(name));
}

type DkimKey =
  | { readonly type: "rsa"; readonly bits: number }
  | { readonly type: "ed25519" | "revoked" | "unknown" }
  /** A full sentence. */
  | { readonly type: "problem"; readonly problem: string };

function readKey(text: string): DkimKey {
  const read = readTags(text);
  if (!read.ok) return bad(read.problem);
  const { tags } = read;
  const version = tagValue(tags, "v");
  if (version !== null && (version !== "DKIM1" || tags[0]?.name !== "v"))
    return bad("`v` must be the first tag, and `DKIM1`.");
  const encoded = tagValue(tags, "p")?.replace(/\s+/g, "");
  if (encoded === undefined) return bad("there is no tag `p`, which holds the key.");
  if (encoded === "") return { type: "revoked" };
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0)
    return bad("`p` is not complete base64: something is missing, or too much.");
  return readEncoded(encoded, (tagValue(tags, "k") ?? "rsa").toLowerCase());
}

function readEncoded(base64: string, algorithm: string): DkimKey {
  if (algorithm === "ed25519") {
    const { length } = Buffer.from(base64, "base64");
    if (length === ED25519_KEY_BYTES) return { type: "ed25519" };
    return bad(`an Ed25519 key has ${ED25519_KEY_BYTES} bytes; this has ${length}.`);
  }
  // Receivers skip keys of algorithms that they do not know; there may be more of them one day.
  if (algorithm !== "rsa") return { type: "unknown" };
  const key = publicKeyIn(base64);
  return key?.type === "rsa" ? { type: "rsa", bits: key.bits } : bad("`p` does not hold an RSA public key.");
}

function bad(problem: string): DkimKey {
  return { type: "problem", problem };
}

// Rules about DMARC records: the TXT at `_dmarc`.

const POLICY = /^(?:none|quarantine|reject)$/i;

/** Allowed values of the known tags (RFC 7489, 6.3 and 6.4); other tags are not checked. */
const VALUES: Readonly<Record<string, RegExp>> = {
  p: POLICY,
  sp: POLICY,
  np: POLICY,
  adkim: /^[rs]$/i,
  aspf: /^[rs]$/i,
  pct: /^(?:100|\d{1,2})$/,
  ri: /^\d+$/,
  fo: /^[01ds](?:\s*:\s*[01ds])*$/i,
  rf: /^[a-z0-9-]+(?:\s*:\s*[a-z0-9-]+)*$/i,
  rua: /^[a-z][a-z0-9+.-]*:[^\s,]+(?:\s*,\s*[a-z][a-z0-9+.-]*:[^\s,]+)*$/i,
  ruf: /^[a-z][a-z0-9+.-]*:[^\s,]+(?:\s*,\s*[a-z][a-z0-9+.-]*:[^\s,]+)*$/i,
};

export const dmarcSyntax: ZoneRule = {
  code: "dmarc-syntax",
  severity: "error",
  finds: "a TXT at `_dmarc` that is no DMARC record",
  why: "Receivers ignore it, or the tag that is wrong, as if nothing were there (RFC 7489, 6.3 and 6.6.3).",
  fix: 'Write it like "v=DMARC1; p=reject; rua=mailto:dmarc@example.com".',
  *check(view) {
    for (const record of dmarcOf(view)) {
      const problem = problemOf(record.target);
      if (problem === null) continue;
      const detail = `The TXT record at ${shownName(record.name)} is not understood: ${problem}`;
      yield { summary: "a DMARC record with an error", detail, records: [record] };
    }
  },
};

export const multipleDmarc: ZoneRule = {
  code: "multiple-dmarc",
  severity: "error",
  finds: "more than one DMARC record at a name",
  why: "Receivers then take none of them (RFC 7489, 6.6.3).",
  fix: "Keep one of them.",
  *check(view) {
    for (const [name, texts] of view.sets("TXT")) {
      if (!isDmarcName(name)) continue;
      const [first, ...others] = texts.filter(({ target }) => /^v=DMARC1\b/i.test(target));
      const [second] = others;
      if (first === undefined || second === undefined) continue;
      const detail = `${others.length + 1} TXT records at ${shownName(name)} begin with v=DMARC1.`;
      yield {
        summary: "several DMARC records at one name",
        detail,
        records: [second, first, ...others.slice(1)],
        related: [related("the first of them", first)],
      };
    }
  },
};

function dmarcOf(view: ZoneView): LintRecord[] {
  return view.ofType("TXT").filter(({ name }) => isDmarcName(name));
}

function isDmarcName(name: string): boolean {
  return name === "_dmarc" || name.startsWith("_dmarc.");
}

function problemOf(text: string): string | null {
  const read = readTags(text);
  if (!read.ok) return read.problem;
  const { tags } = read;
  if (tags[0]?.name !== "v" || tags[0].value !== "DMARC1") return "it does not begin with `v=DMARC1`.";
  // A missing policy counts as `none` if there is an address for reports (RFC 7489, 6.6.3).
  if (tagValue(tags, "p") === null && tagValue(tags, "rua") === null) return "it has no policy, `p=`.";
  const wrong = tags.find(isWrong);
  return wrong === undefined
    ? null
    : `\`${shortened(`${wrong.name}=${wrong.value}`, MAX_SHOWN_CHARACTERS)}\` is not a value for that tag.`;
}

function isWrong({ name, value }: Tag): boolean {
  const allowed = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  return allowed !== undefined && !allowed.test(value);
}

// Lists of `tag=value; …`, as DKIM and DMARC records are (RFC 6376, 3.2).

interface Tag {
  /** As written: tags are case-sensitive. */
  readonly name: string;
  readonly value: string;
}

type Tags =
  | { readonly ok: true; readonly tags: readonly Tag[] }
  /** A full sentence. */
  | { readonly ok: false; readonly problem: string };

/** A longer text is cut in messages. */
const MAX_SHOWN_CHARACTERS = 40;

export function readTags(text: string): Tags {
  const parts = text.split(";");
  if (parts.at(-1)?.trim() === "") parts.pop();
  const tags = new Map<string, string>();
  for (const part of parts) {
    const [, name, value = ""] = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=(.*)$/s.exec(part) ?? [];
    if (name === undefined)
      return { ok: false, problem: `\`${shortened(part.trim(), MAX_SHOWN_CHARACTERS)}\` is no tag with a value.` };
    if (tags.has(name)) return { ok: false, problem: `The tag \`${name}\` is there twice.` };
    tags.set(name, value.trim());
  }
  return { ok: true, tags: [...tags].map(([name, value]) => ({ name, value })) };
}

function tagValue(tags: readonly Tag[], name: string): string | null {
  return tags.find((tag) => tag.name === name)?.value ?? null;
}
