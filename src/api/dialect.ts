/** The one seam between API.md's neutral vocabulary and the words a running service uses (API.md, Naming note). */

import type { ApiError, ApiRequest } from "../model/api.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";

/** The word of API.md itself. */
export const NEUTRAL_DIALECT = "node";

/** Allowed values of `*_sec` (API.md, Domain record), ascending. */
const ALLOWED_SECONDS: readonly number[] = [
  300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200,
];
const ALLOWED_SECONDS_ELSEWHERE: readonly number[] = [30, 120, ...ALLOWED_SECONDS];

/** Seconds that the service keeps as they are, ascending, without 0. */
export function allowedSeconds(dialect: string): readonly number[] {
  return dialect === NEUTRAL_DIALECT ? ALLOWED_SECONDS : ALLOWED_SECONDS_ELSEWHERE;
}

/** A dialect is a word that may stand in keys and paths. */
export function isDialect(word: string): boolean {
  return /^[a-z][a-z0-9]{0,31}$/.test(word);
}

/**
 * A request in the service's words. Only keys and segments of known places change, never free text.
 * @param request in API.md's words
 */
export function toWire(request: ApiRequest, dialect: string): ApiRequest {
  if (dialect === NEUTRAL_DIALECT) return request;
  const { filter, body, ...rest } = request;
  return {
    ...rest,
    path: pathToWire(request.path, dialect),
    ...(filter ? { filter: filterToWire(filter, dialect) } : {}),
    ...(body ? { body: isTicketOpen(request) ? renamed(body, "node_id", `${dialect}_id`) : body } : {}),
  };
}

function isTicketOpen(request: ApiRequest): boolean {
  return request.method === "POST" && request.path.join("/") === "support/tickets";
}

function pathToWire(path: readonly string[], dialect: string): readonly string[] {
  if (isAddressList(path)) return OTHER_ADDRESS_LIST;
  const [first, second, ...rest] = path;
  if (first === NEUTRAL_DIALECT) return [dialect, ...path.slice(1)];
  if (first !== "images" || second === undefined) return path;
  return [first, second === NEUTRAL_DIALECT ? dialect : publicId(second, NEUTRAL_DIALECT, dialect), ...rest];
}

function filterToWire(filter: JsonObject, dialect: string): JsonObject {
  const entries = Object.entries(filter).map(([key, value]): [string, Json] => {
    if (key === "+and" || key === "+or") return [key, conditionsToWire(value, dialect)];
    return [key === "node_id" ? `${dialect}_id` : key, value];
  });
  return Object.fromEntries(entries);
}

function conditionsToWire(conditions: Json, dialect: string): Json {
  if (!Array.isArray(conditions)) return conditions;
  return conditions.map((one: Json) => (isJsonObject(one) ? filterToWire(one, dialect) : one));
}

const ADDRESS_LIST: readonly string[] = ["networking", "vpcs", "ips"];
/** Where services of other dialects keep the list of VPC addresses. */
const OTHER_ADDRESS_LIST: readonly string[] = ["vpcs", "ips"];

function isAddressList(path: readonly string[]): boolean {
  return path.length === ADDRESS_LIST.length && path.every((segment, index) => segment === ADDRESS_LIST[index]);
}

/** Where else the same list may be if the service does not know the path; null: nowhere. */
export function otherPath(request: ApiRequest, dialect: string): readonly string[] | null {
  return dialect === NEUTRAL_DIALECT && isAddressList(request.path) ? OTHER_ADDRESS_LIST : null;
}

type Translate = (object: JsonObject, dialect: string) => JsonObject;

/**
 * An answer in API.md's words.
 * @param path of the request, in API.md's words
 */
export function fromWire(body: Json, path: readonly string[], dialect: string): Json {
  const translate = dialect === NEUTRAL_DIALECT ? null : translatorOf(path);
  if (translate === null || !isJsonObject(body)) return body;
  const data = body["data"];
  if (!Array.isArray(data)) return translate(body, dialect);
  return { ...body, data: data.map((item: Json) => (isJsonObject(item) ? translate(item, dialect) : item)) };
}

/** Which objects a path answers with; null: none that say the word. */
function translatorOf(path: readonly string[]): Translate | null {
  switch (path[0]) {
    case "networking":
      return isAddressList(path) ? address : null;
    case "vpcs":
      if (path[1] === "ips" || path[2] === "ips") return address;
      return path[2] === "subnets" ? subnet : vpc;
    case "images":
      return path[1] === "upload" ? imageUpload : image;
    case "support":
      return path[3] === "replies" ? withAvatar : ticket;
    default:
      return null;
  }
}

const vpc: Translate = (object, dialect) => {
  const subnets = object["subnets"];
  if (!Array.isArray(subnets)) return object;
  return { ...object, subnets: subnets.map((one: Json) => (isJsonObject(one) ? subnet(one, dialect) : one)) };
};

const subnet: Translate = (object, dialect) => renamed(object, `${dialect}s`, "nodes");

const address: Translate = (object, dialect) => renamed(object, `${dialect}_id`, "node_id");

const withAvatar: Translate = (object) => renamed(object, "gravatar_id", "avatar_id");

const ticket: Translate = (object, dialect) => {
  const entity = object["entity"];
  const translated = withAvatar(object, dialect);
  if (!isJsonObject(entity) || entity["type"] !== dialect) return translated;
  return { ...translated, entity: { ...entity, type: NEUTRAL_DIALECT } };
};

const imageUpload: Translate = (object, dialect) => {
  const inner = object["image"];
  return isJsonObject(inner) ? { ...object, image: image(inner, dialect) } : object;
};

const image: Translate = (object, dialect) => {
  const id = object["id"];
  if (typeof id !== "string" || !id.startsWith(`${dialect}/`)) return object;
  // Only public images are made by the operator: a user may be called like the word.
  const maker = object["created_by"] === dialect ? { created_by: NEUTRAL_DIALECT } : {};
  return { ...object, id: publicId(id, dialect, NEUTRAL_DIALECT), ...maker };
};

function publicId(id: string, from: string, to: string): string {
  return id.startsWith(`${from}/`) ? `${to}${id.slice(from.length)}` : id;
}

/** The field that an error is about, in API.md's words; its text is the service's own. */
export function errorsFromWire(errors: readonly ApiError[], dialect: string): readonly ApiError[] {
  if (dialect === NEUTRAL_DIALECT) return errors;
  return errors.map((error) => (error.field === `${dialect}_id` ? { ...error, field: "node_id" } : error));
}

/** The object with one key renamed in place, so that the order of its keys stays. */
function renamed(object: JsonObject, from: string, to: string): JsonObject {
  if (!Object.hasOwn(object, from)) return object;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}
