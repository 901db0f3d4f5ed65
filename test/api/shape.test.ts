/** A service that answers 200 with objects of another shape: the reader is told which field, and nothing is planned. */

import { expect, onTestFinished, test } from "vitest";
import { allowedSeconds, createApi, loadProject, planProject } from "../../src/index.ts";
import { oddService, respond } from "../cli/odd-service.ts";
import { folder } from "../cli/run.ts";

const VPC = { id: 1, label: "prod", description: "", region: "us-east", subnets: [] };
const SUBNET = { id: 2, label: "web", ipv4: "10.0.0.0/24", nodes: [] };
const DOMAIN = { id: 3, domain: "a.example", type: "master", status: "active", tags: [], master_ips: [], axfr_ips: [] };
const IMAGE = { id: "private/4", label: "golden", status: "available", type: "manual", is_public: false };
const RECORD = { id: 5, type: "A", name: "www", target: "192.0.2.1", ttl_sec: 0 };
const MANIFEST = `tenon: 1
owner: edge
domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [] }]
`;

/** Plans with what a service has, by the end of the path. */
async function planned(lists: Readonly<Record<string, unknown>>): Promise<string> {
  const { baseUrl } = await oddService((request, response) => {
    const name = new URL(request.url ?? "", "http://localhost").pathname.split("/").at(-1) ?? "";
    const data = name in lists ? [lists[name]] : name === "domains" ? [DOMAIN] : [];
    respond(response, { status: 200, body: JSON.stringify({ data, page: 1, pages: 1, results: data.length }) });
  });
  const api = await createApi({ baseUrl, token: "emulator-token", retryForSeconds: 0 });
  onTestFinished(() => api.close());
  const directory = await folder({ "tenon.yaml": MANIFEST });
  const { project } = await loadProject({ directory, allowedSeconds: allowedSeconds("node") });
  if (project === null) throw new Error("the manifest is wrong");
  const result = await planProject({ desired: project.desired, api, goal: "apply", nowMilliseconds: 0 });
  return result.ok ? "a plan" : `${result.what}: ${result.failure.type}: ${result.failure.message}`;
}

test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
  ["a VPC without subnets", { vpcs: { ...VPC, subnets: undefined } }, /^the list of VPCs: .*\/vpcs: `subnets` is/],
  ["a VPC whose label is a number", { vpcs: { ...VPC, label: 7 } }, /^the list of VPCs: .*`label` is/],
  ["a subnet that is null", { vpcs: { ...VPC, subnets: [null] } }, /^the list of VPCs: .*`subnets\[0\]` is/],
  [
    "a subnet without nodes",
    { vpcs: { ...VPC, subnets: [SUBNET, { ...SUBNET, nodes: null }] } },
    /^the list of VPCs: .*`subnets\[1\]\.nodes` is/,
  ],
  ["a domain without a name", { domains: { ...DOMAIN, domain: undefined } }, /^the list of domains: .*`domain` is/],
  ["a domain whose tags are a text", { domains: { ...DOMAIN, tags: "x" } }, /^the list of domains: .*`tags` is/],
  ["a record without a name", { records: { ...RECORD, name: null } }, /^the records of a\.example: .*`name` is/],
  ["an image without an id", { images: { ...IMAGE, id: undefined } }, /^the list of images: .*`id` is/],
])("%s is no object of its list", async (_, lists, expected) => {
  const told = await planned(lists);
  expect(told).toMatch(expected);
  expect(told).toMatch(/: malformed: .* is missing or of another type$/);
});

test("what holds all that is needed is planned with, whatever it says beside", async () => {
  const lists = { vpcs: { ...VPC, subnets: [SUBNET], more: {} }, images: IMAGE, records: RECORD };
  expect(await planned(lists)).toBe("a plan");
});
