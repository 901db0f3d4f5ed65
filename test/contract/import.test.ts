/** The import of a zone, as the service's own client asks for it, from a nameserver that answers by a script. */

import { getDomainRecords, getDomains, importZone } from "@linode/api-v4";
import type { Answer } from "dns-packet";
import { expect, test } from "vitest";
import { address, message, soa, startScripted, ZONE } from "../support/scripted-nameserver.ts";
import { connect, refusal } from "./client.ts";

const RECORDS: readonly Answer[] = [
  address(ZONE),
  address(`www.${ZONE}`, "192.0.2.2"),
  { type: "MX", name: ZONE, ttl: 3_600, data: { preference: 10, exchange: `mail.${ZONE}` } },
  { type: "TXT", name: ZONE, ttl: 3_600, data: "v=spf1 -all" },
];

/** @returns its address, as the client is given it */
async function serve(rcode = 0): Promise<string> {
  const { host, port } = await startScripted((socket, { id }) => {
    const answers = rcode === 0 ? [soa(), ...RECORDS, soa()] : [];
    socket.end(message({ id, rcode, answers }));
  });
  return `${host}:${port}`;
}

test("a zone is imported with its SOA's values and its records", async () => {
  await connect();
  const domain = await importZone({ domain: ZONE, remote_nameserver: await serve() });
  expect(domain).toMatchObject({ domain: ZONE, type: "master", status: "active", soa_email: `hostmaster@${ZONE}` });
  expect(domain).toMatchObject({ refresh_sec: 14_400, retry_sec: 7_200, expire_sec: 604_800, ttl_sec: 300 });
  const { data } = await getDomainRecords(domain.id);
  expect(data.map(({ type, name, target, priority }) => [type, name, target, priority]).sort()).toEqual([
    ["A", "", "192.0.2.1", 0],
    ["A", "www", "192.0.2.2", 0],
    ["MX", "", `mail.${ZONE}`, 10],
    ["TXT", "", "v=spf1 -all", 0],
  ]);
  expect((await getDomains()).data).toEqual([domain]);
});

test("an import that fails is one 400, and leaves nothing behind", async () => {
  await connect();
  const REFUSED = 5;
  const { status, errors } = await refusal(importZone({ domain: ZONE, remote_nameserver: await serve(REFUSED) }));
  expect([status, errors.length]).toEqual([400, 1]);
  expect((await getDomains()).results).toBe(0);
});

test("the client itself asks for a domain and a nameserver", async () => {
  const { emulator } = await connect();
  const { status, errors } = await refusal(importZone({ domain: "", remote_nameserver: "" }));
  expect([status, errors.map(({ field }) => field)]).toEqual([null, ["domain", "remote_nameserver"]]);
  expect(emulator.requests).toEqual([]);
});
