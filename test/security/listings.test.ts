import { expect, test } from "vitest";
import { oddService, respond } from "../cli/odd-service.ts";
import { envOf, run } from "../cli/run.ts";

// What is listed and shown as it is in the account, for which no manifest is read.

const TIME = "2026-11-24T10:00:00";

function page(data: readonly object[]): string {
  return JSON.stringify({ data, page: 1, pages: 1, results: data.length });
}

test("a ticket whose replies are blanks before one letter is shown in no time", async () => {
  const description = `${" ".repeat(65_000)}x`;
  const people = { opened_by: "a", updated: TIME, updated_by: null, closed: null };
  const ticket = { id: 7, summary: "s", description, status: "open", closable: true, opened: TIME, ...people };
  const replies = Array.from({ length: 200 }, (_, index) => ({
    ...{ id: index + 1, created: TIME, created_by: "b", description, from_linode: true },
  }));
  const service = await oddService((incoming, response) => {
    const isList = incoming.url?.includes("/replies") === true;
    const body = isList ? page(replies) : JSON.stringify({ ...ticket, attachments: [], entity: null });
    respond(response, { status: 200, body });
  });
  // Each of the texts took more than a second.
  const { code, stdout } = await run(["ticket", "show", "7", "--all"], { env: envOf(service) });
  expect([code, stdout.match(/the operator's reply/g)?.length]).toEqual([0, 200]);
}, 60_000);

test("one long value of the account does not widen all rows of a list", async () => {
  const hidden = "\u202e".repeat(60_000);
  const rows = Array.from({ length: 500 }, (_, index) => ({
    ...{ vpc_id: 1, subnet_id: 1, node_id: index, interface_id: index, config_id: 1, active: true },
    ...{ address: index === 7 ? hidden : "10.0.0.1", address_range: null, nat_1_1: null, region: "us-east" },
  }));
  const service = await oddService((incoming, response) => {
    respond(response, { status: 200, body: page(incoming.url?.includes("/ips") === true ? rows : []) });
  });
  const { code, stdout } = await run(["list", "addresses"], { env: envOf(service) });
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(501);
  expect(lines.filter((line) => line.length > 200)).toHaveLength(1);
  expect(stdout).toContain("\\u{202e}".repeat(60_000));
}, 60_000);
