/** Blank lines around comments: the library keeps them inside of comments, where nothing else finds them. */

import type { Document, Node, Pair } from "yaml";
import type { Yaml } from "./nodes.ts";

type Commented = Node & { comment?: string | null; commentBefore?: string | null; spaceBefore?: boolean };

/** A blank line after a comment becomes one before what follows; of several one is kept. Changes the document in place. */
export function settleBlankLines(document: Document, yaml: Yaml): void {
  yaml.visit(document, {
    Collection: (_, node) => {
      const items = node.items as (Node | Pair<Node, Node | null>)[];
      for (const [index, item] of items.entries()) {
        const before = items[index - 1];
        if (before === undefined || !endsWithBlankLine(before, yaml)) continue;
        const next = (yaml.isPair(item) ? item.key : item) as Commented | null;
        if (yaml.isNode(next)) (next as Commented).spaceBefore = true;
      }
    },
  });
  yaml.visit(document, {
    Node: (_, found) => {
      const node = found as Commented;
      if (node.comment) node.comment = node.comment.replace(/(?<!\n)\n+$/, "").replace(/\n{3,}/g, "\n\n");
      if (!node.commentBefore) return;
      const isEmpty = yaml.isScalar(node) && (node.value === "" || node.value === null) && node.type === "PLAIN";
      node.commentBefore = node.commentBefore.replace(/(?<!\n)\n+$/, isEmpty ? "" : "\n").replace(/\n{3,}/g, "\n\n");
    },
  });
}

function endsWithBlankLine(item: Node | Pair<Node, Node | null>, yaml: Yaml): boolean {
  let node: Node | null = yaml.isPair(item) ? (item.value ?? item.key) : item;
  for (;;) {
    const { comment, commentBefore } = node as Commented;
    const isEmpty = yaml.isScalar(node) && node.value === "";
    if (comment?.endsWith("\n") || (isEmpty && commentBefore?.endsWith("\n"))) return true;
    if (!yaml.isCollection(node)) return false;
    const last = node.items.at(-1) as Node | Pair<Node, Node | null> | undefined;
    node = last === undefined ? null : yaml.isPair(last) ? (last.value ?? last.key) : last;
    if (node === null) return false;
  }
}
