/** Who may do what: every operation without a token, with a wrong one, with each wrong scope, and with the right one. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import type { Route } from "../../src/emulator/route.ts";
import { API_ROUTES } from "../../src/emulator/routes.ts";
import { type Tested, tested } from "../support/emulator.ts";

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

/** Ids that exist nowhere: who may come in finds nothing, or lacks a body; who may not learns neither. */
function pathOf({ path }: Route): string {
  return path.replace(":imageId", "private%2F9999").replace(":prefix/:rest", "private/9999").replace(/:\w+/g, "9999");
}

async function statusOf({ send }: Tested, route: Route, authorization: string): Promise<number> {
  const { status } = await send(route.method, pathOf(route), undefined, { authorization });
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
      for (const wrong of ["Bearer wrong", "Bearer", "Basic all", "all", "Bearer all all", "Bearer\tall"]) {
        expect(await statusOf(client, route, wrong), `${name} with ${wrong}`).toBe(401);
      }
      expect(await statusOf(client, route, "Bearer none"), `${name} with no scope`).toBe(403);
      for (const scope of ALL_SCOPES) {
        const admitted = needed.every((one) => holds([scope], one));
        const status = await statusOf(client, route, `Bearer ${scope}`);
        if (admitted) expect([200, 400, 404], `${name} with ${scope}`).toContain(status);
        else expect(status, `${name} with ${scope}`).toBe(403);
      }
      for (const token of ["all", `exact/${operation.replaceAll(" ", "_")}`]) {
        expect([200, 400, 404], `${name} with ${token}`).toContain(await statusOf(client, route, `Bearer ${token}`));
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
        { token: "reader", grants: { vpcs: { one: "read_only" }, images: { one: "read_only" } } },
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
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const create = { label: "new", region: "us-east" };
    for (const token of ["reader", "adder", "writer"]) {
      for (const id of token === "writer" ? [2] : [1, 2]) {
        for (const [method, path, body] of attempts(id)) {
          const { status } = await send(method, path, body, as(token));
          expect(status, `${token}: ${method} ${path}`).toBe(403);
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
