/** The fields of a record's data, one after the other, each checked. All methods throw `Misread`. */

import { canonicalIpv4, canonicalIpv6 } from "../ip.ts";
import { MAX_RDATA_OCTETS, MAX_STRING_OCTETS, MAX_TTL_SECONDS } from "./limits.ts";
import { type Labels, readName } from "./name.ts";
import { type Octets, octetsOf } from "./octets.ts";
import { Misread, type Place, shown } from "./problem.ts";
import type { Token } from "./scan.ts";
import { readSeconds } from "./ttl.ts";

export class Fields {
  readonly #tokens: readonly Token[];
  readonly #type: string;
  readonly #origin: Labels;
  /** What a missing field follows. */
  readonly #before: Place;
  #next = 0;

  /** @param type as the file writes it */
  constructor(tokens: readonly Token[], type: Token, origin: Labels) {
    this.#tokens = tokens;
    this.#type = type.text.toUpperCase();
    this.#origin = origin;
    this.#before = type;
  }

  /** @param what the field is, for example `priority` */
  name(what: string): Labels {
    const token = this.#take(what);
    if (!token.quoted) return readName(token, this.#origin);
    const detail = `The ${what} of a record of type ${this.#type} is a name, and names are not quoted.`;
    throw new Misread(token, { code: "bad-name", summary: "a name in quotes", detail, fix: "Remove the quotes." });
  }

  ipv4(): string {
    const token = this.#take("address");
    return canonicalIpv4(token.text) ?? badAddress(token, "IPv4", "192.0.2.10");
  }

  ipv6(): string {
    const token = this.#take("address");
    return canonicalIpv6(token.text) ?? badAddress(token, "IPv6", "2001:db8::10");
  }

  number(what: string, max: number): number {
    const token = this.#take(what);
    const value = /^\d+$/.test(token.text) && !token.quoted ? Number(token.text) : Number.NaN;
    if (value <= max) return value;
    const detail = `${shown(token.text)} is not a number from 0 to ${max}.`;
    const summary = `the ${what} is not a number from 0 to ${max}`;
    throw new Misread(token, { code: "bad-number", summary, detail, fix: `Correct the ${what}.` });
  }

  seconds(what: string): number {
    const token = this.#take(what);
    return secondsOf(token, what);
  }

  /** A character string (RFC 1035, 3.3), in quotes or not. */
  string(what: string): Octets {
    return stringOf(this.#take(what));
  }

  /** All that is left, at least one. */
  strings(what: string): Octets[] {
    const strings = [this.string(what)];
    while (this.#next < this.#tokens.length) strings.push(this.string(what));
    return strings;
  }

  /** One string whose length is not bounded by itself (RFC 8659, 4.1.1). */
  longString(what: string): Octets {
    const token = this.#take(what);
    const octets = octetsOf(token);
    if (octets.length <= MAX_RDATA_OCTETS) return octets;
    throw tooLong(token, octets.length, MAX_RDATA_OCTETS, "Shorten it.");
  }

  token(what: string): Token {
    return this.#take(what);
  }

  /** Nothing may be left. */
  end(): void {
    const token = this.#tokens[this.#next];
    if (token === undefined) return;
    const detail = `A record of type ${this.#type} has no field after this; ${shown(token.text)} is left over.`;
    const fix = "Remove it, or put a text with white space into quotes.";
    throw new Misread(token, { code: "extra-field", summary: "a field too many", detail, fix });
  }

  #take(what: string): Token {
    const token = this.#tokens[this.#next];
    if (token === undefined) {
      const detail = `A record of type ${this.#type} has a ${what} here, and the record ends before it.`;
      const summary = `the ${what} is missing`;
      const fix = `Add the ${what}; a record over several lines is put into parentheses.`;
      throw new Misread(this.#tokens.at(-1) ?? this.#before, { code: "missing-field", summary, detail, fix });
    }
    this.#next += 1;
    return token;
  }
}

function badAddress(token: Token, family: "IPv4" | "IPv6", example: string): never {
  const detail = `${shown(token.text)} is not an ${family} address.`;
  const fix = `Write one, for example ${example}; a record that points at a name is a CNAME.`;
  throw new Misread(token, { code: "bad-address", summary: `not an ${family} address`, detail, fix });
}

function stringOf(token: Token): Octets {
  const octets = octetsOf(token);
  if (octets.length <= MAX_STRING_OCTETS) return octets;
  const fix = 'Divide it into several strings, `"…" "…"`, which are read as one text.';
  throw tooLong(token, octets.length, MAX_STRING_OCTETS, fix);
}

function tooLong(place: Place, length: number, max: number, fix: string): Misread {
  const detail = `It has ${length} octets, and there is room for ${max} (RFC 1035, 3.3).`;
  return new Misread(place, { code: "too-long", summary: "a string that is too long", detail, fix });
}

/** Throws `Misread`. */
export function secondsOf(token: Token, what: string): number {
  const seconds = token.quoted ? null : readSeconds(token.text);
  if (seconds !== null && seconds <= MAX_TTL_SECONDS) return seconds;
  const detail =
    seconds === null
      ? `${shown(token.text)} is not a time.`
      : `${shown(token.text)} is more than ${MAX_TTL_SECONDS} seconds, and nameservers would take it for 0 (RFC 2181, 8).`;
  const fix = "Write seconds, or numbers with the units w, d, h, m and s: `3600`, `1d12h`.";
  throw new Misread(token, { code: "bad-ttl", summary: `bad ${what}`, detail, fix });
}
