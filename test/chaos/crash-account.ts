/** An account as it is, told apart: what is somebody else's, byte for byte, and what is ours, without ids and dates. */

import { expect } from "vitest";

/** Seeded ids below this are somebody else's, or nobody's: whatever has one must stay as it is. */
const FIRST_OWN_ID = 100;

export interface Seen {
  /** As JSON with ids and dates, sorted. */
  readonly foreign: readonly string[];
  /** As JSON without ids and dates, sorted: two accounts are equal if these are. */
  readonly own: readonly string[];
  /** What each object of ours is called; records by their content. Sorted. */
  readonly names: readonly string[];
}

type Item = Readonly<Record<string, unknown>>;

interface Placed {
  /** What it lies in, by name: two records are equal only within one zone. */
  readonly place: string;
  readonly item: Item;
  /** Whether the name alone must be unique, or all that it says. */
  readonly name: string | null;
}

const PAGE_SIZE = 500;
const NEVER_COMPARED: ReadonlySet<string> = new Set(["id", "created", "updated"]);

/** @param baseUrl of the service itself */
export async function lookAt(baseUrl: string, token: string): Promise<Seen> {
  const objects = await readAll(baseUrl, token);
  const own = objects.filter(({ item }) => !isForeign(item));
  const told = (object: Placed) => `${object.place}: ${JSON.stringify(object.item, withoutIds)}`;
  return {
    foreign: objects
      .filter(({ item }) => isForeign(item))
      .map(({ place, item }) => `${place}: ${JSON.stringify(item)}`)
      .sort(),
    own: own.map(told).sort(),
    names: own.map((object) => (object.name === null ? told(object) : `${object.place}: ${object.name}`)).sort(),
  };
}

/** Lists what is missing and what is too much. */
export function expectSame(seen: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((line) => !seen.includes(line)).map((line) => `missing: ${line}`);
  const surplus = seen.filter((line) => !wanted.includes(line)).map((line) => `too much: ${line}`);
  const problems = [...missing, ...surplus];
  expect(problems, problems.join("\n")).toEqual([]);
  expect(seen.length).toBe(wanted.length);
}

export function expectNoDuplicates({ names }: Seen): void {
  expect(names.filter((name, index) => name === names[index - 1])).toEqual([]);
}

async function readAll(baseUrl: string, token: string): Promise<Placed[]> {
  const list = (path: string) => listAll(`${baseUrl}/${path}`, token);
  const objects: Placed[] = [];
  for (const { subnets, ...vpc } of await list("vpcs")) {
    objects.push({ place: "vpc", item: vpc, name: String(vpc["label"]) });
    for (const subnet of subnets as Item[]) {
      objects.push({ place: `subnet of ${String(vpc["label"])}`, item: subnet, name: String(subnet["label"]) });
    }
  }
  for (const domain of await list("domains")) {
    objects.push({ place: "domain", item: domain, name: String(domain["domain"]) });
    for (const item of await list(`domains/${String(domain["id"])}/records`)) {
      objects.push({ place: `record of ${String(domain["domain"])}`, item, name: null });
    }
  }
  for (const item of await finishedImages(list)) {
    objects.push({ place: "image", item, name: String(item["label"]) });
  }
  return objects;
}

/** An image that is being made is looked at until it is there: how long that takes is no difference. */
async function finishedImages(list: (path: string) => Promise<Item[]>): Promise<Item[]> {
  for (;;) {
    const images = await list("images");
    if (images.every(({ status }) => status !== "creating")) return images;
  }
}

async function listAll(url: string, token: string): Promise<Item[]> {
  const response = await fetch(`${url}?page_size=${PAGE_SIZE}`, { headers: { authorization: `Bearer ${token}` } });
  const { data, pages } = (await response.json()) as { data: Item[]; pages: number };
  expect([response.status, pages <= 1]).toEqual([200, true]);
  return data;
}

/** Public images are the operator's. */
function isForeign({ id, is_public }: Item): boolean {
  return is_public === true || isForeignId(String(id));
}

/** @param text an id, or any other segment of a path */
export function isForeignId(text: string): boolean {
  const number = /^(?:private\/)?(\d+)$/.exec(text)?.[1];
  return text.startsWith("node/") || (number !== undefined && Number(number) < FIRST_OWN_ID);
}

function withoutIds(key: string, value: unknown): unknown {
  return NEVER_COMPARED.has(key) ? undefined : value;
}
