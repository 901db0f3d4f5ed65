/** What a client was told of each object, and what therefore must, may and must not be there after a kill. */

import { expect } from "vitest";
import type { PlainAnswer } from "../support/emulator.ts";

type Kind = "vpcs" | "domains" | "images";

/** All that is compared of an object; absent: there is none. */
interface State {
  readonly note: string;
  /** Subnets or records, in order. */
  readonly parts: readonly string[];
}

interface Item {
  readonly kind: Kind;
  readonly name: string;
  id: number | string | null;
  /** What it may be: one state once all is acknowledged, the ones before and after while a change is not. */
  possible: readonly (State | undefined)[];
}

interface Live {
  readonly id: number | string;
  readonly state: State;
}

type Body = PlainAnswer["body"];

/** The emulator was killed before it answered. */
class Unanswered extends Error {}

const HEADERS = { authorization: "Bearer emulator-token", "content-type": "application/json" };

async function send(
  url: string,
  method = "GET",
  body?: unknown,
): Promise<{ readonly status: number; readonly body: Body }> {
  try {
    const response = await fetch(url, {
      method,
      headers: HEADERS,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  } catch (error) {
    throw new Unanswered(String(error));
  }
}

async function list(url: string): Promise<Body[]> {
  const all: Body[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { status, body } = await send(`${url}?page_size=500&page=${page}`);
    expect(status).toBe(200);
    all.push(...body.data);
    pages = body.pages;
  }
  return all;
}

export class Ledger {
  acknowledged = 0;
  readonly #random: () => number;
  readonly #items: Item[] = [];
  /** Whose each id is: none is ever given twice. */
  readonly #givenIds = new Map<string, string>();
  #count = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** One change after the other, until the emulator is gone. */
  async work(baseUrl: string): Promise<void> {
    const own: Item[] = [];
    try {
      for (;;) await this.#step(baseUrl, own);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
    }
  }

  async #step(baseUrl: string, own: Item[]): Promise<void> {
    const present = own.filter(({ possible: [state] }) => state !== undefined);
    const item = present[Math.floor(this.#random() * present.length)];
    const choice = this.#random();
    if (item === undefined || choice < 0.35) return this.#create(baseUrl, own);
    if (choice < 0.4) return this.#refused(baseUrl);
    const url = `${baseUrl}/${item.kind}/${String(item.id).replace("/", "%2F")}`;
    const [state] = item.possible;
    if (state === undefined) return;
    if (choice < 0.65) {
      await this.#change(item, undefined, () => send(url, "DELETE"));
    } else if (item.kind === "domains" && choice < 0.75) {
      this.#count += 1;
      const clone = this.#newItem("domains", `clone-${this.#count}.test`);
      own.push(clone);
      await this.#change(clone, state, () => send(`${url}/clone`, "POST", { domain: clone.name }));
    } else if (item.kind === "domains" && choice < 0.9) {
      this.#count += 1;
      const after = { ...state, parts: [...state.parts, `r${this.#count} 192.0.2.1`] };
      const record = { type: "A", name: `r${this.#count}`, target: "192.0.2.1" };
      await this.#change(item, after, async () => {
        const answer = await send(`${url}/records`, "POST", record);
        this.#give(`record ${answer.body.id}`, `${item.name} ${record.name}`);
        return answer;
      });
    } else {
      this.#count += 1;
      const note = `note ${this.#count} \u2028 é`;
      await this.#change(item, { ...state, note }, () => send(url, "PUT", { description: note }));
    }
  }

  async #create(baseUrl: string, own: Item[]): Promise<void> {
    this.#count += 1;
    const number = this.#count;
    const description = `made ${number}`;
    const kind = (["vpcs", "domains", "images"] as const)[number % 3] ?? "vpcs";
    const item = this.#newItem(kind, kind === "domains" ? `d${number}.test` : `${kind}-${number}`);
    own.push(item);
    const subnets = [
      { label: "a", ipv4: "10.0.0.0/24" },
      { label: "b", ipv4: "10.0.1.0/24" },
    ];
    const parts = kind === "vpcs" ? subnets.map(({ label, ipv4 }) => `${label} ${ipv4}`) : [];
    await this.#change(item, { note: description, parts }, () => {
      const label = item.name;
      if (kind === "vpcs") return send(`${baseUrl}/vpcs`, "POST", { label, region: "us-east", description, subnets });
      if (kind === "images") {
        return send(`${baseUrl}/images/upload`, "POST", { label, region: "us-east", description });
      }
      const domain = { domain: item.name, type: "master", soa_email: "a@b.test", description };
      return send(`${baseUrl}/domains`, "POST", domain);
    });
  }

  async #refused(baseUrl: string): Promise<void> {
    this.#count += 1;
    const { status } = await send(`${baseUrl}/vpcs`, "POST", { label: `refused-${this.#count}`, region: "?" });
    expect(status).toBe(400);
  }

  #newItem(kind: Kind, name: string): Item {
    const item: Item = { kind, name, id: null, possible: [undefined] };
    this.#items.push(item);
    return item;
  }

  async #change(
    item: Item,
    after: State | undefined,
    run: () => Promise<{ readonly status: number; readonly body: Body }>,
  ): Promise<void> {
    item.possible = [...item.possible, after];
    const { status, body } = await run();
    expect([status, status === 200 ? [] : body.errors]).toEqual([200, []]);
    item.possible = [after];
    this.acknowledged += 1;
    if (item.id !== null) return;
    item.id = (item.kind === "images" ? (body.image?.id ?? body.id) : body.id) as number | string;
    this.#give(`${item.kind} ${item.id}`, item.name);
  }

  #give(id: string, to: string): void {
    expect(this.#givenIds.get(id) ?? to, `${id} was given twice`).toBe(to);
    this.#givenIds.set(id, to);
  }

  /** Every object is as it must, or as it may be; and there are no others. */
  async check(baseUrl: string): Promise<void> {
    const live = await readAll(baseUrl, (id, to) => this.#give(id, to));
    for (const item of this.#items) {
      const key = `${item.kind} ${item.name}`;
      const found = live.get(key);
      live.delete(key);
      const states = item.possible.map((state) => JSON.stringify(state) ?? "none");
      expect(states, key).toContain(JSON.stringify(found?.state) ?? "none");
      if (found !== undefined) {
        expect(item.id ?? found.id).toBe(found.id);
        item.id = found.id;
        this.#give(`${item.kind} ${found.id}`, item.name);
      }
      item.possible = [found?.state];
    }
    expect([...live.keys()]).toEqual([]);
  }
}

async function readAll(baseUrl: string, give: (id: string, to: string) => void): Promise<Map<string, Live>> {
  const live = new Map<string, Live>();
  for (const vpc of await list(`${baseUrl}/vpcs`)) {
    const parts = vpc.subnets.map(({ label, ipv4 }: Body) => `${label} ${ipv4}`);
    live.set(`vpcs ${vpc.label}`, { id: vpc.id, state: { note: vpc.description, parts } });
  }
  for (const image of await list(`${baseUrl}/images`)) {
    live.set(`images ${image.label}`, { id: image.id, state: { note: image.description, parts: [] } });
  }
  const domains = await list(`${baseUrl}/domains`);
  for (const { id, domain, description } of domains) {
    const records = await list(`${baseUrl}/domains/${id}/records`);
    for (const record of records) give(`record ${record.id}`, `${domain} ${record.name}`);
    const parts = records.map(({ name, target }: Body) => `${name} ${target}`);
    live.set(`domains ${domain}`, { id, state: { note: description, parts } });
  }
  return live;
}
