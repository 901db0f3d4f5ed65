/** The headings of networks, zones and images with what is deleted along with them, and the labels after a change. */

import { unicodeName } from "../dns/unicode.ts";
import type { Change, ChangeLabel } from "../model/change.ts";
import type { Kinds } from "../model/kind.ts";
import type { Address } from "../model/resource.ts";
import { quoted } from "./change-lines.ts";
import { escapeText } from "./terminal.ts";
import { type ChangeView, count, type GroupView } from "./view.ts";

const DOMAIN = "domain/";

/** `domain example.com`: the address in words. The heading of a deleted domain also counts the records that are deleted with it. */
export function headline(group: GroupView): string {
  const root = rootShown(group);
  const declared = root === group.root ? "" : `, declared as ${escapeText(nameOf(group.root))}`;
  return escapeText(root.replace("/", " ")) + unicodeText(root) + lossText(group) + declared;
}

/**
 * A deleted object has its name in the account, as its entry may identify it by its id. A renamed object shows old and new name elsewhere.
 */
function rootShown({ root, own }: GroupView): Address {
  return own?.mark === "delete" ? (own.change.previousAddress ?? root) : root;
}

function nameOf(root: Address): string {
  return root.slice(root.indexOf("/") + 1);
}

/** The Unicode form of a domain's name in punycode. */
function unicodeText(root: Address): string {
  const unicode = root.startsWith(DOMAIN) ? unicodeName(root.slice(DOMAIN.length)) : null;
  return unicode === null ? "" : ` (${escapeText(unicode)})`;
}

/** After the name of an object that is deleted with its contents; otherwise empty. */
function lossText({ own, contents }: GroupView): string {
  if (contents === null || !own?.kind.takesContents || own.mark !== "delete") return "";
  const { holds } = own.change;
  const [, many] = contents.words;
  if (holds === undefined) return ` and all its ${many}`;
  const { records, ignored } = holds;
  if (records === 0) return `, which has no ${many}`;
  const isIt = records === 1 && ignored === 1;
  return ` and its ${count(records, ...contents.words)}${isIt ? ", which is ignored" : ignoredText(ignored ?? 0)}`;
}

/** For several objects in one entry: `39 domains and their 468 records, 3 of them ignored`. */
export function headlineOfMany(groups: readonly GroupView[]): string {
  const { own, contents = null } = groups[0] ?? {};
  const what = own == null ? "" : count(groups.length, ...own.kind.words);
  if (contents === null) return what;
  if (!own?.kind.takesContents) {
    const within = total(groups, ({ children }) => children.length);
    return what + withThem(within, ...contents.words);
  }
  if (groups.some((group) => group.own?.change.holds === undefined))
    return `${what} and all their ${contents.words[1]}`;
  const records = total(groups, (group) => group.own?.change.holds?.records ?? 0);
  const ignored = total(groups, (group) => group.own?.change.holds?.ignored ?? 0);
  return what + withThem(records, ...contents.words) + ignoredText(ignored);
}

/** For many with the same changes: `39 domains alike:`, and `brand1.example … brand39.example`. */
export function headlineOfAlike(
  groups: readonly GroupView[],
  kinds: Kinds,
): { readonly what: string; readonly names: string } {
  const [first, last] = [groups[0]?.root ?? "", groups.at(-1)?.root ?? ""];
  const words = kinds.rootAt(first)?.words ?? ["object", "objects"];
  return { what: `${count(groups.length, ...words)} alike:`, names: `${shownName(first)} … ${shownName(last)}` };
}

/** An object with the number of objects that are deleted with it: `example.com (12 records, 1 ignored)`. */
export function memberText(group: GroupView): string {
  const { own, contents, children } = group;
  const shown = shownName(rootShown(group));
  const { records = 0, ignored = 0 } = own?.change.holds ?? {};
  const held = [
    ...[children.length, records].flatMap((number) =>
      number === 0 || contents === null ? [] : [count(number, ...contents.words)],
    ),
    ...(ignored === null || ignored === 0 ? [] : [`${ignored} ignored`]),
  ];
  return held.length === 0 ? shown : `${shown} (${held.join(", ")})`;
}

/** The name of a network, zone or image as it stands in a list of names. */
export function shownName(root: Address): string {
  const name = nameOf(root);
  return (isPlainName(name) ? escapeText(name) : quoted(name)) + unicodeText(root);
}

function withThem(number: number, one: string, many: string): string {
  return number === 0 ? "" : ` and their ${count(number, one, many)}`;
}

function ignoredText(ignored: number): string {
  return ignored === 0 ? "" : `, ${ignored} of them ignored`;
}

function total(groups: readonly GroupView[], countOf: (group: GroupView) => number): number {
  return groups.reduce((sum, group) => sum + countOf(group), 0);
}

/** Whether a name can stand unquoted in a list with commas: it must not look like two names, or like the text in parentheses. */
function isPlainName(name: string): boolean {
  return !/[,"()]|^\s|\s$/.test(name);
}

/** Whether the heading shows the field already; a field that changes is shown below it. */
export function isInHeadline({ change, kind }: ChangeView, field: string): boolean {
  if (field !== kind.nameField) return false;
  return change.before === null || change.after === null;
}

/** ` (adopt; blocked)`, or nothing. */
export function labelText({ change }: ChangeView): string {
  const words = change.labels.map((label) => labelWords(label, change));
  if (change.blocked !== null) words.push("blocked");
  return words.length === 0 ? "" : ` (${words.join("; ")})`;
}

/** For a rename the word is enough: old and new name are shown beside it. */
function labelWords(label: ChangeLabel, { action, before, annotations }: Change): string {
  switch (label) {
    case "adopt":
    case "rename":
      return label;
    case "take-over":
      return `take over from ${escapeText(typeof before?.["owner"] === "string" ? before["owner"] : "another owner")}`;
    case "release":
      return "release: no longer ours to manage";
    case "undo":
      return "undo: made by that run";
    case "prune":
      return "prune: no longer declared";
    case "retire":
      return action === "replace"
        ? "retire: made first, the old one deleted last"
        : "retire: no longer kept in its family";
    case "superseded":
      return "superseded: a newer one has its label";
    case "unfinished":
      return "its upload was never finished";
    case "expired":
      return expiredText(annotations?.expires);
    case "duplicate":
      return "duplicate: an equal record stays";
  }
}

/** Why a record goes that its entry no longer declares. */
export function expiredText(date: string | undefined): string {
  return date === undefined ? "expired" : `expired on ${escapeText(date)}`;
}
