/** What the SOA record of a zone says, in terms of a domain. */

import { nameText } from "./name.ts";
import { utf8Text } from "./octets.ts";
import type { SoaRdata } from "./rdata.ts";

export interface ZoneFileSoa {
  /** The first nameserver: absolute, lower-case, without a final dot. */
  readonly mname: string;
  /** The mailbox as an address, `hostmaster@example.com`; `""` if it is none. */
  readonly email: string;
  readonly serial: number;
  /** Seconds, as all that follow. */
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  /** For how long it is remembered that a name does not exist (RFC 2308, 4). */
  readonly minimum: number;
  /** What records take that say none: that of the first `$TTL`, or else of the SOA record itself. */
  readonly ttl_sec: number;
}

export function soaOf(rdata: SoaRdata, ttl_sec: number): ZoneFileSoa {
  const { serial, refresh, retry, expire, minimum } = rdata;
  return { mname: nameText(rdata.mname), email: emailOf(rdata), serial, refresh, retry, expire, minimum, ttl_sec };
}

/** RFC 1035, 8: the first label is what stands before the `@`, dots included. */
function emailOf({ rname }: SoaRdata): string {
  const [first = "", ...host] = rname;
  const local = utf8Text(first) ?? "";
  if (host.length === 0 || !/^[^\s@"(),:;<>[\]\\\p{Cc}]+$/u.test(local)) return "";
  return `${local}@${nameText(host)}`;
}
