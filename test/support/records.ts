/** Real zones as manifests: the records of a fixture become the text that a person would have in git. */

import { readFile } from "node:fs/promises";
import { stringify } from "yaml";

export interface FixtureRecord {
  readonly type: string;
  readonly name: string;
  readonly ttl_sec: number;
  readonly target: string;
  readonly flags?: number;
  readonly [field: string]: string | number | undefined;
}

export async function fixtureRecords(file: string): Promise<FixtureRecord[]> {
  return JSON.parse(await readFile(new URL(`../fixtures/zones/${file}`, import.meta.url), "utf8")) as FixtureRecord[];
}

/** `flags` of CAA are left out: the API has none. Names keep their final dot, the apex is `@`. */
export function manifestOf(domain: string, records: readonly FixtureRecord[], ttl: number): string {
  const entries = records.map(({ flags: _, name, ttl_sec, ...rest }) => ({
    type: rest.type,
    name: name === "" ? "@" : name,
    ...(ttl_sec === ttl ? {} : { ttl_sec }),
    ...Object.fromEntries(Object.entries(rest).filter(([field]) => field !== "type")),
  }));
  const zone = { domain, type: "master", soa_email: `hostmaster@${domain}` };
  const head = stringify({ tenon: 1, defaults: { record: { ttl_sec: ttl } } });
  const lines = entries.map((entry) => `      - ${stringify(entry, { collectionStyle: "flow", lineWidth: 0 }).trim()}`);
  return `${head}domains:\n  - ${stringify(zone).trim().replaceAll("\n", "\n    ")}\n    records:\n${lines.join("\n")}\n`;
}
