/** The import of a domain from a nameserver that allows its transfer. */

import { TRANSFER_LIMITS, type TransferLimits, transferZone } from "../../dns/transfer.ts";
import { type NameserverAddress, parseNameserver } from "../../dns/transfer-address.ts";
import type { TransferredRecord } from "../../dns/transfer-reading.ts";
import { readDomain, readDomainName } from "../domain-rules.ts";
import type { Answer } from "../errors.ts";
import { badRequest, succeed } from "../errors.ts";
import { BodyReader } from "../fields.ts";
import type { RecordValues } from "../record-rules.ts";
import type { Call, JsonBody, Route, Service } from "../route.ts";
import { accountOf } from "../route.ts";
import type { DomainRow } from "../rows.ts";
import { importedDomain, importRecords } from "../zone-import.ts";
import { domainContext, domainView } from "./domains.ts";

/** A client waits for the whole of it. */
const IMPORT_MILLISECONDS = 20_000;

const IMPORT_LIMITS: TransferLimits = { ...TRANSFER_LIMITS, totalMilliseconds: IMPORT_MILLISECONDS };

/** A name without its final dot, or an address in brackets, and a port. */
const MAX_NAMESERVER_LENGTH = 260;

export const DOMAIN_IMPORT_ROUTES: readonly Route[] = [
  {
    operation: "Domain Import",
    method: "POST",
    path: "/domains/import",
    scopes: ["domains:read_write"],
    handle: (service, call) => importDomain(service, call, IMPORT_LIMITS),
  },
];

/** Everything is decided before anything is made, and nothing is waited for in between: a failure leaves nothing behind. */
export async function importDomain(service: Service, call: Call, limits: TransferLimits): Promise<Answer> {
  const reader = new BodyReader(call.body);
  const domain = readDomainName(reader, null, domainContext(service));
  const server = readNameserver(reader);
  if (domain === undefined || server === undefined) return badRequest(...reader.errors);
  const transfer = await transferZone({ zone: domain, server, limits, signal: service.closing });
  if (!transfer.ok) return failed(transfer.problem.detail);
  return keep(service, call, importedDomain(domain, transfer.soa), transfer.records);
}

function readNameserver(reader: BodyReader): NameserverAddress | undefined {
  if (!reader.require("remote_nameserver")) return undefined;
  const text = reader.text("remote_nameserver", { min: 1, max: MAX_NAMESERVER_LENGTH });
  if (typeof text !== "string") return undefined;
  const server = parseNameserver(text);
  if (server === null) reader.fail("remote_nameserver", "Must be a hostname or an IP address, with or without a port");
  return server ?? undefined;
}

function failed(detail: string): Answer {
  return badRequest({ reason: `The zone could not be transferred from the nameserver: ${detail}` });
}

/** The name is looked at once more: it may have been taken while the transfer went on. */
function keep(service: Service, call: Call, body: JsonBody, transferred: readonly TransferredRecord[]): Answer {
  const { values, errors } = readDomain(body, null, domainContext(service));
  if (errors.length > 0) return badRequest(...errors);
  const { roundSeconds } = service.settings;
  const zone = importRecords(transferred, { domain: values.domain, roundSeconds });
  if (!zone.ok) return failed(zone.detail);
  const created = service.clock.timestamp();
  const id = service.store.nextId("domain");
  const domain: DomainRow = { id, account: accountOf(call), ...values, created, updated: created };
  service.store.tables.domains.put(domain);
  putRecords(service, domain, zone.records);
  service.zones.created(domain);
  return succeed(domainView(domain));
}

function putRecords(service: Service, { id, created }: DomainRow, records: readonly RecordValues[]): void {
  for (const values of records) {
    service.store.tables.records.put({
      id: service.store.nextId("record"),
      domain_id: id,
      ...values,
      created,
      updated: created,
    });
  }
}
