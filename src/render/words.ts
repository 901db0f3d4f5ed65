/** Blocked changes: what stops them, and what to do about it, in words. */

import {
  ZONE_FILE_APEX_NS_CODE,
  ZONE_FILE_SIGNING_CODE,
  ZONE_FILE_SOA_CODE,
  ZONE_FILE_UNSUPPORTED_CODE,
} from "../dns/record.ts";
import { unicodeName } from "../dns/unicode.ts";
import type { AttachedInterface, Block, Candidate, Change, ChangeLabel } from "../model/change.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import type { Address } from "../model/resource.ts";
import { consentFlag } from "./consent.ts";
import { quoted, recordText } from "./table.ts";
import { escapeText } from "./terminal.ts";
import { byOrigin, type ChangeView, count, type GroupView, PENDING_MARK } from "./view.ts";

/** On a line of 80 columns, below a change and indented. */
const DEFAULT_ITEM_COLUMNS = 72;

/** So many are named; the rest is counted. */
const MAX_NAMED_ITEMS = 20;

interface BlockText {
  /** What stops it, without a full stop. */
  readonly reason: string;
  /** The things that do, one a line. */
  readonly items: readonly string[];
  /** What to do, as a full sentence. */
  readonly fix: string;
}

/** @param columns that an item may take where it holds a record */
export function blockText(block: Block, columns: number = DEFAULT_ITEM_COLUMNS): BlockText {
  switch (block.type) {
    case "interfaces":
      return {
        reason: `${count(block.interfaces.length, "interface is", "interfaces are")} attached`,
        items: named(block.interfaces.map(interfaceText)),
        fix: "Or wait until they are gone: --wait-detached 10m.",
      };
    case "kept-records":
      return {
        reason: block.claimed
          ? "external-dns keeps it, as its registry says"
          : "records that Tenon must keep forbid it",
        items: named(block.records.map((record) => recordText(record, columns))),
        fix: block.claimed
          ? "Remove it from the manifest, as external-dns keeps it; or narrow the preset under `ignore`."
          : "Delete them by hand, or stop ignoring them (ignore, records_policy) so that they can go.",
      };
    case "ambiguous":
      return {
        reason: `${count(block.candidates.length, "live object carries", "live objects carry")} this label, and nothing says which is meant`,
        items: named(block.candidates.map(candidateText)),
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
    case "clone-source-missing":
      return {
        reason: `${escapeText(block.domain)}, which it is to be cloned from, is not there`,
        items: [],
        fix: "Create that domain first, or name another one under create_from.",
      };
    case "image-source-missing":
      return {
        reason: "the image is not there, and its entry does not say how it is made",
        items: [],
        fix: "Add `upload: { file: …, region: … }` or `capture: { disk_id: … }`, or remove the entry.",
      };
    case "depends":
      return {
        reason: `it needs ${block.on.length === 1 ? "a change that is" : "changes that are"} blocked`,
        items: named(block.on.map(escapeText)),
        fix: "",
      };
  }
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

function named(items: readonly string[]): string[] {
  if (items.length <= MAX_NAMED_ITEMS) return [...items];
  return [...items.slice(0, MAX_NAMED_ITEMS), `and ${items.length - MAX_NAMED_ITEMS} more (all are in --format json)`];
}

// The heading of networks, zones and images, and the labels behind a change: what happens, what goes with it, and why.

const DOMAIN = "domain/";

/** `domain example.com`: the address, read aloud; of a domain that goes, with what goes with it. */
export function headline(group: GroupView): string {
  const root = rootShown(group);
  const declared = root === group.root ? "" : `, declared as ${escapeText(nameOf(group.root))}`;
  return escapeText(root.replace("/", " ")) + unicodeText(root) + lossText(group) + declared;
}

/** What goes is called what it is called in the account: an entry may name it by its id. Of what stays old and new name are shown. */
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

/** Behind the name of what goes with what is in it; nothing of anything else. */
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

/** Each with what goes with it: `example.com (12 records, 1 ignored)`. */
export function memberText(group: GroupView): string {
  const { own, contents, children } = group;
  const root = rootShown(group);
  const name = nameOf(root);
  const shown = (isPlainName(name) ? escapeText(name) : quoted(name)) + unicodeText(root);
  const { records = 0, ignored = 0 } = own?.change.holds ?? {};
  const held = [
    ...[children.length, records].flatMap((number) =>
      number === 0 || contents === null ? [] : [count(number, ...contents.words)],
    ),
    ...(ignored === null || ignored === 0 ? [] : [`${ignored} ignored`]),
  ];
  return held.length === 0 ? shown : `${shown} (${held.join(", ")})`;
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

/** In a list with commas no name may look like two, or like what is said of one. */
function isPlainName(name: string): boolean {
  return !/[,"()]|^\s|\s$/.test(name);
}

/** Whether the heading says the field already; not if it changes. */
export function isInHeadline({ change, kind }: ChangeView, field: string): boolean {
  if (field !== kind.nameField) return false;
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

// Which warnings a plan would have without the proposed change just as well: all they are about was pending.

/** What is said behind a warning: nothing, or that the proposed change has no part in it. Linear in the number of changes. */
export function warningMarks(plan: Plan): (warning: Diagnostic) => string {
  if (plan.base === null) return () => "";
  const places = pendingPlaces(plan);
  return ({ address, span }) => {
    if (address === undefined) return "";
    const here = span === undefined ? undefined : places.get(spanKey(span));
    return (here ?? places.get(address)) === true ? PENDING_MARK : "";
  };
}

/** Whether all changes of a place were pending, by place. */
function pendingPlaces(plan: Plan): ReadonlyMap<string, boolean> {
  const { own, pending } = byOrigin(plan);
  const found = new Map<string, boolean>();
  for (const change of pending) for (const key of warningKeys(change)) found.set(key, true);
  for (const change of own) for (const key of warningKeys(change)) found.set(key, false);
  return found;
}

/** Where it is declared, its address, and all that is above. */
function warningKeys({ address, span }: Change): string[] {
  const keys = span === null ? [address] : [spanKey(span), address];
  for (let end = address.lastIndexOf("/"); end > 0; end = address.lastIndexOf("/", end - 1)) {
    keys.push(address.slice(0, end));
  }
  return keys;
}

function spanKey({ file, start, end }: Span): string {
  return `${start} ${end} ${file}`;
}

// What zone files hold and nobody takes over, in a line: for commands that are about something else.

interface Counted {
  /** What is to be reported as it is. */
  readonly others: readonly Diagnostic[];
  /** One line for each kind that was there, for all of the project; without line ends. */
  readonly notes: readonly string[];
}

/** Takes the warnings about zone files out, and counts them. Errors stay. */
export function countSkipped(diagnostics: readonly Diagnostic[]): Counted {
  let [own, signing, unsupported] = [0, 0, 0];
  const others = diagnostics.filter(({ code, severity }) => {
    if (severity !== "warning") return true;
    if (code === ZONE_FILE_SOA_CODE || code === ZONE_FILE_APEX_NS_CODE) own += 1;
    else if (code === ZONE_FILE_SIGNING_CODE) signing += 1;
    else if (code === ZONE_FILE_UNSUPPORTED_CODE) unsupported += 1;
    else return true;
    return false;
  });
  const notes = [
    ...(own === 0 ? [] : [`${count(own, "SOA or apex NS record is", "SOA and apex NS records are")} set aside`]),
    ...(signing === 0
      ? []
      : [`${count(signing, "record that signing adds is", "records that signing adds are")} set aside`]),
    ...(unsupported === 0
      ? []
      : [`${count(unsupported, "unsupported record is", "unsupported records are")} left out`]),
  ];
  return { others, notes: notes.map((note) => `Note: ${note}: see tenon validate.`) };
}
