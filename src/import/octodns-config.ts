/** octoDNS's own configuration: which folders its zones are kept in, and which TTL records have that say none. */

import type { Span } from "../model/diagnostic.ts";
import type { Value } from "./octodns-yaml.ts";

/** A provider that keeps zones in YAML files. */
export interface YamlProvider {
  readonly name: string;
  /** As it is written; null: it is not. */
  readonly directory: string | null;
  /** Seconds; null: none is said. */
  readonly defaultTtl: number | null;
}

export interface OctodnsConfig {
  readonly providers: readonly YamlProvider[];
  readonly span: Span;
}

const YAML_PROVIDER = /^octodns\.provider\.yaml\.(Split)?YamlProvider$/;

/** Quick: whether it is worth the while to read a text as a configuration. */
export function maybeConfig(text: string): boolean {
  return /^(["']?)providers\1[ \t]*:/m.test(text) && /^(["']?)zones\1[ \t]*:/m.test(text);
}

/** null: it is none. A zone may have records named `providers` and `zones`, but those have types. */
export function readConfig(value: Value): OctodnsConfig | null {
  if (value.kind !== "map") return null;
  const providers = value.entries.get("providers");
  const zones = value.entries.get("zones");
  if (providers?.value.kind !== "map" || zones?.value.kind !== "map") return null;
  if (textAt(providers.value, "type") !== null || textAt(zones.value, "type") !== null) return null;
  const found = [...providers.value.entries].flatMap(([name, { value: provider }]): YamlProvider[] => {
    if (!YAML_PROVIDER.test(textAt(provider, "class") ?? "")) return [];
    return [{ name, directory: textAt(provider, "directory"), defaultTtl: secondsAt(provider, "default_ttl") }];
  });
  return { providers: found, span: providers.span };
}

function textAt(value: Value, key: string): string | null {
  const found = value.kind === "map" ? value.entries.get(key)?.value : undefined;
  return found?.kind === "text" && found.text !== "" ? found.text : null;
}

/** null for what octoDNS takes from its environment (`env/NAME`), too. */
function secondsAt(value: Value, key: string): number | null {
  const text = textAt(value, key);
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : null;
}
