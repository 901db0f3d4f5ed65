/** Every route of the API, one file per area. */

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
