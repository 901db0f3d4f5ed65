/** `apply --verify` and `zone check --live` at real nameservers that serve the emulator's zone file. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Ended, envOf, folder, run } from "../cli/run.ts";
import { startTested, type Tested } from "../support/emulator.ts";
import { type Nameserver, type NameserverKind, startNameserver } from "../support/nameserver.ts";

const RECORDS = `
      - { type: A, name: www, targets: [192.0.2.10, 192.0.2.11], ttl_sec: 300 }
      - { type: AAAA, name: www, target: "2001:db8::10" }
      - { type: MX, target: mx.example.net., priority: 10 }
      - { type: MX, name: nomail, target: ., priority: 0 }
      - { type: TXT, name: long, target: "v=x; \\"q\\" \\\\ é ${"y".repeat(600)}" }
      - { type: CNAME, name: shop, target: stores.example.net. }
      - { type: A, name: "*.dev", target: 192.0.2.12 }
      - { type: SRV, name: _sip._tcp, target: sip.example.net., port: 5060, priority: 10, weight: 5 }
      - { type: CAA, tag: issue, target: "letsencrypt.org; accounturi=https://ca.example/1" }
      - { type: PTR, name: "7", target: host.example.net. }
      - { type: NS, name: sub, target: ns.sub.example.com. }
      - { type: A, name: ns.sub, target: 192.0.2.54 }
      - { type: NS, name: far, target: ns.example.net. }
      - { type: NS, target: ns9.example.net. }
`;

/** Sets that are asked for: the SOA and those of RECORDS. */
const SETS = 15;

function project(records: string): string {
  return `tenon: 1\ndomains:\n  - domain: example.com\n    type: master\n    soa_email: hostmaster@example.com\n    records:${records}`;
}

let tested: Tested;
let env: Record<string, string>;
let path: string;

beforeEach(async () => {
  tested = await startTested();
  env = envOf(tested.emulator);
  path = await folder({});
});

/** Runs with this project. */
async function tenon(args: readonly string[], records: string): Promise<Ended> {
  await writeFile(join(path, "tenon.yaml"), project(records));
  return run(args, { cwd: path, env });
}

/** The zone as the service renders it; an empty one before it is there. */
async function rendered(): Promise<string> {
  const { body } = await tested.send("GET", "/domains");
  const id: number | undefined = body.data[0]?.id;
  if (id === undefined) return EMPTY_ZONE;
  const { body: file } = await tested.send("GET", `/domains/${id}/zone-file`);
  return ["$ORIGIN example.com.", ...file.zone_file, ""].join("\n");
}

const EMPTY_ZONE = "$ORIGIN example.com.\n$TTL 300\n@ SOA ns1.node.com. hostmaster 1 1 1 1 1\n@ NS ns1.node.com.\n";

async function serve(zones: Record<string, string>, kind: NameserverKind = "nsd"): Promise<[Nameserver, string]> {
  const server = await startNameserver({ zones, kind });
  onTestFinished(() => server.close());
  return [server, `${server.host}:${server.port}`];
}

/** As soon as the apply is over, and not before, the nameserver gets the new zone. */
async function reloadOnceApplied(server: Nameserver, mark: string): Promise<void> {
  await expect.poll(rendered, { timeout: 30_000, interval: 100 }).toContain(mark);
  await server.reload({ "example.com": await rendered() });
}

describe.each(["nsd", "bind"] as const)("at %s", (kind) => {
  it("an apply waits until everything it changed is there, over UDP and TCP", async () => {
    const [server, at] = await serve({ "example.com": EMPTY_ZONE }, kind);
    const args = ["apply", "--yes", "--verify", "--nameserver", at, "--verify-timeout", "60s"];
    const [first] = await Promise.all([tenon(args, RECORDS), reloadOnceApplied(server, "ns9.example.net")]);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain(`Verified: ${SETS * 2} answers at 1 name server, all as they must be.`);
    // What goes must be gone, what stays is not asked for; a wildcard may stand in for it.
    const fewer = RECORDS.replace(/.*name: shop.*\n/, "")
      .replace("192.0.2.11", "192.0.2.99")
      .replace("name: long", "name: longer");
    const [second] = await Promise.all([tenon(args, fewer), reloadOnceApplied(server, "longer")]);
    expect(second).toMatchObject({ code: 0 });
    expect(second.stdout).toMatch(/Verified: 10 answers at 1 name server/);
  });

  it("what it does not serve in time is undone, and it is asked for what was there before", async () => {
    await tenon(["apply", "--yes"], RECORDS);
    const before = await rendered();
    const [, at] = await serve({ "example.com": before }, kind);
    const changed = RECORDS.replace(/.*name: shop.*\n/, "      - { type: A, name: new, target: 192.0.2.77 }\n").replace(
      "192.0.2.11",
      "192.0.2.99",
    );
    const args = ["apply", "--yes", "--verify", "--nameserver", at, "--verify-timeout", "1s", "--undo-on-failure"];
    const { code, stdout } = await tenon(args, changed);
    expect(stdout).toMatch(/Undo complete![\s\S]*Verified: \d+ answers at 1 name server, all as they must be\.\n$/);
    expect(code).toBe(6);
    const lines = (zone: string) =>
      zone
        .split("\n")
        .filter((line) => !line.includes("SOA"))
        .sort();
    expect(lines(await rendered())).toEqual(lines(before));
  });

  it("what is not there when the time is over is told, and ends with 6", async () => {
    await tenon(["apply", "--yes"], RECORDS);
    const [, at] = await serve({ "example.com": await rendered() }, kind);
    const changed = RECORDS.replace(/.*name: shop.*\n/, "      - { type: A, name: new, target: 192.0.2.77 }\n")
      .replace("ttl_sec: 300", "ttl_sec: 3600")
      .replace("priority: 10 }", "priority: 20 }");
    const args = ["apply", "--yes", "--verify", "--nameserver", at, "--verify-timeout", "1s"];
    const { code, stdout } = await tenon(args, changed);
    expect(
      stdout.slice(stdout.indexOf("Apply complete!")),
    ).toBe(`Apply complete! Resources: 1 added, 3 changed, 1 destroyed.
different example.com MX
  expected: 20 mx.example.net.
  found: 10 mx.example.net.
  at ${at} over udp and tcp
missing new.example.com A
  expected: 192.0.2.77
  found: nothing
  at ${at} over udp and tcp
different shop.example.com CNAME
  expected: nothing
  found: stores.example.net.
  at ${at} over udp and tcp
different www.example.com A
  its TTL is 300, not 3600
  expected: 192.0.2.10 · 192.0.2.11
  found: 192.0.2.10 · 192.0.2.11
  at ${at} over udp and tcp

Not verified: 8 of 10 answers at 1 name server are not there.
`);
    expect(code).toBe(6);
  });
});

describe("zone check --live", () => {
  beforeEach(async () => {
    await tenon(["apply", "--yes"], RECORDS);
  });

  it("finds everything at a server that has it, and says so", async () => {
    const [, at] = await serve({ "example.com": await rendered() });
    const { code, stdout } = await tenon(["zone", "check", "--live", "--nameserver", at], RECORDS);
    expect(stdout).toBe(`Verified: ${SETS * 2} answers at 1 name server, all as they must be.\n`);
    expect(code).toBe(0);
  });

  it("finds a changed, a missing and an extra value, each at its server", async () => {
    const text = await rendered();
    const [, good] = await serve({ "example.com": text });
    const spoilt = text
      .replace("10\tmx.example.net.", "11\tmx.example.net.")
      .replace(/^.*2001:db8::10.*\n/m, "")
      .replace(/^(shop\t.*)$/m, "$1\nwww 300 A 192.0.2.66");
    const [, bad] = await serve({ "example.com": spoilt });
    const args = ["zone", "check", "--live", "--nameserver", good, "--nameserver", bad, "--format", "json"];
    const { code, stdout } = await tenon(args, RECORDS);
    const { problems, asked, there, verified } = JSON.parse(stdout);
    expect({ code, asked, there, verified }).toEqual({
      code: 2,
      asked: SETS * 4,
      there: SETS * 4 - 6,
      verified: false,
    });
    const told = problems.map((one: Record<string, unknown>) => [
      one["server"],
      one["transport"],
      one["name"],
      one["type"],
      one["state"],
      one["found"],
    ]);
    expect(told).toEqual([
      [bad, "tcp", "example.com", "MX", "different", ["11 mx.example.net."]],
      [bad, "udp", "example.com", "MX", "different", ["11 mx.example.net."]],
      [bad, "tcp", "www.example.com", "A", "different", ["192.0.2.10", "192.0.2.11", "192.0.2.66"]],
      [bad, "udp", "www.example.com", "A", "different", ["192.0.2.10", "192.0.2.11", "192.0.2.66"]],
      [bad, "tcp", "www.example.com", "AAAA", "missing", []],
      [bad, "udp", "www.example.com", "AAAA", "missing", []],
    ]);
  });

  it("a server that does not hold the zone is told apart from one that lacks records", async () => {
    const [, at] = await serve({ "example.net": EMPTY_ZONE.replaceAll("example.com", "example.net") });
    const { code, stdout } = await tenon(["zone", "check", "--live", "--nameserver", at], RECORDS);
    expect(stdout).toContain("not authoritative www.example.com A\n  the server answered REFUSED\n");
    expect(code).toBe(2);
  });

  it("a set that fits no datagram is there over TCP", async () => {
    const many = `${RECORDS}${Array.from({ length: 200 }, (_, index) => `      - { type: A, name: many, target: 198.51.100.${index} }\n`).join("")}`;
    await tenon(["apply", "--yes"], many);
    const [, at] = await serve({ "example.com": await rendered() });
    const whole = await tenon(["zone", "check", "--live", "--nameserver", at], many);
    expect(whole).toMatchObject({ code: 0 });
    const more = `${many}      - { type: A, name: many, target: 198.51.100.250 }\n`;
    const { code, stdout } = await tenon(["zone", "check", "--live", "--nameserver", at], more);
    expect(stdout).toMatch(/^different many\.example\.com A\n {2}expected: .*\n {2}found: .*\n {2}at \S+ over tcp\n/);
    expect(code).toBe(2);
  });
});

describe("--delegation", () => {
  const parent = (lines: string): string =>
    `$ORIGIN com.\n$TTL 300\n@ SOA a.gtld hostmaster 1 1 1 1 1\n@ NS a.gtld\na.gtld A 192.0.2.1\n${lines}`;
  const servers = [1, 2, 3, 4, 5].map((number) => `example NS ns${number}.node.com.\n`).join("");
  const own = `${RECORDS}      - { type: NS, target: ns.example.com. }\n      - { type: A, name: ns, target: 192.0.2.53 }\n`;
  const delegated = `${servers}example NS ns9.example.net.\nexample NS ns.example\nns.example A 192.0.2.53\n`;

  async function check(parentLines: string): Promise<Ended> {
    await tenon(["apply", "--yes"], own);
    const [, child] = await serve({ "example.com": await rendered() });
    const [, above] = await serve({ com: parent(parentLines) });
    return tenon(["zone", "check", "--live", "--nameserver", child, "--delegation", "--parent", above], own);
  }

  it("is in order where parent and zone agree, glue included", async () => {
    expect(await check(delegated)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Verified: /) });
  });

  it("names the servers that only one of the two has", async () => {
    const { code, stdout } = await check(delegated.replace("ns9.example.net", "old.example.net"));
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toMatch(/^servers-differ example\.com, asked at 127\.0\.0\.1:\d+ /);
    expect(text).toContain("only the parent names old.example.net; only the zone names ns9.example.net.");
    expect(text).toContain("Not verified: 1 problem of delegation.");
    expect(code).toBe(2);
  });

  it("compares glue with the zone's own address", async () => {
    const { code, stdout } = await check(delegated.replace("192.0.2.53", "192.0.2.35"));
    expect(stdout.replace(/\s+/g, " ")).toContain("For ns.example.com the parent has 192.0.2.35, the zone 192.0.2.53.");
    expect(code).toBe(2);
  });

  it("misses a delegation that is not there", async () => {
    const { code, stdout } = await check("other NS ns.example.net.\n");
    expect(stdout).toContain("The parent knows no delegation of example.com.");
    expect(code).toBe(2);
  });
});
