/** What to say of a git ref that the checkout does not have: a shallow clone lacks most of them, a whole one lacks what is mistyped. */

import { type Diagnostic, nearest } from "../index.ts";
import type { Refs } from "./git.ts";

/** What may stand in a command as it is. */
const PLAIN_NAME = /^[A-Za-z0-9][\w./-]*$/;
const REMOTE = "origin/";

export function unknownRef(name: string, { isShallow, names }: Refs): Diagnostic {
  return {
    code: "base-unknown",
    severity: "error",
    summary: `there is no such ref: ${name} is no commit that this checkout has`,
    detail: isShallow ? "This is a shallow clone, as CI makes one: it holds the last commit of one branch only." : "",
    fix: isShallow ? fetchAdvice(name) : nameAdvice(name, names),
  };
}

function fetchAdvice(name: string): string {
  const whole = "fetch-depth: 0 in actions/checkout";
  if (!PLAIN_NAME.test(name)) return `Fetch it: ${whole}, or git fetch --unshallow origin.`;
  const short = name.replace(/^refs\/remotes\//, "");
  const branch = short.startsWith(REMOTE) ? short.slice(REMOTE.length) : short;
  const then = branch === name ? `, and give --base ${REMOTE}${branch}` : "";
  return `Fetch it: ${whole}, or git fetch origin +refs/heads/${branch}:refs/remotes/${REMOTE}${branch}${then}.`;
}

function nameAdvice(name: string, names: readonly string[]): string {
  // A checkout of CI has `origin/main`, and no `main`.
  const meant = names.find((known) => known === `${REMOTE}${name}`) ?? nearest(name, names);
  if (meant !== null) return `Did you mean ${meant}?`;
  return "Name a branch, a tag or a commit that is here: git branch --all lists the branches.";
}
