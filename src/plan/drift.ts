/** Drift: which objects in the account differ from what is declared. */

import isEqual from "fast-deep-equal";
import type { Change, Drift, DriftField, DriftObject, DriftStatus } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import { compareText } from "../model/text.ts";

/** Seen from the account, all that an apply would change has drifted, blocked changes included. Linear in the number of changes. */
export function driftOf({ owner, inputs, changes }: Pick<Plan, "owner" | "inputs" | "changes">): Drift {
  const objects = changes.flatMap((change) => driftObject(change) ?? []).sort((a, b) => compareText(a.key, b.key));
  const summary = { changed: 0, missing: 0, unexpected: 0, unadopted: 0 };
  for (const { status } of objects) summary[status] += 1;
  const { targets, excludes, changedSince } = inputs;
  return { owner, targets, excludes, changedSince, objects, summary };
}

/** Warnings about declared objects that could be any of several live ones: their drift may be wrong. */
export function unclearIdentities({ changes }: Pick<Plan, "changes">): Diagnostic[] {
  return changes.flatMap(({ address, blocked, span }) => {
    if (blocked?.type !== "ambiguous") return [];
    const { candidates, more = 0 } = blocked;
    const ids = candidates.map(({ id }) => `id ${id}`);
    return [
      {
        code: "ambiguous-identity",
        severity: "warning",
        summary: `${address} could be any of ${candidates.length + more} live objects`,
        detail: `Several objects in the account carry its label: ${ids.join(", ")}${more === 0 ? "" : `, and ${more} more`}.`,
        fix: "Say which one is meant with `id:`, or rename or delete the others.",
        ...(span === null ? {} : { span }),
        address,
      },
    ];
  });
}

function driftObject(change: Change): DriftObject | null {
  if (change.action === "no-op") return null;
  const { key, address, previousAddress, root, kind, id, labels, note, annotations } = change;
  const differing = fieldsOf(change);
  const status = statusOf(change, differing);
  const fields = status === "changed" && labels.includes("adopt") ? withoutOwner(differing) : differing;
  return {
    key,
    address,
    liveAddress: previousAddress,
    root,
    kind,
    status,
    id,
    labels,
    fields,
    note,
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function statusOf({ action, labels }: Change, fields: readonly DriftField[]): DriftStatus {
  switch (action) {
    case "create":
      return "missing";
    case "delete":
      return "unexpected";
    case "replace":
      return "changed";
    case "update":
    case "no-op":
      return labels.includes("adopt") && withoutOwner(fields).length === 0 ? "unadopted" : "changed";
  }
}

function fieldsOf({ before, after }: Change): DriftField[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort(compareText);
  return names.flatMap((name) => {
    const [live, declared] = [before?.[name], after?.[name]];
    // What it would be made of, which the account shows of nothing that is there.
    if (before !== null && after !== null && live === undefined) return [];
    return isEqual(live, declared) ? [] : [{ name, declared: declared ?? null, live: live ?? null }];
  });
}

function withoutOwner(fields: readonly DriftField[]): DriftField[] {
  return fields.filter(({ name }) => name !== "owner");
}
