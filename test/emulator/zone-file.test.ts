/** The zone file: the lines' form that was observed, what stands where no zone could hold it, its serial, and when it is rendered. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { assumption, operation } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";

const MASTER = { domain: "example.com", type: "master", soa_email: "host.master@example.com" };
const MIDNIGHT = Date.UTC(2026, 0, 2);
const NAME_SERVERS = [1, 2, 3, 4, 5].map((number) => `ns${number}.node.com.`);

async function withZone(domain: object = MASTER, options: EmulatorOptions = { now: () => MIDNIGHT }) {
  const { send, emulator } = await startTested(options);
  const { body } = await send("POST", "/domains", domain);
  const path = `/domains/${body.id}`;
  return {
    send,
    emulator,
    path,
    add: async (...records: object[]): Promise<void> => {
      for (const record of records) expect((await send("POST", `${path}/records`, record)).status).toBe(200);
    },
    lines: async (): Promise<string[]> => (await send("GET", `${path}/zone-file`)).body.zone_file,
  };
}

/** The lines below the service's own. */
function ownLines(lines: readonly string[]): readonly string[] {
  return lines.slice(3 + NAME_SERVERS.length);
}

function serialOf(lines: readonly string[]): number {
  return Number(lines[2]?.split(" ")[2]);
}

operation("Domain Zone File View", () => {
  test("shows the lines in the form that was observed, and the service's defaults", async () => {
    const { add, lines, path } = await withZone();
    await add(
      { type: "MX", target: "mail.example.com", priority: 10 },
      { type: "A", name: "www", target: "192.0.2.10", ttl_sec: 300 },
      { type: "TXT", target: "v=spf1 -all", ttl_sec: 300 },
      { type: "TXT", name: "odd", target: 'a "quote" \\ and é' },
      { type: "SRV", service: "sip", protocol: "tcp", target: ".", priority: 1, weight: 2, port: 3 },
      { type: "CAA", target: "letsencrypt.org", tag: "issue" },
      { type: "TXT", name: "long", target: "x".repeat(300) },
    );
    expect(await lines()).toEqual([
      `; example.com [${path.split("/").at(-1)}]`,
      "$TTL 86400",
      "@\tIN\tSOA\tns1.node.com. host\\.master.example.com. 1767312007 14400 14400 1209600 86400",
      ...NAME_SERVERS.map((server) => `@\t\tNS\t${server}`),
      "@\t\t\tMX\t10\tmail.example.com.",
      "www\t\t300\tA\t192.0.2.10",
      '@\t\t300\tTXT\t"v=spf1 -all"',
      'odd\t\t\tTXT\t"a \\"quote\\" \\\\ and \\195\\169"',
      "_sip._tcp\t\t\tSRV\t1\t2\t3\t.",
      '@\t\t\tCAA\t0\tissue\t"letsencrypt.org"',
      "long\t\t\tTXT\t( ",
      `"${"x".repeat(255)}"`,
      `"${"x".repeat(45)}"`,
      " )",
    ]);
  });
});

assumption("A slave's records can be written; they are not rendered.", async () => {
  const { send, path, add, lines } = await withZone();
  await send("PUT", path, { type: "slave", master_ips: ["192.0.2.53"] });
  await add({ type: "A", target: "192.0.2.1" });
  expect(await lines()).toEqual([]);
  expect((await send("GET", "/domains/1/zone-file")).status).toBe(404);
});

assumption("The zone file of a disabled domain is empty, whatever was rendered before.", async () => {
  const { send, path, lines } = await withZone();
  for (const [status, count] of [
    ["active", 8],
    ["disabled", 0],
    ["active", 8],
  ] as const) {
    expect((await send("PUT", path, { status })).body.status).toBe(status);
    expect(await lines()).toHaveLength(count);
  }
});

assumption(
  "The serial of a zone file is the time of the latest change; the name servers are `ns1` to `ns5` of `WORD.com`.",
  async () => {
    const { lines } = await withZone(MASTER, { now: () => MIDNIGHT, dialect: "linode" });
    const servers = NAME_SERVERS.map((server) => server.replace("node", "linode"));
    expect((await lines()).slice(2)).toEqual([
      `@\tIN\tSOA\tns1.linode.com. host\\.master.example.com. ${MIDNIGHT / 1000} 14400 14400 1209600 86400`,
      ...servers.map((server) => `@\t\tNS\t${server}`),
    ]);
  },
);

test("the domain's own seconds stand where they are set", async () => {
  const seconds = { refresh_sec: 3_600, retry_sec: 7_200, expire_sec: 2_419_200, ttl_sec: 300 };
  const { lines } = await withZone({ ...MASTER, ...seconds });
  expect((await lines()).slice(1, 3)).toEqual([
    "$TTL 300",
    `@\tIN\tSOA\t${NAME_SERVERS[0]} host\\.master.example.com. 1767312000 3600 7200 2419200 300`,
  ]);
});

assumption("In a zone file the records of one name and type have the lowest TTL of theirs.", async () => {
  const { add, lines } = await withZone({ ...MASTER, ttl_sec: 3_600 });
  await add(
    { type: "A", name: "a", target: "192.0.2.1", ttl_sec: 7_200 },
    { type: "A", name: "A", target: "192.0.2.2" },
    { type: "A", name: "a", target: "192.0.2.3", ttl_sec: 3_600 },
    { type: "AAAA", name: "a", target: "2001:db8::1", ttl_sec: 7_200 },
    { type: "A", name: "b", target: "192.0.2.1" },
    { type: "A", name: "b", target: "192.0.2.2", ttl_sec: 300 },
  );
  expect(ownLines(await lines())).toEqual([
    "a\t\t3600\tA\t192.0.2.1",
    "A\t\t\tA\t192.0.2.2",
    "a\t\t3600\tA\t192.0.2.3",
    "a\t\t7200\tAAAA\t2001:db8::1",
    "b\t\t300\tA\t192.0.2.1",
    "b\t\t300\tA\t192.0.2.2",
  ]);
});

assumption(
  "A lower TTL of an NS at the apex is that of the service's own name servers too, and a higher one is not kept.",
  async () => {
    const { send, path, add, lines } = await withZone();
    await add({ type: "NS", target: "ns.example.net", ttl_sec: 172_800 });
    expect((await lines()).slice(3)).toEqual([
      ...NAME_SERVERS.map((server) => `@\t\tNS\t${server}`),
      "@\t\t86400\tNS\tns.example.net.",
    ]);
    const { body } = await send("GET", `${path}/records`);
    await send("PUT", `${path}/records/${body.data[0].id}`, { ttl_sec: 300 });
    expect((await lines()).slice(3)).toEqual([
      ...NAME_SERVERS.map((server) => `@\t\t300\tNS\t${server}`),
      "@\t\t300\tNS\tns.example.net.",
    ]);
  },
);

assumption(
  "A record that no zone can hold is left out of the zone file, and a comment in its place says why.",
  async () => {
    const { send, path, add, lines } = await withZone();
    await add(
      { type: "TXT", name: "t", target: "x".repeat(65_535), ttl_sec: 300 },
      { type: "TXT", name: "t", target: "there" },
      { type: "CAA", tag: "issue", target: "é".repeat(40_000) },
      { type: "A", name: "n".repeat(63), target: "192.0.2.1" },
    );
    const { body } = await send("GET", `${path}/records`);
    const [long, , caa, named] = body.data.map(({ id }: { id: number }) => id);
    const expected = [
      `; record ${long} (TXT) is left out: the records of its name and type do not fit into one DNS message`,
      't\t\t\tTXT\t"there"',
      `; record ${caa} (CAA) is left out: the records of its name and type do not fit into one DNS message`,
    ];
    expect(ownLines(await lines())).toEqual([...expected, `${"n".repeat(63)}\t\t\tA\t192.0.2.1`]);
    const longDomain = [63, 63, 63].map((length) => "d".repeat(length)).join(".");
    expect((await send("PUT", path, { domain: longDomain })).status).toBe(200);
    expect(ownLines(await lines())).toEqual([...expected, `; record ${named} (A) is left out: its name is too long`]);
  },
);

const MAILBOXES: [string, string][] = [
  ["a.b@example.com", "a\\.b.example.com."],
  ["a@example.com.", "a.example.com."],
  ['a;b"c(d)\\$@example.com', 'a\\;b\\"c\\(d\\)\\\\\\$.example.com.'],
  ["\u00e9@example.com", "\\195\\169.example.com."],
  ["a@b..example.com", "."],
  ["a@.", "."],
  [`${"a".repeat(64)}@example.com`, "."],
  [`a@${[63, 63, 63, 60].map((length) => "d".repeat(length)).join(".")}`, "."],
];

assumption("Any `soa_email` that is accepted is a name in the SOA, or `.` where no name can hold it.", async () => {
  const { send, path, lines } = await withZone();
  for (const [soa_email, name] of MAILBOXES) {
    expect((await send("PUT", path, { soa_email })).body.soa_email).toBe(soa_email);
    expect([soa_email, (await lines())[2]?.split(" ")[1]]).toEqual([soa_email, name]);
  }
});

assumption(
  "The serial of a zone file grows with every change, within a second and through a restart, deletions too.",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenon-zone-file-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const options = { data: join(folder, "account.log"), now: () => MIDNIGHT };
    const { emulator, send, path, add, lines } = await withZone(MASTER, options);
    const serials = [serialOf(await lines())];
    const note = async (): Promise<unknown> => serials.push(serialOf(await lines()));
    await add({ type: "A", target: "192.0.2.1" });
    await note();
    const { body } = await send("GET", `${path}/records`);
    const record = `${path}/records/${body.data[0].id}`;
    await send("PUT", record, { target: "192.0.2.2" });
    await note();
    await send("DELETE", record);
    await note();
    await send("PUT", path, { ttl_sec: 300 });
    await note();
    expect((await send("PUT", path, { ttl_sec: "no" })).status).toBe(400);
    expect(serialOf(await lines())).toBe(serials.at(-1));
    await emulator.close();
    const again = await startTested(options);
    serials.push(serialOf((await again.send("GET", `${path}/zone-file`)).body.zone_file) + 1);
    expect(serials).toEqual([0, 1, 2, 3, 4, 5].map((more) => MIDNIGHT / 1000 + more));
    await again.emulator.advanceClock(60);
    await again.send("PUT", path, { ttl_sec: 0 });
    expect(serialOf((await again.send("GET", `${path}/zone-file`)).body.zone_file)).toBe(MIDNIGHT / 1000 + 60);
  },
);

assumption("The serial of a zone file counts round: it stays below 2^32 in a hundred years.", async () => {
  const { emulator, add, lines } = await withZone();
  await emulator.advanceClock(3_000_000_000);
  await add({ type: "A", target: "192.0.2.1" });
  expect(serialOf(await lines())).toBe(MIDNIGHT / 1000 + 3_000_000_000 - 2 ** 32);
});

// With `zoneRenderSeconds`, what is shown is what was rendered, some time after the change.

interface Published extends Tested {
  readonly path: string;
  add(name: string): Promise<number>;
  /** The first names of the shown lines of A records; null: nothing is rendered. */
  names(path?: string): Promise<string[] | null>;
}

/** By a clock that only moves when it is advanced; rendered after 100 seconds. */
async function withPublished(options: EmulatorOptions = {}): Promise<Published> {
  const tested = await startTested({ zoneRenderSeconds: 100, now: () => MIDNIGHT, ...options });
  const { body } = await tested.send("POST", "/domains", MASTER);
  const path = `/domains/${body.id}`;
  return {
    ...tested,
    path,
    add: async (name) => {
      const answer = await tested.send("POST", `${path}/records`, { type: "A", name, target: "192.0.2.1" });
      expect(answer.status).toBe(200);
      return answer.body.id;
    },
    names: (other = path) => names(tested, other),
  };
}

async function names({ send }: Tested, path: string): Promise<string[] | null> {
  const lines: string[] = (await send("GET", `${path}/zone-file`)).body.zone_file;
  if (lines.length === 0) return null;
  return lines.filter((line) => line.includes("\tA\t")).map((line) => line.split("\t")[0] ?? "");
}

test("a new zone has no lines until it is rendered, with all that was added until then", async () => {
  const { add, names, control } = await withPublished();
  expect(await names()).toBeNull();
  await add("a");
  await control("POST", "/clock", { advance_seconds: 99 });
  await add("b");
  expect(await names()).toBeNull();
  await control("POST", "/clock", { advance_seconds: 1 });
  expect(await names()).toEqual(["a", "b"]);
});

test("a change is seen when it is due, and the last rendered lines until then", async () => {
  const { send, path, add, names, emulator } = await withPublished();
  const a = await add("a");
  await emulator.advanceClock(100);
  await send("PUT", `${path}/records/${a}`, { name: "c" });
  expect(await names()).toEqual(["a"]);
  await emulator.advanceClock(99);
  expect(await names()).toEqual(["a"]);
  await emulator.advanceClock(1);
  expect(await names()).toEqual(["c"]);
  await send("DELETE", `${path}/records/${a}`);
  expect(await names()).toEqual(["c"]);
  await emulator.advanceClock(100);
  expect(await names()).toEqual([]);
});

assumption(
  "With `zoneRenderSeconds` a zone is rendered so long after the first change that is not yet in its file, with all that was made until then.",
  async () => {
    const { add, names, emulator } = await withPublished();
    await add("a");
    await emulator.advanceClock(150);
    await add("b");
    expect(await names()).toEqual(["a"]);
    await emulator.advanceClock(50);
    await add("c");
    await emulator.advanceClock(50);
    expect(await names()).toEqual(["a", "b", "c"]);
  },
);

test("the serial is that of the rendering", async () => {
  const { send, path, add, emulator } = await withPublished();
  const serial = async (): Promise<number> =>
    Number((await send("GET", `${path}/zone-file`)).body.zone_file[2].split(" ")[2]);
  await emulator.advanceClock(100);
  const first = await serial();
  await add("a");
  expect(await serial()).toBe(first);
  await emulator.advanceClock(100);
  expect(await serial()).toBe(MIDNIGHT / 1000 + 100);
});

test("a domain that is disabled, or renamed, goes on as it was until it is rendered", async () => {
  const { send, path, add, names, emulator } = await withPublished();
  await add("a");
  await emulator.advanceClock(100);
  await send("PUT", path, { status: "disabled", domain: "other.test" });
  expect(await names()).toEqual(["a"]);
  expect((await send("GET", `${path}/zone-file`)).body.zone_file[0]).toContain("example.com");
  await emulator.advanceClock(100);
  expect(await names()).toBeNull();
  await send("PUT", path, { status: "active" });
  expect(await names()).toBeNull();
  await emulator.advanceClock(100);
  expect((await send("GET", `${path}/zone-file`)).body.zone_file[0]).toContain("other.test");
});

test("a request that is refused makes nothing due", async () => {
  const { send, path, add, names, emulator } = await withPublished();
  await add("a");
  await emulator.advanceClock(100);
  expect((await send("PUT", path, { ttl_sec: "no" })).status).toBe(400);
  expect((await send("POST", `${path}/records`, { type: "A", target: "no" })).status).toBe(400);
  expect((await send("DELETE", `${path}/records/1`)).status).toBe(404);
  await emulator.advanceClock(50);
  await add("b");
  await emulator.advanceClock(50);
  expect(await names()).toEqual(["a"]);
});

test("a clone is a new zone, and so is a domain whose name was in use before", async () => {
  const { send, path, add, names, emulator } = await withPublished();
  await add("a");
  await emulator.advanceClock(100);
  const clone = `/domains/${(await send("POST", `${path}/clone`, { domain: "clone.test" })).body.id}`;
  expect([await names(), await names(clone)]).toEqual([["a"], null]);
  expect((await send("DELETE", path)).status).toBe(200);
  expect((await send("GET", `${path}/zone-file`)).status).toBe(404);
  const again = `/domains/${(await send("POST", "/domains", MASTER)).body.id}`;
  expect(await names(again)).toBeNull();
  await emulator.advanceClock(100);
  expect([await names(again), await names(clone)]).toEqual([[], ["a"]]);
});

assumption("With `zoneRenderSeconds` what a seed holds is rendered, and so is all after a restart.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenon-zone-publish-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const seeded = [{ id: 9, domain: "seeded.test", records: [{ type: "A" as const, name: "s", target: "192.0.2.1" }] }];
  const options = { data: join(folder, "account.log"), seed: { domains: seeded } };
  const first = await withPublished(options);
  await first.add("a");
  expect([await first.names("/domains/9"), await first.names()]).toEqual([["s"], null]);
  await first.emulator.close();
  const again = await startTested({ zoneRenderSeconds: 100, data: options.data, now: () => MIDNIGHT });
  expect([await names(again, "/domains/9"), await names(again, first.path)]).toEqual([["s"], ["a"]]);
});

test("without the option a change is seen at once", async () => {
  const { add, names } = await withPublished({ zoneRenderSeconds: 0 });
  await add("a");
  expect(await names()).toEqual(["a"]);
});
