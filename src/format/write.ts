/** Data → the text of a manifest, in the form that `tenon fmt` keeps. */

import type { JsonObject } from "../model/resource.ts";
import { escapeYaml, isPlainlyVisible } from "../render/escape.ts";
import { layOut } from "./layout.ts";
import { textOf } from "./text.ts";

export interface WriteOptions {
  /** Whether records are sorted, and those that differ by their target alone are joined. */
  readonly arrangesRecords: boolean;
  /** For the first line, without its `#`. */
  readonly comment?: string;
}

/**
 * Newline-terminated. What is not plainly visible is escaped.
 * @param manifest texts as they shall stand in it: references are not escaped here
 */
export async function writeManifest(manifest: JsonObject, options: WriteOptions): Promise<string> {
  const yaml = await import("yaml");
  const document = new yaml.Document(manifest, { aliasDuplicateObjects: false });
  layOut(document, yaml, { isNew: true, arrangesRecords: options.arrangesRecords });
  yaml.visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "string" && !isPlainlyVisible(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  const text = escapeYaml(textOf(document, yaml));
  return options.comment === undefined ? text : `# ${options.comment}\n${text}`;
}
