/** Blocked changes as text: what blocks each, and what to do about it. */

import type { AttachedInterface, Block, Candidate } from "../model/change.ts";
import { groupBy } from "../model/text.ts";
import { recordText } from "./change-lines.ts";
import { consentFlag } from "./consent.ts";
import { escapeText } from "./terminal.ts";
import { count } from "./view.ts";

/** Columns of an item below a change: a line of 80 columns, less the indentation. */
const DEFAULT_ITEM_COLUMNS = 72;

/** At most this many items are named; the rest is counted. */
const MAX_NAMED_ITEMS = 20;

interface BlockText {
  /** What blocks the change, without a full stop. */
  readonly reason: string;
  /** The objects that block it, one a line. */
  readonly items: readonly string[];
  /** What to do, as a full sentence. */
  readonly fix: string;
}

/** @param columns that an item with a record may take */
export function blockText(block: Block, columns: number = DEFAULT_ITEM_COLUMNS): BlockText {
  switch (block.type) {
    case "interfaces":
      return {
        reason: `${count(block.interfaces.length, "interface is", "interfaces are")} attached`,
        items: named(block.interfaces, interfaceText),
        fix: "Or wait until they are gone: --wait-detached 10m.",
      };
    case "kept-records":
      return {
        reason: block.claimed
          ? "external-dns keeps it, as its registry says"
          : "records that Tenon must keep forbid it",
        items: [...named(block.records, (record) => recordText(record, columns)), ...further(block.more)],
        fix: block.claimed
          ? "Remove it from the manifest, as external-dns keeps it; or narrow the preset under `ignore`."
          : "Delete them by hand, or stop ignoring them (ignore, records_policy) so that they can go.",
      };
    case "changed-since":
      return {
        reason: `somebody has changed it since the run of ${escapeText(block.run)}`,
        items: [],
        fix: "It stays as it is. Change it by hand or by the manifest.",
      };
    case "ambiguous":
      return {
        reason: `${count(block.candidates.length + (block.more ?? 0), "live object carries", "live objects carry")} this label, and nothing says which is meant`,
        items: [...named(block.candidates, candidateText), ...further(block.more)],
        fix: "Say which with `id:`, or rename or delete the others.",
      };
    case "stale-id":
      return {
        reason: "its `id:` is gone, and the one object of this label would be replaced or lose something",
        items: [candidateText(block.candidate)],
        fix: `Write \`id: ${escapeText(String(block.candidate.id))}\` if it is meant; if not, correct the id.`,
      };
    case "upload-in-progress": {
      const until = block.until === null ? "" : ` until ${escapeText(block.until)}, by the service's clock`;
      const later = block.until === null ? "" : "Plan again then. ";
      return {
        reason: `image ${escapeText(String(block.id))} waits for its data, and another run may be uploading it${until}`,
        items: [],
        fix: `${later}If no upload is running, take it at once with ${consentFlag("delete", block.address)}.`,
      };
    }
    case "upload-of-others":
      return {
        reason: `image ${escapeText(String(block.id))} of this label was never finished, and its tag is not ours`,
        items: [],
        fix:
          block.address === null
            ? "Finish or delete it, or declare the image under another label."
            : `Wait until its upload is finished, or delete it all the same with ${consentFlag("delete", block.address)}.`,
      };
    case "label-taken":
      return {
        reason: `${escapeText(String(block.id))} keeps the label \`${escapeText(block.label)}\`, and the service may refuse a second one once this is deleted`,
        items: [],
        fix: "Choose another label, or rename or delete the other first.",
      };
    case "clone-source-missing":
      return {
        reason: `${escapeText(block.domain)}, which it is to be cloned from, is not there`,
        items: [],
        fix: "Create that domain first, or name another one under create_from.",
      };
    case "shared":
      return {
        reason: `it is shared with ${named(block.owners, escapeText).join(", ")}, and what they manage in it would go, too`,
        items: [],
        fix: "End the sharing first: apply its entry once without `shared_with`.",
      };
    case "image-source-missing":
      return {
        reason: "the image is not there, and its entry does not say how it is made",
        items: [],
        fix: "Add `upload: { file: …, region: … }` or `capture: { disk_id: … }`, or remove the entry.",
      };
    case "depends":
      return {
        reason: `it needs ${block.on.length === 1 ? "a change that is" : "changes that are"} ${block.leftOut === true ? "left out" : "blocked"}`,
        items: [...named(block.on, escapeText), ...further(block.more)],
        fix: "",
      };
  }
}

/** What is blocked for one reason. */
interface BlockedAlike {
  /** Keys of the changes. */
  readonly keys: readonly string[];
  readonly block: Block;
}

/** Up to so many that are blocked for one reason are listed one by one. */
const MAX_UNFOLDED_BLOCKS = 3;

/** Blocks that say nothing of the one object, if they are many, are one entry; in the order of the first of each. */
export function blockedAlike(blocked: readonly { readonly key: string; readonly block: Block }[]): BlockedAlike[] {
  const alike = groupBy(blocked, ({ key, block }) =>
    block.type === "changed-since" ? `run ${block.run}` : `key ${key}`,
  );
  return [...alike.values()].flatMap((group): BlockedAlike[] => {
    const keys = group.map(({ key }) => key);
    const [first] = group;
    return first === undefined || keys.length <= MAX_UNFOLDED_BLOCKS
      ? group.map(({ key, block }) => ({ keys: [key], block }))
      : [{ keys, block: first.block }];
  });
}

/** `domain/a.example`, or of several `12 changes: domain/a.example … domain/l.example`. */
export function blockedNames({ keys }: BlockedAlike): string {
  const [first = "", last = ""] = [keys[0], keys.at(-1)];
  const names = escapeText(first);
  return keys.length === 1 ? names : `${count(keys.length, "change", "changes")}: ${names} … ${escapeText(last)}`;
}

function candidateText({ id, shown }: Candidate): string {
  const filled = Object.entries(shown).filter(([, value]) => value !== null && value !== "");
  return escapeText(`id ${id}: ${filled.map(([field, value]) => `${field} ${JSON.stringify(value)}`).join(", ")}`);
}

function interfaceText(attached: AttachedInterface): string {
  const { node_id, interface_id, active, config_id, address } = attached;
  const profile = config_id === null ? "" : `, configuration profile ${config_id}`;
  const place = address === null ? "" : `, address ${escapeText(address)}`;
  const what = `node ${node_id}, interface ${interface_id} (${active ? "active" : "not active"})${profile}${place}`;
  const first = active ? `shut down node ${node_id}, then ` : "";
  return `${what}: ${first}delete interface ${interface_id}`;
}

function named<Item>(items: readonly Item[], textOf: (item: Item) => string): string[] {
  const texts = items.slice(0, MAX_NAMED_ITEMS).map(textOf);
  const unnamed = items.length - texts.length;
  return unnamed === 0 ? texts : [...texts, `and ${unnamed} more (all are in --format json)`];
}

/** A line that counts the objects that the block itself does not list. */
function further(more: number | undefined): string[] {
  return more === undefined ? [] : [`and ${more} more`];
}
