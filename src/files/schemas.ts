/** JSON Schemas → validators. The package's own schemas are compiled when it is built: compiling one takes longer than most commands. */

import type { Options, ValidateFunction } from "ajv/dist/2020.js";
import type { JsonObject } from "../model/resource.ts";
import { packageModule, readBuiltFile } from "./package-files.ts";

/** How much is reported about a value that does not fit: all errors, each with its schema and data, or the first one alone. */
export type Reporting = "all" | "first";

const OPTIONS: Readonly<Record<Reporting, Options>> = {
  all: {
    allErrors: true,
    verbose: true,
    strict: true,
    // A branch of a `oneOf` requires keys whose properties stand beside the `oneOf`.
    strictRequired: false,
    allowUnionTypes: true,
    allowMatchingProperties: true,
    // A test validates our schemas: validating one again in each run takes longer than compiling it.
    meta: false,
    validateSchema: false,
    code: { process: withoutCopies },
  },
  first: { allErrors: false, strict: true, allowUnionTypes: true },
};

const COMPILED: Readonly<Record<Reporting, WeakMap<JsonObject, Promise<ValidateFunction>>>> = {
  all: new WeakMap(),
  first: new WeakMap(),
};

/** Draft 2020-12. A schema that the package was not built with is compiled now, once. */
export function compiledSchema(schema: JsonObject, reporting: Reporting): Promise<ValidateFunction> {
  const compiled = COMPILED[reporting].get(schema) ?? compileSchema(schema, reporting);
  COMPILED[reporting].set(schema, compiled);
  return compiled;
}

async function compileSchema(schema: JsonObject, reporting: Reporting): Promise<ValidateFunction> {
  const name = `dist/validators/${moduleName(schema, reporting)}`;
  // A validator is never taken for that of another schema of the same title. Texts are compared, as Node takes longer to load its hashes.
  if (readBuiltFile(`${name}.json`) === sourceText(schema, reporting)) {
    const built = await packageModule(`${name}.cjs`);
    if (built !== undefined) return built as ValidateFunction;
  }
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  return new Ajv2020(OPTIONS[reporting]).compile(schema);
}

/**
 * The same validator as a CommonJS module, for build.mjs, with the text that says what it was made from.
 * @public
 */
export async function schemaModule(
  schema: JsonObject,
  reporting: Reporting,
): Promise<{ readonly name: string; readonly code: string; readonly source: string }> {
  const [{ Ajv2020 }, { default: standalone }] = await Promise.all([
    import("ajv/dist/2020.js"),
    import("ajv/dist/standalone/index.js"),
  ]);
  const options = OPTIONS[reporting];
  const ajv = new Ajv2020({ ...options, code: { ...options.code, source: true } });
  const code = (standalone as unknown as typeof standalone.default)(ajv, ajv.compile(schema));
  return {
    name: moduleName(schema, reporting),
    code: reporting === "all" ? withoutCopies(code) : code,
    source: sourceText(schema, reporting),
  };
}

/** Of the schema's title. */
function moduleName({ title }: JsonObject, reporting: Reporting): string {
  const words = typeof title === "string" ? title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") : "untitled";
  return `${words}.${reporting}`;
}

/** All that the validator's code comes from. */
function sourceText(schema: JsonObject, reporting: Reporting): string {
  return JSON.stringify([reporting, schema]);
}

const COPIED_ERRORS = /vErrors\.concat\((\w+\.errors)\)/g;

/** The generated code adds a part's errors with `concat`, which copies all errors before them: that takes quadratic time. */
function withoutCopies(code: string): string {
  return code.replace(COPIED_ERRORS, "($1.forEach((error) => vErrors.push(error)), vErrors)");
}
