/** Zone transfer and import from real nameservers. */

import { describe, expect, it, onTestFinished } from "vitest";
import { type TransferResult, type TransferredRecord, transferZone } from "../../src/dns/transfer.ts";
import { startTested } from "../support/emulator.ts";
import {
  type Nameserver,
  type NameserverKind,
  type NameserverOptions,
  startNameserver,
} from "../support/nameserver.ts";

const KINDS: readonly NameserverKind[] = ["nsd", "knot", "bind"];
const ZONE = "example.com";
/** More than fit into one message of 65,535 octets. */
const HOSTS = 6_000;

/** Over 255 octets, with everything that a zone file must escape; 300 of the octets make the first string long enough for two. */
const LONG_TEXT = `v=test; "quoted" back\\slash ünïcode ☃ ${"x".repeat(300)}`;

function started(options: NameserverOptions): Promise<Nameserver> {
  return startNameserver(options).then((server) => {
    onTestFinished(() => server.close());
    return server;
  });
}

/** Quoted strings of at most 255 octets, written as numbers wherever a reader could trip. */
function quoted(text: string): string {
  const octets = [...Buffer.from(text)];
  const strings: string[] = [];
  for (let start = 0; start < octets.length; start += 255) {
    const chunk = octets.slice(start, start + 255);
    strings.push(
      `"${chunk.map((octet) => (/[a-z=]/.test(String.fromCharCode(octet)) ? String.fromCharCode(octet) : `\\${String(octet).padStart(3, "0")}`)).join("")}"`,
    );
  }
  return strings.join(" ");
}

const ZONE_FILE = `$ORIGIN ${ZONE}.
$TTL 3600
@ IN SOA ns1 jane\\.doe 2026112101 14400 7200 604800 300
@ NS ns1
@ NS ns2.other.example.
ns1 A 192.0.2.53
WWW 300 A 192.0.2.10
www 300 A 192.0.2.11
www AAAA 2001:db8::10
@ MX 10 mail
@ MX 20 mx.other.example.
none MX 0 .
shop CNAME stores.example.net.
*.dev CNAME www
@ TXT "v=spf1 -all"
long TXT ${quoted(LONG_TEXT)}
empty TXT ""
_sip._tcp SRV 10 5 5060 sip
_sip._udp.sub SRV 0 0 5060 .
@ CAA 0 issue "letsencrypt.org; accounturi=https://ca.example/1"
@ CAA 128 issuewild ";"
ptr PTR host.example.net.
sub NS ns1.sub
ns1.sub A 192.0.2.54
xn--bcher-kva A 192.0.2.12
dotted\\.label A 192.0.2.13
@ SSHFP 4 2 ${"ab".repeat(32)}
_443._tcp.www TLSA 3 1 1 ${"cd".repeat(32)}
odd TYPE65280 \\# 3 010203
${Array.from({ length: HOSTS }, (_, index) => `h${index} 600 A 10.1.${index >> 8}.${index & 255}`).join("\n")}
`;

/** What the API is to hold of it: type, name, target and what else is not empty. */
const KEPT = [
  "A ns1 192.0.2.53 3600",
  "A www 192.0.2.10 300",
  "A www 192.0.2.11 300",
  "AAAA www 2001:db8::10 3600",
  "MX @ mail.example.com 3600 10",
  "MX @ mx.other.example 3600 20",
  "MX none . 3600",
  "CNAME shop stores.example.net 3600",
  "CNAME *.dev www.example.com 3600",
  "TXT @ v=spf1 -all 3600",
  `TXT long ${LONG_TEXT} 3600`,
  "TXT empty . 3600",
  "SRV _sip._tcp sip.example.com 3600 10 5 5060 sip tcp",
  "SRV _sip._udp.sub . 3600 5060 sip udp.sub",
  "CAA @ letsencrypt.org; accounturi=https://ca.example/1 3600 issue",
  "CAA @ ; 3600 issuewild",
  "PTR ptr host.example.net 3600",
  "NS sub ns1.sub.example.com 3600",
  "A ns1.sub 192.0.2.54 3600",
  "A xn--bcher-kva 192.0.2.12 3600",
  ...Array.from({ length: HOSTS }, (_, index) => `A h${index} 10.1.${index >> 8}.${index & 255} 300`),
].sort();

interface ApiRecord {
  readonly type: string;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly service: string | null;
  readonly protocol: string | null;
  readonly tag: string | null;
}

function lineOf(record: ApiRecord): string {
  const { type, name, target, ttl_sec, priority, weight, port, service, protocol, tag } = record;
  const rest = [priority, weight, port, service, protocol, tag].filter((value) => value !== 0 && value !== null);
  return [type, name || "@", target || ".", ttl_sec, ...rest].join(" ");
}

function records(result: TransferResult): readonly TransferredRecord[] {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.detail}`);
  return result.records;
}

describe.each(KINDS)("%s", (kind) => {
  it("gives the whole zone", async () => {
    const server = await started({ kind, zones: { [ZONE]: ZONE_FILE } });
    const found = records(await transferZone({ zone: ZONE, server }));
    expect(found[0]).toEqual({
      name: "",
      ttl: 3_600,
      data: {
        type: "SOA",
        mname: "ns1.example.com",
        rname: "jane\\.doe.example.com",
        serial: 2_026_112_101,
        refresh: 14_400,
        retry: 7_200,
        expire: 604_800,
        minimum: 300,
      },
    });
    // With the two apex NS, the dotted label, the SOA, and three records of other types.
    expect(found).toHaveLength(KEPT.length + 7);
    const others = found.flatMap(({ name, data }) => (data.type === "other" ? `${name} ${data.mnemonic}` : []));
    expect(others.sort()).toEqual([" SSHFP", "_443._tcp.www TLSA", "odd TYPE65280"]);
    expect(found.map(({ name }) => name)).toContain("dotted\\.label");
    expect(found.find(({ data }) => data.type === "CAA" && data.flags === 128)).toBeDefined();
  });

  it("is imported as it is, as far as the API can hold it", async () => {
    const server = await started({ kind, zones: { [ZONE]: ZONE_FILE } });
    const { send } = await startTested();
    const body = { domain: ZONE, remote_nameserver: `${server.host}:${server.port}` };
    const answer = await send("POST", "/domains/import", body);
    expect(answer.body).toMatchObject({
      domain: ZONE,
      type: "master",
      status: "active",
      soa_email: "jane.doe@example.com",
      refresh_sec: 14_400,
      retry_sec: 7_200,
      expire_sec: 604_800,
      ttl_sec: 300,
    });
    const lines: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const path = `/domains/${answer.body.id}/records?page_size=500&page=${page}`;
      const { body: list } = await send("GET", path);
      pages = list.pages;
      lines.push(...list.data.map(lineOf));
    }
    expect(lines.sort()).toEqual(KEPT);
  });

  it("refuses a transfer that it does not allow, and a zone that it does not have", async () => {
    const server = await started({ kind, zones: { [ZONE]: ZONE_FILE }, allowTransfer: false });
    const refusals = ["refused", "not-authoritative", "failed"];
    for (const zone of [ZONE, "unknown.example"]) {
      const result = await transferZone({ zone, server });
      expect(result.ok ? "transferred" : result.problem.code, zone).toBeOneOf(refusals);
    }
    const { send } = await startTested();
    const body = { domain: ZONE, remote_nameserver: `${server.host}:${server.port}` };
    const answer = await send("POST", "/domains/import", body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toHaveLength(1);
    expect(answer.body.errors[0].field).toBeUndefined();
    expect(answer.body.errors[0].reason).toMatch(
      /^The zone could not be transferred from the nameserver: the server answered (REFUSED|NOTAUTH)/,
    );
    expect((await send("GET", "/domains")).body.results).toBe(0);
  });
});
