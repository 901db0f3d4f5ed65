/** A manifest entry's type and its JSON Schema say the same: the compiler refuses a schema with another key, type or list of values. */

import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const HEAD = `import type { EntrySchema } from "../../src/model/entry.ts";
interface Inner { readonly off?: boolean }
interface Entry {
  readonly label?: string;
  readonly count?: number;
  readonly mode?: "a" | "b" | null;
  readonly names?: string | readonly string[];
  readonly inner?: Inner;
}
`;

const FIELDS = {
  label: '{ type: "string" }',
  count: '{ type: "integer" }',
  mode: '{ type: ["string", "null"], enum: ["a", "b", null] }',
  names: '{ type: ["string", "array"], items: { type: "string" } }',
  inner: '{ type: "object", properties: { off: { type: "boolean" } } }',
};

type Fields = Readonly<Record<string, string | undefined>>;

/** Which of the schemas of these fields, each a line of one file, the compiler finds fault with. */
function refused(schemas: readonly Fields[]): Fields[] {
  const lines = schemas.map((fields, index) => {
    const list = Object.entries(fields).flatMap(([key, schema]) => (schema === undefined ? [] : [`${key}: ${schema}`]));
    return `const S${index}: EntrySchema<Entry> = { type: "object", properties: { ${list.join(", ")} } };\n`;
  });
  const file = join(import.meta.dirname, "virtual.ts");
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  const source = ts.createSourceFile(file, HEAD + lines.join(""), ts.ScriptTarget.ES2023);
  host.getSourceFile = (name, version) => (name === file ? source : read(name, version));
  const diagnostics = ts.createProgram([file], options, host).getSemanticDiagnostics(source);
  const wrong = new Set(diagnostics.map(({ start = 0 }) => source.getLineAndCharacterOfPosition(start).line));
  const first = HEAD.split("\n").length - 1;
  return schemas.filter((_, index) => wrong.has(first + index));
}

test("a schema of the same keys, types and values compiles; each that differs in one does not", () => {
  const others: Fields[] = [
    { label: undefined },
    { other: '{ type: "string" }' },
    { label: '{ type: "integer" }' },
    { count: '{ type: "string" }' },
    { mode: '{ type: ["string", "null"] }' },
    { mode: '{ type: ["string", "null"], enum: ["a", "c", null] }' },
    { mode: '{ type: "string", enum: ["a", "b"] }' },
    { names: '{ type: "string" }' },
    { names: '{ type: ["string", "array"], items: { type: "integer" } }' },
    { inner: '{ type: "object", properties: { on: { type: "boolean" } } }' },
  ].map((other) => ({ ...FIELDS, ...other }));
  const referring = { ...FIELDS, inner: '{ $ref: "#/$defs/inner" }' };
  expect(refused([FIELDS, referring, ...others])).toEqual(others);
});
