/** Which lists of several pages are confirmed before an apply: those in which its steps make or delete something. */

import { expect, test } from "vitest";
import { LongLists } from "../../src/live/long-lists.ts";
import type { ListRequest, ReadApi } from "../../src/model/api.ts";
import type { Step } from "../../src/model/plan.ts";

function listing(pages: number): { readonly api: ReadApi; readonly asked: string[] } {
  const asked: string[] = [];
  const list = async ({ path }: ListRequest) => {
    asked.push(path.join("/"));
    return { ok: true as const, items: [{ id: 1 }], total: 1, pages };
  };
  return { asked, api: { requestCount: 0, list, get: () => Promise.reject(new Error("nothing is read by itself")) } };
}

const step = (method: string, ...path: string[]) => ({ type: "request", method, path }) as unknown as Step;

test.each([
  [["POST", "vpcs"], "vpcs"],
  [["POST", "vpcs", "3", "subnets"], "vpcs"],
  [["POST", "images", "upload"], "images"],
  [["POST", "domains", "import"], "domains"],
  [["POST", "domains", "3", "clone"], "domains"],
  [["POST", "domains", "3", "records"], "domains/3/records"],
  [["DELETE", "domains", "3", "records", "4"], "domains/3/records"],
  [["DELETE", "images", "private/7"], "images"],
  [["PUT", "domains", "3"], null],
] as const)("%j is confirmed in %s", async (request, path) => {
  const { api, asked } = listing(2);
  const lists = new LongLists(api);
  for (const read of ["vpcs", "images", "domains", "domains/3/records"]) await lists.list({ path: read.split("/") });
  asked.length = 0;
  const [method, ...parts] = request;
  expect(await lists.hold([step(method, ...parts)])).toBe(true);
  expect(asked).toEqual(path === null ? [] : [path]);
});

test("a list of one page is one moment of the account, and needs no second look", async () => {
  const { api, asked } = listing(1);
  const lists = new LongLists(api);
  await lists.list({ path: ["images"] });
  expect(await lists.hold([step("POST", "images", "upload")])).toBe(true);
  expect(asked).toEqual(["images"]);
});
