/** Keys: what is shown can be walked through, opened and searched without a mouse. */

import type { Filters } from "./filters.ts";

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["/", "search"],
  ["Esc", "clear the search and the filters"],
  ["j or ↓", "next line"],
  ["k or ↑", "previous line"],
  ["→ or l", "open"],
  ["← or h", "close, or go to the heading"],
  ["Home, End", "first and last line"],
  ["e", "expand all"],
  ["c", "collapse all"],
  ["?", "show these keys"],
];

export function startKeyboard(filters: Filters | null): void {
  // What can be walked to and is no control of its own.
  for (const line of document.querySelectorAll<HTMLElement>(".change, tr.row")) line.tabIndex = -1;
  const dialog = filters === null ? null : keysDialog();
  document.querySelector("[name=keys]")?.addEventListener("click", () => dialog?.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog?.open === true) return;
    if (isHandled(event, filters, dialog)) event.preventDefault();
  });
}

function isHandled({ key, target }: KeyboardEvent, filters: Filters | null, dialog: HTMLDialogElement | null): boolean {
  const element = target instanceof HTMLElement ? target : document.body;
  if (key === "Escape") {
    filters?.clear();
    if (isControl(element)) element.blur();
    return filters !== null;
  }
  if (isControl(element)) return false;
  switch (key) {
    case "/":
      filters?.focusSearch();
      return filters !== null;
    case "?":
      dialog?.showModal();
      return dialog !== null;
    case "e":
    case "c":
      filters?.setOpen(key === "e");
      return filters !== null;
    case "j":
    case "k":
      return move(element, key === "j" ? 1 : -1);
    case "ArrowDown":
    case "ArrowUp":
      // Elsewhere they scroll.
      return isStop(element) && move(element, key === "ArrowDown" ? 1 : -1);
    case "Home":
    case "End":
      return isStop(element) && focusOn(key === "Home" ? stops()[0] : stops().at(-1));
    case "ArrowRight":
    case "l":
      return open(element);
    case "ArrowLeft":
    case "h":
      return close(element);
    default:
      return false;
  }
}

function isControl(element: HTMLElement): boolean {
  return element.matches("input:not([type=checkbox]), select, textarea, [data-picture], [data-picture] *");
}

/** Headings of what is shown, and the lines of what is open. */
const STOPS = ".unit:not([hidden]) > summary, .unit[open]:not([hidden]) .change:not([hidden]), tr.row:not([hidden])";

function stops(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(STOPS)];
}

function isStop(element: HTMLElement): boolean {
  return element.matches(STOPS);
}

function move(from: HTMLElement, step: 1 | -1): boolean {
  const all = stops();
  const stop = from.closest<HTMLElement>(STOPS);
  const index = stop === null ? -1 : all.indexOf(stop);
  return focusOn(index === -1 ? all[step === 1 ? 0 : all.length - 1] : all[index + step]);
}

function focusOn(element: HTMLElement | undefined): boolean {
  if (element === undefined) return false;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
  return true;
}

/** What an account printed, where its line is one of several. */
function saidOf(element: HTMLElement): HTMLDetailsElement | null {
  return element.matches(".change") ? element.querySelector<HTMLDetailsElement>("details.said") : null;
}

function open(element: HTMLElement): boolean {
  const said = saidOf(element);
  if (said?.open === false) {
    said.open = true;
    return true;
  }
  const unit = element.closest<HTMLDetailsElement>("details.unit");
  if (unit === null || !element.matches("summary")) return false;
  if (unit.open) return move(element, 1);
  unit.open = true;
  return true;
}

function close(element: HTMLElement): boolean {
  const said = saidOf(element);
  if (said?.open === true) {
    said.open = false;
    return true;
  }
  const unit = element.closest<HTMLDetailsElement>("details.unit");
  if (unit === null) return false;
  if (element.matches("summary")) unit.open = false;
  else focusOn(unit.querySelector<HTMLElement>("summary") ?? undefined);
  return true;
}

function keysDialog(): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  const heading = document.createElement("h2");
  heading.id = "keys-heading";
  heading.textContent = "Keys";
  dialog.setAttribute("aria-labelledby", heading.id);
  const list = document.createElement("dl");
  for (const [keys, does] of KEYS) {
    const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = keys;
    meaning.textContent = does;
    list.append(term, meaning);
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Close";
  button.addEventListener("click", () => dialog.close());
  dialog.append(heading, list, button);
  document.body.append(dialog);
  return dialog;
}
