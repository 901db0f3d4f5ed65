/** Calls within `${…}`: `${cidrsubnet(var.base, 8, 3)}`, with Terraform's meaning. */

import { readNetwork } from "../dns/ip.ts";
import { cidrSubnet, IPV4_BITS } from "../dns/ipv4-range.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/resource.ts";
import { nearest, shortened } from "../model/text.ts";

export type CallProblem = Pick<Diagnostic, "code" | "summary" | "detail" | "fix">;

/** A part of the expression, in characters from its beginning. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export type CallResult =
  | { readonly ok: true; readonly value: string }
  /** `problem` is null if it is reported already. */
  | { readonly ok: false; readonly problem: CallProblem | null; readonly at: Part };

/** The value of a variable; null if it has none, which is then reported already. */
type LookUp = (name: string, at: Part) => { readonly value: Json } | null;

/** Calls within calls. Terraform has no limit; one more than a few is a mistake. */
const MAX_CALL_DEPTH = 8;

/** Whether the inside of a `${…}` is a call, of whatever function. */
export function isCall(expression: string): boolean {
  return /^\s*[A-Za-z_][\w-]*\s*\(/.test(expression);
}

/** Never throws for what the expression says. */
export function evaluateCall(expression: string, lookUp: LookUp): CallResult {
  try {
    return { ok: true, value: new Evaluation(expression, lookUp).whole() };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { ok: false, problem: error.problem, at: error.at };
  }
}

/** Ends an evaluation: the first problem of a call says most. */
class CallError extends Error {
  readonly problem: CallProblem | null;
  readonly at: Part;

  constructor(problem: CallProblem | null, at: Part) {
    super(problem?.summary);
    this.problem = problem;
    this.at = at;
  }
}

interface Token extends Part {
  /** `word`: a number, a variable or a function. `end`: the expression ends here. */
  readonly type: "quoted" | "word" | "sign" | "end";
  /** Of a quoted text: what is between the quotes. */
  readonly text: string;
}

interface Argument extends Part {
  readonly value: Json;
}

const BLANKS = /\s*/y;
const TOKEN = /"([^"]*)"|'([^']*)'|([(),])|([^\s(),"']+)|(["'])/y;

class Evaluation {
  readonly #expression: string;
  readonly #lookUp: LookUp;
  #position = 0;
  #next: Token;

  constructor(expression: string, lookUp: LookUp) {
    this.#expression = expression;
    this.#lookUp = lookUp;
    this.#next = this.#read();
  }

  whole(): string {
    const { value } = this.#argument(0);
    if (this.#next.type !== "end") throw new CallError(unexpected(this.#next), this.#next);
    return String(value);
  }

  /** An argument, or the expression itself. */
  #argument(depth: number): Argument {
    const token = this.#take();
    if (token.type === "quoted") return { value: token.text, start: token.start, end: token.end };
    if (token.type !== "word") throw new CallError(unexpected(token), token);
    if (this.#next.type === "sign" && this.#next.text === "(") return this.#call(token, depth + 1);
    if (/^-?\d+(\.\d+)?$/.test(token.text)) return { value: Number(token.text), start: token.start, end: token.end };
    if (!token.text.startsWith("var.")) throw new CallError(notAnArgument(token.text), token);
    const variable = this.#lookUp(token.text.slice("var.".length), token);
    if (variable === null) throw new CallError(null, token);
    return { value: variable.value, start: token.start, end: token.end };
  }

  #call(name: Token, depth: number): Argument {
    const evaluate = Object.hasOwn(FUNCTIONS, name.text) ? FUNCTIONS[name.text] : undefined;
    if (evaluate === undefined) throw new CallError(unknownFunction(name.text), name);
    if (depth > MAX_CALL_DEPTH) throw new CallError(tooDeep(), name);
    const values: Argument[] = [];
    this.#take();
    for (let isFirst = true; !(isFirst && this.#isSign(")")); isFirst = false) {
      values.push(this.#argument(depth));
      if (!this.#isSign(",")) break;
      this.#take();
    }
    const last = this.#take();
    if (last.type !== "sign" || last.text !== ")") throw new CallError(unexpected(last), last);
    const at = { start: name.start, end: last.end };
    return { value: evaluate(values, at), ...at };
  }

  #isSign(sign: string): boolean {
    return this.#next.type === "sign" && this.#next.text === sign;
  }

  #take(): Token {
    const token = this.#next;
    this.#next = this.#read();
    return token;
  }

  #read(): Token {
    BLANKS.lastIndex = this.#position;
    const start = this.#position + (BLANKS.exec(this.#expression)?.[0].length ?? 0);
    TOKEN.lastIndex = start;
    const match = TOKEN.exec(this.#expression);
    const end = start + (match?.[0].length ?? 0);
    this.#position = end;
    const [, double, single, sign, word, quote] = match ?? [];
    if (match === null) return { type: "end", text: "", start, end };
    if (quote !== undefined) return { type: "sign", text: quote, start, end };
    if (sign !== undefined) return { type: "sign", text: sign, start, end };
    if (word !== undefined) return { type: "word", text: word, start, end };
    return { type: "quoted", text: double ?? single ?? "", start, end };
  }
}

/** Longer than any network or number: nothing more is looked at, for thousands of calls may get one variable of megabytes. */
const MAX_ARGUMENT_CHARACTERS = 64;

/** A list is written out once, however many calls get it. */
const written: WeakMap<object, string> = new WeakMap();

function shown(value: Json): string {
  if (typeof value !== "object" || value === null) return `\`${shortened(String(value))}\``;
  const text = written.get(value) ?? `\`${shortened(JSON.stringify(value))}\``;
  written.set(value, text);
  return text;
}

function unexpected({ type, text }: Token): CallProblem {
  const isQuote = text === '"' || text === "'";
  const what = type === "end" ? "the call ends too early" : `${shown(text)} is not expected here`;
  return {
    code: "bad-call",
    summary: type === "sign" && isQuote ? "a text in quotes does not end" : what,
    detail: "A call is a name and its arguments in parentheses, with commas between them.",
    fix: CALL_EXAMPLE,
  };
}

function tooDeep(): CallProblem {
  return {
    code: "bad-call",
    summary: "too many calls within each other",
    detail: `At most ${MAX_CALL_DEPTH} may be.`,
    fix: "Write some of them out.",
  };
}

const CALL_EXAMPLE = "For example: ${cidrsubnet(var.base, 8, 3)} or ${cidrsubnet('10.0.0.0/16', 8, 3)}.";

function notAnArgument(text: string): CallProblem {
  return {
    code: "bad-call",
    summary: `${shown(text)} is no argument`,
    detail: "An argument is a text in quotes, a number, a variable (var.name) or another call.",
    fix: "Put it in quotes if it is text: '10.0.0.0/16'.",
  };
}

function unknownFunction(name: string): CallProblem {
  const known = Object.keys(FUNCTIONS);
  const best = nearest(name, known);
  return {
    code: "unknown-function",
    summary: `unknown function ${shown(name)}`,
    detail: "Manifests have one function: cidrsubnet(prefix, newbits, netnum).",
    fix: best === null ? "Write the value out, or $${ for a literal ${." : `Did you mean \`${best}\`?`,
  };
}

/** Name → its value. @throws a CallError at an argument that will not do */
const FUNCTIONS: Readonly<Record<string, (values: readonly Argument[], at: Part) => string>> = {
  cidrsubnet: (values, at) => {
    const [prefix, newbits, netnum] = values;
    if (prefix === undefined || newbits === undefined || netnum === undefined || values.length > 3) {
      throw new CallError(argumentCount(values.length), at);
    }
    const [bits, number] = [wholeNumber(newbits, "newbits"), wholeNumber(netnum, "netnum")];
    const text = isShort(prefix.value) ? prefix.value : "";
    const subnet = cidrSubnet(text, bits, number);
    if (subnet.ok) return subnet.cidr;
    switch (subnet.problem) {
      case "not-cidr":
        throw new CallError(
          badPrefix(`${shown(prefix.value)} is no IPv4 range`, "It takes an address/prefix in CIDR form."),
          prefix,
        );
      case "ipv6":
        throw new CallError(
          badPrefix(`${shown(prefix.value)} is a range of IPv6`, "Subnets of a VPC have IPv4 addresses."),
          prefix,
        );
      case "too-long":
        throw new CallError(tooLong(readNetwork(text)?.length ?? 0, bits), newbits);
      case "no-such-subnet":
        throw new CallError(noSuchSubnet(bits, number), netnum);
    }
  },
};

function isShort(value: Json): value is string {
  return typeof value === "string" && value.length <= MAX_ARGUMENT_CHARACTERS;
}

function argumentCount(count: number): CallProblem {
  return {
    code: "bad-call",
    summary: `cidrsubnet takes 3 arguments, not ${count}`,
    detail: "They are the prefix, the bits that are added to it, and the number of the subnet.",
    fix: CALL_EXAMPLE,
  };
}

/** A text of digits is a number, as in Terraform. */
function wholeNumber({ value, start, end }: Argument, name: string): number {
  const number = isShort(value) && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  throw new CallError(
    {
      code: "bad-argument",
      summary: `\`${name}\` of cidrsubnet is ${shown(value)}`,
      detail: "It must be a whole number, and not less than 0.",
      fix: CALL_EXAMPLE,
    },
    { start, end },
  );
}

function badPrefix(what: string, detail: string): CallProblem {
  return {
    code: "bad-argument",
    summary: `\`prefix\` of cidrsubnet: ${what}`,
    detail,
    fix: "For example: '10.0.0.0/16'.",
  };
}

function tooLong(length: number, newbits: number): CallProblem {
  return {
    code: "bad-argument",
    summary: `a /${length} cannot be extended by ${newbits} bits`,
    detail: `The prefix would be /${length + newbits}, and an IPv4 address has ${IPV4_BITS} bits.`,
    fix: `Use at most ${IPV4_BITS - length} for \`newbits\`.`,
  };
}

function noSuchSubnet(newbits: number, netnum: number): CallProblem {
  const last = 2 ** newbits - 1;
  return {
    code: "bad-argument",
    summary: `there is no subnet ${netnum} with ${newbits} more bits`,
    detail: `They number ${last + 1} subnets, from 0 to ${last}.`,
    fix: "Use a smaller `netnum`, or more `newbits`.",
  };
}
