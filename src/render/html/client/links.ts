/** What is folded opens for a link that leads into it, and for the printer. */

import type { Filters } from "./filters.ts";

export function startLinks(filters: Filters | null): void {
  const follow = (): void => {
    const element = location.hash === "" ? null : document.getElementById(decoded(location.hash.slice(1)));
    if (element === null) return;
    if (element.closest("[hidden]") !== null) filters?.clear();
    for (
      let around = element.closest("details");
      around !== null;
      around = around.parentElement?.closest("details") ?? null
    )
      around.open = true;
    // Of an account of a fleet, that is where it stands what it printed.
    const said = element.querySelector<HTMLDetailsElement>(":scope > details.said");
    if (said !== null) said.open = true;
    const stop = element.matches("details") ? element.querySelector<HTMLElement>("summary") : element;
    stop?.focus({ preventScroll: true });
    element.scrollIntoView({ block: "start" });
  };
  window.addEventListener("hashchange", follow);
  // A second click on the same link changes no hash.
  document.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
    if (link?.hash === location.hash) follow();
  });
  follow();

  let opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

function decoded(hash: string): string {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}
