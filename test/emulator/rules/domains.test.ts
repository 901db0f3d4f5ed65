/** What API.md forbids of domains. */

import { expect, test } from "vitest";
import { rule } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const DOMAIN = { domain: "new.example", type: "master", soa_email: "a@b.example" };
const TOO_LONG = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example.co`;

function start(): Promise<Tested> {
  return startTested({
    seed: {
      domains: [{ id: 5, domain: "old.example" }],
      other_accounts: { rival: { domains: [{ id: 6, domain: "theirs.example" }] } },
    },
  });
}

/** On create and on update. */
async function expectFieldRefused(tested: Tested, change: object, field: string): Promise<void> {
  await expectRefused(tested, { method: "POST", path: "/domains", body: { ...DOMAIN, ...change }, field });
  await expectRefused(tested, { method: "PUT", path: "/domains/5", body: change, field });
}

rule(["Domain (DNS zone): domain", "Limits: Domain name"], async () => {
  const tested = await start();
  expect(TOO_LONG.length).toBe(254);
  await expectRefused(tested, {
    method: "POST",
    path: "/domains",
    body: { ...DOMAIN, domain: undefined },
    field: "domain",
  });
  const clone = { method: "POST", path: "/domains/5/clone", field: "domain" };
  await expectRefused(tested, { ...clone, body: {} });
  for (const domain of ["", TOO_LONG, `${"a".repeat(64)}.example`, "a_b.example", "-a.example", "theirs.example"]) {
    await expectFieldRefused(tested, { domain }, "domain");
    await expectRefused(tested, { ...clone, body: { domain } });
  }
  await expectRefused(tested, { ...clone, body: { domain: "OLD.example" } });
});

rule("Domain (DNS zone): type", async () => {
  const tested = await start();
  await expectRefused(tested, {
    method: "POST",
    path: "/domains",
    body: { ...DOMAIN, type: undefined },
    field: "type",
  });
  await expectFieldRefused(tested, { type: "native" }, "type");
});

rule("Domain (DNS zone): status", async () => {
  await expectFieldRefused(await start(), { status: "paused" }, "status");
});

rule(["Domain (DNS zone): description", "Limits: Domain description"], async () => {
  await expectFieldRefused(await start(), { description: "x".repeat(254) }, "description");
});

rule(["Domain (DNS zone): group", "Limits: Domain group"], async () => {
  await expectFieldRefused(await start(), { group: "x".repeat(51) }, "group");
});

rule("Domain (DNS zone): soa_email", async () => {
  const tested = await start();
  await expectFieldRefused(tested, { soa_email: "no address" }, "soa_email");
  await expectFieldRefused(tested, { soa_email: "" }, "soa_email");
});

rule("Domain (DNS zone): master_ips", async () => {
  const tested = await start();
  await expectFieldRefused(tested, { type: "slave" }, "master_ips");
  await expectFieldRefused(tested, { master_ips: ["ns.example"] }, "master_ips[0]");
});

rule(["Domain (DNS zone): axfr_ips", "Limits: axfr_ips"], async () => {
  const tested = await start();
  await expectFieldRefused(tested, { axfr_ips: ["any"] }, "axfr_ips[0]");
  await expectFieldRefused(tested, { axfr_ips: Array(91).fill("192.0.2.111") }, "axfr_ips");
});

rule(
  [
    "Domain (DNS zone): refresh_sec",
    "Domain (DNS zone): retry_sec",
    "Domain (DNS zone): expire_sec",
    "Domain (DNS zone): ttl_sec",
  ],
  async () => {
    const tested = await start();
    for (const field of ["refresh_sec", "retry_sec", "expire_sec", "ttl_sec"]) {
      await expectFieldRefused(tested, { [field]: "300" }, field);
    }
  },
);

rule("Domain (DNS zone): tags", async () => {
  await expectFieldRefused(await start(), { tags: "web" }, "tags");
});

rule("Domains: rule 4", async () => {
  const tested = await start();
  await tested.send("POST", "/domains/5/records", { type: "TXT", target: "kept" });
  for (const id of ["old.example", "5.0", "05", "%205", "5x"]) {
    const gone = { field: null, status: 404 };
    await expectRefused(tested, { method: "DELETE", path: `/domains/${id}`, ...gone });
    await expectRefused(tested, { method: "GET", path: `/domains/${id}/zone-file`, ...gone });
    await expectRefused(tested, {
      method: "POST",
      path: `/domains/${id}/clone`,
      body: { domain: "c.example" },
      ...gone,
    });
    await expectRefused(tested, { method: "DELETE", path: `/domains/5/records/${id}`, ...gone });
  }
});

test("what is just within the limits of a domain is taken", async () => {
  const { send } = await start();
  const body = {
    ...DOMAIN,
    domain: TOO_LONG.slice(1),
    description: "x".repeat(253),
    group: "x".repeat(50),
    axfr_ips: Array(90).fill("192.0.2.111"),
  };
  expect((await send("POST", "/domains", body)).status).toBe(200);
});
