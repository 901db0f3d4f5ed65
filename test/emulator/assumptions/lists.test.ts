/** Choices about pages, filters, limits and bodies. */

import { expect, test } from "vitest";
import type { Seed } from "../../../src/emulator/index.ts";
import { assumption } from "../../support/emulated.ts";
import { type PlainAnswer, startTested, type Tested } from "../../support/emulator.ts";

const SEED: Seed = {
  vpcs: ["b", "a", "c"].map((label) => ({ label, region: "us-east" })),
  domains: ["z.example", "A.example", "m.example"].map((domain) => ({
    domain,
    tags: ["Web", `${domain.slice(0, 1)}-tag`],
  })),
  images: [{ label: "one" }, { label: "two" }],
};

async function find({ send }: Tested, path: string, filter: object | string): Promise<PlainAnswer> {
  return send("GET", path, undefined, { "x-filter": typeof filter === "string" ? filter : JSON.stringify(filter) });
}

async function names(tested: Tested, filter: object): Promise<string[]> {
  return (await find(tested, "/domains", filter)).body.data.map((domain: { domain: string }) => domain.domain);
}

assumption("A page past the end is 404; `page` and `page_size` out of their range are 400.", async () => {
  const { send } = await startTested({ seed: SEED });
  expect((await send("GET", "/vpcs?page=2")).status).toBe(404);
  for (const query of ["page=0", "page_size=24", "page_size=501"]) {
    expect((await send("GET", `/vpcs?${query}`)).status).toBe(400);
  }
});

assumption(
  "Domains are listed by name, images by age, everything else by id as records and VPCs are, also where a seed gave the ids.",
  async () => {
    const ids = [12, 5, 7];
    const subnets = ids.map((id) => ({ id, label: "a", ipv4: `10.0.${id}.0/24` }));
    const records = ids.map((id) => ({ id, type: "TXT" as const, target: "t" }));
    const replies = ids.map((id) => ({ id, description: "d" }));
    const tested = await startTested({
      seed: {
        ...SEED,
        vpcs: ids.map((id) => ({ id, label: "v", region: "us-east", ...(id === 5 ? { subnets } : {}) })),
        domains: [...(SEED.domains ?? []), { id: 1, domain: "b.example", records }],
        images: ids.map((id) => ({ id: `private/${id}`, label: "i" })),
        tickets: ids.map((id) => ({ id, summary: "s", description: "d", ...(id === 5 ? { replies } : {}) })),
      },
    });
    const listed = async (path: string): Promise<(number | string)[]> =>
      (await tested.send("GET", path)).body.data.map(({ id }: { id: number | string }) => id);
    expect(await names(tested, {})).toEqual(["A.example", "b.example", "m.example", "z.example"]);
    expect(await listed("/images")).toEqual(["private/12", "private/5", "private/7"]);
    const byId = ["/vpcs", "/vpcs/5/subnets", "/domains/1/records", "/support/tickets", "/support/tickets/5/replies"];
    for (const path of byId) expect([path, await listed(path)]).toEqual([path, [5, 7, 12]]);
    const { subnets: shown } = (await tested.send("GET", "/vpcs/5")).body;
    expect(shown.map(({ id }: { id: number }) => id)).toEqual([5, 7, 12]);
    await tested.send("DELETE", "/vpcs/7");
    const { body } = await tested.send("POST", "/vpcs", { label: "new", region: "us-east" });
    expect(await listed("/vpcs")).toEqual([5, 12, body.id]);
  },
);

assumption("In filters letter case matters, except for a domain's name and tags.", async () => {
  const tested = await startTested({ seed: SEED });
  expect(await names(tested, { domain: "a.EXAMPLE" })).toEqual(["A.example"]);
  expect(await names(tested, { tags: "WEB" })).toHaveLength(3);
  expect((await find(tested, "/vpcs", { label: "A" })).body.results).toBe(0);
});

assumption("In filters a number does not equal its text.", async () => {
  const tested = await startTested({ seed: { vpcs: [{ id: 7, label: "a", region: "us-east" }] } });
  expect((await find(tested, "/vpcs", { id: 7 })).body.results).toBe(1);
  expect((await find(tested, "/vpcs", { id: "7" })).body.results).toBe(0);
});

assumption("`+contains` on tags looks at each tag, and `+neq` finds what has no such tag.", async () => {
  const tested = await startTested({ seed: SEED });
  expect(await names(tested, { tags: { "+contains": "eb" } })).toHaveLength(3);
  expect(await names(tested, { tags: { "+neq": "z-tag" } })).toEqual(["A.example", "m.example"]);
});

assumption(
  "`+order_by` takes the filterable fields, the columns of the web client and what clients were seen to order domains by, in the outermost object only.",
  async () => {
    const tested = await startTested({ seed: SEED });
    expect(await names(tested, { "+order_by": "domain", "+order": "desc" })).toEqual([
      "z.example",
      "m.example",
      "A.example",
    ]);
    expect((await find(tested, "/domains", { "+order_by": "retry_sec" })).status).toBe(400);
    expect((await find(tested, "/domains", { "+and": [{ "+order_by": "domain" }] })).status).toBe(400);
  },
);

assumption("An image's `+order_by` status is 400.", async () => {
  const tested = await startTested({ seed: SEED });
  expect((await find(tested, "/images", { "+order_by": "status" })).status).toBe(400);
  expect((await find(tested, "/images", { "+order_by": "label" })).status).toBe(200);
});

assumption("Filters nest 32 levels deep and no deeper.", async () => {
  const tested = await startTested({ seed: SEED });
  const nested = (levels: number): string => `${'{"+and":['.repeat(levels)}{"label":"a"}${"]}".repeat(levels)}`;
  expect((await find(tested, "/vpcs", nested(32))).body.results).toBe(1);
  expect((await find(tested, "/vpcs", nested(33))).status).toBe(400);
});

assumption(
  "An X-Filter that is no JSON is `Invalid JSON`, one that is no object `Must be a JSON object`.",
  async () => {
    const tested = await startTested({ seed: SEED });
    expect((await find(tested, "/vpcs", "{")).body.errors).toEqual([{ field: "X-Filter", reason: "Invalid JSON" }]);
    expect((await find(tested, "/vpcs", "[]")).body.errors).toEqual([
      { field: "X-Filter", reason: "Must be a JSON object" },
    ]);
  },
);

assumption("Without a rate limit the headers say 800 per 120 seconds, and that all of them remain.", async () => {
  const { send } = await startTested();
  for (let time = 0; time < 3; time += 1) {
    const { headers } = await send("GET", "/vpcs");
    expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["800", "800"]);
  }
});

test("With a rate limit, all endpoints and tokens share it.", async () => {
  const { send } = await startTested({ rateLimit: { requests: 3, seconds: 60 } });
  const paths = ["/vpcs", "/domains", "/images", "/domains"];
  const answers = [];
  for (const path of paths) answers.push(await send("GET", path, undefined, { authorization: "Bearer other" }));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
});

assumption("An X-Filter is UTF-8, or Latin-1 if it cannot be UTF-8.", async () => {
  const { send } = await startTested({ seed: { images: ["Größe 漢", "GrÃ¶Ãe"].map((label) => ({ label })) } });
  // As Node sends a header: one octet a character.
  const find = async (filter: Buffer): Promise<string[]> =>
    (await send("GET", "/images", undefined, { "x-filter": filter.toString("latin1") })).body.data.map(
      ({ label }: { label: string }) => label,
    );
  expect(await find(Buffer.from('{"label":"Größe 漢"}', "utf8"))).toEqual(["Größe 漢"]);
  expect(await find(Buffer.from('{"label":{"+contains":"röß"}}', "utf8"))).toEqual(["Größe 漢"]);
  expect(await find(Buffer.from('{"label":{"+contains":"röß"}}', "latin1"))).toEqual(["Größe 漢"]);
  expect(await find(Buffer.from('{"label":"Gr\\u00f6\\u00dfe 漢"}', "utf8"))).toEqual(["Größe 漢"]);
});

assumption("A body of another content type, of broken JSON, or that is no object is 400.", async () => {
  const { send } = await startTested();
  const broken: [unknown, string][] = [
    ["a=b", "application/x-www-form-urlencoded"],
    ["{}", "text/plain"],
    ["{", "application/json"],
    ["[]", "application/json"],
    ["null", "application/json"],
  ];
  for (const [body, type] of broken) {
    expect((await send("POST", "/vpcs", body, { "content-type": type })).status).toBe(400);
  }
});

assumption("A body above 4 MiB is 413, headers above 32 KiB are 431.", async () => {
  const { send } = await startTested();
  expect((await send("POST", "/vpcs", { label: "x".repeat(4 * 1024 ** 2) })).status).toBe(413);
  expect((await send("GET", "/vpcs", undefined, { "x-filter": "x".repeat(33 * 1024) })).status).toBe(431);
});

assumption("An empty body is `{}`.", async () => {
  const { send } = await startTested({ seed: { domains: [{ id: 5, domain: "a.example" }] } });
  expect((await send("PUT", "/domains/5", "")).status).toBe(200);
  expect((await send("POST", "/vpcs", "")).body.errors).toContainEqual({ field: "label", reason: "label is required" });
});

assumption("Unknown keys of a body, and those that only the service writes, are ignored.", async () => {
  const { send } = await startTested({ seed: { domains: [{ id: 5, domain: "a.example" }] } });
  const { body } = await send("PUT", "/domains/5", {
    id: 99,
    created: "2000-01-01T00:00:00",
    colour: "red",
    group: "g",
  });
  expect(body).toMatchObject({ id: 5, group: "g" });
  expect(body).not.toHaveProperty("colour");
  expect(body.created).not.toBe("2000-01-01T00:00:00");
});
