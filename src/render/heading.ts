/** The heading of networks, zones and images, and the labels behind a change: what happens, what goes with it, and why. */

import { unicodeName } from "../dns/unicode.ts";
import type { Address } from "../model/address.ts";
import type { ChangeLabel } from "../model/change.ts";
import { count } from "./wording.ts";
import { escapeText } from "./escape.ts";
import { quoted } from "./value.ts";
import type { ChangeView, GroupView } from "./view.ts";
import { KIND_WORDS } from "./wording.ts";

const DOMAIN = "domain/";

/** `domain example.com`: the address, read aloud; of a domain that goes, with what goes with it. */
export function headline(group: GroupView): string {
  return escapeText(group.root.replace("/", " ")) + unicodeText(group.root) + lossText(group);
}

/** The Unicode form of a domain's name in punycode. */
function unicodeText(root: Address): string {
  const unicode = root.startsWith(DOMAIN) ? unicodeName(root.slice(DOMAIN.length)) : null;
  return unicode === null ? "" : ` (${escapeText(unicode)})`;
}

/** Behind the name of a domain that goes; nothing of anything else. */
function lossText({ root, own }: GroupView): string {
  if (!root.startsWith(DOMAIN) || own?.mark !== "delete") return "";
  const { holds } = own.change;
  if (holds === undefined) return " and all its records";
  const { records, ignored } = holds;
  if (records === 0) return ", which has no records";
  const isIt = records === 1 && ignored === 1;
  return ` and its ${count(records, ...RECORDS)}${isIt ? ", which is ignored" : ignoredText(ignored ?? 0)}`;
}

/** Of several that are one entry: `39 domains and their 468 records, 3 of them ignored`. */
export function headlineOfMany(groups: readonly GroupView[]): string {
  const kind = groups[0]?.own?.change.kind ?? "domain";
  const what = count(groups.length, ...KIND_WORDS[kind]);
  if (kind !== "domain") {
    const subnets = total(groups, ({ children }) => children.length);
    return what + withThem(subnets, ...KIND_WORDS.vpc_subnet);
  }
  if (groups.some(({ own }) => own?.change.holds === undefined)) return `${what} and all their records`;
  const records = total(groups, ({ own }) => own?.change.holds?.records ?? 0);
  const ignored = total(groups, ({ own }) => own?.change.holds?.ignored ?? 0);
  return what + withThem(records, ...RECORDS) + ignoredText(ignored);
}

/** Each with what goes with it: `example.com (12 records, 1 ignored)`. */
export function memberText({ root, own, children }: GroupView): string {
  const name = root.slice(root.indexOf("/") + 1);
  const shown = (isPlainName(name) ? escapeText(name) : quoted(name)) + unicodeText(root);
  const { records = 0, ignored = 0 } = own?.change.holds ?? {};
  const held = [
    ...(children.length === 0 ? [] : [count(children.length, ...KIND_WORDS.vpc_subnet)]),
    ...(records === 0 ? [] : [count(records, ...RECORDS)]),
    ...(ignored === null || ignored === 0 ? [] : [`${ignored} ignored`]),
  ];
  return held.length === 0 ? shown : `${shown} (${held.join(", ")})`;
}

const RECORDS = KIND_WORDS.domain_record;

function withThem(number: number, one: string, many: string): string {
  return number === 0 ? "" : ` and their ${count(number, one, many)}`;
}

function ignoredText(ignored: number): string {
  return ignored === 0 ? "" : `, ${ignored} of them ignored`;
}

function total(groups: readonly GroupView[], countOf: (group: GroupView) => number): number {
  return groups.reduce((sum, group) => sum + countOf(group), 0);
}

/** In a list with commas no name may look like two, or like what is said of one. */
function isPlainName(name: string): boolean {
  return !/[,"()]|^\s|\s$/.test(name);
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
