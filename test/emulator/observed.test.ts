/** What clients of the running service were seen to rely on (docs/reference/OBSERVED.md), asked of the emulator over HTTP. */

import { expect, test } from "vitest";
import { parseSeed } from "../../src/emulator/index.ts";
import { assumption } from "../support/emulated.ts";
import { type PlainAnswer, startTested } from "../support/emulator.ts";
import { exchange } from "../support/raw-http.ts";

test("the content type of every answer is application/json, without a charset", async () => {
  const { send, control, emulator } = await startTested({ rateLimit: { requests: 9, seconds: 600 } });
  const types: [string, number, string | null][] = [];
  const ask = async (name: string, answer: Promise<PlainAnswer>): Promise<void> => {
    const { status, headers } = await answer;
    types.push([name, status, headers.get("content-type")]);
  };
  await ask("list", send("GET", "/vpcs"));
  await ask("not JSON", send("POST", "/vpcs", "{"));
  await ask("refused", send("POST", "/vpcs", {}));
  await ask("unknown path", send("GET", "/nothing"));
  await ask("no token", send("GET", "/vpcs", undefined, { authorization: "" }));
  await ask("method", send("PATCH", "/vpcs"));
  await ask("undecodable", send("GET", "/vpcs/%E0%A4%A"));
  await ask("control", control("GET", "/events"));
  await control("POST", "/faults", { faults: ["status=503,times=1"] });
  await ask("fault", send("GET", "/vpcs"));
  await control("POST", "/faults", { faults: ["slow-headers=1,times=1"] });
  await ask("slow", send("GET", "/vpcs"));
  await ask("limited", send("GET", "/vpcs"));
  expect(types).toEqual(
    [
      ["list", 200],
      ["not JSON", 400],
      ["refused", 400],
      ["unknown path", 404],
      ["no token", 401],
      ["method", 405],
      ["undecodable", 404],
      ["control", 200],
      ["fault", 503],
      ["slow", 200],
      ["limited", 429],
    ].map(([name, status]) => [name, status, "application/json"]),
  );
  const { text: unreadable } = await exchange(emulator.port, "nonsense\r\n\r\n");
  expect(unreadable).toMatch(/^content-type: application\/json\r$/im);
});

test("`+order` without `+order_by` does nothing, and is no error", async () => {
  const domains = ["b.test", "a.test"].map((domain) => ({ domain }));
  const { send } = await startTested({ seed: { domains } });
  for (const filter of ['{"+and":[],"+order":"asc"}', '{"+order":"desc"}']) {
    const { status, body } = await send("GET", "/domains", undefined, { "x-filter": filter });
    expect([status, body.data?.map(({ domain }: { domain: string }) => domain)]).toEqual([200, ["a.test", "b.test"]]);
  }
  expect((await send("GET", "/domains", undefined, { "x-filter": '{"+order":"up"}' })).status).toBe(400);
});

test("domains can be ordered by created, id, soa_email, ttl_sec and description", async () => {
  let now = Date.UTC(2026, 0, 1);
  const { send } = await startTested({ now: () => now });
  const made = [
    { domain: "m.test", soa_email: "b@m.test", ttl_sec: 300, description: "z" },
    { domain: "a.test", soa_email: "c@m.test", ttl_sec: 86_400, description: "y" },
    { domain: "z.test", soa_email: "a@m.test", ttl_sec: 3_600, description: "x" },
  ];
  for (const domain of made) {
    expect((await send("POST", "/domains", { type: "master", ...domain })).status).toBe(200);
    now += 60_000;
  }
  const ordered = async (by: string, order: string): Promise<unknown> => {
    const filter = JSON.stringify({ "+order_by": by, "+order": order });
    const { body } = await send("GET", "/domains", undefined, { "x-filter": filter });
    return body.errors ?? body.data.map(({ domain }: { domain: string }) => domain.slice(0, 1)).join("");
  };
  for (const [by, ascending] of [
    ["created", "maz"],
    ["id", "maz"],
    ["soa_email", "zma"],
    ["ttl_sec", "mza"],
    ["description", "zam"],
  ] as const) {
    expect([by, await ordered(by, "asc")]).toEqual([by, ascending]);
    expect([by, await ordered(by, "desc")]).toEqual([by, [...ascending].reverse().join("")]);
  }
});

test("GET /node/types, in the dialect's word, answers an empty list, with or without a token", async () => {
  const empty = { data: [], page: 1, pages: 1, results: 0 };
  for (const [dialect, other] of [
    ["node", "linode"],
    ["linode", "node"],
  ] as const) {
    const { send } = await startTested({ dialect });
    expect(await send("GET", `/${dialect}/types?page=1`)).toMatchObject({ status: 200, body: empty });
    expect((await send("GET", `/${dialect}/types`, undefined, { authorization: "" })).body).toEqual(empty);
    expect((await send("GET", `/${dialect}/types`, undefined, { authorization: "Bearer no" })).status).toBe(401);
    expect((await send("GET", `/${other}/types`)).status).toBe(404);
    expect((await send("POST", `/${dialect}/types`, {})).status).toBe(405);
  }
});

assumption(
  "The headers X-Spec-Version, Cache-Control and Vary are on every answer below `/v4`, X-Accepted-OAuth-Scopes on those of a known operation, and X-OAuth-Scopes where the token is known.",
  async () => {
    const tokens = [{ token: "emulator-token", scopes: ["domains:read_only", "linodes:*", "images:read_write"] }];
    const { send } = await startTested({ dialect: "linode", seed: { tokens } });
    const shown = async (method: string, path: string, headers = {}): Promise<unknown> => {
      const answer = await send(method, path, method === "POST" ? {} : undefined, headers);
      const of = (name: string): string | null => answer.headers.get(name);
      expect([of("x-spec-version"), of("cache-control"), of("vary")]).toEqual([
        "4.176.0",
        "private, max-age=0, no-cache, no-store",
        "Authorization, X-Filter",
      ]);
      return [answer.status, of("x-accepted-oauth-scopes"), of("x-oauth-scopes")];
    };
    const own = "domains:read_only linodes:* images:read_write";
    expect(await shown("GET", "/domains")).toEqual([200, "domains:read_only", own]);
    expect(await shown("POST", "/domains")).toEqual([403, "domains:read_write", own]);
    expect(await shown("POST", "/images")).toEqual([400, "images:read_write linodes:read_only", own]);
    expect(await shown("GET", "/domains", { authorization: "Bearer no" })).toEqual([401, "domains:read_only", null]);
    expect(await shown("GET", "/images", { authorization: "" })).toEqual([200, "images:read_only", null]);
    expect(await shown("GET", "/nothing")).toEqual([404, null, null]);
    expect(await shown("PATCH", "/domains")).toEqual([405, null, null]);
  },
);

const NETWORK = { id: 7, label: "prod", region: "us-east", subnets: [{ id: 11, label: "web", ipv4: "10.0.1.0/24" }] };

test("a seed and an attachment may be in the dialect's words", async () => {
  const text = `
tokens:
  - { token: emulator-token, scopes: ["linodes:read_only", "vpc:*", "ips:*", "images:*", "account:*"] }
vpcs: [${JSON.stringify(NETWORK)}]
images: [{ id: linode/debian12, label: Debian 12 }]
linodes: [{ id: 21, interfaces: [{ id: 31, subnet: prod/web, address: 10.0.1.5 }] }]
disks: [{ id: 123, label: boot, size: 2048 }]
tickets: [{ summary: s, description: d, entity: { type: linode, id: 21 } }]
other_accounts: { rival: { tokens: [{ token: rival }], linodes: [] } }
`;
  const { send, control } = await startTested({ dialect: "linode", seed: parseSeed(text, "linode") });
  expect((await send("GET", "/images/linode/debian12")).body).toMatchObject({ is_public: true, created_by: "linode" });
  expect((await send("GET", "/support/tickets")).body.data[0].entity).toMatchObject({ type: "linode", id: 21 });
  expect((await control("POST", "/attach", { subnet_id: 11, linode_id: 22, interface_id: 32 })).status).toBe(200);
  expect((await control("POST", "/attach", { subnet_id: 11, node_id: 23, interface_id: 33 })).status).toBe(200);
  expect((await send("GET", "/vpcs/ips")).body.data.map((row: Record<string, unknown>) => row["linode_id"])).toEqual([
    21, 22, 23,
  ]);
  expect((await control("POST", "/attach", { subnet_id: 11, interface_id: 34 })).body.errors).toEqual([
    { field: "linode_id", reason: "linode_id is required" },
  ]);
  expect((await send("POST", "/images", { disk_id: 123 })).status).toBe(200);
  expect(() => parseSeed("linodes: []\n")).toThrow("line 1: linodes: unknown key");
  expect(() => parseSeed("a: 1\nlinodes: [{ id: x }]\n", "linode")).toThrow(/line 2: linodes\.0\.id must be integer/);
  expect(() => parseSeed("nodes: []\nlinodes: []\n", "linode")).toThrow("line 2: linodes: nodes is there as well");
  expect(parseSeed("nodes: [{ id: 3 }]\n", "linode")).toEqual({ nodes: [{ id: 3 }] });
});
