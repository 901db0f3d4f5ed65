/** Who may do what: every operation without a token, with a wrong one, with each wrong scope, and with the right one; grants, and their end. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Seed, startEmulator } from "../../src/emulator/index.ts";
import type { Route } from "../../src/emulator/route.ts";
import { API_ROUTES } from "../../src/emulator/routes.ts";
import { assumption } from "../support/emulated.ts";
import { startTested, type Tested, tested } from "../support/emulator.ts";

const API = readFileSync(new URL("../../docs/reference/API.md", import.meta.url), "utf8");

/** The two levels of each area: all that a token can hold. */
const ALL_SCOPES = ["vpc", "ips", "account", "domains", "images", "nodes"].flatMap((area) =>
  ["read_only", "read_write"].map((level) => `${area}:${level}`),
);

/** API.md's table names the operations of a row in short: `Subnet Create`, `Update`, `Records List and View`. */
const SCOPE_ROWS: Readonly<Record<string, RegExp>> = {
  "vpc:read_write": /^VPC (Create|Update|Delete)$|^VPC Subnet (Create|Update|Delete)$/,
  "ips:read_only": /^VPC IP Addresses (List|View)$/,
  "account:read_only": /^Support Tickets List$|^Support Ticket View$|^Replies List$/,
  "account:read_write": /^Support Ticket (Open|Attachment Create|Close)$|^Reply Create$/,
  "domains:read_only":
    /^Domains List$|^Domain View$|^Domain Records List$|^Domain Record View$|^Domain Zone File View$/,
  "domains:read_write": /^Domain (Create|Import|Update|Delete|Clone)$|^Domain Record (Create|Update|Delete)$/,
  "images:read_only": /^Images List$|^Image View$/,
  "images:read_write": /^Image (Upload|Update|Delete)$/,
  "images:read_write plus nodes:read_only": /^Image Create$/,
  // API.md does not show these: the scope is an assumption.
  "vpc:read_only": /^VPCs List$|^VPC View$|^VPC Subnets List$|^VPC Subnet View$/,
};

function neededScopes(operation: string): readonly string[] {
  const rows = Object.entries(SCOPE_ROWS).filter(([, names]) => names.test(operation));
  expect(rows, operation).toHaveLength(1);
  return rows.flatMap(([scopes]) => scopes.split(" plus "));
}

function holds(held: readonly string[], needed: string): boolean {
  return held.includes(needed) || held.includes(needed.replace("read_only", "read_write"));
}

const as = (token: string) => ({ authorization: token === "" ? "" : `Bearer ${token}` });

/** Ids that exist nowhere: who may come in finds nothing, or lacks a body; who may not learns neither. */
function pathOf({ path }: Route): string {
  return path.replace(":imageId", "private%2F9999").replace(":prefix/:rest", "private/9999").replace(/:\w+/g, "9999");
}

const REASONS: Readonly<Record<number, string>> = { 401: "Invalid Token", 403: "Unauthorized" };

async function statusOf({ send }: Tested, route: Route, authorization: string): Promise<number> {
  const { status, body } = await send(route.method, pathOf(route), undefined, { authorization });
  const reason = REASONS[status];
  if (reason !== undefined) expect(body).toEqual({ errors: [{ reason }] });
  return status;
}

test("the scopes of API.md are the ones tried here", () => {
  const shown = [...API.matchAll(/^\| (\w+:\w+(?: plus \w+:\w+)?) \|/gm)].map((match) => match[1]);
  expect(shown.toSorted()).toEqual(
    Object.keys(SCOPE_ROWS)
      .filter((row) => row !== "vpc:read_only")
      .toSorted(),
  );
});

test("every operation is refused to everyone but holders of its scopes", async () => {
  const tokens = [
    { token: "none", scopes: [] },
    { token: "all", scopes: ["*"] },
    ...ALL_SCOPES.map((scope) => ({ token: scope, scopes: [scope] })),
    ...API_ROUTES.map(({ operation }) => ({ token: `exact/${operation}`, scopes: neededScopes(operation) })).map(
      ({ token, scopes }) => ({ token: token.replaceAll(" ", "_"), scopes }),
    ),
  ].filter(({ token }, index, all) => all.findIndex((other) => other.token === token) === index);
  const emulator = await startEmulator({ seed: { tokens } });
  const client = tested(emulator);
  try {
    for (const route of API_ROUTES) {
      const { operation, anonymous = false } = route;
      const needed = neededScopes(operation);
      const name = `${route.method} ${route.path}`;
      const isList = operation === "Images List";
      expect(await statusOf(client, route, ""), `${name} without a token`).toBe(isList ? 200 : 401);
      for (const wrong of [
        "Bearer wrong",
        "Bearer",
        "Basic all",
        "all",
        "Bearer all all",
        "Bearer\tall",
        "Bearer __proto__",
      ]) {
        expect(await statusOf(client, route, wrong), `${name} with ${wrong}`).toBe(401);
      }
      expect(await statusOf(client, route, "Bearer none"), `${name} with no scope`).toBe(403);
      for (const scope of ALL_SCOPES) {
        const admitted = needed.every((one) => holds([scope], one));
        const status = await statusOf(client, route, `Bearer ${scope}`);
        if (admitted) expect([200, 400, 404], `${name} with ${scope}`).toContain(status);
        else expect(status, `${name} with ${scope}`).toBe(403);
      }
      for (const held of ["Bearer all", "bearer all", `Bearer exact/${operation.replaceAll(" ", "_")}`]) {
        expect([200, 400, 404], `${name} with ${held}`).toContain(await statusOf(client, route, held));
      }
      expect(anonymous, name).toBe(/^Images List$|^Image View$/.test(operation));
    }
  } finally {
    await emulator.close();
  }
});

test("grants: what a restricted user may change is what was granted, and what they made", async () => {
  const emulator = await startEmulator({
    seed: {
      tokens: [
        { token: "adder", grants: { add_vpc: true } },
        { token: "writer", grants: { vpcs: { one: "read_write" }, images: { one: "read_write" } } },
        { token: "reader", grants: { vpcs: { "1": "read_only" }, images: { "private/1": "read_only" } } },
      ],
      vpcs: ["one", "two"].map((label, index) => ({
        id: index + 1,
        label,
        region: "us-east",
        subnets: [{ id: index + 11, label: "web", ipv4: "10.0.0.0/24" }],
      })),
      images: [
        { id: "private/1", label: "one" },
        { id: "private/2", label: "two" },
      ],
    },
  });
  const { send } = tested(emulator);
  try {
    const attempts = (id: number): [string, string, object?][] => [
      ["PUT", `/vpcs/${id}`, { description: "d" }],
      ["POST", `/vpcs/${id}/subnets`, { label: "db", ipv4: "10.0.1.0/24" }],
      ["PUT", `/vpcs/${id}/subnets/${id + 10}`, { label: "front" }],
      ["DELETE", `/vpcs/${id}/subnets/${id + 10}`],
      ["PUT", `/images/private/${id}`, { label: "x" }],
      ["DELETE", `/images/private/${id}`],
      ["DELETE", `/vpcs/${id}`],
    ];
    const create = { label: "new", region: "us-east" };
    for (const token of ["reader", "adder", "writer"]) {
      for (const id of token === "writer" ? [2] : [1, 2]) {
        for (const [method, path, body] of attempts(id)) {
          // Grants are looked at before bodies.
          for (const sent of [body, method === "DELETE" ? undefined : {}]) {
            const { status } = await send(method, path, sent, as(token));
            expect(status, `${token}: ${method} ${path}`).toBe(403);
          }
        }
      }
      const made = await send("POST", "/vpcs", create, as(token));
      expect(made.status, `${token}: POST /vpcs`).toBe(token === "adder" ? 200 : 403);
      if (token === "adder")
        expect((await send("DELETE", `/vpcs/${made.body.id}`, undefined, as(token))).status).toBe(200);
    }
    for (const [method, path, body] of attempts(1)) {
      expect((await send(method, path, body, as("writer"))).status, `${method} ${path}`).toBe(200);
    }
  } finally {
    await emulator.close();
  }
});

test("capturing needs the scope of nodes as well, in either vocabulary", async () => {
  const tokens = [
    { token: "without", scopes: ["images:read_write"] },
    { token: "neutral", scopes: ["images:read_write", "nodes:read_only"] },
    { token: "branded", scopes: ["images:read_write", "linodes:read_only"] },
  ];
  const { send } = await startTested({
    dialect: "linode",
    seed: { tokens, disks: [{ id: 5, label: "boot", size: 100 }] },
  });
  const statuses: number[] = [];
  for (const { token } of tokens) {
    statuses.push((await send("POST", "/images", { disk_id: 5 }, as(token))).status);
  }
  expect(statuses).toEqual([403, 200, 200]);
});

test("the grants of what is deleted or has run out of time go with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, "account.log");
  const emulator = await startEmulator({
    data,
    seed: {
      vpcs: [7, 8].map((id) => ({ id, label: `v${id}`, region: "us-east" })),
      images: ["private/1", "private/2"].map((id) => ({ id, label: id })),
      disks: [{ id: 5, label: "boot", size: 100 }],
      tokens: ["one", "two"].map((token) => ({
        token,
        username: token,
        grants: {
          add_vpc: true,
          vpcs: { v7: "read_write", v8: "read_only" },
          images: { "private/1": "read_write", "private/2": "read_only" },
        },
      })),
    },
  });
  const { send } = tested(emulator);
  const one = { authorization: "Bearer one" };
  expect((await send("DELETE", "/vpcs/7", undefined, one)).status).toBe(200);
  expect((await send("DELETE", "/images/private%2F1", undefined, one)).status).toBe(200);
  const made = await send("POST", "/vpcs", { label: "new", region: "us-east" }, one);
  expect((await send("DELETE", `/vpcs/${made.body.id}`, undefined, one)).status).toBe(200);
  await send("POST", "/images/upload", { label: "never", region: "us-east" }, one);
  const kept = (await send("POST", "/images", { disk_id: 5 }, one)).body.id;
  await emulator.advanceClock(25 * 3600);
  await send("GET", "/images", undefined, one);
  await emulator.close();
  await (await startEmulator({ data })).close();
  const grants = [...readFileSync(data, "utf8").matchAll(/"grants":(\{.*?\}\})/g)].map(([, text = ""]) =>
    JSON.parse(text),
  );
  const left = { add_vpc: true, vpcs: { 8: "read_only" } };
  expect(grants).toEqual([
    { ...left, images: { "private/2": "read_only", [kept]: "read_write" } },
    { ...left, images: { "private/2": "read_only" } },
  ]);
});

const SEED: Seed = {
  tokens: [
    { token: "emulator-token" },
    { token: "domains", scopes: ["domains:read_only"] },
    { token: "vpc-reader", scopes: ["vpc:read_only"] },
    { token: "area", scopes: ["vpc:*"] },
    { token: "restricted", grants: { add_vpc: true } },
  ],
  vpcs: [{ id: 7, label: "prod", region: "us-east" }],
  domains: [{ id: 5, domain: "a.example" }],
  disks: [{ id: 3, label: "boot", size: 100 }],
  images: [
    { id: "node/debian", label: "Debian" },
    { id: "private/1", label: "mine" },
  ],
};

assumption(
  "An unknown path is 404 and a known path with another method 405 before credentials are looked at; then 401, then 403.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    const status = async (method: string, path: string, token: string): Promise<number> =>
      (await send(method, path, undefined, as(token))).status;
    expect(await status("GET", "/nothing", "")).toBe(404);
    expect(await status("DELETE", "/vpcs", "")).toBe(405);
    expect(await status("GET", "/vpcs", "")).toBe(401);
    expect(await status("GET", "/vpcs/999", "domains")).toBe(403);
  },
);

assumption("VPCs and subnets are read with `vpc:read_only`.", async () => {
  const { send } = await startTested({ seed: SEED });
  for (const path of ["/vpcs", "/vpcs/7", "/vpcs/7/subnets"]) {
    expect((await send("GET", path, undefined, as("vpc-reader"))).status).toBe(200);
    expect((await send("GET", path, undefined, as("domains"))).status).toBe(403);
  }
});

assumption(
  "A `read_write` scope holds `read_only`; `*` and `area:*` hold everything, everything of the area.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    expect((await send("PUT", "/vpcs/7", { description: "d" }, as("area"))).status).toBe(200);
    expect((await send("GET", "/domains", undefined, as("area"))).status).toBe(403);
    expect((await send("GET", "/domains")).status).toBe(200);
  },
);

assumption(
  "A restricted user reads everything that the scopes allow; what they create, they may change. Domains have no grants.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    const mine = as("restricted");
    expect((await send("GET", "/vpcs/7", undefined, mine)).status).toBe(200);
    expect((await send("PUT", "/vpcs/7", { description: "d" }, mine)).status).toBe(403);
    const { id } = (await send("POST", "/vpcs", { label: "own", region: "us-east" }, mine)).body;
    expect((await send("PUT", `/vpcs/${id}`, { description: "d" }, mine)).status).toBe(200);
    const captured = (await send("POST", "/images", { disk_id: 3 }, mine)).body;
    expect((await send("PUT", `/images/${captured.id}`, { label: "l" }, mine)).status).toBe(200);
    expect((await send("DELETE", `/images/${captured.id}`, undefined, mine)).status).toBe(200);
    expect((await send("PUT", "/images/private/1", { label: "l" }, mine)).status).toBe(403);
    expect((await send("PUT", "/domains/5", { group: "g" }, mine)).status).toBe(200);
  },
);

assumption(
  "A private image's id without credentials is 401, whether or not the image exists; an unknown public one 404.",
  async () => {
    const { send } = await startTested({ seed: SEED });
    const status = async (id: string): Promise<number> =>
      (await send("GET", `/images/${id}`, undefined, as(""))).status;
    expect(await status("private/1")).toBe(401);
    expect(await status("private/999")).toBe(401);
    expect(await status("node/plan9")).toBe(404);
  },
);
