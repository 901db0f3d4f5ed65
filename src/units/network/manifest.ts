/** A VPC entry of a manifest → its declared network, with everything the service would refuse reported. */

import type { Range } from "../../dns/ipv4-range.ts";
import { ANNOTATION_KEYS, type Annotations } from "../../model/annotations.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { EntrySchema } from "../../model/entry.ts";
import { vpcAddress } from "../../model/resource.ts";
import {
  COMMON_KEYS,
  type EntryLayout,
  type LoadContext,
  type NameProblem,
  OTHER_KEYS,
  type UnitSpec,
  type WrittenEntry,
} from "../../model/unit.ts";
import {
  type AnnotationEntry,
  annotationProperties,
  forPeople,
  loadAnnotations,
  ONLY_WARNED,
  OWN_KEYS,
  stated,
} from "../common.ts";
import { checkDescription } from "../owner-tag.ts";
import { type CidrProblem, nextFree, overlaps, parseCidr } from "./ranges.ts";

/** API.md, Limits: VPC description. */
const MAX_DESCRIPTION_LENGTH = 255;

/** @returns null if the entry has no label */
function loadNetwork(entry: NetworkEntry, context: LoadContext): Declared<NetworkSpec> | null {
  const { label, description, subnets } = entry;
  if (label === undefined) return null;
  const address = vpcAddress(label);
  const ofVpc: LoadContext = { ...context, report: (diagnostic) => context.report({ ...diagnostic, address }) };
  checkLabel(label, "VPC", entry, ofVpc);
  checkDescription(entry, MAX_DESCRIPTION_LENGTH, ofVpc);
  return {
    unit: "network",
    address,
    key: label,
    id: entry.id ?? null,
    movedFrom: entry.moved_from ?? null,
    protect: entry.protect ?? false,
    note: entry.note ?? null,
    ...loadAnnotations(entry, ofVpc),
    span: context.span(entry, "label"),
    ...(entry.id === undefined ? {} : { idSpan: context.span(entry, "id") }),
    spec: {
      label,
      region: entry.region ?? "",
      description,
      subnets: subnets === undefined ? null : loadSubnets(subnets, context),
    },
  };
}

function checkLabel(label: string, what: string, entry: object, context: LoadContext): void {
  const problem = labelProblem(label, what);
  if (problem !== null) context.report({ ...problem, severity: "error", span: context.span(entry, "label") });
}

/** The schema checks the length of a declared label before this function does. A name in `removed` is checked here, too. */
function labelProblem(label: string, what: string): NameProblem | null {
  const bad = !/^[A-Za-z0-9-]+$/.test(label);
  if (!bad && !label.includes("--") && label.length <= MAX_LABEL_LENGTH) return null;
  const detail = bad
    ? `The label of a ${what} has only ASCII letters, digits and dashes.`
    : `The label of a ${what} has at most ${MAX_LABEL_LENGTH} characters, and no two dashes in a row.`;
  const suggested = label
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9-]+/g, "-")
    .replace(/-+/g, "-")
    .slice(0, MAX_LABEL_LENGTH)
    .replace(/^-|-$/g, "");
  const fix = suggested === "" ? "Choose another label." : `For example: ${suggested}.`;
  return { code: "bad-label", summary: "bad `label`", detail, fix };
}

interface Placed {
  readonly entry: SubnetEntry;
  readonly range: Range;
}

function loadSubnets(entries: readonly SubnetEntry[], context: LoadContext): SubnetSpec[] {
  const subnets: SubnetSpec[] = [];
  const placed: Placed[] = [];
  const labels = new Map<string, SubnetEntry>();
  for (const entry of entries) {
    const [label, ipv4] = [String(entry.label), String(entry.ipv4)];
    checkLabel(label, "subnet", entry, context);
    const first = labels.get(label);
    if (first !== undefined) context.report(duplicateLabel(label, entry, first, context));
    else labels.set(label, entry);
    const cidr = parseCidr(ipv4);
    if (cidr.ok) placed.push({ entry, range: cidr.range });
    else context.report(badCidr(ipv4, cidr.problem, cidr.canonical, entry, context));
    const { protect = null, note = null } = entry;
    subnets.push({ label, ipv4, protect, span: context.span(entry), note, ...loadAnnotations(entry, context) });
  }
  for (const [index, [later, earlier]] of overlaps(placed).entries()) {
    const free = index < MAX_PROPOSED_RANGES ? proposeRange(later.range, placed) : null;
    context.report(overlap(later.entry, earlier.entry, free, context));
  }
  return subnets;
}

/** Each proposal looks at all ranges of the VPC: only so many overlaps are answered with one. */
const MAX_PROPOSED_RANGES = 20;

/** The next range of that size that no subnet of the VPC has; null if there is none. */
function proposeRange(range: Range, placed: readonly Placed[]): string | null {
  return (
    nextFree(
      placed.map((other) => other.range),
      range,
      1,
    )[0] ?? null
  );
}

function duplicateLabel(label: string, entry: SubnetEntry, first: SubnetEntry, context: LoadContext): Diagnostic {
  return {
    code: "duplicate-subnet",
    severity: "error",
    summary: `subnet \`${label}\` is there twice`,
    detail: "Within a VPC the labels of subnets must differ.",
    fix: "Rename or remove one of the two.",
    span: context.span(entry, "label"),
    related: [{ message: "first here", span: context.span(first, "label") }],
  };
}

function overlap(later: SubnetEntry, earlier: SubnetEntry, free: string | null, context: LoadContext): Diagnostic {
  return {
    code: "overlapping-subnets",
    severity: "error",
    summary: `${later.ipv4} overlaps ${earlier.ipv4}`,
    detail: "The ranges of a VPC's subnets must not overlap.",
    fix:
      free === null
        ? "Choose another range for one of the two."
        : `The next range of this size that is free in the VPC is ${free}.`,
    span: context.span(later, "ipv4"),
    related: [{ message: "overlaps this one", span: context.span(earlier, "ipv4") }],
  };
}

function badCidr(
  text: string,
  problem: CidrProblem,
  canonical: string | null,
  entry: SubnetEntry,
  context: LoadContext,
): Diagnostic {
  const [detail, fix] = explainCidr(text, problem, canonical);
  return {
    code: "bad-range",
    severity: "error",
    summary: "bad `ipv4` range",
    detail,
    fix,
    span: context.span(entry, "ipv4"),
  };
}

function explainCidr(text: string, problem: CidrProblem, canonical: string | null): [string, string] {
  switch (problem) {
    case "not-cidr":
      return [`\`${text}\` is not an IPv4 range in CIDR form, address/prefix.`, "For example: 10.0.1.0/24."];
    case "prefix":
      return [`The prefix of \`${text}\` is not within /1 to /29.`, "Choose a prefix of at most /29."];
    case "not-canonical":
      return [
        `\`${text}\` has host bits set; the service takes the canonical form only.`,
        `Write ${canonical ?? "the first address"}.`,
      ];
    case "not-private":
      return [
        `\`${text}\` does not lie within private address space (RFC 1918).`,
        "Use a range of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16.",
      ];
  }
}

const LABEL_RULE = "ASCII letters, digits and dashes, no two dashes in a row, at most 64 characters.";

/** API.md, Limits: VPC and subnet label. */
const MAX_LABEL_LENGTH = 64;

interface NetworkEntry extends AnnotationEntry {
  readonly label?: string;
  readonly id?: number;
  readonly moved_from?: string;
  readonly region?: string;
  readonly description?: string | null;
  readonly subnets?: readonly SubnetEntry[];
  readonly protect?: boolean;
  readonly note?: string;
}

interface SubnetEntry extends AnnotationEntry {
  readonly label?: string;
  readonly ipv4?: string;
  readonly protect?: boolean;
  readonly note?: string;
}

const VPC_SCHEMA: EntrySchema<NetworkEntry> = {
  title: "VPC",
  description: "A virtual private cloud with its subnets.",
  type: "object",
  required: ["label", "region"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    label: {
      title: "Label",
      description: `What the VPC is found by: ${LABEL_RULE}`,
      type: "string",
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      examples: ["prod"],
    },
    id: {
      title: "Id",
      description: "The live VPC's id, where labels repeat.",
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [123],
    },
    moved_from: {
      title: "Moved from",
      description: "The label it had before: renames the VPC. Ignored once done.",
      type: "string",
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      examples: ["old-prod"],
    },
    region: {
      title: "Region",
      description: "The region's identifier. Cannot be changed in place.",
      type: "string",
      pattern: "^[a-z0-9-]+$",
      examples: ["us-east"],
    },
    description: {
      title: "Description",
      description: "At most 255 characters, the owner's tag included. Absent: left alone; null: emptied.",
      type: ["string", "null"],
      examples: ["Production network"],
    },
    subnets: {
      title: "Subnets",
      description: "All subnets of the VPC: others are deleted. Absent: subnets are not managed.",
      type: "array",
      items: { $ref: "#/$defs/subnet" },
      examples: [[{ label: "web", ipv4: "10.0.1.0/24" }]],
    },
    protect: {
      title: "Protect",
      description:
        "true: never deleted or replaced, and neither are its subnets, but for those that say `protect: false`.",
      type: "boolean",
      default: false,
    },
    note: { title: "Note", description: "For people; shown in plans.", type: "string" },
    ...annotationProperties(ONLY_WARNED),
  },
  examples: [{ label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.1.0/24" }] }],
};

const SUBNET_SCHEMA: EntrySchema<SubnetEntry> = {
  title: "Subnet",
  description: "A range of private IPv4 addresses within a VPC.",
  type: "object",
  required: ["label", "ipv4"],
  additionalProperties: false,
  patternProperties: OWN_KEYS,
  properties: {
    label: {
      title: "Label",
      description: `The subnet's label: ${LABEL_RULE}`,
      type: "string",
      minLength: 1,
      maxLength: MAX_LABEL_LENGTH,
      examples: ["web"],
    },
    ipv4: {
      title: "IPv4 range",
      description:
        "Canonical CIDR within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, prefix at most 29; or ${cidrsubnet(prefix, newbits, netnum)}. Cannot be changed in place.",
      type: "string",
      minLength: 1,
      examples: ["10.0.1.0/24", "${cidrsubnet(var.base, 8, 1)}"],
    },
    protect: {
      title: "Protect",
      description: "true: never deleted or replaced, and neither is its VPC. Absent: as its VPC.",
      type: "boolean",
    },
    note: { title: "Note", description: "For people; shown in plans.", type: "string" },
    ...annotationProperties(ONLY_WARNED),
  },
  examples: [{ label: "web", ipv4: "10.0.1.0/24" }],
};

// How a network, a VPC and its subnets, appears in a manifest.

const NETWORK_LAYOUT: EntryLayout = {
  keys: ["label", ...COMMON_KEYS, "region", "description", OTHER_KEYS, "subnets"],
  lists: { subnets: ["label", "ipv4", "protect", "note", ...ANNOTATION_KEYS, OTHER_KEYS] },
};

export const networkSpec: UnitSpec<NetworkSpec> = {
  section: "vpcs",
  removedKey: "vpc",
  layout: NETWORK_LAYOUT,
  schema: VPC_SCHEMA,
  definitions: { subnet: SUBNET_SCHEMA },
  load: loadNetwork,
  write: writeNetwork,
  removed: (label) => ({ address: vpcAddress(label), key: label, problem: labelProblem(label, "VPC") }),
};

// A network's spec as the manifest entry that declares it.

function writeNetwork({ label, region, description, subnets }: NetworkSpec): WrittenEntry {
  const entries = subnets?.map((subnet) => ({
    label: subnet.label,
    ipv4: subnet.ipv4,
    ...(subnet.protect === null ? {} : { protect: subnet.protect }),
    ...forPeople(subnet),
  }));
  return { head: { label }, body: { region, ...stated({ description, subnets: entries }) } };
}

// A declared network: what a VPC entry of a manifest comes to.

export type Protection = ReadonlyMap<string, boolean | null>;

/** null: whether it is protected is its VPC's. */
export function isProtectedBy(
  protection: Protection,
  { label, ipv4 }: { readonly label: string; readonly ipv4: string },
): boolean | null {
  const said = [protection.get(label), protection.get(ipv4)];
  return said.includes(true) ? true : (said.find((one) => typeof one === "boolean") ?? null);
}

export interface NetworkSpec {
  readonly label: string;
  readonly region: string;
  /** undefined: left alone; null or "": empty. Without the owner's tag. */
  readonly description: string | null | undefined;
  /** null: not managed. */
  readonly subnets: readonly SubnetSpec[] | null;
  /** By an undo: the `protect` of the subnets that the project declares now, by label and by range, also of those that the undo takes away. */
  readonly protection?: Protection;
}

export interface SubnetSpec {
  readonly label: string;
  /** Canonical CIDR. */
  readonly ipv4: string;
  /** null: as its VPC is. */
  readonly protect: boolean | null;
  readonly span: Span;
  readonly note: string | null;
  readonly annotations?: Annotations;
}
