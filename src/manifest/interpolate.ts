/** Resolves `${var.x}`, `${cidrsubnet(…)}` and `${zone}` in values; `$${` stands for a literal `${`. */

import { type Correction, type Diagnostic, type Sources, type Span, suggest } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { shortened } from "../model/text.ts";
import { evaluateCall, isCall, type Part } from "./functions.ts";
import { type Budget, MAX_REPORTED_REFERENCES } from "./limits.ts";
import { newMapping, type Places } from "./positions.ts";
import { isOwnKey } from "./schema.ts";
import { mapText, type Variables } from "./variables.ts";

export interface InterpolationContext {
  readonly places: Places;
  readonly sources: Sources;
  readonly variables: Variables;
  /** False if the root file may declare variables that were not read: an unknown variable is then not reported. */
  readonly variablesKnown: boolean;
  readonly budget: Budget;
  report(diagnostic: Diagnostic): void;
}

/** Keys of a file under which `${zone}` means something. */
const ZONE_SECTIONS: ReadonlySet<string> = new Set(["domains", "record_sets", "defaults"]);
/** Keys of a file whose values are literal: `tenon` (the format), and those under which variables get their values. */
const LITERAL_SECTIONS: ReadonlySet<string> = new Set(["variables", "environments", "tenon"]);

/** Resolves variables in a whole file, in place. In ZONE_SECTIONS, `${zone}` and escapes stay for `withZone`. */
export function interpolateFile(tree: JsonObject, context: InterpolationContext): void {
  for (const key of Object.keys(tree)) {
    if (LITERAL_SECTIONS.has(key) || isOwnKey(key)) continue;
    new Interpolation(context, ZONE_SECTIONS.has(key)).resolveAt(tree, key);
  }
}

const REFERENCE = /\$\$\{|\$\{([^{}]*)(\}?)/g;

class Interpolation {
  readonly #context: InterpolationContext;
  readonly #inZone: boolean;
  /** How many references of the present value were reported. */
  #reportedReferences = 0;
  #known: readonly string[] | null = null;

  constructor(context: InterpolationContext, inZone: boolean) {
    this.#context = context;
    this.#inZone = inZone;
  }

  /** Resolves the references in the value at `key`, and in all that is within it. */
  resolveAt(container: object, key: string | number): void {
    const values = container as Record<string | number, Json>;
    const value = values[key] as Json;
    if (typeof value === "string") {
      if (value.includes("${")) this.#text(container, key, value);
    } else if (Array.isArray(value)) {
      for (const index of value.keys()) this.resolveAt(value, index);
    } else if (typeof value === "object" && value !== null) {
      for (const name of Object.keys(value)) if (!isOwnKey(name)) this.resolveAt(value, name);
    }
  }

  #text(container: object, key: string | number, text: string): void {
    const values = container as Record<string | number, Json>;
    this.#reportedReferences = 0;
    const whole = /^\$\{var\.([^{}]*)\}$/.exec(text);
    if (whole === null) {
      values[key] = text.replace(REFERENCE, (match, name, close) => this.#part(container, key, match, name, close));
      return;
    }
    const variable = this.#lookup(container, key, text, whole[1] ?? "");
    if (variable === null || !this.#pay(container, key, variable.value)) return;
    values[key] = this.#adopt(variable.value, this.#context.places.span(container, key));
    this.#context.places.setSource(container, key, variable.source);
  }

  #part(container: object, key: string | number, match: string, name: string | undefined, close: string): string {
    if (match === "$${") return this.#inZone ? match : "${";
    const reference = name ?? "";
    if (close !== "" && isCall(reference)) return this.#call(container, key, match, reference);
    if (close === "" || !(reference === "zone" || reference.startsWith("var."))) {
      return this.#broken(container, key, match, unknownReference(match, close !== ""));
    }
    if (reference === "zone") {
      return this.#inZone ? match : this.#broken(container, key, match, zoneOutside());
    }
    const variable = this.#lookup(container, key, match, reference.slice("var.".length));
    if (variable === null) return match;
    if (typeof variable.value === "object") return this.#broken(container, key, match, notText(reference));
    const value = variable.source ?? String(variable.value);
    return this.#pay(container, key, value) ? this.#escape(value) : match;
  }

  #call(container: object, key: string | number, match: string, expression: string): string {
    const inMatch = ({ start, end }: Part): Part => ({ start: start + "${".length, end: end + "${".length });
    const result = evaluateCall(expression, (name, at) => this.#lookup(container, key, match, name, inMatch(at)));
    if (result.ok) return this.#pay(container, key, result.value) ? result.value : match;
    this.#context.places.markBroken(container, key);
    if (result.problem !== null) this.#report(container, key, match, result.problem, inMatch(result.at));
    return match;
  }

  /** @returns false if the budget has no room for the variable's value; the value that refers to it is then marked as broken */
  #pay(container: object, key: string | number, value: Json): boolean {
    const { places, budget, report } = this.#context;
    const hasRoom = budget.take(budget.copyCost(value), () => places.span(container, key), report);
    if (!hasRoom) places.markBroken(container, key);
    return hasRoom;
  }

  /** A variable's value is literal: a `${` in it is no reference. */
  #escape(text: string): string {
    return this.#inZone ? text.replaceAll("${", () => "$${") : text;
  }

  #adopt(value: Json, at: Span): Json {
    if (typeof value === "string") return this.#escape(value);
    if (typeof value !== "object" || value === null) return value;
    return cloneAt(value, at, this.#context.places, (text) => this.#escape(text));
  }

  #lookup(
    container: object,
    key: string | number,
    match: string,
    name: string,
    part: Part = { start: 0, end: match.length },
  ): { value: Json; source: string | null } | null {
    const { variables, variablesKnown } = this.#context;
    const variable = variables.get(name);
    if (variable !== undefined && variable !== null) return variable;
    // null: it is declared without a value, which is reported already.
    this.#context.places.markBroken(container, key);
    if (variable === undefined && variablesKnown && this.#reportedReferences < MAX_REPORTED_REFERENCES) {
      this.#known ??= [...variables.keys()];
      const known = this.#known;
      const { fix: meant, corrections = [] } = suggest(name, known);
      const shown = shortened(name);
      const fix = meant || `Declare it in the root file: \`variables: { ${shown}: {} }\`.`;
      const detail = `\`${shown}\` is not declared under \`variables\` in the root file.`;
      const summary = `unknown variable \`${shown}\``;
      this.#report(
        container,
        key,
        match,
        { code: "unknown-variable", summary, detail, fix, corrections: corrections.map(withPrefix) },
        part,
      );
    }
    return null;
  }

  #broken(container: object, key: string | number, match: string, problem: Problem): string {
    this.#context.places.markBroken(container, key);
    this.#report(container, key, match, problem);
    return match;
  }

  #report(
    container: object,
    key: string | number,
    match: string,
    problem: Problem,
    part: Part = { start: 0, end: match.length },
  ): void {
    if (this.#reportedReferences >= MAX_REPORTED_REFERENCES) return;
    this.#reportedReferences += 1;
    const span = within(this.#context.places.span(container, key), match, part, this.#context.sources);
    this.#context.report({ severity: "error", ...problem, span });
  }
}

function withPrefix({ from, to }: Correction): Correction {
  return { from: `var.${from}`, to: `var.${to}` };
}

type Problem = Pick<Diagnostic, "code" | "summary" | "detail" | "fix" | "corrections">;

/**
 * The span of a part of the reference within the value, if the file has it letter for letter (not behind YAML escapes); else that of the whole value.
 */
function within(span: Span, match: string, { start, end }: Part, sources: Sources): Span {
  const index = sources.text(span.file)?.slice(span.start, span.end).indexOf(match) ?? -1;
  return index === -1 ? span : { ...span, start: span.start + index + start, end: span.start + index + end };
}

function unknownReference(match: string, closed: boolean): Problem {
  return {
    code: "unknown-reference",
    summary: closed ? `unknown reference ${shortened(match)}` : "a reference is not closed",
    detail: "References are ${var.name}, ${cidrsubnet(…)} and, in domains and record sets, ${zone}.",
    fix: "Write $${ if the text itself has ${ in it.",
  };
}

function zoneOutside(): Problem {
  return {
    code: "unknown-reference",
    summary: "there is no zone here",
    detail: "${zone} is the name of a domain; it means something in domains, record sets and defaults.",
    fix: "Use a variable, or write $${ for a literal ${.",
  };
}

function notText(reference: string): Problem {
  return {
    code: "wrong-type",
    summary: `${shortened(reference)} is not text`,
    detail: "A variable that holds a list or a mapping must be the whole value; it cannot stand within text.",
    fix: `Let the value be \${${shortened(reference)}} and nothing else.`,
  };
}

/** A copy of a variable's list or mapping. Every part of the copy has the span of the reference, not that of the variable. */
function cloneAt(value: object, at: Span, places: Places, text: (text: string) => string): Json {
  const clone = (Array.isArray(value) ? [] : newMapping()) as Record<string, Json>;
  const offsets = [at.start, at.end] as const;
  places.put(clone, at.file, offsets);
  for (const [key, item] of Object.entries(value) as [string, Json][]) {
    const nested = typeof item === "object" && item !== null;
    clone[key] = nested ? cloneAt(item, at, places, text) : typeof item === "string" ? text(item) : item;
    places.putKey(clone, key, offsets, offsets, nested ? null : places.source(value, key));
  }
  places.close(clone);
  return clone as Json;
}

/** A copy with the zone's name in place of `${zone}`; parts that need no change are shared with the original. */
export function withZone<T extends Json>(value: T, zone: string, places: Places): T {
  const replace = (text: string): string =>
    text.replace(/\$\$\{|\$\{zone\}/g, (match) => (match === "$${" ? "${" : zone));
  return mapText(value, places, replace) as T;
}
