/** Accounts beside each other: what another one holds answers as if it were not there. */

import { expect, test } from "vitest";
import { API_ROUTES } from "../../src/emulator/routes.ts";
import { assumption } from "../support/emulated.ts";
import type { Tested } from "../support/emulator.ts";
import { startTested } from "../support/emulator.ts";
import { bodyOf, IDS, pathOf, seedOf, shown } from "./hostile-world.ts";

const OTHERS = 100;

/** The same things in the other account, and in none. */
function shifted(by: number): Record<string, string> {
  return Object.fromEntries(
    Object.entries(IDS).map(([name, id]) => [name, id.replace(/\d+$/, (digits) => String(Number(digits) + by))]),
  );
}

const THEIRS: Record<string, string> = { ...shifted(OTHERS), prefix: "private", imageId: `private%2F${OTHERS + 5}` };
const NOBODYS: Record<string, string> = { ...shifted(500), prefix: "private", imageId: "private%2F505" };

function start(): Promise<Tested> {
  const images = [{ id: "node/debian12", label: "Debian" }];
  const main = seedOf("mine", 0);
  const seed = {
    ...main,
    images: [...(main.images ?? []), ...images],
    other_accounts: { other: seedOf("theirs", OTHERS) },
  };
  return startTested({ seed, now: () => 1_700_000_000_000 });
}

const MINE = { authorization: "Bearer mine-token" };

/** The ids of a path: each theirs or one's own, at least one of them theirs. */
function mixtures(path: string): Record<string, string>[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name).filter((name) => name !== "prefix");
  const all: Record<string, string>[] = [];
  for (let mask = 1; mask < 2 ** names.length; mask += 1) {
    const chosen = names.filter((_, index) => (mask >> index) % 2 === 1);
    all.push(Object.fromEntries(chosen.map((name) => [name, "theirs"])));
  }
  return all;
}

const WITH_IDS = API_ROUTES.filter(({ path }) => path.includes(":"));

test.each(WITH_IDS.map((route) => [`${route.method} ${route.path}`, route] as const))(
  "%s answers for another account's ids as for none",
  async (_, route) => {
    const run = await start();
    const before = await shown(run, "theirs-token", THEIRS);
    for (const mixture of mixtures(route.path)) {
      const names = Object.keys(mixture);
      const theirs = { ...IDS, ...Object.fromEntries(names.map((name) => [name, THEIRS[name] ?? ""])) };
      const nobodys = { ...IDS, ...Object.fromEntries(names.map((name) => [name, NOBODYS[name] ?? ""])) };
      const body = route.method === "GET" || route.method === "DELETE" || route.body ? undefined : bodyOf(route);
      for (const headers of [MINE, ...(route.anonymous ? [{ authorization: "" }] : [])]) {
        const hidden = await run.send(route.method, pathOf(route, theirs), body, headers);
        const missing = await run.send(route.method, pathOf(route, nobodys), body, headers);
        expect([names, hidden.status, hidden.body]).toEqual([names, missing.status, missing.body]);
        expect(hidden.status).toBe(headers === MINE ? (route.body ? 400 : 404) : 401);
      }
    }
    expect(await shown(run, "theirs-token", THEIRS)).toEqual(before);
  },
);

test("lists show one's own things and public images, whatever the filter", async () => {
  const run = await start();
  const lists = API_ROUTES.filter(({ method, path }) => method === "GET" && !path.includes(":"));
  const filters: object[] = [
    {},
    { label: "theirs" },
    { domain: "theirs.example" },
    { tags: "theirs" },
    { vpc_id: 101 },
  ];
  filters.push({ id: 101 }, { group: "theirs" }, { config_id: 109 }, { node_id: 108 }, { region: "us-east" });
  for (const route of lists) {
    for (const filter of filters) {
      const headers = { ...MINE, "x-filter": JSON.stringify(filter) };
      const { status, body } = await run.send("GET", `${route.path}?page_size=500`, undefined, headers);
      expect([200, 400]).toContain(status);
      if (status === 200) expect(JSON.stringify(body)).not.toMatch(/theirs|10[1-9]\b/);
      if (Object.keys(filter).length === 0) expect(JSON.stringify(body)).not.toContain('"results":0');
    }
  }
  const images = (authorization: string) => run.send("GET", "/images", undefined, { authorization });
  expect((await images("")).body.data.map(({ id }: { id: string }) => id)).toEqual(["node/debian12"]);
  expect((await images("Bearer theirs-token")).body.data.map(({ id }: { id: string }) => id).sort()).toEqual([
    "node/debian12",
    "private/105",
  ]);
});

test("a domain's name that another account has is taken, in any letter case", async () => {
  const { send } = await start();
  const domain = "THEIRS.example";
  const taken = { errors: [{ reason: "DNS zone already exists.", field: "domain" }] };
  const bodies: [string, string, object][] = [
    ["POST", "/domains", { domain, type: "master", soa_email: "a@b.test" }],
    ["PUT", "/domains/3", { domain }],
    ["POST", "/domains/3/clone", { domain }],
    ["POST", "/domains/import", { domain, remote_nameserver: "127.0.0.1:1" }],
  ];
  for (const [method, path, body] of bodies) {
    const answer = await send(method, path, body, MINE);
    expect([path, answer.status, answer.body]).toEqual([path, 400, taken]);
  }
  await send("DELETE", "/domains/103", undefined, { authorization: "Bearer theirs-token" });
  expect((await send("PUT", "/domains/3", { domain }, MINE)).status).toBe(200);
});

test("an image is made of one's own disks only", async () => {
  const { send } = await start();
  const theirs = await send("POST", "/images", { disk_id: OTHERS + 6 }, MINE);
  const nobodys = await send("POST", "/images", { disk_id: 506 }, MINE);
  expect([theirs.status, theirs.body]).toEqual([nobodys.status, nobodys.body]);
  expect((await send("POST", "/images", { disk_id: 6 }, MINE)).status).toBe(200);
});

assumption("An object of another account is 404, as one that does not exist.", async () => {
  const { send } = await start();
  for (const path of [
    "/vpcs/101",
    "/domains/103",
    "/domains/103/records",
    "/images/private/105",
    "/support/tickets/107",
  ]) {
    const other = await send("GET", path, undefined, MINE);
    expect([path, other.status, other.body]).toEqual([path, 404, { errors: [{ reason: "Not found" }] }]);
  }
  expect((await send("GET", "/vpcs", undefined, MINE)).body.results).toBe(1);
});
