/** A service for tests: real HTTP on loopback over plain collections, with a hook before and after each effect. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../../src/model/resource.ts";

export interface Call {
  readonly method: string;
  /** Decoded segments below `/v4`; of an upload `["upload"]`. */
  readonly path: readonly string[];
  readonly body: string;
  readonly authorization: string | undefined;
  /** How many calls with this method and path came before. */
  readonly nth: number;
}

/**
 * What happens instead of the usual.
 * `lose`: the connection is dropped without an effect; `lose-answer`: after it; `answer`: this, without an effect;
 * `instead`: the effect takes place, the answer is this.
 */
export type Twist =
  | { readonly type: "lose" | "lose-answer" }
  | { readonly type: "answer" | "instead"; readonly status: number; readonly text: string };

export class Service {
  readonly calls: Call[] = [];
  /** Objects by the path of their list, joined with slashes. */
  readonly lists: Map<string, JsonObject[]> = new Map();
  /** May wait; null: nothing unusual. */
  twist: (call: Call) => Twist | null | Promise<Twist | null> = () => null;
  /** Most calls that were under way at the same time. */
  busiest = 0;
  #busy = 0;
  #nextId = 100;
  readonly #server: Server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));

  static async start(): Promise<Service> {
    const service = new Service();
    await new Promise<void>((resolve) => service.#server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/v4`;
  }

  get signedUrl(): string {
    return `${this.origin}/upload?signature=s3cr3t-signature`;
  }

  list(path: readonly string[]): JsonObject[] {
    const key = path.join("/");
    const items = this.lists.get(key) ?? [];
    this.lists.set(key, items);
    return items;
  }

  add(path: readonly string[], fields: JsonObject): JsonObject {
    this.#nextId += 1;
    const item = { ...fields, id: path[0] === "images" ? `private/${this.#nextId}` : this.#nextId };
    this.list(path).push(item);
    return item;
  }

  callsOf(method: string): readonly string[] {
    return this.calls.filter((call) => call.method === method).map((call) => call.path.join("/"));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.#busy += 1;
    this.busiest = Math.max(this.busiest, this.#busy);
    const call = await this.#read(incoming);
    this.calls.push(call);
    const twist = await this.twist(call);
    // Before the answer is out: the client may send the next request as soon as it has it.
    this.#busy -= 1;
    if (twist?.type === "lose") return void incoming.socket.destroy();
    if (twist?.type === "answer") return reply(outgoing, twist.status, twist.text);
    const answer = this.#effect(call);
    if (twist?.type === "lose-answer") return void incoming.socket.destroy();
    if (twist?.type === "instead") return reply(outgoing, twist.status, twist.text);
    if (answer === null) return reply(outgoing, 404, '{"errors":[{"reason":"Not found"}]}');
    reply(outgoing, 200, JSON.stringify(answer));
  }

  async #read(incoming: IncomingMessage): Promise<Call> {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const url = new URL(incoming.url ?? "/", this.origin);
    const path = url.pathname.split("/").slice(1).map(decodeURIComponent);
    if (path[0] === "v4") path.shift();
    const method = incoming.method ?? "";
    const nth = this.calls.filter((call) => call.method === method && call.path.join() === path.join()).length;
    return { method, path, body, authorization: incoming.headers.authorization, nth };
  }

  #effect(call: Call): JsonObject | null {
    const { method, path } = call;
    if (path[0] === "upload") return {};
    if (method === "POST") return this.#create(path, JSON.parse(call.body) as JsonObject);
    if (method === "GET" && path.length % 2 === 1) return page(this.list(path));
    const items = this.list(path.slice(0, -1));
    const index = items.findIndex((item) => String(item["id"]) === path.at(-1));
    if (method === "PUT") return { id: path.at(-1) ?? "", ...(JSON.parse(call.body) as JsonObject) };
    if (index === -1) return null;
    if (method === "DELETE") items.splice(index, 1);
    return method === "DELETE" ? {} : (items[index] ?? null);
  }

  #create(path: readonly string[], body: JsonObject): JsonObject {
    if (path.join("/") !== "images/upload") return this.add(path, body);
    return { image: this.add(["images"], { ...body, status: "pending_upload" }), upload_to: this.signedUrl };
  }
}

function page(items: readonly JsonObject[]): JsonObject {
  return { data: items, page: 1, pages: 1, results: items.length };
}

function reply(outgoing: ServerResponse, status: number, text: string): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(text);
}
