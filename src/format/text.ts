/** A YAML document, laid out, as text. */

import type { Document, YAMLSeq } from "yaml";
import type { Yaml } from "./nodes.ts";

/** Folded text would be harder to read, to search and to compare than a long line. */
const TEXT_OPTIONS = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };

/** Newline-terminated. Mappings on one line have blanks inside their braces, lists none: `{ targets: [a, b] }`. */
export function textOf(document: Document, yaml: Yaml): string {
  yaml.visit(document, {
    Seq: (_, list) => {
      if (list.items.every((item) => yaml.isScalar(item) || yaml.isAlias(item))) tighten(list, yaml);
    },
  });
  return document.toString(TEXT_OPTIONS);
}

/** The library pads all or none. */
function tighten(list: YAMLSeq, yaml: Yaml): void {
  list.toString = (...[context, onComment, onChompKeep]: Parameters<YAMLSeq["toString"]>) => {
    const tight = context === undefined ? context : { ...context, flowCollectionPadding: "" };
    return yaml.YAMLSeq.prototype.toString.call(list, tight, onComment, onChompKeep);
  };
}
