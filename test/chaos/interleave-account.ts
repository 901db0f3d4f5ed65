/** What the account holds, read past the gates: what is others' byte for byte, and what is there of a manifest. */

import type { Seed } from "../../src/emulator/index.ts";
import type { Api } from "../../src/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import type { Manifest } from "./interleave-manifest.ts";
import { DISKS, FOREIGN } from "./interleave-scenarios.ts";

export interface Account {
  readonly vpcs: readonly JsonObject[];
  readonly domains: readonly JsonObject[];
  readonly images: readonly JsonObject[];
}

export async function readRoots(api: Api): Promise<Account> {
  const [vpcs, domains, images] = await Promise.all([
    list(api, ["vpcs"]),
    list(api, ["domains"]),
    list(api, ["images"], { is_public: false }),
  ]);
  return { vpcs, domains, images };
}

/** All that is others', as the service says it, `updated` included. Empty records of a domain that is gone. */
export async function readForeign(api: Api, { vpcs, domains, images }: Account): Promise<readonly string[]> {
  const ids: { readonly [kind: string]: readonly (number | string)[] } = FOREIGN;
  const isForeign = (kind: string) => (item: JsonObject) => (ids[kind] ?? []).includes(item["id"] as number | string);
  const homes = domains.filter(({ id }) => HOMES.includes(id as number));
  const records = await Promise.all(homes.map(({ id }) => list(api, ["domains", String(id), "records"])));
  return [
    ...vpcs.filter(isForeign("vpcs")),
    ...domains.filter(isForeign("domains")),
    ...images.filter(isForeign("images")),
    ...records.flat().filter(isForeign("records")),
  ].map((item) => JSON.stringify(item));
}

/** Domains with records of others. */
const HOMES: readonly number[] = [30_001, 30_003, 30_004];

/** What of the manifest is not there exactly once, or is there beside it, in words; empty if all is as declared. */
export async function differences(api: Api, manifest: Manifest, account: Account): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { label, id, subnets } of manifest.vpcs ?? []) {
    const same = meant(account.vpcs, label, id);
    expectOne(found, `vpc ${label}`, same.length);
    const have = (same[0]?.["subnets"] as readonly JsonObject[] | undefined) ?? [];
    compare(found, `subnets of ${label}`, have.map(subnetText), subnets.map(subnetText));
  }
  for (const { label, id } of manifest.images ?? []) {
    const same = meant(account.images, label, id);
    expectOne(found, `image ${label}`, same.length);
    if (same[0]?.["status"] === "pending_upload") found.push(`image ${label} has no data`);
  }
  for (const { domain, records, ignore } of manifest.domains ?? []) {
    const same = account.domains.filter((item) => item["domain"] === domain);
    expectOne(found, `domain ${domain}`, same.length);
    if (same[0]?.["status"] !== "active") found.push(`domain ${domain} is not active`);
    const items = same[0] === undefined ? [] : await list(api, ["domains", String(same[0]["id"]), "records"]);
    const have = items.map(recordText).filter((text) => ignore === undefined || !text.startsWith("_acme-challenge"));
    compare(found, `records of ${domain}`, have, records.map(recordText));
  }
  for (const { domain } of manifest.removed ?? []) {
    if (account.domains.some((item) => item["domain"] === domain)) found.push(`domain ${domain} is still there`);
  }
  return found;
}

/** What a destroy of the manifest ought to have deleted: declared, and with the owner's tag. */
export function remains({ owner, vpcs, domains, images }: Manifest, account: Account): readonly string[] {
  const tag = `tenon:${owner}`;
  const labelled = (items: readonly JsonObject[], entries: readonly { readonly label: string }[]) =>
    items
      .filter(({ label }) => entries.some((entry) => entry.label === label))
      .filter(({ description }) => String(description ?? "").endsWith(`[${tag}]`))
      .map(({ label }) => `${String(label)} is still there`);
  const named = account.domains
    .filter(({ tags }) => (tags as readonly string[]).includes(tag))
    .filter((item) => (domains ?? []).some(({ domain }) => item["domain"] === domain))
    .map(({ domain }) => `${String(domain)} is still there`);
  return [...labelled(account.vpcs, vpcs ?? []), ...labelled(account.images, images ?? []), ...named];
}

/** The account as the seed of another. */
export async function copyOf(api: Api): Promise<Seed> {
  const { vpcs, domains, images } = await readRoots(api);
  const filled = await Promise.all(
    domains.map(async (domain) => ({
      ...domain,
      records: await list(api, ["domains", String(domain["id"]), "records"]),
    })),
  );
  return { vpcs, domains: filled, images, disks: DISKS } as unknown as Seed;
}

/** An upload that is begun anew gets another id, and is found by its label again. */
function meant(items: readonly JsonObject[], label: string, id: string | number | undefined): readonly JsonObject[] {
  const withId = items.filter((item) => id !== undefined && item["id"] === id);
  return withId.length > 0 ? withId : items.filter((item) => item["label"] === label);
}

function expectOne(found: string[], what: string, count: number): void {
  if (count !== 1) found.push(`${what} is there ${count} times`);
}

function compare(found: string[], what: string, have: readonly string[], want: readonly string[]): void {
  const [left, right] = [[...have].sort().join("; "), [...want].sort().join("; ")];
  if (left !== right) found.push(`${what} are ${left}, not ${right}`);
}

function subnetText({ label, ipv4 }: { readonly label?: unknown; readonly ipv4?: unknown }): string {
  return `${String(label)} ${String(ipv4)}`;
}

type Named = { readonly [Field in "name" | "type" | "target" | "ttl_sec"]?: unknown };

function recordText({ name, type, target, ttl_sec }: Named): string {
  const plain = String(target).replace(/\.$/, "");
  return `${name === "@" ? "" : String(name)} ${String(type)} ${plain} ${String(ttl_sec)}`;
}

async function list(api: Api, path: readonly string[], filter?: JsonObject): Promise<readonly JsonObject[]> {
  const answer = await api.list({ path, ...(filter === undefined ? {} : { filter }) });
  if (!answer.ok) throw new Error(`${path.join("/")}: ${answer.failure.message}`);
  return answer.items;
}
