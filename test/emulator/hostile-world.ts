/** An account with one of everything, every route's path into it, and all that the account shows. */

import type { AccountSeed } from "../../src/emulator/index.ts";
import type { Route } from "../../src/emulator/route.ts";
import { API_ROUTES } from "../../src/emulator/routes.ts";
import type { Tested } from "../support/emulator.ts";

export const IDS: Readonly<Record<string, string>> = {
  vpcId: "1",
  vpcSubnetId: "2",
  domainId: "3",
  recordId: "4",
  imageId: "private%2F5",
  prefix: "private",
  rest: "5",
  ticketId: "7",
};

/** @param first the ids' tens, so that two accounts differ in all of them */
export function seedOf(name: string, first: number): AccountSeed {
  const records = [{ id: first + 4, type: "A" as const, name, target: "192.0.2.1" }];
  const subnets = [{ id: first + 2, label: name, ipv4: "10.0.0.0/24" }];
  return {
    tokens: [{ token: `${name}-token` }],
    vpcs: [{ id: first + 1, label: name, region: "us-east", subnets }],
    domains: [{ id: first + 3, domain: `${name}.example`, tags: [name], group: name, records }],
    images: [{ id: `private/${first + 5}`, label: name }],
    disks: [{ id: first + 6, label: name, size: 100 }],
    tickets: [{ id: first + 7, summary: name, description: name }],
    nodes: [{ id: first + 8, interfaces: [{ id: first + 9, subnet_id: first + 2, config_id: first + 9 }] }],
  };
}

/** Throws for a parameter that nothing is known of: a new route is to be put to the test, too. */
export function pathOf({ path }: Route, ids: Readonly<Record<string, string>> = IDS): string {
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`no id for ${name} of ${path}`);
    return id;
  });
}

/** A body that each operation accepts. */
export const BODIES: Readonly<Record<string, object>> = {
  "VPC Create": { label: "new", region: "us-east", subnets: [{ label: "s", ipv4: "10.9.0.0/24" }] },
  "VPC Update": { label: "next" },
  "VPC Subnet Create": { label: "new", ipv4: "10.8.0.0/24" },
  "VPC Subnet Update": { label: "next" },
  "Domain Create": { domain: "new.example", type: "master", soa_email: "a@b.test" },
  "Domain Update": { description: "next" },
  "Domain Clone": { domain: "clone.example" },
  // A port where nobody listens.
  "Domain Import": { domain: "import.example", remote_nameserver: "127.0.0.1:1" },
  "Domain Record Create": { type: "A", name: "new", target: "192.0.2.2" },
  "Domain Record Update": { target: "192.0.2.3" },
  "Image Create": { disk_id: 6 },
  "Image Upload": { label: "new", region: "us-east" },
  "Image Update": { label: "next" },
  "Support Ticket Open": { summary: "new", description: "new" },
  "Support Ticket Close": {},
  "Reply Create": { description: "new" },
};

export const WRITING: readonly Route[] = API_ROUTES.filter(({ method }) => method === "POST" || method === "PUT");
export const JSON_WRITING: readonly Route[] = WRITING.filter(({ body }) => body === undefined);

export function bodyOf({ operation }: Route): object {
  const body = BODIES[operation];
  if (body === undefined) throw new Error(`no body for ${operation}`);
  return body;
}

/** All that a token sees. */
export async function shown(
  { send }: Tested,
  token: string,
  ids: Readonly<Record<string, string>> = IDS,
): Promise<string[]> {
  const reading = API_ROUTES.filter(({ method }) => method === "GET");
  return Promise.all(
    reading.map(async (route) => {
      const { status, body } = await send("GET", pathOf(route, ids), undefined, { authorization: `Bearer ${token}` });
      return `${pathOf(route, ids)} ${status} ${JSON.stringify(body)}`;
    }),
  );
}
