/** JSON Schemas of builders: entries of `records` that are put together from readable parts (RFC 7208, 7489, 6376, 8659). */

import type {
  CaaParts,
  DkimParts,
  DmarcAlignment,
  DmarcParts,
  DmarcPolicy,
  PtrParts,
  SpfParts,
} from "../../dns/builders.ts";
import { MAX_SECONDS } from "../../dns/record.ts";
import type { EntrySchema, PropertiesOf, SchemaOf } from "../../model/entry.ts";
import type { JsonObject } from "../../model/resource.ts";
import { OWN_KEYS } from "../common.ts";
import type { LintEntry } from "./spec.ts";

/** RFC 7489, 6.3: an interval is an unsigned 32-bit number of seconds. */
const MAX_INTERVAL = 4_294_967_295;

/** By the key that names the builder. */
export interface BuilderEntry {
  readonly spf?: SpfParts;
  readonly dmarc?: DmarcParts;
  readonly dkim?: DkimParts;
  readonly caa?: CaaParts;
  readonly ptr?: PtrParts;
}

function builder<Parts>(
  title: string,
  description: string,
  properties: PropertiesOf<Parts>,
  rest: JsonObject,
): EntrySchema<Parts> {
  return {
    title,
    description,
    type: "object",
    additionalProperties: false,
    patternProperties: OWN_KEYS,
    properties,
    ...rest,
  };
}

function texts(title: string, description: string, examples: readonly string[]): SchemaOf<readonly string[]> {
  return {
    title,
    description,
    type: "array",
    items: { title, description: "One of them.", type: "string", minLength: 1 },
    examples: [examples],
  };
}

function hosts(title: string, description: string): SchemaOf<boolean | readonly string[]> {
  return {
    title,
    description: `${description} true: those of the name itself; or a list of names.`,
    type: ["boolean", "array"],
    items: {
      title: "Name",
      description: "A domain name, with a prefix length if need be.",
      type: "string",
      minLength: 1,
    },
    examples: [true, ["mail.example.net"]],
  };
}

const SPF = builder<SpfParts>(
  "SPF",
  "Who may send mail for the name (RFC 7208); becomes a TXT.",
  {
    ip4: texts("IPv4", "Addresses and networks that may send.", ["192.0.2.0/24"]),
    ip6: texts("IPv6", "Addresses and networks that may send.", ["2001:db8::/32"]),
    a: hosts("A", "The hosts with these addresses may send."),
    mx: hosts("MX", "The mail exchangers may send."),
    include: texts("Include", "Whoever these domains let send.", ["_spf.example.net"]),
    exists: texts("Exists", "Names that exist if the sender may send; macros are allowed.", ["%{i}._spf.example.net"]),
    mechanisms: texts("Mechanisms", "Mechanisms as text, in order, for what has no key here.", [
      "?include:example.net",
    ]),
    redirect: {
      title: "Redirect",
      description: "The domain whose policy holds if nothing matches; in place of `all`.",
      type: "string",
      minLength: 1,
      examples: ["_spf.example.net"],
    },
    exp: {
      title: "Explanation",
      description: "The name of a TXT that explains a refusal.",
      type: "string",
      minLength: 1,
      examples: ["why.example.com"],
    },
    all: {
      title: "All",
      description: "What becomes of all other senders: fail -all, softfail ~all, neutral ?all, pass +all.",
      type: "string",
      enum: ["fail", "softfail", "neutral", "pass"],
      examples: ["fail"],
    },
  },
  { examples: [{ mx: true, include: ["_spf.example.net"], ip4: ["192.0.2.0/24"], all: "fail" }] },
);

function policy(title: string, description: string): SchemaOf<DmarcPolicy> {
  return { title, description, type: "string", enum: ["none", "quarantine", "reject"] };
}

function alignment(title: string, description: string): SchemaOf<DmarcAlignment> {
  return { title, description: `${description} The default is relaxed.`, type: "string", enum: ["relaxed", "strict"] };
}

const DMARC = builder<DmarcParts>(
  "DMARC",
  "What receivers do with mail that fails SPF and DKIM (RFC 7489); becomes the TXT at _dmarc.",
  {
    policy: policy("Policy", "For the name itself."),
    subdomain_policy: policy("Subdomain policy", "For names below; the default is the policy."),
    nonexistent_policy: policy("Policy of names that do not exist", "For names below that do not exist (RFC 9091)."),
    percent: {
      title: "Percent",
      description: "The share of failing mail that the policy holds for.",
      type: "integer",
      minimum: 0,
      maximum: 100,
      examples: [50],
    },
    rua: texts("Aggregate reports", "Who gets them: e-mail addresses or URIs.", ["dmarc@example.com"]),
    ruf: texts("Failure reports", "Who gets them: e-mail addresses or URIs.", ["dmarc@example.com"]),
    adkim: alignment("DKIM alignment", "How well the DKIM domain must fit."),
    aspf: alignment("SPF alignment", "How well the SPF domain must fit."),
    failure_options: {
      title: "Failure options",
      description: "When failure reports are sent: 0 all failed, 1 any failed, d DKIM failed, s SPF failed.",
      type: "array",
      items: { title: "Option", description: "One of them.", type: "string", enum: ["0", "1", "d", "s"] },
      examples: [["1"]],
    },
    report_interval_sec: {
      title: "Report interval",
      description: "Seconds between aggregate reports.",
      type: "integer",
      minimum: 0,
      maximum: MAX_INTERVAL,
      examples: [86400],
    },
  },
  { required: ["policy"], examples: [{ policy: "reject", rua: ["dmarc@example.com"] }] },
);

const DKIM = builder<DkimParts>(
  "DKIM",
  "A key that mail is signed with (RFC 6376); becomes the TXT at SELECTOR._domainkey.",
  {
    selector: {
      title: "Selector",
      description: "The key's name, as signatures give it.",
      type: "string",
      minLength: 1,
      examples: ["s1"],
    },
    key: {
      title: "Public key",
      description: "In base64, with or without white space and PEM lines; empty: revoked.",
      type: "string",
      examples: ["MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A..."],
    },
    type: { title: "Type", description: "The kind of key.", type: "string", enum: ["rsa", "ed25519"], default: "rsa" },
    testing: {
      title: "Testing",
      description: "true: the domain tries DKIM out; failures count for nothing.",
      type: "boolean",
      default: false,
    },
    same_domain: {
      title: "Same domain",
      description: "true: the key does not sign for names below.",
      type: "boolean",
      default: false,
    },
  },
  { required: ["selector", "key"], examples: [{ selector: "s1", key: "" }] },
);

const CAA = builder<CaaParts>(
  "CAA",
  "Which authorities may issue certificates for the name (RFC 8659); becomes CAA records.",
  {
    issue: texts("Issue", "Authorities that may issue; []: none may.", ["letsencrypt.org"]),
    issuewild: texts("Issue wildcards", "Authorities that may issue wildcards; []: none may.", ["letsencrypt.org"]),
    iodef: {
      title: "Incidents",
      description: "Where authorities report: an e-mail address or URI, or a list of them.",
      type: ["string", "array"],
      minLength: 1,
      items: { title: "Address", description: "One of them.", type: "string", minLength: 1 },
      examples: ["mailto:security@example.com"],
    },
    account_uri: {
      title: "Account",
      description: "The only account at the authority that may issue (RFC 8657).",
      type: "string",
      minLength: 1,
      examples: ["https://acme.example.net/acct/1"],
    },
    validation_methods: texts("Validation methods", "The only ways of validation that may be used (RFC 8657).", [
      "dns-01",
    ]),
  },
  { examples: [{ issue: ["letsencrypt.org"], issuewild: [], iodef: "mailto:security@example.com" }] },
);

const PTR: SchemaOf<PtrParts> = {
  title: "Reverse names",
  description: "Addresses of a reverse zone and what they are called; becomes PTR records.",
  type: "object",
  patternProperties: OWN_KEYS,
  additionalProperties: {
    title: "Name",
    description: "The name of the address, in full, or a list of names.",
    type: ["string", "array"],
    minLength: 1,
    minItems: 1,
    items: { title: "Name", description: "One of them.", type: "string", minLength: 1 },
  },
  examples: [{ "192.0.2.10": "www.example.com." }],
};

export const BUILDER_SCHEMAS: PropertiesOf<BuilderEntry> = {
  spf: SPF,
  dmarc: DMARC,
  dkim: DKIM,
  caa: CAA,
  ptr: PTR,
};

// What the JSON Schemas of domains and of records share.

/** Defined by the manifest itself, as the root file has it, too. */
export const LINT: SchemaOf<LintEntry> = { $ref: "#/$defs/lint" };

export const NOTE: SchemaOf<string> = { title: "Note", description: "For people; shown in plans.", type: "string" };

export const TTL: SchemaOf<number> = {
  title: "TTL",
  description:
    "Seconds that resolvers may keep it; 0: the domain's default. Other values than the service's are rounded to the nearest.",
  type: "integer",
  minimum: 0,
  maximum: MAX_SECONDS,
  default: 0,
  examples: [300, 3600, 86400],
};

/** Exactly one of these keys. */
export function oneOf(keys: readonly string[]): JsonObject {
  return { oneOf: keys.map((key) => ({ required: [key] })) };
}
