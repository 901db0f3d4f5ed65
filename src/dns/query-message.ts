/** One question and its answer as messages: what is asked, and whether what came is the answer to it. */

import { type DnsRecord, readMessage, TYPE_CODES } from "./message.ts";

export interface DnsQuery {
  /** Absolute, lower-case ASCII, without a final dot; a star asks for the wildcard itself. */
  readonly name: string;
  readonly type: keyof typeof TYPE_CODES;
}

export type Transport = "udp" | "tcp";

export interface DnsAnswer {
  /** RFC 1035, 4.1.1; `responseCode` has the name. */
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  readonly additionals: readonly DnsRecord[];
}

/**
 * - `unreachable`: there was no way to the server, or the connection broke.
 * - `timeout`: no answer came in time.
 * - `malformed`: what came over TCP is no answer to the question. (Over UDP anybody may have sent it: it is passed over.)
 * - `aborted`: the caller ended it.
 */
export type QueryProblemCode = "unreachable" | "timeout" | "malformed" | "aborted";

export interface QueryProblem {
  readonly code: QueryProblemCode;
  /** One clause without a full stop, safe to show: nothing in it is the server's own text. */
  readonly detail: string;
}

export type QueryResult =
  | { readonly ok: true; readonly answer: DnsAnswer }
  | { readonly ok: false; readonly problem: QueryProblem };

/** What passes every network unbroken (DNS flag day 2020). */
const UDP_PAYLOAD_OCTETS = 1_232;

const INTERNET_CLASS = 1;

/** Recursion is not asked for: it is the server's own data that matters. */
export async function encodeQuery(query: DnsQuery, id: number, transport: Transport): Promise<Buffer> {
  const { default: dnsPacket } = await import("dns-packet");
  const packet = {
    type: "query" as const,
    id,
    flags: 0,
    questions: [{ type: query.type, class: "IN" as const, name: query.name }],
    additionals: [
      {
        type: "OPT" as const,
        name: "." as const,
        udpPayloadSize: UDP_PAYLOAD_OCTETS,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
  return transport === "tcp" ? dnsPacket.streamEncode(packet) : dnsPacket.encode(packet);
}

/** The answer in a message, or one clause on why it is none to this question. */
export function readAnswer(octets: Buffer, query: DnsQuery, id: number): DnsAnswer | string {
  const reading = readMessage(octets);
  if (!reading.ok) return reading.detail;
  const { message } = reading;
  if (message.id !== id) return "an answer has another number than the question";
  if (!message.isResponse || message.opcode !== 0) return "a message is no answer";
  const [question, ...others] = message.questions;
  // A server that could not make sense of the question may not repeat it.
  const isOurs =
    question === undefined
      ? message.rcode !== 0
      : question.name === query.name &&
        question.type === TYPE_CODES[query.type] &&
        question.class === INTERNET_CLASS &&
        others.length === 0;
  if (!isOurs) return "a message answers another question";
  const { rcode, isAuthoritative, isTruncated, answers, authorities, additionals } = message;
  return { rcode, isAuthoritative, isTruncated, answers, authorities, additionals };
}

export function queryFailure(code: QueryProblemCode, detail: string): QueryResult {
  return { ok: false, problem: { code, detail } };
}
