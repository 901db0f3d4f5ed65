/** What must be known of a YAML document before anything in it is moved: where its comments and anchors are. */

import type { Document, Node } from "yaml";
import type { Yaml } from "./nodes.ts";

export interface Surroundings {
  /** Collections with an anchor or an alias somewhere in them: what is in them keeps its order. */
  readonly anchored: ReadonlySet<unknown>;
  /** Collections with a comment or a text of several lines in them: they cannot be put on one line. */
  readonly open: ReadonlySet<unknown>;
  /** Nodes that are the value of a key, not an entry of a list. */
  readonly values: ReadonlySet<unknown>;
}

export function surroundings(document: Document, yaml: Yaml): Surroundings {
  const anchored = new Set<unknown>();
  const open = new Set<unknown>();
  const values = new Set<unknown>();
  yaml.visit(document, {
    Node: (_, node, path) => {
      const own = node as Node & { anchor?: string; flow?: boolean; type?: string };
      const parent = path.at(-1);
      if (yaml.isPair(parent) && parent.value === node) values.add(node);
      if (yaml.isAlias(node) || own.anchor !== undefined) for (const above of [...path, node]) anchored.add(above);
      const isBlock = yaml.isCollection(node) && own.flow !== true;
      if (own.comment && isBlock) open.add(node);
      const isLong = own.type === "BLOCK_LITERAL" || own.type === "BLOCK_FOLDED";
      if (own.comment || own.commentBefore || isLong) for (const above of path) open.add(above);
    },
  });
  return { anchored, open, values };
}
