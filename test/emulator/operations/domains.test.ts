/** That every operation on domains and records does what API.md says; the import has a file of its own. */

import { expect, test } from "vitest";
import { operation } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";

function start(): Promise<Tested> {
  return startTested({
    seed: {
      domains: [
        {
          id: 5,
          domain: "a.example",
          tags: ["web"],
          ttl_sec: 300,
          records: [
            { id: 1, type: "A", name: "www", target: "192.0.2.1" },
            { id: 2, type: "MX", target: "mx.example.net", priority: 10 },
          ],
        },
        { id: 6, domain: "b.example", type: "slave", master_ips: ["192.0.2.53"] },
      ],
    },
  });
}

operation("Domains List", () => {
  test("lists the domains, and finds them by a filter", async () => {
    const { send } = await start();
    expect((await send("GET", "/domains")).body).toMatchObject({ page: 1, pages: 1, results: 2 });
    const found = await send("GET", "/domains", undefined, { "x-filter": JSON.stringify({ domain: "b.example" }) });
    expect(found.body.data).toMatchObject([{ id: 6, type: "slave", status: "active" }]);
  });
});

operation("Domain Create", () => {
  test("makes a domain that is active, and whose every other field is empty", async () => {
    const { send } = await start();
    const { status, body } = await send("POST", "/domains", {
      domain: "new.example",
      type: "master",
      soa_email: "a@b.c",
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "active", tags: [], group: "", axfr_ips: [], master_ips: [], ttl_sec: 0 });
    expect((await send("GET", `/domains/${body.id}`)).body).toEqual(body);
  });
});

operation("Domain View", () => {
  test("shows one domain", async () => {
    const { send } = await start();
    expect((await send("GET", "/domains/5")).body).toMatchObject({ id: 5, domain: "a.example", tags: ["web"] });
    expect((await send("GET", "/domains/9")).status).toBe(404);
  });
});

operation("Domain Update", () => {
  test("changes what is sent and nothing else, the state among it", async () => {
    const { send } = await start();
    const before = (await send("GET", "/domains/5")).body;
    const { body } = await send("PUT", "/domains/5", { status: "disabled", group: "g" });
    expect(body).toEqual({ ...before, status: "disabled", group: "g", updated: body.updated });
    expect((await send("GET", "/domains/5/zone-file")).body.zone_file).toEqual([]);
    expect((await send("PUT", "/domains/5", { status: "active" })).body.status).toBe("active");
    expect((await send("GET", "/domains/5/zone-file")).body.zone_file).not.toEqual([]);
  });
});

operation("Domain Delete", () => {
  test("deletes the domain and all of its records", async () => {
    const { send } = await start();
    expect(await send("DELETE", "/domains/5")).toMatchObject({ status: 200, body: {} });
    for (const path of ["/domains/5", "/domains/5/records", "/domains/5/records/1"]) {
      expect((await send("GET", path)).status).toBe(404);
    }
  });
});

operation("Domain Clone", () => {
  test("copies the domain and all of its records under new ids", async () => {
    const { send } = await start();
    const { body } = await send("POST", "/domains/5/clone", { domain: "copy.example" });
    expect(body).toMatchObject({ domain: "copy.example", tags: ["web"], ttl_sec: 300 });
    const values = async (id: number): Promise<unknown[]> => {
      const { data } = (await send("GET", `/domains/${id}/records`)).body;
      return data.map(({ id: _id, created: _c, updated: _u, ...rest }: Record<string, unknown>) => rest);
    };
    expect(await values(body.id)).toEqual(await values(5));
    const copies = (await send("GET", `/domains/${body.id}/records`)).body.data.map(
      (record: { id: number }) => record.id,
    );
    expect(copies).not.toContain(1);
  });
});

operation("Domain Records List", () => {
  test("lists the records by id, and finds them by a filter", async () => {
    const { send } = await start();
    expect((await send("GET", "/domains/5/records")).body).toMatchObject({ results: 2, data: [{ id: 1 }, { id: 2 }] });
    const found = await send("GET", "/domains/5/records", undefined, { "x-filter": '{"type":"MX"}' });
    expect(found.body.data).toMatchObject([{ id: 2 }]);
  });
});

operation("Domain Record Create", () => {
  test("adds a record with every key", async () => {
    const { send } = await start();
    const { body } = await send("POST", "/domains/5/records", { type: "TXT", name: "t", target: "é", ttl_sec: 3600 });
    expect(body).toEqual({
      id: expect.any(Number),
      type: "TXT",
      name: "t",
      target: "é",
      ttl_sec: 3600,
      priority: 0,
      weight: 0,
      port: 0,
      service: null,
      protocol: null,
      tag: null,
      created: expect.any(String),
      updated: body.created,
    });
    expect((await send("GET", `/domains/5/records/${body.id}`)).body).toEqual(body);
  });
});

operation("Domain Record View", () => {
  test("shows a record of its own domain only", async () => {
    const { send } = await start();
    expect((await send("GET", "/domains/5/records/1")).body).toMatchObject({ id: 1, target: "192.0.2.1" });
    expect((await send("GET", "/domains/6/records/1")).status).toBe(404);
  });
});

operation("Domain Record Update", () => {
  test("changes what is sent and nothing else", async () => {
    const { send } = await start();
    const before = (await send("GET", "/domains/5/records/2")).body;
    const { body } = await send("PUT", "/domains/5/records/2", { priority: 20 });
    expect(body).toEqual({ ...before, priority: 20, updated: body.updated });
    expect((await send("GET", "/domains/5/records/2")).body).toEqual(body);
  });
});

operation("Domain Record Delete", () => {
  test("removes one record", async () => {
    const { send } = await start();
    expect(await send("DELETE", "/domains/5/records/1")).toMatchObject({ status: 200, body: {} });
    expect((await send("GET", "/domains/5/records")).body).toMatchObject({ results: 1, data: [{ id: 2 }] });
  });
});

operation("Domain Zone File View", () => {
  test("shows the lines of the zone", async () => {
    const { send } = await start();
    const lines: string[] = (await send("GET", "/domains/5/zone-file")).body.zone_file;
    expect(lines[0]).toBe("; a.example [5]");
    expect(lines).toContain("$TTL 300");
    expect(lines.filter((line) => /^www\s+A\s+192\.0\.2\.1$/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => /^@\s+MX\s+10\s+mx\.example\.net\.$/.test(line))).toHaveLength(1);
  });
});
