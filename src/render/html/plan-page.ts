/** A plan as a page: what speaks against it first, then its changes as a tree, its order, networks and zones as pictures. */

import type { Change } from "../../model/change.ts";
import type { Kinds } from "../../model/kind.ts";
import { type Goal, isNarrowed, type Plan } from "../../model/plan.ts";
import { freeSpaceText } from "../address-space.ts";
import { blockedAlike, blockedNames } from "../blocks.ts";
import { signOf } from "../change-lines.ts";
import { type Asked, askedOf, consentTexts } from "../consent.ts";
import { warningMarks } from "../diagnostics.ts";
import { foldContext } from "../folding.ts";
import { planTitle } from "../markdown/documents.ts";
import {
  actionEntries,
  byOrigin,
  changedSinceText,
  familyTexts,
  GAPS_HEADING,
  type GroupView,
  gapText,
  groupAlike,
  groupsOf,
  leftAloneText,
  ownHeading,
  PENDING_HEADING,
  type PlanView,
  requestsText,
  shownSources,
  splitText,
  strategyText,
  viewPlan,
  withdrawnEntries,
  withdrawnHeading,
  withheldEntries,
  withheldHeading,
} from "../view.ts";
import { blockHtml, changeTree, MARK_WORDS, type TreeOptions } from "./change-tree.ts";
import { type Html, html } from "./markup.ts";
import { networkPictures, networksOfChanges } from "./network-picture.ts";
import { orderPicture } from "./order-picture.ts";
import { renderPage } from "./page.ts";
import {
  alikeHtml,
  type Choice,
  filterBar,
  frame,
  kindChoices,
  linesAsEntries,
  listSection,
  picture,
  type Section,
  type Tally,
  viewsIn,
} from "./sections.ts";
import { zoneMap, zonesOfChanges } from "./zone-map.ts";

const MADE_BY: Readonly<Record<Goal, string>> = {
  ...{ apply: "tenon plan", destroy: "tenon plan --destroy", undo: "tenon undo" },
};

export interface PlanPageOptions {
  /** Whether each network, zone and image is shown by itself, however many are alike. */
  readonly full: boolean;
  /** Changes that the plan which was reviewed does not show: nothing was done. */
  readonly unreviewed: readonly Change[];
}

/** Newline-terminated. Linear in the number of changes. */
export function renderPlanHtml(plan: Plan, { full, unreviewed }: PlanPageOptions, kinds: Kinds): string {
  const view = viewPlan(plan, kinds);
  const title = planTitle(plan, view);
  const anchors = anchorsOf(plan);
  const fold = foldContext(kinds, shownSources(plan), { full, plan });
  const options: TreeOptions = { fold, anchors };
  const body = frame({
    made: MADE_BY[plan.goal],
    title,
    tallies: talliesOf(view),
    facts: planFacts(plan, view, kinds),
    sections: [
      unreviewed.length === 0 ? null : unreviewedSection(unreviewed),
      ...attention(plan, view, anchors, kinds),
      changesSection(plan, view, options),
      ...notes(plan, view, kinds),
      ...pictures(plan, kinds),
    ],
  });
  return renderPage({ title, body });
}

function talliesOf({ summary }: PlanView): Tally[] {
  const all: readonly (Tally & { readonly count: number })[] = [
    { count: summary.add, text: `${summary.add} to add`, state: "create" },
    { count: summary.change, text: `${summary.change} to change`, state: "update" },
    { count: summary.destroy, text: `${summary.destroy} to destroy`, state: "delete" },
    { count: summary.blocked, text: `${summary.blocked} blocked`, state: "blocked" },
  ];
  return all.filter(({ count }) => count > 0);
}

function planFacts(plan: Plan, view: PlanView, kinds: Kinds): Html[] {
  const { inputs, owner, base } = plan;
  const names: readonly (readonly [string, string])[] = [
    ...(inputs.environment === null ? [] : [["Environment", inputs.environment] as const]),
    ...(owner === null ? [] : [["Owner", owner] as const]),
    ...inputs.targets.map((target) => ["Target", target] as const),
    ...inputs.excludes.map((exclude) => ["Without", exclude] as const),
  ];
  const sentences = [
    base === null || view.empty ? "" : splitText(byOrigin(plan)),
    isNarrowed(inputs) ? changedSinceText(inputs, kinds) : "",
    view.empty ? "" : requestsText(plan),
    leftAloneText(plan.leftAlone, kinds),
  ];
  return [
    ...(names.length === 0
      ? []
      : [html`${names.map(([name, value]) => html`<span class="pair">${name} <b>${value}</b></span> `)}`]),
    ...sentences.filter((text) => text !== "").map((text) => html`${text}`),
  ];
}

/** Elements that the lists above the tree point at. */
export function anchorsOf({ changes, guards, gaps }: Pick<Plan, "changes" | "guards" | "gaps">): Map<string, string> {
  const wanted = new Set([...guards.map(({ address }) => address), ...gaps.map(({ root }) => root)]);
  const keys = changes.flatMap(({ key, blocked, action }) =>
    action !== "no-op" && (blocked !== null || wanted.has(key)) ? [key] : [],
  );
  return new Map(keys.map((key, index) => [key, `change-${index + 1}`]));
}

/** @param key of a change, escaped where it is shown */
export function linkTo(key: string, anchors: ReadonlyMap<string, string>): Html {
  const anchor = anchors.get(key);
  return anchor === undefined ? html`<b>${key}</b>` : html`<a href="#${anchor}"><b>${key}</b></a>`;
}

// What a reviewer must not miss, the gravest first.

function unreviewedSection(unreviewed: readonly Change[]): Section {
  return {
    ...{ id: "unreviewed", short: "Not reviewed", heading: "The reviewed plan does not cover", weight: "bad" },
    body: html`${linesAsEntries(actionEntries(unreviewed))}<p class="fix">Nothing was done. Review a new plan: <code>tenon plan --out FILE</code></p>`,
  };
}

function attention(plan: Plan, view: PlanView, anchors: ReadonlyMap<string, string>, kinds: Kinds): (Section | null)[] {
  const blocked = plan.changes.filter(isBlocked);
  const refusals = groupAlike(plan.refusals, () => "").map(alikeHtml);
  const asked = askedOf(view.refusing, plan, kinds).map((one) => askedHtml(one));
  return [
    listSection("refused", "Refused", "Refused", "bad", refusals),
    listSection("guards", "Consent", "Apply would refuse this plan:", "bad", asked),
    listSection(
      "blocked",
      "Blocked",
      "Blocked:",
      "bad",
      blockedAlike(blocked.map(({ key, blocked: block }) => ({ key, block }))).map((alike) => {
        const [only = ""] = alike.keys;
        return html`${alike.keys.length === 1 ? linkTo(only, anchors) : blockedNames(alike)}${blockHtml(alike.block)}`;
      }),
    ),
    listSection(
      "gaps",
      "Gaps",
      GAPS_HEADING,
      "warn",
      plan.gaps.map((gap) => html`${gapText(gap)}`),
    ),
  ];
}

function isBlocked(change: Change): change is Change & { readonly blocked: NonNullable<Change["blocked"]> } {
  return change.blocked !== null;
}

function askedHtml({ text, advice, words }: Asked): Html {
  return html`<p>${text}.</p>${advice !== "" && html`<p class="fix">${advice}</p>`}${words.length > 0 && html`<p class="fix">Consent by ${words.length === 1 ? "a flag, or an entry" : "flags, or entries"} under <code>allow:</code> in the root file:</p>${words.map(({ flag, entry }) => html`<pre class="copy"><code>${flag}</code></pre><pre class="copy"><code>${entry}</code></pre>`)}`}`;
}

// The changes.

function changesSection(plan: Plan, view: PlanView, options: TreeOptions): Section | null {
  if (view.empty) return null;
  const { kinds } = options.fold;
  return {
    id: "changes",
    short: "Changes",
    heading: "Changes",
    body: html`${filterBar({
      nouns: ["change", "changes"],
      states: stateChoices(view.groups),
      kinds: kindChoices(
        view.groups.flatMap(viewsIn).map(({ kind }) => kind),
        kinds.all,
      ),
      isTree: true,
      roots: view.groups.length > 1 ? "All objects" : null,
    })}${treesOf(plan, view, options)}`,
  };
}

function treesOf(plan: Plan, view: PlanView, options: TreeOptions): Html {
  if (plan.base === null) return changeTree(view.groups, options);
  const origins = byOrigin(plan);
  const { kinds } = options.fold;
  const [own, pending] = [groupsOf(origins.own, kinds), groupsOf(origins.pending, kinds)];
  return html`<h3>${ownHeading(plan.base, origins)}</h3>${changeTree(own, options, own.length <= MAX_OPEN_UNITS)}${pending.length > 0 && html`<h3>${PENDING_HEADING}</h3>${changeTree(pending, options)}`}`;
}

/** Networks, zones and images that the proposed change unfolds. */
const MAX_OPEN_UNITS = 10;

/** The actions that the changes have. */
function stateChoices(groups: readonly GroupView[]): Choice[] {
  const views = groups.flatMap(viewsIn);
  const found = new Set(views.map(({ mark, change }) => (change.blocked === null ? mark : "blocked")));
  const marks = (["create", "update", "replace", "delete"] as const).filter((mark) => found.has(mark));
  return [
    ...marks.map((mark) => ({ value: mark, text: MARK_WORDS[mark], sign: signOf(mark) })),
    ...(found.has("blocked") ? [{ value: "blocked", text: "blocked", sign: "!" }] : []),
  ];
}

// Pictures: there is none of what the plan has nothing of.

export function pictures(plan: Plan, kinds: Kinds): (Section | null)[] {
  return [
    picture("order", "Order", "Order: what waits for what", orderPicture(plan, kinds, null)),
    picture("networks", "Networks", "Networks", networkPictures(networksOfChanges(plan.changes))),
    picture("zones", "Zones", "Zones: who points at whom", zoneMap(zonesOfChanges(plan.changes, plan.leftAlone))),
  ];
}

// What is good to know.

function notes(plan: Plan, view: PlanView, kinds: Kinds): (Section | null)[] {
  const { base, withheld } = plan;
  const warnings = groupAlike(plan.warnings, warningMarks(plan)).map(alikeHtml);
  const families = familyTexts(plan).map(
    ({ heading, lines }) => html`<p>${heading}</p><pre tabindex="0">${lines.map((line) => html`${line}\n`)}</pre>`,
  );
  return [
    listSection("warnings", "Warnings", "Warnings", "warn", warnings),
    listSection("families", "Families", "Families of images", "plain", families),
    withheld.length === 0
      ? null
      : {
          ...{ id: "withheld", short: "Left out", heading: withheldHeading(withheld), weight: "warn" as const },
          body: linesAsEntries(withheldEntries(withheld, true)),
        },
    base === null || base.withdrawn.length === 0
      ? null
      : {
          ...{ id: "withdrawn", short: "Withdrawn", heading: withdrawnHeading(base).replace(/:$/, "") },
          body: linesAsEntries(withdrawnEntries(base)),
        },
    listSection(
      "consented",
      "Consent given",
      "Consent is given to",
      "plain",
      consentTexts(view.consented, plan, kinds).map((text) => html`${text}`),
    ),
    listSection(
      "clones",
      "Clones",
      "Clones",
      "plain",
      plan.strategies.map((strategy) => html`${strategyText(strategy)}`),
    ),
    listSection(
      "space",
      "Free space",
      "Free address space",
      "plain",
      plan.freeSpace.map((space) => html`${freeSpaceText(space)}`),
    ),
  ];
}
