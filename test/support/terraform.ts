/** States as Terraform writes them (version 4), of resources whose attributes are those of the provider linode/linode. */

import type { JsonObject } from "../../src/model/resource.ts";

interface Resource extends JsonObject {
  readonly module?: string;
}

interface ResourceOptions {
  readonly module?: string;
  readonly mode?: "managed" | "data";
  readonly provider?: string;
  /** In the place of the one instance that has the attributes. */
  readonly instances?: readonly JsonObject[];
  /** More keys of that one instance. */
  readonly instance?: JsonObject;
}

export function resource(
  type: string,
  name: string,
  attributes: JsonObject | undefined,
  { module, mode = "managed", provider, instances, instance = {} }: ResourceOptions = {},
): Resource {
  return {
    ...(module === undefined ? {} : { module }),
    ...{ mode, type, name },
    provider: provider ?? `provider["registry.terraform.io/${type.split("_")[0]}/${type.split("_")[0]}"]`,
    instances: instances ?? [
      { schema_version: 0, attributes: attributes ?? {}, sensitive_attributes: [], ...instance },
    ],
  };
}

/** Attributes of a `linode_domain_record`, by default of an A. */
export function recordOf(id: number, domain_id: number, attributes: JsonObject): JsonObject {
  return {
    ...{ domain_id, id: String(id), name: "", port: 0, priority: 0, protocol: "", record_type: "A", service: "" },
    ...{ tag: "", target: "", ttl_sec: 0, weight: 0 },
    ...attributes,
  };
}

export function stateOf(resources: readonly JsonObject[]): string {
  const head = { version: 4, terraform_version: "1.11.4", serial: 1, lineage: "c0ffee", outputs: {} };
  return `${JSON.stringify({ ...head, resources, check_results: null }, null, 2)}\n`;
}
