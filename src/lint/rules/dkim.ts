/** Rules about DKIM keys: the TXT records at `selector._domainkey`. */

import { createPublicKey, type KeyObject } from "node:crypto";
import type { ZoneRule } from "../rule.ts";
import { shownName, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";
import { readTags, tagValue } from "./tags.ts";

/** RFC 8301, 3.2: shorter keys are not to be taken for valid. */
const MIN_RSA_BITS = 1024;
/** RFC 8463, 3. */
const ED25519_KEY_BYTES = 32;
/** What stands before the key of an Ed25519 SubjectPublicKeyInfo (RFC 8410, 4). */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

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

function keysOf({ records }: ZoneView): LintRecord[] {
  return records.filter(({ type, name }) => type === "TXT" && /^[^_].*\._domainkey(?:\.|$)/.test(name));
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
  return readEncoded(Buffer.from(encoded, "base64"), (tagValue(tags, "k") ?? "rsa").toLowerCase());
}

function readEncoded(der: Buffer, algorithm: string): DkimKey {
  if (algorithm === "ed25519") {
    const isKey = der.length === ED25519_KEY_BYTES && parse(Buffer.concat([ED25519_PREFIX, der]), "spki") !== null;
    return isKey ? { type: "ed25519" } : bad(`an Ed25519 key has ${ED25519_KEY_BYTES} bytes; this has ${der.length}.`);
  }
  // Receivers skip keys of algorithms that they do not know; there may be more of them one day.
  if (algorithm !== "rsa") return { type: "unknown" };
  const key = parse(der, "spki") ?? parse(der, "pkcs1");
  const bits = key?.asymmetricKeyDetails?.modulusLength;
  return key?.asymmetricKeyType === "rsa" && bits !== undefined
    ? { type: "rsa", bits }
    : bad("`p` does not hold an RSA public key.");
}

function parse(der: Buffer, type: "spki" | "pkcs1"): KeyObject | null {
  try {
    return createPublicKey({ key: der, format: "der", type });
  } catch {
    return null;
  }
}

function bad(problem: string): DkimKey {
  return { type: "problem", problem };
}
