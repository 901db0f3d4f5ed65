/** Every route of the API, one file per area. */

import type { Answer } from "../errors.ts";
import { succeed } from "../errors.ts";
import type { Route } from "../route.ts";
import { DOMAIN_IMPORT_ROUTES } from "./domain-import.ts";
import { DOMAIN_ROUTES } from "./domains.ts";
import { IMAGE_ROUTES } from "./images.ts";
import { RECORD_ROUTES } from "./records.ts";
import { SUBNET_ROUTES } from "./subnets.ts";
import { TICKET_REPLY_ROUTES } from "./ticket-replies.ts";
import { TICKET_ROUTES } from "./tickets.ts";
import { VPC_IP_ROUTES } from "./vpc-ips.ts";
import { VPC_ROUTES } from "./vpcs.ts";

/** Outside API.md: a client pings it, and refuses to start without. @param word the operator's */
export function outsideRoutes(word: string): readonly Route[] {
  const handle = (): Answer => succeed({ data: [], page: 1, pages: 1, results: 0 });
  return [{ operation: "Node Types List", method: "GET", path: `/${word}/types`, scopes: [], anonymous: true, handle }];
}

export const API_ROUTES: readonly Route[] = [
  ...VPC_ROUTES,
  ...SUBNET_ROUTES,
  ...VPC_IP_ROUTES,
  ...DOMAIN_ROUTES,
  ...DOMAIN_IMPORT_ROUTES,
  ...RECORD_ROUTES,
  ...IMAGE_ROUTES,
  ...TICKET_ROUTES,
  ...TICKET_REPLY_ROUTES,
];
