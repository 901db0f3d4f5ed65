/** Which address the SOA of a foreign zone gets: the one that its source names, the one that was asked for, or a guess. */

import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { Sources } from "../model/source.ts";
import { type SettlingUnit, settleDomain } from "./settle.ts";
import { someOf } from "./some-of.ts";

/** What an SOA record says. */
export interface NamedEmail {
  /** `""` if its mailbox cannot be an address. */
  readonly email: string;
  readonly span: Span;
}

/** An address that its source does not say. */
export interface FilledIn {
  readonly zone: string;
  readonly email: string;
  /** What the source says and is no address; null: it says nothing. */
  readonly named: NamedEmail | null;
  readonly isGuess: boolean;
}

export type ChosenEmail =
  | { readonly ok: true; readonly email: string; readonly filledIn: FilledIn | null }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** The unit judges, so that what passes here passes when it is loaded. */
export function isSoaEmail(email: string, unit: SettlingUnit): boolean {
  const head = { domain: "example.com", type: "master", soa_email: email };
  return email !== "" && settleDomain(head, null, unit, []).problems.length === 0;
}

/**
 * @param file where the zone was read
 * @param asked an address, or null
 */
export function chooseEmail(
  zone: string,
  file: string,
  named: NamedEmail | null,
  asked: string | null,
  unit: SettlingUnit,
): ChosenEmail {
  if (named !== null && isSoaEmail(named.email, unit)) return { ok: true, email: named.email, filledIn: null };
  const email = asked ?? `hostmaster@${zone}`;
  if (!isSoaEmail(email, unit)) return { ok: false, diagnostic: noEmail(zone, file, named, email) };
  const isKnown = asked !== null && named === null;
  return { ok: true, email, filledIn: isKnown ? null : { zone, email, named, isGuess: asked === null } };
}

function noEmail(zone: string, file: string, named: NamedEmail | null, guess: string): Diagnostic {
  const why = named === null ? `${file} does not say who is responsible for the zone` : `The SOA names ${shown(named)}`;
  return {
    code: "bad-email",
    severity: "error",
    summary: `${zone} needs an address for its SOA`,
    detail: `${why}, and the guess \`${guess}\` is no e-mail address.`,
    fix: "Give one with --soa-email ADDRESS.",
    ...(named === null ? {} : { span: named.span }),
  };
}

function shown({ email }: NamedEmail): string {
  return email === "" ? "no e-mail address" : `\`${email}\`, which is no e-mail address`;
}

/** One warning for all that were filled in for the same reason. */
export function filledInWarnings(all: readonly FilledIn[], sources: Sources): Diagnostic[] {
  const silent = all.filter(({ named }) => named === null);
  const guessed = all.filter(({ named, isGuess }) => named !== null && isGuess);
  const replaced = all.filter(({ named, isGuess }) => named !== null && !isGuess);
  return [
    ...warn("guessed-email", silent, silent.length === 1 ? "Its source names nobody." : "Their sources name nobody."),
    ...warn("guessed-email", guessed, soasOf(guessed, sources)),
    ...warn("replaced-email", replaced, soasOf(replaced, sources)),
  ];
}

function warn(code: string, all: readonly FilledIn[], why: string): Diagnostic[] {
  const [first] = all;
  if (first === undefined) return [];
  const { isGuess } = first;
  const which = isGuess ? "a guessed SOA address" : "the address of --soa-email";
  const summary =
    all.length === 1 ? `${first.zone} gets the SOA address ${first.email}` : `${all.length} domains get ${which}`;
  const list = someOf(all.map(({ zone, email }) => (isGuess ? email : zone)));
  const change = "change `soa_email` in the manifest";
  const fix = isGuess ? `Give --soa-email ADDRESS, or ${change}.` : `If that is not meant, ${change}.`;
  return [{ code, severity: "warning", summary, detail: all.length === 1 ? why : `${list}. ${why}`, fix }];
}

function soasOf(all: readonly FilledIn[], sources: Sources): string {
  const places = all.flatMap(({ named }) => {
    if (named === null) return [];
    const { file, start } = named.span;
    return [`${named.email === "" ? "" : `\`${named.email}\` in `}${file}:${sources.position(file, start).line}`];
  });
  return `${all.length === 1 ? "Its SOA names" : "Their SOA records name"} no e-mail address: ${someOf(places)}.`;
}
