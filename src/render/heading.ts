/** The heading of a network, zone or image, and the labels behind a change: what happens, and why. */

import { unicodeName } from "../dns/unicode.ts";
import type { ChangeLabel } from "../model/change.ts";
import { escapeText } from "./escape.ts";
import type { ChangeView, GroupView } from "./view.ts";

const DOMAIN = "domain/";

/** `domain example.com`: the address, read aloud, with the Unicode form of a name in punycode. */
export function headline({ root, own }: GroupView): string {
  const isDomain = root.startsWith(DOMAIN);
  const unicode = isDomain ? unicodeName(root.slice(DOMAIN.length)) : null;
  const name = escapeText(root.replace("/", " ")) + (unicode === null ? "" : ` (${escapeText(unicode)})`);
  return isDomain && own?.mark === "delete" ? `${name} and all its records` : name;
}

/** Whether the heading says the field already; not if it changes. */
export function isInHeadline({ change }: ChangeView, field: string): boolean {
  if (field !== (change.kind === "domain" ? "domain" : "label")) return false;
  return change.before === null || change.after === null;
}

/** ` (adopt; blocked)`, or nothing. */
export function labelText({ change }: ChangeView): string {
  const words = change.labels.map((label) => labelWords(label, change.before?.["owner"]));
  if (change.blocked !== null) words.push("blocked");
  return words.length === 0 ? "" : ` (${words.join("; ")})`;
}

/** A rename needs no more than the word: old and new name are shown beside it. */
function labelWords(label: ChangeLabel, owner: unknown): string {
  switch (label) {
    case "adopt":
    case "rename":
      return label;
    case "take-over":
      return `take over from ${escapeText(String(owner ?? "another owner"))}`;
    case "release":
      return "release: no longer ours to manage";
    case "prune":
      return "prune: no longer declared";
    case "unfinished":
      return "its upload was never finished";
    case "duplicate":
      return "duplicate: an equal record stays";
  }
}
