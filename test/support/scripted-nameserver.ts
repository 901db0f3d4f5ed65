/** A TCP nameserver that answers by a script, and messages made by hand, for tests of what no real nameserver does. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import dnsPacket, { type Answer, type Packet } from "dns-packet";
import { onTestFinished } from "vitest";

export interface ScriptedNameserver {
  readonly host: string;
  readonly port: number;
  /** The decoded questions so far. */
  readonly queries: readonly Packet[];
  /** Resolves when every connection so far is closed. */
  idle(): Promise<void>;
  /** Closes every connection. */
  drop(): void;
}

/** Called once the question of a connection is there. */
export type Script = (socket: Socket, query: Packet & { readonly id: number }) => void;

/** Closed, with all its connections, when the test ends. */
export async function startScripted(script: Script): Promise<ScriptedNameserver> {
  const sockets = new Set<Socket>();
  const queries: Packet[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let received = Buffer.alloc(0);
    let asked = false;
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (asked || received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      asked = true;
      const query = dnsPacket.streamDecode(received);
      queries.push(query);
      script(socket, { ...query, id: query.id ?? 0 });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(async () => {
    drop();
    server.close();
    await once(server, "close");
  });
  const idle = async (): Promise<void> => {
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
  };
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, queries, idle, drop };
}

export interface MessageParts {
  readonly id: number;
  readonly answers?: readonly Answer[];
  /** Already encoded; after `answers`. */
  readonly raw?: readonly Buffer[];
  /** Name of the zone in the question; null: no question. */
  readonly question?: string | null;
  readonly questionType?: "AXFR" | "IXFR";
  readonly rcode?: number;
  readonly flags?: number;
  readonly type?: "query" | "response";
}

export const ZONE = "example.com";

/** One message with its length before it. */
export function message(parts: MessageParts): Buffer {
  const zone = parts.question === undefined ? ZONE : parts.question;
  const encoded = dnsPacket.encode({
    id: parts.id,
    type: parts.type ?? "response",
    flags: (parts.flags ?? 0) | (parts.rcode ?? 0),
    questions: zone === null ? [] : [{ type: parts.questionType ?? "AXFR", class: "IN", name: zone }],
    answers: [...(parts.answers ?? [])],
  });
  const raw = parts.raw ?? [];
  encoded.writeUInt16BE((parts.answers?.length ?? 0) + raw.length, 6);
  return framed(Buffer.concat([encoded, ...raw]));
}

export function framed(octets: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(octets.length);
  return Buffer.concat([length, octets]);
}

/** A record of any type with any data. Labels are octets, so that a dot or a newline can be in one. */
export function rawRecord(labels: readonly string[], type: number, data: Buffer, recordClass = 1, ttl = 300): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(recordClass, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([rawName(labels), fixed, data]);
}

export function rawName(labels: readonly string[]): Buffer {
  const parts = labels.map((label) => {
    const octets = Buffer.from(label, "latin1");
    return Buffer.concat([Buffer.from([octets.length]), octets]);
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** The SOA of a zone, as it begins and ends a transfer. */
export function soa(zone = ZONE, changes: Partial<Extract<Answer, { type: "SOA" }>["data"]> = {}): Answer {
  return {
    type: "SOA",
    name: zone,
    ttl: 3600,
    data: {
      mname: `ns1.${zone}`,
      rname: `hostmaster.${zone}`,
      serial: 1,
      refresh: 14_400,
      retry: 7_200,
      expire: 604_800,
      minimum: 300,
      ...changes,
    },
  };
}

export function address(name: string, data = "192.0.2.1"): Answer {
  return { type: "A", name, ttl: 300, data };
}
