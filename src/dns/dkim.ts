/** DKIM keys (RFC 6376, 3.6.1; RFC 8463): the public key that a manifest gives, and the one in a TXT that is written out. */

import { createPublicKey, type KeyObject } from "node:crypto";

/** RFC 8301, 3.2: shorter keys are taken for no key. */
const MIN_RSA_BITS = 1024;
/** RFC 8032, 5.1.5. */
const ED25519_KEY_BYTES = 32;

type ReadKey =
  | { readonly ok: true; readonly base64: string }
  | { readonly ok: false; readonly summary: string; readonly detail: string; readonly fix: string };

/** @param text base64, with or without white space and PEM lines; empty: revoked */
export function readDkimKey(text: string, type: "rsa" | "ed25519"): ReadKey {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return privateKey();
  const base64 = text.replace(/-----(BEGIN|END) [A-Z ]+-----/g, "").replace(/\s+/g, "");
  if (base64 === "") return text.trim() === "" ? { ok: true, base64 } : bad("The PEM lines hold no key.");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) {
    return bad("It is not base64: letters, digits, `+` and `/`, filled up with `=` to a multiple of four characters.");
  }
  if (isPrivate(Buffer.from(base64, "base64"))) return privateKey();
  return type === "rsa" ? readRsa(base64) : readEd25519(base64);
}

/** In the form that all verifiers read: SubjectPublicKeyInfo, though RFC 6376 has the bare key, too. */
function readRsa(base64: string): ReadKey {
  const key = publicKeyIn(base64);
  if (key === null) return bad("It is base64, but no RSA public key.");
  if (key.type !== "rsa") return bad(`It is a key of type ${key.type}, not RSA.`);
  if (key.bits < MIN_RSA_BITS) {
    return bad(`It has ${key.bits} bits; verifiers take no RSA key below ${MIN_RSA_BITS} (RFC 8301, 3.2).`);
  }
  return { ok: true, base64: key.spki };
}

/** RFC 8463, 4.2: the bare key; tools hand it out as SubjectPublicKeyInfo. */
function readEd25519(base64: string): ReadKey {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length === ED25519_KEY_BYTES) return { ok: true, base64 };
  const key = publicKeyIn(base64);
  if (key?.type === "ed25519") {
    const raw = Buffer.from(key.spki, "base64").subarray(-ED25519_KEY_BYTES);
    return { ok: true, base64: raw.toString("base64") };
  }
  return bad(`It is no Ed25519 public key, which has ${ED25519_KEY_BYTES} bytes.`);
}

/** SEQUENCE, then INTEGER 0 or 1: the version that private keys begin with (RFC 5208, 5; RFC 8017, A.1.2; RFC 5915, 3), and public ones do not. */
function isPrivate(bytes: Buffer): boolean {
  const [tag, length = 0] = bytes;
  const content = length < 0x80 ? 2 : 2 + (length & 0x7f);
  const [type, size, version = 2] = bytes.subarray(content, content + 3);
  return tag === 0x30 && type === 0x02 && size === 1 && version <= 1;
}

function bad(detail: string): ReadKey {
  const fix = 'Write the public key that the mail service gives; `key: ""` says that it is revoked.';
  return { ok: false, summary: "bad `key`", detail, fix };
}

function privateKey(): ReadKey {
  const detail = "It is a private key, which would be published for all to read.";
  const fix = "Take it out of the file and its history, make a new pair, and write the public key.";
  return { ok: false, summary: "a private key", detail, fix };
}

// Public keys: many domains publish the same ones, and to read one takes longer than all else about its record.

interface PublicKey {
  /** `rsa`, `ed25519`, or another one of Node's names. */
  readonly type: string;
  /** Of an RSA key, else 0. */
  readonly bits: number;
  /** SubjectPublicKeyInfo in base64. */
  readonly spki: string;
}

/** By their base64. */
const remembered: Map<string, PublicKey | null> = new Map();
/** More than a megabyte of manifests has room for. */
const MAX_REMEMBERED_KEYS = 10_000;

/** What SubjectPublicKeyInfo, or a bare RSA key (RFC 8017, A.1.1), says; null if it is neither. @param base64 complete, without white space */
export function publicKeyIn(base64: string): PublicKey | null {
  const known = remembered.get(base64);
  if (known !== undefined) return known;
  const bytes = Buffer.from(base64, "base64");
  // Asked for a public key, the library would derive one from a private key.
  const key = isPrivate(bytes) ? null : (parse(bytes, "spki") ?? parse(bytes, "pkcs1"));
  const read = key === null ? null : described(key);
  if (remembered.size >= MAX_REMEMBERED_KEYS) remembered.clear();
  remembered.set(base64, read);
  return read;
}

function described(key: KeyObject): PublicKey {
  return {
    type: key.asymmetricKeyType ?? "unknown",
    bits: key.asymmetricKeyDetails?.modulusLength ?? 0,
    spki: key.export({ type: "spki", format: "der" }).toString("base64"),
  };
}

function parse(bytes: Buffer, type: "spki" | "pkcs1"): KeyObject | null {
  try {
    return createPublicKey({ key: bytes, format: "der", type });
  } catch {
    return null;
  }
}
