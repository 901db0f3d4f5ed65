/** Flags that people try on any command: one that is obeyed everywhere, and those that are answered with what to use. */

import type { Terminal } from "./terminal.ts";

/** Help of what is obeyed everywhere. */
export const EVERYWHERE_HELP = `On every command:
  --no-color       no colours, as with NO_COLOR=1`;

const WITHOUT_COLOUR: readonly string[] = ["--no-color", "--no-colour"];

const RESULTS_ALONE = "results are on stdout, all else on stderr: 2>/dev/null leaves that out";
const NOTHING_MORE =
  "-V is the version; TENON_DEBUG=1 shows where an unexpected error comes from, and nothing else has more to say";

/** Flag → the advice instead. */
export const ADVICE: Readonly<Record<string, string>> = {
  "--quiet": RESULTS_ALONE,
  "--silent": RESULTS_ALONE,
  "-q": RESULTS_ALONE,
  "--verbose": NOTHING_MORE,
  "--debug": NOTHING_MORE,
  "-v": NOTHING_MORE,
  "--color": "set FORCE_COLOR=1",
  "--colour": "set FORCE_COLOR=1",
  "--region": "the region of a VPC, or of an image's upload, is its `region` in the manifest; a domain has none",
};

interface Asked {
  readonly terminal: Terminal;
  readonly args: readonly string[];
}

/** Takes out what is obeyed everywhere. Behind `--` stand no flags. */
export function obeyEverywhere(terminal: Terminal, args: readonly string[]): Asked {
  // Alone, it asks most tools for their version.
  if (args.length === 1 && args[0] === "-v") return { terminal, args: ["-V"] };
  const end = args.indexOf("--");
  const isColour = (word: string, index: number): boolean =>
    WITHOUT_COLOUR.includes(word) && (end === -1 || index < end);
  if (!args.some(isColour)) return { terminal, args };
  const plain: Terminal = {
    ...terminal,
    results: { ...terminal.results, colour: false },
    messages: { ...terminal.messages, colour: false },
    environment: { ...terminal.environment, NO_COLOR: "1" },
  };
  return {
    terminal: plain,
    args: args.filter((word, index) => !isColour(word, index)),
  };
}
