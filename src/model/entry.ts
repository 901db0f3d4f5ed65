/** The type of a manifest entry beside the JSON Schema that the entry is checked against: types only, by which the compiler holds the two together. */

import type { JsonObject } from "./resource.ts";

/**
 * The JSON Schema of an object with exactly the keys of `Entry`. All keys of `Entry` are optional, those that the schema requires, too:
 * what does not fit the schema is reported and taken out before an entry is loaded. Keys that begin with `x-` are the author's own, and
 * have no type.
 *
 *   EntrySchema<{ label?: string; status?: "active" | null; tags?: readonly string[] }> has as its properties
 *   label: { type: "string" }, status: { type: ["string", "null"], enum: [...] }, tags: { type: "array", items: { type: "string" } }
 */
export type EntrySchema<Entry> = JsonObject & { readonly type: "object"; readonly properties: PropertiesOf<Entry> };

export type PropertiesOf<Entry> = { readonly [Key in keyof Entry]-?: SchemaOf<Exclude<Entry[Key], undefined>> };

/** The JSON Schema of a value of the type `Value`, or a reference to one. A list beside another type, and null, stand last. */
export type SchemaOf<Value> = JsonObject &
  (
    | { readonly $ref: `#/$defs/${string}` }
    | ({ readonly type: TypeOf<Value> } & EnumOf<Value> & ItemsOf<Extract<Value, List>> & KeysOf<Exclude<Value, Plain>>)
  );

type List = readonly unknown[];
type Plain = string | number | boolean | null | List;

type TypeOf<Value> = null extends Value
  ? readonly [TypeName<Exclude<Value, null>>, "null"]
  : [Extract<Value, List>] extends [never]
    ? TypeName<Value>
    : [Exclude<Value, List>] extends [never]
      ? "array"
      : readonly [TypeName<Exclude<Value, List>>, "array"];

type TypeName<Value> = [Value] extends [string]
  ? "string"
  : [Value] extends [number]
    ? "integer"
    : [Value] extends [boolean]
      ? "boolean"
      : [Value] extends [List]
        ? "array"
        : "object";

/** Texts of which there are only some are listed. */
type EnumOf<Value> = [Extract<Value, string>] extends [never]
  ? unknown
  : string extends Value
    ? unknown
    : { readonly enum: readonly Value[] };

type ItemsOf<Value extends List> = [Value] extends [never] ? unknown : { readonly items: SchemaOf<Value[number]> };

/** An object whose keys are anybody's, as addresses in `ptr`, has no properties to check. */
type KeysOf<Value> = [Value] extends [never]
  ? unknown
  : string extends keyof Value
    ? unknown
    : { readonly properties: PropertiesOf<Value> };
