/** Services that are known by name: where they are, what they say for node, and where their other tools look for a token. */

export interface Service {
  readonly name: string;
  /** The public address, with `/v4`. */
  readonly baseUrl: string;
  /** The word it uses where API.md says `node`. */
  readonly dialect: string;
  /** The environment variable from which the service's other tools take their token. */
  readonly tokenVariable: string;
}

export const SERVICES: readonly Service[] = [
  { name: "linode", baseUrl: "https://api.linode.com/v4", dialect: "linode", tokenVariable: "LINODE_TOKEN" },
];

export function serviceCalled(name: string): Service | null {
  return SERVICES.find((service) => service.name === name) ?? null;
}

/** The service at that host, whatever version its path names; null: none that is known. Text that is no URL is at no host. */
export function serviceAt(baseUrl: string): Service | null {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : null;
  return SERVICES.find((service) => new URL(service.baseUrl).host === host) ?? null;
}
