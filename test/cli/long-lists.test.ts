/** A list of several pages changes between two of them: an apply deletes and makes nothing because of what it saw torn. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../src/index.ts";
import { oddService } from "./odd-service.ts";
import { emulator, envOf, folder, run } from "./run.ts";

const RECORDS = Array.from({ length: 600 }, (_, index) => ({
  ...{ type: "A" as const, name: `h${index}`, target: `192.0.2.${(index % 250) + 1}`, ttl_sec: 300 },
}));

interface Row {
  readonly id: number;
  readonly name: string;
  readonly ttl_sec: number;
}

type Call = (method: string, path: string, body?: object) => Promise<{ readonly data: readonly Row[] }>;

/** An emulator with a zone of 600 records, and a service in front of it that runs `between` before the zone's second page is first read. */
async function torn(between: (call: Call, records: string) => Promise<void>) {
  const { baseUrl } = await emulator({
    seed: { domains: [{ domain: "a.example", type: "master", soa_email: "a@example.com", records: RECORDS }] },
  });
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const call: Call = async (method, path, body) => {
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: body ? JSON.stringify(body) : null });
    return (await answer.json()) as { data: Row[] };
  };
  const records = `/domains/${(await call("GET", "/domains")).data[0]?.id}/records`;
  let isDone = false;
  const service = await oddService(async (request, response) => {
    const { method = "GET", url = "/" } = request;
    if (!isDone && url.includes(`${records}?page=2`)) {
      isDone = true;
      await between(call, records);
    }
    const body = Buffer.concat(await request.toArray());
    const filter = request.headers["x-filter"];
    const answer = await fetch(new URL(url, baseUrl), {
      method,
      headers: { ...headers, ...(typeof filter === "string" ? { "x-filter": filter } : {}) },
      body: body.length > 0 ? body : null,
    });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  const all = async (): Promise<Row[]> => {
    const pages = ["1", "2"].map((page) => call("GET", `${records}?page_size=500&page=${page}`));
    return (await Promise.all(pages)).flatMap(({ data }) => data);
  };
  return { service, all, sent: service.requests };
}

function project(more: string): Promise<string> {
  const records = RECORDS.map(
    ({ name, target }) => `      - { type: A, name: ${name}, target: ${target}, ttl_sec: 300 }\n`,
  );
  const head = "tenon: 1\ndomains:\n  - domain: a.example\n    type: master\n    soa_email: a@example.com\n";
  return folder({ "tenon.yaml": `${head}${more}    records:\n${records.join("")}` });
}

/** As a client does that cannot change a record. */
function replaced(ttl_sec: number) {
  return async (call: Call, records: string): Promise<void> => {
    const old = (await call("GET", `${records}?page_size=100`)).data[3] as Row;
    await call("DELETE", `${records}/${old.id}`);
    await call("POST", records, { ...RECORDS[3], ttl_sec });
  };
}

/** The first record of the second page moves to the first page, which was read before. */
async function moved(call: Call, records: string): Promise<void> {
  const [second] = (await call("GET", `${records}?page_size=500&page=2`)).data as [Row];
  await call("PUT", `${records}/${second.id}`, { ttl_sec: 3600 });
  const old = (await call("GET", `${records}?page_size=100`)).data[3] as Row;
  await call("DELETE", `${records}/${old.id}`);
  await call("POST", records, RECORDS[3] as object);
}

test("the command makes the plan anew, and does nothing that was not shown", async () => {
  for (const [between, more] of [
    [replaced(300), ""],
    [replaced(3600), ""],
    [moved, ""],
    [moved, "    records_policy: additive\n"],
  ] as const) {
    const { service, all, sent } = await torn(between);
    const options = { cwd: await project(more), env: envOf(service) };
    const { code } = await run(["apply", "--yes"], options);
    expect([0, 5]).toContain(code);
    expect(sent.filter((request) => /^(DELETE|POST)/.test(request))).toEqual([]);
    expect((await run(["apply", "--yes"], options)).code).toBe(0);
    const left = await all();
    expect(left.map(({ name }) => name).sort()).toEqual(RECORDS.map(({ name }) => name).sort());
    // An additive zone only ever creates: the TTL that somebody else set stays.
    if (more === "") expect(left.filter(({ ttl_sec }) => ttl_sec !== 300)).toEqual([]);
  }
}, 120_000);

test("the library makes the plan anew, and does nothing that the first did not show", async () => {
  const { service, all, sent } = await torn(replaced(300));
  const dir = await project("");
  const options = { dir, baseUrl: service.baseUrl, token: "emulator-token" };
  const opened = await open(options);
  const report = await opened.apply(undefined, { journal: join(dir, "journal") });
  await opened.close();
  expect(report).toMatchObject({ added: 0, changed: 0, destroyed: 0 });
  expect(sent.filter((request) => /^(DELETE|POST)/.test(request))).toEqual([]);
  expect((await all()).length).toBe(RECORDS.length);
}, 120_000);

test("a list of several pages is read again only if something in it is made or deleted", async () => {
  for (const [name, change, reads] of [
    ["nothing changes", (text: string) => text, 2],
    ["a value changes", (text: string) => text.replace("192.0.2.1,", "192.0.2.251,"), 2],
    ["a record is deleted", (text: string) => text.replace(/ {6}- .*\n/, ""), 4],
  ] as const) {
    const { service, sent } = await torn(async () => {});
    const cwd = await project("");
    await writeFile(join(cwd, "tenon.yaml"), change(await readFile(join(cwd, "tenon.yaml"), "utf8")));
    expect((await run(["apply", "--yes"], { cwd, env: envOf(service) })).code).toBe(0);
    const found = sent.filter((request) => /^GET .*\/records\?/.test(request)).length;
    expect({ name, found }).toEqual({ name, found: reads });
  }
}, 120_000);
