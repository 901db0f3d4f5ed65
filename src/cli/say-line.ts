/** A message of one line, wherever it is read. */

import { usableWidth, wrap } from "../render/terminal.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Says one line. A terminal goes on with a long one in its first column, where lines of our own begin: there it is wrapped.
 * @param line escaped, without a line end
 * @param indent blanks before it: an even number
 */
export function sayLine(terminal: Terminal, line: string, indent = 0): void {
  const { isTerminal, width } = terminal.messages;
  const lines = isTerminal ? wrap(line, usableWidth(width), indent) : [" ".repeat(indent) + line];
  terminal.say(`${lines.join("\n")}\n`);
}
