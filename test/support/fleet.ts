/** Fleets of emulated accounts. */

import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { emulator, folder } from "../cli/run.ts";

export const PROJECT: string = `tenon: 1
owner: edge
variables: { domain: {}, address: { default: 192.0.2.1 } }
domains:
  - domain: "\${var.domain}"
    type: master
    soa_email: a@a.example
    records: [{ type: A, name: www, target: "\${var.address}" }, { type: TXT, name: grüße, target: "«\${var.domain}»" }]
`;

export interface Account {
  readonly name: string;
  readonly service: Emulator;
}

/** `env`: their tokens. */
interface EmulatedFleet {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly accounts: readonly Account[];
}

/** A fleet whose accounts share a project, each with an emulator and a token of its own. */
export async function fleetOf(count: number, options: EmulatorOptions = {}): Promise<EmulatedFleet> {
  const names = Array.from({ length: count }, (_, index) => `a${index + 1}`);
  const accounts = await Promise.all(names.map(async (name) => ({ name, service: await emulator(options) })));
  const cwd = await folder({ "project/tenon.yaml": PROJECT, "fleet.yaml": fileOf(accounts) });
  const env = Object.fromEntries(names.map((name) => [variableOf(name), "emulator-token"]));
  return { cwd, env, accounts };
}

function variableOf(name: string): string {
  return `TOKEN_${name.toUpperCase()}`;
}

export function fileOf(accounts: readonly Account[]): string {
  const entries = accounts.map(({ name, service }, index) => {
    const labels = `labels: { tier: ${index % 2 === 0 ? "gold" : "tin"} }`;
    const address = `base_url: "${service.baseUrl}", token: { env: ${variableOf(name)} }`;
    return `  - { name: ${name}, ${address}, variables: { domain: ${name}.example }, ${labels} }\n`;
  });
  return `fleet: 1\ndefaults: { project: ./project }\naccounts:\n${entries.join("")}`;
}

export async function domainsOf({ service }: Account): Promise<string[]> {
  const answer = await fetch(`${service.baseUrl}/domains`, { headers: { authorization: "Bearer emulator-token" } });
  return ((await answer.json()) as { data: { domain: string }[] }).data.map(({ domain }) => domain);
}
