/** Spells records as a zone file in one of very many ways: white space, parentheses, comments, escapes, origins, TTLs and their order. */

import { absoluteName, relativeName } from "../../src/dns/name.ts";
import type { DnsRecord } from "../../src/dns/record.ts";

/** A whole number from 0, less than `below`. */
export type Dice = (below: number) => number;

export function spelled(records: readonly DnsRecord[], zone: string, dice: Dice): string {
  return new Speller(zone, dice).spell(records);
}

/** Origins that a file may go to and come back from. */
const ORIGINS = ["", "sub", "net", "a.in"];

class Speller {
  readonly #zone: string;
  readonly #dice: Dice;
  #origin: string;
  #owner: string | null = null;
  #defaultTtl: number | null = null;
  #depth = 0;

  constructor(zone: string, dice: Dice) {
    this.#zone = zone;
    this.#origin = zone;
    this.#dice = dice;
  }

  spell(records: readonly DnsRecord[]): string {
    const end = this.#pick("\n", "\r\n");
    const lines = records.flatMap((record) => [...this.#between(), this.#line(record)]);
    const text = `${this.#pick("", "\ufeff")}${lines.join("\n")}${this.#pick("", "\n")}`;
    return text.replaceAll("\n", end);
  }

  #pick<Item>(...items: readonly Item[]): Item {
    return items[this.#dice(items.length)] as Item;
  }

  #between(): string[] {
    switch (this.#dice(8)) {
      case 0:
        return ["", ` \t${this.#comment()}`];
      case 1: {
        const sub = this.#pick(...ORIGINS);
        const origin = sub === "net" ? "example.net" : absoluteName(sub, this.#zone);
        const name = this.#name(origin);
        this.#origin = origin;
        return [`${this.#pick("$ORIGIN", "$origin")} ${name}${this.#comment()}`];
      }
      case 2:
        this.#defaultTtl = 1 + this.#dice(100_000);
        return [`$TTL\t${this.#time(this.#defaultTtl)}${this.#comment()}`];
      default:
        return [];
    }
  }

  #line(record: DnsRecord): string {
    const absolute = absoluteName(record.name, this.#zone);
    const inherits = absolute === this.#owner && this.#dice(2) === 0;
    this.#owner = absolute;
    this.#depth = 0;
    const words = inherits ? [] : [this.#name(absolute)];
    const ttl = Math.max(record.ttl_sec, 1);
    const isDefault = ttl === this.#defaultTtl && this.#dice(2) === 0;
    const middle = [...(isDefault ? [] : [this.#time(ttl)]), ...this.#pick([], ["IN"], ["in"], ["CLASS1"])];
    words.push(...(this.#dice(2) === 0 ? middle : middle.reverse()));
    words.push(this.#dice(4) === 0 ? record.type.toLowerCase() : record.type, ...this.#data(record));
    const text = `${inherits ? this.#pick(" ", "\t", " \t ") : ""}${words.map((word) => word + this.#gap()).join("")}`;
    return `${text}${")".repeat(this.#depth)}${this.#comment()}`;
  }

  #gap(): string {
    const choice = this.#dice(8);
    if (choice === 0) {
      this.#depth += 1;
      return this.#pick("(", " ( ", "\t(\n");
    }
    if (choice === 1 && this.#depth > 0) {
      this.#depth -= 1;
      return " ) ";
    }
    if (choice === 2 && this.#depth > 0) return this.#pick("\n", ' ; )"(\n  ', "\n\n\t");
    return this.#pick(" ", "\t", "   ");
  }

  #comment(): string {
    return this.#pick("", "", ";", ' ; a "comment ( with \\ all', "\t;;)");
  }

  /** Relative where it can be, or absolute. */
  #name(absolute: string): string {
    const relative = relativeName(absolute, this.#origin);
    if (relative === "" && this.#dice(2) === 0) return "@";
    const isShort = relative !== null && relative !== "" && this.#dice(3) > 0;
    return `${this.#letters(isShort ? relative : absolute)}${isShort ? "" : "."}`;
  }

  #letters(name: string): string {
    switch (this.#dice(5)) {
      case 0:
        return name.toUpperCase();
      case 1:
        return name.replace(/[a-z]/, (letter) => `\\${String(letter.charCodeAt(0)).padStart(3, "0")}`);
      case 2:
        return name.replace(/[a-z]/, "\\$&");
      default:
        return name;
    }
  }

  #time(seconds: number): string {
    if (this.#dice(2) === 0) return String(seconds);
    let rest = seconds;
    let text = "";
    for (const [unit, size] of [
      ["w", 604_800],
      ["D", 86_400],
      ["h", 3_600],
      ["M", 60],
      ["s", 1],
    ] as const) {
      const count = Math.floor(rest / size);
      rest -= count * size;
      if (count > 0) text += `${count}${unit}`;
    }
    return text;
  }

  #target(name: string): string {
    return name === "" ? "." : this.#name(name);
  }

  #data(record: DnsRecord): string[] {
    const { type, target, priority = 0, weight = 0, port = 0, tag = "" } = record;
    switch (type) {
      case "A":
        return this.#dice(4) === 0 ? ["\\#", "4", hex(target)] : [target];
      case "AAAA":
        return [this.#pick(target, target.toUpperCase())];
      case "CNAME":
      case "NS":
      case "PTR":
        return [this.#target(target)];
      case "MX":
        return [String(priority), this.#target(target)];
      case "SRV":
        return [String(priority), String(weight), String(port), this.#target(target)];
      case "TXT":
        return this.#strings(target);
      case "CAA":
        return ["0", this.#pick(tag, tag.toUpperCase()), this.#quoted([...Buffer.from(target)])];
    }
  }

  #strings(text: string): string[] {
    const octets = [...Buffer.from(text)];
    const words: string[] = [];
    do {
      const part = octets.splice(0, 1 + this.#dice(255));
      words.push(
        this.#dice(4) === 0 && part.length > 0
          ? part.map((octet) => this.#octet(octet, true)).join("")
          : this.#quoted(part),
      );
    } while (octets.length > 0);
    return words;
  }

  #quoted(octets: readonly number[]): string {
    return `"${octets.map((octet) => this.#octet(octet, false)).join("")}"`;
  }

  #octet(octet: number, bare: boolean): string {
    const character = String.fromCharCode(octet);
    if (octet < 0x20 || octet > 0x7e || (bare && octet === 0x20) || this.#dice(20) === 0) {
      return `\\${String(octet).padStart(3, "0")}`;
    }
    const special = bare ? /["\\;()]/ : /["\\]/;
    return special.test(character) || (!/\d/.test(character) && this.#dice(20) === 0) ? `\\${character}` : character;
  }
}

function hex(address: string): string {
  return Buffer.from(address.split(".").map(Number)).toString("hex");
}
