/** Which scope an operation needs, so that a refusal can say what the token lacks (API.md, Authentication). */

import type { Method } from "../model/exchange.ts";

/**
 * @param path below the base URL, for example `/domains/12/records`
 * @returns null where the specification does not show it: for reading VPCs and subnets
 */
export function neededScope(method: Method, path: string): string | null {
  const [area, ...rest] = path.split("/").filter((segment) => segment !== "");
  const access = method === "GET" ? "read_only" : "read_write";
  switch (area) {
    case "domains":
      return `domains:${access}`;
    case "images":
      // Only a capture reads a node's disk.
      return method === "POST" && rest.length === 0 ? "images:read_write and nodes:read_only" : `images:${access}`;
    case "networking":
      return "ips:read_only";
    case "support":
      return `account:${access}`;
    case "vpcs":
      if (rest.at(-1) === "ips") return "ips:read_only";
      return method === "GET" ? null : "vpc:read_write";
    default:
      return null;
  }
}
