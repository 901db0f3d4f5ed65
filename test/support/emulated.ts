/**
 * How tests say what they prove of the emulator, so that docs/reference/emulator.md can list it. The names are read from the
 * sources: give them as plain string literals.
 */

import { describe, type TestFunction, test } from "vitest";

/** All that proves one operation. @param name API.md's, of the tables under Endpoints */
export function operation(name: string, tests: () => void): void {
  describe(name, tests);
}

/**
 * Sends what a rule of API.md forbids, and sees it refused with nothing changed.
 * @param keys where API.md has the rule, more than one if it says it twice: `Section: first cell of its row`, or
 * `Section: rule N`
 */
export function rule(keys: string | readonly string[], run: TestFunction): void {
  test(`API.md, ${[keys].flat().join(" and ")}`, run);
}

/** Pins a choice where both API.md and OBSERVED.md are silent. @param sentence a line of docs/reference/emulator.md */
export function assumption(sentence: string, run: TestFunction): void {
  test(sentence, run);
}
