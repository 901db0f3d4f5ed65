/** Keeps a page up to date that a server made: what has changed comes as server-sent events. */

import type { Filters } from "./filters.ts";

/** Where the server has refused, or is gone for long, the browser does not try again by itself. */
const RETRY_MILLISECONDS = 3_000;
const AGE_MILLISECONDS = 1_000;

export function startLive(filters: Filters | null): void {
  const place = document.querySelector<HTMLElement>("[data-live]");
  if (place === null) return;
  showAges();
  setInterval(showAges, AGE_MILLISECONDS);
  connect(place, filters);
}

function connect(place: HTMLElement, filters: Filters | null): void {
  const source = new EventSource(place.dataset["live"] ?? "");
  source.addEventListener("open", () => say(place, "Live."));
  source.addEventListener("down", () => say(place, "The queue does not answer. This is what was known before."));
  source.addEventListener("status", (event: MessageEvent<string>) => {
    const { parts }: { parts: readonly (readonly [id: string, text: string])[] } = JSON.parse(event.data);
    for (const [id, text] of parts) replace(id, text);
    if (parts.length > 0) filters?.refresh();
    showAges();
    say(place, "Live.");
  });
  source.addEventListener("error", () => {
    say(place, "The connection is lost: trying again. This is what was known before.");
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => connect(place, filters), RETRY_MILLISECONDS);
  });
}

function say(place: HTMLElement, text: string): void {
  if (place.textContent !== text) place.textContent = text;
}

/** @param text made by the server, with everybody else's text in it escaped; the policy of the page lets nothing in it run */
function replace(id: string, text: string): void {
  const element = id === "title" ? document.querySelector("h1") : document.getElementById(id);
  if (element === null) return;
  if (!element.matches("tr")) {
    element.innerHTML = text;
    return;
  }
  const template = document.createElement("template");
  template.innerHTML = text.trim();
  const row = template.content.firstElementChild;
  if (!(row instanceof HTMLElement)) return;
  row.tabIndex = -1;
  const hasFocus = element === document.activeElement;
  element.replaceWith(row);
  if (hasFocus) row.focus({ preventScroll: true });
}

function showAges(): void {
  const now = Date.now();
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-age]")) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    const text = `${ageText(now - at)} ${time.dataset["age"] ?? ""}`.trim();
    if (time.textContent === text) continue;
    time.textContent = text;
    time.title = time.dateTime;
  }
}

/** As the command's list has it. */
function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
