/** What an object of a list must hold before anything is planned with it (API.md, Resources and their fields). */

import { isIPv4 } from "node:net";
import { type ListAnswer, MAX_TEXT_CHARACTERS } from "../model/api.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import type { ReadClient } from "./connection.ts";

/** What is wrong with a value. */
interface Problem {
  /** Path to the wrong part of the value: `.subnets[0].ipv4`; empty for the value itself. */
  readonly part: string;
  /** The predicate of the message; its subject is the part. */
  readonly clause: string;
}

type Check = (value: Json | undefined) => Problem | null;

const OTHER_TYPE: Problem = { part: "", clause: "is missing or of another type" };

function problemIn(part: string, { part: rest, clause }: Problem): Problem {
  return { part: `${part}${rest}`, clause };
}

/** RFC 1035, 2.3.4, as text. Looking up a name costs the summed length of all its parent names, so its length is limited. */
const MAX_NAME_CHARACTERS = 255;
/**
 * Names that lie between the records of one domain and the domain: a record `a.b.c` has two, `b.c` and `c`. 12,000 records with names of 100
 * characters have 600,000.
 */
const MAX_INNER_LABELS_PER_LIST = 800_000;
/** Of all lists that one command reads: twice what a project may declare. */
const MAX_INNER_LABELS = 1_600_000;

/**
 * Records at one name that allow no other there: CNAME (RFC 1034, 3.6.2), and an MX without a host (RFC 7505). The service takes one. Each has an
 * edge to each record that a plan wants at the name.
 */
const MAX_LONE_RECORDS_PER_NAME = 10;

/** Of tags and addresses. The service allows far fewer. */
const MAX_SHORT_LIST_ITEMS = 10_000;

/** Subnets of VPCs, nodes in them and their interfaces, in all VPCs of an account: a plan holds each of them. */
const MAX_PARTS_PER_LIST = 100_000;

/** Beyond 2^53 two ids are read as the same number, and a request would reach the wrong object. */
const numericId: Check = (value) => (Number.isSafeInteger(value) ? null : OTHER_TYPE);
const number: Check = (value) => (typeof value === "number" ? null : OTHER_TYPE);
const text: Check = (value) => {
  if (typeof value !== "string") return OTHER_TYPE;
  if (value.length <= MAX_TEXT_CHARACTERS) return null;
  return { part: "", clause: `has more than ${MAX_TEXT_CHARACTERS.toLocaleString("en")} characters` };
};
const name: Check = (value) => {
  if (typeof value !== "string") return OTHER_TYPE;
  if (value.length <= MAX_NAME_CHARACTERS) return null;
  return { part: "", clause: `has more than ${MAX_NAME_CHARACTERS} characters, and a name may not` };
};
const ipv4Range: Check = (value) => {
  if (typeof value !== "string") return OTHER_TYPE;
  const [address = "", prefix = "", more] = value.split("/", 3);
  const isRange = isIPv4(address) && /^(0|[1-9]\d?)$/.test(prefix) && Number(prefix) <= 32 && more === undefined;
  return isRange ? null : { part: "", clause: "is no IPv4 range" };
};
const nullableText: Check = (value) => (value === null ? null : text(value));
const flag: Check = (value) => (typeof value === "boolean" ? null : OTHER_TYPE);

/** A field that a type of record does not use may be missing, or null. */
function optional(check: Check): Check {
  return (value) => (value === undefined || value === null ? null : check(value));
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return OTHER_TYPE;
    for (const [index, item] of value.entries()) {
      const problem = check(item as Json);
      if (problem !== null) return problemIn(`[${index}]`, problem);
    }
    return null;
  };
}

function shortListOf(check: Check): Check {
  const whole = listOf(check);
  return (value) => {
    if (!Array.isArray(value) || value.length <= MAX_SHORT_LIST_ITEMS) return whole(value);
    return { part: "", clause: `has more than ${MAX_SHORT_LIST_ITEMS.toLocaleString("en")} values` };
  };
}

function objectOf(fields: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(fields);
  return (value) => {
    if (value === undefined || !isJsonObject(value)) return OTHER_TYPE;
    for (const [field, check] of checks) {
      const problem = check(value[field]);
      if (problem !== null) return problemIn(`.${field}`, problem);
    }
    return null;
  };
}

const subnet = objectOf({
  id: numericId,
  label: name,
  ipv4: ipv4Range,
  nodes: listOf(objectOf({ id: numericId, interfaces: listOf(objectOf({ id: numericId, active: flag })) })),
});

/** Path of a list, `*` for an id → its objects. Only what plans are made of: the service may say more, or less. */
const SHAPES: readonly { readonly path: string; readonly check: Check }[] = [
  {
    path: "vpcs",
    check: objectOf({ id: numericId, label: name, description: nullableText, region: text, subnets: listOf(subnet) }),
  },
  {
    path: "vpcs/*/ips",
    check: objectOf({
      ...{ interface_id: numericId, subnet_id: numericId, config_id: optional(numericId) },
      ...{ address: optional(text), address_range: optional(text) },
    }),
  },
  {
    path: "networking/vpcs/ips",
    check: objectOf({
      ...{ interface_id: numericId, subnet_id: numericId, vpc_id: numericId, node_id: numericId },
      ...{ config_id: optional(numericId), active: flag },
      ...{ address: optional(text), address_range: optional(text), nat_1_1: optional(text), region: optional(text) },
    }),
  },
  {
    path: "domains",
    check: objectOf({
      id: numericId,
      domain: name,
      type: text,
      status: text,
      ...{ description: optional(text), group: optional(text), soa_email: optional(text) },
      ...{ refresh_sec: optional(number), retry_sec: optional(number), expire_sec: optional(number) },
      ttl_sec: optional(number),
      tags: shortListOf(text),
      master_ips: shortListOf(text),
      axfr_ips: shortListOf(text),
    }),
  },
  {
    path: "domains/*/records",
    check: objectOf({
      ...{ id: numericId, type: text, name, target: text, ttl_sec: number },
      ...{ priority: optional(number), weight: optional(number), port: optional(number) },
      ...{ service: optional(text), protocol: optional(text), tag: optional(text) },
    }),
  },
  {
    path: "images",
    check: objectOf({
      ...{ id: name, label: name, status: text, type: text, is_public: flag },
      ...{ description: optional(text), created: optional(text) },
    }),
  },
];

interface MalformedField {
  /** Which object of the list it is, if it says that much. */
  readonly id: Json | undefined;
  /** A clause about the first field, or about the list, that is not as it should be. */
  readonly problem: string;
}

function malformedFieldOf(path: readonly string[], items: readonly JsonObject[]): MalformedField | null {
  const key = path.map((segment) => (/^\d+$/.test(segment) ? "*" : segment)).join("/");
  const check = SHAPES.find((shape) => shape.path === key)?.check;
  if (check === undefined) return null;
  let parts = 0;
  const lone = new Map<string, number>();
  for (const item of items) {
    const problem = check(item);
    if (problem !== null) return { id: item["id"], problem: `\`${problem.part.slice(1)}\` ${problem.clause}` };
    parts += partsIn(item["subnets"]);
    if (isLone(item)) {
      const at = String(item["name"]).toLowerCase();
      const count = (lone.get(at) ?? 0) + 1;
      lone.set(at, count);
      if (count > MAX_LONE_RECORDS_PER_NAME) return { id: undefined, problem: TOO_MANY_LONE_RECORDS };
    }
  }
  if (parts > MAX_PARTS_PER_LIST) {
    const most = MAX_PARTS_PER_LIST.toLocaleString("en");
    return { id: undefined, problem: `the objects of the list have more than ${most} subnets, nodes and interfaces` };
  }
  return innerLabelsIn(items) <= MAX_INNER_LABELS_PER_LIST
    ? null
    : tooManyLabels("the list", MAX_INNER_LABELS_PER_LIST);
}

function tooManyLabels(where: string, most: number): MalformedField {
  const problem = `the names of ${where} have more than ${most.toLocaleString("en")} labels beside their first`;
  return { id: undefined, problem };
}

function innerLabelsIn(items: readonly JsonObject[]): number {
  return items.reduce((sum, { name }) => sum + (typeof name === "string" ? name.split(".").length - 1 : 0), 0);
}

const TOO_MANY_LONE_RECORDS = `more than ${MAX_LONE_RECORDS_PER_NAME} records are at one name that allow no other there`;

/** Whether it is a record that allows no other at its name, or no other of its type. */
function isLone({ type, target }: JsonObject): boolean {
  return type === "CNAME" || (type === "MX" && target === "");
}

/** The objects in a list, and in the lists within them. */
function partsIn(list: Json | undefined): number {
  if (!Array.isArray(list)) return 0;
  return list.reduce(
    (sum: number, item: JsonObject) => sum + 1 + partsIn(item["nodes"]) + partsIn(item["interfaces"]),
    0,
  );
}

/** The same client, whose lists fail as `malformed` if an object in them is not as it should be. */
export function checkingShapes(api: ReadClient): ReadClient {
  // By the list, as a command may read one again and again.
  const innerLabels = new Map<string, number>();
  let sum = 0;
  const tooManyTogether = (path: readonly string[], items: readonly JsonObject[]): MalformedField | null => {
    const [key, own] = [path.join("/"), innerLabelsIn(items)];
    sum += own - (innerLabels.get(key) ?? 0);
    innerLabels.set(key, own);
    return sum <= MAX_INNER_LABELS ? null : tooManyLabels("all lists that were read", MAX_INNER_LABELS);
  };
  return {
    get requestCount() {
      return api.requestCount;
    },
    get: (request, signal) => api.get(request, signal),
    limits: () => api.limits(),
    close: () => api.close(),
    list: async (request, signal) => {
      const answer = await api.list(request, signal);
      if (!answer.ok) return answer;
      const { path } = request;
      const problem = malformedFieldOf(path, answer.items) ?? tooManyTogether(path, answer.items);
      return problem === null ? answer : malformed(path, problem);
    },
  };
}

function malformed(path: readonly string[], { id, problem }: MalformedField): ListAnswer {
  const which = typeof id === "number" || typeof id === "string" ? ` (the object ${id})` : "";
  const message = `an answer came that is not the list expected${which} at /${path.join("/")}: ${problem}`;
  const failure = { effect: "none", status: 200, errors: [], message, maintenance: false, attempts: 1 } as const;
  return { ok: false, failure: { type: "malformed", ...failure } };
}
