/** Choices about domains, records and zone files. */

import { expect } from "vitest";
import { assumption } from "../../support/emulated.ts";
import { type PlainAnswer, startTested, type Tested } from "../../support/emulator.ts";

const DOMAIN = { domain: "new.example", type: "master", soa_email: "a@b.example" };

function start(dialect = "node"): Promise<Tested> {
  return startTested({
    dialect,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    seed: {
      domains: [{ id: 5, domain: "old.example", group: "g", tags: ["ttt"], ttl_sec: 300, axfr_ips: ["192.0.2.1"] }],
    },
  });
}

const create = ({ send }: Tested, change: object): Promise<PlainAnswer> =>
  send("POST", "/domains", { ...DOMAIN, ...change });
const change = ({ send }: Tested, body: object): Promise<PlainAnswer> => send("PUT", "/domains/5", body);
const add = ({ send }: Tested, body: object): Promise<PlainAnswer> => send("POST", "/domains/5/records", body);

/** What the errors are about. */
function fields({ body }: PlainAnswer): string[] {
  return body.errors.map((error: { field: string }) => error.field);
}

assumption("A taken domain name is refused with `DNS zone already exists.`, in any letter case.", async () => {
  const { body } = await create(await start(), { domain: "OLD.example" });
  expect(body.errors).toEqual([{ field: "domain", reason: "DNS zone already exists." }]);
});

assumption("A domain's name is ASCII letters, digits and hyphens, and has no trailing dot.", async () => {
  const tested = await start();
  for (const domain of ["bücher.example", "a_b.example", "new.example."]) {
    expect(fields(await create(tested, { domain }))).toEqual(["domain"]);
  }
  expect((await create(tested, { domain: "xn--bcher-kva.example" })).status).toBe(200);
});

assumption("Tags come back sorted, and of two that differ in letter case only the first stays.", async () => {
  expect((await create(await start(), { tags: ["bbb", "Aaa", "Bbb", "aaa"] })).body.tags).toEqual(["Aaa", "bbb"]);
});

assumption(
  "Null resets a domain's field: texts and lists to empty ones, seconds to 0, status to `active`. The `type` and the name cannot be null.",
  async () => {
    const tested = await start();
    await change(tested, { status: "disabled" });
    const { body } = await change(tested, { group: null, tags: null, axfr_ips: null, ttl_sec: null, status: null });
    expect(body).toMatchObject({ group: "", tags: [], axfr_ips: [], ttl_sec: 0, status: "active" });
    expect(fields(await change(tested, { type: null }))).toEqual(["type"]);
    expect(fields(await change(tested, { domain: null }))).toEqual(["domain"]);
  },
);

assumption("master_ips and axfr_ips are single addresses, without prefix lengths.", async () => {
  const tested = await start();
  expect(fields(await change(tested, { axfr_ips: ["192.0.2.0/24"] }))).toEqual(["axfr_ips[0]"]);
  expect((await change(tested, { axfr_ips: ["192.0.2.0", "2001:db8::1"] })).status).toBe(200);
});

assumption(
  "Any number of seconds is rounded, and what is no number is 400. All but 0 that is below the least allowed value becomes that value, negative numbers too; of two equally near values the greater is taken.",
  async () => {
    const tested = await start();
    for (const ttl_sec of ["300", true, [300], {}])
      expect(fields(await change(tested, { ttl_sec }))).toEqual(["ttl_sec"]);
    const rounded = [
      [1, 300],
      [-1, 300],
      [-1e300, 300],
      [0.5, 300],
      [0, 0],
      [3_600.4, 3_600],
      [5_400, 7_200],
      [1e21, 2_419_200],
    ];
    for (const [ttl_sec, kept] of rounded) {
      expect((await change(tested, { ttl_sec, retry_sec: ttl_sec })).body).toMatchObject({
        ttl_sec: kept,
        retry_sec: kept,
      });
      expect((await add(tested, { type: "TXT", target: "t", ttl_sec })).body.ttl_sec).toBe(kept);
    }
  },
);

assumption("A CNAME at the apex is a conflict: the service's own SOA and NS are there.", async () => {
  const { body } = await add(await start(), { type: "CNAME", target: "a.test" });
  expect(body.errors).toEqual([{ field: "name", reason: "Record conflict - CNAMES must be unique" }]);
});

assumption(
  "A record's trailing dot in the name is refused; the name's limit of 100 characters holds after the domain is stripped.",
  async () => {
    const tested = await start();
    const name = `${"a".repeat(49)}.${"b".repeat(50)}`;
    expect(fields(await add(tested, { type: "TXT", target: "t", name: "www." }))).toEqual(["name"]);
    expect((await add(tested, { type: "TXT", target: "t", name: `${name}.old.example` })).body.name).toBe(name);
  },
);

assumption(
  "A target is required and not empty, except that TXT may be empty and that an empty MX is a null MX, as `.` is. A null SRV is sent as `.`; only where it is one already may an empty text, as which it reads, be sent back.",
  async () => {
    const tested = await start();
    expect(fields(await add(tested, { type: "CNAME", name: "c", target: "" }))).toEqual(["target"]);
    expect(fields(await add(tested, { type: "TXT" }))).toEqual(["target"]);
    expect((await add(tested, { type: "TXT", target: "" })).body.target).toBe("");
    for (const record of [
      { type: "MX", target: "." },
      { type: "SRV", service: "sip", protocol: "tcp", target: ".", priority: 0, weight: 0, port: 0 },
    ]) {
      const { body } = await add(tested, record);
      expect(body.target).toBe("");
      const path = `/domains/5/records/${body.id}`;
      expect(await tested.send("PUT", path, body)).toMatchObject({ status: 200, body: { target: "" } });
      await tested.send("PUT", path, { target: "host.example" });
      if (record.type === "SRV") expect(fields(await tested.send("PUT", path, { target: "" }))).toEqual(["target"]);
    }
  },
);

assumption("A CAA target with a trailing period is refused.", async () => {
  const tested = await start();
  expect(fields(await add(tested, { type: "CAA", tag: "issue", target: "ca.example." }))).toEqual(["target"]);
});

assumption("A service or protocol with a leading underscore is refused.", async () => {
  const tested = await start();
  const srv = { type: "SRV", service: "sip", protocol: "tcp", target: "sip", priority: 1, weight: 1, port: 1 };
  expect(fields(await add(tested, { ...srv, service: "_sip" }))).toEqual(["service"]);
  expect(fields(await add(tested, { ...srv, protocol: "_tcp" }))).toEqual(["protocol"]);
});

assumption("Identical duplicates are allowed for every type.", async () => {
  const tested = await start();
  for (const record of [
    { type: "A", target: "192.0.2.1" },
    { type: "MX", target: "mx.test" },
  ]) {
    expect((await add(tested, record)).status).toBe(200);
    expect((await add(tested, record)).status).toBe(200);
  }
});

assumption("A slave's records can be written; they are not rendered.", async () => {
  const tested = await start();
  await change(tested, { type: "slave", master_ips: ["192.0.2.53"] });
  expect((await add(tested, { type: "A", target: "192.0.2.1" })).status).toBe(200);
  expect((await tested.send("GET", "/domains/5/zone-file")).body).toEqual({ zone_file: [] });
});

assumption("The zone file of a disabled domain is empty, whatever was rendered before.", async () => {
  const tested = await start();
  const file = async (): Promise<string[]> => (await tested.send("GET", "/domains/5/zone-file")).body.zone_file;
  expect(await file()).not.toEqual([]);
  await change(tested, { status: "disabled" });
  expect(await file()).toEqual([]);
  await change(tested, { status: "active" });
  expect(await file()).not.toEqual([]);
});

assumption("A change of a record does not change its domain's `updated`.", async () => {
  let now = Date.UTC(2026, 0, 1);
  const tested = await startTested({ now: () => now, seed: { domains: [{ id: 5, domain: "old.example" }] } });
  now += 60_000;
  await add(tested, { type: "TXT", target: "t" });
  expect((await tested.send("GET", "/domains/5")).body.updated).toBe("2026-01-01T00:00:00");
});

assumption(
  "The serial of a zone file is the time of the latest change; the name servers are `ns1` to `ns5` of `WORD.com`.",
  async () => {
    const { send } = await start("linode");
    const zone: string = (await send("GET", "/domains/5/zone-file")).body.zone_file.join("\n");
    expect(zone).toContain(` ${Date.UTC(2026, 0, 2, 3, 4, 5) / 1000} `);
    expect([...zone.matchAll(/\bNS\s+(\S+)/g)].map((match) => match[1])).toEqual(
      [1, 2, 3, 4, 5].map((number) => `ns${number}.linode.com.`),
    );
  },
);

assumption("A clone copies every value but the name and the times.", async () => {
  const tested = await start();
  await change(tested, { status: "disabled" });
  const source = (await tested.send("GET", "/domains/5")).body;
  const { body } = await tested.send("POST", "/domains/5/clone", { domain: "copy.example" });
  const { id, created, updated } = body;
  expect(body).toEqual({ ...source, domain: "copy.example", id, created, updated });
});
