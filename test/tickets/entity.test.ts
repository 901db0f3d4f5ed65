import { expect, test } from "vitest";
import type { ReadApi } from "../../src/model/api.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { parseEntityName, resolveEntity } from "../../src/tickets/entity.ts";

test.each([
  ["node/12", { kind: "node", id: 12 }],
  ["vpc/12", { kind: "vpc", id: 12 }],
  ["nodebalancer/1", { kind: "nodebalancer", id: 1 }],
  ["vpc/prod", { kind: "vpc", name: "prod" }],
  ["vpc/a%2Fb", { kind: "vpc", name: "a/b" }],
  ["domain/Bücher.example.", { kind: "domain", name: "xn--bcher-kva.example" }],
])("%s names an entity", (text, entity) => {
  expect(parseEntityName(text)).toEqual({ ok: true, entity });
});

test.each([
  ...["", "vpc", "vpc/", "vpc/prod/subnet/web", "domain/example.com/www/A", "image/golden", "node/web", "node/0"],
  ...["node/-1", "node/1.5", "node/12345678901234567890", "Vpc/prod", "vpc/%zz", "../vpc/1", "constructor/1"],
])("%j names none", (text) => {
  expect(parseEntityName(text)).toMatchObject({ ok: false, diagnostic: { code: "entity-invalid" } });
});

function account(items: readonly JsonObject[]): ReadApi {
  const failure = {
    type: "refused",
    effect: "none",
    status: 404,
    errors: [],
    message: "",
    maintenance: false,
  } as const;
  return {
    requestCount: 0,
    get: async () => ({ ok: false, failure: { ...failure, attempts: 1 } }),
    list: async () => ({ ok: true, items, total: items.length }),
  };
}

test("what a service that ignores the filter answers with is looked through", async () => {
  const items = [
    { id: 1, label: "Prod" },
    { id: 2, label: "prod" },
    { id: 3, label: "prod2" },
  ];
  const found = await resolveEntity(account(items), { kind: "vpc", name: "prod" });
  expect(found).toEqual({ ok: true, entity: { kind: "vpc", id: 2 } });
  const none = await resolveEntity(account([{ id: "x", label: "prod" }, {}]), { kind: "vpc", name: "prod" });
  expect(none).toMatchObject({ ok: false, diagnostic: { code: "entity-unknown" } });
  const domain = await resolveEntity(account([{ id: 4, domain: "Example.COM" }]), {
    kind: "domain",
    name: "example.com",
  });
  expect(domain).toEqual({ ok: true, entity: { kind: "domain", id: 4 } });
});

test("of many VPCs of one label ten are named", async () => {
  const items = Array.from({ length: 500 }, (_, index) => ({ id: 500 - index, label: "prod" }));
  const found = await resolveEntity(account(items), { kind: "vpc", name: "prod" });
  expect(found).toMatchObject({
    diagnostic: { detail: expect.stringMatching(/^They are vpc\/1, .*vpc\/10 and 490 more\.$/) },
  });
});
