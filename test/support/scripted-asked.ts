/** A nameserver that answers single questions by a script, over UDP and TCP on one port, for what no real nameserver does. */

import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket as TcpSocket } from "node:net";
import dnsPacket, { type Answer, type Packet } from "dns-packet";
import { onTestFinished } from "vitest";
import { framed } from "./scripted-nameserver.ts";

export type Asked = Packet & { readonly id: number };

/** How a question came, and how to answer it. */
export interface Asking {
  readonly query: Asked;
  /** Name and type. */
  readonly text: string;
  readonly transport: "udp" | "tcp";
  /** How many questions came before it, over either transport. */
  readonly index: number;
  /** Sends octets as they are: a datagram, or a part of the stream. */
  send(octets: Buffer): void;
  /** UDP: the same from a port that was not asked. */
  sendFromElsewhere(octets: Buffer): void;
  /** TCP: the connection. */
  readonly socket: TcpSocket | null;
  /** The answer as a message; over TCP with its length. */
  reply(parts?: ReplyParts): Buffer;
}

export interface ReplyParts {
  readonly id?: number;
  readonly answers?: readonly Answer[];
  readonly authorities?: readonly Answer[];
  readonly additionals?: readonly Answer[];
  readonly rcode?: number;
  /** Default: an authoritative answer. */
  readonly isAuthoritative?: boolean;
  readonly isTruncated?: boolean;
  readonly questions?: Packet["questions"];
  readonly type?: "query" | "response";
}

export interface AskedNameserver {
  readonly host: string;
  readonly port: number;
  readonly asked: readonly { readonly text: string; readonly transport: "udp" | "tcp"; readonly query: Asked }[];
  /** How many TCP connections there were. */
  readonly connections: () => number;
}

const HOST = "127.0.0.1";
const AUTHORITATIVE = 0x0400;
const TRUNCATED = 0x0200;

/** Closed, with all its connections, when the test ends. */
export async function startAsked(script: (asking: Asking) => void): Promise<AskedNameserver> {
  const asked: { text: string; transport: "udp" | "tcp"; query: Asked }[] = [];
  const sockets = new Set<TcpSocket>();
  let connections = 0;
  const [tcp, udp, elsewhere] = await bindBoth();
  const note = (octets: Buffer, transport: "udp" | "tcp"): Asked => {
    const packet = dnsPacket.decode(octets);
    const query = { ...packet, id: packet.id ?? 0 };
    const [question] = packet.questions ?? [];
    asked.push({ text: `${question?.name} ${question?.type}`, transport, query });
    return query;
  };
  const asking = (
    query: Asked,
    transport: "udp" | "tcp",
  ): Pick<Asking, "query" | "text" | "transport" | "index" | "reply"> => ({
    query,
    transport,
    text: asked.at(-1)?.text ?? "",
    index: asked.length - 1,
    reply: (parts = {}) => encode(query, transport, parts),
  });
  udp.on("message", (octets: Buffer, from: RemoteInfo) => {
    const query = note(octets, "udp");
    script({
      ...asking(query, "udp"),
      send: (answer) => udp.send(answer, from.port, from.address),
      sendFromElsewhere: (answer) => elsewhere.send(answer, from.port, from.address),
      socket: null,
    });
  });
  tcp.on("connection", (socket: TcpSocket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let received = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const query = note(received.subarray(2, end), "tcp");
        received = received.subarray(end);
        const send = (answer: Buffer): void => void socket.write(answer);
        script({ ...asking(query, "tcp"), send, sendFromElsewhere: send, socket });
      }
    });
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    udp.close();
    elsewhere.close();
    tcp.close();
    await once(tcp, "close");
  });
  return { host: HOST, port: (tcp.address() as AddressInfo).port, asked, connections: () => connections };
}

/** The same port for both: another process may have the one of the two. */
async function bindBoth(): Promise<[ReturnType<typeof createServer>, UdpSocket, UdpSocket]> {
  for (;;) {
    const tcp = createServer().listen(0, HOST);
    await once(tcp, "listening");
    const udp = createSocket("udp4");
    try {
      udp.bind((tcp.address() as AddressInfo).port, HOST);
      await once(udp, "listening");
    } catch {
      udp.close();
      tcp.close();
      continue;
    }
    const elsewhere = createSocket("udp4").bind(0, HOST);
    await once(elsewhere, "listening");
    return [tcp, udp, elsewhere];
  }
}

function encode(query: Asked, transport: "udp" | "tcp", parts: ReplyParts): Buffer {
  const { isAuthoritative = true, isTruncated = false, rcode = 0 } = parts;
  const octets = dnsPacket.encode({
    id: parts.id ?? query.id,
    type: parts.type ?? "response",
    flags: (isAuthoritative ? AUTHORITATIVE : 0) | (isTruncated ? TRUNCATED : 0) | rcode,
    questions: [...(parts.questions ?? query.questions ?? [])],
    answers: [...(parts.answers ?? [])],
    authorities: [...(parts.authorities ?? [])],
    additionals: [...(parts.additionals ?? [])],
  });
  return transport === "tcp" ? framed(octets) : octets;
}
