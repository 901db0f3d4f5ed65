/** Schema-directed scalars: a field that is text in the schema gets the number or boolean as it was written. */

import type { Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import type { Places } from "./places.ts";
import { isOwnKey } from "./schema.ts";

/** Changes `tree` in place. */
export function coerceScalars(tree: JsonObject, schema: JsonObject, places: Places): void {
  new Coercion(schema, places).walk(tree, schema);
}

class Coercion {
  readonly #definitions: JsonObject;
  readonly #places: Places;

  constructor(schema: JsonObject, places: Places) {
    this.#definitions = isJsonObject(schema["$defs"]) ? schema["$defs"] : {};
    this.#places = places;
  }

  walk(value: Json, unresolved: JsonObject): void {
    const schema = this.#resolve(unresolved);
    if (Array.isArray(value)) {
      const items = schema["items"];
      if (isJsonObject(items)) for (const index of value.keys()) this.#child(value, index, items);
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        const child = this.#schemaOf(schema, key);
        if (child !== null) this.#child(value, key, child);
      }
    }
  }

  #child(container: object, key: string | number, unresolved: JsonObject): void {
    const schema = this.#resolve(unresolved);
    const values = container as Record<string | number, Json>;
    const value = values[key] as Json;
    if (typeof value !== "number" && typeof value !== "boolean") {
      this.walk(value, schema);
      return;
    }
    const types = [schema["type"]].flat();
    const fits = types.includes(typeof value) || (typeof value === "number" && types.includes("integer"));
    if (!fits && types.includes("string")) values[key] = this.#places.source(container, key) ?? String(value);
  }

  #schemaOf(schema: JsonObject, key: string): JsonObject | null {
    const properties = schema["properties"];
    const own = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const child = own ?? schema["additionalProperties"];
    return isJsonObject(child) && !isOwnKey(key) ? child : null;
  }

  #resolve(schema: JsonObject): JsonObject {
    const reference = schema["$ref"];
    if (typeof reference !== "string") return schema;
    const target = this.#definitions[reference.slice("#/$defs/".length)];
    if (!isJsonObject(target)) throw new Error(`The schema refers to ${reference}, which is not there`);
    return this.#resolve(target);
  }
}
