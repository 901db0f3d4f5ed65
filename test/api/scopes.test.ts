/** What a refused token lacks. */

import { expect, test } from "vitest";
import { neededScope } from "../../src/api/outcome.ts";

test.each([
  ["GET", "/domains", "domains:read_only"],
  ["POST", "/domains/1/records", "domains:read_write"],
  ["GET", "/vpcs", null],
  ["DELETE", "/vpcs/1/subnets/2", "vpc:read_write"],
  ["GET", "/vpcs/1/ips", "ips:read_only"],
  ["GET", "/networking/vpcs/ips", "ips:read_only"],
  ["GET", "/images", "images:read_only"],
  ["POST", "/images", "images:read_write and nodes:read_only"],
  ["POST", "/images/upload", "images:read_write"],
  ["POST", "/support/tickets", "account:read_write"],
] as const)("%s %s needs %s", (method, path, scope) => {
  expect(neededScope(method, path)).toBe(scope);
});
