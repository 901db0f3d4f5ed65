/** DKIM keys from readable parts (RFC 6376, 3.6.1; RFC 8463): the TXT at `SELECTOR._domainkey`. */

import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { nameProblem } from "../name.ts";
import { type BuildProblem, type Built, badPart, below } from "./built.ts";

export interface DkimParts {
  readonly selector: string;
  /** Base64, with or without white space and PEM lines; empty: revoked. */
  readonly key: string;
  readonly type?: "rsa" | "ed25519";
  readonly testing?: boolean;
  readonly same_domain?: boolean;
}

/** RFC 8301, 3.2: shorter keys are taken for no key. */
const MIN_RSA_BITS = 1024;
/** RFC 8032, 5.1.5. */
const ED25519_KEY_BYTES = 32;

export function buildDkim(parts: DkimParts, name: string): Built {
  const problems: BuildProblem[] = [];
  const type = parts.type ?? "rsa";
  if (parts.selector === "" || nameProblem(parts.selector, true) !== null) {
    const detail = `\`${parts.selector}\` is not one or more labels of letters, digits and hyphens.`;
    problems.push(badPart(["selector"], "bad `selector`", detail, "For example: s1."));
  }
  const key = readKey(parts.key, type);
  if (!key.ok) problems.push(badPart(["key"], key.summary, key.detail, key.fix));
  const flags = [parts.testing === true ? "y" : "", parts.same_domain === true ? "s" : ""].filter(
    (flag) => flag !== "",
  );
  const tags = [
    "v=DKIM1",
    `k=${type}`,
    ...(flags.length === 0 ? [] : [`t=${flags.join(":")}`]),
    `p=${key.ok ? key.base64 : ""}`,
  ];
  const owner = below(`${parts.selector}._domainkey`, name);
  return { records: [{ type: "TXT", name: owner, target: tags.join("; ") }], problems };
}

type ReadKey =
  | { readonly ok: true; readonly base64: string }
  | { readonly ok: false; readonly summary: string; readonly detail: string; readonly fix: string };

function readKey(text: string, type: "rsa" | "ed25519"): ReadKey {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return privateKey();
  const base64 = text.replace(/-----(BEGIN|END) [A-Z ]+-----/g, "").replace(/\s+/g, "");
  if (base64 === "") return text.trim() === "" ? { ok: true, base64 } : bad("The PEM lines hold no key.");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) {
    return bad("It is not base64: letters, digits, `+` and `/`, filled up with `=` to a multiple of four characters.");
  }
  const bytes = Buffer.from(base64, "base64");
  // Asked for a public key, the library derives one from a private key.
  if (isPrivate(bytes)) return privateKey();
  return type === "rsa" ? readRsa(bytes) : readEd25519(bytes);
}

/** In the form that all verifiers read: SubjectPublicKeyInfo, though RFC 6376 has the bare key, too. */
function readRsa(bytes: Buffer): ReadKey {
  const key = parse(bytes, "spki") ?? parse(bytes, "pkcs1");
  if (key === null) return bad("It is base64, but no RSA public key.");
  if (key.asymmetricKeyType !== "rsa") {
    return bad(`It is a key of type ${key.asymmetricKeyType ?? "unknown"}, not RSA.`);
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS) {
    return bad(`It has ${bits} bits; verifiers take no RSA key below ${MIN_RSA_BITS} (RFC 8301, 3.2).`);
  }
  return { ok: true, base64: key.export({ type: "spki", format: "der" }).toString("base64") };
}

/** RFC 8463, 4.2: the bare key; tools hand it out as SubjectPublicKeyInfo. */
function readEd25519(bytes: Buffer): ReadKey {
  if (bytes.length === ED25519_KEY_BYTES) return { ok: true, base64: bytes.toString("base64") };
  const key = parse(bytes, "spki");
  if (key?.asymmetricKeyType === "ed25519") {
    const raw = key.export({ type: "spki", format: "der" }).subarray(-ED25519_KEY_BYTES);
    return { ok: true, base64: raw.toString("base64") };
  }
  return bad(`It is no Ed25519 public key, which has ${ED25519_KEY_BYTES} bytes.`);
}

function parse(bytes: Buffer, type: "spki" | "pkcs1"): KeyObject | null {
  try {
    return createPublicKey({ key: bytes, format: "der", type });
  } catch {
    return null;
  }
}

function isPrivate(bytes: Buffer): boolean {
  return (["pkcs8", "pkcs1", "sec1"] as const).some((type) => {
    try {
      createPrivateKey({ key: bytes, format: "der", type });
      return true;
    } catch {
      return false;
    }
  });
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
