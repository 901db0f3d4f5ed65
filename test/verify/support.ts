/** Zones, servers and a quick verification, for the tests of what is asked. */

import type { Nameserver, SystemResolver } from "../../src/dns/nameserver.ts";
import { openNameserver } from "../../src/dns/query.ts";
import type { DnsRecord } from "../../src/dns/record.ts";
import type { Verification } from "../../src/model/verification.ts";
import type { ExpectedZone } from "../../src/verify/expectation.ts";
import { type VerifyRequest, verifyZones } from "../../src/verify/verify.ts";
import type { AskedNameserver, Asking } from "../support/scripted-asked.ts";
import { address, soa } from "../support/scripted-nameserver.ts";

export const NO_RESOLVER: SystemResolver = {
  nameservers: () => Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" })),
  addresses: () => Promise.reject(new Error("none")),
};

/** Sleeping is what takes time. */
export class FastClock {
  readonly sleeps: number[] = [];
  #now = 0;
  now(): number {
    return this.#now;
  }
  async sleep(milliseconds: number): Promise<void> {
    this.sleeps.push(milliseconds);
    this.#now += milliseconds;
  }
}

export function hosts(count: number, zone = "example.com"): ExpectedZone {
  const records = Array.from(
    { length: count },
    (_, index): DnsRecord => ({ type: "A", name: `h${index}`, target: "192.0.2.1", ttl_sec: 0 }),
  );
  return { zone, records, changed: null, gone: [], tolerates: () => false };
}

export function named({ host, port }: AskedNameserver, label = "ns"): Nameserver {
  return { label, address: { host, port } };
}

export const QUICK = { udpAttempts: 1, udpAttemptMilliseconds: 50, answerMilliseconds: 50 };

export const PATIENT = { udpAttemptMilliseconds: 600_000, answerMilliseconds: 600_000, connectMilliseconds: 600_000 };

export function verify(request: Partial<VerifyRequest>): Promise<Verification> {
  return verifyZones({
    zones: [hosts(2)],
    nameservers: null,
    delegation: { wanted: false, parents: null },
    resolver: NO_RESOLVER,
    clock: new FastClock(),
    timeoutMilliseconds: 0,
    signal: new AbortController().signal,
    open: (server) =>
      // Only of a silent one is it known that waiting is in vain.
      openNameserver(server.address, server.label === "silent" ? { limits: QUICK } : {}),
    ...request,
  });
}

/** Answers with whatever is asked for. */
export function holder({ text, send, reply }: Asking): void {
  const [name = "", type] = text.split(" ");
  send(reply({ answers: [type === "SOA" ? soa(name) : address(name)] }));
}
