/** The order of keys: of a manifest, and of each kind of entry in it. */

/** Stands for keys that have no place of their own. */
const OTHERS = "*";

export const ROOT_KEYS: readonly string[] = [
  ...["tenon", "owner", "account", "files", "variables", "environments", "defaults", "record_sets"],
  ...["vpcs", "domains", "images", "removed", "allow", "lint", OTHERS],
];

/** Short keys at the head of a manifest, which need no blank line between them. */
export const HEAD_KEYS: ReadonlySet<string> = new Set(["tenon", "owner", "account", "files"]);

const COMMON_KEYS: readonly string[] = ["id", "moved_from", "protect", "note"];

export const VPC_KEYS: readonly string[] = ["label", ...COMMON_KEYS, "region", "description", OTHERS, "subnets"];

export const SUBNET_KEYS: readonly string[] = ["label", "ipv4", "protect", "note", OTHERS];

export const DOMAIN_KEYS: readonly string[] = [
  ...[
    "domain",
    "reverse",
    ...COMMON_KEYS,
    "type",
    "status",
    "description",
    "group",
    "soa_email",
    "master_ips",
    "axfr_ips",
  ],
  ...["refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags", "lint", "create_from", "records_policy", OTHERS],
  ...["ignore", "use", "zone_file", "records"],
];

export const RECORD_KEYS: readonly string[] = [
  ...["spf", "dmarc", "dkim", "caa", "ptr"],
  ...[
    "spf",
    "dmarc",
    "dkim",
    "caa",
    "ptr",
    "type",
    "name",
    "service",
    "protocol",
    "tag",
    "target",
    "targets",
    "priority",
    "weight",
    "port",
    "ttl_sec",
  ],
  ...["override", "note", "lint", OTHERS],
];

export const IGNORE_KEYS: readonly string[] = ["preset", "txt_prefix", "txt_suffix", "name", "type", "target", OTHERS];

export const IMAGE_KEYS: readonly string[] = ["label", ...COMMON_KEYS, "description", OTHERS, "upload", "capture"];

export const REMOVED_KEYS: readonly string[] = ["vpc", "domain", "image", "id", "destroy", "ignore", OTHERS];

export const ALLOW_KEYS: readonly string[] = ["delete", "replace", "bulk", "ns", "until", "reason", OTHERS];

export const DEFAULTS_KEYS: readonly string[] = ["domain", "record", OTHERS];

/** Place of a key in an order. */
export function rankOf(order: readonly string[]): (key: string) => number {
  const ranks = new Map(order.map((key, index) => [key, index]));
  const others = ranks.get(OTHERS) ?? order.length;
  return (key) => ranks.get(key) ?? others;
}
