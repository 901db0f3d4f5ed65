/** The static type of a manifest entry, from the JSON Schema that the entry is checked against: no code, so that it costs nothing at run time. */

interface Texts {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

/**
 * What a value that was checked against `Schema` may be. Every key may be absent, required or not: what does not fit its schema is
 * reported and taken out before an entry is loaded. Keys that begin with `x-` are the author's own, and have no type.
 *
 *   EntryOf<{ properties: { label: { type: "string" }; upload: { $ref: "#/$defs/up" } } }, { up: { type: "boolean" } }>
 *   = { readonly label?: string; readonly upload?: boolean }
 *
 * @typeParam Definitions what `$ref` leads to
 */
export type EntryOf<Schema, Definitions = unknown> = Schema extends { readonly $ref: `#/$defs/${infer Name}` }
  ? Name extends keyof Definitions
    ? EntryOf<Definitions[Name], Definitions>
    : never
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly properties: infer Properties }
      ? { readonly [Key in keyof Properties]?: EntryOf<Properties[Key], Definitions> }
      : Schema extends { readonly type: "array"; readonly items: infer Item }
        ? readonly EntryOf<Item, Definitions>[]
        : Schema extends { readonly type: keyof Texts }
          ? Texts[Schema["type"]]
          : Schema extends { readonly type: readonly (infer Type)[] }
            ? Texts[Type & keyof Texts]
            : never;
