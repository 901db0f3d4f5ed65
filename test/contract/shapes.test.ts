/** Every object that the emulator sends has the keys and types that API.md lists and that the client declares, and no others. */

import type { APIError, Domain, DomainRecord, Image, Subnet, UploadImageResponse, VPC, VPCIP } from "@linode/api-v4";
import {
  baseRequest,
  createDomain,
  createDomainRecord,
  createImage,
  createSubnet,
  createVPC,
  getDNSZoneFile,
  getDomain,
  getDomainRecords,
  getDomains,
  getImage,
  getImages,
  getVPC,
  getVPCIPs,
  getVPCs,
  uploadImage,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import { connect, refusal } from "./client.ts";
import { type Kind, misfits } from "./kinds.ts";

// Each list holds every key that the client's type has, which the compiler checks, but those that are named beside it:
// they are newer than API.md, or beta.

const VPC_KEYS = {
  id: "integer",
  label: "text",
  description: "text",
  region: "text",
  subnets: "list",
  created: "time",
  updated: "time or null",
} as const satisfies Record<Exclude<keyof VPC, "ipv6">, Kind>;

const SUBNET_KEYS = {
  id: "integer",
  label: "text",
  ipv4: "text",
  linodes: "list",
  created: "time",
  updated: "time or null",
} as const satisfies Record<Exclude<keyof Subnet, "ipv6" | "nodebalancers">, Kind>;

const ASSIGNED_KEYS = {
  id: "integer",
  interfaces: "list",
} as const satisfies Record<keyof Subnet["linodes"][number], Kind>;

const INTERFACE_KEYS = {
  id: "integer",
  active: "boolean",
} as const satisfies Record<Exclude<keyof Subnet["linodes"][number]["interfaces"][number], "config_id">, Kind>;

const VPC_IP_KEYS = {
  active: "boolean",
  address: "text or null",
  address_range: "text or null",
  config_id: "integer",
  gateway: "text or null",
  interface_id: "integer",
  linode_id: "integer",
  nat_1_1: "text",
  prefix: "integer or null",
  region: "text",
  subnet_id: "integer",
  subnet_mask: "text",
  vpc_id: "integer",
} as const satisfies Record<
  Exclude<keyof VPCIP, "ipv6_addresses" | "ipv6_is_public" | "ipv6_range" | "nodebalancer_id">,
  Kind
>;

/** `errors` and `created` are sent, though the client declares neither. */
const DOMAIN_KEYS = {
  id: "integer",
  domain: "text",
  type: "text",
  status: "text",
  description: "text",
  group: "text",
  soa_email: "text",
  master_ips: "list",
  axfr_ips: "list",
  refresh_sec: "integer",
  retry_sec: "integer",
  expire_sec: "integer",
  ttl_sec: "integer",
  tags: "list",
  created: "time",
  updated: "time",
  errors: "text",
} as const satisfies Record<keyof Domain | "created" | "errors", Kind>;

const RECORD_KEYS = {
  id: "integer",
  type: "text",
  name: "text",
  target: "text",
  ttl_sec: "integer",
  priority: "integer",
  weight: "integer",
  port: "integer",
  protocol: "text or null",
  service: "text or null",
  tag: "text or null",
  created: "time",
  updated: "time",
} as const satisfies Record<keyof DomainRecord, Kind>;

const IMAGE_KEYS = {
  id: "text",
  label: "text",
  description: "text or null",
  status: "text",
  type: "text",
  is_public: "boolean",
  created_by: "text",
  created: "time",
  updated: "time",
  expiry: "time or null",
  eol: "time or null",
  deprecated: "boolean",
  size: "integer",
  vendor: "text or null",
  capabilities: "list",
} as const satisfies Record<
  Exclude<keyof Image, "image_sharing" | "is_shared" | "regions" | "tags" | "total_size">,
  Kind
>;

const SEED = {
  domains: [
    { domain: "plain.example" },
    { domain: "copy.example", type: "slave", master_ips: ["192.0.2.1"], axfr_ips: ["192.0.2.2"], tags: ["aaa"] },
  ],
  images: [
    { id: "node/debian12", label: "Debian 12", vendor: "Debian", eol: "2028-06-30T00:00:00" },
    { id: "private/7", label: "left over", type: "automatic", expiry: "2030-01-01T00:00:00", description: null },
  ],
  disks: [{ id: 123, label: "boot", size: 2_048 }],
} as const;

test("a VPC, its subnets, their nodes and interfaces have the keys of API.md", async () => {
  const { emulator } = await connect();
  const created = await createVPC({ label: "a", region: "us-east", subnets: [{ label: "b", ipv4: "10.0.0.0/24" }] });
  const subnet = await createSubnet(created.id, { label: "c", ipv4: "10.0.1.0/24" });
  await emulator.attach({ subnet_id: subnet.id, node_id: 1, interface_id: 2, active: true, config_id: 3 });
  const vpcs = [created, await getVPC(created.id), ...(await getVPCs()).data];
  const subnets = [subnet, ...vpcs.flatMap((vpc) => vpc.subnets)];
  const assigned = subnets.flatMap(({ linodes }) => linodes);
  expect(vpcs.flatMap((vpc) => misfits(vpc, VPC_KEYS))).toEqual([]);
  expect(subnets.flatMap((one) => misfits(one, SUBNET_KEYS))).toEqual([]);
  expect(assigned.flatMap((one) => misfits(one, ASSIGNED_KEYS))).toEqual([]);
  expect(assigned.flatMap(({ interfaces }) => interfaces.flatMap((one) => misfits(one, INTERFACE_KEYS)))).toEqual([]);
  expect([vpcs.length, subnets.length, assigned.length]).toEqual([3, 6, 2]);
});

test("an address has the keys of API.md, with and without an address", async () => {
  const { emulator } = await connect();
  const vpc = await createVPC({ label: "a", region: "us-east", subnets: [{ label: "b", ipv4: "10.0.0.0/24" }] });
  const place = { subnet_id: vpc.subnets[0]?.id ?? 0, node_id: 1, active: true };
  await emulator.attach({ ...place, interface_id: 2, config_id: 3 });
  await emulator.attach({ ...place, interface_id: 4, config_id: 5, address: null });
  const { data } = await getVPCIPs(vpc.id);
  expect(data.flatMap((address) => misfits(address, VPC_IP_KEYS))).toEqual([]);
  expect(data.map(({ address }) => address)).toEqual(["10.0.0.2", null]);
});

test("a domain, a record of each type and a zone file have the keys of API.md", async () => {
  await connect({ seed: SEED });
  const created = await createDomain({ domain: "new.example", type: "master", soa_email: "admin@example.com" });
  const domains = [created, await getDomain(created.id), ...(await getDomains()).data];
  expect(domains.flatMap((domain) => misfits(domain, DOMAIN_KEYS))).toEqual([]);
  expect(domains.length).toBe(5);
  const records: Partial<DomainRecord>[] = [
    { type: "A", target: "192.0.2.1" },
    { type: "AAAA", target: "2001:db8::1" },
    { type: "NS", name: "sub", target: "ns.example.net" },
    { type: "MX", target: "mail.example.net" },
    { type: "CNAME", name: "www", target: "example.net" },
    { type: "TXT", target: "text" },
    { type: "SRV", service: "sip", protocol: "tcp", target: "sip", priority: 1, weight: 2, port: 3 },
    { type: "PTR", name: "host", target: "example.net" },
    { type: "CAA", target: "example.net", tag: "iodef" },
  ];
  const sent: DomainRecord[] = [];
  for (const record of records) sent.push(await createDomainRecord(created.id, record));
  sent.push(...(await getDomainRecords(created.id)).data);
  expect(sent.flatMap((record) => misfits(record, RECORD_KEYS))).toEqual([]);
  expect(sent.length).toBe(18);
  const zoneFile = await getDNSZoneFile(created.id);
  expect(misfits(zoneFile, { zone_file: "list" })).toEqual([]);
  expect(zoneFile.zone_file.every((line) => typeof line === "string")).toBe(true);
});

test("an image has the keys of API.md, whether public, automatic, captured or being uploaded", async () => {
  await connect({ seed: SEED });
  const captured = await createImage({ disk_id: 123 });
  const upload: UploadImageResponse = await uploadImage({ label: "golden", region: "us-east" });
  const images = [captured, upload.image, await getImage(captured.id), ...(await getImages()).data];
  expect(images.flatMap((image) => misfits(image, IMAGE_KEYS))).toEqual([]);
  expect(images.length).toBe(7);
  expect(misfits(upload, { image: "object", upload_to: "text" })).toEqual([]);
});

test("a list has four keys, and an error its reason and at most its field", async () => {
  await connect({ seed: { domains: [{ id: 9, domain: "plain.example" }] } });
  const list = { data: "list", page: "integer", pages: "integer", results: "integer" } as const;
  for (const got of [await getVPCs(), await getDomains(), await getImages()]) expect(misfits(got, list)).toEqual([]);
  const general = await refusal(getVPC(1));
  expect(general.errors).toEqual([{ reason: "Not found" }] satisfies APIError[]);
  const { errors } = await refusal(createDomainRecord(9, { type: "SRV" }));
  expect(errors.flatMap((error) => misfits(error, { reason: "text", field: "text" }))).toEqual([]);
  expect(errors.length).toBeGreaterThan(1);
});

test("nothing that is sent says node where the service says linode", async () => {
  const { emulator } = await connect({ seed: SEED });
  const vpc = await createVPC({ label: "a", region: "us-east", subnets: [{ label: "b", ipv4: "10.0.0.0/24" }] });
  const subnet_id = vpc.subnets[0]?.id ?? 0;
  await emulator.attach({ subnet_id, node_id: 1, interface_id: 2, active: true, config_id: 3 });
  const paths = ["/vpcs", `/vpcs/${vpc.id}/subnets`, "/vpcs/ips", "/networking/vpcs/ips", "/images", "/domains"];
  const bodies = await Promise.all(paths.map((path) => baseRequest.get(`https://api.linode.com/v4${path}`)));
  const text = JSON.stringify(bodies.map(({ data }) => data));
  expect(text).not.toMatch(/node(?<!linode)/);
  expect(text).toContain('"linodes":[{"id":1,');
  expect(text).toContain('"linode_id":1');
  expect(text).toContain('"id":"linode/debian12"');
  expect(text).toContain('"created_by":"linode"');
});
