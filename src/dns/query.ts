/** Asks one nameserver for what it holds, over UDP and over TCP, within limits that no server can stretch. */

import { randomInt } from "node:crypto";
import { isIP } from "node:net";
import { type DnsQuery, type QueryResult, queryFailure, type Transport } from "./query-message.ts";
import { TcpChannel, type TcpLimits } from "./query-tcp.ts";
import { UdpExchange, type UdpLimits } from "./query-udp.ts";
import type { NameserverAddress } from "./transfer-address.ts";

export type QueryLimits = UdpLimits & TcpLimits;

export const QUERY_LIMITS: QueryLimits = {
  udpAttempts: 3,
  udpAttemptMilliseconds: 1_500,
  maxIgnoredDatagrams: 100,
  connectMilliseconds: 4_000,
  answerMilliseconds: 5_000,
};

/** Two octets (RFC 1035, 4.1.1). */
const ID_COUNT = 65_536;

export interface NameserverOptions {
  /** What is absent is as in `QUERY_LIMITS`. */
  readonly limits?: Partial<QueryLimits>;
  /** The number of a question, that nobody may foretell: uniform in [0, 65535]. */
  readonly drawId?: () => number;
}

export interface NameserverClient {
  /**
   * As many at a time as the caller likes: over TCP there is a connection for each, used again for later ones.
   * Never rejects for what the server or the network does.
   */
  ask(query: DnsQuery, transport: Transport): Promise<QueryResult>;
  /** Ends what is under way as `aborted`, and whatever is asked later. */
  close(): void;
}

/** Sends nothing yet. @throws RangeError if the server's host is no IP address */
export function openNameserver(server: NameserverAddress, options: NameserverOptions = {}): NameserverClient {
  if (isIP(server.host) === 0) throw new RangeError(`Not an IP address: ${server.host}`);
  const limits = { ...QUERY_LIMITS, ...options.limits };
  const drawId = options.drawId ?? (() => randomInt(ID_COUNT));
  const exchanges = new Set<UdpExchange>();
  const channels = new Set<TcpChannel>();
  const idle: TcpChannel[] = [];
  let closed = false;

  function askOverUdp(query: DnsQuery): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const exchange = new UdpExchange(query, server, limits, drawId(), (result) => {
        exchanges.delete(exchange);
        resolve(result);
      });
      exchanges.add(exchange);
      exchange.start().catch(reject);
    });
  }

  async function askOverTcp(query: DnsQuery): Promise<QueryResult> {
    const channel = idle.pop() ?? new TcpChannel(server, limits);
    channels.add(channel);
    const result = await channel.ask(query, drawId());
    idle.push(channel);
    return result;
  }

  return {
    ask: async (query, transport) => {
      if (closed) return ABORTED;
      return transport === "udp" ? askOverUdp(query) : askOverTcp(query);
    },
    close: () => {
      closed = true;
      for (const exchange of exchanges) exchange.finish(ABORTED);
      for (const channel of channels) channel.close();
    },
  };
}

const ABORTED: QueryResult = queryFailure("aborted", "it was interrupted");
